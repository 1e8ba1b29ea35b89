//! A trial as text for a terminal.

use std::fmt::Write as _;

use tribunal_core::text::{for_terminal, headline};
use tribunal_core::trial::report::{ContestantReport, JudgeReport, TrialReport};
use tribunal_core::trial::{Decree, DesignedBy, Hindsight, State};

use crate::report::{verdict, words};

/// Characters of each judge's summary in the short report.
const REASON: usize = 300;

/// Lines of the winner's answer in the short report.
const ANSWER_LINES: usize = 20;

/// Returns the report; with `details` every judge's reasons too.
pub(super) fn render(report: &TrialReport, details: bool) -> String {
    let mut text = format!(
        "Trial {}: {}\n\n",
        report.case,
        line(&headline(&report.challenge, 100))
    );
    contestants(&mut text, report);
    panel(&mut text, report);
    match &report.verdict {
        Some(found) => {
            text.push_str("\nVerdict\n");
            let shown = verdict::render(found, |id| report.name_of(id));
            for one in shown.lines() {
                let _ = writeln!(text, "{}", format!("  {one}").trim_end());
            }
        }
        None => {
            let state = match &report.state {
                State::In { phase } => format!("It is {phase}; there is no verdict yet."),
                State::Failed { phase, cause } => {
                    format!("It failed while {phase}: {}.", short_cause(cause))
                }
            };
            let _ = writeln!(text, "\n{}", line(&state));
        }
    }
    answers(&mut text, report, details);
    if !details && report.verdict.is_some() && !report.reasoning.is_empty() {
        text.push_str("\nReasons:\n");
        for reason in &report.reasoning {
            let _ = writeln!(text, "  - {}", line(&headline(reason, REASON)));
        }
    }
    for dissent in &report.minority {
        let _ = writeln!(
            text,
            "\nDissent: {} prefers {}. {}",
            line(&dissent.judge),
            line(&dissent.prefers.join(" and ")),
            line(&dissent.summary)
        );
    }
    if details {
        for judge in report.panel.iter().flat_map(|panel| &panel.judges) {
            reasons(&mut text, report, judge);
        }
    }
    let notes: Vec<&String> = report
        .notes
        .iter()
        .filter(|note| !is_told(report, note))
        .collect();
    if !notes.is_empty() {
        text.push_str("\nNotes:\n");
        for note in notes {
            let _ = writeln!(text, "  - {}", line(note));
        }
    }
    if let Some(decree) = &report.decree {
        let note = decree
            .note
            .as_ref()
            .map(|note| format!(" ({})", line(note)));
        let what = decree_text(report, &decree.decree);
        let _ = writeln!(
            text,
            "\nDecree: {}{}",
            line(&what),
            note.unwrap_or_default()
        );
    }
    if let Some(hindsight) = &report.hindsight {
        let _ = writeln!(
            text,
            "In hindsight: {}",
            line(&hindsight_text(report, hindsight))
        );
    }
    let _ = writeln!(
        text,
        "\n{} runs, {}, cost: {}",
        report.spend.runs,
        words::tokens(report.spend.usage),
        words::spend(&report.spend)
    );
    text
}

/// Returns what was decreed, in a few words.
pub(super) fn decree_text(report: &TrialReport, decree: &Decree) -> String {
    match decree {
        Decree::Merge { contestant, commit } => {
            let commit: String = commit.chars().take(12).collect();
            format!("merged {} ({commit})", report.name_of(contestant))
        }
        Decree::Adopt { text, .. } => format!("adopted: {}", headline(text, 200)),
        Decree::Iterate { trial } => format!("goes on in trial {trial}"),
        Decree::Issue { title } => format!("became an issue: {title}"),
        Decree::Close => "closed".to_owned(),
    }
}

/// Returns what turned out afterwards, in a few words.
pub(super) fn hindsight_text(report: &TrialReport, hindsight: &Hindsight) -> String {
    let best = match &hindsight.contestant {
        Some(id) => format!("{} was best", report.name_of(id)),
        None => "nobody's answer held".to_owned(),
    };
    match &hindsight.note {
        Some(note) => format!("{best} ({note})"),
        None => best,
    }
}

/// Returns who decided about a procedure, as part of a sentence.
pub(super) fn designer(by: &DesignedBy) -> String {
    match by {
        DesignedBy::User => "named by the user".to_owned(),
        DesignedBy::Arbiter { agent } => format!("designed by {agent}"),
        DesignedBy::Rules { why } => format!("by fixed rules, because {why}"),
    }
}

fn contestants(text: &mut String, report: &TrialReport) {
    if report.contestants.is_empty() {
        return;
    }
    let by = report.designed.as_ref().map(designer);
    let by = by.map(|by| format!(" ({})", line(&by)));
    let _ = writeln!(text, "Contestants{}", by.unwrap_or_default());
    for one in &report.contestants {
        let _ = writeln!(
            text,
            "  {} {}, {}: {}",
            one.label,
            line(&one.contestant.name),
            one.contestant.agent,
            line(&handed_in(one))
        );
    }
}

/// Returns what came of a contestant, in a few words.
pub(super) fn handed_in(one: &ContestantReport) -> String {
    if let Some(why) = &one.failed {
        return format!("failed, {why}");
    }
    let Some(output) = &one.output else {
        return "nothing yet".to_owned();
    };
    let Some(work) = &output.work else {
        return format!("{} characters", output.text.chars().count());
    };
    let files = words::count(u32::try_from(work.files.len()).unwrap_or(u32::MAX), "file");
    let tests = match &work.tested {
        None => String::new(),
        Some(tested) if tested.passed => ", tests pass".to_owned(),
        Some(_) => ", tests fail".to_owned(),
    };
    format!("{files} changed{tests}, branch {}", work.branch)
}

fn panel(text: &mut String, report: &TrialReport) {
    let Some(panel) = &report.panel else {
        return;
    };
    let _ = writeln!(text, "\nJudges ({})", line(&designer(&panel.by)));
    if matches!(panel.by, DesignedBy::Arbiter { .. }) {
        let _ = writeln!(text, "  {}", line(&headline(&panel.reasoning, REASON)));
    }
    for one in &panel.judges {
        let scores = match (&one.evaluation, &one.failed) {
            (Some(evaluation), _) => {
                let cards = evaluation.cards.iter();
                let scores = cards.map(|card| {
                    let name = report.name_of(&card.contestant);
                    format!("{} {}", line(&name), card.score)
                });
                scores.collect::<Vec<_>>().join(", ")
            }
            (None, Some(why)) => format!("not counted, {}", line(why)),
            (None, None) => "has not answered yet".to_owned(),
        };
        let (name, agent) = (line(&one.judge.name), &one.judge.agent);
        let _ = writeln!(text, "  {name}, {agent}: {scores}");
        // What the default panel looks at is the same everywhere; an arbiter has a reason.
        if matches!(panel.by, DesignedBy::Arbiter { .. }) {
            let why = headline(&one.judge.reasoning, REASON);
            let _ = writeln!(text, "    because: {}", line(&why));
        }
    }
}

/// Writes the winner's answer, or everybody's with `details`.
fn answers(text: &mut String, report: &TrialReport, details: bool) {
    let winner = report.verdict.as_ref().and_then(|one| one.winner.as_ref());
    for one in &report.contestants {
        let won = Some(&one.contestant.id) == winner;
        let Some(output) = one.output.as_ref().filter(|_| won || details) else {
            continue;
        };
        let name = line(&one.contestant.name);
        let what = match output.work {
            Some(_) => "says about its changes",
            None => "answered",
        };
        let _ = writeln!(text, "\n{name} {what}:");
        let all: Vec<&str> = output.text.lines().collect();
        let most = if details { all.len() } else { ANSWER_LINES };
        for answer in all.iter().take(most) {
            let _ = writeln!(text, "{}", format!("  | {}", line(answer)).trim_end());
        }
        if all.len() > most {
            let _ = writeln!(
                text,
                "  … {} more lines: `tribunal trial show {} -v`",
                all.len() - most,
                report.case
            );
        }
    }
}

/// Tells whether a note repeats what the report says elsewhere.
fn is_told(report: &TrialReport, note: &str) -> bool {
    let judges = report.panel.iter().flat_map(|panel| &panel.judges);
    let mut judges = judges.filter(|one| one.failed.is_some());
    let mut contestants = report.contestants.iter().filter(|one| one.failed.is_some());
    let by = report.panel.as_ref().map(|panel| &panel.by);
    judges.any(|one| note.starts_with(&format!("{} does not count: ", one.judge.name)))
        || contestants
            .any(|one| note.starts_with(&format!("{} is left out: ", one.contestant.name)))
        || (matches!(report.state, State::Failed { .. }) && note.starts_with("failed while "))
        || (matches!(by, Some(DesignedBy::Rules { .. }))
            && note.starts_with("the default panel sits: "))
}

/// Returns the cause of a failure without what is told about each who failed.
fn short_cause(cause: &str) -> &str {
    cause.split_once(": ").map_or(cause, |(short, _)| short)
}

fn reasons(text: &mut String, report: &TrialReport, judge: &JudgeReport) {
    let _ = writeln!(
        text,
        "\n{}: {}",
        line(&judge.judge.name),
        line(&judge.judge.focus)
    );
    for criterion in &judge.judge.criteria {
        let _ = writeln!(text, "  · {}", line(criterion));
    }
    let Some(evaluation) = &judge.evaluation else {
        return;
    };
    for card in &evaluation.cards {
        let name = report.name_of(&card.contestant);
        let _ = writeln!(
            text,
            "  {} {}: {}",
            line(&name),
            card.score,
            line(&card.reasoning)
        );
        for strength in &card.strengths {
            let _ = writeln!(text, "    + {}", line(strength));
        }
        for weakness in &card.weaknesses {
            let _ = writeln!(text, "    - {}", line(weakness));
        }
    }
    let _ = writeln!(text, "  {}", line(&evaluation.summary));
}

/// Returns foreign text as one line that a terminal can show.
fn line(text: &str) -> String {
    for_terminal(text).replace(['\n', '\t'], " ")
}
