//! How a run ends, and why: in words for the user, and as the outcome of its case.

use std::sync::PoisonError;

use tribunal_core::case::{CaseState, Outcome, Pause};
use tribunal_core::event::WorkEvent;
use tribunal_core::ids::CaseId;
use tribunal_core::money::Spend;
use tribunal_core::task::TaskState;
use tribunal_core::task::next::Blocked;

use super::{LeftTask, Loop, RunReport};
use crate::arbiter::DecisionCounts;
use crate::case::{Case, CaseError};
use crate::delivery::Push;

/// As what a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It did what it was asked for.
    Done,
    /// There is something to do that nobody can do now.
    Stuck,
    /// A limit was reached, which is no success.
    Limit {
        /// The name of the cap.
        cap: &'static str,
    },
    /// A dispute holds up the rest.
    Halt,
    /// The user stopped it.
    Stop,
}

/// What is known about a run that begins nothing more.
pub(super) struct Ending {
    left: Vec<LeftTask>,
    blocked: Vec<Blocked>,
    spend: Spend,
    warnings: Vec<String>,
    decisions: DecisionCounts,
    pushes: Vec<Push>,
    why: String,
    end: End,
}

impl Loop<'_> {
    /// Returns how the run ended.
    pub(super) async fn ending(&self) -> Result<Ending, CaseError> {
        let left = {
            let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            left.clone()
        };
        let mut blocked = self.engine.outlook(None).await?.blocked;
        if let Some(only) = &self.wish.task {
            blocked.retain(|blocked| blocked.task == *only);
        }
        let (why, end) = match self.cut_short() {
            Some(cut_short) => cut_short,
            None => self.came_through(&left, &blocked).await?,
        };
        let (decisions, undecided) = self.arbiter.decisions();
        Ok(Ending {
            left,
            blocked,
            decisions,
            spend: self.limits.spent(self.engine).await?,
            warnings: {
                let told = self.engine.watch.take_told();
                let warnings = self.limits.warnings().into_iter().chain(told);
                warnings.chain(undecided).collect()
            },
            pushes: self.engine.take_pushes(),
            why,
            end,
        })
    }

    /// Returns what ended the run before there was nothing left to do, if something did.
    fn cut_short(&self) -> Option<(String, End)> {
        if self.engine.stop.is_asked() {
            return Some(("stopped as asked".to_owned(), End::Stop));
        }
        if let Some(reached) = self.limits.reason() {
            let cap = reached.cap;
            return Some((reached.why, End::Limit { cap }));
        }
        let halted = self.halted.lock().unwrap_or_else(PoisonError::into_inner);
        halted.clone().map(|why| (why, End::Halt))
    }

    /// Returns how a run ended that nothing cut short.
    async fn came_through(
        &self,
        left: &[LeftTask],
        blocked: &[Blocked],
    ) -> Result<(String, End), CaseError> {
        if let (Some(only), true) = (&self.wish.task, left.is_empty()) {
            return self.why_not(only, blocked).await;
        }
        if self.wish.once {
            return Ok(("one task was asked for".to_owned(), End::Done));
        }
        let failed = left.iter().any(|left| left.state == TaskState::Failed);
        let for_later = left.iter().filter(|left| !left.state.is_settled());
        Ok(match blocked.len() {
            0 if left.iter().any(|left| !left.state.is_settled()) => {
                let why = match for_later.count() {
                    1 => "1 task was left for later".to_owned(),
                    n => format!("{n} tasks were left for later"),
                };
                (why, End::Done)
            }
            0 => ("nothing is left to do".to_owned(), End::Done),
            // What failed here speaks for itself.
            n if failed => (waiting(n), End::Done),
            n => (waiting(n), End::Stuck),
        })
    }

    /// Returns why the one task that was asked for was not worked on.
    async fn why_not(
        &self,
        only: &CaseId,
        blocked: &[Blocked],
    ) -> Result<(String, End), CaseError> {
        let record = self.engine.ledger.store().find_task(only.as_str()).await?;
        let why = match (record.task.state, blocked.first()) {
            (TaskState::Completed, _) => {
                return Ok((format!("task {only} is completed"), End::Done));
            }
            (TaskState::Failed | TaskState::Skipped, _) => {
                let state = record.task.state;
                format!("task {only} is {state}; `tribunal task reopen {only}` puts it back")
            }
            (TaskState::Disputed, _) => {
                format!("task {only} is disputed; `tribunal dispute list` tells what is open")
            }
            (_, Some(Blocked { by, state, .. })) => {
                format!("task {only} waits for {by}, which is {state}")
            }
            (_, None) => format!("task {only} is in the hands of another runner"),
        };
        Ok((why, End::Stuck))
    }
}

impl Ending {
    /// Ends or parks the case of the run, and returns its report.
    pub(super) async fn close(self, case: Case) -> Result<RunReport, CaseError> {
        let id = case.id().clone();
        let settled = self.left.iter().filter(|left| left.state.is_settled());
        let ended = WorkEvent::LoopEnded {
            why: self.why.clone(),
            settled: u32::try_from(settled.count()).unwrap_or(u32::MAX),
        };
        case.note(ended.into()).await;
        let state = self.outcome();
        match state.clone() {
            CaseState::Parked { why, until } => case.park(why, until).await?,
            CaseState::Closed(outcome) => case.close(outcome).await?,
            CaseState::Open => {}
        }
        Ok(RunReport {
            case: id,
            left: self.left,
            blocked: self.blocked,
            why: self.why,
            limited: matches!(self.end, End::Limit { .. }),
            spend: self.spend,
            warnings: self.warnings,
            decisions: self.decisions,
            pushes: self.pushes,
            state,
        })
    }

    fn outcome(&self) -> CaseState {
        let parked = |why| CaseState::Parked { why, until: None };
        match self.end {
            End::Stop => parked(Pause::Interrupted),
            End::Limit { cap } => parked(Pause::Budget {
                cap: cap.to_owned(),
                detail: self.why.clone(),
            }),
            End::Halt | End::Stuck => CaseState::Closed(Outcome::Inconclusive {
                class: None,
                cause: self.why.clone(),
            }),
            End::Done => CaseState::Closed(Outcome::Completed),
        }
    }
}

fn waiting(count: usize) -> String {
    match count {
        1 => "the task that is left waits for another".to_owned(),
        n => format!("the {n} tasks that are left wait for others"),
    }
}
