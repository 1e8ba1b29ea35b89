//! Outcomes: the texts on which they rest are there and unchanged, and their scores can be.

use tribunal_core::case::CaseKind;
use tribunal_core::event::{EventKind, TrialEvent};
use tribunal_core::trial::faults;
use tribunal_store::{CaseRecord, Store, StoreError, Violation};

use super::found;
use crate::files::LedgerDir;

/// Events are read in pages of this size.
const PAGE: u32 = 1_000;

/// Examines what the events of a case refer to, and whether they can be true.
pub(super) async fn examine_story(
    store: &dyn Store,
    dir: &LedgerDir,
    case: &CaseRecord,
    violations: &mut Vec<Violation>,
) -> Result<(), StoreError> {
    if !matches!(case.kind, CaseKind::Review | CaseKind::Trial) {
        return Ok(());
    }
    let mut trial: Vec<TrialEvent> = Vec::new();
    let mut after = 0;
    loop {
        let page = store.events(&case.id, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for event in page {
            let broken = texts_of(&event.kind)
                .into_iter()
                .filter(|(_, hash)| dir.get_blob(hash).is_err());
            for (what, _) in broken {
                let id = &case.id;
                let text = format!(
                    "{what} of case {id} (event {}) is missing or changed",
                    event.seq
                );
                violations.push(found("I5", text));
            }
            if let EventKind::Trial(event) = event.kind {
                trial.push(event);
            }
        }
    }
    let told = faults(&trial).into_iter();
    violations.extend(told.map(|fault| found("I9", format!("case {}: {fault}", case.id))));
    Ok(())
}

/// Returns the stored texts on which an event rests, by their hashes.
pub(crate) fn texts_of(kind: &EventKind) -> Vec<(&'static str, &str)> {
    match kind {
        EventKind::ReviewSettled { report, .. } => vec![("the report", report)],
        EventKind::Trial(TrialEvent::ContestantFinished { output, .. }) => {
            vec![("what a contestant handed in", output)]
        }
        EventKind::Trial(TrialEvent::JudgeFinished {
            evaluation,
            swapped,
            ..
        }) => {
            let swapped = swapped.iter().map(String::as_str);
            let all = std::iter::once(evaluation.as_str()).chain(swapped);
            all.map(|hash| ("an evaluation", hash)).collect()
        }
        _ => Vec::new(),
    }
}
