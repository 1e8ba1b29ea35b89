//! Where a trial stands, as its events tell, and what must happen next.
//!
//! designing → contending → empanelling → judging → verdict → decree → complete. Every failure is a
//! state of its own that remembers its phase; a resumed trial goes on from there.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Contestant, Decree, Hindsight, Panel};
use crate::event::TrialEvent;
use crate::verdict::Verdict;

/// A part of a trial.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It is decided who takes part.
    Designing,
    /// Contestants answer.
    Contending,
    /// The arbiter designs judges for the answers.
    Empanelling,
    /// Judges score.
    Judging,
    /// The scores become a verdict.
    Verdict,
    /// A person says what is done about it.
    Decree,
    /// Nothing is left to do.
    Complete,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Designing => "designing",
            Self::Contending => "contending",
            Self::Empanelling => "empanelling",
            Self::Judging => "judging",
            Self::Verdict => "verdict",
            Self::Decree => "decree",
            Self::Complete => "complete",
        })
    }
}

/// Where a trial stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// It is in this phase.
    In {
        /// Which one.
        phase: Phase,
    },
    /// It cannot go on by itself; resuming tries the phase again.
    Failed {
        /// Where it failed.
        phase: Phase,
        /// Why, in one sentence.
        cause: String,
    },
}

/// What came of a contestant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// It handed in the output with this hash.
    Answered {
        /// Hash of the stored output.
        output: String,
    },
    /// It did not.
    Failed {
        /// Why.
        why: String,
    },
}

/// What came of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scored {
    /// It scored everybody.
    Scored {
        /// Hash of the stored evaluation.
        evaluation: String,
        /// Hash of the one in reverse order, where both were asked for.
        swapped: Option<String>,
    },
    /// It did not, and does not count.
    Failed {
        /// Why.
        why: String,
    },
}

/// What must happen next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Decide who takes part.
    DesignContestants,
    /// Hear these contestants, at the same time.
    Contend(Vec<Contestant>),
    /// Design judges for what these contestants handed in.
    Empanel(Vec<Contestant>),
    /// Hear these judges, at the same time.
    Judge(Vec<super::Judge>),
    /// Make the verdict.
    Decide,
    /// Give up this phase for the cause.
    Fail {
        /// Why, in one sentence.
        cause: String,
    },
    /// Wait for a person.
    AwaitDecree,
    /// Nothing.
    Rest,
}

/// An event that cannot have happened in this state.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{what}` does not follow in a trial that is {phase}")]
pub struct OutOfOrder {
    /// The event.
    pub what: &'static str,
    /// The phase it came in.
    pub phase: Phase,
}

/// How often those who take part failed, so that asking again is a new step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setbacks {
    contestants: BTreeMap<String, u32>,
    judges: BTreeMap<String, u32>,
}

impl Setbacks {
    /// Returns which attempt of a contestant the next one is, from 1.
    #[must_use]
    pub fn contestant_attempt(&self, id: &str) -> u32 {
        self.contestants.get(id).map_or(1, |failed| failed + 1)
    }

    /// Returns which attempt of a judge the next one is, from 1.
    #[must_use]
    pub fn judge_attempt(&self, id: &str) -> u32 {
        self.judges.get(id).map_or(1, |failed| failed + 1)
    }
}

/// A trial, rebuilt from its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Where it stands.
    pub state: State,
    /// Who takes part, with what came of them.
    pub contestants: Vec<(Contestant, Option<Heard>)>,
    /// The judges, once designed.
    pub panel: Option<Panel>,
    /// What came of each judge, in the order of the panel.
    pub scored: Vec<Option<Scored>>,
    /// How often each contestant and each judge failed so far, by their ids.
    pub setbacks: Setbacks,
    /// The verdict, once reached.
    pub verdict: Option<Verdict>,
    /// The decree, once issued, with its note.
    pub decree: Option<(Decree, Option<String>)>,
    /// What turned out afterwards, once somebody said so.
    pub hindsight: Option<Hindsight>,
}

impl Default for Trial {
    fn default() -> Self {
        Self {
            state: State::In {
                phase: Phase::Designing,
            },
            contestants: Vec::new(),
            panel: None,
            scored: Vec::new(),
            setbacks: Setbacks::default(),
            verdict: None,
            decree: None,
            hindsight: None,
        }
    }
}

impl Trial {
    /// Returns the phase, also of a trial that failed in it.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match &self.state {
            State::In { phase } | State::Failed { phase, .. } => *phase,
        }
    }

    /// Returns the contestants who handed something in, with the hash of what.
    pub fn answered(&self) -> impl Iterator<Item = (&Contestant, &str)> {
        self.contestants
            .iter()
            .filter_map(|(one, heard)| match heard {
                Some(Heard::Answered { output }) => Some((one, output.as_str())),
                Some(Heard::Failed { .. }) | None => None,
            })
    }

    /// Tells whether it failed and nobody has taken it up since.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self.state, State::Failed { .. })
    }

    /// Takes up a trial that failed: whoever failed in that phase is tried again.
    pub fn take_up(&mut self) {
        let State::Failed { phase, .. } = &self.state else {
            return;
        };
        let phase = *phase;
        self.state = State::In { phase };
        if phase == Phase::Contending {
            for (_, heard) in &mut self.contestants {
                if matches!(heard, Some(Heard::Failed { .. })) {
                    *heard = None;
                }
            }
        }
        if matches!(phase, Phase::Judging | Phase::Verdict) {
            self.state = State::In {
                phase: Phase::Judging,
            };
            for scored in &mut self.scored {
                if matches!(scored, Some(Scored::Failed { .. })) {
                    *scored = None;
                }
            }
        }
    }

    /// Returns what must happen next.
    #[must_use]
    pub fn next(&self) -> Next {
        let State::In { phase } = self.state else {
            return Next::Rest;
        };
        match phase {
            Phase::Designing => Next::DesignContestants,
            Phase::Contending => self.next_contending(),
            Phase::Empanelling => {
                Next::Empanel(self.answered().map(|(one, _)| one.clone()).collect())
            }
            Phase::Judging => self.next_judging(),
            Phase::Verdict => Next::Decide,
            Phase::Decree => Next::AwaitDecree,
            Phase::Complete => Next::Rest,
        }
    }

    fn next_contending(&self) -> Next {
        let open = self.contestants.iter().filter(|(_, heard)| heard.is_none());
        let open: Vec<Contestant> = open.map(|(one, _)| one.clone()).collect();
        if !open.is_empty() {
            return Next::Contend(open);
        }
        Next::Fail {
            cause: format!("all contestants failed: {}", self.first_failure()),
        }
    }

    fn next_judging(&self) -> Next {
        let judges = self.panel.iter().flat_map(|panel| &panel.judges);
        let open = judges
            .zip(&self.scored)
            .filter(|(_, scored)| scored.is_none());
        let open: Vec<super::Judge> = open.map(|(judge, _)| judge.clone()).collect();
        if !open.is_empty() {
            return Next::Judge(open);
        }
        let why = self.scored.iter().find_map(|scored| match scored {
            Some(Scored::Failed { why }) => Some(why.as_str()),
            _ => None,
        });
        Next::Fail {
            cause: format!("all judges failed: {}", why.unwrap_or("nobody sat")),
        }
    }

    fn first_failure(&self) -> &str {
        let failures = self
            .contestants
            .iter()
            .filter_map(|(_, heard)| match heard {
                Some(Heard::Failed { why }) => Some(why.as_str()),
                _ => None,
            });
        failures.into_iter().next().unwrap_or("there was none")
    }

    /// Takes note of what happened.
    pub fn apply(&mut self, event: &TrialEvent) -> Result<(), OutOfOrder> {
        // A trial that failed is taken up by whoever hears somebody in it again.
        if self.is_failed() && event.hears_somebody() {
            self.take_up();
        }
        let phase = self.phase();
        let in_phase = |wanted: Phase| match phase == wanted {
            true => Ok(()),
            false => Err(OutOfOrder {
                what: event.type_name(),
                phase,
            }),
        };
        match event {
            TrialEvent::TrialOpened { .. } => in_phase(Phase::Designing)?,
            TrialEvent::ContestantsDesigned { contestants, .. } => {
                in_phase(Phase::Designing)?;
                self.contestants = contestants.iter().map(|one| (one.clone(), None)).collect();
                self.enter(Phase::Contending);
            }
            TrialEvent::ContestantStarted { .. } => in_phase(Phase::Contending)?,
            TrialEvent::ContestantFinished {
                contestant, output, ..
            } => {
                in_phase(Phase::Contending)?;
                let output = output.clone();
                self.hear(contestant, Heard::Answered { output });
            }
            TrialEvent::ContestantFailed {
                contestant, why, ..
            } => {
                in_phase(Phase::Contending)?;
                let failed = self.setbacks.contestants.entry(contestant.clone());
                *failed.or_default() += 1;
                self.hear(contestant, Heard::Failed { why: why.clone() });
            }
            TrialEvent::ArbiterStarted { .. } => in_phase(Phase::Empanelling)?,
            TrialEvent::PanelDesigned { panel, .. } => {
                in_phase(Phase::Empanelling)?;
                self.scored = vec![None; panel.judges.len()];
                self.panel = Some(panel.clone());
                self.enter(Phase::Judging);
            }
            TrialEvent::JudgingStarted { .. } | TrialEvent::JudgeStarted { .. } => {
                in_phase(Phase::Judging)?;
            }
            TrialEvent::JudgeFinished {
                judge,
                evaluation,
                swapped,
                ..
            } => {
                in_phase(Phase::Judging)?;
                let scored = Scored::Scored {
                    evaluation: evaluation.clone(),
                    swapped: swapped.clone(),
                };
                self.score(judge, scored);
            }
            TrialEvent::JudgeFailed { judge, why, .. } => {
                in_phase(Phase::Judging)?;
                let failed = self.setbacks.judges.entry(judge.clone());
                *failed.or_default() += 1;
                self.score(judge, Scored::Failed { why: why.clone() });
            }
            TrialEvent::VerdictReached { verdict, .. } => {
                in_phase(Phase::Verdict)?;
                self.verdict = Some(verdict.clone());
                self.enter(Phase::Decree);
            }
            TrialEvent::TrialFailed { phase, cause } => {
                self.state = State::Failed {
                    phase: *phase,
                    cause: cause.clone(),
                };
            }
            TrialEvent::DecreeIssued { decree, note } => {
                in_phase(Phase::Decree)?;
                self.decree = Some((decree.clone(), note.clone()));
                self.enter(Phase::Complete);
            }
            TrialEvent::HindsightStated { contestant, note } => {
                in_phase(Phase::Complete)?;
                self.hindsight = Some(Hindsight {
                    contestant: contestant.clone(),
                    note: note.clone(),
                });
            }
        }
        Ok(())
    }

    fn enter(&mut self, phase: Phase) {
        self.state = State::In { phase };
    }

    /// Notes what came of a contestant; when nobody is left to wait for, judges are designed.
    fn hear(&mut self, id: &str, outcome: Heard) {
        if let Some((_, heard)) = self.contestants.iter_mut().find(|(one, _)| one.id == id) {
            *heard = Some(outcome);
        }
        let all_heard = self.contestants.iter().all(|(_, heard)| heard.is_some());
        if all_heard && self.answered().next().is_some() {
            self.enter(Phase::Empanelling);
        }
    }

    /// Notes what came of a judge; when nobody is left to wait for, there is a verdict.
    fn score(&mut self, id: &str, outcome: Scored) {
        let judges = self.panel.iter().flat_map(|panel| &panel.judges);
        let place = judges.into_iter().position(|judge| judge.id == id);
        if let Some(scored) = place.and_then(|place| self.scored.get_mut(place)) {
            *scored = Some(outcome);
        }
        let is_scored = |scored: &Option<Scored>| matches!(scored, Some(Scored::Scored { .. }));
        if self.scored.iter().all(Option::is_some) && self.scored.iter().any(is_scored) {
            self.enter(Phase::Verdict);
        }
    }
}

#[cfg(test)]
mod tests;
