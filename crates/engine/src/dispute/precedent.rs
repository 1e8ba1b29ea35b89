//! Earlier rulings where they matter: beside findings that come back.

use std::collections::BTreeSet;

use tribunal_core::dispute::{Decision, Precedent, Status};
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::identity::Dismissal;
use tribunal_core::review::report::ReviewReport;
use tribunal_store::PrecedentFilter;

use crate::Engine;
use crate::case::CaseError;

/// So many rulings are shown beside one finding.
const MOST: u32 = 3;

impl Engine {
    /// Puts beside each finding the rulings that were made about it before. They change nothing.
    pub(crate) async fn mark_precedents(&self, report: &mut ReviewReport) -> Result<(), CaseError> {
        let store = self.ledger.store();
        if store.count_disputes(Status::Resolved).await? == 0 {
            return Ok(());
        }
        let since = self.precedents_since().await?;
        for finding in &mut report.findings {
            let wanted = PrecedentFilter {
                fingerprint: Some(finding.fingerprint.clone()),
                since: Some(since),
                limit: Some(MOST),
                ..PrecedentFilter::default()
            };
            let found = store.precedents(&wanted).await?;
            finding.precedents = found.iter().filter_map(Precedent::of).collect();
        }
        Ok(())
    }

    /// Returns the dismissals that hold: the latest ruling about a finding, not too old and not
    /// dropped. They cover what was shown to whoever ruled.
    pub(crate) async fn dismissals(&self) -> Result<Vec<Dismissal>, CaseError> {
        let store = self.ledger.store();
        if store.count_disputes(Status::Resolved).await? == 0 {
            return Ok(Vec::new());
        }
        let wanted = PrecedentFilter {
            since: Some(self.precedents_since().await?),
            ..PrecedentFilter::default()
        };
        let mut seen = BTreeSet::new();
        let mut dismissals = Vec::new();
        for dispute in store.precedents(&wanted).await? {
            let (Some(finding), Some(precedent)) =
                (dispute.opening.subject.finding(), Precedent::of(&dispute))
            else {
                continue;
            };
            // The latest come first.
            if !seen.insert(finding.fingerprint.clone()) || precedent.decision != Decision::Dismiss {
                continue;
            }
            dismissals.push(Dismissal {
                finding: finding.clone(),
                dispute: dispute.id.clone(),
                at: precedent.at,
            });
        }
        Ok(dismissals)
    }

    /// Returns the findings of earlier reviews, and those that are not in the ledger yet.
    pub(crate) async fn known_findings(
        &self,
        before: &[TrackedFinding],
    ) -> Result<Vec<TrackedFinding>, CaseError> {
        let recorded = self.ledger.store().findings().await?;
        let is_before = |finding: &TrackedFinding| {
            let mut before = before.iter();
            before.any(|one| one.fingerprint == finding.fingerprint)
        };
        let recorded = recorded.into_iter().map(|record| record.finding);
        let recorded = recorded.filter(|finding| !is_before(finding));
        Ok(recorded.chain(before.iter().cloned()).collect())
    }
}
