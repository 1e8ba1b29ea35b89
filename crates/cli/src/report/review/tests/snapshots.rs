//! Whole prints of the fixture.

use insta::assert_snapshot;

use super::*;

#[test]
fn text_for_people() {
    assert_snapshot!(printed(&fixture::report(), ReviewFormat::Text), @r#"
    Review of main..invoice-search
    3 accepted, 1 disputed (1 needs a human before merging), 1 rejected; 4 files reviewed, 11 left out
    Case c-2a51c099e4, policy tribunal

    Accepted (3)

    ! HIGH (critical) 95  f-3c19a27e  src/invoice/search.rs:42  The customer's name is pasted into the
        SQL statement
        40 │ pub fn find(conn: &Conn, name: &str) -> Result<Vec<Invoice>> {
        41 │     let table = "invoices";
      > 42 │     let sql = format!("SELECT * FROM {table} WHERE name = '{name}'");
           │     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        43 │     conn.query(&sql)
        44 │ }
      `find` builds its statement with `format!`, and the name comes straight from the query string of
      the request. Whoever searches can read every table that the service can read.

      The same pattern was removed from `orders` last year.
      Trigger     GET /invoices?name=' OR 1=1 --
      Fix         Pass the name as a parameter:
                      conn.query("SELECT * FROM invoices WHERE name = ?1", [name])
      Said by     claude (anthropic, critical 85) and codex (openai, high 80)
      Dissent     builtin:security: the caller in `api.rs` trims the name, so severity high is enough
      Doubt       codex: the quoted code stands 3 lines further down
      Confidence  85 highest original + 15 agreement - 5 grounding = 95
      Why         Two families agree (claude, codex).
      Standing    binds, new

    SHOULD (medium) 64  f-90b1d4aa  src/api.rs:118-121  Callers never learn that a search was cut off
        117 │ let found = search::find(&conn, &name)?;
      > 118 │ Ok(Json(Answer {
      > 119 │     complete: true,
      > 120 │     rows: found,
      > 121 │ }))
      `find` now stops at 500 rows, and the handler still says `complete: true`.
      Said by     codex (openai, medium 70)
      Confidence  70 original - 6 single source = 64
      Why         One voice, with a place and a trigger in the code.
      Standing    optional, was fixed and is back

    low 55  f-5512cc00  src/invoice/search.rs:61  `rows.clone()` copies the whole list
      The list is copied once per request.
      Said by     claude (anthropic, low 60)
      Confidence  60 original - 5 single source = 55
      Why         Ruling d-12 dismissed it: lists have at most 500 rows.
      Standing    optional, dismissed before, so it does not count

    Disputed (1)

    HIGH (critical) 58  f-e07d3b19  src/invoice/lock.rs:23-24  Two requests can lock the same invoice
        22 │ let invoice = load(id).await?;
      > 23 │ if !invoice.locked {
      > 24 │     store(id, Locked::Yes).await?;
        25 │ }
      The flag is read and written in two statements.
      Trigger     two PUT requests for one invoice within a millisecond
      Said by     claude (anthropic, critical 75)
      Round 2     codex (openai): disagrees (-12): `load` takes the row lock, so the second request
                  waits
      Round 2     gemini (google): agrees (+5) (not counted: it names no code that was not named before)
      Round 3     claude (anthropic): changes it (now high)
      Judge       opus: the evidence is balanced: Neither shows where the transaction ends.
      Advisory    OSV: the version in use has the patch of GHSA-xxxx-lock
      Confidence  75 lowest original - 5 single source - 12 openai = 58
      Open        A critical finding of one family needs confidence 85 or a second family.
      Settled by  Show whether `load` opens a transaction that lives until `store`.
      Standing    would bind, open since an earlier review, needs a human before merging

    Rejected (1)
      HIGH (medium) 22  f-0b8e6f21  src/invoice/search.rs:9  There are no tests for `find`
          Its author conceded: `tests/search.rs` covers it.

    Reviewers
      claude            anthropic  answered  3 found       33,950 tokens, $0.2145        48 s
      codex             openai     answered  2 found  32,967 tokens, cost unknown  1 min 11 s
          finding 3 was not read: it names no file and no line
      gemini            google     missing   0 found       0 tokens, cost unknown   2 min 0 s
          nothing came within 2 minutes (hung)
      builtin:security  builtin    answered  1 found              0 tokens, $0.00       0.3 s
      builtin:tests     builtin    idle      0 found              0 tokens, $0.00       0.0 s
          nothing that it reads
      In all: 66,917 tokens, cost unknown.

    Coverage
      4 files reviewed, 11 files left out:
        binary: assets/stamp.png (48 kB)
        lock file: Cargo.lock
        vendored: vendor/grid/part1.js, vendor/grid/part2.js, vendor/grid/part3.js,
        vendor/grid/part4.js, vendor/grid/part5.js, vendor/grid/part6.js, vendor/grid/part7.js
        may hold credentials: .env.staging
        and 1 more

    Fixed (1)
      f-77aa01c2 src/invoice/total.rs:88 Totals above 2^31 cents wrap around

    Notes
      - `src/legacy/export.rs` was split into 2 parts to fit the context of codex

    FAIL: 1 finding binds (f-3c19a27e)
    "#);
}

#[test]
fn annotations_for_a_workflow() {
    assert_snapshot!(printed(&fixture::report(), ReviewFormat::Github), @r#"
    ::error file=src/invoice/search.rs,line=42,endLine=42,title=critical 95 (f-3c19a27e)%3A The customer's name is pasted into the SQL statement::`find` builds its statement with `format!`, and the name comes straight from the query string of the request. Whoever searches can read every table that the service can read.%0A%0AThe same pattern was removed from `orders` last year.%0ATrigger: GET /invoices?name=' OR 1=1 --%0AFix: Pass the name as a parameter:%0A```rust%0Aconn.query("SELECT * FROM invoices WHERE name = ?1", [name])%0A```%0ASaid by claude (anthropic, critical 85) and codex (openai, high 80); binds, new.
    ::warning file=src/api.rs,line=118,endLine=121,title=medium 64 (f-90b1d4aa)%3A Callers never learn that a search was cut off::`find` now stops at 500 rows, and the handler still says `complete: true`.%0ASaid by codex (openai, medium 70); optional, was fixed and is back.
    ::warning file=src/invoice/lock.rs,line=23,endLine=24,title=critical 58 (disputed%2C f-e07d3b19)%3A Two requests can lock the same invoice::The flag is read and written in two statements.%0ATrigger: two PUT requests for one invoice within a millisecond%0ASaid by claude (anthropic, critical 75); would bind, open since an earlier review, needs a human before merging.
    Tribunal: FAIL: 1 finding binds
    "#);
}
