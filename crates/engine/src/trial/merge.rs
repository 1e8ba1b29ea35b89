//! Merges a contestant's commit into the branch on which the user stands, whole or not at all.
//!
//! The merge is computed in our own clone; the user's files are touched only when it is known to
//! succeed and nothing there is changed and not committed. No hook runs.

use crate::change::git::Call;
use crate::change::{ChangeError, Repository};
use crate::worktree::hand_over;

/// Paths that a message names.
const SHOWN: usize = 5;

/// What a merge would be.
enum Plan {
    /// It is merged already.
    Nothing,
    /// The branch moves on to this commit.
    Forward(String),
    /// This tree becomes a commit with both as its parents.
    Join { tree: String, head: String },
}

impl Plan {
    /// Returns what names the files as they shall be; nothing when they are.
    fn tree(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Forward(commit) => Some(commit),
            Self::Join { tree, .. } => Some(tree),
        }
    }
}

/// Returns why the commit cannot be merged now, if so.
pub(super) fn check(repo: &Repository, commit: &str) -> Result<(), ChangeError> {
    branch(repo)?;
    let plan = plan(repo, commit)?;
    match plan.tree() {
        Some(tree) if !is_halfway(repo, tree)? => check_clean(repo),
        Some(_) | None => Ok(()),
    }
}

/// Returns the commit on which the user stands if it holds `commit`.
pub(super) fn is_merged(repo: &Repository, commit: &str) -> Result<Option<String>, ChangeError> {
    let head = head(repo)?;
    Ok(is_ancestor(repo, commit, &head)?.then_some(head))
}

/// Merges.
pub(super) fn merge(repo: &Repository, commit: &str, message: &str) -> Result<(), ChangeError> {
    let branch = branch(repo)?;
    let old = head(repo)?;
    let plan = plan(repo, commit)?;
    let (tree, new) = match &plan {
        Plan::Nothing => return Ok(()),
        Plan::Forward(commit) => (commit, commit.clone()),
        Plan::Join { tree, head } => (tree, join(repo, tree, [head, commit], message)?),
    };
    let is_halfway = is_halfway(repo, tree)?;
    // A commit that joins is another one each time, even where its files are there already.
    hand_over(repo, &new, None)?;
    if !is_halfway {
        check_clean(repo)?;
        // Checks everything before it writes anything.
        let call = theirs(repo)?.args(["read-tree", "-m", "-u", &old, &new]);
        call.output()?;
        tribunal_store::crashpoint!("trial.merge.files");
    }
    let identity = [
        "user.name=Tribunal".to_owned(),
        "user.email=coder@tribunal.invalid".to_owned(),
    ];
    let call = theirs(repo)?.settings(&identity);
    let call = call.args(["update-ref", "-m", "tribunal: merge", &branch, &new, &old]);
    call.output().map(|_| ())
}

/// Returns what a merge would be, or that it conflicts.
fn plan(repo: &Repository, commit: &str) -> Result<Plan, ChangeError> {
    let head = head(repo)?;
    if is_ancestor(repo, commit, &head)? {
        return Ok(Plan::Nothing);
    }
    if is_ancestor(repo, &head, commit)? {
        return Ok(Plan::Forward(commit.to_owned()));
    }
    let call = repo
        .call()
        .args(["merge-tree", "--write-tree", "--name-only", "--no-messages"]);
    match call.args([&head, commit]).judged()? {
        (true, answer) => Ok(Plan::Join {
            tree: first_line(&answer),
            head,
        }),
        (false, answer) => {
            let mut paths: Vec<String> = answer.lines().skip(1).map(str::to_owned).collect();
            paths.retain(|path| !path.is_empty());
            Err(ChangeError::MergeRefused {
                why: format!("it conflicts in {}", shown(&paths)),
            })
        }
    }
}

/// Tells whether index and files are those of `tree` already, though the branch is not: whoever
/// merged before was killed between the two.
fn is_halfway(repo: &Repository, tree: &str) -> Result<bool, ChangeError> {
    let there = theirs(repo)?.args(["diff-index", "--quiet", tree, "--"]);
    // A tree of which the user's repository knows nothing cannot be there.
    Ok(there.judged().is_ok_and(|(equal, _)| equal))
}

/// Refuses when something in the user's tree is changed and not committed.
fn check_clean(repo: &Repository) -> Result<(), ChangeError> {
    // Times and sizes that only look different are looked up first.
    let _ = theirs(repo)?
        .args(["update-index", "-q", "--refresh"])
        .judged()?;
    let changed = theirs(repo)?.args(["diff-index", "--name-only", "HEAD", "--"]);
    let changed = String::from_utf8_lossy(&changed.output()?).into_owned();
    let paths: Vec<String> = changed.lines().map(str::to_owned).collect();
    match paths.is_empty() {
        true => Ok(()),
        false => Err(ChangeError::MergeRefused {
            why: format!(
                "there are changes that are not committed: {}",
                shown(&paths)
            ),
        }),
    }
}

fn join(
    repo: &Repository,
    tree: &str,
    parents: [&str; 2],
    message: &str,
) -> Result<String, ChangeError> {
    let user = |key: &str, or: &str| repo.settings.get(key).unwrap_or(or).to_owned();
    let identity = [
        format!("user.name={}", user("user.name", "Tribunal")),
        format!(
            "user.email={}",
            user("user.email", "coder@tribunal.invalid")
        ),
    ];
    let call = repo.call().settings(&identity).args(["commit-tree", tree]);
    let [first, second] = parents;
    call.args(["-p", first, "-p", second, "-m", message]).line()
}

/// Returns the branch on which the user stands, as a full name.
fn branch(repo: &Repository) -> Result<String, ChangeError> {
    let call = theirs(repo)?.args(["symbolic-ref", "--quiet", "HEAD"]);
    call.answer()?.ok_or_else(|| ChangeError::MergeRefused {
        why: "no branch is checked out".to_owned(),
    })
}

fn head(repo: &Repository) -> Result<String, ChangeError> {
    theirs(repo)?.args(["rev-parse", "--verify", "HEAD"]).line()
}

fn is_ancestor(repo: &Repository, one: &str, other: &str) -> Result<bool, ChangeError> {
    let call = repo
        .call()
        .args(["merge-base", "--is-ancestor", one, other]);
    Ok(call.judged()?.0)
}

/// Returns a call on the user's repository, files and index.
fn theirs(repo: &Repository) -> Result<Call<'_>, ChangeError> {
    let found = repo.versioned()?;
    let root = repo.work_tree()?;
    Ok(repo.git.on(&found.git_dir).work_tree(root))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

fn shown(paths: &[String]) -> String {
    let first = paths
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match paths.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
