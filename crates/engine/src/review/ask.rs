//! Puts the questions of a review as durable steps: what was answered once is never paid again.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tribunal_agents::{AgentError, Reply};
use tribunal_core::agent::{Access, ErrorClass, Role};
use tribunal_core::case::Pause;
use tribunal_core::ids::{AgentName, RunId, StepKey};

use super::recorded_names::RecordedNames;
use crate::Engine;
use crate::call::Question;
use crate::case::{Case, CaseError, Then};

/// Where questions are put and recorded.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) case: &'a Case,
    /// Where agents work that look at files.
    pub(crate) directory: &'a Path,
}

/// Why no answer came.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The run failed.
    Failed(AgentError),
    /// The provider waits; others go on.
    Parked(String),
}

impl Unanswered {
    /// Returns the reason in one sentence.
    pub(crate) fn why(self) -> String {
        match self {
            Self::Failed(error) => error.message,
            Self::Parked(why) => why,
        }
    }

    /// Tells whether the question was too long for the model.
    pub(crate) fn is_too_long(&self) -> bool {
        match self {
            Self::Failed(error) => error.class == ErrorClass::ContextTooLong,
            Self::Parked(_) => false,
        }
    }
}

/// Returns the step of a question. Each attempt is a step of its own, because the answer of a finished
/// one is never asked for again.
pub(crate) fn attempt_step(key: &str, attempt: u32) -> String {
    match attempt {
        0 | 1 => key.to_owned(),
        more => format!("{key} attempt {more}"),
    }
}

/// Returns the step in which the question of `key` is put once more, with what was wrong.
pub(crate) fn repeated_step(key: &str) -> String {
    format!("{key} again")
}

/// The recorded result of a step: which run answered. The answer lies in the run's files.
#[derive(Debug, Serialize, Deserialize)]
struct StepOutput {
    run: RunId,
}

impl Asking<'_> {
    /// Tells whether the answers to this attempt were complete before this sitting began, so that they
    /// are asked for anew where they cannot be used.
    ///
    /// A review that is only done again asks as often as the recorded one did.
    pub(crate) async fn may_ask_anew(
        self,
        recorded: &RecordedNames,
        key: &str,
        attempt: u32,
    ) -> Result<bool, CaseError> {
        if recorded.was_asked(&attempt_step(key, attempt + 1)) {
            return Ok(true);
        }
        let last = StepKey::new(repeated_step(&attempt_step(key, attempt)))?;
        self.case.has_finished(&last).await
    }

    /// Puts one question and returns the reply.
    pub(crate) async fn ask(
        self,
        agent: &AgentName,
        role: Role,
        key: &str,
        prompt: String,
    ) -> Result<Result<Reply, Unanswered>, CaseError> {
        let step = StepKey::new(key)?;
        let question = Question {
            agent: agent.clone(),
            role,
            prompt,
            system: None,
            schema: None,
            access: Access::ReadOnly,
            directory: self.directory.to_owned(),
        };
        let (mut heard, mut failure) = (None, None);
        let work = async {
            match self.engine.put(self.case, &step, &question).await? {
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
            Ok(Some(output)) => Ok(Ok(self.engine.reply_heard(heard, &output.run)?)),
            Ok(None) => {
                let unknown = || AgentError::new(ErrorClass::Crash, "no answer came");
                Ok(Err(Unanswered::Failed(failure.unwrap_or_else(unknown))))
            }
            // One provider that waits does not hold up the others.
            Err(CaseError::Parked {
                why: Pause::Provider { provider, class },
                ..
            }) => {
                let text = format!("{provider} cannot answer now ({class})");
                Ok(Err(Unanswered::Parked(text)))
            }
            Err(error) => Err(error),
        }
    }
}
