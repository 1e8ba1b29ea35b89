//! The command by which the user takes the offered work over.

use std::path::Path;

use tribunal_core::review::arbitration::{GateWithOffer, Offer};
use tribunal_core::review::gate::{Gate, GateWord};

use super::Bench;
use crate::case::CaseError;
use crate::change::STAGED_TITLE;
use crate::worktree::touched_files;

/// How many files are named in a command.
const MOST_NAMED: usize = 5;

impl Bench<'_> {
    /// Returns what the gate is with the offered work; nothing when no work is on offer.
    pub(super) async fn gate_with(
        &self,
        offer: Option<&Offer>,
        gate: &Gate,
        start: &str,
    ) -> Result<Option<GateWithOffer>, CaseError> {
        let gate = GateWord::from(gate);
        Ok(match offer {
            Some(Offer::Branch { branch, commit, .. }) => Some(GateWithOffer {
                gate,
                command: self.merge_command(branch, commit, start).await?,
                branch: Some(branch.clone()),
                patch: None,
            }),
            Some(Offer::Patch { file }) => Some(GateWithOffer {
                gate,
                command: self.seen_from_root(&match self.is_staged() {
                    true => format!("apply --index {}", for_shell(file)),
                    false => format!("apply {}", for_shell(file)),
                }),
                branch: None,
                patch: Some(file.clone()),
            }),
            Some(Offer::Applied { .. } | Offer::Kept { .. }) | None => None,
        })
    }

    async fn merge_command(
        &self,
        branch: &str,
        commit: &str,
        start: &str,
    ) -> Result<String, CaseError> {
        if self.request.pinned.head.as_deref() == Some(start) {
            return Ok(format!("git merge {branch}"));
        }
        // Over uncommitted work git refuses to merge.
        let (from, to) = (start.to_owned(), commit.to_owned());
        let files = self
            .blocking(move |repo| touched_files(repo, &from, &to))
            .await?;
        let is_nameable = |(path, is_left): &(String, bool)| *is_left && for_shell(path) == *path;
        if (1..=MOST_NAMED).contains(&files.len()) && files.iter().all(is_nameable) {
            let names: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
            let names = names.join(" ");
            // What was staged is committed next, whatever the files say.
            let places = match self.is_staged() {
                true => " --staged --worktree",
                false => "",
            };
            let words = format!("restore -s {branch}{places} -- {names}");
            return Ok(self.seen_from_root(&words));
        }
        let from: String = start.chars().take(12).collect();
        let diff = self.seen_from_root(&format!("diff --binary {from} {branch}"));
        let apply = match self.is_staged() {
            true => "apply --index",
            false => "apply",
        };
        Ok(format!("{diff} | {}", self.seen_from_root(apply)))
    }

    /// Tells whether the next commit is under review, and not the files.
    fn is_staged(&self) -> bool {
        self.request.pinned.title == STAGED_TITLE
    }

    /// Returns a git command that works where the user is.
    fn seen_from_root(&self, words: &str) -> String {
        let root = self.repository.root();
        match is_same_place(root, &self.request.directory) {
            true => format!("git {words}"),
            false => format!("git -C {} {words}", for_shell(&root.display().to_string())),
        }
    }
}

fn is_same_place(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Returns a word as a shell takes it literally.
fn for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match word.chars().all(is_plain) && !word.starts_with('-') && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
