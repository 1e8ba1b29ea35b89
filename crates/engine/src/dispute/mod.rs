//! Disputes at work: opened once, heard, ruled, and every effect carried out once.
//!
//! A dispute is a case. The core decides what each event does; here it is stored, and what follows
//! from it is done. Whoever comes after a crash finds in the ledger what is left to do.

mod alert;
mod carry;
mod deliver;
mod dismiss;
mod file;
mod judge;
mod material;
mod precedent;
mod replay;
mod task;

use std::path::PathBuf;

use serde_json::json;
use tribunal_core::agent::Role;
use tribunal_core::case::{CaseKind, Outcome, Pause};
use tribunal_core::dispute::{
    Chooser, Decision, Dispute, DisputeState, Effect, Evidence, Gravity, Grounds, Objection,
    Opening, Origin, Party, Position, Recourse, Referral, Refusal, Ruler, Subject, Terms,
};
use tribunal_core::event::{DisputeEvent, EventKind};
use tribunal_core::finding::Category;
use tribunal_core::ids::{AgentName, DisputeId};
use tribunal_core::task::Actor;
use tribunal_core::text::truncate_chars;
use tribunal_core::time::Timestamp;
use tribunal_store::{DisputeFilter, PrecedentFilter, StoreError, crashpoint};

pub use self::dismiss::PersonsWord;
pub(crate) use self::file::fault_of_file;
pub(crate) use self::replay::decide_again;

use self::alert::Alert;
use crate::Engine;
use crate::case::{Case, CaseError};
use crate::config::{GitSettings, Roster, Settings};
use crate::delivery::work_branch;

/// What the config says about disputes.
#[derive(Debug, Clone, Default)]
pub(crate) struct DisputeConduct {
    /// Where `dispute.md` lies; nowhere without a project.
    pub(crate) project: Option<PathBuf>,
    /// How many resolved disputes it shows.
    pub(crate) shown_resolved: u32,
    /// How long a ruling serves as a precedent.
    pub(crate) precedent_days: u32,
    /// The agents who may rule, in the order of the config.
    pub(crate) judges: Vec<AgentName>,
    /// How many of them sit on one dispute.
    pub(crate) panel: u32,
    /// How long a dispute may be open before it is called stale.
    pub(crate) timeout_days: u32,
    /// How to tell about stale ones.
    pub(crate) alert: Alert,
    /// What is done with the work on a task.
    pub(crate) git: GitSettings,
    /// The branch that collects approved work.
    pub(crate) branch: String,
}

impl DisputeConduct {
    pub(crate) fn new(settings: &Settings, project: Option<PathBuf>) -> Self {
        let roster = Roster::new(settings);
        let judges = roster.with_role(Role::Judge).map(|one| one.name.clone());
        Self {
            project,
            judges: judges.collect(),
            panel: settings.review.judge.panel,
            shown_resolved: settings.disputes.shown_resolved,
            precedent_days: settings.precedents.expire_days,
            timeout_days: settings.disputes.timeout_days,
            alert: Alert::new(&settings.disputes),
            git: settings.git.clone(),
            branch: work_branch(settings),
        }
    }
}

/// A dispute to be opened.
#[derive(Debug, Clone)]
pub struct NewDispute {
    /// The caller's name for it, such as `review c-1a2b f-3c19a27e`. A second call with the same
    /// name opens nothing and returns the first one.
    pub key: String,
    /// What it is about.
    pub subject: Subject,
    /// Where it came from.
    pub origin: Origin,
    /// Whether it needs a ruling.
    pub gravity: Gravity,
    /// The kind of reason.
    pub grounds: Grounds,
    /// Why the coder objects, where it does.
    pub objection: Option<Objection>,
    /// What the coder's side argues.
    pub coder: Option<Position>,
    /// What the reviewer's side argues.
    pub reviewer: Option<Position>,
    /// What is brought forward, checked by the caller where it can be.
    pub evidence: Vec<Evidence>,
    /// The rule that reported the finding; empty unless a built-in rule or a linter did.
    pub rule: String,
    /// Files that it concerns.
    pub files: Vec<String>,
    /// The code that a judge is shown.
    pub material: Option<String>,
    /// A remark; what a minor dispute consists of.
    pub notes: String,
    /// Who opens it; the side that begins if not given.
    pub created_by: Option<Actor>,
}

impl Engine {
    /// Opens a dispute, carries out what follows from it, and returns it.
    ///
    /// Opening again under the same key returns the dispute that is there.
    pub async fn open_dispute(&self, new: NewDispute) -> Result<Dispute, CaseError> {
        self.open_dispute_holding(new, None).await
    }

    /// Opens a dispute about a task whose case the caller holds, as the loop does.
    pub(crate) async fn open_dispute_holding(
        &self,
        new: NewDispute,
        held: Option<&Case>,
    ) -> Result<Dispute, CaseError> {
        let store = self.ledger.store();
        if let Some(found) = store.dispute_by_key(&new.key).await? {
            return self.settle_if_left(found).await;
        }
        self.check_unlocked(&new).await?;
        let key = new.key.clone();
        let new = self.with_work(new).await?;
        let opening = self.opening(new)?;
        let title = truncate_chars(opening.subject.title(), 100).into_owned();
        let parent = match &opening.subject {
            Subject::Finding { review, .. } => review.as_str(),
            Subject::Task { task, .. } => task,
        };
        let request = json!({ "key": key, "parent": parent });
        let case = self.new_case(CaseKind::Dispute, title, request);
        let id = DisputeId::of_case(case.id());
        let (dispute, effects) = Dispute::open(id.clone(), opening, store.now().await?)?;
        let opened = DisputeEvent::DisputeOpened {
            dispute: id,
            opening: Box::new(dispute.opening.clone()),
        };
        if held.is_none() {
            self.check_reach(case.id(), &effects).await?;
        }
        match self.store_event(&case, opened, &effects).await {
            // Somebody else was faster with the same dispute.
            Err(CaseError::Store(StoreError::Repeated { .. })) => {
                match store.dispute_by_key(&key).await? {
                    Some(found) => Ok(found),
                    None => Err(StoreError::Repeated { what: key }.into()),
                }
            }
            Err(error) => Err(error),
            Ok(()) => self.settle_holding(case, held).await,
        }
    }

    /// Records what the side argues that had not spoken, and files that it names.
    pub async fn state_position(
        &self,
        id: &DisputeId,
        party: Party,
        position: Position,
        files: Vec<String>,
    ) -> Result<Dispute, CaseError> {
        let position = self.redacted(position);
        let before = self.dispute(id.as_str()).await?;
        let (files, material) = self.with_more_files(&before, files)?;
        let stated = DisputeEvent::PositionStated {
            party,
            position,
            files,
            material,
        };
        self.change(id, stated).await
    }

    /// Records how a dispute is to be settled. A discard settles it at once, as a ruling of its own.
    pub async fn choose_recourse(
        &self,
        id: &DisputeId,
        recourse: Recourse,
        by: Chooser,
    ) -> Result<Dispute, CaseError> {
        let chosen = self.change(id, DisputeEvent::RecourseChosen { recourse, by });
        if recourse != Recourse::Discard {
            return chosen.await;
        }
        if let Some(refusal) = self
            .ruled_elsewhere(&self.dispute(id.as_str()).await?)
            .await?
        {
            return Err(refusal.into());
        }
        let (ruler, reason) = match by {
            Chooser::Human => (
                Ruler::Discard,
                "Discarded by a person, without a hearing of the merits.",
            ),
            Chooser::Config | Chooser::Nobody => (
                Ruler::Config,
                "Discarded because the config says so, without a hearing of the merits.",
            ),
        };
        let ruled = DisputeEvent::DisputeRuled {
            decision: Decision::Dismiss,
            reason: reason.to_owned(),
            reversal: String::new(),
            ruler,
            terms: Terms::default(),
            overrules: false,
        };
        // The choice is not stored without the ruling that follows from it.
        let before = self.dispute(id.as_str()).await?;
        let (_, effects) = before
            .clone()
            .apply(&ruled, self.ledger.store().now().await?)?;
        self.check_change(&id.case(), &effects).await?;
        self.check_deliverable(&before, &effects).await?;
        chosen.await?;
        self.change(id, ruled).await
    }

    /// Records a person's ruling.
    pub async fn rule_by_human(
        &self,
        id: &DisputeId,
        decision: Decision,
        notes: &str,
        overrule: Overrule,
    ) -> Result<Dispute, CaseError> {
        let decision = match decision {
            Decision::Amend { instructions } => Decision::Amend {
                instructions: self.redactor.redact(&instructions),
            },
            Decision::Enforce | Decision::Dismiss => decision,
        };
        let before = self.dispute(id.as_str()).await?;
        let elsewhere = self.ruled_elsewhere(&before).await?;
        let ruled = DisputeEvent::DisputeRuled {
            decision,
            reason: self.redactor.redact(notes),
            reversal: String::new(),
            ruler: Ruler::Human,
            terms: Terms::default(),
            // This one is open: what is overruled is the ruling elsewhere.
            overrules: overrule == Overrule::Yes && elsewhere.is_none(),
        };
        match (elsewhere, overrule) {
            (Some(refusal), Overrule::No) => Err(refusal.into()),
            (Some(_), Overrule::Yes) | (None, _) => self.change(id, ruled).await,
        }
    }

    /// Lets a task wait for a dispute about a finding of its work, once.
    pub(crate) async fn refer_dispute(
        &self,
        id: &DisputeId,
        referral: Referral,
    ) -> Result<Dispute, CaseError> {
        let before = self.dispute(id.as_str()).await?;
        if before.referral.as_ref() == Some(&referral) {
            return self.settle_if_left(before).await;
        }
        let referral = Box::new(referral);
        self.change(id, DisputeEvent::DisputeReferred { referral })
            .await
    }

    /// Takes a ruling out of the precedents, with the reason.
    pub async fn drop_precedent(&self, id: &DisputeId, why: &str) -> Result<Dispute, CaseError> {
        let why = self.redactor.redact(why);
        self.change(id, DisputeEvent::PrecedentDropped { why })
            .await
    }

    /// Returns the dispute whose id is, starts or ends with `text`.
    pub async fn dispute(&self, text: &str) -> Result<Dispute, CaseError> {
        Ok(self.ledger.store().find_dispute(text).await?)
    }

    /// Returns the disputes that `wanted` describes, newest first.
    pub async fn disputes(&self, wanted: &DisputeFilter) -> Result<Vec<Dispute>, CaseError> {
        Ok(self.ledger.store().disputes(wanted).await?)
    }

    /// Returns the rulings that were made about a finding or its like: of the same identity, or of
    /// the same category in the same file. Expired and dropped ones are left out.
    pub(crate) async fn precedents_for(
        &self,
        fingerprint: &str,
        category: Category,
        file: &str,
    ) -> Result<Vec<Dispute>, CaseError> {
        let store = self.ledger.store();
        let wanted = PrecedentFilter {
            fingerprint: Some(fingerprint.to_owned()),
            place: (!file.is_empty()).then(|| (file.to_owned(), Some(category))),
            since: Some(self.precedents_since().await?),
            limit: Some(20),
            ..PrecedentFilter::default()
        };
        Ok(store.precedents(&wanted).await?)
    }

    /// Returns the rulings that were made about any of `files`.
    pub(crate) async fn precedents_about(
        &self,
        files: &[String],
    ) -> Result<Vec<Dispute>, CaseError> {
        let since = Some(self.precedents_since().await?);
        let mut found = Vec::new();
        for file in files {
            let wanted = PrecedentFilter {
                place: Some((file.clone(), None)),
                since,
                limit: Some(5),
                ..PrecedentFilter::default()
            };
            found.extend(self.ledger.store().precedents(&wanted).await?);
        }
        Ok(found)
    }

    /// Returns since when rulings count as precedents.
    pub async fn precedents_since(&self) -> Result<Timestamp, CaseError> {
        let now = self.ledger.store().now().await?;
        Ok(now.minus_days(self.disputes.precedent_days))
    }

    /// Does what interrupted processes left undone for disputes, and returns how many there were.
    ///
    /// Commands that work on disputes begin with it, so that nothing waits for `resume`.
    pub async fn settle_disputes(&self) -> Result<usize, CaseError> {
        let left = self
            .ledger
            .store()
            .unfinished_cases(CaseKind::Dispute)
            .await?;
        let mut settled = 0;
        for case in left {
            let Some(case) = self.take_if_free(&case).await? else {
                continue;
            };
            match self.settle(case).await {
                Ok(_) => settled += 1,
                // Somebody works on its task, and comes upon the dispute by that.
                Err(CaseError::Store(StoreError::Busy { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(settled)
    }

    /// Lets `event` happen in a dispute and carries out what follows from it.
    async fn change(&self, id: &DisputeId, event: DisputeEvent) -> Result<Dispute, CaseError> {
        // Refuse before taking the case, so that a refused wish leaves no trace.
        let store = self.ledger.store();
        let now = store.now().await?;
        let before = store.find_dispute(id.as_str()).await?;
        let (after, effects) = before.apply(&event, now)?;
        self.check_change(&id.case(), &effects).await?;
        if let DisputeEvent::DisputeRuled { .. } = &event {
            self.check_deliverable(&after, &effects).await?;
        }
        let case = self.take_over(&id.case()).await?;
        let (before, _) = self.story(case.id()).await?;
        match before.apply(&event, now) {
            Ok((_, effects)) => self.store_event(&case, event, &effects).await?,
            Err(refusal) => {
                // Somebody was faster; the case goes back as it was.
                self.settle(case).await?;
                return Err(refusal.into());
            }
        }
        self.settle(case).await
    }

    /// Stores an event of a dispute together with what it says about a finding.
    async fn store_event(
        &self,
        case: &Case,
        event: DisputeEvent,
        effects: &[Effect],
    ) -> Result<(), CaseError> {
        let tracked = effects.iter().filter_map(|effect| match effect {
            Effect::TrackFinding(finding) => Some(finding.as_ref().clone()),
            _ => None,
        });
        let findings: Vec<_> = tracked.collect();
        let tracked = (!findings.is_empty()).then_some(EventKind::FindingsTracked { findings });
        crashpoint!("dispute.event.before");
        let events = [EventKind::Dispute(event)].into_iter().chain(tracked);
        case.record(events).await?;
        crashpoint!("dispute.event.after");
        Ok(())
    }

    /// Carries out what is left to do for a dispute, and leaves its case as the dispute stands:
    /// closed when it is settled, waiting for a person otherwise.
    pub(crate) async fn settle(&self, case: Case) -> Result<Dispute, CaseError> {
        self.settle_holding(case, None).await
    }

    async fn settle_holding(&self, case: Case, held: Option<&Case>) -> Result<Dispute, CaseError> {
        let (dispute, effects) = self.story(case.id()).await?;
        if let Err(error) = self.carry_out(&case, &dispute, &effects, held).await {
            // We may live on for long, as a runner whose task another has taken. What is left to do is
            // done by whoever comes next. The failure is worth more than one of giving it back.
            let _ = case.release().await;
            return Err(error);
        }
        match &dispute.state {
            DisputeState::Ruled | DisputeState::Noted => case.close(Outcome::Completed).await?,
            // Whoever resumes it goes on asking the judges who have not answered.
            DisputeState::BeforeJudge => case.park(Pause::Interrupted, None).await?,
            DisputeState::AwaitingPosition { .. }
            | DisputeState::Open
            | DisputeState::AwaitingHuman { .. } => {
                let question = waits_for(&dispute.state);
                case.park(Pause::Human { question }, None).await?;
            }
        }
        Ok(dispute)
    }

    async fn settle_if_left(&self, dispute: Dispute) -> Result<Dispute, CaseError> {
        let left = self
            .ledger
            .store()
            .unfinished_cases(CaseKind::Dispute)
            .await?;
        if !left.contains(&dispute.id.case()) {
            return Ok(dispute);
        }
        match self.take_if_free(&dispute.id.case()).await? {
            Some(case) => self.settle(case).await,
            None => Ok(dispute),
        }
    }

    /// Refuses a dispute about a finding that was enforced: only a human can change that.
    async fn check_unlocked(&self, new: &NewDispute) -> Result<(), CaseError> {
        let Some(finding) = new.subject.finding() else {
            return Ok(());
        };
        let wanted = PrecedentFilter {
            fingerprint: Some(finding.fingerprint.clone()),
            limit: Some(1),
            ..PrecedentFilter::default()
        };
        let last = self.ledger.store().precedents(&wanted).await?;
        let enforced = |dispute: &&Dispute| {
            dispute
                .ruling()
                .is_some_and(|ruling| ruling.decision == Decision::Enforce)
        };
        match last.iter().find(enforced) {
            Some(before) => Err(Refusal::Locked {
                by: before.id.clone(),
            }
            .into()),
            None => Ok(()),
        }
    }

    fn opening(&self, new: NewDispute) -> Result<Opening, CaseError> {
        let material = new.material.map(|text| self.stored_material(&text));
        let redact = |mut evidence: Evidence| {
            evidence.text = self.redactor.redact(&evidence.text);
            evidence
        };
        let mut opening = Opening {
            key: new.key,
            subject: new.subject,
            origin: new.origin,
            gravity: new.gravity,
            grounds: new.grounds,
            objection: new.objection,
            coder: new.coder.map(|position| self.redacted(position)),
            reviewer: new.reviewer.map(|position| self.redacted(position)),
            evidence: new.evidence.into_iter().map(redact).collect(),
            rule: new.rule,
            files: new.files,
            material: material.transpose()?,
            notes: self.redactor.redact(&new.notes),
            created_by: new.created_by,
        };
        opening.created_by = Some(opening.opener());
        Ok(opening)
    }

    /// Returns a position as it is stored, with the model of its author where that is an agent.
    fn redacted(&self, mut position: Position) -> Position {
        position.text = self.redactor.redact(&position.text);
        let agent = AgentName::new(position.author.clone()).ok();
        let seat = agent.and_then(|name| self.seat(&name).ok());
        if let (None, Some(seat)) = (&position.model, seat) {
            let profile = seat.agent.profile();
            position.model.clone_from(&profile.model);
            position.family.get_or_insert(profile.family.clone());
        }
        position
    }
}

/// Whether a ruling may take the place of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overrule {
    /// It settles what is open.
    No,
    /// It replaces the ruling that was made.
    Yes,
}

/// Returns a name under which nothing was opened before, for a caller who wants a new dispute.
#[must_use]
pub fn fresh_key(what: &str) -> String {
    format!("{what} {:016x}", crate::random_bits())
}

fn waits_for(state: &DisputeState) -> String {
    match state {
        DisputeState::AwaitingPosition { from } => format!("the position of the {from}"),
        DisputeState::AwaitingHuman { question } => format!("a ruling: {question}"),
        DisputeState::Open
        | DisputeState::BeforeJudge
        | DisputeState::Ruled
        | DisputeState::Noted => "a ruling".to_owned(),
    }
}
