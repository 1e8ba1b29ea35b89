//! A review as a JUnit report: CI servers show it like tests.
//!
//! A file is a test case. It fails when a finding in it binds, and is skipped when nobody saw it.
//! The gate is a test case, too, so that something fails or breaks whenever the gate does not pass.

mod xml;

use std::collections::BTreeMap;

use tribunal_core::consensus::Verdict;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::{
    ReviewReport, ReviewedFinding, ReviewerState, ReviewerSummary,
};

use super::shown::{NAME, TITLE, one_line, prose};
use super::{arbitrated, facts, frame};
use xml::{Case, Ends, Suite};

/// Returns the whole report.
pub(super) fn render(report: &ReviewReport) -> String {
    let suites = [
        Suite {
            properties: vec![
                ("case", report.case.to_string()),
                ("change", one_line(&report.change.title, NAME)),
            ],
            ..Suite::new("tribunal.gate", vec![gate(report)])
        },
        Suite::new("tribunal.files", files(report)),
        Suite::new("tribunal.reviewers", reviewers(report)),
    ];
    let sum = |what: Ends| suites.iter().map(|suite| suite.count(what)).sum::<usize>();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"tribunal\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        suites.iter().map(|suite| suite.cases.len()).sum::<usize>(),
        sum(Ends::Fails),
        sum(Ends::Breaks),
        sum(Ends::IsSkipped)
    );
    for suite in &suites {
        suite.write(&mut out);
    }
    out + "</testsuites>\n"
}

/// Returns the test case for the gate. It fails with the files that fail it, so that nothing
/// depends on whether a finding names a file.
fn gate(report: &ReviewReport) -> Case {
    let mut case = Case::new("gate".to_owned());
    case.ends = match report.gate {
        Gate::Pass => Ends::Well,
        Gate::Fail { .. } => Ends::Fails,
        Gate::Inconclusive { .. } => Ends::Breaks,
    };
    let said = format!("{}: {}", facts::verdict(report), facts::gate(report));
    let steps: String = arbitrated::next_steps(report)
        .iter()
        .map(|step| format!("{}\n", step.sentence()))
        .collect();
    case.remarks = format!("{said}\n{steps}{}\n", facts::tally(report));
    case.message = said;
    let unplaced = |finding: &&ReviewedFinding| {
        facts::fails(report, finding) && finding.location.file.is_empty()
    };
    let unplaced = report.findings.iter().filter(unplaced);
    let texts: Vec<String> = unplaced.map(|one| described(report, one)).collect();
    case.text = texts.join("\n");
    case
}

/// Returns a test case for each file, those with findings that nobody reviewed included.
fn files(report: &ReviewReport) -> Vec<Case> {
    let mut findings: BTreeMap<&str, Vec<&ReviewedFinding>> = BTreeMap::new();
    for finding in &report.findings {
        let file = finding.location.file.as_str();
        if !file.is_empty() && finding.verdict != Verdict::Rejected {
            findings.entry(file).or_default().push(finding);
        }
    }
    let mut cases = Vec::new();
    for file in &report.coverage.reviewed {
        let found = findings.remove(file.path.as_str()).unwrap_or_default();
        cases.push(file_case(report, &file.path, &found));
    }
    for (path, found) in findings {
        cases.push(file_case(report, path, &found));
    }
    for file in &report.coverage.left_out {
        let mut case = file_case(report, &file.path, &[]);
        case.ends = Ends::IsSkipped;
        let detail = one_line(&file.detail, NAME);
        let blank = if detail.is_empty() { "" } else { ": " };
        case.message = format!("not reviewed: {}{blank}{detail}", file.why);
        cases.push(case);
    }
    cases
}

fn file_case(report: &ReviewReport, path: &str, findings: &[&ReviewedFinding]) -> Case {
    let mut case = Case::new(one_line(path, NAME));
    case.file = Some(one_line(path, NAME));
    let (failing, other): (Vec<&ReviewedFinding>, Vec<&ReviewedFinding>) = findings
        .iter()
        .copied()
        .partition(|finding| facts::fails(report, finding));
    if let Some(first) = failing.first() {
        case.ends = Ends::Fails;
        let more = match failing.len() {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        case.message = format!(
            "{}: {}{more}",
            first.severity,
            one_line(&first.title, TITLE)
        );
    }
    let texts = |list: Vec<&ReviewedFinding>| {
        let texts: Vec<String> = list.into_iter().map(|one| described(report, one)).collect();
        texts.join("\n")
    };
    case.text = texts(failing);
    case.remarks = texts(other);
    case
}

/// Returns a test case for each reviewer. Whoever is missing is skipped: what that means for the
/// change, the gate says.
fn reviewers(report: &ReviewReport) -> Vec<Case> {
    let case = |reviewer: &ReviewerSummary| {
        let mut case = Case::new(one_line(&reviewer.name, NAME));
        case.time_ms = reviewer.elapsed_ms;
        let (state, why) = facts::state(reviewer);
        if reviewer.state != ReviewerState::Answered {
            case.ends = Ends::IsSkipped;
            case.message = format!("{state}: {why}");
        }
        let [_, tokens, cost] = facts::effort(reviewer);
        let found = facts::count(reviewer.findings as usize, "finding");
        let family = one_line(&reviewer.family, NAME);
        case.remarks = format!("{family}: {found}, {tokens}, {cost}\n");
        case
    };
    report.reviewers.iter().map(case).collect()
}

/// Returns a finding in plain text.
fn described(report: &ReviewReport, finding: &ReviewedFinding) -> String {
    let disputed = if finding.verdict == Verdict::Disputed {
        " disputed"
    } else {
        ""
    };
    let mut text = format!(
        "{}{disputed} {} {} {} {}\n",
        finding.severity,
        finding.confidence,
        one_line(&finding.id, NAME),
        one_line(&finding.location.to_string(), NAME),
        one_line(&finding.title, TITLE)
    );
    text.push_str(&frame::plain(&finding.frame));
    for (name, part) in [
        ("", &finding.description),
        ("Trigger: ", &finding.trigger),
        ("Fix: ", &finding.suggestion),
    ] {
        if !part.trim().is_empty() {
            text.push_str(&format!("{name}{}\n", prose(part)));
        }
    }
    let standing = facts::standing(report, finding);
    let confidence = facts::calculation(&finding.trace);
    text + &format!(
        "Said by {}; {standing}; confidence {confidence}\n",
        facts::voices_and_ratings(finding)
    )
}
