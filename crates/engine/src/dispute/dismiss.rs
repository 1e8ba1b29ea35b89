//! A person's word about a finding of a review: dismissed in one step, and taken back.
//!
//! It is an ordinary dispute with an ordinary ruling, so everything that knows disputes knows it too.

use std::collections::BTreeMap;
use std::path::Path;

use tribunal_core::dispute::{
    Decision, Dispute, Gravity, Origin, Position, Refusal, Ruler, Status, Subject, Terms,
};
use tribunal_core::event::DisputeEvent;
use tribunal_core::ids::CaseId;
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::report::{FrameLine, ReviewedFinding, Standing};
use tribunal_core::task::Actor;
use tribunal_store::{DisputeFilter, PrecedentFilter};

use super::{NewDispute, Overrule};
use crate::Engine;
use crate::case::CaseError;
use crate::review::{claimed, grounds, reviewers_side};

/// What a person says about a finding.
#[derive(Debug, Clone)]
pub struct PersonsWord {
    /// Why it does not count.
    pub reason: String,
    /// On what ground, until when, and who says so.
    pub terms: Terms,
    /// Whether it may take the place of a ruling that was made before.
    pub overrule: Overrule,
}

impl Engine {
    /// Dismisses a finding of the review `review` on a person's word.
    ///
    /// If a dispute about the finding is open, it is ruled; otherwise one is opened. A ruling that
    /// was made before is replaced only if the person says so.
    pub async fn dismiss_finding(
        &self,
        review: &CaseId,
        finding: &ReviewedFinding,
        word: &PersonsWord,
    ) -> Result<Dispute, CaseError> {
        if word.reason.trim().is_empty() {
            return Err(Refusal::EmptyReason.into());
        }
        let about = self.disputes_about(&finding.fingerprint).await?;
        let open: Vec<&Dispute> = about
            .iter()
            .filter(|one| one.status() == Status::Open)
            .collect();
        let mut ruled = None;
        for dispute in open {
            let event = self.ruling_of(word, Overrule::No);
            ruled = Some(self.change(&dispute.id, event).await?);
        }
        if let Some(ruled) = ruled {
            return Ok(ruled);
        }
        if let Some(before) = self.ruling_in_force(&finding.fingerprint).await? {
            let event = self.ruling_of(word, word.overrule);
            return self.change(&before.id, event).await;
        }
        let new = self.dispute_of_person(review, finding, word, about.len());
        let opened = self.open_dispute(new.await?).await?;
        let event = self.ruling_of(word, Overrule::No);
        self.change(&opened.id, event).await
    }

    /// Takes back what dismissed a finding, and returns the disputes in which that was ruled; none
    /// when it is not dismissed.
    pub async fn undo_dismissal(
        &self,
        fingerprint: &str,
        why: &str,
    ) -> Result<Vec<Dispute>, CaseError> {
        let mut dropped = Vec::new();
        // A ruling before this one may have dismissed it as well.
        while let Some(before) = self.ruling_in_force(fingerprint).await? {
            if !is_dismissal(&before) {
                break;
            }
            dropped.push(self.drop_precedent(&before.id, why).await?);
        }
        Ok(dropped)
    }

    /// Returns the name of the person who works in `directory`: as git knows it, else as the
    /// operating system does; nothing when neither tells.
    #[must_use]
    pub fn name_of_person(&self, directory: &Path, login: Option<&str>) -> Option<String> {
        let repository = self.repository(directory).ok();
        let known = repository
            .as_ref()
            .and_then(|one| one.settings.get("user.name"));
        let names = [known, login].into_iter().flatten();
        let mut names = names.map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
        names.find(|name| !name.is_empty())
    }

    /// Returns all disputes about a finding.
    async fn disputes_about(&self, fingerprint: &str) -> Result<Vec<Dispute>, CaseError> {
        let mut all = self.disputes(&DisputeFilter::default()).await?;
        all.retain(|one| {
            let finding = one.opening.subject.finding();
            finding.is_some_and(|finding| finding.fingerprint == fingerprint)
        });
        Ok(all)
    }

    /// Returns the dispute whose ruling about a finding holds. Old dismissals do not; what was
    /// enforced stays so.
    async fn ruling_in_force(&self, fingerprint: &str) -> Result<Option<Dispute>, CaseError> {
        let wanted = PrecedentFilter {
            fingerprint: Some(fingerprint.to_owned()),
            limit: Some(1),
            ..PrecedentFilter::default()
        };
        let newest = self.ledger.store().precedents(&wanted).await?.pop();
        let since = self.precedents_since().await?;
        Ok(newest.filter(|one| {
            let ruled = one.ruling().map(|ruling| ruling.at);
            !is_dismissal(one) || ruled.is_some_and(|at| at >= since)
        }))
    }

    fn ruling_of(&self, word: &PersonsWord, overrule: Overrule) -> DisputeEvent {
        DisputeEvent::DisputeRuled {
            decision: Decision::Dismiss,
            reason: self.redactor.redact(&word.reason),
            reversal: String::new(),
            ruler: Ruler::Human,
            terms: word.terms.clone(),
            overrules: overrule == Overrule::Yes,
        }
    }

    async fn dispute_of_person(
        &self,
        review: &CaseId,
        finding: &ReviewedFinding,
        word: &PersonsWord,
        number: usize,
    ) -> Result<NewDispute, CaseError> {
        let file = finding.location.file.clone();
        let code: Vec<&str> = finding
            .frame
            .iter()
            .map(|line| line.text.as_str())
            .collect();
        Ok(NewDispute {
            // Two processes that dismiss the same finding at once open one dispute.
            key: format!("finding {} {number}", finding.fingerprint),
            subject: Subject::Finding {
                review: review.clone(),
                finding: Box::new(self.tracked_finding(finding).await?),
            },
            origin: Origin::Objection,
            gravity: Gravity::Major,
            grounds: grounds(finding.category, None),
            objection: None,
            coder: Some(Position {
                author: match word.terms.person.as_str() {
                    "" => "human".to_owned(),
                    name => format!("{name} (human)"),
                },
                model: None,
                family: None,
                text: word.reason.clone(),
            }),
            reviewer: Some(reviewers_side(finding)),
            evidence: Vec::new(),
            files: Some(file)
                .filter(|file| !file.is_empty())
                .into_iter()
                .collect(),
            material: Some(code.join("\n")).filter(|code| !code.is_empty()),
            notes: String::new(),
            rule: finding.rule.clone(),
            created_by: Some(Actor::Human {
                name: Some(word.terms.person.clone()).filter(|name| !name.is_empty()),
            }),
        })
    }

    /// Returns the finding as it is followed over several reviews, with the claim as it was shown.
    pub(crate) async fn tracked_finding(
        &self,
        finding: &ReviewedFinding,
    ) -> Result<TrackedFinding, CaseError> {
        let known = self.ledger.store().findings().await?;
        let mut known = known.into_iter().map(|record| record.finding);
        let known = known.find(|one| one.fingerprint == finding.fingerprint);
        let (code, branches) = match known {
            Some(known) => (known.code, known.branches),
            None => (code_of(&finding.frame), BTreeMap::new()),
        };
        Ok(TrackedFinding {
            fingerprint: finding.fingerprint.clone(),
            location: finding.location.clone(),
            category: finding.category,
            severity: finding.severity,
            label: Some(finding.label),
            title: finding.title.clone(),
            code,
            standing: Standing::Open,
            claimed: claimed(finding),
            branches,
        })
    }
}

fn is_dismissal(dispute: &Dispute) -> bool {
    let ruling = dispute.ruling();
    ruling.is_some_and(|ruling| ruling.decision == Decision::Dismiss)
}

/// Returns the first line of the cited code without its spaces.
fn code_of(frame: &[FrameLine]) -> String {
    let line = frame.iter().find(|line| line.marked);
    let text = line.map_or("", |line| line.text.as_str());
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
