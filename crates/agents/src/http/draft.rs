//! What a streamed response has told so far, and what it comes to in the end.

use serde_json::Value;
use tribunal_core::agent::ErrorClass;
use tribunal_core::money::{Cost, Usage};
use tribunal_core::text::truncate_chars;

use super::schema;
use crate::{AgentError, AgentEvent, Call, Progress, Reply};

/// What a response has told so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) text: String,
    /// What the model said instead of an answer.
    pub(super) refusal: String,
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) usage: Usage,
    pub(super) cost: Cost,
    /// Why the model stopped.
    pub(super) stop: Option<Stop>,
    /// The API's own end mark was seen. Only this tells a whole answer from a cut one.
    pub(super) ended: bool,
    /// An event was seen at all.
    pub(super) begun: bool,
    started: bool,
}

/// Why a model stopped writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// It was done.
    Finished,
    /// The longest answer was reached.
    OutputLimit,
    /// Prompt and answer fill the context.
    ContextFull,
    /// It, or a filter, declined.
    Refused(String),
    /// A reason that makes no sense for a plain answer, in the API's word.
    Other(String),
}

impl Draft {
    /// Notes the identity of the response and reports the start, once.
    pub(super) fn start(&mut self, event: &Value, id: &str, model: &str, progress: &Progress) {
        let text = |pointer: &str| event.pointer(pointer)?.as_str().map(str::to_owned);
        self.session = text(id).or_else(|| self.session.take());
        self.model = text(model).or_else(|| self.model.take());
        if !self.started && self.session.is_some() {
            self.started = true;
            progress.report(AgentEvent::Started {
                session: self.session.clone(),
                model: self.model.clone(),
            });
        }
    }

    /// Appends a piece of the answer and reports it.
    pub(super) fn write(&mut self, piece: &str, progress: &Progress) {
        if piece.is_empty() {
            return;
        }
        self.text.push_str(piece);
        progress.report(AgentEvent::Text(piece.to_owned()));
    }

    /// Notes the tokens used so far and reports them.
    pub(super) fn count(&mut self, usage: Usage, progress: &Progress) {
        if self.usage != usage {
            self.usage = usage;
            progress.report(AgentEvent::Usage(usage));
        }
    }

    /// Returns `error` together with what was used up so far.
    pub(super) fn charge(&self, mut error: AgentError) -> AgentError {
        error.usage = self.usage;
        error.cost = self.cost;
        error
    }

    /// Returns the answer that the finished response holds, or why it holds none.
    pub(super) fn conclude(self, call: &Call) -> Result<Reply, AgentError> {
        let structured = self.judge(call).map_err(|error| self.charge(error))?;
        Ok(Reply {
            text: self.text,
            structured,
            usage: self.usage,
            cost: self.cost,
            session: self.session,
            model: self.model,
            version: None,
        })
    }

    /// Returns the structured answer, if one was asked for and everything is as it should be.
    fn judge(&self, call: &Call) -> Result<Option<Value>, AgentError> {
        let fail = |class, message: String| Err(AgentError::new(class, message));
        let refused = |why: &str| {
            let why = truncate_chars(why.trim(), 300);
            fail(
                ErrorClass::Refused,
                format!("The model declined to answer: {why}"),
            )
        };
        if !self.refusal.trim().is_empty() {
            return refused(&self.refusal);
        }
        match &self.stop {
            Some(Stop::Refused(why)) => return refused(why),
            Some(Stop::OutputLimit) => {
                let message = "The answer was cut at the longest output allowed";
                return fail(ErrorClass::Truncated, message.to_owned());
            }
            Some(Stop::ContextFull) => {
                let message = "Prompt and answer do not fit into the model's context";
                return fail(ErrorClass::ContextTooLong, message.to_owned());
            }
            Some(Stop::Finished | Stop::Other(_)) | None => {}
        }
        if !self.begun {
            return fail(ErrorClass::Empty, "The response was empty".to_owned());
        }
        if !self.ended {
            let message = "The response ended before its end mark";
            return fail(ErrorClass::Truncated, message.to_owned());
        }
        if let Some(Stop::Other(reason)) = &self.stop {
            let reason = truncate_chars(reason, 80);
            let message = format!("The model stopped for the unexpected reason `{reason}`");
            return fail(ErrorClass::Garbled, message);
        }
        if self.text.trim().is_empty() {
            return fail(ErrorClass::Empty, "The answer has no text".to_owned());
        }
        let schema = call.schema.as_ref();
        schema
            .map(|schema| schema::read(&self.text, schema))
            .transpose()
    }
}

/// Returns the number at `pointer` in `value`, or zero.
pub(super) fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}
