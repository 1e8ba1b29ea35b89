//! Which commands lead on from a review that did not pass.

use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding, ReviewerState};

use super::facts;
use super::shown::{NAME, PROSE, one_line};
use crate::typed_words::typed_word;

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
        let again = command(report, &[]);
        steps.push(format!("fix it and review again with {again}"));
        steps.push(format!(
            "`tribunal dismiss {id} --why TEXT` if the finding is wrong"
        ));
        let arbitrate = command(report, &["--arbitrate"]);
        steps.push(format!(
            "{arbitrate} lets a coder answer, if one is connected"
        ));
    }
    steps
}

fn after_inconclusive(report: &ReviewReport) -> Vec<String> {
    let mut steps = Vec::new();
    let waits = |one: &&ReviewedFinding| facts::is_undecided(report, one);
    if let Some(first) = report.findings.iter().find(waits) {
        let id = one_line(&first.id, NAME);
        steps.push(format!(
            "`tribunal explain {id}` shows what is disputed; `tribunal dismiss {id} --why TEXT` settles it if it is wrong"
        ));
        if !was_debated(report) {
            let debate = command(report, &["--rounds", "3"]);
            steps.push(format!("{debate} lets the reviewers debate it"));
        }
    }
    if report.reviewers.iter().any(|one| one.state.lacks_trust()) {
        let again = command(report, &[]);
        steps.push(format!(
            "`tribunal config trust` lets the project's agents be asked; then review again with {again}"
        ));
    }
    let is_missing = |state: &ReviewerState| {
        matches!(state, ReviewerState::Missing { .. }) && !state.lacks_trust()
    };
    if report.reviewers.iter().any(|one| is_missing(&one.state)) {
        let case = &report.case;
        steps.push(format!(
            "`tribunal resume {case}` asks again for the answers that are missing; `tribunal doctor` checks the agents"
        ));
    }
    if report.outdated.is_some() {
        let again = command(report, &[]);
        steps.push(format!("{again} reviews your files as they are now"));
    }
    let advice = report.unread_because.iter().filter_map(|why| why.advice());
    steps.extend(advice.map(str::to_owned));
    if report.reviewers.is_empty() && report.unread_because.is_empty() {
        steps.push("`tribunal connect AGENT --role reviewer` adds a reviewer".to_owned());
    }
    steps
}

/// Tells whether the reviewers have spoken to each other's findings.
fn was_debated(report: &ReviewReport) -> bool {
    let round2 = &report.statistics.round2_cross_examination;
    !round2.responses_received.is_empty()
}

/// Returns the command that reviews the same change again, with `more` words.
fn command(report: &ReviewReport, more: &[&str]) -> String {
    let selector = report.change.selector.iter().map(String::as_str);
    let words: Vec<String> = ["tribunal", "review"]
        .into_iter()
        .chain(selector)
        .chain(more.iter().copied())
        .map(typed_word)
        .collect();
    format!("`{}`", one_line(&words.join(" "), PROSE))
}
