//! Branches of the user's repository on which work was offered, and which of them may go.
//!
//! A branch is ours as long as it points at the commit that the ledger says we put there. One that
//! somebody moved, or that the ledger knows nothing of, is never removed.

use std::collections::BTreeMap;

use serde::Serialize;
use tribunal_core::event::{Event, EventKind};
use tribunal_core::ids::{CaseId, EffectKey};

use crate::case::{Case, CaseError, blocking};
use crate::change::{ChangeError, Repository};
use crate::worktree::{branch_commit, check_free};

/// With this begins the key of the effect that removes a branch.
pub(crate) const BRANCH_EFFECT: &str = "remove branch ";

/// Work that a case put on a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    /// The case.
    pub(super) case: CaseId,
    /// The branch.
    pub(super) branch: String,
    /// The commit.
    pub(super) commit: String,
}

/// A branch of the user's that has a name of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct FoundBranch {
    /// Its name.
    pub(super) name: String,
    /// The commit it points at.
    pub(super) commit: String,
    /// The branch of somebody else's that holds the commit too.
    pub(super) merged_into: Option<String>,
}

/// Returns what a case put on branches, as its events tell.
pub(super) fn offered_in(case: &CaseId, events: &[Event]) -> Vec<Offered> {
    let done = events.iter().filter_map(|event| match &event.kind {
        EventKind::EffectDone { effect, .. } => Some(effect.as_str()),
        _ => None,
    });
    let offered = done.filter_map(|key| {
        let words: Vec<&str> = key.split(' ').collect();
        let (branch, commit) = match words.as_slice() {
            ["branch", branch, commit, ..] => (*branch, *commit),
            ["keep", commit, "as", branch, ..] => (*branch, *commit),
            _ => return None,
        };
        Some(Offered {
            case: case.clone(),
            branch: branch.to_owned(),
            commit: commit.to_owned(),
        })
    });
    offered.collect()
}

/// Returns the branches that have names of ours, without the one that collects approved work.
pub(super) fn find(repo: &Repository, work_branch: &str) -> Result<Vec<FoundBranch>, ChangeError> {
    let common_dir = repo.versioned()?.common_dir.clone();
    let call = repo.git.on(&common_dir).args([
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        "refs/heads",
        "refs/remotes",
    ]);
    let listed = call.output()?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let refs: Vec<(&str, &str)> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let ours = refs.iter().filter_map(|(name, commit)| {
        let name = name.strip_prefix("refs/heads/")?;
        (has_our_name(name) && name != work_branch).then_some((name, *commit))
    });
    let mut found = Vec::new();
    for (name, commit) in ours {
        let contains = format!("--contains={commit}");
        let call = repo.git.on(&common_dir).args([
            "for-each-ref",
            "--format=%(refname)",
            &contains,
            "refs/heads",
            "refs/remotes",
        ]);
        let holding = call.output()?;
        let holding = String::from_utf8_lossy(&holding).into_owned();
        let others = holding.lines().filter(|name| {
            let branch = name.strip_prefix("refs/heads/");
            branch.is_none_or(|branch| branch == work_branch || !has_our_name(branch))
        });
        // A remote may hold it only because our branch was pushed there.
        let mut others = others.filter(|other| !other.ends_with(&format!("/{name}")));
        let merged_into = others.next().map(|other| {
            let other = other.strip_prefix("refs/heads/").unwrap_or(other);
            other.to_owned()
        });
        found.push(FoundBranch {
            name: name.to_owned(),
            commit: commit.to_owned(),
            merged_into,
        });
    }
    Ok(found)
}

/// Tells whether a branch has a name that we give.
fn has_our_name(branch: &str) -> bool {
    branch.starts_with("tribunal/") || branch.starts_with("tribunal-c-")
}

/// Returns who offered what a branch points at; nobody if it is not ours or was moved.
pub(super) fn owner_of<'o>(
    branch: &FoundBranch,
    offered: &BTreeMap<String, Vec<&'o Offered>>,
) -> Option<&'o Offered> {
    let of_name = offered.get(&branch.name)?;
    let mut same = of_name.iter().filter(|one| one.commit == branch.commit);
    same.next_back().copied()
}

/// Removes a branch as an effect of its case, if it still points at `commit` and nobody has it checked out.
/// Returns why it stays.
pub(super) async fn remove(
    case: &Case,
    repo: &Repository,
    branch: &str,
    commit: &str,
) -> Result<Option<String>, CaseError> {
    let (place, name) = (repo.clone(), branch.to_owned());
    let in_use = blocking(move || Ok(check_free(&place, &name).err())).await?;
    if let Some(error) = in_use {
        return Ok(Some(error.to_string()));
    }
    let probe = || async {
        let (place, name) = (repo.clone(), branch.to_owned());
        let there = blocking(move || branch_commit(&place, &name)).await?;
        Ok(match there {
            Some(there) if there == commit => None,
            Some(_) => Some("somebody moved it".to_owned()),
            None => Some("it is gone".to_owned()),
        })
    };
    let act = || async {
        let (place, name, commit) = (repo.clone(), branch.to_owned(), commit.to_owned());
        blocking(move || {
            let name = format!("refs/heads/{name}");
            let call = place.git.on(&place.versioned()?.common_dir);
            // Git refuses if the branch does not point at the commit any more.
            let removed = call.args(["update-ref", "-d", &name, &commit]).output();
            removed.map(|_| ())
        })
        .await
    };
    let what = format!("remove the branch {branch}");
    let mut number = 1;
    loop {
        // One that was removed and offered again is removed again, under another key.
        let key = match number {
            1 => format!("{BRANCH_EFFECT}{branch} {commit}"),
            number => format!("{BRANCH_EFFECT}{branch} {commit} {number}"),
        };
        case.effect(&EffectKey::new(key)?, &what, probe, act)
            .await?;
        if probe().await?.is_some() {
            return Ok(None);
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use tribunal_core::time::Timestamp;

    use super::*;

    fn done(key: &str) -> Event {
        Event {
            case: CaseId::from_bits(1),
            seq: 1,
            at: Timestamp(0),
            kind: EventKind::EffectDone {
                effect: EffectKey::new(key).expect("a key"),
                evidence: String::new(),
            },
        }
    }

    #[test]
    fn what_was_put_on_branches_is_read_from_the_effects() {
        let events = [
            done("branch tribunal/c-0000000001 aaaa"),
            done("branch tribunal/c-0000000001 bbbb 2"),
            done("keep cccc as tribunal/task/c-0000000001"),
            done("integrate dddd into tribunal/work"),
            done("patch eeee"),
        ];
        let offered = offered_in(&CaseId::from_bits(1), &events);
        let pairs: Vec<_> = offered
            .iter()
            .map(|one| (one.branch.as_str(), one.commit.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("tribunal/c-0000000001", "aaaa"),
                ("tribunal/c-0000000001", "bbbb"),
                ("tribunal/task/c-0000000001", "cccc"),
            ]
        );
    }

    #[test]
    fn a_branch_that_was_moved_has_no_owner() {
        let offered = offered_in(
            &CaseId::from_bits(1),
            &[done("branch tribunal/c-0000000001 aaaa")],
        );
        let mut by_name: BTreeMap<String, Vec<&Offered>> = BTreeMap::new();
        for one in &offered {
            by_name.entry(one.branch.clone()).or_default().push(one);
        }
        let at = |commit: &str| FoundBranch {
            name: "tribunal/c-0000000001".to_owned(),
            commit: commit.to_owned(),
            merged_into: None,
        };
        assert!(owner_of(&at("aaaa"), &by_name).is_some());
        assert!(owner_of(&at("bbbb"), &by_name).is_none());
    }
}
