//! An arbitrated review in every format that tells of it.

use tribunal_core::dispute::{
    Decision, Evidence, EvidenceCheck, EvidenceKind, Objection, Origin, Party,
};
use tribunal_core::review::arbitration::{
    ArbitratedFinding, Arbitration, ChangedPath, CoderRound, DisputeSummary, End, FindingState,
    GateWithOffer, Offer, OpenReason, RoundResponse, Verification,
};
use tribunal_core::review::coverage::FileStatus;
use tribunal_core::review::gate::{GateWord, Obligation};
use tribunal_core::review::response::{Answer, Response};

use super::*;

/// Returns an arbitration in which everything happened, with `text` wherever foreign text stands.
pub(super) fn arbitration(text: &str) -> Arbitration {
    let report = fixture::report();
    let with = |words: &str| match text {
        "" => words.to_owned(),
        text => format!("{words} {text}"),
    };
    let finding = |index: usize, state| {
        let finding = &report.findings[index];
        ArbitratedFinding {
            id: finding.id.clone(),
            fingerprint: finding.fingerprint.clone(),
            title: with(&finding.title),
            location: finding.location.clone(),
            label: finding.label,
            severity: finding.severity,
            category: finding.category,
            obligation: Obligation::Mandatory,
            raised_in: 0,
            state,
            responses: Vec::new(),
            disputes: Vec::new(),
            checks: Vec::new(),
        }
    };
    let mut contested = finding(0, FindingState::Fixed);
    contested.responses = vec![
        RoundResponse {
            round: 1,
            response: Some(Response {
                answer: Answer::Objected {
                    objection: Objection::Invalid {
                        said: with("taste"),
                    },
                    evidence: vec![Evidence {
                        from: Party::Coder,
                        kind: EvidenceKind::Code,
                        reference: with("src/db.rs:10"),
                        text: with("let x = 1;"),
                        check: EvidenceCheck::Refuted {
                            why: with("`src/db.rs` has 9 lines"),
                        },
                    }],
                },
                justification: with("I prefer it this way."),
            }),
        },
        RoundResponse {
            round: 2,
            response: Some(Response {
                answer: Answer::Implemented,
                justification: with("Uses a parameter now."),
            }),
        },
    ];
    contested.disputes = vec![DisputeSummary {
        id: "d-2a51c099e4".to_owned(),
        origin: Origin::Objection,
        decision: Some(Decision::Amend {
            instructions: with("Bind the name, keep the rest."),
        }),
        reason: with("Both are partly right."),
        by: "human".to_owned(),
    }];
    contested.checks = vec![Verification {
        round: 2,
        by: with("ann"),
        fixed: Some(true),
        reason: with("src/db.rs:12 binds it"),
    }];
    let mut late = finding(
        1,
        FindingState::Open {
            why: OpenReason::RoundsUsedUp,
        },
    );
    late.raised_in = 2;
    late.disputes = vec![DisputeSummary {
        id: "d-77aa01c2aa".to_owned(),
        origin: Origin::Deadlock,
        decision: None,
        reason: with("a person has to rule"),
        by: String::new(),
    }];
    Arbitration {
        coder: with("cody"),
        findings: vec![contested, late],
        rounds: vec![CoderRound {
            round: 1,
            commit: "c04e7715d3".to_owned(),
            files: vec![ChangedPath {
                path: with("src/db.rs"),
                status: FileStatus::Modified,
            }],
            not_taken: vec![with("`.env`: written by the coder")],
            problems: vec![with("responses[1]: an object was expected")],
        }],
        offer: Some(Offer::Branch {
            // The program makes this name itself.
            branch: "tribunal/c-2a51c099e4".to_owned(),
            commit: "c04e7715d3".to_owned(),
            why: String::new(),
        }),
        end: End::CoderMissing {
            why: with("it fell over"),
        },
    }
}

fn arbitrated() -> ReviewReport {
    let branch = "tribunal/c-2a51c099e4";
    ReviewReport {
        arbitration: Some(arbitration("")),
        gate_with_offer: Some(GateWithOffer {
            gate: GateWord::Pass,
            branch: Some(branch.to_owned()),
            patch: None,
            command: format!("git restore -s {branch} -- src/db.rs"),
        }),
        ..fixture::report()
    }
}

/// Returns what stands between two texts, the first included.
fn between(text: &str, from: &str, to: &str) -> String {
    let start = text
        .find(from)
        .unwrap_or_else(|| panic!("no {from}: {text}"));
    let end = text[start..].find(to).map_or(text.len(), |end| start + end);
    text[start..end].trim_end().to_owned()
}

#[test]
fn an_arbitration_in_a_terminal() {
    let text = printed(&arbitrated(), ReviewFormat::Text);
    insta::assert_snapshot!(between(&text, "Arbitration\n", "\nReviewers"), @"
    Arbitration
      f-3c19a27e src/invoice/search.rs:42 The customer's name is pasted into the SQL statement
          fixed
          cody in round 1: objected, no valid ground: taste; code src/db.rs:10 (checked: it is not so
          (`src/db.rs` has 9 lines)); the program refuted all evidence of the objection: I prefer it
          this way.
          dispute d-2a51c099e4: AMEND by human: Both are partly right. Instead: Bind the name, keep the
          rest.
          cody in round 2: implemented: Uses a parameter now.
          ann after round 2: fixed: src/db.rs:12 binds it
      f-90b1d4aa src/api.rs:118-121 Callers never learn that a search was cut off (raised after round 2)
          open: the rounds were used up
          dispute d-77aa01c2aa: waits: a person has to rule
      The coder cody worked for 1 round and changed 1 file.
      Not taken: `.env`: written by the coder.
      The work is on the branch `tribunal/c-2a51c099e4`; take it with `git restore -s
      tribunal/c-2a51c099e4 -- src/db.rs`.
      It ended because the coder could not be heard: it fell over.

    Disputed (1)
    HIGH      src/invoice/lock.rs:23-24  Two requests can lock the same invoice
              f-e07d3b19 by claude, seen before. A critical finding of one family needs confidence 85 or
              a second family.

    Not blocking (1)
    LOW       src/invoice/search.rs:61  `rows.clone()` copies the whole list
              f-5512cc00 by claude, dismissed before, so it does not count. The list is copied once per
              request.

    Rejected (1)
      HIGH (medium) 22  f-0b8e6f21  src/invoice/search.rs:9  There are no tests for `find`
          Its author conceded: `tests/search.rs` covers it.
    ");
}

#[test]
fn an_arbitration_in_markdown() {
    let text = printed(&arbitrated(), ReviewFormat::Markdown);
    insta::assert_snapshot!(between(&text, "### Arbitration", "<details"), @"
    ### Arbitration

    - `f-3c19a27e` The customer's name is pasted into the SQL statement: **fixed**
      - cody in round 1: objected, no valid ground: taste; code src/db.rs:10 (checked: it is not so (`src/db.rs` has 9 lines)); the program refuted all evidence of the objection: I prefer it this way.
      - dispute d-2a51c099e4: AMEND by human: Both are partly right. Instead: Bind the name, keep the rest.
      - cody in round 2: implemented: Uses a parameter now.
      - ann after round 2: fixed: src/db.rs:12 binds it
    - `f-90b1d4aa` Callers never learn that a search was cut off (raised after round 2): **open: the rounds were used up**
      - dispute d-77aa01c2aa: waits: a person has to rule

    The coder cody worked for 1 round and changed 1 file.
    Not taken: `.env`: written by the coder.
    The work is on the branch `tribunal/c-2a51c099e4`; take it with `git restore -s tribunal/c-2a51c099e4 -- src/db.rs`.
    It ended because the coder could not be heard: it fell over.
    ");
}

#[test]
fn an_arbitration_on_a_page() {
    let text = printed(&arbitrated(), ReviewFormat::Html);
    insta::assert_snapshot!(between(&text, "<section id=\"arbitration\"", "</section>"), @r#"
    <section id="arbitration">
    <h2>Arbitration</h2>
    <ul class="plain"><li><strong>fixed</strong> <code>src/invoice/search.rs:42</code> The customer&#39;s name is pasted into the SQL statement <small>f-3c19a27e</small>
    <ul><li>cody in round 1: objected, no valid ground: taste; code src/db.rs:10 (checked: it is not so (<code>src/db.rs</code> has 9 lines)); the program refuted all evidence of the objection: I prefer it this way.</li><li>dispute d-2a51c099e4: AMEND by human: Both are partly right. Instead: Bind the name, keep the rest.</li><li>cody in round 2: implemented: Uses a parameter now.</li><li>ann after round 2: fixed: src/db.rs:12 binds it</li></ul></li>
    <li><strong>open: the rounds were used up</strong> <code>src/api.rs:118-121</code> Callers never learn that a search was cut off (raised after round 2) <small>f-90b1d4aa</small>
    <ul><li>dispute d-77aa01c2aa: waits: a person has to rule</li></ul></li>
    </ul>
    <p>The coder cody worked for 1 round and changed 1 file.</p>
    <p>Not taken: <code>.env</code>: written by the coder.</p>
    <p>The work is on the branch <code>tribunal/c-2a51c099e4</code>; take it with <code>git restore -s tribunal/c-2a51c099e4 -- src/db.rs</code>.</p>
    <p>It ended because the coder could not be heard: it fell over.</p>
    "#);
}

#[test]
fn a_pass_says_on_whose_work_it_rests() {
    let report = ReviewReport {
        arbitration: Some(arbitration("")),
        ..gated(Gate::Pass)
    };
    let text = printed(&report, ReviewFormat::Text);
    insta::assert_snapshot!(text.lines().last().unwrap_or_default(), @"  - `src/legacy/export.rs` was split into 2 parts to fit the context of codex");
}

#[test]
fn the_json_of_an_arbitrated_review_fits_its_schema() {
    let schema = tribunal_core::review::report::review_schema();
    let schema = serde_json::to_value(schema).expect("a schema is JSON");
    let report = serde_json::to_value(arbitrated()).expect("a report is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let errors: Vec<String> = validator
        .iter_errors(&report)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, Vec::<String>::new());
}
