//! An agent that gives the answers of recorded runs again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use tribunal_core::agent::ErrorClass;
use tribunal_core::text::{headline, truncate_chars};

use crate::spec::Recording;
use crate::{Agent, AgentError, AgentEvent, Call, Profile, Progress, Reply};

/// An agent that gives the answers of recorded runs again.
///
/// A recording answers when its agent and its whole prompt are the same. Of several recordings of one
/// prompt, the one of the same step answers; for another step they are given in their order, and the
/// last one repeats.
#[derive(Debug)]
pub struct ReplayAgent {
    profile: Profile,
    recordings: Vec<Recording>,
    /// Positions in `recordings` for each prompt, in order.
    by_prompt: HashMap<String, Vec<usize>>,
    /// How often each prompt, named by its first position, was asked.
    asked: Mutex<BTreeMap<usize, usize>>,
}

impl ReplayAgent {
    /// Returns an agent that answers with those `recordings` that are its own.
    #[must_use]
    pub fn new(profile: Profile, mut recordings: Vec<Recording>) -> Self {
        recordings.retain(|recording| recording.agent == profile.name);
        let mut by_prompt: HashMap<String, Vec<usize>> = HashMap::new();
        for (position, recording) in recordings.iter().enumerate() {
            by_prompt
                .entry(recording.prompt.clone())
                .or_default()
                .push(position);
        }
        Self {
            profile,
            recordings,
            by_prompt,
            asked: Mutex::new(BTreeMap::new()),
        }
    }

    fn find(&self, step: &str, prompt: &str) -> Option<&Recording> {
        let positions = self.by_prompt.get(prompt)?;
        let mut all = positions.iter().filter_map(|at| self.recordings.get(*at));
        if let Some(recording) = all.find(|one| one.step == step) {
            return Some(recording);
        }
        let first = *positions.first()?;
        let turn = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let count = asked.entry(first).or_insert(0);
            *count += 1;
            *count - 1
        };
        let position = positions.get(turn).or(positions.last())?;
        self.recordings.get(*position)
    }

    fn miss(&self, prompt: &str) -> AgentError {
        let name = &self.profile.name;
        let message = match self.nearest(prompt) {
            None => format!("There are no recordings of agent `{name}`"),
            Some((number, difference)) => {
                let asked = headline(prompt, 120);
                format!(
                    "No recording of agent `{name}` has the prompt {asked:?}: the nearest, \
                     recording {number}, differs at {difference}"
                )
            }
        };
        AgentError::new(ErrorClass::Setup, message)
    }

    /// Returns the number of the recording whose prompt is most like `prompt`, counted from one,
    /// and where the two part.
    fn nearest(&self, prompt: &str) -> Option<(usize, Difference)> {
        let likeness = |(index, recording): (usize, &Recording)| {
            let difference = Difference::between(&recording.prompt, prompt);
            let lines = shared_lines(&recording.prompt, prompt);
            (lines + difference.likeness(), index + 1, difference)
        };
        self.recordings
            .iter()
            .enumerate()
            .map(likeness)
            // The earlier of two equally near recordings is named.
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
            .map(|(_, number, difference)| (number, difference))
    }
}

#[async_trait]
impl Agent for ReplayAgent {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    async fn run(
        &self,
        call: Call,
        progress: Progress,
        cancel: CancellationToken,
    ) -> Result<Reply, AgentError> {
        self.run_step("", call, progress, cancel).await
    }

    async fn run_step(
        &self,
        step: &str,
        call: Call,
        progress: Progress,
        cancel: CancellationToken,
    ) -> Result<Reply, AgentError> {
        if cancel.is_cancelled() {
            let message = "The run was cancelled";
            return Err(AgentError::new(ErrorClass::Cancelled, message));
        }
        let recording = self
            .find(step, &call.prompt)
            .ok_or_else(|| self.miss(&call.prompt))?;
        let reply = recording.result.clone()?;
        progress.report(AgentEvent::Started {
            session: reply.session.clone(),
            model: reply.model.clone(),
        });
        progress.report(AgentEvent::Text(reply.text.clone()));
        progress.report(AgentEvent::Usage(reply.usage));
        Ok(reply)
    }
}

/// Lines looked at when prompts are compared: a bound, since prompts can be megabytes.
const LINES: usize = 2_000;

/// Characters of a line that are compared and shown.
const CHARS: usize = 160;

/// Where two prompts part.
struct Difference {
    line: usize,
    recorded: Option<String>,
    asked: Option<String>,
}

impl Difference {
    fn between(recorded: &str, asked: &str) -> Self {
        let (mut old, mut new) = (recorded.lines(), asked.lines());
        let mut line = 1;
        loop {
            let (recorded, asked) = (old.next(), new.next());
            if recorded == asked && recorded.is_some() {
                line += 1;
                continue;
            }
            return Self {
                line,
                recorded: recorded.map(str::to_owned),
                asked: asked.map(str::to_owned),
            };
        }
    }

    fn likeness(&self) -> f64 {
        let text = |line: &Option<String>| {
            truncate_chars(line.as_deref().unwrap_or(""), CHARS).into_owned()
        };
        strsim::normalized_levenshtein(&text(&self.recorded), &text(&self.asked))
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Two long lines are shown from shortly before the place where they part.
        let start = match (&self.recorded, &self.asked) {
            (Some(a), Some(b)) => {
                let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
                same.saturating_sub(CHARS / 4)
            }
            _ => 0,
        };
        let shown = |line: &Option<String>| match line {
            None => "nothing".to_owned(),
            Some(line) => {
                let part: String = line.chars().skip(start).collect();
                format!("{:?}", truncate_chars(&part, CHARS))
            }
        };
        let (recorded, asked) = (shown(&self.recorded), shown(&self.asked));
        write!(f, "line {}: recorded {recorded}, asked {asked}", self.line)
    }
}

/// Returns which part of the lines of two prompts is the same, from none (0) to all (1).
fn shared_lines(a: &str, b: &str) -> f64 {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for line in a.lines().take(LINES) {
        *counts.entry(line).or_default() += 1;
    }
    let mut shared = 0_u32;
    for line in b.lines().take(LINES) {
        if let Some(count) = counts.get_mut(line).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    let total = a.lines().take(LINES).count() + b.lines().take(LINES).count();
    let total = u32::try_from(total).unwrap_or(u32::MAX).max(1);
    2.0 * f64::from(shared) / f64::from(total)
}
