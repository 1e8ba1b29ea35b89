//! One round of work on a task: the arbiter chooses, an agent works, the arbiter looks at it, until
//! the work is submitted or given up.

use tribunal_agents::AgentError;
use tribunal_core::agent::{Access, ErrorClass, Role};
use tribunal_core::arbiter::{Decision, Execution, ExecutionResult, Work};
use tribunal_core::event::{EventKind, WorkEvent};
use tribunal_core::ids::{AgentName, StepKey};
use tribunal_core::prompt::{ask_again, plan_question, work_question};
use tribunal_core::reply::{WorkReport, read_signed_plan, read_signed_work};
use tribunal_core::task::Task;
use tribunal_core::task::transition::Move;
use tribunal_core::text::{headline, truncate_chars};

use super::brief;
use super::cast::{Cast, cast, evaluate_question, last_mode, select_question};
use super::progress::Progress;
use super::visit::{Stage, Unrecorded, Visit, kept};
use crate::Engine;
use crate::arbiter::Decided;
use crate::call;
use crate::case::{CaseError, Then, blocking};
use crate::change::{AgentFiles, tree_of};
use crate::worktree::{Signature, Worktree};

impl Visit<'_> {
    /// Works until there is something to review or the limit is reached, which is no success.
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
            let mut hint = None;
            let mut again = None;
            if let Some(last) = progress.round().last().cloned() {
                if self.tests_are_due(&last) {
                    self.test(progress).await?;
                    continue;
                }
                match self.evaluate(task, progress, &last).await?.decision {
                    Decision::Complete { summary } if can_be_reviewed(progress, &last) => {
                        let note = Some(summary);
                        let task = self.step(task, progress, Move::Submit, note).await?;
                        return Ok(Stage::Moved(Box::new(task)));
                    }
                    Decision::Complete { .. } => {
                        hint = Some("There is nothing yet that could be reviewed.".to_owned());
                    }
                    Decision::Retry { reason } => {
                        hint = Some(reason);
                        again = Some(last.mode);
                    }
                    Decision::Continue { .. } | Decision::SelectMode { .. } => {}
                }
            }
            if progress.spent() >= self.settings.run.max_iterations as usize {
                return self.give_up(task, progress).await;
            }
            let mode = match again.filter(|mode| cast.does(mode).is_some()) {
                Some(mode) => mode,
                None => match self.select(task, progress, &cast).await?.decision {
                    Decision::SelectMode { mode, .. } => mode,
                    Decision::Complete { .. } => "reviewer".to_owned(),
                    Decision::Retry { .. } | Decision::Continue { .. } => {
                        last_mode(progress, &cast)
                    }
                },
            };
            match cast.does(&mode) {
                Some(Work::Review) if progress.has_work() => {
                    let task = self.step(task, progress, Move::Submit, None).await?;
                    return Ok(Stage::Moved(Box::new(task)));
                }
                Some(Work::Test) if self.engine.tests.is_some() => {
                    self.test(progress).await?;
                }
                Some(Work::Plan) => self.plan(task, progress, &cast, &mode).await?,
                Some(Work::Develop) => {
                    let hint = hint.as_deref();
                    self.develop(task, progress, &cast, &mode, hint).await?;
                }
                Some(Work::Review | Work::Test) | None => {
                    let nothing = ExecutionResult::Unchanged;
                    let said = "There was nothing to review or to test.";
                    self.done(progress, &mode, nothing, said).await?;
                }
            }
        }
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

    pub(super) fn tests_are_due(&self, last: &Execution) -> bool {
        tests_are_due(self.engine, last)
    }

    async fn give_up(&self, task: &Task, progress: &mut Progress) -> Result<Stage, CaseError> {
        let last = progress.history.last();
        let last = last.map_or("", |last| last.summary.as_str());
        let limit = self.settings.run.max_iterations;
        let unchanged = |one: &Execution| one.result == ExecutionResult::Unchanged;
        let note = match progress.round().iter().all(unchanged) {
            true => format!(
                "nothing was changed in {} in which somebody worked, so there is nothing to review. {last}",
                executions(limit)
            ),
            false => format!(
                "{} led to nothing that could be reviewed. {last}",
                executions(limit)
            ),
        };
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
    async fn done(
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

    /// Returns the place in which this visit works, with all that was written there.
    async fn worktree(&self, progress: &Progress) -> Result<Worktree, CaseError> {
        let newest = progress.newest().map(str::to_owned);
        let newest = newest.ok_or_else(|| CaseError::Request("the work has no base".to_owned()))?;
        let start = match self.start.lock() {
            Ok(mut start) => start.get_or_insert(newest).clone(),
            Err(_) => newest,
        };
        let (repo, place) = (self.repo.clone(), self.place.clone());
        blocking(move || Worktree::create(&repo, &place, &start, AgentFiles::Settled)).await
    }

    /// Lets a planner make a plan; the old one stays in the record.
    async fn plan(
        &self,
        task: &Task,
        progress: &mut Progress,
        cast: &Cast,
        mode: &str,
    ) -> Result<(), CaseError> {
        let Some(agent) = cast.agent(mode) else {
            return Ok(());
        };
        let worktree = self.worktree(progress).await?;
        let text = self.task_text(task, progress, None).await?;
        let n = progress.next_iteration();
        let mut problem = String::new();
        for attempt in 1..=2 {
            let name = format!("plan {n} #{attempt}");
            let nonce = crate::review::nonce(self.seed, &name, &text);
            let mut prompt = plan_question(&text, &nonce);
            if attempt > 1 {
                prompt = ask_again(&prompt, &problem);
            }
            let question = call::Question {
                agent: agent.clone(),
                role: Role::Coder,
                prompt,
                system: None,
                schema: None,
                access: Access::ReadOnly,
                directory: worktree.path(),
            };
            let step = StepKey::new(name)?;
            let answer = match self.engine.put(self.case, &step, &question).await? {
                Ok(answer) => answer,
                Err(error) => return self.failed(progress, mode, error).await,
            };
            let reply = &answer.reply;
            let version = progress.plans + 1;
            match read_signed_plan(&reply.text, reply.structured.as_ref(), &nonce, version) {
                Ok(plan) => {
                    let steps = u32::try_from(plan.steps.len()).unwrap_or(u32::MAX);
                    let event = WorkEvent::PlanMade { plan };
                    progress.work(&event);
                    self.case.note(event.into()).await;
                    let result = ExecutionResult::Planned { steps };
                    let said = format!("A plan of {steps} steps.");
                    return self.done(progress, mode, result, &said).await;
                }
                Err(why) => problem = why,
            }
        }
        let error = AgentError::new(ErrorClass::Garbled, format!("no usable plan: {problem}"));
        self.failed(progress, mode, error).await
    }

    /// Lets a coder work, and keeps what it wrote.
    async fn develop(
        &self,
        task: &Task,
        progress: &mut Progress,
        cast: &Cast,
        mode: &str,
        hint: Option<&str>,
    ) -> Result<(), CaseError> {
        let Some(agent) = cast.agent(mode) else {
            return Ok(());
        };
        let worktree = self.worktree(progress).await?;
        let text = self.task_text(task, progress, hint).await?;
        let name = format!("work {}", progress.next_iteration());
        let nonce = crate::review::nonce(self.seed, &name, &text);
        let question = call::Question {
            agent: agent.clone(),
            role: Role::Coder,
            prompt: work_question(&text, &nonce),
            system: None,
            schema: None,
            access: Access::Write,
            directory: worktree.path(),
        };
        let step = StepKey::new(name)?;
        let mut failure = None;
        let work = async {
            let answer = match self.engine.put(self.case, &step, &question).await? {
                Ok(answer) => answer,
                Err(error) => {
                    failure = Some(error);
                    return Ok(None);
                }
            };
            tribunal_store::crashpoint!("run.work.answered");
            self.set_unrecorded(Some(Unrecorded {
                run: answer.run.clone(),
                commit: None,
            }));
            let reply = &answer.reply;
            let read = read_signed_work(&reply.text, reply.structured.as_ref(), &nonce);
            let report = read.unwrap_or_else(|_| WorkReport {
                summary: headline(&reply.text, 500).into_owned(),
                done: Vec::new(),
            });
            let commit = self
                .keep(task, progress, worktree, agent, mode, &report)
                .await?;
            self.set_unrecorded(Some(Unrecorded {
                run: answer.run.clone(),
                commit,
            }));
            Ok(Some(answer.run))
        };
        let done = self.case.step_if_answered(&step, Then::GoOn, work).await?;
        self.set_unrecorded(None);
        match (done, failure) {
            (None, Some(error)) => self.failed(progress, mode, error).await,
            (None, None) | (Some(_), _) => Ok(()),
        }
    }

    /// Keeps what a coder wrote as a commit, if it changed anything, and returns that; the events go
    /// to the ledger with the end of the step.
    async fn keep(
        &self,
        task: &Task,
        progress: &mut Progress,
        worktree: Worktree,
        agent: &AgentName,
        mode: &str,
        report: &WorkReport,
    ) -> Result<Option<String>, CaseError> {
        let message = format!("{}\n\nTribunal-Task: {}", task.brief.title, task.id);
        let at = self.engine.ledger.store().now().await?;
        let (repo, author) = (self.repo.clone(), agent.to_string());
        let before = progress.commit.clone();
        let name = format!("refs/tribunal/task/{}", task.id);
        let reference = name.clone();
        let (collected, same) = blocking(move || {
            let signature = Signature {
                author: &author,
                message: &message,
                at,
            };
            let collected = worktree.collect(signature)?;
            let before = match &before {
                Some(before) => tree_of(&repo, before)?,
                None => tree_of(&repo, &collected.start)?,
            };
            let same = before == tree_of(&repo, &collected.commit)?;
            if !same {
                // In our own repository, so that nothing that was submitted is ever lost.
                let call = repo
                    .call()
                    .args(["update-ref", &reference, &collected.commit]);
                call.output()?;
            }
            Ok((collected, same))
        })
        .await?;
        let result = if same {
            ExecutionResult::Unchanged
        } else {
            let files: Vec<String> = collected.files.iter().map(|f| f.path.clone()).collect();
            let mut all = progress.files.clone();
            all.extend(files.clone());
            all.sort();
            all.dedup();
            let event = kept(&collected.commit, &name, all);
            progress.task(&event);
            self.case.note(event.into()).await;
            ExecutionResult::Worked { files }
        };
        if let Some(plan) = progress.plan.as_ref().filter(|_| !report.done.is_empty()) {
            let event = WorkEvent::PlanAdvanced {
                plan: plan.with_done(&report.done),
            };
            progress.work(&event);
            self.case.note(event.into()).await;
        }
        let event = self.note_done(progress, mode, result, &report.summary);
        self.case.note(event).await;
        Ok((!same).then_some(collected.commit))
    }

    async fn failed(
        &self,
        progress: &mut Progress,
        mode: &str,
        error: AgentError,
    ) -> Result<(), CaseError> {
        let result = ExecutionResult::Failed { class: error.class };
        self.done(progress, mode, result, &error.message).await
    }

    async fn task_text(
        &self,
        task: &Task,
        progress: &Progress,
        hint: Option<&str>,
    ) -> Result<String, CaseError> {
        let source = match (&task.brief.source, &progress.base) {
            (Some(source), Some(base)) => {
                let (repo, base, source) = (self.repo.clone(), base.clone(), source.clone());
                let read = move || Ok(brief::source_text(&repo, &base, &source));
                Some(blocking(read).await?)
            }
            _ => None,
        };
        Ok(brief::whole(task, progress, source.as_deref(), hint))
    }
}

fn executions(count: u32) -> String {
    match count {
        1 => "1 execution".to_owned(),
        n => format!("{n} executions"),
    }
}

/// Tells whether the project's tests are to be run now.
pub(super) fn tests_are_due(engine: &Engine, last: &Execution) -> bool {
    let worked = matches!(last.result, ExecutionResult::Worked { .. });
    worked && engine.tests.is_some()
}

/// Tells whether work can go to the review: there is some, and no test speaks against it.
pub(super) fn can_be_reviewed(progress: &Progress, last: &Execution) -> bool {
    progress.has_work() && last.result != (ExecutionResult::Tested { passed: false })
}
