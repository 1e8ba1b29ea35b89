//! Doing a recorded case again, offline: the same request, answered from the record.

use std::collections::BTreeMap;
use std::sync::Arc;

use tribunal_agents::spec::Recording;
use tribunal_agents::{Agent, AgentError, Profile, replay::ReplayAgent};
use tribunal_core::case::{CaseKind, CaseState};
use tribunal_core::event::{EventKind, RunResult};
use tribunal_core::ids::AgentName;
use tribunal_core::outage::RetryPolicy;
use tribunal_core::review::report::{ReviewReport, Standing};
use tribunal_core::secret::Redactor;
use tribunal_core::task::audit::audit_events;
use tribunal_core::verdict::{Ranked, Verdict};
use tribunal_store::{CaseRecord, LedgerAccess, Store};

use crate::Engine;
use crate::ask::AskReport;
use crate::assemble::{Parts, open_store};
use crate::budget::Caps;
use crate::call::Seat;
use crate::case::CaseError;
use crate::config::Synchronous;
use crate::dispute::DisputeConduct;
use crate::export::{Exported, ExportedRun};
use crate::files::LedgerDir;
use crate::review::{
    ADVISORY_STEP, Advice, EVIDENCE_STEP, RecordedArbitration, RecordedEvidence, RecordedNames,
    Reviewed,
};
use crate::run::RecordedRun;

/// A temporary ledger and the recorded agents, ready to play a case again.
pub struct Stage {
    engine: Engine,
    exported: Exported,
    /// Where the case was recorded.
    recorded_in: LedgerDir,
    /// What comes out differently in a run, which is decided again from the ledger itself.
    differences_of_run: Vec<String>,
    /// Removed when the stage is dropped.
    _temporary: tempfile::TempDir,
}

/// What a replay showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replayed {
    /// The same answers and the same end.
    Same,
    /// What came out differently, one sentence each.
    Different(Vec<String>),
}

impl Stage {
    /// Prepares the replay of `case` out of its ledger.
    pub async fn set(
        store: &dyn Store,
        dir: &LedgerDir,
        case: &CaseRecord,
    ) -> Result<Self, CaseError> {
        let exported = Exported::read(store, dir, case).await?;
        exported.require_texts("played again")?;
        let temporary = tempfile::tempdir().map_err(CaseError::file("make a temporary ledger"))?;
        let copy = LedgerDir::create(temporary.path().join("ledger"))
            .map_err(CaseError::file("make a temporary ledger"))?;
        let parts = Parts {
            store: open_store(&copy, Synchronous::Normal, LedgerAccess::Writing).await?,
            dir: copy,
            seats: recorded_seats(&exported.runs),
            caps: Caps::default(),
            // Failures were recorded as they came; waiting for them again would teach nothing.
            retry: RetryPolicy {
                attempts: 1,
                base_ms: 0,
                patience_ms: 0,
            },
            redactor: Redactor::default(),
            tests: None,
            disputes: DisputeConduct::default(),
        };
        let engine = Engine::assemble(parts)?;
        copy_blobs(dir, engine.dir()).map_err(CaseError::file("copy the recorded prompts"))?;
        let differences_of_run = match case.kind {
            CaseKind::Run => decide_again(store, dir, &exported).await?,
            _ => Vec::new(),
        };
        Ok(Self {
            engine,
            differences_of_run,
            exported,
            recorded_in: dir.clone(),
            _temporary: temporary,
        })
    }

    /// Returns the engine on stage, for listening.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Plays the case and compares it with the record.
    pub async fn play(&self) -> Result<Replayed, CaseError> {
        let record = &self.exported.case;
        let differences = match record.kind {
            CaseKind::Ask => {
                let report = self.engine.replay_ask(record).await?;
                self.compare_ask(&report)
            }
            CaseKind::Dispute => crate::dispute::decide_again(&self.exported),
            CaseKind::Trial => self.play_trial().await?,
            CaseKind::Review => {
                let clone = self.recorded_in.clone_of_repository();
                let (advice, evidence) = (self.advice(), self.evidence());
                let arbitration = RecordedArbitration::of(&self.exported.events);
                let report = self.exported.review(&self.recorded_in)?;
                let names = report.as_ref().map(RecordedNames::of).unwrap_or_default();
                let runs = self.exported.runs.iter();
                let names = names.with_asked(runs.map(|run| run.record.step.to_string()));
                let replay =
                    self.engine
                        .replay_review(record, clone, advice, evidence, arbitration, names);
                let reviewed = replay.await?;
                self.compare_review(&reviewed)?
            }
            // Where they stand is decided by their events alone, without a question to anybody.
            CaseKind::Task => audit_events(&self.exported.events).problems,
            CaseKind::Run => self.differences_of_run.clone(),
            CaseKind::Section => Vec::new(),
        };
        self.engine.close().await;
        Ok(if differences.is_empty() {
            Replayed::Same
        } else {
            Replayed::Different(differences)
        })
    }

    /// Holds a trial again. Of changes to code what was handed in is taken as it is recorded.
    async fn play_trial(&self) -> Result<Vec<String>, CaseError> {
        let (record, events) = (&self.exported.case, &self.exported.events);
        let then = crate::trial::told(events)?;
        let now = self.engine.replay_trial(record, events).await?;
        let mut differences = Vec::new();
        if then.panel != now.panel {
            differences.push("the panel is designed differently".to_owned());
        }
        let is_same = match (&then.verdict, &now.verdict) {
            (Some(then), Some(now)) => is_same_outcome(then, now),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !is_same {
            differences.push("the verdict comes out differently".to_owned());
        }
        Ok(differences)
    }

    /// Returns what was looked up about security findings when the case was recorded.
    fn advice(&self) -> Option<Advice> {
        let steps = self.exported.events.iter().rev();
        let mut outputs = steps.filter_map(|event| match &event.kind {
            EventKind::StepFinished { step, output }
                if step.as_str().starts_with(ADVISORY_STEP) =>
            {
                Some(output)
            }
            _ => None,
        });
        serde_json::from_value(outputs.next()?.clone()).ok()
    }

    /// Returns what tools looked at when the case was recorded.
    fn evidence(&self) -> RecordedEvidence {
        let steps = self.exported.events.iter();
        let outputs = steps.filter_map(|event| match &event.kind {
            EventKind::StepFinished { step, output } => {
                let name = step.as_str().strip_prefix(EVIDENCE_STEP)?.trim_start();
                let evidence = serde_json::from_value(output.clone()).ok()?;
                Some((name.to_owned(), evidence))
            }
            _ => None,
        });
        outputs.collect()
    }

    fn compare_review(&self, reviewed: &Reviewed) -> Result<Vec<String>, CaseError> {
        let then = self.exported.review(&self.recorded_in)?;
        let (Some(then), Some(now)) = (&then, &reviewed.report) else {
            return Ok(match (&then, &reviewed.report) {
                (None, None) => Vec::new(),
                _ => vec!["the review comes to another end".to_owned()],
            });
        };
        let (then, now) = (essence(then), essence(now));
        let fields = ["gate", "findings", "arbitration", "coverage", "statistics"];
        let differs = |field: &&str| then.get(*field) != now.get(*field);
        let differing = fields.into_iter().filter(differs);
        Ok(differing
            .map(|field| format!("`{field}` of the report comes out differently"))
            .collect())
    }

    fn compare_ask(&self, report: &AskReport) -> Vec<String> {
        let mut differences = Vec::new();
        let now: BTreeMap<_, _> = report
            .answers
            .iter()
            .filter_map(|answer| Some((format!("ask {}", answer.id), answer.result.as_ref().ok()?)))
            .collect();
        for run in &self.exported.runs {
            let Some(then) = &run.reply else { continue };
            let step = run.record.step.as_str();
            match now.get(step) {
                None => differences.push(format!("`{step}` is not answered any more")),
                Some((_, reply)) if reply.text != then.text => {
                    differences.push(format!("`{step}` is answered differently"));
                }
                Some(_) => {}
            }
        }
        let ended = matches!(self.exported.case.state, CaseState::Closed(_));
        if ended && report.state != self.exported.case.state {
            differences.push("the case ends differently".to_owned());
        }
        differences
    }
}

/// Decides a run again, and does each of its reviews again.
async fn decide_again(
    store: &dyn Store,
    dir: &LedgerDir,
    run: &Exported,
) -> Result<Vec<String>, CaseError> {
    let recorded = RecordedRun::read(store, &run.case.request).await?;
    let mut reports = BTreeMap::new();
    let mut differences = Vec::new();
    for review in recorded.reviews(&run.events) {
        let case = store.find_case(review.as_str()).await?;
        let stage = Box::pin(Stage::set(store, dir, &case)).await?;
        if let Some(report) = stage.exported.review(dir)? {
            reports.insert(review.clone(), report);
        }
        if let Replayed::Different(found) = Box::pin(stage.play()).await? {
            let told = found.into_iter();
            differences.extend(told.map(|what| format!("review {review}: {what}")));
        }
    }
    differences.extend(recorded.differences(&run.events, &reports));
    Ok(differences)
}

/// Returns what of the report of a review must be the same when it is done again: everything but
/// the name of the case and what the ledger knew of earlier reviews.
fn essence(report: &ReviewReport) -> serde_json::Value {
    let mut findings = report.findings.clone();
    for finding in &mut findings {
        finding.standing = Standing::New;
        finding.precedents.clear();
    }
    serde_json::json!({
        "gate": report.gate,
        "findings": findings,
        "arbitration": report.arbitration,
        "coverage": report.coverage,
        "statistics": report.statistics,
    })
}

/// Returns a seat for every agent of the record, answering from it.
fn recorded_seats(runs: &[ExportedRun]) -> BTreeMap<AgentName, Result<Seat, String>> {
    let mut by_agent: BTreeMap<AgentName, Vec<Recording>> = BTreeMap::new();
    for recording in recordings(runs) {
        by_agent
            .entry(recording.agent.clone())
            .or_default()
            .push(recording);
    }
    // An agent whose every run was cut off has nothing to say, but a seat all the same.
    for run in runs {
        by_agent.entry(run.record.agent.clone()).or_default();
    }
    let seat = |(name, recordings): (AgentName, Vec<Recording>)| {
        let provider = "replay".to_owned();
        let profile = Profile {
            name: name.clone(),
            family: provider.clone(),
            provider,
            model: None,
        };
        let agent: Arc<dyn Agent> = Arc::new(ReplayAgent::new(profile, recordings));
        (name, Ok(Seat::plain(agent)))
    };
    by_agent.into_iter().map(seat).collect()
}

/// Returns what was asked and answered. Of a step's runs the last one decided; those before it
/// failed and are not played again.
pub(crate) fn recordings(runs: &[ExportedRun]) -> Vec<Recording> {
    let last: BTreeMap<_, _> = runs
        .iter()
        .map(|run| (&run.record.step, &run.record.id))
        .collect();
    let is_decisive = |run: &&ExportedRun| last.get(&run.record.step) == Some(&&run.record.id);
    let recording = |run: &ExportedRun| {
        let agent = run.record.agent.clone();
        Some(Recording {
            agent,
            step: run.record.step.as_str().to_owned(),
            prompt: run.prompt.clone()?,
            result: recorded_result(run)?,
        })
    };
    let decisive = runs.iter().filter(is_decisive);
    decisive.filter_map(recording).collect()
}

fn recorded_result(run: &ExportedRun) -> Option<Result<tribunal_agents::Reply, AgentError>> {
    match run.record.result.as_ref()? {
        RunResult::Answered { .. } => Some(Ok(run.reply.clone()?)),
        RunResult::Failed { class, message } => Some(Err(AgentError::new(*class, message.clone()))),
        RunResult::Abandoned => None,
    }
}

fn copy_blobs(from: &LedgerDir, to: &LedgerDir) -> std::io::Result<()> {
    let blobs = from.root().join("blobs");
    if !blobs.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(blobs)? {
        let bytes = std::fs::read(entry?.path())?;
        to.put_blob(&bytes)?;
    }
    Ok(())
}
/// Tells whether judges came to the same: who won, by which numbers. How sure that is, later versions may
/// say in other words.
fn is_same_outcome(then: &Verdict, now: &Verdict) -> bool {
    let same = |(then, now): (&Ranked, &Ranked)| {
        (&then.contestant, then.rank, then.score, then.average)
            == (&now.contestant, now.rank, now.score, now.average)
    };
    (&then.winner, then.method, then.weighted) == (&now.winner, now.method, now.weighted)
        && then.ranking.len() == now.ranking.len()
        && then.ranking.iter().zip(&now.ranking).all(same)
}
