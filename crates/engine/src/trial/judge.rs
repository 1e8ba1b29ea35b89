//! Judges at work, all at the same time, each with an order of its own.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use tribunal_core::agent::{Access, Role};
use tribunal_core::event::{EventKind, TrialEvent};
use tribunal_core::money::{Cost, MicroUsd};
use tribunal_core::prompt::{ScorePrompt, ShownAnswer};
use tribunal_core::reply::{Masked, read_signed_scores};
use tribunal_core::trial::{Evaluation, Judge, Trial};
use tribunal_core::verdict::Points;

use super::ask::{Ask, Manner, Unheard, Used};
use super::{Hall, follow};
use crate::case::CaseError;
use crate::review::nonce;

/// What is not asked costs nothing.
const FREE: Cost = Cost::Known(MicroUsd(0));

/// An answer with its contestant.
struct Entry {
    id: String,
    name: String,
    text: String,
}

/// In which order a judge sees the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    First,
    Swapped,
}

impl Hall<'_> {
    /// Hears these judges.
    pub(super) async fn judge(&self, trial: &mut Trial, open: Vec<Judge>) -> Result<(), CaseError> {
        let judges: BTreeMap<String, String> = open
            .iter()
            .map(|judge| (judge.id.clone(), judge.name.clone()))
            .collect();
        let swap = self.request.swap;
        self.tell(trial, TrialEvent::JudgingStarted { judges, swap })
            .await?;
        let entries = trial.answered().map(|(one, output)| {
            Ok(Entry {
                id: one.id.clone(),
                name: one.name.clone(),
                text: self.material(output)?,
            })
        });
        let entries: Vec<Entry> = entries.collect::<Result<_, CaseError>>()?;
        let setbacks = &trial.setbacks;
        let scored = join_all(open.iter().map(|judge| {
            let attempt = setbacks.judge_attempt(&judge.id);
            self.score(judge, &entries, attempt)
        }))
        .await;
        let mut stopped = None;
        for event in scored {
            match event {
                Ok(event) => follow(trial, &event)?,
                Err(error) => stopped = stopped.or(Some(error)),
            }
        }
        stopped.map_or(Ok(()), Err)
    }

    /// Hears one judge, in both orders where that was asked for, and stores what came of it.
    async fn score(
        &self,
        judge: &Judge,
        entries: &[Entry],
        attempt: u32,
    ) -> Result<TrialEvent, CaseError> {
        let started = TrialEvent::JudgeStarted {
            judge: judge.id.clone(),
            agent: judge.agent.clone(),
        };
        self.case.note(EventKind::from(started)).await;
        let first = self.pass(judge, entries, Pass::First, attempt);
        let (first, second) = match self.request.swap {
            true => {
                let swapped = self.pass(judge, entries, Pass::Swapped, attempt);
                let (first, second) = futures_util::future::join(first, swapped).await;
                (first?, Some(second?))
            }
            false => (first.await?, None),
        };
        let event = match (first, second.transpose()) {
            (Ok(first), Ok(second)) => self.finished_judge(judge, &first, second.as_ref())?,
            (Err(unheard), other) => {
                let more = match &other {
                    Ok(second) => second.as_ref().map_or(FREE, |second| second.cost),
                    Err(unheard) => unheard.cost,
                };
                failed(judge, unheard, more)
            }
            (Ok(first), Err(unheard)) => failed(judge, unheard, first.cost),
        };
        self.case.note(EventKind::from(event.clone())).await;
        tribunal_store::crashpoint!("trial.judge");
        Ok(event)
    }

    fn finished_judge(
        &self,
        judge: &Judge,
        first: &Used<Evaluation>,
        second: Option<&Used<Evaluation>>,
    ) -> Result<TrialEvent, CaseError> {
        let mut scores = first.answer.scores();
        if let Some(second) = second {
            let other = second.answer.scores();
            for (id, score) in &mut scores {
                *score = Points::mean(*score, other.get(id).copied().unwrap_or_default());
            }
        }
        let swapped = second.map(|second| self.engine.put_json(&second.answer));
        Ok(TrialEvent::JudgeFinished {
            judge: judge.id.clone(),
            scores,
            evaluation: self.engine.put_json(&first.answer)?,
            swapped: swapped.transpose()?,
            cost: first.cost + second.map_or(FREE, |second| second.cost),
        })
    }

    /// Asks a judge for its scores.
    async fn pass(
        &self,
        judge: &Judge,
        entries: &[Entry],
        pass: Pass,
        attempt: u32,
    ) -> Result<Result<Used<Evaluation>, Unheard>, CaseError> {
        let order = self.order(judge, entries, pass);
        let key = match pass {
            Pass::First => format!("judge {}", judge.id),
            Pass::Swapped => format!("judge {} swapped", judge.id),
        };
        let shown: Vec<&str> = order.iter().map(|entry| entry.text.as_str()).collect();
        let material = format!("{}\n{}", self.challenge, shown.join("\n"));
        let nonce = nonce(&self.request.seed, &key, &material);
        let labels: Vec<Masked> = (1..)
            .zip(&order)
            .map(|(number, entry)| Masked {
                label: format!("R{number}"),
                id: entry.id.clone(),
                name: entry.name.clone(),
            })
            .collect();
        let answers: Vec<ShownAnswer> = labels
            .iter()
            .zip(&order)
            .map(|(masked, entry)| ShownAnswer {
                label: masked.label.clone(),
                text: entry.text.clone(),
            })
            .collect();
        let prompt = ScorePrompt {
            nonce: &nonce,
            judge,
            challenge: self.challenge,
            answers: &answers,
        }
        .render();
        let ask = Ask {
            agent: &judge.agent,
            role: Role::Judge,
            key,
            attempt,
            prompt,
            access: Access::ReadOnly,
            directory: &self.directory,
            manner: Manner::default(),
        };
        let read = |reply: &tribunal_agents::Reply| {
            read_signed_scores(&reply.text, reply.structured.as_ref(), &nonce, &labels)
        };
        self.ask_for(ask, read).await
    }

    /// Returns the answers in the order of this judge, which the seed decides.
    fn order<'e>(&self, judge: &Judge, entries: &'e [Entry], pass: Pass) -> Vec<&'e Entry> {
        let mut order: Vec<&Entry> = entries.iter().collect();
        order.sort_by_cached_key(|entry| {
            let text = format!("{}\n{}\n{}", self.request.seed, judge.id, entry.id);
            *blake3::hash(text.as_bytes()).as_bytes()
        });
        if pass == Pass::Swapped {
            order.reverse();
        }
        order
    }
}

/// Returns that a judge does not count, and what it cost, `more` for its other pass.
fn failed(judge: &Judge, unheard: Unheard, more: Cost) -> TrialEvent {
    TrialEvent::JudgeFailed {
        judge: judge.id.clone(),
        why: unheard.why,
        class: unheard.class,
        cost: unheard.cost + more,
    }
}
