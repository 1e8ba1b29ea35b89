//! What becomes of approved work: approved work is put on top of one branch, and pushed.
//!
//! Only refs and objects of the user's repository are written; files, index, `HEAD` and stash stay
//! as they are. The branch that is checked out is never moved.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tribunal_core::task::Task;
use tribunal_core::time::Timestamp;

use crate::change::{ChangeError, Repository, head_branch, head_commit, tree_of};
use crate::worktree::{self, Signature};

/// How often we try again when another runner was faster.
const MOST_RACES: usize = 50;

/// How long one push may take.
const PUSH_LIMIT: Duration = Duration::from_secs(120);

/// Work to be put on the branch.
#[derive(Debug, Clone)]
pub(crate) struct Approved {
    /// The branch that collects approved work.
    pub(crate) branch: String,
    /// The commit that the work started from.
    pub(crate) base: String,
    /// The commit with the work.
    pub(crate) commit: String,
    /// Who did it.
    pub(crate) author: String,
    /// The message, with the line that tells the work.
    pub(crate) message: String,
    /// When it was approved.
    pub(crate) at: Timestamp,
}

impl Approved {
    /// Returns the work on a task as it is put on `branch`.
    pub(crate) fn of_task(
        task: &Task,
        branch: String,
        base: &str,
        commit: &str,
        at: Timestamp,
    ) -> Self {
        Self {
            branch,
            base: base.to_owned(),
            commit: commit.to_owned(),
            author: "Tribunal".to_owned(),
            message: format!(
                "{}\n\nTribunal-Task: {}\n{}",
                task.brief.title,
                task.id,
                trailer(commit)
            ),
            at,
        }
    }
}

/// What came of putting work on the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Integrated {
    /// It is there as this commit.
    Commit(String),
    /// It contradicts what was approved meanwhile in these files.
    Conflict(Vec<String>),
}

/// Returns the line by which work is found again on the branch.
fn trailer(commit: &str) -> String {
    format!("Tribunal-Work: {commit}")
}

/// Returns the commit from which work on a task starts: the end of the branch, else `HEAD`.
pub(crate) fn base(repo: &Repository, branch: &str) -> Result<String, ChangeError> {
    match worktree::branch_commit(repo, branch)? {
        Some(tip) => Ok(tip),
        None => head_commit(repo)?.ok_or(ChangeError::NothingToStartFrom),
    }
}

/// Returns the commit on the branch that holds this work: the one that we made, else the one with
/// which somebody merged it.
pub(crate) fn find(repo: &Repository, approved: &Approved) -> Result<Option<String>, ChangeError> {
    find_work(repo, &approved.branch, &approved.base, &approved.commit)
}

fn find_work(
    repo: &Repository,
    branch: &str,
    base: &str,
    commit: &str,
) -> Result<Option<String>, ChangeError> {
    let Some(tip) = worktree::branch_commit(repo, branch)? else {
        return Ok(None);
    };
    // In our repository, which sees the user's objects as well: the work may start from a commit of
    // ours.
    let call = repo.call().args([
        "log",
        "-1",
        "--format=%H",
        "--fixed-strings",
        &format!("--grep={}", trailer(commit)),
        &format!("{base}..{tip}"),
        "--",
    ]);
    match call.answer()? {
        Some(ours) => Ok(Some(ours)),
        None => find_merged(repo, &tip, commit),
    }
}

/// Returns the commit with which work itself became part of the history that ends in `tip`.
fn find_merged(repo: &Repository, tip: &str, commit: &str) -> Result<Option<String>, ChangeError> {
    let args = ["merge-base", "--is-ancestor", commit, tip];
    let (is_contained, _) = repo.call().args(args).judged()?;
    if !is_contained {
        return Ok(None);
    }
    let args = ["rev-list", "--first-parent", "--ancestry-path", "--reverse"];
    let call = repo.call().args(args).args([format!("{commit}..{tip}")]);
    Ok(call.answer()?.or_else(|| Some(commit.to_owned())))
}

/// Returns the files in which the branch contradicts work that is to be put on top of it; nothing
/// when it does not, or holds the work already.
pub(crate) fn contradiction(
    repo: &Repository,
    branch: &str,
    start: &str,
    commit: &str,
) -> Result<Option<Vec<String>>, ChangeError> {
    if find_work(repo, branch, start, commit)?.is_some() {
        return Ok(None);
    }
    worktree::check_free(repo, branch)?;
    let below = base(repo, branch)?;
    match below == start {
        true => Ok(None),
        false => Ok(merge(repo, start, &below, commit)?.err()),
    }
}

/// Puts work on top of the branch, unless the branch holds it already.
pub(crate) fn integrate(repo: &Repository, approved: &Approved) -> Result<Integrated, ChangeError> {
    if let Some(there) = find(repo, approved)? {
        return Ok(Integrated::Commit(there));
    }
    let branch = &approved.branch;
    for _ in 0..MOST_RACES {
        let tip = worktree::branch_commit(repo, branch)?;
        let below = match &tip {
            Some(tip) => tip.clone(),
            None => base(repo, branch)?,
        };
        let tree = match below == approved.base {
            true => tree_of(repo, &approved.commit)?,
            false => match merge(repo, &approved.base, &below, &approved.commit)? {
                Ok(tree) => tree,
                Err(files) => return Ok(Integrated::Conflict(files)),
            },
        };
        let signature = Signature {
            author: &approved.author,
            message: &approved.message,
            at: approved.at,
        };
        let commit = worktree::commit(repo, &tree, Some(&below), signature)?;
        tribunal_store::crashpoint!("run.integrate.before");
        if worktree::advance(repo, &commit, branch, tip.as_deref())? {
            tribunal_store::crashpoint!("run.integrate.after");
            return Ok(Integrated::Commit(commit));
        }
    }
    Err(ChangeError::BranchBusy {
        branch: branch.clone(),
    })
}

/// Returns the tree of a merge, or the files in which the two sides contradict each other.
fn merge(
    repo: &Repository,
    base: &str,
    ours: &str,
    theirs: &str,
) -> Result<Result<String, Vec<String>>, ChangeError> {
    let merge_base = format!("--merge-base={base}");
    let args = ["merge-tree", "--write-tree", "--name-only", "--no-messages"];
    let call = || repo.call().args(args).args([&merge_base, ours, theirs]);
    if let Some(tree) = call().answer()? {
        return Ok(Ok(tree));
    }
    // A conflict ends with exit code 1 and still lists the files.
    let output = repo
        .call()
        .args(args)
        .args([&merge_base, ours, theirs])
        .output_whatever()?;
    let text = String::from_utf8_lossy(&output).into_owned();
    let mut files: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    files.retain(|file| !file.is_empty());
    files.dedup();
    Ok(Err(files))
}

/// Where work is pushed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    /// Its name.
    pub(crate) name: String,
    /// Its address.
    pub(crate) url: String,
    /// Whether repositories on this machine are allowed.
    pub(crate) allows_local: bool,
}

/// Returns the remote of the current branch's upstream.
pub(crate) fn upstream(
    repo: &Repository,
    allows_local: bool,
) -> Result<Option<Remote>, ChangeError> {
    let Some(branch) = head_branch(repo)? else {
        return Ok(None);
    };
    let key = format!("branch.{branch}.remote");
    match setting(repo, &key)? {
        Some(name) => remote(repo, &name, allows_local),
        None => Ok(None),
    }
}

/// Returns the remote of this name.
pub(crate) fn remote(
    repo: &Repository,
    name: &str,
    allows_local: bool,
) -> Result<Option<Remote>, ChangeError> {
    let url = match setting(repo, &format!("remote.{name}.pushurl"))? {
        Some(url) => Some(url),
        None => setting(repo, &format!("remote.{name}.url"))?,
    };
    let name = name.to_owned();
    Ok(url.map(|url| Remote {
        name,
        url,
        allows_local,
    }))
}

fn setting(repo: &Repository, key: &str) -> Result<Option<String>, ChangeError> {
    let call = repo.git.on(&repo.versioned()?.common_dir);
    call.args(["config", "--local", "--get", key]).answer()
}

/// Tells whether the remote's branch holds this commit, with or without others on top of it.
pub(crate) async fn is_pushed(
    repo: &Repository,
    remote: &Remote,
    branch: &str,
    commit: &str,
) -> Result<bool, String> {
    let name = format!("refs/heads/{branch}");
    let listed = git_with(repo, remote, &["ls-remote", "--", &remote.url, &name]).await?;
    let Some(tip) = listed.split_whitespace().next() else {
        return Ok(false);
    };
    if tip == commit {
        return Ok(true);
    }
    // Whoever came after us may have pushed theirs, and ours with it.
    let below = git_with(repo, remote, &["merge-base", "--is-ancestor", commit, tip]).await;
    Ok(below.is_ok())
}

/// Pushes a commit to the remote's branch. Nothing is ever forced.
pub(crate) async fn push(
    repo: &Repository,
    remote: &Remote,
    branch: &str,
    commit: &str,
) -> Result<(), String> {
    let refspec = format!("{commit}:refs/heads/{branch}");
    let args = [
        "push",
        "--quiet",
        "--no-verify",
        "--",
        &remote.url,
        &refspec,
    ];
    git_with(repo, remote, &args).await.map(|_| ())
}

/// Runs git on our own repository with the user's own login, and with no setting of theirs that
/// the repository brings along.
async fn git_with(repo: &Repository, remote: &Remote, args: &[&str]) -> Result<String, String> {
    let protocols = remote.protocols()?;
    let found = repo.versioned().map_err(|error| error.to_string())?;
    let objects: PathBuf = found.common_dir.join("objects");
    let mut command = tokio::process::Command::new(repo.git.program());
    command
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
        ])
        .args(["-c", "gc.auto=0", "-c", "credential.interactive=false"])
        .arg(format!("--git-dir={}", repo.own.display()))
        .args(args)
        .current_dir(repo.root())
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ALLOW_PROTOCOL", protocols)
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_COMMON_DIR")
        .env_remove("GIT_OBJECT_DIRECTORY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(PUSH_LIMIT, command.output()).await;
    let output = match ended {
        Err(_) => return Err(format!("git took longer than {} s", PUSH_LIMIT.as_secs())),
        Ok(Err(error)) => return Err(error.to_string()),
        Ok(Ok(output)) => output,
    };
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(said(&output.stdout)),
        false => {
            let text = said(&output.stderr);
            let told = text
                .lines()
                .find(|line| line.contains("rejected") || line.contains("fatal"));
            Err(told
                .or(text.lines().next())
                .unwrap_or("git failed")
                .trim()
                .to_owned())
        }
    }
}
