//! Offers an agent's work: as a patch, or as a branch of the user's repository.

use std::path::PathBuf;

use crate::change::listing::Kind;
use crate::change::{ChangeError, Repository};

/// How far back we look for a commit that the user has.
const MAX_OWN_COMMITS: usize = 1_000;

/// Returns what lies between two commits, as `git apply` takes it.
///
/// # Errors
///
/// An object is missing, or the patch is too large.
pub fn patch(repo: &Repository, start: &str, commit: &str) -> Result<Vec<u8>, ChangeError> {
    let call = repo
        .call()
        .args(["diff-tree", "-p", "--binary", "--full-index"]);
    let call = call.args([
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-renames",
    ]);
    call.args([start, commit, "--"]).output()
}

/// Returns the commit that a branch of the user's points at.
///
/// # Errors
///
/// There is no repository.
pub fn branch_commit(repo: &Repository, branch: &str) -> Result<Option<String>, ChangeError> {
    let found = repo.versioned()?;
    let call = repo.git.on(&found.common_dir);
    let name = format!("refs/heads/{branch}");
    call.args(["rev-parse", "--verify", "--quiet", &name])
        .answer()
}

/// Makes a branch in the user's repository that points at a commit of ours.
///
/// Objects are added and one ref is made: index, files, `HEAD` and every other ref stay as they
/// are, and no hook runs. A branch that is there already and is another is left alone.
///
/// # Errors
///
/// There is no repository, it cannot be written, or the branch is another commit's.
pub fn publish(repo: &Repository, commit: &str, branch: &str) -> Result<(), ChangeError> {
    let taken = || ChangeError::BranchTaken {
        branch: branch.to_owned(),
    };
    match branch_commit(repo, branch)? {
        Some(there) if there == commit => return Ok(()),
        Some(_) => return Err(taken()),
        None => {}
    }
    match move_branch(repo, commit, branch, None, "offered")? {
        true => Ok(()),
        // Somebody else was as fast with the same.
        false if branch_commit(repo, branch)?.as_deref() == Some(commit) => Ok(()),
        false => Err(taken()),
    }
}

/// Moves a branch on which we offered work to a commit with more of it.
///
/// # Errors
///
/// It is checked out somewhere, or it does not point at `from` any more.
pub(crate) fn publish_more(
    repo: &Repository,
    commit: &str,
    branch: &str,
    from: &str,
) -> Result<(), ChangeError> {
    check_free(repo, branch)?;
    match move_branch(repo, commit, branch, Some(from), "offered")? {
        true => Ok(()),
        false => Err(ChangeError::BranchTaken {
            branch: branch.to_owned(),
        }),
    }
}

/// Checks that a branch of the user's repository is checked out nowhere.
///
/// # Errors
///
/// It is, here or in a linked worktree.
pub(crate) fn check_free(repo: &Repository, branch: &str) -> Result<(), ChangeError> {
    let call = repo.git.on(&repo.versioned()?.common_dir);
    let listed = call.args(["worktree", "list", "--porcelain"]).output()?;
    let mut place = PathBuf::new();
    for line in String::from_utf8_lossy(&listed).lines() {
        if let Some(path) = line.strip_prefix("worktree ") {
            place = PathBuf::from(path);
        } else if line.strip_prefix("branch refs/heads/") == Some(branch) {
            let branch = branch.to_owned();
            return Err(ChangeError::BranchCheckedOut { branch, at: place });
        }
    }
    Ok(())
}

/// Moves a branch of the user's repository from `from` to a commit of ours, or makes it.
///
/// Tells whether that was done: nothing happens when the branch points elsewhere meanwhile. One that
/// is checked out, here or in a linked worktree, is never moved.
pub(crate) fn advance(
    repo: &Repository,
    commit: &str,
    branch: &str,
    from: Option<&str>,
) -> Result<bool, ChangeError> {
    check_free(repo, branch)?;
    move_branch(repo, commit, branch, from, "approved")
}

/// Moves a branch from `from`, or makes it, and tells whether that was done: nothing happens when it
/// points elsewhere meanwhile.
fn move_branch(
    repo: &Repository,
    commit: &str,
    branch: &str,
    from: Option<&str>,
    why: &str,
) -> Result<bool, ChangeError> {
    hand_over(repo, commit, from)?;
    tribunal_store::crashpoint!("worktree.publish.objects");
    let found = repo.versioned()?;
    let nothing = "0".repeat(commit.len());
    let name = format!("refs/heads/{branch}");
    let identity = [
        "user.name=Tribunal".to_owned(),
        "user.email=coder@tribunal.invalid".to_owned(),
    ];
    let call = repo.git.on(&found.common_dir).settings(&identity);
    let message = format!("tribunal: {why}");
    let call = call.args(["update-ref", "-m", &message, &name, commit]);
    match call.args([from.unwrap_or(&nothing)]).output() {
        Ok(_) => Ok(true),
        Err(_) if branch_commit(repo, branch)?.as_deref() != from => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a branch of the user's repository that still points at `commit`.
pub(crate) fn remove_branch(
    repo: &Repository,
    branch: &str,
    commit: &str,
) -> Result<(), ChangeError> {
    check_free(repo, branch)?;
    let call = repo.git.on(&repo.versioned()?.common_dir);
    let name = format!("refs/heads/{branch}");
    call.args(["update-ref", "-d", &name, commit]).output()?;
    Ok(())
}

/// Copies the objects of a commit to the user's repository, as far as they are missing there.
///
/// They have `theirs` already, and all before it.
pub(crate) fn hand_over(
    repo: &Repository,
    commit: &str,
    theirs: Option<&str>,
) -> Result<(), ChangeError> {
    let objects = repo.versioned()?.common_dir.join("objects");
    let mut wanted = format!("{commit}\n");
    let mut next = commit.to_owned();
    for _ in 0..MAX_OWN_COMMITS {
        if theirs.is_some_and(|theirs| theirs == next) {
            wanted.push_str(&format!("^{next}\n"));
            break;
        }
        // What we made ourselves is theirs only if it was handed over, which does no harm twice.
        if let Some(parent) = repo.known(&next).and_then(|known| known.parent) {
            next = parent;
            continue;
        }
        let theirs = repo.call().objects(&objects);
        if theirs.args(["cat-file", "-t", &next]).answer()?.is_some() {
            wanted.push_str(&format!("^{next}\n"));
            break;
        }
        let parent = format!("{next}^");
        let parent = repo
            .call()
            .args(["rev-parse", "--verify", "--quiet", &parent]);
        match parent.answer()? {
            Some(parent) => next = parent,
            None => break,
        }
    }
    // `--local` leaves out what is in the user's store already.
    let call = repo
        .call()
        .args(["pack-objects", "--revs", "--local", "--stdout", "-q"]);
    let pack = call.input(wanted.into_bytes()).output()?;
    let shared = repo
        .settings
        .get("core.sharedrepository")
        .unwrap_or("umask");
    let call = repo.call().objects(&objects);
    let call = call.settings(&[format!("core.sharedRepository={shared}")]);
    call.args(["unpack-objects", "-q"]).input(pack).output()?;
    Ok(())
}

/// Returns the paths that differ between two commits.
///
/// # Errors
///
/// An object is missing.
pub fn touched(repo: &Repository, start: &str, commit: &str) -> Result<Vec<String>, ChangeError> {
    let files = touched_files(repo, start, commit)?;
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// Returns the paths that differ between two commits, each with whether the second has a file there
/// and nothing else disappears with it.
pub(crate) fn touched_files(
    repo: &Repository,
    start: &str,
    commit: &str,
) -> Result<Vec<(String, bool)>, ChangeError> {
    let entries = crate::change::listing::compare(repo, start, commit, &[])?;
    let paths = entries.iter().map(|entry| {
        let path = String::from_utf8_lossy(&entry.path).into_owned();
        let is_left = entry.new.kind() != Kind::Missing && entry.old_path.is_none();
        (path, is_left)
    });
    Ok(paths.collect())
}

/// Returns a file of a commit; nothing when it has no such file.
///
/// # Errors
///
/// Git cannot be run.
pub(crate) fn file_at(
    repo: &Repository,
    commit: &str,
    path: &str,
) -> Result<Option<Vec<u8>>, ChangeError> {
    let call = repo.call().args(["cat-file", "blob"]);
    match call.args([format!("{commit}:{path}")]).output() {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ChangeError::GitFailed { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
