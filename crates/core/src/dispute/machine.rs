//! How a dispute changes: what each event does in each state, and what must happen because of it.

use super::{
    Chooser, Decision, Dispute, DisputeState, Gravity, Opening, Origin, Party, Position, Recourse,
    Referral, Refusal, Ruler, Ruling,
};
use crate::event::DisputeEvent;
use crate::ids::DisputeId;
use crate::review::history::TrackedFinding;
use crate::review::report::Standing;
use crate::time::Timestamp;

/// What must happen because of a change, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// The finding stands differently; stored together with the change itself.
    TrackFinding(Box<TrackedFinding>),
    /// The task is marked differently.
    MarkTask {
        /// Its id.
        task: String,
        /// How.
        change: TaskChange,
    },
    /// `dispute.md` is rendered again.
    RenderFile,
    /// The contested work on the task is kept on a branch of its own and pushed, as configured.
    KeepWork {
        /// The task's id.
        task: String,
    },
    /// The work on the task is put with the approved work and pushed, as configured.
    ApproveWork {
        /// The task's id.
        task: String,
    },
    /// The task waits for another dispute now.
    ReferNext {
        /// Which.
        dispute: DisputeId,
        /// With what it is handed on.
        referral: Box<Referral>,
    },
}

/// What a dispute does to its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskChange {
    /// `[!]`: it waits for a ruling, and the loop goes on.
    Disputed,
    /// `[x]`: the coder's work holds.
    Completed,
    /// `[ ]`: the coder is right, but nobody has begun, so there is no work that could hold.
    PutBack,
    /// `[-]`: the coder works on it again, by these instructions.
    BackToCoder {
        /// What the ruling says.
        instructions: String,
    },
}

impl Dispute {
    /// Returns a new dispute and what must happen because of it.
    pub fn open(
        id: DisputeId,
        opening: Opening,
        at: Timestamp,
    ) -> Result<(Self, Vec<Effect>), Refusal> {
        let sides = [
            (Party::Coder, &opening.coder),
            (Party::Reviewer, &opening.reviewer),
        ];
        for (party, position) in sides {
            if let Some(position) = position {
                check_position(party, position)?;
            }
        }
        let state = match (opening.gravity, &opening.coder, &opening.reviewer) {
            (Gravity::Minor, ..) if opening.notes.trim().is_empty() => {
                return Err(Refusal::NoNotes);
            }
            (Gravity::Minor, ..) => DisputeState::Noted,
            (Gravity::Major, Some(_), Some(_)) => DisputeState::Open,
            (Gravity::Major, Some(_), None) => DisputeState::AwaitingPosition {
                from: Party::Reviewer,
            },
            (Gravity::Major, None, Some(_)) => {
                DisputeState::AwaitingPosition { from: Party::Coder }
            }
            (Gravity::Major, None, None) if opening.origin == Origin::System => {
                DisputeState::AwaitingHuman {
                    question: "the program gave up on it".to_owned(),
                }
            }
            (Gravity::Major, None, None) => return Err(Refusal::NoPosition),
        };
        let dispute = Self {
            id,
            opening,
            state,
            recourse: None,
            hearings: Vec::new(),
            rulings: Vec::new(),
            opened_at: at,
            precedent_dropped: false,
            alerts: super::Alerts::default(),
            referral: None,
        };
        let effects = match dispute.opening.gravity {
            Gravity::Minor => Vec::new(),
            Gravity::Major => {
                let mut effects = dispute.finding_effects(Standing::Contested);
                effects.extend(dispute.opening_effects());
                effects
            }
        };
        Ok((dispute, effects))
    }

    /// Returns the dispute after `event`, and what must happen because of it.
    pub fn apply(
        mut self,
        event: &DisputeEvent,
        at: Timestamp,
    ) -> Result<(Self, Vec<Effect>), Refusal> {
        match event {
            DisputeEvent::DisputeOpened { .. } => Err(self.refuse_second_opening()),
            DisputeEvent::PositionStated {
                party,
                position,
                files,
                material,
            } => {
                self.check_undecided()?;
                check_position(*party, position)?;
                let place = match party {
                    Party::Coder => &mut self.opening.coder,
                    Party::Reviewer => &mut self.opening.reviewer,
                };
                if place.is_some() {
                    let (id, party) = (self.id, *party);
                    return Err(Refusal::AlreadyStated { id, party });
                }
                *place = Some(position.clone());
                if !files.is_empty() {
                    self.opening.files.clone_from(files);
                    self.opening.material.clone_from(material);
                }
                if self.missing().is_none()
                    && matches!(self.state, DisputeState::AwaitingPosition { .. })
                {
                    self.state = DisputeState::Open;
                }
                Ok((self, vec![Effect::RenderFile]))
            }
            DisputeEvent::RecourseChosen { recourse, by } => {
                self.check_undecided()?;
                self.choose(*recourse, *by)?;
                Ok((self, vec![Effect::RenderFile]))
            }
            DisputeEvent::JudgeHeard { hearing } => {
                self.check_before_judge()?;
                self.hearings.push(hearing.as_ref().clone());
                Ok((self, Vec::new()))
            }
            DisputeEvent::DisputeEscalated { question } => {
                self.check_before_judge()?;
                let question = question.clone();
                self.state = DisputeState::AwaitingHuman { question };
                Ok((self, vec![Effect::RenderFile]))
            }
            DisputeEvent::DisputeRuled {
                decision,
                reason,
                reversal,
                ruler,
                terms,
                overrules,
            } => {
                let ruling = Ruling {
                    decision: decision.clone(),
                    reason: reason.clone(),
                    reversal: reversal.clone(),
                    ruler: ruler.clone(),
                    terms: terms.clone(),
                    at,
                };
                self.rule(ruling, *overrules)
            }
            DisputeEvent::DisputeReferred { referral } => self.refer(referral.as_ref().clone()),
            DisputeEvent::AlertAttempted { delivered, .. } => {
                self.check_undecided()?;
                self.alerts.count(at, *delivered);
                Ok((self, Vec::new()))
            }
            DisputeEvent::PrecedentDropped { .. } => {
                if self.rulings.is_empty() {
                    return Err(Refusal::NoRuling { id: self.id });
                }
                if self.precedent_dropped {
                    return Err(Refusal::AlreadyDropped { id: self.id });
                }
                self.precedent_dropped = true;
                // Its finding counts again, as if it had never been ruled on.
                let finding = self.opening.subject.finding().cloned();
                let freed = finding.map(|finding| TrackedFinding {
                    standing: Standing::Open,
                    ..finding
                });
                let freed = freed.map(|finding| Effect::TrackFinding(Box::new(finding)));
                let effects = freed.into_iter().chain([Effect::RenderFile]);
                Ok((self, effects.collect()))
            }
        }
    }

    /// Returns whose position is missing.
    #[must_use]
    pub fn missing(&self) -> Option<Party> {
        let sides = [Party::Coder, Party::Reviewer];
        sides
            .into_iter()
            .find(|side| self.position(*side).is_none())
    }

    fn choose(&mut self, recourse: Recourse, by: Chooser) -> Result<(), Refusal> {
        match recourse {
            Recourse::Judge => {
                if let Some(from) = self.missing() {
                    let id = self.id.clone();
                    return Err(Refusal::MissingPosition { id, from });
                }
                self.state = DisputeState::BeforeJudge;
            }
            Recourse::Human => {
                let question = by.why_human().to_owned();
                self.state = DisputeState::AwaitingHuman { question };
            }
            // The ruling follows at once.
            Recourse::Discard => {}
        }
        self.recourse = Some(recourse);
        Ok(())
    }

    fn rule(mut self, ruling: Ruling, overrules: bool) -> Result<(Self, Vec<Effect>), Refusal> {
        if let DisputeState::Noted = self.state {
            return Err(Refusal::Minor { id: self.id });
        }
        match (self.rulings.last(), overrules) {
            // Whatever was ruled, only a person who says so can rule otherwise.
            (Some(_), true) if ruling.ruler == Ruler::Human => {}
            (Some(before), _) => return Err(self.already_ruled(before)),
            (None, true) => return Err(Refusal::NothingToOverrule { id: self.id }),
            (None, false) => {}
        }
        if ruling.reason.trim().is_empty() {
            return Err(Refusal::EmptyReason);
        }
        if matches!(&ruling.decision, Decision::Amend { instructions } if instructions.trim().is_empty())
        {
            return Err(Refusal::EmptyInstructions);
        }
        self.check_authority(&ruling)?;
        let (standing, change) = consequences(&ruling);
        self.rulings.push(ruling);
        self.state = DisputeState::Ruled;
        let mut effects = self.finding_effects(standing);
        effects.extend(self.ruling_effects(change));
        Ok((self, effects))
    }

    /// Lets a task wait for this dispute about a finding of its work. If it was ruled meanwhile, the
    /// ruling takes hold at once.
    fn refer(mut self, referral: Referral) -> Result<(Self, Vec<Effect>), Refusal> {
        if let DisputeState::Noted = self.state {
            return Err(Refusal::Minor { id: self.id });
        }
        if self.opening.subject.task().is_some() {
            return Err(Refusal::NotReferable { id: self.id });
        }
        self.referral = Some(referral);
        let effects = match self.ruling() {
            Some(ruling) => self.ruling_effects(consequences(ruling).1),
            None => self.opening_effects(),
        };
        Ok((self, effects))
    }

    /// Checks that this ruler may rule so: judges by their answers only, a discard only dismisses.
    fn check_authority(&self, ruling: &Ruling) -> Result<(), Refusal> {
        let unsupported = || Refusal::Unsupported {
            id: self.id.clone(),
        };
        let agrees = |hearing: &super::Hearing| {
            let decision = hearing.answer.and_then(super::Answer::decision);
            decision.as_ref() == Some(&ruling.decision)
        };
        match &ruling.ruler {
            Ruler::Human => Ok(()),
            Ruler::Discard | Ruler::Config => match ruling.decision {
                Decision::Dismiss => Ok(()),
                Decision::Enforce | Decision::Amend { .. } => Err(unsupported()),
            },
            Ruler::Judge { judge } => {
                self.check_before_judge()?;
                let last = self.hearings.last();
                let carried = last.filter(|one| agrees(one) && one.judge == *judge);
                carried.map(|_| ()).ok_or_else(unsupported)
            }
            Ruler::Jury { votes, seats } => {
                self.check_before_judge()?;
                let seats = usize::try_from(*seats).unwrap_or(usize::MAX);
                let sat = self.hearings.len().checked_sub(seats);
                let sat = sat.map(|first| &self.hearings[first..]).unwrap_or_default();
                let agreed = sat.iter().filter(|one| agrees(one)).count();
                let told = usize::try_from(*votes).unwrap_or(usize::MAX);
                if agreed == told && agreed * 2 > seats {
                    Ok(())
                } else {
                    Err(unsupported())
                }
            }
        }
    }

    fn check_undecided(&self) -> Result<(), Refusal> {
        match (&self.state, self.rulings.last()) {
            (DisputeState::Noted, _) => Err(Refusal::Minor {
                id: self.id.clone(),
            }),
            (_, Some(before)) => Err(self.already_ruled(before)),
            (_, None) => Ok(()),
        }
    }

    fn check_before_judge(&self) -> Result<(), Refusal> {
        self.check_undecided()?;
        match self.state {
            DisputeState::BeforeJudge => Ok(()),
            _ => Err(Refusal::NotBeforeJudge {
                id: self.id.clone(),
            }),
        }
    }

    fn already_ruled(&self, before: &Ruling) -> Refusal {
        Refusal::AlreadyRuled {
            id: self.id.clone(),
            decision: before.decision.word(),
            by: before.ruler.phrase(),
        }
    }

    fn refuse_second_opening(&self) -> Refusal {
        match self.rulings.last() {
            Some(before) => self.already_ruled(before),
            None => Refusal::AlreadyStated {
                id: self.id.clone(),
                party: Party::Coder,
            },
        }
    }

    /// Returns what becomes of the finding.
    fn finding_effects(&self, standing: Standing) -> Vec<Effect> {
        let finding = self.opening.subject.finding();
        let tracked = finding.map(|finding| TrackedFinding {
            standing,
            ..finding.clone()
        });
        let tracked = tracked.map(|finding| Effect::TrackFinding(Box::new(finding)));
        tracked.into_iter().collect()
    }

    /// Returns what becomes of the task while nobody has ruled.
    fn opening_effects(&self) -> Vec<Effect> {
        let Some(task) = self.task().map(str::to_owned) else {
            return vec![Effect::RenderFile];
        };
        let mark = Effect::MarkTask {
            task: task.clone(),
            change: TaskChange::Disputed,
        };
        vec![mark, Effect::RenderFile, Effect::KeepWork { task }]
    }

    /// Returns what becomes of the task after a ruling.
    fn ruling_effects(&self, change: TaskChange) -> Vec<Effect> {
        let Some(task) = self.task().map(str::to_owned) else {
            return vec![Effect::RenderFile];
        };
        let change = match &self.referral {
            None => change,
            Some(referral) => {
                let to_do = self.to_do(referral, &change);
                if let Some((first, others)) = referral.next.split_first() {
                    let referral = Referral {
                        next: others.to_vec(),
                        rest: to_do,
                        ..referral.clone()
                    };
                    let next = Effect::ReferNext {
                        dispute: first.clone(),
                        referral: Box::new(referral),
                    };
                    return vec![Effect::RenderFile, next];
                }
                match to_do.is_empty() {
                    true => TaskChange::Completed,
                    false => TaskChange::BackToCoder {
                        instructions: to_do,
                    },
                }
            }
        };
        let completed = change == TaskChange::Completed;
        let mark = Effect::MarkTask {
            task: task.clone(),
            change,
        };
        // Work that cannot be delivered completes no task, so it is delivered first.
        let approve = completed.then_some(Effect::ApproveWork { task });
        let effects = approve.into_iter().chain([mark, Effect::RenderFile]);
        effects.collect()
    }

    /// Returns all that the coder has to do about the work, this ruling included.
    fn to_do(&self, referral: &Referral, change: &TaskChange) -> String {
        let own = match change {
            TaskChange::BackToCoder { instructions } => {
                let subject = &self.opening.subject;
                let place = subject.finding().map(|one| format!(" ({})", one.location));
                let place = place.unwrap_or_default();
                format!("Ruled about \"{}\"{place}: {instructions}", subject.title())
            }
            TaskChange::Completed | TaskChange::PutBack | TaskChange::Disputed => String::new(),
        };
        let parts = [referral.rest.as_str(), &own];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }
}

/// Returns how the finding stands after a ruling, and what becomes of the task.
fn consequences(ruling: &Ruling) -> (Standing, TaskChange) {
    match &ruling.decision {
        Decision::Dismiss => (Standing::Dismissed, TaskChange::Completed),
        Decision::Enforce => (
            Standing::Upheld,
            TaskChange::BackToCoder {
                instructions: ruling.reason.clone(),
            },
        ),
        Decision::Amend { instructions } => (
            Standing::Upheld,
            TaskChange::BackToCoder {
                instructions: instructions.clone(),
            },
        ),
    }
}

fn check_position(party: Party, position: &Position) -> Result<(), Refusal> {
    if position.text.trim().is_empty() {
        return Err(Refusal::EmptyPosition { party });
    }
    Ok(())
}
