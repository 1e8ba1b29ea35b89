//! The time limits of a run: until the first byte, between bytes, after the end, and in all.

use std::time::Duration;

use tokio::time::Instant;
use tribunal_core::agent::ErrorClass;

use crate::{AgentError, Limits};

/// How far a response has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing has come yet.
    Waiting,
    /// The body is coming in.
    Flowing,
    /// The end mark was seen.
    Ended,
}

/// The clock of one run.
#[derive(Debug)]
pub(super) struct Deadlines {
    limits: Limits,
    started: Instant,
    phase: Phase,
    entered: Instant,
}

impl Deadlines {
    /// Starts the clock.
    pub(super) fn start(limits: Limits) -> Self {
        let started = Instant::now();
        Self {
            limits,
            started,
            phase: Phase::Waiting,
            entered: started,
        }
    }

    /// Notes that something came and the response is now in `phase`. The end is final: whatever
    /// comes after it gains no more time.
    pub(super) fn enter(&mut self, phase: Phase) {
        if self.phase == Phase::Ended {
            return;
        }
        self.phase = phase;
        self.entered = Instant::now();
    }

    /// Waits for `future` no longer than the limits allow.
    pub(super) async fn bound<F: Future>(&self, future: F) -> Result<F::Output, AgentError> {
        let limit = match self.phase {
            Phase::Waiting => self.limits.first_byte,
            Phase::Flowing => self.limits.idle,
            Phase::Ended => self.limits.after_result,
        };
        let (quiet, wall) = (self.entered + limit, self.started + self.limits.wall);
        let outcome = tokio::time::timeout_at(quiet.min(wall), future).await;
        outcome.map_err(|_| {
            let message = if wall <= quiet {
                format!("The run took longer than {}", shown(self.limits.wall))
            } else if self.phase == Phase::Waiting {
                format!("No byte came within {}", shown(limit))
            } else {
                format!("Nothing came for {}", shown(limit))
            };
            AgentError::new(ErrorClass::Hung, message)
        })
    }
}

fn shown(duration: Duration) -> String {
    format!("{duration:?}")
}
