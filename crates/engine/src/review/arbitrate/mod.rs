//! Arbitration: the coder answers the findings, disputes are ruled on, and the work is checked.
//!
//! What follows from what is decided by the docket in the core. Every question is a durable step,
//! so is every piece of the coder's work and every ruling; a resumed or replayed arbitration comes
//! to the same end.

mod again;
mod coder;
mod contest;
mod evidence;
mod offer;
mod recheck;
mod takeover;
mod verify;

use serde::{Deserialize, Serialize};
use tribunal_core::agent::Role;
use tribunal_core::consensus::Verdict;
use tribunal_core::dispute::{Decision, Recourse, Subject};
use tribunal_core::event::{ArbitrationEvent, EventKind};
use tribunal_core::ids::{AgentName, CaseId};
use tribunal_core::review::arbitration::{Arbitration, CoderRound, End, FindingState, Offer};
use tribunal_core::review::docket::{Docket, Item, WorkPlace};
use tribunal_core::review::gate::{self, Evidence};
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding, Standing};
use tribunal_core::review::response::Answer;
use tribunal_core::time::Timestamp;
use tribunal_store::RunRecord;

use super::ask::Asking;
use super::{ReviewRequest, count, read_change, report};
use crate::Engine;
use crate::case::{CaseError, blocking};
use crate::change::{Change, Pinned, Repository};
use crate::config::{AgentSettings, Roster, Settings};
use crate::worktree::{self, Signature};
use coder::Worked;
pub(crate) use contest::{grounds, reviewers_side};
pub use offer::OfferWish;
pub(crate) use replayed::RecordedArbitration;

mod replayed;

/// What the user asked of an arbitration.
#[derive(Debug, Clone)]
pub struct ArbitrationWish {
    /// The coder, by name; else the one whose domain fits, else the first.
    pub coder: Option<String>,
    /// How the coder's work is handed over.
    pub offer: OfferWish,
    /// Whether a person may be asked on the way.
    pub prompting: Prompting,
}

/// Whether a person may be asked how a dispute is to be settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompting {
    /// As `review.on_dispute.prompt_user` says.
    AsConfigured,
    /// Nobody is; what needs a person waits for one.
    Never,
}

/// An arbitration as the ledger keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ArbitrationRequest {
    /// Who may be the coder, in the order of the config.
    coders: Vec<CoderSeat>,
    /// Most rounds of the coder.
    rounds: u32,
    offer: OfferWish,
    /// Whether a person is asked how a dispute is to be settled.
    prompt_user: bool,
    /// The answer when nobody is asked.
    recourse: Recourse,
    /// Whether the gate speaks of the user's files, where offered work does not count. Reviews that
    /// version 0.1.0 recorded have another gate, and are replayed as they were.
    #[serde(default)]
    speaks_of_users_files: bool,
    /// Whether all who raised a finding check its fix, wherever the code is then, and whether work
    /// that was not taken stands in the way of a PASS. What was recorded before is replayed as it was.
    #[serde(default)]
    is_thorough: bool,
    /// When it was asked for; commits carry this time, so that doing it again gives the same.
    at: Timestamp,
    /// What was decided outside of the answers when this was recorded; only a replay has it.
    #[serde(skip)]
    pub(super) recorded: Option<RecordedArbitration>,
}

/// An agent that may be the coder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CoderSeat {
    name: AgentName,
    family: String,
    model: Option<String>,
    domains: Vec<String>,
}

impl ArbitrationRequest {
    /// Returns the request for a wish.
    pub(super) async fn of(
        engine: &Engine,
        settings: &Settings,
        wish: &ArbitrationWish,
    ) -> Result<Self, CaseError> {
        let roster = Roster::new(settings);
        let named = match &wish.coder {
            None => roster.with_role(Role::Coder).collect(),
            Some(name) => {
                let mut coders = roster.with_role(Role::Coder);
                let found = coders.find(|agent| agent.name.as_str() == name);
                vec![found.ok_or_else(|| not_a_coder(&roster, name))?]
            }
        };
        if named.is_empty() {
            return Err(CaseError::NoCoder);
        }
        let seat = |agent: &AgentSettings| -> Result<CoderSeat, CaseError> {
            let profile = engine.seat(&agent.name)?.agent.profile().clone();
            Ok(CoderSeat {
                name: agent.name.clone(),
                family: profile.family,
                model: profile.model,
                domains: agent.domain.clone(),
            })
        };
        Ok(Self {
            coders: named.into_iter().map(seat).collect::<Result<_, _>>()?,
            rounds: settings.review.arbitration.rounds,
            offer: wish.offer.clone(),
            prompt_user: match wish.prompting {
                Prompting::AsConfigured => settings.review.on_dispute.prompt_user,
                Prompting::Never => false,
            },
            recourse: settings.review.on_dispute.default_recourse,
            speaks_of_users_files: true,
            is_thorough: true,
            at: engine.ledger.store().now().await?,
            recorded: None,
        })
    }

    /// Returns the coder whose domains name most of what the findings are about, else the first.
    fn coder_for(&self, docket: &Docket) -> &CoderSeat {
        let about: Vec<&str> = docket
            .items()
            .iter()
            .map(|item| item.record.category.as_str())
            .collect();
        let fits = |seat: &CoderSeat| {
            let serves = |word: &&&str| {
                let mut own = seat.domains.iter();
                own.any(|domain| domain.eq_ignore_ascii_case(word))
            };
            about.iter().filter(serves).count()
        };
        let mut best = &self.coders[0];
        for seat in &self.coders {
            if fits(seat) > fits(best) {
                best = seat;
            }
        }
        best
    }
}

/// An arbitration at work.
pub(super) struct Bench<'a> {
    pub(super) asking: Asking<'a>,
    pub(super) repository: &'a Repository,
    pub(super) request: &'a ReviewRequest,
    pub(super) wish: &'a ArbitrationRequest,
    /// How findings stand, for the records of disputes.
    pub(super) tracked: &'a [TrackedFinding],
    /// What is under review.
    pub(super) change: &'a Change,
}

/// What an arbitration leads to, besides the docket.
struct Outcome {
    coder: String,
    start: String,
    commit: String,
    rounds: Vec<CoderRound>,
    /// What stands in the way of a PASS, one sentence each.
    causes: Vec<String>,
    notes: Vec<String>,
    missing: Option<End>,
}

impl Bench<'_> {
    /// Puts the findings of a report to a coder, sees everything to its end and brings the report
    /// up to date. Returns how the findings stand then.
    pub(super) async fn arbitrate(
        &self,
        report: &mut ReviewReport,
    ) -> Result<Vec<TrackedFinding>, CaseError> {
        // What judges cost is a part of what the review may cost.
        self.asking.case.share_budget_of(self.case_id());
        if self.asking.case.was_resumed() {
            self.recall(report).await?;
        }
        let findings = report.findings.iter();
        let findings = findings.map(|finding| (finding.clone(), report.binds(finding)));
        let mut docket = Docket::new(findings, self.wish.rounds);
        let outcome = self.see_through(&mut docket).await?;
        let offer = self.offer(&outcome.start, &outcome.commit).await?;
        let end = outcome.missing.clone().unwrap_or_else(|| docket.end());
        self.note(ArbitrationEvent::ArbitrationEnded {
            end: end.clone(),
            held: docket.round(),
        })
        .await;

        let mut missing = report::missing_for_gate(self.request, self.change, &report.reviewers);
        missing.extend(outcome.causes);
        let decide = |work: WorkPlace| {
            gate::decide(&Evidence {
                findings: &docket.gated(&report.findings, work),
                coverage: &report.coverage,
                may_skip: &self.request.may_skip,
                asked: report.reviewers.len(),
                missing: &missing,
                fail_on: self.request.fail_on,
            })
        };
        let with_work = decide(WorkPlace::Delivered);
        let work = self.place_of_work(offer.as_ref());
        report.gate = decide(work);
        if self.wish.recorded.is_none() {
            let offered = self.gate_with(offer.as_ref(), &with_work, &outcome.start);
            report.gate_with_offer = offered.await?;
        }
        let runs = self.runs(&docket).await?;
        (report.usage, report.cost) = report::total(runs.iter());
        report.notes.extend(outcome.notes);
        let tracked = follow(&docket, report, self.tracked, work);
        report.findings.extend(late(&docket));
        report.arbitration = Some(Arbitration {
            coder: outcome.coder,
            findings: docket
                .items()
                .iter()
                .map(|item| item.record.clone())
                .collect(),
            rounds: outcome.rounds,
            offer,
            end,
        });
        Ok(tracked)
    }

    /// Returns whether what the gate speaks of has the coder's work.
    fn place_of_work(&self, offer: Option<&Offer>) -> WorkPlace {
        let is_old_replay = self.wish.recorded.is_some() && !self.wish.speaks_of_users_files;
        match (&self.wish.offer, offer) {
            _ if is_old_replay => WorkPlace::Delivered,
            (OfferWish::Keep, _) | (_, Some(Offer::Applied { .. })) => WorkPlace::Delivered,
            (OfferWish::Branch | OfferWish::Patch { .. } | OfferWish::Apply, _) => {
                WorkPlace::Elsewhere
            }
        }
    }

    /// Returns the runs of the review and of the disputes that it opened.
    async fn runs(&self, docket: &Docket) -> Result<Vec<RunRecord>, CaseError> {
        let store = self.engine().ledger.store();
        let mut runs = store.runs(self.case_id()).await?;
        if self.wish.recorded.is_some() {
            // Judges are not asked again in a replay.
            return Ok(runs);
        }
        let items = docket.items().iter();
        for summary in items.flat_map(|item| &item.record.disputes) {
            let dispute = self.engine().dispute(&summary.id).await?;
            // A ruling of an earlier review was paid for there.
            let is_ours = match &dispute.opening.subject {
                Subject::Finding { review, .. } => review == self.case_id(),
                Subject::Task { .. } => false,
            };
            if is_ours {
                runs.extend(store.runs(&dispute.id.case()).await?);
            }
        }
        Ok(runs)
    }

    /// Counts those findings again whose dismissal came from a dispute of this very review: it is
    /// taken up below, as it would have been without an interruption.
    async fn recall(&self, report: &mut ReviewReport) -> Result<(), CaseError> {
        let dismissed = |finding: &&mut ReviewedFinding| {
            finding.standing == Standing::Dismissed && finding.verdict != Verdict::Rejected
        };
        for finding in report.findings.iter_mut().filter(dismissed) {
            let about = self.disputes_about(&finding.fingerprint).await?;
            if !about.own.is_empty() {
                finding.counts = true;
            }
        }
        Ok(())
    }

    /// Goes through rounds until nothing is left to do or may be done.
    async fn see_through(&self, docket: &mut Docket) -> Result<Outcome, CaseError> {
        let mut outcome = Outcome {
            coder: String::new(),
            start: String::new(),
            commit: String::new(),
            rounds: Vec::new(),
            causes: Vec::new(),
            notes: Vec::new(),
            missing: None,
        };
        if docket.items().is_empty() {
            return Ok(outcome);
        }
        let coder = self.wish.coder_for(docket);
        outcome.coder = coder.name.to_string();
        outcome.start = self.start().await?;
        outcome.commit.clone_from(&outcome.start);
        self.contest_all(docket, coder, &outcome.commit).await?;
        loop {
            let to_do = docket.begin_round();
            if to_do.is_empty() {
                break;
            }
            let before = outcome.commit.clone();
            let worked = match self.work(coder, docket, &to_do, &before).await? {
                Ok(worked) => worked,
                Err(why) => {
                    let cause = format!("the coder {} gave no answer: {why}", coder.name);
                    outcome.causes.push(cause);
                    outcome.missing = Some(End::CoderMissing { why });
                    break;
                }
            };
            outcome.commit.clone_from(&worked.commit);
            let changed = worked.commit != before;
            self.note_answered(coder, docket, &worked).await;
            outcome.rounds.push(worked.record(docket.round()));
            outcome.notes.extend(worked.warning(coder));
            outcome.notes.extend(worked.remark(coder));
            if self.wish.is_thorough {
                outcome.causes.extend(worked.gap(coder));
            }
            for (index, response) in worked.responses {
                docket.answer(index, response, changed);
            }
            self.contest_all(docket, coder, &before).await?;
            if changed {
                let now = self.change_at(&outcome.commit).await?;
                self.verify(docket, &outcome.start, &outcome.commit, &now)
                    .await?;
                let seen = self.review_work(docket, &before, &outcome.commit).await?;
                outcome.causes.extend(seen.causes);
                outcome.notes.extend(seen.notes);
            }
        }
        self.record_deadlocks(docket, coder, &outcome.commit)
            .await?;
        Ok(outcome)
    }

    /// Returns the commit from which the coder starts.
    async fn start(&self) -> Result<String, CaseError> {
        let (repository, pinned) = (self.repository.clone(), self.request.pinned.clone());
        let at = self.wish.at;
        blocking(move || {
            // Nothing here differs when the same review is played again.
            let signature = Signature {
                author: "Tribunal",
                message: "Uncommitted work as it was reviewed",
                at,
            };
            worktree::start_of(&repository, &pinned, signature)
        })
        .await
    }

    /// Returns the change under review as it is with the coder's work.
    async fn change_at(&self, commit: &str) -> Result<Change, CaseError> {
        let pinned = Pinned {
            head: Some(commit.to_owned()),
            ..self.request.pinned.clone()
        };
        read_change(self.repository, &pinned).await
    }

    async fn note_answered(&self, coder: &CoderSeat, docket: &Docket, worked: &Worked) {
        let of = |wanted: fn(&Answer) -> bool| {
            let responses = worked.responses.iter();
            let answers = responses.filter_map(|(_, response)| response.as_ref());
            count(answers.filter(|one| wanted(&one.answer)).count())
        };
        let unanswered = worked.responses.iter().filter(|(_, one)| one.is_none());
        self.note(ArbitrationEvent::CoderAnswered {
            coder: coder.name.to_string(),
            round: docket.round(),
            implemented: of(|answer| matches!(answer, Answer::Implemented)),
            discarded: of(|answer| matches!(answer, Answer::Discarded)),
            objected: of(|answer| matches!(answer, Answer::Objected { .. })),
            unanswered: count(unanswered.count()),
            files: count(worked.files.len()),
            commit: worked.commit.clone(),
            problems: worked.problems.clone(),
        })
        .await;
    }

    fn engine(&self) -> &Engine {
        self.asking.engine
    }

    fn case_id(&self) -> &CaseId {
        self.asking.case.id()
    }

    async fn note(&self, event: ArbitrationEvent) {
        self.asking.case.note(EventKind::from(event)).await;
    }
}

/// Returns why an agent cannot be the coder, and who can.
fn not_a_coder(roster: &Roster, name: &str) -> CaseError {
    let coders = roster.with_role(Role::Coder).map(|one| one.name.as_str());
    let coders = match coders.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "none is configured".to_owned(),
        coders => format!("there are: {coders}"),
    };
    let mut agents = roster.agents().iter();
    let Some(agent) = agents.find(|agent| agent.name.as_str() == name) else {
        return CaseError::Request(format!("there is no coder `{name}`; {coders}"));
    };
    let roles: Vec<&str> = agent.role.iter().map(|role| role.as_str()).collect();
    CaseError::Request(format!(
        "`{name}` has the role {} and is not a coder; {coders}; add `coder` to its roles in the config \
         if it may write code",
        roles.join(", ")
    ))
}

/// Brings the findings of a report up to date and returns how they stand over several reviews.
fn follow(
    docket: &Docket,
    report: &mut ReviewReport,
    tracked: &[TrackedFinding],
    work: WorkPlace,
) -> Vec<TrackedFinding> {
    let mut tracked = tracked.to_vec();
    for item in docket
        .items()
        .iter()
        .filter(|item| item.record.raised_in == 0)
    {
        let Some(standing) = standing(item) else {
            continue;
        };
        let same = |one: &&mut TrackedFinding| one.fingerprint == item.record.fingerprint;
        if let Some(one) = tracked.iter_mut().find(same) {
            one.standing = standing;
        }
        let mut findings = report.findings.iter_mut();
        if let Some(finding) = findings.find(|one| one.id == item.record.id) {
            finding.standing = standing;
            finding.counts = item.counts(work);
        }
    }
    tracked
}

/// Returns what came late and stands in the way of a PASS, so that every printer shows it.
fn late(docket: &Docket) -> Vec<ReviewedFinding> {
    let items = docket.items().iter();
    let open = items.filter(|item| {
        let is_open = matches!(item.record.state, FindingState::Open { .. });
        item.record.raised_in > 0 && item.binds() && is_open
    });
    open.map(|item| {
        let mut finding = item.finding.clone();
        let round = item.record.raised_in;
        // Its lines are those of the coder's work, which is not the diff under review.
        finding.in_diff = false;
        finding.reasons.push(format!(
            "It was raised about the coder's work after round {round}."
        ));
        finding
    })
    .collect()
}

/// Returns how a finding stands after the arbitration, where it changed that.
///
/// What the coder fixed is answered: the user's files still have it until the work is taken over.
fn standing(item: &Item) -> Option<Standing> {
    match (item.record.state, &item.lock) {
        (FindingState::Fixed | FindingState::Discarded | FindingState::Claimed, _) => {
            Some(Standing::Answered)
        }
        (FindingState::Dismissed, _) => Some(Standing::Dismissed),
        (FindingState::Contested | FindingState::AwaitingRuling, _) => Some(Standing::Contested),
        (_, Some(Decision::Enforce | Decision::Amend { .. })) => Some(Standing::Upheld),
        (
            FindingState::ToDo | FindingState::Logged | FindingState::Open { .. },
            Some(Decision::Dismiss) | None,
        ) => None,
    }
}
