//! One round of work on a task: the arbiter chooses, an agent works, the arbiter looks at it, until
//! the work is submitted or given up.

use tribunal_core::arbiter::{Decision, Execution, ExecutionResult, Work};
use tribunal_core::event::{EventKind, WorkEvent};
use tribunal_core::task::Task;
use tribunal_core::task::transition::Move;
use tribunal_core::text::truncate_chars;

use super::cast::{Cast, cast, evaluate_question, last_mode, select_question};
use super::progress::Progress;
use super::stall::{Calls, Standstill, WayOut, can_be_reviewed, tests_are_due};
use super::visit::{Contest, Stage, Visit};
use crate::arbiter::Decided;
use crate::case::CaseError;

impl Visit<'_> {
    /// Works until there is something to review, nothing goes on, or the limit is reached.
    pub(super) async fn work(
        &self,
        task: &Task,
        progress: &mut Progress,
    ) -> Result<Stage, CaseError> {
        self.fix_base(progress).await?;
        let cast = cast(self.engine, self.settings, task.brief.domain.as_deref());
        loop {
            if let Some(why) = self.limits.reached(self.engine).await? {
                return Ok(Stage::Leave(why));
            }
            if tests_are_due(self.engine, progress) {
                self.test(progress).await?;
                continue;
            }
            let calls = self.engine.calls_in_vain(task, progress).await?;
            let standstill = Standstill {
                progress,
                cast: &cast,
                calls: &calls,
            };
            let chosen = match standstill.way_out() {
                Some(WayOut::Work { mode, hint }) => Some((mode, Some(hint))),
                Some(other) => return self.take_way_out(task, progress, other).await,
                None => None,
            };
            if chosen.is_none()
                && let Some(summary) = self.completed(task, progress).await?
            {
                return self.submit(task, progress, summary).await;
            }
            if progress.spent() >= self.settings.run.max_iterations as usize {
                return self.end_at_limit(task, progress).await;
            }
            let (mode, hint) = match chosen {
                Some(chosen) => chosen,
                None => self.choose(task, progress, &cast, &calls).await?,
            };
            match cast.does(&mode) {
                Some(Work::Review) if can_be_reviewed(progress) => {
                    return self.submit(task, progress, String::new()).await;
                }
                Some(Work::Plan) => self.plan(task, progress, &cast, &mode).await?,
                Some(Work::Develop) => {
                    let hint = hint.as_deref();
                    self.develop(task, progress, &cast, &mode, hint).await?;
                }
                Some(Work::Test) if self.engine.tests.is_some() => {
                    let said =
                        "The tests were run on this work before, and nothing was changed since.";
                    self.nothing_done(progress, &mode, said).await?;
                }
                Some(Work::Review | Work::Test) | None => {
                    let said = match progress.tests_failed() {
                        true => "The tests fail, so the work is not reviewed.",
                        false => "There was nothing to review or to test.",
                    };
                    self.nothing_done(progress, &mode, said).await?;
                }
            }
        }
    }

    /// Asks how the work stands, and returns the summary of work that is complete and can be reviewed.
    async fn completed(
        &self,
        task: &Task,
        progress: &Progress,
    ) -> Result<Option<String>, CaseError> {
        let Some(last) = progress.round().last().cloned() else {
            return Ok(None);
        };
        let decided = self.evaluate(task, progress, &last).await?;
        Ok(match decided.decision {
            Decision::Complete { summary } if can_be_reviewed(progress) => Some(summary),
            _ => None,
        })
    }

    /// Returns who works next, and what it is told about the last attempt.
    async fn choose(
        &self,
        task: &Task,
        progress: &Progress,
        cast: &Cast,
        calls: &Calls,
    ) -> Result<(String, Option<String>), CaseError> {
        let (mut hint, mut again) = (None, None);
        if let Some(last) = progress.round().last().cloned() {
            // It was asked before; what was decided once stays so.
            match self.evaluate(task, progress, &last).await?.decision {
                Decision::Complete { .. } => {
                    hint = Some("There is nothing yet that could be reviewed.".to_owned());
                }
                Decision::Retry { reason } => {
                    hint = Some(reason);
                    again = Some(last_mode(progress, cast));
                }
                Decision::Continue { .. } | Decision::SelectMode { .. } => {}
            }
        }
        let mode = match again.filter(|mode| cast.does(mode).is_some()) {
            Some(mode) => mode,
            None => match self.select(task, progress, cast).await?.decision {
                Decision::SelectMode { mode, .. } => mode,
                Decision::Complete { .. } => "reviewer".to_owned(),
                Decision::Retry { reason } => {
                    hint = hint.or(Some(reason));
                    last_mode(progress, cast)
                }
                Decision::Continue { .. } => last_mode(progress, cast),
            },
        };
        let standstill = Standstill {
            progress,
            cast,
            calls,
        };
        Ok((standstill.stand_in(&mode), hint))
    }

    /// Ends a round in which nothing goes on.
    async fn take_way_out(
        &self,
        task: &Task,
        progress: &mut Progress,
        way: WayOut,
    ) -> Result<Stage, CaseError> {
        Ok(match way {
            WayOut::Submit(note) => return self.submit(task, progress, note).await,
            WayOut::Fail(note) => return self.fail(task, progress, note).await,
            WayOut::Ask(why) => {
                let dispute = self.standstill(task, progress, why).await?;
                Stage::Contested(Contest::Open(Box::new(dispute)))
            }
            WayOut::Leave(why) | WayOut::Work { hint: why, .. } => Stage::Leave(why),
        })
    }

    async fn submit(
        &self,
        task: &Task,
        progress: &mut Progress,
        note: String,
    ) -> Result<Stage, CaseError> {
        let note = Some(note).filter(|note| !note.is_empty());
        let task = self.step(task, progress, Move::Submit, note).await?;
        Ok(Stage::Moved(Box::new(task)))
    }

    async fn nothing_done(
        &self,
        progress: &mut Progress,
        mode: &str,
        said: &str,
    ) -> Result<(), CaseError> {
        let nothing = ExecutionResult::Unchanged;
        self.done(progress, mode, nothing, said).await
    }

    async fn fix_base(&self, progress: &mut Progress) -> Result<(), CaseError> {
        if let Some(base) = progress.base.clone() {
            let newest = progress.newest().unwrap_or(&base).to_owned();
            // Work whose commits are gone starts again.
            if self.missing_commit([base, newest]).await?.is_none() {
                return Ok(());
            }
            if let Ok(mut start) = self.start.lock() {
                *start = None;
            }
        }
        let base = self.newest_base().await?;
        let event = WorkEvent::WorkBased { base };
        progress.work(&event);
        self.case.record([event.into()]).await
    }

    /// Ends a round that has had all its executions. What can be reviewed is reviewed, because a limit
    /// says nothing about the work.
    async fn end_at_limit(&self, task: &Task, progress: &mut Progress) -> Result<Stage, CaseError> {
        let last = progress.history.last();
        let last = last.map_or("", |last| last.summary.as_str());
        let limit = executions(self.settings.run.max_iterations);
        if can_be_reviewed(progress) {
            let note =
                format!("The limit of {limit} is reached, so what there is goes to the review.");
            return self.submit(task, progress, note).await;
        }
        let tail = progress.fruitless();
        let is_failure = |one: &&Execution| matches!(one.result, ExecutionResult::Failed { .. });
        if tail.last().is_some_and(is_failure) {
            return Ok(Stage::Leave(format!(
                "no answer came in the last of {limit}; the next run tries again. The last failure: {last}"
            )));
        }
        let unchanged = |one: &Execution| one.result == ExecutionResult::Unchanged;
        let note = match progress.round().iter().all(unchanged) {
            true => format!(
                "nothing was changed in {limit} in which somebody worked, so there is nothing to review. {last}"
            ),
            false if progress.tests_failed() => {
                format!("the tests still fail after {limit}. {last}")
            }
            false => format!("{limit} led to nothing that could be reviewed. {last}"),
        };
        self.fail(task, progress, note).await
    }

    /// Gives a task up. Its work is kept on a branch first.
    async fn fail(
        &self,
        task: &Task,
        progress: &mut Progress,
        note: String,
    ) -> Result<Stage, CaseError> {
        self.keep_on_branch(task, progress).await?;
        let task = self.step(task, progress, Move::Fail, Some(note)).await?;
        Ok(Stage::Moved(Box::new(task)))
    }

    async fn select(
        &self,
        task: &Task,
        progress: &Progress,
        cast: &Cast,
    ) -> Result<Decided, CaseError> {
        let question = select_question(task, progress, &cast.candidates);
        let step = format!("select {}", progress.next_iteration());
        self.engine
            .decide(self.case, self.arbiter, self.seed, &step, &question)
            .await
    }

    async fn evaluate(
        &self,
        task: &Task,
        progress: &Progress,
        last: &Execution,
    ) -> Result<Decided, CaseError> {
        let question = evaluate_question(task, progress, last);
        let step = format!("evaluate {}", last.iteration);
        self.engine
            .decide(self.case, self.arbiter, self.seed, &step, &question)
            .await
    }

    /// Records something that was done.
    pub(super) async fn done(
        &self,
        progress: &mut Progress,
        mode: &str,
        result: ExecutionResult,
        summary: &str,
    ) -> Result<(), CaseError> {
        let event = self.note_done(progress, mode, result, summary);
        self.case.record([event]).await
    }

    pub(super) fn note_done(
        &self,
        progress: &mut Progress,
        mode: &str,
        result: ExecutionResult,
        summary: &str,
    ) -> EventKind {
        let execution = Execution {
            iteration: progress.next_iteration(),
            mode: mode.to_owned(),
            result,
            summary: truncate_chars(summary.trim(), 2_000).into_owned(),
        };
        let event = WorkEvent::ExecutionDone { execution };
        progress.work(&event);
        event.into()
    }

    /// Runs the project's tests on the work.
    pub(super) async fn test(&self, progress: &mut Progress) -> Result<(), CaseError> {
        let Some(tests) = &self.engine.tests else {
            return Ok(());
        };
        let worktree = self.worktree(progress).await?;
        let directory = worktree.path();
        let run_dir = self.engine.dir.worktrees(self.case.id()).join("tests");
        crate::worktree::remove_tree(&run_dir)
            .map_err(CaseError::file("remove what earlier tests left"))?;
        let tested = tests
            .run(self.engine, self.case, &directory, &run_dir)
            .await?;
        let passed = tested.passed;
        let said = match passed {
            true => tested.ending,
            false => format!("{}\n{}", tested.ending, tested.output),
        };
        let result = ExecutionResult::Tested { passed };
        self.done(progress, "tester", result, &said).await
    }
}

fn executions(count: u32) -> String {
    match count {
        1 => "1 execution".to_owned(),
        n => format!("{n} executions"),
    }
}
