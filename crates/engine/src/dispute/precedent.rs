//! Earlier rulings where they matter: beside findings that come back.

use std::collections::BTreeSet;

use tribunal_core::dispute::{Dispute, Precedent, Refusal, Status};
use tribunal_core::review::report::{ReviewReport, Standing};
use tribunal_store::{FindingRecord, PrecedentFilter};

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

    /// Lets findings count again whose dismissal is too old to be a precedent.
    ///
    /// An enforced finding stays enforced: time does not weaken it.
    pub(crate) async fn forget_expired(
        &self,
        known: &mut [FindingRecord],
    ) -> Result<(), CaseError> {
        let is_dismissed = |one: &FindingRecord| one.finding.standing == Standing::Dismissed;
        if !known.iter().any(is_dismissed) {
            return Ok(());
        }
        let wanted = PrecedentFilter {
            since: Some(self.precedents_since().await?),
            ..PrecedentFilter::default()
        };
        let valid = self.ledger.store().precedents(&wanted).await?;
        let valid: BTreeSet<&str> = valid
            .iter()
            .filter_map(|one| Some(one.opening.subject.finding()?.fingerprint.as_str()))
            .collect();
        for one in known.iter_mut().filter(|one| is_dismissed(one)) {
            if !valid.contains(one.finding.fingerprint.as_str()) {
                one.finding.standing = Standing::Open;
            }
        }
        Ok(())
    }
}
