//! Contestants that hand in code: a worktree and a branch each, the diff, and what the tests say.

use serde::{Deserialize, Serialize};
use tribunal_core::agent::{Access, Role};
use tribunal_core::ids::{EffectKey, StepKey};
use tribunal_core::money::Cost;
use tribunal_core::prompt::ContestantPrompt;
use tribunal_core::time::Timestamp;
use tribunal_core::trial::{Contestant, Output, Tested, Work};
use tribunal_store::crashpoint;

use super::ask::{Ask, Unheard, step_of};
use super::{Hall, TrialRequest};
use crate::Engine;
use crate::case::{CaseError, Then, blocking};
use crate::change::{AgentFiles, Repository};
use crate::worktree::{Collected, Signature, Worktree, branch_commit, patch, publish};

/// What is stored once an answer was collected: nothing of it is made twice.
#[derive(Debug, Serialize, Deserialize)]
struct HandedIn {
    collected: Collected,
    text: String,
    cost: Cost,
}

impl Engine {
    /// Returns the commit that contestants start from.
    pub(super) async fn start_of_work(&self, request: &TrialRequest) -> Result<String, CaseError> {
        let repository = self.repository_of(request)?;
        if !repository.is_versioned() {
            return Err(CaseError::Request(
                "a trial of code needs a git repository, and there is none here".to_owned(),
            ));
        }
        let head = blocking(move || crate::change::head(&repository)).await?;
        head.ok_or_else(|| {
            CaseError::Request(
                "a trial of code starts from a commit, and this repository has none yet".to_owned(),
            )
        })
    }
}

impl Hall<'_> {
    /// Lets a contestant change the project's files in a worktree of its own.
    pub(super) async fn work(
        &self,
        contestant: &Contestant,
        attempt: u32,
    ) -> Result<Result<(Output, Cost), Unheard>, CaseError> {
        let step = step_of(&format!("hand in {}", contestant.id), attempt)?;
        let repository = self.engine.repository_of(self.request)?;
        let mut unheard = None;
        let working = async {
            match self.work_once(&repository, contestant, attempt).await? {
                Ok(handed_in) => Ok(Some(handed_in)),
                Err(why) => {
                    unheard = Some(why);
                    Ok(None)
                }
            }
        };
        let done = self.case.step_if_answered(&step, Then::GoOn, working);
        let Some(handed_in) = done.await? else {
            let unknown = || Unheard {
                why: "nothing was handed in".to_owned(),
                class: None,
                cost: Cost::Unknown,
            };
            return Ok(Err(unheard.unwrap_or_else(unknown)));
        };
        crashpoint!("trial.handed_in");
        let output = self.evidence(&repository, contestant, &handed_in).await?;
        Ok(Ok((output, handed_in.cost)))
    }

    async fn work_once(
        &self,
        repository: &Repository,
        contestant: &Contestant,
        attempt: u32,
    ) -> Result<Result<HandedIn, Unheard>, CaseError> {
        let worktree = self.worktree(repository, contestant).await?;
        let directory = worktree.path();
        let tests = self.engine.tests.as_ref().map(|tests| tests.shown.as_str());
        let prompt = ContestantPrompt {
            contestant,
            challenge: self.challenge,
        }
        .render_code(tests);
        let asked = self.ask(Ask {
            agent: &contestant.agent,
            role: Role::Contestant,
            key: format!("contend {}", contestant.id),
            attempt,
            prompt,
            access: Access::Write,
            directory: &directory,
            manner: self.manner(contestant),
        });
        let (reply, cost) = match asked.await? {
            Ok(heard) => heard,
            Err(unheard) => return Ok(Err(unheard)),
        };
        let message = format!(
            "{}\n\nBy {} in trial {}.\n",
            tribunal_core::text::headline(self.challenge, 60),
            contestant.name,
            self.case.id()
        );
        let author = contestant.name.clone();
        let collected = blocking(move || {
            let signature = Signature {
                author: &author,
                message: &message,
                at: Timestamp(0),
            };
            worktree.collect(signature)
        })
        .await?;
        if collected.files.is_empty() {
            return Ok(Err(Unheard {
                why: "it changed no file".to_owned(),
                class: None,
                cost,
            }));
        }
        Ok(Ok(HandedIn {
            collected,
            text: reply.text.trim().to_owned(),
            cost,
        }))
    }

    /// Returns the name of a contestant's directories. It says nothing about whose they are, because
    /// what tests print may name them.
    fn place_of(&self, contestant: &Contestant) -> String {
        let text = format!("{}\n{}", self.request.seed, contestant.id);
        let hash = blake3::hash(text.as_bytes()).to_hex();
        hash.chars().take(12).collect()
    }

    async fn worktree(
        &self,
        repository: &Repository,
        contestant: &Contestant,
    ) -> Result<Worktree, CaseError> {
        let place = self.engine.dir.worktrees(self.case.id());
        let place = place.join(self.place_of(contestant));
        let start = self.request.start.clone().unwrap_or_default();
        let repository = repository.clone();
        // Whose branch it is nobody knows; the rules of the default branch apply.
        blocking(move || Worktree::create(&repository, &place, &start, AgentFiles::Settled)).await
    }

    /// Runs the tests, offers the branch, and returns all that judges may see.
    async fn evidence(
        &self,
        repository: &Repository,
        contestant: &Contestant,
        handed_in: &HandedIn,
    ) -> Result<Output, CaseError> {
        let collected = &handed_in.collected;
        let tested = self.tested(repository, contestant).await?;
        let branch = format!("tribunal/{}/{}", self.case.id(), contestant.id);
        self.offer(repository, &collected.commit, &branch).await?;
        let (repo, start, commit) = (
            repository.clone(),
            collected.start.clone(),
            collected.commit.clone(),
        );
        let diff = blocking(move || patch(&repo, &start, &commit)).await?;
        let left_out = collected.left_out.iter();
        Ok(Output {
            text: handed_in.text.clone(),
            work: Some(Work {
                commit: collected.commit.clone(),
                branch,
                files: collected
                    .files
                    .iter()
                    .map(|file| file.path.clone())
                    .collect(),
                diff: String::from_utf8_lossy(&diff).into_owned(),
                left_out: left_out
                    .map(|one| format!("{}: {}", one.path, one.detail))
                    .collect(),
                tested,
            }),
        })
    }

    async fn tested(
        &self,
        repository: &Repository,
        contestant: &Contestant,
    ) -> Result<Option<Tested>, CaseError> {
        let Some(tests) = &self.engine.tests else {
            return Ok(None);
        };
        let step = StepKey::new(format!("test {}", contestant.id))?;
        let testing = async {
            let worktree = self.worktree(repository, contestant).await?;
            let files = format!("{}.tests", self.place_of(contestant));
            let files = self.engine.dir.worktrees(self.case.id()).join(files);
            let directory = worktree.path();
            let ran = tests.run(self.engine, self.case, &directory, &files);
            Ok(Some(ran.await?))
        };
        self.case.step_if_answered(&step, Then::GoOn, testing).await
    }

    /// Makes the branch in the user's repository, once.
    async fn offer(
        &self,
        repository: &Repository,
        commit: &str,
        branch: &str,
    ) -> Result<(), CaseError> {
        let key = EffectKey::new(format!("branch {branch} {commit}"))?;
        let probe = || async {
            let (repo, name) = (repository.clone(), branch.to_owned());
            let found = blocking(move || branch_commit(&repo, &name)).await?;
            Ok(found.filter(|found| found == commit))
        };
        let act = || async {
            let (repo, commit, name) = (repository.clone(), commit.to_owned(), branch.to_owned());
            blocking(move || publish(&repo, &commit, &name)).await
        };
        let what = format!("offer the branch {branch}");
        self.case.effect(&key, &what, probe, act).await?;
        Ok(())
    }
}
