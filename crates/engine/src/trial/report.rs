//! What is known about a trial, put together from its events and what they point at.

use tribunal_core::event::{Event, EventKind, TrialEvent};
use tribunal_core::ids::CaseId;
use tribunal_core::trial::report::{
    ContestantReport, DecreeReport, Dissent, JudgeReport, PanelReport, SCHEMA, TrialReport,
};
use tribunal_core::trial::{DesignedBy, Heard, Output, Scored, State, Trial};
use tribunal_store::CaseRecord;

use super::material::shown_percent;
use super::{Player, TrialRequest, read_request, told};
use crate::Engine;
use crate::case::CaseError;

impl Engine {
    /// Returns what is known about a trial.
    pub async fn trial_report(&self, case: &CaseId) -> Result<TrialReport, CaseError> {
        let record = self.ledger.store().find_case(case.as_str()).await?;
        let events = self.events_of(case).await?;
        self.report_of(&record, &events)
    }

    /// Returns all events of a case.
    pub async fn events(&self, case: &CaseId) -> Result<Vec<Event>, CaseError> {
        self.events_of(case).await
    }

    /// Returns what is known about a trial whose events are at hand.
    pub fn report_of(
        &self,
        record: &CaseRecord,
        events: &[Event],
    ) -> Result<TrialReport, CaseError> {
        let request = read_request(record.request.clone())?;
        let trial = told(events)?;
        let contestants = self.contestants(&trial)?;
        let panel = self.panel_report(&trial)?;
        let heard = || panel.iter().flat_map(|panel| &panel.judges);
        let reasoning = heard().filter_map(|judge| {
            let evaluation = judge.evaluation.as_ref()?;
            Some(format!("{}: {}", judge.judge.name, evaluation.summary))
        });
        let mut report = TrialReport {
            schema: SCHEMA.to_owned(),
            case: record.id.clone(),
            state: trial.state.clone(),
            challenge: self.text_blob(&request.challenge)?,
            mode: request.mode,
            from: request.from.clone(),
            designed: designed_by(events),
            reasoning: reasoning.collect(),
            minority: Vec::new(),
            summary: summary_of(events),
            verdict: trial.verdict.clone(),
            decree: trial
                .decree
                .clone()
                .map(|(decree, note)| DecreeReport { decree, note }),
            hindsight: trial.hindsight.clone(),
            notes: notes(&request, &trial, &contestants),
            contestants,
            panel,
            spend: record.spend,
        };
        report.minority = minority(&report);
        Ok(report)
    }

    fn contestants(&self, trial: &Trial) -> Result<Vec<ContestantReport>, CaseError> {
        let reports = trial.contestants.iter().map(|(one, heard)| {
            let (output, failed) = match heard {
                Some(Heard::Answered { output }) => (Some(self.get_json::<Output>(output)?), None),
                Some(Heard::Failed { why }) => (None, Some(why.clone())),
                None => (None, None),
            };
            Ok(ContestantReport {
                label: label(trial, &one.id),
                contestant: one.clone(),
                output,
                failed,
            })
        });
        reports.collect()
    }

    /// Returns the judges with what came of each.
    pub(super) fn judges_of(&self, trial: &Trial) -> Result<Vec<JudgeReport>, CaseError> {
        let panel = self.panel_report(trial)?;
        Ok(panel.map_or_else(Vec::new, |panel| panel.judges))
    }

    fn panel_report(&self, trial: &Trial) -> Result<Option<PanelReport>, CaseError> {
        let Some(panel) = &trial.panel else {
            return Ok(None);
        };
        let judges = panel
            .judges
            .iter()
            .zip(&trial.scored)
            .map(|(judge, scored)| {
                let mut report = JudgeReport {
                    judge: judge.clone(),
                    evaluation: None,
                    swapped: None,
                    failed: None,
                };
                match scored {
                    Some(Scored::Scored {
                        evaluation,
                        swapped,
                    }) => {
                        report.evaluation = Some(self.get_json(evaluation)?);
                        let swapped = swapped.as_ref().map(|hash| self.get_json(hash));
                        report.swapped = swapped.transpose()?;
                    }
                    Some(Scored::Failed { why }) => report.failed = Some(why.clone()),
                    None => {}
                }
                Ok(report)
            });
        let mut judges: Vec<JudgeReport> = judges.collect::<Result<_, CaseError>>()?;
        // Judges saw the answers in orders of their own; readers want the same one everywhere.
        let place = |id: &str| {
            let mut all = trial.contestants.iter();
            all.position(|(one, _)| one.id == id)
        };
        for judge in &mut judges {
            for evaluation in judge.evaluation.iter_mut().chain(&mut judge.swapped) {
                evaluation.cards.sort_by_key(|card| place(&card.contestant));
            }
        }
        Ok(Some(PanelReport {
            reasoning: panel.reasoning.clone(),
            by: panel.by.clone(),
            judges,
        }))
    }
}

/// Returns the label by which the arbiter calls a contestant.
pub(super) fn label(trial: &Trial, id: &str) -> String {
    let mut all = trial.contestants.iter();
    let place = all.position(|(one, _)| one.id == id).unwrap_or(0);
    format!("C{}", place + 1)
}

fn designed_by(events: &[Event]) -> Option<DesignedBy> {
    events.iter().find_map(|event| match &event.kind {
        EventKind::Trial(TrialEvent::ContestantsDesigned { by, .. }) => Some(by.clone()),
        _ => None,
    })
}

fn summary_of(events: &[Event]) -> Option<String> {
    events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Trial(TrialEvent::VerdictReached { summary, .. }) => Some(summary.clone()),
        _ => None,
    })
}

fn minority(report: &TrialReport) -> Vec<Dissent> {
    let Some(verdict) = &report.verdict else {
        return Vec::new();
    };
    let judges = || report.panel.iter().flat_map(|panel| &panel.judges);
    let dissent = verdict.minority().map(|seated| {
        let judge = judges().find(|judge| judge.judge.name == seated.judge);
        let evaluation = judge.and_then(|judge| judge.evaluation.as_ref());
        Dissent {
            judge: seated.judge.clone(),
            prefers: seated.prefers.iter().map(|id| report.name_of(id)).collect(),
            summary: evaluation.map_or_else(String::new, |one| one.summary.clone()),
        }
    });
    dissent.collect()
}

/// Returns what a reader should know besides: who stood in for whom, and what was not seen whole.
fn notes(request: &TrialRequest, trial: &Trial, contestants: &[ContestantReport]) -> Vec<String> {
    let mut notes = Vec::new();
    let judges = trial.panel.iter().flat_map(|panel| &panel.judges);
    for judge in judges.filter(|judge| judge.related) {
        notes.push(format!(
            "{} is played by {}, of a family that takes part: no other judge was to be had",
            judge.name, judge.agent
        ));
    }
    if let Some(DesignedBy::Rules { why }) = trial.panel.as_ref().map(|panel| &panel.by) {
        notes.push(format!("the default panel sits: {why}"));
    }
    for one in contestants {
        let name = &one.contestant.name;
        if let Some(why) = &one.failed {
            notes.push(format!("{name} is left out: {why}"));
        }
        let shown = one.output.as_ref();
        let shown = shown.and_then(|output| shown_percent(output, request.answer_chars));
        if let Some(percent) = shown {
            notes.push(format!(
                "judges saw {percent} % of what {name} handed in: it is too long \
                 (`trial.answer_chars` is {})",
                request.answer_chars
            ));
        }
    }
    if let Some(panel) = trial.panel.as_ref().filter(|_| request.judges_named) {
        let sits = |player: &&Player| panel.judges.iter().any(|one| one.agent == player.name);
        for absent in request.judges.iter().filter(|player| !sits(player)) {
            notes.push(format!(
                "{} was named as a judge and does not sit: the panel has {} seats",
                absent.name,
                panel.judges.len()
            ));
        }
    }
    let scored = trial.panel.iter().flat_map(|panel| &panel.judges);
    for (judge, scored) in scored.zip(&trial.scored) {
        if let Some(Scored::Failed { why }) = scored {
            notes.push(format!("{} does not count: {why}", judge.name));
        }
    }
    if let State::Failed { phase, cause } = &trial.state {
        notes.push(format!("failed while {phase}: {cause}"));
    }
    notes
}
