//! Whole prints of the fixture.

use insta::assert_snapshot;

use super::*;

#[test]
fn text_for_people() {
    assert_snapshot!(printed(&fixture::report(), ReviewFormat::Text), @r#"
    FAIL: 1 blocking finding (f-3c19a27e)
    Review of main..invoice-search
    3 accepted, 1 disputed (1 needs a human before merging), 1 rejected; 4 files reviewed, 11 left out
    Case c-2a51c099e4, policy tribunal

    Blocking (1)
    HIGH      src/invoice/search.rs:42  The customer's name is pasted into the SQL statement
              f-3c19a27e by claude and codex. Fix: Pass the name as a parameter: ```rust
              conn.query("SELECT * FROM invoices WHERE name = ?1", [name]) ```

    Disputed (1)
    HIGH      src/invoice/lock.rs:23-24  Two requests can lock the same invoice
              f-e07d3b19 by claude, seen before. A critical finding of one family needs confidence 85 or
              a second family.

    Not blocking (2)
    SHOULD    src/api.rs:118-121  Callers never learn that a search was cut off
              f-90b1d4aa by codex, was fixed and is back. `find` now stops at 500 rows, and the handler
              still says `complete: true`.
    LOW       src/invoice/search.rs:61  `rows.clone()` copies the whole list
              f-5512cc00 by claude, dismissed before, so it does not count. The list is copied once per
              request.

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

    Suppressed: 1
      - [MEDIUM] `rust-length-truncated` at src/invoice/page.rs:14 (builtin:correctness), because: a
        page has at most 100 rows

    Notes
      - `src/legacy/export.rs` was split into 2 parts to fit the context of codex

    What next
      - `tribunal explain f-3c19a27e` shows the code, who says so and why it counts
      - fix it and review again with `tribunal review`
      - `tribunal dismiss f-3c19a27e --why TEXT` if the finding is wrong
      - `tribunal review --arbitrate` lets a coder answer, if one is connected
    "#);
}

#[test]
fn annotations_for_a_workflow() {
    assert_snapshot!(printed(&fixture::report(), ReviewFormat::Github), @r#"
    ::error file=src/invoice/search.rs,line=42,endLine=42,title=critical 95 (f-3c19a27e)%3A The customer's name is pasted into the SQL statement::`find` builds its statement with `format!`, and the name comes straight from the query string of the request. Whoever searches can read every table that the service can read.%0A%0AThe same pattern was removed from `orders` last year.%0ATrigger: GET /invoices?name=' OR 1=1 --%0AFix: Pass the name as a parameter:%0A```rust%0Aconn.query("SELECT * FROM invoices WHERE name = ?1", [name])%0A```%0ASaid by claude (anthropic, critical 85) and codex (openai, high 80); blocking, new.
    ::warning file=src/api.rs,line=118,endLine=121,title=medium 64 (f-90b1d4aa)%3A Callers never learn that a search was cut off::`find` now stops at 500 rows, and the handler still says `complete: true`.%0ASaid by codex (openai, medium 70); optional, was fixed and is back.
    ::warning file=src/invoice/lock.rs,line=23,endLine=24,title=critical 58 (disputed%2C f-e07d3b19)%3A Two requests can lock the same invoice::The flag is read and written in two statements.%0ATrigger: two PUT requests for one invoice within a millisecond%0ASaid by claude (anthropic, critical 75); blocking unless it is settled, open since an earlier review, needs a human before merging.
    Tribunal: FAIL: 1 blocking finding
    "#);
}
