//! From names to commits.
//!
//! Names are the user's, so this is the one place where git reads the user's repository: its
//! refs and config, to answer with an id. No command here looks at a working tree or an index,
//! and an explicit git directory keeps git from refusing what belongs to somebody else.

use super::ChangeError;
use super::git::Call;
use super::repository::{Known, Repository};

/// How many refs are compared with a name that is none.
const MAX_SUGGESTIONS: usize = 5_000;

/// Something to compare the branch with.
pub(super) struct Other {
    /// Its name, for people.
    pub(super) name: String,
    /// Its commit.
    pub(super) commit: String,
}

/// Returns the commit the user stands on; none if there is no commit yet.
pub(crate) fn head(repo: &Repository) -> Result<Option<String>, ChangeError> {
    if let Some(commit) = find(repo, "HEAD")? {
        return Ok(Some(commit));
    }
    let named = names(repo)?.args(["rev-parse", "--verify", "--quiet", "HEAD"]);
    match named.answer()? {
        Some(id) => Err(ChangeError::ObjectMissing { id }),
        None => Ok(None),
    }
}

/// Returns the commit that `revision` names.
pub(crate) fn resolve(repo: &Repository, revision: &str) -> Result<String, ChangeError> {
    let found = match revision.starts_with('-') || revision.is_empty() {
        true => None,
        false => {
            refuse_ambiguous(repo, revision)?;
            find(repo, revision)?
        }
    };
    match found {
        Some(commit) => Ok(commit),
        None => Err(ChangeError::UnknownRevision {
            revision: revision.to_owned(),
            suggestion: suggestion(repo, revision)?,
        }),
    }
}

/// Refuses a name that a branch and a tag share while they lead to different commits. Git takes the tag,
/// and whoever may push tags would choose what a change is compared with.
fn refuse_ambiguous(repo: &Repository, revision: &str) -> Result<(), ChangeError> {
    let name = revision.split(['^', '~', '@', ':']).next();
    let name = name.unwrap_or_default();
    if name.is_empty() || name.contains(['*', '?', '[', '\\']) || name == "HEAD" {
        return Ok(());
    }
    let places = ["refs", "refs/tags", "refs/heads", "refs/remotes"];
    let full = places.map(|place| format!("{place}/{name}"));
    let format = "--format=%(objectname) %(*objectname) %(refname)";
    let call = names(repo)?.args(["for-each-ref", format]).args(&full);
    let output = call.output()?;
    let output = String::from_utf8_lossy(&output);
    let mut found: Vec<(&str, &str)> = Vec::new();
    for line in output.lines() {
        let mut words = line.split(' ');
        let (object, peeled, reference) = (words.next(), words.next(), words.next());
        let (Some(object), Some(peeled), Some(reference)) = (object, peeled, reference) else {
            continue;
        };
        if full.iter().any(|name| name == reference) {
            found.push((if peeled.is_empty() { object } else { peeled }, reference));
        }
    }
    if found.iter().any(|(commit, _)| *commit != found[0].0) {
        return Err(ChangeError::AmbiguousRevision {
            revision: revision.to_owned(),
            names: found.iter().map(|(_, name)| (*name).to_owned()).collect(),
        });
    }
    Ok(())
}

/// Returns the name of the current branch; none if no branch is checked out.
pub(crate) fn branch(repo: &Repository) -> Result<Option<String>, ChangeError> {
    let call = names(repo)?.args(["symbolic-ref", "--quiet", "HEAD"]);
    let name = call.answer()?;
    Ok(name.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)))
}

/// Returns what the branch may be compared with: its upstream, then the default branch.
pub(super) fn others(repo: &Repository) -> Result<Vec<Other>, ChangeError> {
    let mut candidates = Vec::new();
    let upstream = names(repo)?.args(["rev-parse", "--symbolic-full-name", "--verify", "-q"]);
    candidates.extend(upstream.args(["HEAD@{upstream}"]).answer()?);
    let default = names(repo)?.args(["symbolic-ref", "-q", "refs/remotes/origin/HEAD"]);
    candidates.extend(default.answer()?);
    let configured = repo.settings.get("init.defaultbranch");
    for name in configured.into_iter().chain(["main", "master"]) {
        candidates.push(format!("refs/remotes/origin/{name}"));
        candidates.push(format!("refs/heads/{name}"));
    }
    let mut others: Vec<Other> = Vec::new();
    for name in candidates {
        if let Some(commit) = find(repo, &name)? {
            let prefixes = ["refs/remotes/", "refs/heads/"];
            let short = prefixes.iter().find_map(|start| name.strip_prefix(start));
            let name = short.unwrap_or(&name).to_owned();
            others.push(Other { name, commit });
        }
    }
    Ok(others)
}

/// Returns the default branch: that of the remote, or of this repository where the remote has none.
///
/// Where no name says which one it is, it is the only branch beside the one that is checked out, or
/// the only one.
pub(super) fn default_branch(repo: &Repository) -> Result<Option<Other>, ChangeError> {
    let remotes = remotes(repo)?;
    let mut candidates = Vec::new();
    for remote in &remotes {
        let head = format!("{remote}HEAD");
        let call = names(repo)?.args(["symbolic-ref", "-q", &head]);
        candidates.extend(call.answer()?);
    }
    let configured = repo.settings.get("init.defaultbranch");
    let known: Vec<&str> = configured.into_iter().chain(["main", "master"]).collect();
    let starts = remotes.iter().map(String::as_str).chain(["refs/heads/"]);
    for start in starts {
        candidates.extend(known.iter().map(|name| format!("{start}{name}")));
    }
    candidates.extend(only_other_branch(repo)?);
    for name in candidates {
        if let Some(commit) = find(repo, &name)? {
            return Ok(Some(Other { name, commit }));
        }
    }
    Ok(None)
}

/// Tells whether it is known which branch is the default one, or whether there is no branch at all.
pub(crate) fn knows_default_branch(repo: &Repository) -> Result<bool, ChangeError> {
    Ok(default_branch(repo)?.is_some() || head(repo)?.is_none())
}

/// Returns how the names of branches of the remote begin; none where it is not clear which remote counts.
fn remotes(repo: &Repository) -> Result<Vec<String>, ChangeError> {
    let origin = "refs/remotes/origin/".to_owned();
    let mut starts: Vec<String> = refs_below(repo, "refs/remotes/")?
        .iter()
        .filter_map(|name| {
            let rest = name.strip_prefix("refs/remotes/")?;
            let (remote, _) = rest.split_once('/')?;
            Some(format!("refs/remotes/{remote}/"))
        })
        .collect();
    starts.sort();
    starts.dedup();
    Ok(match starts.len() {
        1 => starts,
        _ => vec![origin],
    })
}

/// Returns the only branch that is not checked out, or the only branch at all; nothing if there are
/// several.
fn only_other_branch(repo: &Repository) -> Result<Option<String>, ChangeError> {
    let current = branch(repo)?.map(|name| format!("refs/heads/{name}"));
    let mut all = refs_below(repo, "refs/heads/")?;
    if all.len() > 1 {
        all.retain(|name| Some(name) != current.as_ref());
    }
    Ok(all.pop().filter(|_| all.is_empty()))
}

/// Returns the names of refs, up to a number that nobody keeps by hand.
fn refs_below(repo: &Repository, start: &str) -> Result<Vec<String>, ChangeError> {
    let count = format!("--count={MAX_SUGGESTIONS}");
    let call = names(repo)?.args(["for-each-ref", "--format=%(refname)", &count, start]);
    let output = call.output()?;
    let names = String::from_utf8_lossy(&output);
    Ok(names.lines().map(str::to_owned).collect())
}

/// Returns the commit at which the history of `commit` left that of `other`.
pub(super) fn merge_base(
    repo: &Repository,
    other: &Other,
    commit: &str,
) -> Result<String, ChangeError> {
    let call = repo.call().args(["merge-base", &other.commit, commit]);
    call.answer()?.ok_or_else(|| ChangeError::NoCommonHistory {
        revision: other.name.clone(),
        is_shallow: repo.own.join("shallow").is_file(),
    })
}

/// Returns where the commit that `revision` names left the history of `other`.
pub(crate) fn fork_point(
    repo: &Repository,
    revision: &str,
    commit: &str,
    other: &str,
) -> Result<String, ChangeError> {
    let other = Other {
        name: revision.to_owned(),
        commit: other.to_owned(),
    };
    merge_base(repo, &other, commit)
}

/// Returns where work that ends in `commit` starts when nothing was approved yet: where it left the
/// history of `HEAD`, else that of the default branch, else its parent; nothing for a first commit.
pub(crate) fn work_start(
    repo: &Repository,
    revision: &str,
    commit: &str,
) -> Result<Option<String>, ChangeError> {
    let default = names(repo)?.args(["symbolic-ref", "-q", "refs/remotes/origin/HEAD"]);
    let default = default.answer()?;
    let default = default
        .as_deref()
        .and_then(|name| name.strip_prefix("refs/remotes/origin/"));
    let configured = repo.settings.get("init.defaultbranch");
    let named = default.into_iter().chain(configured);
    let mut others = vec!["HEAD".to_owned()];
    for name in named.chain(["main", "master"]) {
        others.push(format!("refs/heads/{name}"));
        others.push(format!("refs/remotes/origin/{name}"));
    }
    let mut compared = 0;
    for name in others {
        let Some(other) = find(repo, &name)? else {
            continue;
        };
        let start = fork_point(repo, revision, commit, &other)?;
        if start != commit {
            return Ok(Some(start));
        }
        // On the default branch, a commit is work by itself.
        compared += 1;
        if compared == 2 {
            break;
        }
    }
    parent(repo, commit)
}

/// Returns the first parent of a commit; none if it has none, or none that we have.
pub(super) fn parent(repo: &Repository, commit: &str) -> Result<Option<String>, ChangeError> {
    let revision = format!("{commit}^1^{{commit}}");
    let call = repo.call().args(["rev-parse", "--verify", "--quiet"]);
    call.args([revision]).answer()
}

/// Returns the tree of a commit.
pub(crate) fn tree(repo: &Repository, commit: &str) -> Result<String, ChangeError> {
    if let Some(known) = repo.known(commit) {
        return Ok(known.tree);
    }
    let revision = format!("{commit}^{{tree}}");
    let call = repo.call().args(["rev-parse", "--verify", "--quiet"]);
    let tree = call.args([revision]).line()?;
    let (known, parent) = (tree.clone(), None);
    repo.keep_known(
        commit,
        Known {
            tree: known,
            parent,
        },
    );
    Ok(tree)
}

fn find(repo: &Repository, revision: &str) -> Result<Option<String>, ChangeError> {
    let call = names(repo)?.args(["rev-parse", "--verify", "--quiet"]);
    call.args([format!("{revision}^{{commit}}")]).answer()
}

fn suggestion(repo: &Repository, revision: &str) -> Result<Option<String>, ChangeError> {
    let count = format!("--count={MAX_SUGGESTIONS}");
    let call = names(repo)?.args(["for-each-ref", "--format=%(refname:short)", &count]);
    let output = call.output()?;
    let names = String::from_utf8_lossy(&output);
    let scored = names.lines().map(|name| {
        // People leave out the remote more often than they mistype it.
        let last = name.split_once('/').map_or(name, |(_, rest)| rest);
        let score = strsim::jaro_winkler(name, revision).max(strsim::jaro_winkler(last, revision));
        (score, name)
    });
    let best = scored
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    Ok(best.map(|(_, name)| name.to_owned()))
}

/// Returns a call that reads names of the user's repository.
fn names(repo: &Repository) -> Result<Call<'_>, ChangeError> {
    Ok(repo.git.on(&repo.versioned()?.git_dir))
}
