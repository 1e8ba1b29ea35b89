//! Earlier rulings where they matter: beside findings that come back.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_core::dispute::{Decision, Dispute, Precedent, Refusal, Status, Subject};
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::identity::Dismissal;
use tribunal_core::review::report::ReviewReport;
use tribunal_store::{DisputeFilter, PrecedentFilter};

use crate::Engine;
use crate::case::{Case, CaseError};

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

    /// Returns why an open dispute must not be ruled on by accident: its finding was ruled on in another
    /// dispute meanwhile. Ledgers of version 0.1.0 may have several open disputes about one finding.
    pub(super) async fn ruled_elsewhere(
        &self,
        dispute: &Dispute,
    ) -> Result<Option<Refusal>, CaseError> {
        // The dispute of a task is about its work as well.
        let finding = dispute.opening.subject.finding();
        let finding = finding.filter(|_| dispute.ruling().is_none() && dispute.referral.is_none());
        let Some(finding) = finding else {
            return Ok(None);
        };
        let wanted = PrecedentFilter {
            fingerprint: Some(finding.fingerprint.clone()),
            since: Some(dispute.opened_at),
            ..PrecedentFilter::default()
        };
        let found = self.ledger.store().precedents(&wanted).await?;
        let mut others = found.iter().filter(|one| one.id != dispute.id);
        Ok(others.find_map(|other| {
            let ruling = other.ruling()?;
            Some(Refusal::AlreadyRuled {
                id: other.id.clone(),
                decision: ruling.decision.word(),
                by: ruling.ruler.phrase(),
            })
        }))
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
            if !seen.insert(finding.fingerprint.clone()) || precedent.decision != Decision::Dismiss
            {
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

    /// Returns the findings of earlier reviews, and those that are not in the ledger yet: `before`,
    /// and what the review itself brought to a dispute before it was interrupted.
    pub(crate) async fn known_findings(
        &self,
        case: &Case,
        before: &[TrackedFinding],
    ) -> Result<Vec<TrackedFinding>, CaseError> {
        let store = self.ledger.store();
        let mut known: BTreeMap<String, TrackedFinding> = BTreeMap::new();
        if case.was_resumed() {
            for dispute in store.disputes(&DisputeFilter::default()).await? {
                if let Subject::Finding { review, finding } = dispute.opening.subject
                    && review == *case.id()
                {
                    known.insert(finding.fingerprint.clone(), *finding);
                }
            }
        }
        let recorded = store.findings().await?.into_iter();
        let recorded = recorded.map(|record| record.finding);
        for finding in recorded.chain(before.iter().cloned()) {
            known.insert(finding.fingerprint.clone(), finding);
        }
        Ok(known.into_values().collect())
    }
}
