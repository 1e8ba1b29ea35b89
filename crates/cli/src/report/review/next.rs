//! Which commands lead on from a review that did not pass.

use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding, ReviewerState};

use super::facts;
use super::shown::{NAME, one_line};

/// Returns what the reader can do next, one sentence each; nothing after a PASS.
pub(super) fn steps(report: &ReviewReport) -> Vec<String> {
    match report.gate {
        Gate::Pass => Vec::new(),
        Gate::Fail { .. } => after_fail(report),
        Gate::Inconclusive { .. } => after_inconclusive(report),
    }
}

fn after_fail(report: &ReviewReport) -> Vec<String> {
    let blocking = |one: &&ReviewedFinding| facts::fails(report, one);
    let Some(first) = report.findings.iter().find(blocking) else {
        return Vec::new();
    };
    let id = one_line(&first.id, NAME);
    let mut steps = vec![format!(
        "`tribunal explain {id}` shows the code, who says so and why it counts"
    )];
    if report.arbitration.is_none() {
        steps.push(
            "fix it and review again, or let a coder answer: `tribunal review --arbitrate`"
                .to_owned(),
        );
    }
    steps
}

fn after_inconclusive(report: &ReviewReport) -> Vec<String> {
    let mut steps = Vec::new();
    let waits = |one: &&ReviewedFinding| facts::is_undecided(report, one);
    if let Some(first) = report.findings.iter().find(waits) {
        let id = one_line(&first.id, NAME);
        steps.push(format!(
            "`tribunal explain {id}` shows what is disputed; `tribunal review --rounds 3` lets the reviewers debate it"
        ));
    }
    let is_missing = |state: &ReviewerState| matches!(state, ReviewerState::Missing { .. });
    if report.reviewers.iter().any(|one| is_missing(&one.state)) {
        let case = &report.case;
        steps.push(format!(
            "`tribunal resume {case}` asks again for the answers that are missing; `tribunal doctor` checks the agents"
        ));
    }
    if report.outdated.is_some() {
        steps.push("`tribunal review` reviews your files as they are now".to_owned());
    }
    let advice = report.unread_because.iter().filter_map(|why| why.advice());
    steps.extend(advice.map(str::to_owned));
    if report.reviewers.is_empty() && report.unread_because.is_empty() {
        steps.push("`tribunal connect AGENT --role reviewer` adds a reviewer".to_owned());
    }
    steps
}
