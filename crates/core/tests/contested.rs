//! Which findings need a debate, case by case.

mod common;

use tribunal_core::consensus::{Policy, settle};
use tribunal_core::review::contest::contested;

#[track_caller]
fn check(given: &[&str], expected: &str) {
    let policy = Policy::arena();
    let settlement = settle(common::input(given), &policy);
    let found = contested(&settlement, &policy);
    let lead = |index: &usize| {
        let lead = settlement.groups[*index].lead();
        settlement.findings[lead as usize].id.clone()
    };
    let found: Vec<String> = found.iter().map(lead).collect();
    assert_eq!(found.join(" "), expected, "{given:?}");
}

#[test]
fn what_reviewers_contradict_each_other_about_is_contested() {
    check(
        &[
            r#"ann: CRITICAL bug 90% src/db.rs:10 "query built by hand""#,
            r#"bob: LOW bug 60% src/db.rs:10 "query built by hand""#,
        ],
        "a1",
    );
    // Also where the code's own measure found a winner.
    check(
        &[
            r#"ann: HIGH bug 90% src/db.rs:10 "query built by hand""#,
            r#"bob: LOW bug 60% src/db.rs:10 "query built by hand" trigger="a quote in the name" fix="use a parameter""#,
        ],
        "b1",
    );
}

#[test]
fn what_was_decided_by_counting_is_not() {
    check(&[], "");
    check(
        &[
            r#"ann: HIGH bug 80% src/db.rs:10 "query built by hand""#,
            r#"bob: HIGH bug 80% src/db.rs:10 "query built by hand""#,
        ],
        "",
    );
    // One voice with all it takes, or about something small.
    let strong = r#"ann: HIGH bug 90% src/db.rs:10 "query built by hand" trigger="a quote in the name" fix="use a parameter""#;
    check(&[strong], "");
    check(
        &[
            r#"ann: MEDIUM bug 55% src/db.rs:10 "query built by hand" trigger="a quote in the name" fix="use a parameter""#,
        ],
        "",
    );
}

#[test]
fn a_grave_claim_of_one_voice_with_thin_support_is_contested() {
    check(
        &[
            r#"ann: HIGH bug 55% src/db.rs:10 "query built by hand" trigger="a quote in the name" fix="use a parameter""#,
        ],
        "a1",
    );
    // Whether or not scrutiny lowered it, and even if it fell on its points.
    check(&[r#"ann: HIGH bug 30% "something may be wrong""#], "a1");
    check(
        &[r#"ann: CRITICAL bug 75% src/db.rs:10 "query built by hand""#],
        "a1",
    );
}

#[test]
fn what_its_author_withdrew_is_settled() {
    check(
        &[
            r#"ann: HIGH bug 90% src/db.rs:10 "query built by hand""#,
            r#"bob disagrees a1 -5 "no""#,
            r#"ann concedes a1"#,
        ],
        "",
    );
}
