//! Runs that an earlier owner of the case left behind.

use tribunal_core::event::{EventKind, RunResult};
use tribunal_core::ids::{RunId, StepKey};
use tribunal_core::money::{Cost, Usage};
use tribunal_store::RunRecord;

use super::{Answer, Question, Seat};
use crate::Engine;
use crate::case::{Case, CaseError};
use crate::files;

impl Engine {
    /// Ends what an earlier owner of the case left running for `step`, and takes its answer if the
    /// run had come to its end although nobody recorded it.
    pub(super) async fn settle_interrupted_runs(
        &self,
        case: &Case,
        step: &StepKey,
        question: &Question,
        seat: &Seat,
    ) -> Result<Option<Answer>, CaseError> {
        if !case.was_resumed() {
            return Ok(None);
        }
        let runs = self.ledger.store().runs(case.id()).await?;
        let interrupted = |run: &&RunRecord| run.step == *step && run.result.is_none();
        let mut answer = None;
        for record in runs.iter().filter(interrupted) {
            let left = tribunal_agents::command::sweep_marked(&record.id);
            if left > 0 {
                let text = format!(
                    "ended {left} processes that run {} had left behind",
                    record.id
                );
                case.note(EventKind::Noted { text }).await;
            }
            // Another prompt now than then: neither its answer nor its files are ours to touch.
            let prompt = self.redactor.redact(&question.prompt);
            let recovered = if files::hash_of(prompt.as_bytes()) == record.prompt_hash {
                let call = self.call_for(&record.id, question, seat)?;
                seat.agent.recover(&call).await
            } else {
                None
            };
            match recovered {
                Some(result) => {
                    let result = result.map_err(|error| self.without_secrets(error));
                    let result = self.record_end(case, &record.id, result, 0, seat).await?;
                    if let Ok(reply) = result {
                        answer.get_or_insert(Answer {
                            run: record.id.clone(),
                            reply,
                        });
                    }
                }
                None => case.note(abandoned(&record.id)).await,
            }
        }
        Ok(answer)
    }
}

fn abandoned(run: &RunId) -> EventKind {
    EventKind::RunFinished {
        run: run.clone(),
        result: RunResult::Abandoned,
        usage: Usage::default(),
        cost: Cost::Unknown,
        elapsed_ms: 0,
        session: None,
        answered_by: None,
        version: None,
        refused: Vec::new(),
    }
}
