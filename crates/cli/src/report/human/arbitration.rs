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
            let blocking = match *binding {
                0 => ", none of them blocking".to_owned(),
                all if all == *findings => ", all blocking".to_owned(),
                some => format!(", {some} of them blocking"),
            };
            format!("{coder} works on {about}{blocking} (round {round})")
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
            let answers = counted(&[
                (*implemented, "implemented"),
                (*discarded, "discarded"),
                (*objected, "objected"),
                (*unanswered, "unanswered"),
            ]);
            let files = words::count(*files, "file");
            let mut said = format!("{coder}: {answers}; {files} changed");
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
        } => {
            let found = counted(&[
                (*binding, "new and blocking"),
                (*logged, "only told"),
                (*reopened, "came back"),
            ]);
            format!("the panel looked at the work of round {round}: {found}")
        }
        ArbitrationEvent::WorkOffered { offer } => offered(offer),
        ArbitrationEvent::ArbitrationEnded { end, held } => {
            let rounds = words::count(*held, "round");
            format!("arbitration ended after {rounds}: {}", end.sentence())
        }
    }
}

/// Returns those counts that are not zero, each with its word.
fn counted(counts: &[(u32, &str)]) -> String {
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = some
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match words.is_empty() {
        true => "nothing".to_owned(),
        false => words.join(", "),
    }
}

fn offered(offer: &Offer) -> String {
    match offer {
        Offer::Branch { branch, commit, .. } => {
            let commit = truncate_chars(commit, 12);
            format!("the coder's work is on the branch {branch} ({commit})")
        }
        Offer::Patch { file } => format!("the coder's work is in {file}"),
        Offer::Applied { files } => format!("the coder's work was applied to {}", files.join(", ")),
        Offer::Kept { why, .. } => format!("the coder's work was not handed over: {why}"),
    }
}
