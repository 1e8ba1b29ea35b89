//! Judges at work on a dispute: fresh, blind to names, of another family where there is one.

use tribunal_core::agent::Role;
use tribunal_core::dispute::panel::{Finding, conclude_on};
use tribunal_core::dispute::{
    Chooser, Decision, Dispute, DisputeState, Effect, Hearing, JudgeNamed, Opening, Party,
    Recourse, Subject, Terms,
};
use tribunal_core::event::{DisputeEvent, EventKind};
use tribunal_core::ids::{AgentName, CaseId, DisputeId, StepKey};
use tribunal_core::prompt::{RulePrompt, ask_again};
use tribunal_core::reply::{JudgeAnswer, read_signed_ruling};
use tribunal_core::time::Timestamp;
use tribunal_store::crashpoint;

use super::deliver::approval;
use crate::Engine;
use crate::case::{Case, CaseError, Then};
use crate::review::ask::{Asking, Unanswered};
use crate::review::nonce;
use crate::stopping::finish_all;

/// How often one judge is asked before it counts as silent.
const ATTEMPTS: u32 = 2;

/// How the question to a human begins when a ruling cannot be carried out.
const UNDELIVERABLE: &str = "the ruling was DISMISS, for the coder, but it cannot be carried out: ";

impl Engine {
    /// Tells whether a judge is configured.
    #[must_use]
    pub fn has_judge(&self) -> bool {
        !self.disputes.judges.is_empty()
    }

    /// Gives a dispute to the judge, or to several, and records what comes of it: a ruling, or an
    /// escalation to a human. Missing, late and garbled answers never rule.
    pub async fn judge(&self, id: &DisputeId, by: Chooser) -> Result<Dispute, CaseError> {
        let store = self.ledger.store();
        let before = store.find_dispute(id.as_str()).await?;
        if before.state != DisputeState::BeforeJudge {
            let chosen = DisputeEvent::RecourseChosen {
                recourse: Recourse::Judge,
                by,
            };
            before.clone().apply(&chosen, store.now().await?)?;
        }
        if !self.has_judge() {
            let dispute = id.clone();
            return Err(CaseError::NoJudge { dispute });
        }
        if let Some(refusal) = self.ruled_elsewhere(&before).await? {
            return Err(refusal.into());
        }
        self.check_ruling(&before).await?;
        let case = self.take_over(&id.case()).await?;
        self.judge_in(case, by).await
    }

    /// Lets the judges rule in the dispute's own case; whoever resumes it asks only those who have
    /// not answered.
    async fn judge_in(&self, case: Case, by: Chooser) -> Result<Dispute, CaseError> {
        let (mut dispute, _) = self.story(case.id()).await?;
        if let Subject::Finding { review, .. } = &dispute.opening.subject {
            case.share_budget_of(review);
        }
        if dispute.state != DisputeState::BeforeJudge {
            let chosen = DisputeEvent::RecourseChosen {
                recourse: Recourse::Judge,
                by,
            };
            let now = self.ledger.store().now().await?;
            match dispute.clone().apply(&chosen, now) {
                Ok((after, effects)) => {
                    self.store_event(&case, chosen, &effects).await?;
                    dispute = after;
                }
                Err(refusal) => {
                    self.settle(case).await?;
                    return Err(refusal.into());
                }
            }
        }
        match self.hear(&case, &dispute).await {
            Ok(hearings) => {
                self.store_hearings(&case, dispute, hearings).await?;
                self.settle(case).await
            }
            Err(CaseError::Parked { why, until }) => {
                case.park(why.clone(), until).await?;
                Err(CaseError::Parked { why, until })
            }
            Err(error) => Err(error),
        }
    }

    /// Nobody is asked for a ruling that could not be carried out.
    async fn check_ruling(&self, dispute: &Dispute) -> Result<(), CaseError> {
        self.check_change(&dispute.id.case(), &approval(dispute))
            .await
    }

    /// Goes on with a dispute whose owner is gone: with its judges if they were at work.
    pub(crate) async fn resume_dispute(&self, id: &CaseId) -> Result<Dispute, CaseError> {
        let (dispute, _) = self.story(id).await?;
        match dispute.state == DisputeState::BeforeJudge {
            true => self.check_ruling(&dispute).await?,
            false => self.check_change(id, []).await?,
        }
        let case = self.take_over(id).await?;
        let (dispute, _) = self.story(id).await?;
        match dispute.state == DisputeState::BeforeJudge && self.has_judge() {
            // It was chosen before.
            true => self.judge_in(case, Chooser::default()).await,
            false => self.settle(case).await,
        }
    }

    /// Asks all judges who sit and returns what each said.
    async fn hear(&self, case: &Case, dispute: &Dispute) -> Result<Vec<Hearing>, CaseError> {
        let round = self.sitting(case).await?;
        let seed = self.seed(case, &round).await?;
        let precedents = self.precedents_of(dispute).await?;
        let material = self.material_of(dispute)?;
        let directory = self
            .dir
            .make_workplace(case.id())
            .map_err(CaseError::file("make a directory for the judge"))?;
        let matter = Matter {
            dispute,
            precedents: &precedents,
            material: &material,
            round: &round,
            seed: &seed,
        };
        let asking = Asking {
            engine: self,
            case,
            directory: &directory,
        };
        let seats = (1..).zip(self.bench(dispute)?);
        let heard = seats.map(|(seat, judge)| matter.ask(asking, seat, judge));
        let heard = finish_all(heard).await;
        // What agents left there is of no use; a leftover does no harm.
        let _ = self.dir.clear_workplace(case.id());
        heard
    }

    /// Returns the name of this sitting: a dispute that is given to a judge again is heard anew.
    async fn sitting(&self, case: &Case) -> Result<String, CaseError> {
        let events = self.ledger.store().events(case.id(), 0, u32::MAX).await?;
        let is_sent = |kind: &EventKind| {
            matches!(
                kind,
                EventKind::Dispute(DisputeEvent::RecourseChosen {
                    recourse: Recourse::Judge,
                    ..
                })
            )
        };
        let sent = events.iter().filter(|event| is_sent(&event.kind)).count();
        Ok(sitting_of(sent))
    }

    /// Returns random text that no party has seen, the same for whoever resumes the sitting.
    async fn seed(&self, case: &Case, round: &str) -> Result<String, CaseError> {
        let key = StepKey::new(seed_step(round))?;
        let draw = async {
            let bits = [crate::random_bits(), crate::random_bits()];
            Ok(Some(format!("{:016x}{:016x}", bits[0], bits[1])))
        };
        let seed = case.step_if_answered(&key, Then::GoOn, draw).await?;
        Ok(seed.unwrap_or_default())
    }

    pub(super) async fn precedents_of(&self, dispute: &Dispute) -> Result<Vec<Dispute>, CaseError> {
        let found = match dispute.opening.subject.finding() {
            Some(finding) => {
                let file = &finding.location.file;
                self.precedents_for(&finding.fingerprint, finding.category, file)
                    .await?
            }
            None => self.precedents_about(&dispute.opening.files).await?,
        };
        let others = found.into_iter().filter(|one| one.id != dispute.id);
        Ok(others.take(5).collect())
    }

    /// Returns who sits: judges of a family that is no party's first, and as many as configured.
    /// With fewer judges than seats they sit again, each time as a fresh instance.
    fn bench(&self, dispute: &Dispute) -> Result<Vec<JudgeNamed>, CaseError> {
        let families: Vec<&str> = [Party::Coder, Party::Reviewer]
            .into_iter()
            .filter_map(|side| dispute.position(side)?.family.as_deref())
            .collect();
        let mut judges = Vec::new();
        for name in &self.disputes.judges {
            let seat = self.seat(name)?;
            let profile = seat.agent.profile();
            judges.push(JudgeNamed {
                agent: name.to_string(),
                model: profile.model.clone(),
                family: profile.family.clone(),
                kin: families.contains(&profile.family.as_str()),
            });
        }
        judges.sort_by_key(|judge| judge.kin);
        // A judge of a party's family sits only when nobody else can.
        if judges.iter().any(|judge| !judge.kin) {
            judges.retain(|judge| !judge.kin);
        }
        let seats = usize::try_from(self.disputes.panel.max(1)).unwrap_or(1);
        Ok(judges.into_iter().cycle().take(seats).collect())
    }

    async fn store_hearings(
        &self,
        case: &Case,
        mut dispute: Dispute,
        hearings: Vec<Hearing>,
    ) -> Result<(), CaseError> {
        let now = self.ledger.store().now().await?;
        let mut happened = Vec::new();
        let mut heard = dispute.clone();
        for hearing in &hearings {
            let hearing = Box::new(hearing.clone());
            let event = DisputeEvent::JudgeHeard { hearing };
            heard = heard.apply(&event, now)?.0;
            happened.push(event);
        }
        let conclusion = conclusion_of(&dispute.opening, &hearings);
        happened.push(self.deliverable(heard, conclusion, now).await?);
        let mut events = Vec::new();
        let mut findings = Vec::new();
        for event in happened {
            let (after, effects) = dispute.apply(&event, now)?;
            dispute = after;
            findings.extend(effects.into_iter().filter_map(|effect| match effect {
                Effect::TrackFinding(finding) => Some(*finding),
                _ => None,
            }));
            events.push(EventKind::Dispute(event));
        }
        if !findings.is_empty() {
            events.push(EventKind::FindingsTracked { findings });
        }
        crashpoint!("dispute.ruling.before");
        // Answers and what they come to are one write: nobody sees the one without the other.
        case.record(events).await?;
        crashpoint!("dispute.ruling.after");
        Ok(())
    }
}

impl Engine {
    /// Returns what the judges come to, or that a human must rule because it cannot be carried out.
    async fn deliverable(
        &self,
        dispute: Dispute,
        conclusion: DisputeEvent,
        now: Timestamp,
    ) -> Result<DisputeEvent, CaseError> {
        let (after, effects) = dispute.apply(&conclusion, now)?;
        let why = match self.check_deliverable(&after, &effects).await {
            Ok(()) => return Ok(conclusion),
            Err(CaseError::Undeliverable { why, .. }) => why,
            Err(CaseError::Change(error)) => error.to_string(),
            Err(error) => return Err(error),
        };
        let question = format!("{UNDELIVERABLE}{why}");
        Ok(DisputeEvent::DisputeEscalated { question })
    }
}

/// Tells whether a ruling for the coder went to a human because it could not be carried out.
pub(super) fn is_undeliverable(conclusion: &DisputeEvent, happened: &DisputeEvent) -> bool {
    let for_coder = matches!(
        conclusion,
        DisputeEvent::DisputeRuled {
            decision: Decision::Dismiss,
            ..
        }
    );
    let escalated = matches!(
        happened,
        DisputeEvent::DisputeEscalated { question } if question.starts_with(UNDELIVERABLE)
    );
    for_coder && escalated
}

/// Returns the name of the sitting that followed when the dispute was given to a judge for the
/// `sent`-th time.
pub(super) fn sitting_of(sent: usize) -> String {
    format!("rule {sent}")
}

/// Returns the step that draws the seed of a sitting.
pub(super) fn seed_step(sitting: &str) -> String {
    format!("{sitting} seed")
}

/// Returns the step in which the judge in one seat is asked.
pub(super) fn seat_step(sitting: &str, seat: usize, judge: &str) -> String {
    format!("{sitting} seat {seat} {judge}")
}

/// Returns the step in which a judge is asked once more.
pub(super) fn again_step(step: &str) -> String {
    format!("{step} again")
}

/// Returns what the answers of all judges who sat make of the dispute.
pub(super) fn conclusion_of(opening: &Opening, hearings: &[Hearing]) -> DisputeEvent {
    match conclude_on(opening, hearings) {
        Finding::Ruling {
            decision,
            reason,
            reversal,
            ruler,
        } => DisputeEvent::DisputeRuled {
            decision,
            reason,
            reversal,
            ruler,
            terms: Terms::default(),
            overrules: false,
        },
        Finding::Escalation { question } => DisputeEvent::DisputeEscalated { question },
    }
}

/// What is put to each judge.
#[derive(Clone, Copy)]
struct Matter<'a> {
    dispute: &'a Dispute,
    precedents: &'a [Dispute],
    material: &'a str,
    round: &'a str,
    seed: &'a str,
}

impl<'a> Matter<'a> {
    fn prompt(self, nonce: &'a str) -> RulePrompt<'a> {
        RulePrompt {
            nonce,
            dispute: self.dispute,
            precedents: self.precedents,
            material: self.material,
        }
    }

    /// Asks one judge, once more if no answer that counts came.
    async fn ask(
        self,
        asking: Asking<'_>,
        seat: usize,
        judge: JudgeNamed,
    ) -> Result<Hearing, CaseError> {
        let key = seat_step(self.round, seat, &judge.agent);
        let nonce = nonce(self.seed, &key, &self.prompt("").data());
        let question = self.prompt(&nonce).render();
        let name = AgentName::new(judge.agent.clone())
            .map_err(|error| CaseError::Request(error.to_string()))?;
        let mut why = String::new();
        for attempt in 1..=ATTEMPTS {
            let (key, text) = match attempt {
                1 => (key.clone(), question.clone()),
                _ => (again_step(&key), ask_again(&question, &why)),
            };
            let reply = match asking.ask(&name, Role::Judge, &key, text).await? {
                Ok(reply) => reply,
                // Its provider waits; asking at once again would not help.
                Err(Unanswered::Parked(waits)) => {
                    why = waits;
                    break;
                }
                Err(unanswered) => {
                    why = unanswered.why();
                    continue;
                }
            };
            let read = read_signed_ruling(&reply.text, reply.structured.as_ref(), &nonce);
            match read.and_then(JudgeAnswer::checked) {
                Ok(read) => {
                    return Ok(Hearing {
                        judge,
                        answer: Some(read.answer),
                        reason: asking.engine.redactor.redact(&read.reason),
                        reversal: asking.engine.redactor.redact(&read.reversal),
                    });
                }
                Err(problem) => why = problem,
            }
        }
        Ok(Hearing {
            judge,
            answer: None,
            reason: why,
            reversal: String::new(),
        })
    }
}
