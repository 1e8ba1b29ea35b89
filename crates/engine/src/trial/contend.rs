//! Contestants at work, all at the same time; one that fails does not stop the others.

use std::time::Duration;

use futures_util::future::join_all;
use tribunal_core::agent::{Access, Role};
use tribunal_core::event::{EventKind, TrialEvent};
use tribunal_core::money::Cost;
use tribunal_core::prompt::ContestantPrompt;
use tribunal_core::trial::{Contestant, Mode, Output, Trial};

use super::ask::{Ask, Manner, Unheard};
use super::{Hall, follow};
use crate::case::CaseError;

impl Hall<'_> {
    /// Hears these contestants.
    pub(super) async fn contend(
        &self,
        trial: &mut Trial,
        open: Vec<Contestant>,
    ) -> Result<(), CaseError> {
        let setbacks = &trial.setbacks;
        let heard = join_all(open.iter().map(|one| {
            let attempt = setbacks.contestant_attempt(&one.id);
            self.hear(one, attempt)
        }))
        .await;
        let mut stopped = None;
        for event in heard {
            match event {
                Ok(event) => follow(trial, &event)?,
                Err(error) => stopped = stopped.or(Some(error)),
            }
        }
        stopped.map_or(Ok(()), Err)
    }

    /// Hears one contestant and stores what came of it.
    async fn hear(&self, contestant: &Contestant, attempt: u32) -> Result<TrialEvent, CaseError> {
        let started = TrialEvent::ContestantStarted {
            contestant: contestant.id.clone(),
            agent: contestant.agent.clone(),
        };
        self.case.note(EventKind::from(started)).await;
        let handed_in = match (self.recorded.get(&contestant.id), self.request.mode) {
            (Some(Some(hash)), _) => Ok((self.engine.get_json(hash)?, Cost::Unknown)),
            (Some(None), _) => Err(Unheard {
                why: "it handed nothing in when the trial was recorded".to_owned(),
                class: None,
                cost: Cost::Unknown,
            }),
            (None, Mode::Text) => self.answer(contestant, attempt).await?,
            (None, Mode::Code) => self.work(contestant, attempt).await?,
        };
        let event = match handed_in {
            Ok((output, cost)) => self.finished(contestant, &output, cost)?,
            Err(unheard) => TrialEvent::ContestantFailed {
                contestant: contestant.id.clone(),
                why: unheard.why,
                class: unheard.class,
                cost: unheard.cost,
            },
        };
        // The answer is stored; what it means for the trial goes along with the next commit.
        self.case.note(EventKind::from(event.clone())).await;
        tribunal_store::crashpoint!("trial.contestant");
        Ok(event)
    }

    fn finished(
        &self,
        contestant: &Contestant,
        output: &Output,
        cost: Cost,
    ) -> Result<TrialEvent, CaseError> {
        let work = output.work.as_ref();
        let files = work.map(|work| u32::try_from(work.files.len()).unwrap_or(u32::MAX));
        let tested = work.and_then(|work| work.tested.as_ref());
        Ok(TrialEvent::ContestantFinished {
            contestant: contestant.id.clone(),
            output: self.engine.put_json(output)?,
            chars: output.text.chars().count() as u64,
            files,
            tests_passed: tested.map(|tested| tested.passed),
            cost,
        })
    }

    async fn answer(
        &self,
        contestant: &Contestant,
        attempt: u32,
    ) -> Result<Result<(Output, Cost), Unheard>, CaseError> {
        let challenge = self.challenge;
        let prompt = ContestantPrompt {
            contestant,
            challenge,
        }
        .render();
        let asked = self.ask(Ask {
            agent: &contestant.agent,
            role: Role::Contestant,
            key: format!("contend {}", contestant.id),
            attempt,
            prompt,
            access: Access::ReadOnly,
            directory: &self.directory,
            manner: self.manner(contestant),
        });
        Ok(asked.await?.and_then(|(reply, cost)| {
            let text = reply.text.trim().to_owned();
            if text.is_empty() {
                return Err(Unheard {
                    why: "its answer is empty".to_owned(),
                    class: None,
                    cost,
                });
            }
            Ok((Output { text, work: None }, cost))
        }))
    }

    pub(super) fn manner(&self, contestant: &Contestant) -> Manner {
        Manner {
            temperature_milli: contestant.temperature_milli,
            wall: self.request.contestant_wall_ms.map(Duration::from_millis),
            room: None,
        }
    }
}
