//! A trial as text for a terminal.

use std::fmt::Write as _;

use tribunal_core::text::{for_terminal, headline};
use tribunal_core::trial::report::{ContestantReport, JudgeReport, TrialReport};
use tribunal_core::trial::{Decree, DesignedBy, Hindsight, State};

use crate::report::{verdict, words};

/// Characters of each judge's summary in the short report.
const REASON: usize = 300;

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
                State::Failed { phase, cause } => format!("It failed while {phase}: {cause}."),
            };
            let _ = writeln!(text, "\n{}", line(&state));
        }
    }
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
    if !report.notes.is_empty() {
        text.push_str("\nNotes:\n");
        for note in &report.notes {
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
    }
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
