//! What is known of each case before anything is decided about its files.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_core::case::CaseState;
use tribunal_core::dispute::Status;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::{CaseId, RunId};
use tribunal_core::retention::{CaseHolding, HoldReason, Mentions, is_ruling};
use tribunal_core::time::Timestamp;
use tribunal_store::{CaseRecord, DisputeFilter, RunRecord, Store, StoreError};

use super::branches::{self, Offered};
use super::{collected_at, pack, room_of};
use crate::doctor::texts_of;
use crate::export;
use crate::files::LedgerDir;

/// What is known of one case.
pub(super) struct CaseFacts {
    /// What decides about its files.
    pub(super) holding: CaseHolding,
    /// The number of its last event when it was looked at.
    pub(super) last_seq: u64,
    /// Whether it has ended and nobody works on it.
    pub(super) has_ended: bool,
    /// Its runs.
    pub(super) runs: Vec<RunId>,
    /// Those of which files lie by themselves.
    pub(super) loose: Vec<RunId>,
    /// When its files were collected.
    pub(super) collected_at: Option<Timestamp>,
    /// Whether there is something to collect of which no event tells.
    pub(super) goes_on: bool,
    /// Texts that its events name.
    pub(super) texts: BTreeSet<String>,
    /// Those on which its outcome rests.
    pub(super) outcome: BTreeSet<String>,
    /// Work that it put on branches of the user's.
    pub(super) offered: Vec<Offered>,
}

/// Returns what is known of all cases.
pub(super) async fn gather(
    store: &dyn Store,
    dir: &LedgerDir,
) -> Result<BTreeMap<CaseId, CaseFacts>, StoreError> {
    let holds = holds(store).await?;
    let mut all = BTreeMap::new();
    for record in store.recent_cases(u32::MAX).await? {
        let events = export::events(store, &record.id).await?;
        let runs = store.runs(&record.id).await?;
        let facts = facts_of(dir, &record, &events, &runs, holds.get(&record.id).copied());
        all.insert(record.id, facts);
    }
    Ok(all)
}

/// Returns the cases that record disputes which are open or were ruled.
async fn holds(store: &dyn Store) -> Result<BTreeMap<CaseId, HoldReason>, StoreError> {
    let disputes = store.disputes(&DisputeFilter::default()).await?;
    let hold = |status| match status {
        Status::Open => Some(HoldReason::Disputed),
        Status::Resolved => Some(HoldReason::Ruled),
        Status::Noted => None,
    };
    let holds = disputes.iter().filter_map(|dispute| {
        let why = hold(dispute.state.status())?;
        Some((dispute.id.case(), why))
    });
    Ok(holds.collect())
}

fn facts_of(
    dir: &LedgerDir,
    record: &CaseRecord,
    events: &[Event],
    runs: &[RunRecord],
    dispute: Option<HoldReason>,
) -> CaseFacts {
    let mut mentions = Mentions::default();
    let mut outcome = BTreeSet::new();
    let mut last_at = record.opened_at;
    let mut is_ruled = false;
    for event in events {
        // What is written as text is the same in every version of the program.
        let body = serde_json::to_string(&event.kind).unwrap_or_default();
        mentions.add(&body);
        outcome.extend(
            texts_of(&event.kind)
                .into_iter()
                .map(|(_, hash)| hash.to_owned()),
        );
        is_ruled |= is_ruling(&event.kind);
        if !is_care(&event.kind) {
            last_at = event.at;
        }
    }
    mentions.cases.remove(&record.id);
    let is_closed = matches!(record.state, CaseState::Closed(_));
    let hold = match (record.owned, is_closed) {
        (true, _) => Some(HoldReason::AtWork),
        (false, false) => Some(HoldReason::Open),
        (false, true) => dispute.or(is_ruled.then_some(HoldReason::Ruled)),
    };
    let collected_at = collected_at(events);
    let loose: Vec<RunId> = runs
        .iter()
        .map(|run| run.id.clone())
        .filter(|run| dir.run(run).is_dir())
        .collect();
    let pack = pack::path_of(dir, &record.id);
    let bytes = loose.iter().map(|run| room_of(&dir.run(run))).sum::<u64>() + room_of(&pack);
    CaseFacts {
        last_seq: record
            .last_seq
            .min(events.last().map_or(0, |event| event.seq)),
        has_ended: is_closed && !record.owned,
        goes_on: match collected_at {
            None => !runs.is_empty() || !mentions.texts.is_subset(&outcome),
            Some(at) => runs.iter().any(|run| run.started_at > at),
        },
        runs: runs.iter().map(|run| run.id.clone()).collect(),
        loose,
        collected_at,
        texts: mentions.texts,
        outcome,
        offered: branches::offered_in(&record.id, events),
        holding: CaseHolding {
            case: record.id.clone(),
            hold,
            last_at,
            bytes,
            refers_to: mentions.cases,
        },
    }
}

/// Tells whether an event is about the care for the case and not about the case.
fn is_care(kind: &EventKind) -> bool {
    match kind {
        EventKind::FilesCollected { .. } => true,
        EventKind::EffectIntended { effect, .. } | EventKind::EffectDone { effect, .. } => {
            effect.as_str().starts_with(branches::BRANCH_EFFECT)
        }
        _ => false,
    }
}
