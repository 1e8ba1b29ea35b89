//! What happens in a trial, in sentences.

use tribunal_core::event::TrialEvent;
use tribunal_core::money::Cost;
use tribunal_core::trial::{Decree, DesignedBy, Mode};

use super::super::words;

/// Returns the sentence for an event, or nothing when it is not worth one.
pub(super) fn sentence(event: &TrialEvent) -> Option<String> {
    Some(match event {
        TrialEvent::TrialOpened {
            challenge, mode, ..
        } => match mode {
            // The challenge is the title of the case, which has just been told.
            Mode::Text => return None,
            Mode::Code => format!("trial in code: {challenge}"),
        },
        TrialEvent::ContestantsDesigned {
            contestants,
            by,
            cost,
        } => {
            let names: Vec<String> = contestants
                .iter()
                .map(|one| match one.persona.is_empty() {
                    true => one.name.clone(),
                    false => format!("{} ({})", one.name, one.agent),
                })
                .collect();
            format!(
                "contestants{}: {}{}",
                designer(by),
                names.join(", "),
                spent(*cost)
            )
        }
        TrialEvent::ContestantStarted { contestant, agent } => {
            format!("{contestant} begins ({agent})")
        }
        TrialEvent::ContestantFinished {
            contestant,
            chars,
            files,
            tests_passed,
            cost,
            ..
        } => {
            let what = match files {
                Some(files) => format!("{} changed", words::count(*files, "file")),
                None => format!("{chars} characters"),
            };
            let tests = match tests_passed {
                Some(true) => ", tests pass",
                Some(false) => ", tests fail",
                None => "",
            };
            format!("{contestant} handed in {what}{tests}{}", spent(Some(*cost)))
        }
        TrialEvent::ContestantFailed {
            contestant,
            why,
            cost,
            ..
        } => format!("{contestant} is left out: {why}{}", spent(Some(*cost))),
        TrialEvent::ArbiterStarted { message, .. } => message.trim_end_matches('.').to_owned(),
        TrialEvent::PanelDesigned { panel, cost } => {
            let judges = panel.judges.iter();
            let judges: Vec<String> = judges
                .map(|judge| format!("{} ({})", judge.name, judge.agent))
                .collect();
            let by = designer(&panel.by);
            format!("judges{by}: {}{}", judges.join(", "), spent(*cost))
        }
        TrialEvent::JudgingStarted { swap, .. } => match swap {
            true => "judging, in both orders".to_owned(),
            false => "judging".to_owned(),
        },
        TrialEvent::JudgeStarted { .. } => return None,
        TrialEvent::JudgeFinished {
            judge,
            scores,
            cost,
            ..
        } => {
            let scores: Vec<String> = scores
                .iter()
                .map(|(contestant, score)| format!("{contestant} {score}"))
                .collect();
            format!("{judge} scored {}{}", scores.join(", "), spent(Some(*cost)))
        }
        TrialEvent::JudgeFailed {
            judge, why, cost, ..
        } => format!("{judge} does not count: {why}{}", spent(Some(*cost))),
        TrialEvent::VerdictReached { summary, .. } => summary.trim_end_matches('.').to_owned(),
        TrialEvent::TrialFailed { phase, cause } => {
            format!("the trial failed while {phase}: {cause}")
        }
        TrialEvent::DecreeIssued { decree, note } => {
            let note = note.as_ref().map(|note| format!(" ({note})"));
            let what = match decree {
                Decree::Merge { contestant, .. } => format!("merge {contestant}"),
                Decree::Iterate { trial } => format!("iterate in {trial}"),
                Decree::Adopt { .. } | Decree::Issue { .. } | Decree::Close => {
                    decree.as_str().to_owned()
                }
            };
            format!("decree: {what}{}", note.unwrap_or_default())
        }
        TrialEvent::HindsightStated { contestant, note } => {
            let note = note.as_ref().map(|note| format!(" ({note})"));
            let best = contestant.as_deref().unwrap_or("nobody");
            format!("in hindsight: {best} was best{}", note.unwrap_or_default())
        }
    })
}

fn designer(by: &DesignedBy) -> String {
    match by {
        DesignedBy::User => String::new(),
        DesignedBy::Arbiter { agent } => format!(" designed by {agent}"),
        DesignedBy::Rules { why } => format!(" by fixed rules ({why})"),
    }
}

fn spent(cost: Option<Cost>) -> String {
    match cost {
        Some(cost @ Cost::Known(amount)) if amount.0 > 0 => format!(" ({})", words::cost(cost)),
        _ => String::new(),
    }
}
