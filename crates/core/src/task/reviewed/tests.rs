//! What the review of its work means for a task, case by case.
//!
//! ```text
//! f-1: mandatory accepted      a finding of the review
//! f-1 awaits d-1               it is before somebody who has not ruled
//! f-1 was ruled on in d-1      it was, and the coder has not done it
//! bob is missing               a reviewer who could not be heard
//! the coder is missing
//! ```

use super::{Sequel, sequel};
use crate::consensus::{Statistics, Verdict};
use crate::dispute::{Decision, Origin};
use crate::finding::{Label, Location};
use crate::ids::{CaseId, DisputeId};
use crate::money::{Cost, Usage};
use crate::review::arbitration::{
    ArbitratedFinding, Arbitration, DisputeSummary, End, FindingState, OpenReason,
};
use crate::review::coverage::Coverage;
use crate::review::gate::{Gate, Obligation};
use crate::review::report::{
    ChangeSummary, REVIEW_SCHEMA, ReviewReport, ReviewedFinding, ReviewerState, ReviewerSummary,
};
use crate::review::rule_level::RuleLevels;
use crate::review::sample;

#[track_caller]
fn check(gate: &str, given: &[&str], expected: &str) {
    let report = report(gate, given);
    let told = |text: &str| {
        let told = report.findings.iter().map(|finding| finding.id.as_str());
        let told = told.filter(|id| text.contains(*id));
        told.collect::<Vec<_>>().join(" ")
    };
    let found = match sequel(&report) {
        Sequel::Approve => "approve".to_owned(),
        Sequel::Reject { open, note } => format!("reject {open}: {}", told(&note)),
        Sequel::Dispute { disputes, rest } => {
            let disputes: Vec<_> = disputes.iter().map(short).collect();
            let again = match rest.contains("is to be reviewed again") {
                true => " and another review",
                false => "",
            };
            match told(&rest).as_str() {
                "" => format!("dispute {}{again}", disputes.join(" ")),
                told => format!("dispute {}, besides {told}{again}", disputes.join(" ")),
            }
        }
        Sequel::Leave { why } => format!("leave: {why}"),
    };
    assert_eq!(found, expected, "{gate}: {given:?}");
}

#[test]
fn a_pass_approves_and_nothing_else_does() {
    check("PASS", &[], "approve");
    check("PASS", &["f-1: optional accepted"], "approve");
    let missing = "leave: its review c-0000000009 is inconclusive: bob was not heard";
    check("INCONCLUSIVE bob was not heard", &[], missing);
    check(
        "INCONCLUSIVE bob was not heard",
        &["bob is missing"],
        missing,
    );
}

#[test]
fn a_failed_review_sends_every_finding_that_binds_back_to_the_coder() {
    check("FAIL", &["f-1: mandatory accepted"], "reject 1: f-1");
    check(
        "FAIL",
        &[
            "f-1: mandatory accepted",
            "f-2: optional accepted",
            "f-3: mandatory rejected",
            "f-4: mandatory disputed",
            "f-5: mandatory dismissed",
        ],
        "reject 2: f-1 f-4",
    );
    // One that was ruled on and not done is work, and no question any more.
    check(
        "FAIL",
        &["f-1: mandatory accepted", "f-1 was ruled on in d-1"],
        "reject 1: f-1",
    );
}

#[test]
fn what_is_contested_goes_to_a_dispute() {
    let finding = "f-1: mandatory accepted";
    check("FAIL", &[finding, "f-1 awaits d-1"], "dispute d-1");
    check(
        "INCONCLUSIVE a ruling",
        &[finding, "f-1 awaits d-1"],
        "dispute d-1",
    );
    check(
        "FAIL",
        &[
            finding,
            "f-1 awaits d-1",
            "f-2: mandatory accepted",
            "f-2 awaits d-2",
        ],
        "dispute d-1 d-2",
    );
    // Nobody has to rule on what need not be done.
    check(
        "FAIL",
        &[finding, "f-2: optional accepted", "f-2 awaits d-2"],
        "reject 1: f-1",
    );
}

#[test]
fn a_ruling_makes_good_only_what_it_is_about() {
    let given = ["f-1: mandatory accepted", "f-1 awaits d-1"];
    let with = |more: &[&'static str]| [&given, more].concat();
    check(
        "FAIL",
        &with(&["f-2: mandatory accepted"]),
        "dispute d-1, besides f-2",
    );
    check(
        "FAIL",
        &with(&["bob is missing"]),
        "dispute d-1 and another review",
    );
    check(
        "FAIL",
        &with(&["f-2: mandatory accepted", "bob is missing"]),
        "dispute d-1, besides f-2 and another review",
    );
    check(
        "INCONCLUSIVE a ruling; bob was not heard",
        &with(&["bob is missing"]),
        "leave: its review c-0000000009 is inconclusive: a ruling; bob was not heard",
    );
}

#[test]
fn what_was_found_stands_when_the_coder_could_not_be_heard() {
    check(
        "INCONCLUSIVE the coder was not heard",
        &["f-1: mandatory accepted", "the coder is missing"],
        "reject 1: f-1",
    );
    check(
        "INCONCLUSIVE the coder was not heard",
        &["the coder is missing"],
        "leave: its review c-0000000009 is inconclusive: the coder was not heard",
    );
}

#[test]
fn the_coder_reads_what_where_and_why() {
    let mut report = report(
        "FAIL",
        &[
            "f-1: mandatory accepted",
            "f-2: mandatory disputed",
            "f-3: mandatory accepted",
            "f-3 was ruled on in d-1",
        ],
    );
    report.findings[0].description = "The name is pasted in.\nAnybody can read all.".to_owned();
    report.findings[0].suggestion = "Use a parameter.".to_owned();
    report.findings[1].location.line = None;
    let Sequel::Reject { note, .. } = sequel(&report) else {
        panic!("it was rejected");
    };
    insta::assert_snapshot!(note, @"
    The review c-0000000009 found 3 findings that must be dealt with:
    - f-1 [MUST] src/db.rs:10: query built by hand
      The name is pasted in. Anybody can read all.
      Use a parameter.
    - f-2 [MUST] src/db.rs: query built by hand (the reviewers do not agree)
    - f-3 [MUST] src/db.rs:10: query built by hand (open: locked by a ruling and refused)
    ");
}

fn report(gate: &str, given: &[&str]) -> ReviewReport {
    let mut report = ReviewReport {
        gate_with_offer: None,
        schema: REVIEW_SCHEMA.to_owned(),
        case: CaseId::from_bits(9),
        change: ChangeSummary {
            title: "main..topic".to_owned(),
            base: None,
            head: None,
            whole_files: false,
            selector: Vec::new(),
            empty: None,
        },
        gate: match gate.split_once(' ') {
            None if gate == "PASS" => Gate::Pass,
            None if gate == "FAIL" => Gate::Fail { open: 1 },
            Some(("INCONCLUSIVE", causes)) => Gate::Inconclusive {
                causes: causes.split("; ").map(str::to_owned).collect(),
            },
            _ => panic!("no such gate: {gate}"),
        },
        fail_on: None,
        outdated: None,
        unread_because: Vec::new(),
        policy: "tribunal".to_owned(),
        reviewers: Vec::new(),
        findings: Vec::new(),
        arbitration: None,
        fixed: Vec::new(),
        suppressed: Vec::new(),
        coverage: Coverage::default(),
        rule_levels: RuleLevels::new(),
        statistics: Statistics::default(),
        usage: Usage::default(),
        cost: Cost::Unknown,
        notes: Vec::new(),
    };
    for line in given {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["the", "coder", "is", "missing"] => {
                let why = "it fell over".to_owned();
                arbitration(&mut report).end = End::CoderMissing { why };
            }
            [name, "is", "missing"] => report.reviewers.push(missing(name)),
            [id, "awaits", dispute] => {
                let finding = contested(&report, id, dispute, None);
                arbitration(&mut report).findings.push(finding);
            }
            [id, "was", "ruled", "on", "in", dispute] => {
                let finding = contested(&report, id, dispute, Some(Decision::Enforce));
                arbitration(&mut report).findings.push(finding);
            }
            [id, obligation, how] => {
                let id = id.trim_end_matches(':');
                report.findings.push(finding(id, obligation, how));
            }
            _ => panic!("no such line: {line}"),
        }
    }
    report
}

fn arbitration(report: &mut ReviewReport) -> &mut Arbitration {
    report.arbitration.get_or_insert_with(|| Arbitration {
        coder: "cody".to_owned(),
        findings: Vec::new(),
        rounds: Vec::new(),
        offer: None,
        end: End::Settled,
    })
}

fn missing(name: &str) -> ReviewerSummary {
    ReviewerSummary {
        name: name.to_owned(),
        family: name.to_owned(),
        state: ReviewerState::Missing {
            class: None,
            why: "it fell over".to_owned(),
        },
        findings: 0,
        problems: Vec::new(),
        usage: Usage::default(),
        cost: Cost::Unknown,
        elapsed_ms: 0,
    }
}

fn finding(id: &str, obligation: &str, how: &str) -> ReviewedFinding {
    ReviewedFinding {
        verdict: match how {
            "accepted" | "dismissed" => Verdict::Accepted,
            "disputed" => Verdict::Disputed,
            "rejected" => Verdict::Rejected,
            _ => panic!("no such verdict: {how}"),
        },
        counts: how != "dismissed",
        obligation: match obligation {
            "mandatory" => Obligation::Mandatory,
            "optional" => Obligation::Optional,
            _ => panic!("no such obligation: {obligation}"),
        },
        label: Label::Must,
        location: Location {
            file: "src/db.rs".to_owned(),
            line: Some(10),
            ..Location::default()
        },
        title: "query built by hand".to_owned(),
        ..sample::finding(id)
    }
}

/// Returns a finding of the report as a coder left it after objecting.
fn contested(
    report: &ReviewReport,
    id: &str,
    dispute: &str,
    decision: Option<Decision>,
) -> ArbitratedFinding {
    let finding = report.findings.iter().find(|finding| finding.id == id);
    let finding = finding.expect("a finding is told before what became of it");
    let number = dispute.trim_start_matches("d-").parse().expect("a number");
    ArbitratedFinding {
        id: finding.id.clone(),
        fingerprint: finding.fingerprint.clone(),
        title: finding.title.clone(),
        location: finding.location.clone(),
        label: finding.label,
        severity: finding.severity,
        category: finding.category,
        obligation: finding.obligation,
        raised_in: 0,
        state: match decision {
            None => FindingState::AwaitingRuling,
            Some(_) => FindingState::Open {
                why: OpenReason::Refused,
            },
        },
        responses: Vec::new(),
        disputes: vec![DisputeSummary {
            id: DisputeId::of_case(&CaseId::from_bits(number)).to_string(),
            origin: Origin::Objection,
            decision,
            reason: "because".to_owned(),
            by: String::new(),
        }],
        checks: Vec::new(),
    }
}

fn short(dispute: &DisputeId) -> String {
    let number = dispute.as_str().trim_start_matches("d-");
    format!("d-{}", number.trim_start_matches('0'))
}
