//! Whole prints of the fixture in markup.

use insta::assert_snapshot;

use super::*;

/// Returns the fixture with a shorter list of files and one finding of each verdict.
fn short() -> ReviewReport {
    let mut report = fixture::report();
    report.coverage.left_out.drain(1..8);
    report.findings.drain(1..3);
    report
}

#[test]
fn markdown_for_a_pull_request() {
    assert_snapshot!(printed(&short(), ReviewFormat::Markdown), @r#"
    ## ❌ Tribunal: FAIL

    **1 blocking finding.**

    Review of `main..invoice-search`: 1 accepted, 1 disputed (1 needs a human before merging), 1 rejected; 4 files reviewed, 4 left out.

    | | Severity | Confidence | Finding | Where |
    |---|---|--:|---|---|
    | ❌ blocking | HIGH (critical) | 95 | The customer's name is pasted into the SQL statement | `src/invoice/search.rs:42` |
    | ⚠️ disputed | HIGH (critical) | 58 | Two requests can lock the same invoice | `src/invoice/lock.rs:23-24` |

    ### Accepted (1)

    <details open><summary><b>HIGH (critical) 95</b> The customer's name is pasted into the SQL statement <code>src/invoice/search.rs:42</code></summary>

    ```text
      40 | pub fn find(conn: &Conn, name: &str) -> Result<Vec<Invoice>> {
      41 |     let table = "invoices";
    > 42 |     let sql = format!("SELECT * FROM {table} WHERE name = '{name}'");
      43 |     conn.query(&sql)
      44 | }
    ```

    `find` builds its statement with `format!`, and the name comes straight from the query string of the request. Whoever searches can read every table that the service can read.

    The same pattern was removed from `orders` last year.

    **Trigger:** GET /invoices?name=' OR 1=1 --

    **Fix:** Pass the name as a parameter:


    ```text
    conn.query("SELECT * FROM invoices WHERE name = ?1", [name])
    ```

    **Said by:** claude (anthropic, critical 85) and codex (openai, high 80)

    **Dissent:** builtin:security: the caller in `api.rs` trims the name, so severity high is enough

    **Doubt:** codex: the quoted code stands 3 lines further down

    **Why:** Two families agree (claude, codex).

    <sub>`f-3c19a27e`, security, blocking, new; confidence: 85 highest original + 15 agreement - 5 grounding = 95</sub>

    </details>

    ### Disputed (1)

    <details><summary><b>HIGH (critical) 58</b> Two requests can lock the same invoice <code>src/invoice/lock.rs:23-24</code></summary>

    ```text
      22 | let invoice = load(id).await?;
    > 23 | if !invoice.locked {
    > 24 |     store(id, Locked::Yes).await?;
      25 | }
    ```

    The flag is read and written in two statements.

    **Trigger:** two PUT requests for one invoice within a millisecond

    **Said by:** claude (anthropic, critical 75)

    **Round 2:** codex (openai): disagrees (-12): `load` takes the row lock, so the second request waits

    **Round 2:** gemini (google): agrees (+5) (not counted: it names no code that was not named before)

    **Round 3:** claude (anthropic): changes it (now high)

    **Judge:** opus: the evidence is balanced: Neither shows where the transaction ends.

    **Advisory:** OSV: the version in use has the patch of GHSA-xxxx-lock

    **Open:** A critical finding of one family needs confidence 85 or a second family.

    **Settled by:** Show whether `load` opens a transaction that lives until `store`.

    <sub>`f-e07d3b19`, bug, blocking unless it is settled, open since an earlier review, needs a human before merging; confidence: 75 lowest original - 5 single source - 12 openai = 58</sub>

    </details>

    ### Rejected (1)

    - **HIGH (medium) 22** There are no tests for `find` `src/invoice/search.rs:9`: Its author conceded: `tests/search.rs` covers it.

    <details><summary>Reviewers</summary>

    | Reviewer | Family | State | Findings | Time | Tokens | Cost |
    |---|---|---|--:|--:|--:|--:|
    | claude | anthropic | answered | 3 | 48 s | 33,950 | &#36;0.2145 |
    | codex | openai | answered | 2 | 1 min 11 s | 32,967 | unknown |
    | gemini | google | **missing**: nothing came within 2 minutes (hung) | 0 | 2 min 0 s | 0 | unknown |
    | builtin:security | builtin | answered | 1 | 0.3 s | 0 | &#36;0.00 |
    | builtin:tests | builtin | **idle**: nothing that it reads | 0 | 0.0 s | 0 | &#36;0.00 |

    In all: 66,917 tokens, cost unknown.

    </details>

    <details><summary>Not reviewed: 4 files</summary>

    - `assets/stamp.png`: binary (48 kB)
    - `Cargo.lock`: lock file
    - `vendor/grid/part1.js`: vendored
    - `.env.staging`: may hold credentials

    </details>

    **Fixed since the last review:**

    - Totals above 2^31 cents wrap around `src/invoice/total.rs:88`

    **Suppressed: 1**

    - \[MEDIUM\] `rust-length-truncated` at src/invoice/page.rs:14 (builtin:correctness), because: a page has at most 100 rows

    > `src/legacy/export.rs` was split into 2 parts to fit the context of codex

    <sub>Tribunal, case c-2a51c099e4, policy tribunal</sub>
    "#);
}

#[test]
fn junit_for_a_server() {
    assert_snapshot!(printed(&short(), ReviewFormat::Junit), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="tribunal" tests="14" failures="2" errors="0" skipped="6">
      <testsuite name="tribunal.gate" tests="1" failures="1" errors="0" skipped="0" time="0.000">
        <properties>
          <property name="case" value="c-2a51c099e4"/>
          <property name="change" value="main..invoice-search"/>
        </properties>
        <testcase classname="tribunal.gate" name="gate" time="0.000">
          <failure type="finding" message="FAIL: 1 blocking finding"></failure>
          <system-out>FAIL: 1 blocking finding
    1 accepted, 1 disputed (1 needs a human before merging), 1 rejected; 4 files reviewed, 4 left out
    </system-out>
        </testcase>
      </testsuite>
      <testsuite name="tribunal.files" tests="8" failures="1" errors="0" skipped="4" time="0.000">
        <testcase classname="tribunal.files" name="src/api.rs" file="src/api.rs" time="0.000"/>
        <testcase classname="tribunal.files" name="src/invoice/lock.rs" file="src/invoice/lock.rs" time="0.000">
          <system-out>critical disputed 58 f-e07d3b19 src/invoice/lock.rs:23-24 Two requests can lock the same invoice
      22 | let invoice = load(id).await?;
    &gt; 23 | if !invoice.locked {
    &gt; 24 |     store(id, Locked::Yes).await?;
      25 | }
    The flag is read and written in two statements.
    Trigger: two PUT requests for one invoice within a millisecond
    Said by claude (anthropic, critical 75); blocking unless it is settled, open since an earlier review, needs a human before merging; confidence 75 lowest original - 5 single source - 12 openai = 58
    </system-out>
        </testcase>
        <testcase classname="tribunal.files" name="src/invoice/search.rs" file="src/invoice/search.rs" time="0.000">
          <failure type="finding" message="critical: The customer&apos;s name is pasted into the SQL statement">critical 95 f-3c19a27e src/invoice/search.rs:42 The customer&apos;s name is pasted into the SQL statement
      40 | pub fn find(conn: &amp;Conn, name: &amp;str) -&gt; Result&lt;Vec&lt;Invoice&gt;&gt; {
      41 |     let table = &quot;invoices&quot;;
    &gt; 42 |     let sql = format!(&quot;SELECT * FROM {table} WHERE name = &apos;{name}&apos;&quot;);
      43 |     conn.query(&amp;sql)
      44 | }
    `find` builds its statement with `format!`, and the name comes straight from the query string of the request. Whoever searches can read every table that the service can read.

    The same pattern was removed from `orders` last year.
    Trigger: GET /invoices?name=&apos; OR 1=1 --
    Fix: Pass the name as a parameter:
    ```rust
    conn.query(&quot;SELECT * FROM invoices WHERE name = ?1&quot;, [name])
    ```
    Said by claude (anthropic, critical 85) and codex (openai, high 80); blocking, new; confidence 85 highest original + 15 agreement - 5 grounding = 95
    </failure>
        </testcase>
        <testcase classname="tribunal.files" name="src/invoice/total.rs" file="src/invoice/total.rs" time="0.000"/>
        <testcase classname="tribunal.files" name="vendor/grid/part1.js" file="vendor/grid/part1.js" time="0.000">
          <skipped message="not reviewed: vendored"/>
        </testcase>
        <testcase classname="tribunal.files" name="assets/stamp.png" file="assets/stamp.png" time="0.000">
          <skipped message="not reviewed: binary: 48 kB"/>
        </testcase>
        <testcase classname="tribunal.files" name="Cargo.lock" file="Cargo.lock" time="0.000">
          <skipped message="not reviewed: lock file"/>
        </testcase>
        <testcase classname="tribunal.files" name=".env.staging" file=".env.staging" time="0.000">
          <skipped message="not reviewed: may hold credentials"/>
        </testcase>
      </testsuite>
      <testsuite name="tribunal.reviewers" tests="5" failures="0" errors="0" skipped="2" time="239.510">
        <testcase classname="tribunal.reviewers" name="claude" time="48.200">
          <system-out>anthropic: 3 findings, 33,950 tokens, $0.2145
    </system-out>
        </testcase>
        <testcase classname="tribunal.reviewers" name="codex" time="71.000">
          <system-out>openai: 2 findings, 32,967 tokens, cost unknown
    </system-out>
        </testcase>
        <testcase classname="tribunal.reviewers" name="gemini" time="120.000">
          <skipped message="missing: nothing came within 2 minutes (hung)"/>
          <system-out>google: 0 findings, 0 tokens, cost unknown
    </system-out>
        </testcase>
        <testcase classname="tribunal.reviewers" name="builtin:security" time="0.310">
          <system-out>builtin: 1 finding, 0 tokens, $0.00
    </system-out>
        </testcase>
        <testcase classname="tribunal.reviewers" name="builtin:tests" time="0.000">
          <skipped message="idle: nothing that it reads"/>
          <system-out>builtin: 0 findings, 0 tokens, $0.00
    </system-out>
        </testcase>
      </testsuite>
    </testsuites>
    "#);
}
