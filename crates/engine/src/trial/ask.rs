//! Puts the questions of a trial as durable steps: what was answered once is never paid again.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tribunal_agents::{AgentError, Reply};
use tribunal_core::agent::{Access, ErrorClass, Role};
use tribunal_core::case::Pause;
use tribunal_core::ids::{AgentName, RunId, StepKey};
use tribunal_core::money::Cost;
use tribunal_core::prompt::ask_again;

use super::Hall;
use crate::call::{Question, Seat, priced};
use crate::case::{CaseError, Then};

/// One question of a trial.
pub(super) struct Ask<'a> {
    pub(super) agent: &'a AgentName,
    pub(super) role: Role,
    pub(super) key: String,
    /// Which attempt it is, from 1: those before led to nothing that could be used.
    pub(super) attempt: u32,
    pub(super) prompt: String,
    pub(super) access: Access,
    pub(super) directory: &'a Path,
    /// What is different from the agent's own settings.
    pub(super) manner: Manner,
}

/// In what an agent differs from its settings for one question.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    pub(super) temperature_milli: Option<u32>,
    pub(super) wall: Option<Duration>,
    /// Its answer may be at least so long, in tokens, however short it is kept otherwise.
    pub(super) room: Option<u32>,
}

impl Manner {
    fn apply(self, mut seat: Seat) -> Seat {
        if self.temperature_milli.is_some() {
            seat.temperature_milli = self.temperature_milli;
        }
        if let Some(wall) = self.wall {
            seat.limits.wall = seat.limits.wall.min(wall);
        }
        if let Some(room) = self.room {
            seat.max_output_tokens = seat.max_output_tokens.map(|most| most.max(room));
        }
        seat
    }
}

/// Why no usable answer came.
#[derive(Debug)]
pub(super) struct Unheard {
    pub(super) why: String,
    pub(super) class: Option<ErrorClass>,
    /// What was paid for it all the same.
    pub(super) cost: Cost,
}

/// An answer that could be used, and what it cost with all that was asked for it.
pub(super) struct Used<T> {
    pub(super) answer: T,
    pub(super) cost: Cost,
}

/// The recorded result of a step: which run answered. The answer lies in the run's files.
#[derive(Debug, Serialize, Deserialize)]
struct StepOutput {
    run: RunId,
}

/// Where an answer may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// From the ledger alone.
    Recorded,
    /// From the agent, if the ledger has none.
    Asked,
}

/// Returns the step of a question. Each attempt is a step of its own, because the answer of a finished
/// one is never asked for again.
pub(super) fn step_of(key: &str, attempt: u32) -> Result<StepKey, CaseError> {
    Ok(match attempt {
        0 | 1 => StepKey::new(key)?,
        more => StepKey::new(format!("{key} attempt {more}"))?,
    })
}

impl Hall<'_> {
    /// Puts one question and returns the reply with its cost.
    pub(super) async fn ask(
        &self,
        ask: Ask<'_>,
    ) -> Result<Result<(Reply, Cost), Unheard>, CaseError> {
        let step = step_of(&ask.key, ask.attempt)?;
        let question = Question {
            agent: ask.agent.clone(),
            role: ask.role,
            prompt: ask.prompt,
            system: None,
            schema: None,
            access: ask.access,
            directory: ask.directory.to_owned(),
        };
        let seat = ask.manner.apply(self.engine.seat(ask.agent)?);
        let price = seat.price;
        let (mut heard, mut failure) = (None, None);
        let work = async {
            let put = self.engine.put_to(self.case, &step, &question, seat);
            match put.await? {
                Ok(answer) => {
                    heard = Some(answer.reply);
                    Ok(Some(StepOutput { run: answer.run }))
                }
                Err(error) => {
                    failure = Some(error);
                    Ok(None)
                }
            }
        };
        match self.case.step_if_answered(&step, Then::GoOn, work).await {
            Ok(Some(output)) => {
                let reply = self.engine.reply_heard(heard, &output.run)?;
                let cost = priced(reply.cost, reply.usage, price);
                Ok(Ok((reply, cost)))
            }
            Ok(None) => {
                let unknown = || AgentError::new(ErrorClass::Crash, "no answer came");
                let error = failure.unwrap_or_else(unknown);
                Ok(Err(Unheard {
                    why: error.message,
                    class: Some(error.class),
                    cost: error.cost,
                }))
            }
            // One provider that waits does not hold up the others.
            Err(CaseError::Parked {
                why: Pause::Provider { provider, class },
                ..
            }) => Ok(Err(Unheard {
                why: format!("{provider} cannot answer now ({class})"),
                class: Some(class),
                cost: Cost::Unknown,
            })),
            Err(error) => Err(error),
        }
    }

    /// Asks until `read` can use the answer: twice at most, the second time naming the problem.
    ///
    /// Where attempts came before, answers of theirs that can be used are taken and not paid for again.
    pub(super) async fn ask_for<T>(
        &self,
        ask: Ask<'_>,
        read: impl Fn(&Reply) -> Result<T, String>,
    ) -> Result<Result<Used<T>, Unheard>, CaseError> {
        for attempt in 1..ask.attempt {
            let earlier = Ask {
                key: ask.key.clone(),
                prompt: ask.prompt.clone(),
                attempt,
                ..ask
            };
            if !self.case.has_finished(&step_of(&ask.key, attempt)?).await? {
                continue;
            }
            if let Ok(used) = self.attempt_for(earlier, Known::Recorded, &read).await? {
                return Ok(Ok(used));
            }
        }
        self.attempt_for(ask, Known::Asked, &read).await
    }

    async fn attempt_for<T>(
        &self,
        ask: Ask<'_>,
        known: Known,
        read: impl Fn(&Reply) -> Result<T, String>,
    ) -> Result<Result<Used<T>, Unheard>, CaseError> {
        let attempt = ask.attempt;
        let (key, prompt) = (ask.key.clone(), ask.prompt.clone());
        let (agent, role, access) = (ask.agent, ask.role, ask.access);
        let (directory, manner) = (ask.directory, ask.manner);
        let (first, spent) = match self.ask(ask).await? {
            Ok(heard) => heard,
            Err(unheard) => return Ok(Err(unheard)),
        };
        let problem = match read(&first) {
            Ok(answer) => {
                return Ok(Ok(Used {
                    answer,
                    cost: spent,
                }));
            }
            Err(problem) => problem,
        };
        let key = format!("{key} again");
        let is_known = || async { self.case.has_finished(&step_of(&key, attempt)?).await };
        if known == Known::Recorded && !is_known().await? {
            return Ok(Err(Unheard {
                why: problem,
                class: Some(ErrorClass::Garbled),
                cost: spent,
            }));
        }
        let again = Ask {
            agent,
            role,
            key,
            attempt,
            prompt: ask_again(&prompt, &problem),
            access,
            directory,
            manner,
        };
        Ok(match self.ask(again).await? {
            Ok((second, more)) => match read(&second) {
                Ok(answer) => Ok(Used {
                    answer,
                    cost: spent + more,
                }),
                Err(why) => Err(Unheard {
                    why: format!("its answer cannot be used: {why}"),
                    class: Some(ErrorClass::Garbled),
                    cost: spent + more,
                }),
            },
            Err(unheard) => Err(Unheard {
                cost: spent + unheard.cost,
                ..unheard
            }),
        })
    }
}
