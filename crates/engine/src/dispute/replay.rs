//! A dispute decided again from its record: every step, what each judge said, what that comes to.
//!
//! What people said cannot be asked again; it is taken as it stands.

use tribunal_core::dispute::{Dispute, Hearing, Opening, Recourse, Ruler};
use tribunal_core::event::{DisputeEvent, EventKind, RunResult};
use tribunal_core::reply::{JudgeAnswer, read_signed_ruling};
use tribunal_core::time::Timestamp;

use super::judge::{again_step, conclusion_of, is_undeliverable, seat_step, seed_step, sitting_of};
use crate::export::{Exported, ExportedRun};
use crate::review::nonce;

/// Returns what comes out differently when a recorded dispute is decided again, one sentence each.
pub(crate) fn decide_again(exported: &Exported) -> Vec<String> {
    let mut differences = Vec::new();
    let mut dispute = None;
    let mut sitting = Sitting::new(exported);
    for event in &exported.events {
        let EventKind::Dispute(happened) = &event.kind else {
            continue;
        };
        match follow(dispute, happened, event.at) {
            Ok(after) => dispute = Some(after),
            Err(refusal) => {
                let what = format!("event {} has no place in the dispute: {refusal}", event.seq);
                differences.push(what);
                return differences;
            }
        }
        differences.extend(sitting.follow(happened));
    }
    differences
}

fn follow(
    before: Option<Dispute>,
    happened: &DisputeEvent,
    at: Timestamp,
) -> Result<Dispute, String> {
    let after = match (before, happened) {
        (None, DisputeEvent::DisputeOpened { dispute, opening }) => {
            Dispute::open(dispute.clone(), opening.as_ref().clone(), at)
        }
        (None, _) => return Err("it was not opened yet".to_owned()),
        (Some(before), _) => before.apply(happened, at),
    };
    after
        .map(|(after, _)| after)
        .map_err(|refusal| refusal.to_string())
}

/// The judges of one sitting, as they are read again.
struct Sitting<'a> {
    exported: &'a Exported,
    opening: Option<Opening>,
    /// How often the dispute was given to judges.
    sent: usize,
    heard: Vec<Hearing>,
}

impl<'a> Sitting<'a> {
    fn new(exported: &'a Exported) -> Self {
        Self {
            exported,
            opening: None,
            sent: 0,
            heard: Vec::new(),
        }
    }

    /// Takes the next event of the dispute and returns what comes out differently.
    fn follow(&mut self, happened: &DisputeEvent) -> Option<String> {
        match happened {
            DisputeEvent::DisputeOpened { opening, .. } => {
                self.opening = Some(opening.as_ref().clone());
                None
            }
            DisputeEvent::RecourseChosen {
                recourse: Recourse::Judge,
                ..
            } => {
                self.sent += 1;
                self.heard.clear();
                None
            }
            DisputeEvent::JudgeHeard { hearing } => {
                let again = self.hear_again(hearing);
                let same = again == **hearing;
                self.heard.push(again);
                let judge = &hearing.judge.agent;
                (!same).then(|| format!("what judge {judge} said is read differently"))
            }
            DisputeEvent::DisputeEscalated { .. }
            | DisputeEvent::DisputeRuled {
                ruler: Ruler::Judge { .. } | Ruler::Jury { .. },
                ..
            } => {
                let conclusion = conclusion_of(self.opening.as_ref()?, &self.heard);
                let same = conclusion == *happened || is_undeliverable(&conclusion, happened);
                (!same).then(|| "the judges come to another end".to_owned())
            }
            DisputeEvent::RecourseChosen {
                recourse: Recourse::Human | Recourse::Discard,
                ..
            }
            | DisputeEvent::DisputeRuled {
                ruler: Ruler::Human | Ruler::Discard | Ruler::Config,
                ..
            }
            | DisputeEvent::PositionStated { .. }
            | DisputeEvent::DisputeReferred { .. }
            | DisputeEvent::AlertAttempted { .. }
            | DisputeEvent::PrecedentDropped { .. } => None,
        }
    }

    /// Reads again what the judge in the next seat answered, to its first question or to its second.
    fn hear_again(&self, then: &Hearing) -> Hearing {
        let sitting = sitting_of(self.sent);
        let step = seat_step(&sitting, self.heard.len() + 1, &then.judge.agent);
        let nonce = nonce(&self.seed(&sitting), &step, "");
        let answers = [step.clone(), again_step(&step)]
            .into_iter()
            .filter_map(|step| self.decisive_run(&step)?.reply.as_ref());
        let read =
            answers.map(|reply| read_signed_ruling(&reply.text, reply.structured.as_ref(), &nonce));
        let mut read = read.filter_map(Result::ok);
        // Version 0.1.0 took answers whose reason contradicts the ruling.
        let is_same =
            |read: &JudgeAnswer| Some(read.answer) == then.answer && read.reason == then.reason;
        let found = match then.answer {
            Some(_) => read.find(is_same),
            None => read.find_map(|read| read.checked().ok()),
        };
        match found {
            Some(read) => Hearing {
                judge: then.judge.clone(),
                answer: Some(read.answer),
                reason: read.reason,
                reversal: read.reversal,
            },
            // Why a judge is silent is told by whoever asked it; that it is silent counts.
            None => Hearing {
                answer: None,
                ..then.clone()
            },
        }
    }

    fn seed(&self, sitting: &str) -> String {
        let wanted = seed_step(sitting);
        let drawn = self
            .exported
            .events
            .iter()
            .find_map(|event| match &event.kind {
                EventKind::StepFinished { step, output } if step.as_str() == wanted => {
                    output.as_str()
                }
                _ => None,
            });
        drawn.unwrap_or_default().to_owned()
    }

    /// Returns the run that answered in a step: of several the last one.
    fn decisive_run(&self, step: &str) -> Option<&ExportedRun> {
        let answered = |run: &&ExportedRun| {
            let result = run.record.result.as_ref();
            run.record.step.as_str() == step && matches!(result, Some(RunResult::Answered { .. }))
        };
        self.exported.runs.iter().rev().find(answered)
    }
}
