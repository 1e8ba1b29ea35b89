//! The events of a dispute in words.

use tribunal_core::dispute::{Chooser, Gravity, Hearing, Ruler};
use tribunal_core::event::DisputeEvent;

/// Returns the sentence for an event of a dispute.
pub(super) fn sentence(event: &DisputeEvent) -> String {
    match event {
        DisputeEvent::DisputeOpened { dispute, opening } => {
            let (grounds, title) = (opening.grounds, opening.subject.title());
            match opening.gravity {
                Gravity::Major => format!("dispute {dispute} opened ({grounds}): {title}"),
                Gravity::Minor => format!("dispute {dispute} noted ({grounds}): {title}"),
            }
        }
        DisputeEvent::PositionStated {
            party, position, ..
        } => {
            format!(
                "the {party} stated its position ({})",
                position.shown_author()
            )
        }
        DisputeEvent::RecourseChosen { recourse, by } => match by {
            Chooser::Human => format!("recourse chosen: {recourse}"),
            Chooser::Config => format!("recourse chosen by the config: {recourse}"),
            Chooser::Nobody => format!("no judge is configured, recourse: {recourse}"),
        },
        DisputeEvent::JudgeHeard { hearing } => heard(hearing),
        DisputeEvent::DisputeEscalated { question } => {
            format!("escalated, a human must rule: {question}")
        }
        DisputeEvent::DisputeRuled {
            decision,
            reason,
            ruler,
            overrules,
            ..
        } => {
            let ruled = if *overrules { "overruled" } else { "ruled" };
            // A judge's reason has been told with its answer.
            let reason = match ruler {
                Ruler::Judge { .. } => String::new(),
                Ruler::Jury { .. } | Ruler::Human | Ruler::Discard | Ruler::Config => {
                    format!(": {reason}")
                }
            };
            format!("{ruled}: {decision} by {}{reason}", ruler.phrase())
        }
        DisputeEvent::DisputeReferred { referral } => {
            let (title, task) = (&referral.title, &referral.task);
            format!("task {task} waits for it: {title}")
        }
        DisputeEvent::AlertAttempted {
            delivery,
            attempt,
            delivered,
            answer,
            ..
        } => {
            let went = if *delivered { "delivered" } else { "failed" };
            format!("alert {delivery}, attempt {attempt}: {went} ({answer})")
        }
        DisputeEvent::PrecedentDropped { why } => format!("no precedent any more: {why}"),
    }
}

fn heard(hearing: &Hearing) -> String {
    let judge = &hearing.judge.agent;
    match hearing.answer {
        Some(answer) => format!("{judge} answered {answer}: {}", hearing.reason),
        None => format!("{judge} gave no answer that counts: {}", hearing.reason),
    }
}
