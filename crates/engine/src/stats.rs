//! What the ledger says about reviewers, judges and disputes.

use std::collections::BTreeMap;

use tribunal_core::case::CaseKind;
use tribunal_core::consensus::Preferences;
use tribunal_core::event::EventKind;
use tribunal_core::review::arbitration::End;
use tribunal_core::review::report::ReviewReport;
use tribunal_core::stats::{
    Observed, SeenArbitration, SeenFinding, SeenTrial, Statistics, statistics,
};
use tribunal_core::time::Timestamp;
use tribunal_store::{DisputeFilter, Store};

use crate::case::CaseError;
use crate::files::LedgerDir;

/// Counts what happened at or after `since`.
pub async fn statistics_of(
    store: &dyn Store,
    dir: &LedgerDir,
    since: Option<Timestamp>,
) -> Result<Statistics, CaseError> {
    let mut observed = Observed::default();
    for case in store.cases_of(CaseKind::Review, since).await? {
        let Some(report) = report_of(store, dir, &case).await? else {
            continue;
        };
        observe(&mut observed, report);
    }
    for case in store.cases_of(CaseKind::Trial, since).await? {
        let events = crate::task::all_events(store, &case).await?;
        observed.trials.extend(SeenTrial::told(&events));
    }
    let disputes = store.disputes(&DisputeFilter::default()).await?;
    let recent = |at: Timestamp| since.is_none_or(|since| at >= since);
    observed.disputes = disputes
        .into_iter()
        .rev()
        .filter(|one| recent(one.opened_at))
        .collect();
    Ok(statistics(&observed))
}

/// Returns what disputes and trials say about judges.
///
/// A trial that begins asks for this, so what tells nothing of them is not read: reviews, and trials
/// of which nobody said whose answer was taken.
pub(crate) async fn record_of_judges(
    store: &dyn Store,
) -> Result<BTreeMap<String, Preferences>, CaseError> {
    let mut observed = Observed::default();
    let told = store.cases_with(CaseKind::Trial, &SeenTrial::TOLD_BY);
    for case in told.await? {
        let events = crate::task::all_events(store, &case).await?;
        observed.trials.extend(SeenTrial::told(&events));
    }
    observed.disputes = store.disputes(&DisputeFilter::default()).await?;
    observed.disputes.reverse();
    Ok(statistics(&observed).record().judges)
}

/// Returns the report of a review that came to its end and whose file is still there.
async fn report_of(
    store: &dyn Store,
    dir: &LedgerDir,
    case: &tribunal_core::ids::CaseId,
) -> Result<Option<ReviewReport>, CaseError> {
    let events = crate::task::all_events(store, case).await?;
    let settled = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::ReviewSettled { report, .. } => Some(report),
        _ => None,
    });
    let bytes = settled.and_then(|hash| dir.get_blob(hash).ok());
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn observe(observed: &mut Observed, report: ReviewReport) {
    for finding in report.findings {
        let voices = finding.voices.iter();
        observed.findings.push(SeenFinding {
            fingerprint: finding.fingerprint,
            category: finding.category,
            verdict: finding.verdict,
            reviewers: voices.map(|voice| voice.reviewer.clone()).collect(),
        });
    }
    if let Some(arbitration) = report.arbitration {
        let converged = match arbitration.end {
            End::Settled => true,
            // Nobody had to converge.
            End::NothingToDo => return,
            End::AwaitingRuling { .. }
            | End::LeftOpen { .. }
            | End::RoundsUsedUp { .. }
            | End::Stalled { .. }
            | End::CoderMissing { .. } => false,
        };
        observed.arbitrations.push(SeenArbitration {
            rounds: u32::try_from(arbitration.rounds.len()).unwrap_or(u32::MAX),
            converged,
        });
    }
}
