//! The verdict of a trial: what judges stored is weighed by the core.

use tribunal_core::consensus::Record;
use tribunal_core::event::TrialEvent;
use tribunal_core::trial::report::summary;
use tribunal_core::trial::{Evaluation, Trial};
use tribunal_core::verdict::{Ballot, Excluded, Sitting, decide};

use super::{Hall, material, name_of};
use crate::case::CaseError;

impl Hall<'_> {
    /// Makes the verdict out of the stored evaluations.
    pub(super) async fn decide(&self, trial: &mut Trial) -> Result<(), CaseError> {
        let sitting = self.sitting(trial)?;
        let record = self.record_of(trial);
        match decide(&sitting, self.request.method, record.as_ref()) {
            Ok(verdict) => {
                let summary = summary(&verdict, |id| name_of(trial, id));
                self.tell(trial, TrialEvent::VerdictReached { summary, verdict })
                    .await
            }
            Err(error) => {
                let (phase, cause) = (trial.phase(), error.to_string());
                self.tell(trial, TrialEvent::TrialFailed { phase, cause })
                    .await
            }
        }
    }
    /// Returns all that the verdict is made of.
    fn sitting(&self, trial: &Trial) -> Result<Sitting, CaseError> {
        let mut sitting = Sitting::default();
        for (one, output) in trial.answered() {
            sitting.contestants.insert(one.id.clone());
            let output = self.engine.get_json(output)?;
            let shown = material::shown_percent(&output, self.request.answer_chars);
            if let Some(percent) = shown {
                sitting.shortened.insert(one.id.clone(), percent);
            }
        }
        for heard in self.engine.judges_of(trial)? {
            let judge = heard.judge.name;
            match heard.evaluation {
                Some(first) => sitting.ballots.push(Ballot {
                    judge,
                    family: Some(heard.judge.family),
                    scores: first.scores(),
                    swapped: heard.swapped.as_ref().map(Evaluation::scores),
                }),
                None => sitting.absent.push(Excluded {
                    judge,
                    why: heard.failed.unwrap_or_else(|| "no answer came".to_owned()),
                }),
            }
        }
        Ok(sitting)
    }

    /// Returns what is known about the judges of this trial. Records know agents, which play other
    /// judges in every trial.
    fn record_of(&self, trial: &Trial) -> Option<Record> {
        let known = self.request.record.as_ref()?;
        let judges = trial.panel.iter().flat_map(|panel| &panel.judges);
        let judges = judges.filter_map(|judge| {
            let counts = known.judges.get(judge.agent.as_str())?;
            Some((judge.name.clone(), *counts))
        });
        Some(Record {
            judges: judges.collect(),
            ..Record::default()
        })
    }
}
