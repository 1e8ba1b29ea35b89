//! Which commands lead on from a review that did not pass.

use tribunal_core::review::coverage::Omission;
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
    let again = command(report, &[]);
    steps.push(format!("fix it and review again with {again}"));
    steps.push(format!(
        "`tribunal dismiss {id} --why TEXT` if the finding is wrong"
    ));
    steps.push(match &report.arbitration {
        None => {
            let arbitrate = command(report, &["--arbitrate"]);
            format!("{arbitrate} lets a coder answer, if one is connected")
        }
        Some(_) => {
            let other = command(report, &["--arbitrate", "--coder", "NAME"]);
            format!("{other} lets another coder answer; `tribunal agents` lists them")
        }
    });
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
    for why in &report.unread_because {
        steps.extend(after_unread(report, *why));
    }
    if report.reviewers.is_empty() && report.unread_because.is_empty() {
        steps.push("`tribunal connect AGENT --role reviewer` adds a reviewer".to_owned());
    }
    steps
}

/// Returns what helps where files were not reviewed for this reason.
fn after_unread(report: &ReviewReport, why: Omission) -> Vec<String> {
    let mut files = report.coverage.left_out.iter();
    let first = files.find(|file| file.why == why);
    let detail = first.map_or("", |file| file.detail.as_str());
    let is_in_tree = why == Omission::Unreadable && !detail.is_empty();
    let mut steps = Vec::new();
    match first {
        // What was found out about the file says more than the kind of reason.
        Some(file) if is_in_tree && file.path.ends_with('/') => steps.push(format!(
            "`tribunal review {}` reviews the files of that repository; a line in `.gitignore` \
             keeps it out of this one",
            one_line(&typed_word(&file.path), NAME)
        )),
        Some(_) if is_in_tree => steps.push(one_line(detail, PROSE)),
        _ => steps.extend(why.advice().map(str::to_owned)),
    }
    if let Some(file) = first.filter(|_| why.can_be_ignored()) {
        let pattern = typed_word(&ignore_pattern(why, &file.path));
        let pattern = one_line(&pattern, NAME);
        steps.push(format!(
            "`tribunal config add review.ignore {pattern}` leaves it out of every review, if that is right"
        ));
    }
    steps
}

/// Returns how a file is named to be ignored: code that nobody reads by its ending, others by their
/// path.
fn ignore_pattern(why: Omission, path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, ending)) if why == Omission::UnknownLanguage && !stem.is_empty() => {
            format!("*.{ending}")
        }
        // A path with a slash before it means this one file.
        _ => format!("/{path}"),
    }
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
