//! An agent at work on a task: it plans, or it changes files, and what it changed is kept.

use tribunal_agents::AgentError;
use tribunal_core::agent::{Access, ErrorClass, Role};
use tribunal_core::arbiter::ExecutionResult;
use tribunal_core::event::WorkEvent;
use tribunal_core::ids::{AgentName, StepKey};
use tribunal_core::prompt::{ask_again, plan_question, work_question};
use tribunal_core::reply::{WorkReport, read_signed_plan, read_signed_work};
use tribunal_core::task::Task;
use tribunal_core::text::headline;

use super::brief;
use super::cast::Cast;
use super::progress::Progress;
use super::visit::{Unrecorded, Visit, kept};
use crate::call;
use crate::case::{CaseError, Then, blocking};
use crate::change::{AgentFiles, tree_of};
use crate::worktree::{Signature, Worktree, touched};

impl Visit<'_> {
    /// Returns the place in which this visit works, with all that was written there.
    pub(super) async fn worktree(&self, progress: &Progress) -> Result<Worktree, CaseError> {
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
    pub(super) async fn plan(
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
                    let said = match steps {
                        1 => "A plan of 1 step.".to_owned(),
                        n => format!("A plan of {n} steps."),
                    };
                    return self.done(progress, mode, result, &said).await;
                }
                Err(why) => problem = why,
            }
        }
        let error = AgentError::new(ErrorClass::Garbled, format!("no usable plan: {problem}"));
        self.failed(progress, mode, error).await
    }

    /// Lets a coder work, and keeps what it wrote.
    pub(super) async fn develop(
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
        let newest = progress.newest().unwrap_or_default().to_owned();
        let name = format!("refs/tribunal/task/{}", task.id);
        let reference = name.clone();
        let (collected, same, changed) = blocking(move || {
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
            let changed = touched(&repo, &newest, &collected.commit)?;
            if !same {
                // In our own repository, so that nothing that was submitted is ever lost.
                let call = repo
                    .call()
                    .args(["update-ref", &reference, &collected.commit]);
                call.output()?;
            }
            Ok((collected, same, changed))
        })
        .await?;
        let result = if same {
            ExecutionResult::Unchanged
        } else {
            let files: Vec<String> = collected.files.iter().map(|f| f.path.clone()).collect();
            let mut all = progress.files.clone();
            all.extend(files);
            all.sort();
            all.dedup();
            let event = kept(&collected.commit, &name, all);
            progress.task(&event);
            self.case.note(event.into()).await;
            ExecutionResult::Worked { files: changed }
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
