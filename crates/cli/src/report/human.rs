//! Events as plain lines, for people and log files.

mod arbitration;
mod held;
mod task;
mod trial;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use tribunal_core::case::{CaseKind, Outcome};
use tribunal_core::event::{ArbitrationEvent, DisputeEvent, Event, EventKind, RunResult};
use tribunal_core::ids::{AgentName, CaseId, EffectKey, RunId};
use tribunal_core::sandbox::{RefusedConnection, SandboxRecord};
use tribunal_core::text::for_terminal;
use tribunal_core::time::Timestamp;

use self::held::Held;
use super::{Reporter, disputes, words};

/// Whether each line begins with the time of its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stamps {
    /// Lines of something that happens now.
    Hidden,
    /// Lines of a history.
    Shown,
}

/// Writes one sentence per event worth telling.
pub(crate) struct Lines<W: Write + Send> {
    out: W,
    stamps: Stamps,
    agents: BTreeMap<RunId, AgentName>,
    effects: BTreeMap<EffectKey, String>,
    /// The case that the lines are about: the first one that was heard of.
    main: Option<CaseId>,
    disputes: BTreeSet<CaseId>,
    pub(super) held: Held,
}

impl<W: Write + Send> Lines<W> {
    /// Returns a reporter for something that happens now.
    pub(crate) fn live(out: W) -> Self {
        Self::new(out, Stamps::Hidden)
    }

    /// Returns a reporter for a history.
    pub(crate) fn history(out: W) -> Self {
        Self::new(out, Stamps::Shown)
    }

    fn new(out: W, stamps: Stamps) -> Self {
        Self {
            out,
            stamps,
            agents: BTreeMap::new(),
            effects: BTreeMap::new(),
            main: None,
            disputes: BTreeSet::new(),
            held: Held::default(),
        }
    }

    /// Takes note of who runs and what is intended, without a word.
    pub(crate) fn know(&mut self, event: &Event) {
        self.main.get_or_insert_with(|| event.case.clone());
        self.held.know(event);
        match &event.kind {
            EventKind::CaseOpened {
                kind: CaseKind::Dispute,
                ..
            } => {
                self.disputes.insert(event.case.clone());
            }
            EventKind::RunStarted { run, agent, .. } => {
                self.agents.insert(run.clone(), agent.clone());
            }
            EventKind::EffectIntended { effect, what } => {
                self.effects.insert(effect.clone(), what.clone());
            }
            _ => {}
        }
    }

    fn agent(&self, run: &RunId) -> &str {
        self.agents.get(run).map_or("an agent", AgentName::as_str)
    }

    /// Tells whether an event is told by others while it happens: a case that another one opens on
    /// its way begins, waits and ends as that one says, and a dispute speaks for itself.
    fn is_aside(&self, event: &Event) -> bool {
        let is_main = self.main.as_ref() == Some(&event.case);
        match &event.kind {
            _ if self.stamps == Stamps::Shown => false,
            EventKind::CaseOpened { .. }
            | EventKind::CaseResumed { .. }
            | EventKind::CaseParked { .. }
            | EventKind::CaseClosed { .. } => !is_main,
            EventKind::EffectDone { .. }
            | EventKind::Dispute(DisputeEvent::RecourseChosen { .. }) => {
                !is_main && self.disputes.contains(&event.case)
            }
            EventKind::Arbitration(event) => matches!(
                event,
                ArbitrationEvent::FindingContested { .. }
                    | ArbitrationEvent::ContestSettled {
                        decision: Some(_),
                        ..
                    }
            ),
            _ => false,
        }
    }

    /// Returns the sentence for an event, or nothing when it is not worth one.
    fn sentence(&self, kind: &EventKind) -> Option<String> {
        Some(match kind {
            EventKind::CaseOpened { kind, title, .. } => {
                format!("opened a case of `{kind}`: {title}")
            }
            EventKind::CaseResumed { holder, .. } => format!("resumed by {holder}"),
            EventKind::CaseParked { why, until } => {
                format!("parked{}: {}", until_text(*until), words::pause(why))
            }
            EventKind::CaseClosed { outcome } => match outcome {
                Outcome::Completed => "completed".to_owned(),
                // The run that failed has told the cause.
                Outcome::Inconclusive {
                    class: Some(class), ..
                } => format!("inconclusive ({class})"),
                Outcome::Inconclusive { cause, .. } => format!("inconclusive: {cause}"),
                Outcome::Failed { open } => format!("failed, {}", words::open_findings(*open)),
            },
            EventKind::RunStarted {
                agent,
                role,
                provider,
                model,
                attempt,
                step,
                sandbox,
                ..
            } => {
                let loose = sandbox.as_ref().and_then(loose_hold).unwrap_or_default();
                let model = model
                    .as_ref()
                    .map(|model| format!(", {model}"))
                    .unwrap_or_default();
                let again = if *attempt > 1 {
                    format!(", attempt {attempt}")
                } else {
                    String::new()
                };
                format!("{agent} was asked as {role}: {step} ({provider}{model}{again}){loose}")
            }
            EventKind::RunFinished {
                run,
                result,
                usage,
                cost,
                elapsed_ms,
                refused,
                ..
            } => {
                let facts = format!(
                    "{}, {}, {}",
                    words::duration(*elapsed_ms),
                    words::tokens(*usage),
                    words::cost(*cost)
                );
                self.run_end(run, result, &facts) + &unreached(refused)
            }
            EventKind::RunRetried {
                run,
                class,
                wait_ms,
            } => {
                let wait = words::duration(*wait_ms);
                format!(
                    "{} is asked again in {wait} after `{class}`",
                    self.agent(run)
                )
            }
            EventKind::RepositoryDisturbed { .. } => {
                format!("warning: {}", kind.disturbance()?)
            }
            EventKind::ProviderParked {
                provider,
                model,
                class,
                until,
            } => {
                let model = model
                    .as_ref()
                    .map(|model| format!(" {model}"))
                    .unwrap_or_default();
                format!("{provider}{model} is parked{}: {class}", until_text(*until))
            }
            EventKind::ProviderFreed { provider, model } => {
                let model = model
                    .as_ref()
                    .map(|model| format!(" {model}"))
                    .unwrap_or_default();
                format!("{provider}{model} answers again")
            }
            EventKind::EffectDone { effect, .. } => {
                let what = self
                    .effects
                    .get(effect)
                    .map_or(effect.as_str(), String::as_str);
                format!("done: {what}")
            }
            EventKind::ReviewOpened {
                change,
                files,
                left_out,
                reviewers,
                ..
            } => {
                let left_out = match left_out {
                    0 => String::new(),
                    n => format!(" ({n} left out)"),
                };
                let panel = reviewers.join(", ");
                let files = words::count(*files, "file");
                format!("reviewing {change}: {files}{left_out}, by {panel}")
            }
            EventKind::ReviewerHeard {
                reviewer,
                part,
                parts,
                findings,
                problems,
            } => {
                let part = match parts {
                    1 => String::new(),
                    _ => format!(", part {part} of {parts}"),
                };
                let problems = problems.first().map(|first| format!("; unclear: {first}"));
                let found = words::count(*findings, "finding");
                format!("{reviewer}: {found}{part}{}", problems.unwrap_or_default())
            }
            EventKind::ReviewerMissed { reviewer, why } => format!("{reviewer} is missing: {why}"),
            EventKind::RoundOpened {
                round,
                findings,
                reviewers,
            } => {
                let about = words::count(*findings, "finding");
                format!("round {round}: {about}, put to {}", reviewers.join(", "))
            }
            EventKind::DebaterHeard {
                round,
                reviewer,
                asked,
                said,
                problems,
            } => heard_in_round(*round, reviewer, *asked, said, problems),
            EventKind::DebaterMissed {
                round,
                reviewer,
                why,
            } => format!("{reviewer} abstains in round {round}: {why}"),
            EventKind::EvidenceWeighed {
                judge,
                finding,
                side,
                severity,
            } => {
                let severity = severity.map_or_else(String::new, |level| format!(", {level}"));
                format!("{judge} weighed the evidence: {side}{severity} ({finding})")
            }
            EventKind::ReviewSettled {
                accepted,
                disputed,
                rejected,
                gate,
                ..
            } => format!("{accepted} accepted, {disputed} disputed, {rejected} rejected: {gate}"),
            EventKind::FindingsTracked { .. } => return None,
            EventKind::Arbitration(event) => arbitration::sentence(event),
            EventKind::Dispute(event) => disputes::sentence(event),
            EventKind::FilesCollected { runs, why, .. } => {
                format!("gc collected the files of {runs} runs, because {why}")
            }
            EventKind::Noted { text } => text.clone(),
            EventKind::Task(event) => return task::sentence(event, self.stamps),
            EventKind::Trial(event) => return trial::sentence(event),
            EventKind::Work(event) => return work::sentence(event),
            EventKind::StepStarted { .. }
            | EventKind::StepFinished { .. }
            | EventKind::RunProgressed { .. }
            | EventKind::EffectIntended { .. } => return None,
        })
    }

    fn run_end(&self, run: &RunId, result: &RunResult, figures: &str) -> String {
        let agent = self.agent(run);
        match result {
            RunResult::Answered { .. } => format!("{agent} answered ({figures})"),
            RunResult::Failed { class, message } => {
                format!("{agent} failed, {class}: {message} ({figures})")
            }
            RunResult::Abandoned => format!("the run of {agent} was cut off; it is done again"),
        }
    }
}

impl<W: Write + Send> Reporter for Lines<W> {
    fn event(&mut self, event: &Event) {
        self.know(event);
        if self.is_aside(event) {
            return;
        }
        let Some(sentence) = self.sentence(&event.kind) else {
            return;
        };
        let sentence = match self.held.title_among_others(&event.case) {
            Some(title) => format!("{title}: {sentence}"),
            None => sentence,
        };
        let sentence = for_terminal(&sentence).replace('\n', " ");
        // A closed pipe is the reader's choice and no reason to stop the work.
        let _ = match self.stamps {
            Stamps::Hidden => writeln!(self.out, "{sentence}"),
            Stamps::Shown => writeln!(self.out, "{}  {sentence}", stamp(event.at)),
        };
    }
}

fn heard_in_round(
    round: u8,
    reviewer: &str,
    asked: u32,
    said: &BTreeMap<String, u32>,
    problems: &[String],
) -> String {
    let words: Vec<String> = said
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    let words = match words.is_empty() {
        true => "nothing".to_owned(),
        false => words.join(", "),
    };
    let problems = problems.first().map(|first| format!("; unclear: {first}"));
    let problems = problems.unwrap_or_default();
    format!("{reviewer} in round {round}: {words} of {asked}{problems}")
}

fn until_text(until: Option<Timestamp>) -> String {
    until
        .map(|until| format!(" until {}", stamp(until)))
        .unwrap_or_default()
}

/// Returns a moment in UTC: `2026-01-15 14:30:05`.
pub(crate) fn stamp(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => format!("{} ms", at.0),
    }
}
/// Returns what did not hold a program although somebody wanted it.
fn loose_hold(record: &SandboxRecord) -> Option<String> {
    match (&record.reason, &record.network_reason) {
        (Some(reason), _) => Some(format!("; warning: nothing holds it: {reason}")),
        (None, Some(reason)) => Some(format!("; warning: its network is open: {reason}")),
        (None, None) => None,
    }
}

/// Returns the end of a line that tells what a program did not reach.
fn unreached(refused: &[RefusedConnection]) -> String {
    match refused {
        [] => String::new(),
        [first, others @ ..] => {
            let more = match others.len() {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            format!("; its network was refused: {first}{more}")
        }
    }
}
