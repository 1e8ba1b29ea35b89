//! The output of a program without a protocol: kept whole, up to a bound, and read at the end.

use std::marker::PhantomData;

use tribunal_core::agent::ErrorClass;
use tribunal_core::money::{Cost, Usage};

use super::endings;
use super::exit::Ended;
use super::reader::{Ending, Reader, ran_out_of_time};
use crate::{AgentError, AgentEvent, Reply};

/// What the whole output of a program is taken for.
pub(super) trait Form: Send {
    /// The name of the program in messages.
    const NAME: &'static str;
    /// What its output is called in messages.
    const OUTPUT: &'static str;
    /// Bytes that are kept; more is no answer.
    const MOST: usize;
    /// What an answer costs.
    const COST: Cost;

    /// Tells whether there can be an answer after an exit with `code`.
    fn may_answer(code: Option<i32>) -> bool;

    /// Returns the text of the answer, or why there is none.
    fn text(bytes: &[u8], end: &Ending<'_>) -> Result<String, AgentError>;
}

/// Keeps the whole output of a run.
pub(super) struct Whole<F> {
    bytes: Vec<u8>,
    overlong: bool,
    form: PhantomData<F>,
}

impl<F> Default for Whole<F> {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            overlong: false,
            form: PhantomData,
        }
    }
}

impl<F: Form> Reader for Whole<F> {
    fn feed(&mut self, bytes: &[u8]) -> Vec<AgentEvent> {
        let room = F::MOST - self.bytes.len();
        self.overlong |= bytes.len() > room;
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.bytes.extend_from_slice(kept);
        Vec::new()
    }

    fn overhear(&mut self, _stderr: &str) {}

    fn result_seen(&self) -> bool {
        false
    }

    fn runaway(&self) -> Option<AgentError> {
        None
    }

    fn finish(&mut self, end: &Ending<'_>) -> Result<Reply, AgentError> {
        if let Some(error) = endings::forced_end(F::NAME, end) {
            return Err(error);
        }
        if ran_out_of_time(&end.exit.ended) || end.exit.ended == Ended::ParentGone {
            let late = endings::time_out(F::NAME, end);
            return Err(late.unwrap_or_else(|| endings::broken_run(F::NAME, end, None)));
        }
        if !F::may_answer(end.exit.code) {
            // Its exit codes and words are its own: a guess at a class would be noise.
            let broken = endings::broken_run(F::NAME, end, None);
            return Err(AgentError::new(ErrorClass::Crash, broken.message));
        }
        if self.overlong {
            let message = format!("The {} has more than {} bytes.", F::OUTPUT, F::MOST);
            return Err(AgentError::new(ErrorClass::Limit, message));
        }
        Ok(Reply {
            text: F::text(&self.bytes, end)?,
            structured: None,
            usage: Usage::default(),
            cost: F::COST,
            session: None,
            model: None,
            version: None,
        })
    }
}
