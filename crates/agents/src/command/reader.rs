//! From the bytes of stdout to a reply: what all readers of agent output share.
//!
//! A reader is fed while the agent runs and asked for its verdict once it has ended. The verdict
//! rests on positive evidence alone: a final event, no error flag, and text. Exit codes can spoil
//! an answer but never make one.

use std::io::{self, Read};

use serde::Deserialize;
use serde_json::Value;
use tribunal_core::agent::ErrorClass;
use tribunal_core::money::{Cost, Usage};
use tribunal_core::text::headline;

use super::exit::{Ended, Exit};
use super::whole::Whole;
use super::{claude, codex, custom, endings, gemini, linter, opencode};
use crate::spec::Cli;
use crate::{AgentError, AgentEvent, Reply};

/// Longest line, and longest answer of a program without a protocol, that is kept in memory.
pub(super) const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// Characters of a foreign message that are shown.
pub(super) const LONGEST_MESSAGE: usize = 300;

/// Reads the output of one run.
pub(super) trait Reader: Send {
    /// Takes the next bytes of stdout, and returns what they tell.
    fn feed(&mut self, bytes: &[u8]) -> Vec<AgentEvent>;

    /// Takes the last words on stderr so far. No protocol, but some programs say things there that
    /// they say nowhere else.
    fn overhear(&mut self, stderr: &str);

    /// Tells whether the agent has given its result and has nothing more to say.
    fn result_seen(&self) -> bool;

    /// Returns the reason to end the run at once, when it goes in circles.
    fn runaway(&self) -> Option<AgentError>;

    /// Returns the answer, or why there is none.
    fn finish(&mut self, end: &Ending<'_>) -> Result<Reply, AgentError>;
}

/// What is known when a run is over, besides its stdout.
pub(super) struct Ending<'a> {
    /// How it ended.
    pub(super) exit: &'a Exit,
    /// The last words on stderr.
    pub(super) stderr: &'a str,
    /// The schema that the answer was to follow.
    pub(super) schema: Option<&'a Value>,
}

/// Returns the reader for the output of `cli`.
pub(super) fn reader(cli: Cli) -> Box<dyn Reader> {
    match cli {
        Cli::Claude => Box::new(Lines::new(claude::Protocol::default())),
        Cli::Codex => Box::new(Lines::new(codex::Protocol::default())),
        Cli::Gemini => Box::new(Lines::new(gemini::Protocol::default())),
        Cli::Opencode => Box::new(Lines::new(opencode::Protocol::default())),
        Cli::Custom => Box::new(Whole::<custom::Answer>::default()),
        Cli::Linter => Box::new(Whole::<linter::Report>::default()),
    }
}

/// Reads the stored output of a finished run and returns its answer, or why there is none.
///
/// The same code reads live runs; nothing is started. Memory stays bounded whatever `stdout` holds.
pub fn read_output(
    cli: Cli,
    stdout: &mut dyn Read,
    stderr: &str,
    exit: &Exit,
    schema: Option<&Value>,
) -> Result<Reply, AgentError> {
    let mut reader = reader(cli);
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match stdout.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => drop(reader.feed(&chunk[..length])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let message = format!("The stored output cannot be read: {error}.");
                return Err(AgentError::new(ErrorClass::Garbled, message));
            }
        }
    }
    let end = Ending {
        exit,
        stderr,
        schema,
    };
    reader.finish(&end)
}

/// The events of one agent, and what they add up to.
pub(super) trait Protocol: Send {
    /// The name of the program in messages.
    const NAME: &'static str;

    /// Tells whether events of this type are part of the protocol.
    fn knows(kind: &str) -> bool;

    /// Takes an event of a known type, and returns what it tells.
    fn event(&mut self, event: &Value) -> Vec<AgentEvent>;

    /// Tells whether the agent has nothing more to say.
    fn result_seen(&self) -> bool;

    /// Takes the last words on stderr so far.
    fn overhear(&mut self, _stderr: &str) {}

    /// Returns the reason to end the run at once.
    fn runaway(&self) -> Option<AgentError> {
        None
    }

    /// Returns what was used up so far.
    fn spent(&self) -> (Usage, Cost);

    /// Returns what the events add up to.
    fn outcome(&mut self, end: &Ending<'_>) -> Outcome;
}

/// What the events of a run add up to.
pub(super) enum Outcome {
    /// The agent answered.
    Answer(Reply),
    /// The agent said that it failed, or its answer is unusable.
    Failed(AgentError),
    /// The final event is missing.
    Unfinished {
        /// What it last complained about.
        complaint: Option<String>,
    },
}

impl Outcome {
    /// Returns a failure of `class`.
    pub(super) fn failed(class: ErrorClass, message: impl Into<String>) -> Self {
        Self::Failed(AgentError::new(class, message))
    }
}

/// Only as much of an event as decides whether the rest is of interest. The rest of a line is
/// skipped without being built up in memory.
#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Reads a protocol of one JSON object per line.
pub(super) struct Lines<P> {
    protocol: P,
    /// The line that has not ended yet.
    partial: Vec<u8>,
    /// The current line is longer than we keep; it is skipped to its end.
    skipping: bool,
    overlong: bool,
    /// Lines that are events of the protocol.
    known: u64,
    /// Lines that are something else.
    foreign: u64,
    first_foreign: Option<String>,
}

impl<P: Protocol> Lines<P> {
    pub(super) fn new(protocol: P) -> Self {
        Self {
            protocol,
            partial: Vec::new(),
            skipping: false,
            overlong: false,
            known: 0,
            foreign: 0,
            first_foreign: None,
        }
    }

    fn line(&mut self, line: &[u8]) -> Vec<AgentEvent> {
        if line.trim_ascii().is_empty() {
            return Vec::new();
        }
        let kind = serde_json::from_slice::<Kind>(line).ok();
        if kind
            .and_then(|kind| kind.kind)
            .is_some_and(|kind| P::knows(&kind))
            && let Ok(event) = serde_json::from_slice(line)
        {
            self.known += 1;
            return self.protocol.event(&event);
        }
        self.foreign += 1;
        if self.first_foreign.is_none() {
            let text = String::from_utf8_lossy(&line[..line.len().min(1024)]);
            self.first_foreign = Some(headline(&text, 80).into_owned());
        }
        Vec::new()
    }

    /// Adds to the line that has not ended, unless it grows too long.
    fn keep(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        if self.partial.len() + bytes.len() > LONGEST_LINE {
            self.skipping = true;
            self.overlong = true;
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    /// Judges a run that ended by itself without a final event.
    fn unfinished(&self, end: &Ending<'_>, complaint: Option<String>) -> AgentError {
        let name = P::NAME;
        if end.exit.code != Some(0) {
            return endings::broken_run(name, end, complaint.as_deref());
        }
        if self.overlong {
            return overlong(name);
        }
        if self.known == 0 && self.foreign == 0 && self.partial.trim_ascii().is_empty() {
            let message = format!("{name} exited normally but printed nothing.");
            return AgentError::new(ErrorClass::Empty, message);
        }
        if self.known == 0 && self.foreign > 0 {
            let sample = self.first_foreign.as_deref().unwrap_or_default();
            let message = format!(
                "The output of {name} is in an unknown format; its first line is `{sample}`."
            );
            return AgentError::new(ErrorClass::Garbled, message);
        }
        let message = format!("The output of {name} stops before its final event.");
        AgentError::new(ErrorClass::Truncated, message)
    }

    fn judge(&mut self, end: &Ending<'_>) -> Result<Reply, AgentError> {
        if let Some(error) = endings::forced_end(P::NAME, end) {
            return Err(error);
        }
        match self.protocol.outcome(end) {
            Outcome::Answer(_) if self.overlong => Err(overlong(P::NAME)),
            Outcome::Answer(reply) => endings::spoiled_by_exit(P::NAME, end).map_or(Ok(reply), Err),
            Outcome::Failed(error) => Err(error),
            Outcome::Unfinished { complaint } => {
                let late = endings::time_out(P::NAME, end);
                Err(late.unwrap_or_else(|| self.unfinished(end, complaint)))
            }
        }
    }
}

impl<P: Protocol> Reader for Lines<P> {
    fn feed(&mut self, bytes: &[u8]) -> Vec<AgentEvent> {
        let mut told = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.keep(piece);
            // The last piece has no line end yet. A final event without one is not believed: its
            // line may have been cut anywhere.
            if pieces.peek().is_some() && !std::mem::take(&mut self.skipping) {
                let line = std::mem::take(&mut self.partial);
                told.extend(self.line(&line));
            }
        }
        told
    }

    fn overhear(&mut self, stderr: &str) {
        self.protocol.overhear(stderr);
    }

    fn result_seen(&self) -> bool {
        self.protocol.result_seen()
    }

    fn runaway(&self) -> Option<AgentError> {
        self.protocol.runaway()
    }

    fn finish(&mut self, end: &Ending<'_>) -> Result<Reply, AgentError> {
        let (usage, cost) = self.protocol.spent();
        self.judge(end).map_err(|error| AgentError {
            usage,
            cost,
            ..error
        })
    }
}

fn overlong(name: &str) -> AgentError {
    let message = format!("A line of the output of {name} is longer than {LONGEST_LINE} bytes.");
    AgentError::new(ErrorClass::Garbled, message)
}

/// Returns the text at a path of keys in `value`.
pub(super) fn text_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

/// Returns the whole number at a path of keys in `value`, zero when there is none.
pub(super) fn count_at(value: &Value, path: &[&str]) -> u64 {
    at(value, path).and_then(Value::as_u64).unwrap_or(0)
}

/// Returns what stands at a path of keys in `value`.
pub(super) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Returns why `value` does not follow `schema`, if it does not.
pub(super) fn breaks(schema: &Value, value: &Value) -> Option<String> {
    let validator = match jsonschema::validator_for(schema) {
        Ok(validator) => validator,
        Err(error) => return Some(format!("the schema itself is invalid: {error}")),
    };
    let error = validator.iter_errors(value).next()?;
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { "/" } else { &place };
    Some(headline(&format!("at `{place}`: {error}"), LONGEST_MESSAGE).into_owned())
}

/// Returns `text` as an answer that follows the schema of the run, where there is one.
pub(super) fn structured_text(
    name: &str,
    schema: Option<&Value>,
    text: &str,
) -> Result<Option<Value>, AgentError> {
    let Some(schema) = schema else {
        return Ok(None);
    };
    let garbled = |why: String| {
        let message = format!("The answer of {name} does not follow the schema: {why}.");
        AgentError::new(ErrorClass::Garbled, message)
    };
    let value: Value =
        serde_json::from_str(text.trim()).map_err(|_| garbled("it is not JSON".to_owned()))?;
    match breaks(schema, &value) {
        Some(why) => Err(garbled(why)),
        None => Ok(Some(value)),
    }
}

/// Tells whether the agent was ended by us for want of time.
pub(super) fn ran_out_of_time(ended: &Ended) -> bool {
    match ended {
        Ended::FirstByte | Ended::Idle | Ended::Wall | Ended::AfterResult => true,
        Ended::Exited
        | Ended::OutputCap
        | Ended::Cancelled
        | Ended::ParentGone
        | Ended::SpawnFailed { .. } => false,
    }
}
