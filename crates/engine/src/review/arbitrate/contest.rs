//! Disputes of a review: opened once, put to whoever is to rule, and their rulings taken up.

use std::collections::BTreeMap;

use tribunal_core::case::Pause;
use tribunal_core::consensus::Verdict;
use tribunal_core::dispute::{
    Chooser, Dispute, DisputeState, Gravity, Grounds, Objection, Origin, Position, Recourse,
    Refusal, Subject,
};
use tribunal_core::event::{ArbitrationEvent, EventKind};
use tribunal_core::finding::Category;
use tribunal_core::ids::{CaseId, StepKey};
use tribunal_core::review::arbitration::{DisputeSummary, FindingState};
use tribunal_core::review::docket::{Docket, Item};
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::report::{ReviewedFinding, Standing};
use tribunal_core::review::response::Answer;
use tribunal_store::{DisputeFilter, StoreError};

use super::super::excerpt::Excerpts;
use super::super::report::claimed;
use super::{Bench, CoderSeat};
use crate::case::{CaseError, Then};
use crate::dispute::{NewDispute, Overrule};
use crate::human::{Human, Interrupted};

/// Shown for a side that brought nothing forward.
const NO_WORDS: &str = "No reason was given.";

impl Bench<'_> {
    /// Sees to everything that is contested: a ruling, or the note that one is awaited.
    ///
    /// `commit` is the code that the parties looked at.
    pub(super) async fn contest_all(
        &self,
        docket: &mut Docket,
        coder: &CoderSeat,
        commit: &str,
    ) -> Result<(), CaseError> {
        for index in docket.standing(FindingState::Contested) {
            let item = &docket.items()[index];
            let origin = match item.objection() {
                Some(_) => Origin::Objection,
                None => Origin::SplitReview,
            };
            let summary = self.contest(item, origin, coder, commit).await?;
            docket.rule(index, summary);
        }
        Ok(())
    }

    /// Puts on record what did not converge. Nobody is asked: there is no further round.
    pub(super) async fn record_deadlocks(
        &self,
        docket: &mut Docket,
        coder: &CoderSeat,
        commit: &str,
    ) -> Result<(), CaseError> {
        for index in docket.deadlocked() {
            let item = &docket.items()[index];
            let opened = self.open(item, Origin::Deadlock, coder, commit).await?;
            let Ok(dispute) = opened else {
                // A ruling stands already; nothing weakens it.
                continue;
            };
            docket.rule(index, dispute);
        }
        Ok(())
    }

    /// Opens the dispute about a finding and sees it to a ruling, if one can be had now.
    async fn contest(
        &self,
        item: &Item,
        origin: Origin,
        coder: &CoderSeat,
        commit: &str,
    ) -> Result<DisputeSummary, CaseError> {
        let key = step_key(item, origin);
        let step = StepKey::new(&key)?;
        let mut waiting = None;
        // In a box: a dispute is large, and every review would be as large as the one it holds.
        let work = Box::pin(async {
            let summary = match self.open(item, origin, coder, commit).await? {
                Ok(summary) if self.wish.recorded.is_some() => match self.recorded(&key) {
                    Some(recorded) => recorded,
                    None => summary,
                },
                Ok(summary) => self.see_ruled(item, summary).await?,
                Err(locked) => locked,
            };
            tribunal_store::crashpoint!("arbitrate.ruled");
            if summary.decision.is_some() {
                return Ok(Some(summary));
            }
            waiting = Some(summary);
            Ok(None)
        });
        let case = self.asking.case;
        let ruled = case.step_if_answered(&step, Then::GoOn, work).await?;
        let summary = ruled.or(waiting);
        let summary = summary.ok_or_else(|| CaseError::Request("no dispute was opened".into()))?;
        self.note(ArbitrationEvent::ContestSettled {
            finding: item.record.id.clone(),
            dispute: summary.id.clone(),
            decision: summary.decision.clone(),
            reason: summary.reason.clone(),
        })
        .await;
        Ok(summary)
    }

    /// Opens the dispute, or returns the ruling by which the finding is locked.
    async fn open(
        &self,
        item: &Item,
        origin: Origin,
        coder: &CoderSeat,
        commit: &str,
    ) -> Result<Result<DisputeSummary, DisputeSummary>, CaseError> {
        let summary = if let Some(recorded) = &self.wish.recorded {
            let (id, why) = recorded.dispute(&item.record.id, origin.as_str());
            DisputeSummary {
                id,
                origin,
                decision: None,
                reason: why.unwrap_or_else(|| waits(&DisputeState::Open)),
                by: String::new(),
            }
        } else {
            let about = self.disputes_about(&item.record.fingerprint).await?;
            let number = item.record.disputes.len();
            match about.joined(number, self.request.parent.as_ref()) {
                Some(dispute) => summary_of(&dispute),
                None => {
                    let mut new = self.new_dispute(item, origin, coder, commit).await?;
                    // Of several reviews that contest a finding at once, one opens the dispute: the
                    // ledger takes each key once, and gives the others what it has.
                    new.key = format!("finding {} {}", item.record.fingerprint, about.all.len());
                    match self.engine().open_dispute(new).await {
                        Ok(dispute) => summary_of(&dispute),
                        Err(CaseError::Dispute(Refusal::Locked { by })) => {
                            let before = self.engine().dispute(by.as_str()).await?;
                            return Ok(Err(summary_of(&before)));
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
        };
        tribunal_store::crashpoint!("arbitrate.dispute.opened");
        self.note(ArbitrationEvent::FindingContested {
            finding: item.record.id.clone(),
            title: item.record.title.clone(),
            dispute: summary.id.clone(),
            origin,
        })
        .await;
        // Whoever resumes this review finds its dispute by that, whatever was ruled meanwhile.
        self.asking.case.record([]).await?;
        Ok(Ok(summary))
    }

    /// Returns all major disputes about a finding, and which of them this review is a party to.
    pub(super) async fn disputes_about(
        &self,
        fingerprint: &str,
    ) -> Result<DisputesAbout, CaseError> {
        let wanted = DisputeFilter {
            fingerprint: Some(fingerprint.to_owned()),
            ..DisputeFilter::default()
        };
        let mut all = self.engine().disputes(&wanted).await?;
        all.retain(|dispute| dispute.opening.gravity == Gravity::Major);
        all.reverse();
        let store = self.engine().ledger.store();
        let events = match all.is_empty() {
            true => Vec::new(),
            false => store.events(self.case_id(), 0, u32::MAX).await?,
        };
        let is_noted = |id: &str| {
            events.iter().any(|event| {
                matches!(
                    &event.kind,
                    EventKind::Arbitration(ArbitrationEvent::FindingContested { dispute, .. })
                        if dispute == id
                )
            })
        };
        let is_own = |dispute: &Dispute| match &dispute.opening.subject {
            Subject::Finding { review, .. } => review == self.case_id(),
            Subject::Task { .. } => false,
        };
        let own = all
            .iter()
            .filter(|one| is_own(one) || is_noted(one.id.as_str()))
            .cloned()
            .collect();
        Ok(DisputesAbout { all, own })
    }

    /// Asks for a ruling, unless another review that takes part in the dispute does so already.
    async fn see_ruled(
        &self,
        item: &Item,
        opened: DisputeSummary,
    ) -> Result<DisputeSummary, CaseError> {
        match self.have_ruled(item, &opened).await {
            Ok(dispute) => Ok(summary_of(&dispute)),
            Err(
                CaseError::Store(StoreError::Busy { .. })
                | CaseError::Dispute(Refusal::AlreadyRuled { .. }),
            ) => Ok(summary_of(&self.engine().dispute(&opened.id).await?)),
            Err(error) => Err(error),
        }
    }

    /// Asks for a ruling: whoever the person or the config chooses.
    async fn have_ruled(&self, item: &Item, opened: &DisputeSummary) -> Result<Dispute, CaseError> {
        let engine = self.engine();
        let mut dispute = engine.dispute(&opened.id).await?;
        if dispute.ruling().is_none() {
            // The person may take a while; what happened so far is on record before.
            self.asking.case.record([]).await?;
            dispute = match dispute.state {
                DisputeState::BeforeJudge if engine.has_judge() => {
                    // It was chosen before.
                    self.before_judge(dispute, Chooser::default()).await?
                }
                // Nobody is asked again what was referred to a person.
                DisputeState::AwaitingHuman { .. } if self.person().is_none() => dispute,
                _ => self.choose(item, dispute).await?,
            };
        }
        Ok(dispute)
    }

    async fn choose(&self, item: &Item, dispute: Dispute) -> Result<Dispute, CaseError> {
        let engine = self.engine();
        let (recourse, by) = match self.person() {
            Some(human) => {
                let has_judge = engine.has_judge();
                let background = engine.background_of(&dispute, item.record.label).await?;
                // A judge who has passed it on is not the first choice any more.
                let preselected = match dispute.hearings.is_empty() {
                    true => self.wish.recourse,
                    false => Recourse::Human,
                };
                let asked = human.choose_recourse(&dispute, &background, has_judge, preselected);
                (asked.await.map_err(interrupted)?, Chooser::Human)
            }
            None => (self.wish.recourse, Chooser::Config),
        };
        match recourse {
            Recourse::Judge if engine.has_judge() => self.before_judge(dispute, by).await,
            Recourse::Discard => engine.choose_recourse(&dispute.id, recourse, by).await,
            // Without a judge, a person has to rule.
            Recourse::Judge | Recourse::Human => {
                let dispute = match dispute.recourse {
                    Some(Recourse::Human) => dispute,
                    _ => {
                        let by = match recourse {
                            Recourse::Judge => Chooser::Nobody,
                            Recourse::Human | Recourse::Discard => by,
                        };
                        let chosen = engine.choose_recourse(&dispute.id, Recourse::Human, by);
                        chosen.await?
                    }
                };
                self.ask_person(dispute).await
            }
        }
    }

    /// Lets the judge rule; what it escalates goes to the person, if there is one.
    async fn before_judge(&self, dispute: Dispute, by: Chooser) -> Result<Dispute, CaseError> {
        let dispute = self.engine().judge(&dispute.id, by).await?;
        if dispute.ruling().is_some() {
            return Ok(dispute);
        }
        self.ask_person(dispute).await
    }

    /// Returns the person who may be asked, if there is one and the config allows it.
    fn person(&self) -> Option<&dyn Human> {
        let human = self.engine().human.as_deref();
        human.filter(|_| self.wish.prompt_user)
    }

    async fn ask_person(&self, dispute: Dispute) -> Result<Dispute, CaseError> {
        let Some(human) = self.person() else {
            return Ok(dispute);
        };
        let (decision, notes) = human.rule(&dispute).await.map_err(interrupted)?;
        let engine = self.engine();
        let ruled = engine.rule_by_human(&dispute.id, decision, &notes, Overrule::No);
        ruled.await
    }

    async fn new_dispute(
        &self,
        item: &Item,
        origin: Origin,
        coder: &CoderSeat,
        commit: &str,
    ) -> Result<NewDispute, CaseError> {
        let change = self.change_at(commit).await?;
        let mut excerpts = Excerpts::new(&change);
        excerpts.add(&item.finding.location);
        let objection = item.objection();
        let evidence = match objection.map(|(_, response)| &response.answer) {
            Some(Answer::Objected { evidence, .. }) => evidence.clone(),
            Some(Answer::Implemented | Answer::Discarded) | None => Vec::new(),
        };
        let files = match item.record.location.file.as_str() {
            "" => Vec::new(),
            file => vec![file.to_owned()],
        };
        Ok(NewDispute {
            key: String::new(),
            subject: Subject::Finding {
                review: self.case_id().clone(),
                finding: Box::new(self.tracked(item)),
            },
            origin,
            gravity: Gravity::Major,
            grounds: grounds(
                item.record.category,
                objection.map(|(objection, _)| objection),
            ),
            objection: objection.map(|(objection, _)| objection.clone()),
            coder: Some(coders_side(item, origin, coder)),
            reviewer: Some(reviewers_side(&item.finding)),
            evidence,
            rule: item.finding.rule.clone(),
            files,
            material: Some(excerpts.render()).filter(|code| !code.is_empty()),
            notes: String::new(),
            created_by: None,
        })
    }

    /// Returns the finding as it is followed over several reviews.
    fn tracked(&self, item: &Item) -> TrackedFinding {
        let same = |one: &&TrackedFinding| one.fingerprint == item.record.fingerprint;
        let known = self.tracked.iter().find(same).cloned();
        known.unwrap_or_else(|| TrackedFinding {
            fingerprint: item.record.fingerprint.clone(),
            location: item.record.location.clone(),
            category: item.record.category,
            severity: item.record.severity,
            label: Some(item.record.label),
            title: item.record.title.clone(),
            code: String::new(),
            standing: Standing::New,
            claimed: claimed(&item.finding),
            branches: BTreeMap::new(),
        })
    }

    fn recorded(&self, key: &str) -> Option<DisputeSummary> {
        self.wish.recorded.as_ref()?.step(key)
    }
}

/// The disputes about one finding, the oldest first.
pub(super) struct DisputesAbout {
    all: Vec<Dispute>,
    /// Those that this review opened or joined.
    pub(super) own: Vec<Dispute>,
}

impl DisputesAbout {
    /// Returns the dispute that a review takes part in as its `number`-th about the finding: the one it
    /// took part in before, or the one that is open.
    fn joined(&self, number: usize, task: Option<&CaseId>) -> Option<Dispute> {
        // A dispute holds up one task. Another task whose work has the same finding needs its own.
        let is_free = |dispute: &&Dispute| match (task, &dispute.referral) {
            (Some(task), Some(referral)) => referral.task == task.as_str(),
            (None, _) | (_, None) => true,
        };
        let mut open = self.all.iter().filter(|one| one.ruling().is_none());
        let known = self.own.get(number);
        known.or_else(|| open.find(is_free)).cloned()
    }
}

fn interrupted(_: Interrupted) -> CaseError {
    CaseError::Parked {
        why: Pause::Interrupted,
        until: None,
    }
}

fn step_key(item: &Item, origin: Origin) -> String {
    // A finding that was raised again after a ruling is another matter.
    let number = item.record.disputes.len();
    format!("ruling {} {origin} {number}", item.record.fingerprint)
}

/// Returns what the reviewers who raised a finding say, each in its own words.
pub(crate) fn reviewers_side(finding: &ReviewedFinding) -> Position {
    let lead = finding.voices.first();
    let mut text = statement(&Said {
        title: &finding.title,
        description: &finding.description,
        trigger: &finding.trigger,
        suggestion: &finding.suggestion,
    });
    for voice in finding.other_voices() {
        let said = statement(&Said {
            title: &voice.title,
            description: &voice.description,
            trigger: &voice.trigger,
            suggestion: &voice.suggestion,
        });
        text = format!(
            "{text}\n\nAnother reviewer says at {}:\n{said}",
            voice.location
        );
    }
    Position {
        author: lead.map_or_else(|| "panel".to_owned(), |voice| voice.reviewer.clone()),
        model: None,
        family: lead.map(|voice| voice.family.clone()),
        text,
    }
}

/// What one reviewer says.
struct Said<'a> {
    title: &'a str,
    description: &'a str,
    trigger: &'a str,
    suggestion: &'a str,
}

fn statement(said: &Said<'_>) -> String {
    let mut text = said.title.to_owned();
    if !said.description.is_empty() && said.description != said.title {
        text = format!("{text}\n{}", said.description);
    }
    for (word, more) in [("Trigger", said.trigger), ("Suggestion", said.suggestion)] {
        if !more.is_empty() {
            text = format!("{text}\n{word}: {more}");
        }
    }
    text
}

/// Returns what the other side says: the coder, or those of the panel who think otherwise.
fn coders_side(item: &Item, origin: Origin, coder: &CoderSeat) -> Position {
    if item.finding.verdict == Verdict::Disputed && origin == Origin::SplitReview {
        let dissent = item.finding.dissent.iter();
        let said: Vec<String> = dissent
            .map(|one| format!("{}: {}", one.reviewer, one.says))
            .collect();
        let said = match said.is_empty() {
            true => item.finding.reasons.join("\n"),
            false => said.join("\n"),
        };
        return Position {
            author: "panel".to_owned(),
            model: None,
            family: None,
            text: or_no_words(said),
        };
    }
    let last = item.record.responses.last();
    let last = last.and_then(|last| last.response.as_ref());
    let text = last.map_or_else(String::new, |last| last.justification.clone());
    let text = match (origin, item.unsettled.as_str()) {
        (Origin::Deadlock, "") => format!("{}\n{text}", item.record.state.phrase()),
        (Origin::Deadlock, why) => format!("{}\n{why}\n{text}", item.record.state.phrase()),
        _ => text,
    };
    Position {
        author: coder.name.to_string(),
        model: coder.model.clone(),
        family: Some(coder.family.clone()),
        text: or_no_words(text),
    }
}

fn or_no_words(text: String) -> String {
    match text.trim() {
        "" => NO_WORDS.to_owned(),
        _ => text,
    }
}

/// Returns the kind of reason for a dispute about a finding.
pub(crate) fn grounds(category: Category, objection: Option<&Objection>) -> Grounds {
    match (category, objection) {
        (Category::Security, _) => Grounds::SecurityConcern,
        (_, Some(Objection::ConflictsWithRequirement)) => Grounds::SpecificationAmbiguity,
        (Category::Architecture, _) => Grounds::ArchitectureDisagreement,
        (
            Category::Bug | Category::Performance | Category::TestCoverage | Category::Other,
            Some(
                Objection::FactualError
                | Objection::BreaksFunctionality
                | Objection::MisunderstoodContext
                | Objection::Invalid { .. },
            )
            | None,
        ) => Grounds::Other,
    }
}

fn summary_of(dispute: &Dispute) -> DisputeSummary {
    let ruling = dispute.ruling();
    DisputeSummary {
        id: dispute.id.to_string(),
        origin: dispute.opening.origin,
        decision: ruling.map(|ruling| ruling.decision.clone()),
        reason: ruling.map_or_else(|| waits(&dispute.state), |ruling| ruling.reason.clone()),
        by: ruling.map_or_else(String::new, |ruling| ruling.ruler.phrase()),
    }
}

fn waits(state: &DisputeState) -> String {
    match state {
        DisputeState::AwaitingHuman { question } => question.clone(),
        _ => "a person has to rule".to_owned(),
    }
}
