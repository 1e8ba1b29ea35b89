//! What happens in an arbitration, in sentences.

use tribunal_core::event::ArbitrationEvent;
use tribunal_core::review::arbitration::Offer;
use tribunal_core::text::truncate_chars;

use super::words;

/// Returns the sentence for an event.
pub(super) fn sentence(event: &ArbitrationEvent) -> String {
    match event {
        ArbitrationEvent::CoderAssigned {
            coder,
            round,
            findings,
            binding,
        } => {
            let about = words::count(*findings, "finding");
            format!("{coder} works on {about}, {binding} of them binding (round {round})")
        }
        ArbitrationEvent::CoderAnswered {
            coder,
            implemented,
            discarded,
            objected,
            unanswered,
            files,
            problems,
            ..
        } => {
            let mut said = format!(
                "{coder}: {implemented} implemented, {discarded} discarded, {objected} objected, \
                 {unanswered} unanswered; {} changed",
                words::count(*files, "file")
            );
            if !problems.is_empty() {
                said.push_str(&format!(" (not used: {})", problems.join("; ")));
            }
            said
        }
        ArbitrationEvent::FindingContested {
            finding,
            title,
            dispute,
            origin,
        } => format!("dispute {dispute} about {finding}, {origin}: {title}"),
        ArbitrationEvent::ContestSettled {
            dispute,
            decision,
            reason,
            ..
        } => match decision {
            Some(decision) => format!("dispute {dispute}: {decision}: {reason}"),
            None => format!("dispute {dispute} waits: {reason}"),
        },
        ArbitrationEvent::FixChecked {
            finding,
            by,
            fixed,
            reason,
        } => {
            let word = match fixed {
                Some(true) => "fixed",
                Some(false) => "not fixed",
                None => "not checked",
            };
            format!("{by} on {finding}: {word}: {reason}")
        }
        ArbitrationEvent::WorkReviewed {
            round,
            binding,
            logged,
            reopened,
        } => format!(
            "the panel looked at the work of round {round}: {binding} new findings bind, {logged} \
             are only told, {reopened} came back"
        ),
        ArbitrationEvent::WorkOffered { offer } => offered(offer),
        ArbitrationEvent::ArbitrationEnded { end, held } => {
            let rounds = words::count(*held, "round");
            format!("arbitration ended after {rounds}: {}", end.sentence())
        }
    }
}

fn offered(offer: &Offer) -> String {
    match offer {
        Offer::Branch { branch, commit } => {
            let commit = truncate_chars(commit, 12);
            format!("the coder's work is on the branch {branch} ({commit})")
        }
        Offer::Patch { file } => format!("the coder's work is in {file}"),
        Offer::Applied { files } => format!("the coder's work was applied to {}", files.join(", ")),
        Offer::Kept { why, .. } => format!("the coder's work was not handed over: {why}"),
    }
}
