//! `.tribunal/rulings.yml`: read from the commit before a change, written for the next one.
//!
//! A change cannot dismiss its own findings: what it adds to the file is named in the report and
//! counts once it is part of the base.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tribunal_core::review::report::{ReviewedFinding, Voice};
use tribunal_core::rulings::{self, CitedPlace, FILE, TeamRuling, TeamRulings};
use tribunal_core::time::Timestamp;

use crate::Engine;
use crate::case::{CaseError, blocking};
use crate::change::{ChangeError, Pinned, Repository, blobs};
use crate::config::read_yaml;
use crate::files;

/// A larger file is not read.
const LARGEST: u64 = 4 << 20;

/// So many problems are named; a number tells of the rest.
const MOST_PROBLEMS: usize = 5;

/// The rulings that count for a review, as the ledger keeps them with it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RulingsInForce {
    /// The entries that hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rulings: Vec<TeamRuling>,
    /// What the reader of the report should know, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

impl RulingsInForce {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what counts for the change that was pinned: the file of the commit before it, or of the
    /// commit at which its branch left the default branch.
    pub(crate) fn read(
        repository: &Repository,
        pinned: &Pinned,
        now: Timestamp,
    ) -> Result<Self, ChangeError> {
        let settled = pinned.settled.as_deref();
        let [before, after] = sides(repository, [settled, pinned.head.as_deref()])?;
        let mut notes = Vec::new();
        let known = understood(before, "of the base commit", &mut notes);
        let mut unsaid = Vec::new();
        let is_readable = match &after {
            Side::Nothing => pinned.head.is_some(),
            Side::TooLarge => false,
            Side::Bytes(bytes) => parse(bytes).is_ok_and(|read| read.problems.is_empty()),
        };
        let left = understood(after, "of this change", &mut unsaid);
        let added = left.iter().filter(|one| !known.contains(one)).count();
        // Whoever takes a ruling back makes a review stricter, and need not wait for the base.
        let is_left = |one: &TeamRuling| {
            let mut left = left.iter();
            !is_readable || left.any(|other| other.fingerprint == one.fingerprint)
        };
        let (known, taken_back): (Vec<_>, Vec<_>) = known.into_iter().partition(is_left);
        if !taken_back.is_empty() {
            let ids: Vec<&str> = taken_back.iter().map(|one| one.finding.as_str()).collect();
            let (count, ids) = (counted(taken_back.len()), ids.join(", "));
            notes.push(format!(
                "{count} of `{FILE}` removed by this change, so what was dismissed counts again: {ids}"
            ));
        }
        match (added, pinned.whole_files) {
            (0, _) => {}
            (count, false) if pinned.settled != pinned.base => notes.push(format!(
                "not yet in force: {} of this branch; `{FILE}` counts once the default branch has it",
                counted(count)
            )),
            (count, false) => notes.push(format!(
                "not yet in force: {} added by this change; `{FILE}` counts from the base commit",
                counted(count)
            )),
            (count, true) => notes.push(format!(
                "not yet in force: {} that the last commit does not have; `{FILE}` counts from there",
                counted(count)
            )),
        }
        let (expired, rulings): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|one| one.has_expired(now));
        if !expired.is_empty() {
            let ids: Vec<&str> = expired.iter().map(|one| one.finding.as_str()).collect();
            let count = counted(expired.len());
            notes.push(format!("{count} of `{FILE}` expired: {}", ids.join(", ")));
        }
        Ok(Self { rulings, notes })
    }
}

/// What a commit holds in place of the file.
enum Side {
    Nothing,
    TooLarge,
    Bytes(Vec<u8>),
}

/// Returns what both commits hold, asking git once.
fn sides(repository: &Repository, commits: [Option<&str>; 2]) -> Result<[Side; 2], ChangeError> {
    let mut found = [Side::Nothing, Side::Nothing];
    let there = (0..)
        .zip(commits)
        .filter_map(|(index, commit)| Some((index, commit?)));
    let there: Vec<(usize, &str)> = there.collect();
    let names: Vec<String> = there
        .iter()
        .map(|(_, commit)| format!("{commit}:{FILE}"))
        .collect();
    blobs::each(repository, &names, |number, content| {
        let mut bytes = Vec::new();
        content.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if let Some((index, _)) = there.get(number) {
            found[*index] = match bytes.len() as u64 > LARGEST {
                true => Side::TooLarge,
                false => Side::Bytes(bytes),
            };
        }
        Ok(())
    })?;
    Ok(found)
}

/// Returns the entries that make sense, and notes what is wrong with the others.
fn understood(side: Side, whose: &str, notes: &mut Vec<String>) -> Vec<TeamRuling> {
    let read = match side {
        Side::Nothing => return Vec::new(),
        Side::TooLarge => Err(format!("it is larger than {LARGEST} bytes")),
        Side::Bytes(bytes) => parse(&bytes),
    };
    match read {
        Ok(read) => {
            let problems = read.problems.iter().take(MOST_PROBLEMS);
            notes.extend(
                problems.map(|problem| {
                    format!("`{FILE}` {whose}: {problem}; this entry does not count")
                }),
            );
            let more = read.problems.len().saturating_sub(MOST_PROBLEMS);
            if more > 0 {
                notes.push(format!(
                    "`{FILE}` {whose}: {more} more entries do not count"
                ));
            }
            read.rulings
        }
        Err(problem) => {
            notes.push(format!(
                "`{FILE}` {whose} cannot be read, so nothing in it counts: {problem}"
            ));
            Vec::new()
        }
    }
}

fn parse(bytes: &[u8]) -> Result<TeamRulings, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    TeamRulings::read(&read_yaml(text)?)
}

fn counted(number: usize) -> String {
    match number {
        1 => "1 ruling".to_owned(),
        number => format!("{number} rulings"),
    }
}

/// The team's file in the working tree, as it is before an edit.
#[derive(Debug)]
pub struct TeamFile {
    path: PathBuf,
    text: String,
    rulings: Vec<TeamRuling>,
}

impl TeamFile {
    /// Returns where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells whether it has an entry about this finding.
    #[must_use]
    pub fn has(&self, finding: &ReviewedFinding, place: &CitedPlace) -> bool {
        self.rulings.iter().any(|one| one.concerns(finding, place))
    }

    /// Puts an entry into the file, in place of others about the same finding.
    pub fn add(
        self,
        finding: &ReviewedFinding,
        place: &CitedPlace,
        ruling: &TeamRuling,
    ) -> Result<(), CaseError> {
        let mut file = self.without(finding, place);
        file.text = rulings::with_entry(&file.text, ruling);
        file.rulings.push(ruling.clone());
        file.write()
    }

    /// Removes all entries about a finding.
    pub fn remove(self, finding: &ReviewedFinding, place: &CitedPlace) -> Result<(), CaseError> {
        self.without(finding, place).write()
    }

    fn without(mut self, finding: &ReviewedFinding, place: &CitedPlace) -> Self {
        for index in (0..self.rulings.len()).rev() {
            if self.rulings[index].concerns(finding, place) {
                self.text = rulings::without_entry(&self.text, index);
                self.rulings.remove(index);
            }
        }
        self
    }

    fn write(self) -> Result<(), CaseError> {
        let is_right = |text: &str| {
            let read = parse(text.as_bytes());
            read.is_ok_and(|read| read.problems.is_empty() && read.rulings == self.rulings)
        };
        // A file in another form than ours is written anew; its comments are lost.
        let text = match is_right(&self.text) {
            true => self.text,
            false => rulings::render(&self.rulings),
        };
        let doing = format!("write {}", self.path.display());
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .and_then(|()| files::write_shared(&self.path, text.as_bytes()))
            .map_err(CaseError::file(doing))
    }
}

impl Engine {
    /// Reads the team's file of the repository around `directory`, to change it.
    ///
    /// A file that is not understood is not changed.
    pub fn team_file(&self, directory: &Path) -> Result<TeamFile, CaseError> {
        let repository = self.repository(directory)?;
        repository.versioned()?;
        let path = repository.work_tree()?.join(FILE);
        let unread = |problem: String| {
            CaseError::Request(format!("{} cannot be read: {problem}", path.display()))
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unread(error.to_string())),
        };
        let read = parse(text.as_bytes()).map_err(unread)?;
        if let Some(problem) = read.problems.first() {
            return Err(unread(problem.clone()));
        }
        Ok(TeamFile {
            rulings: read.rulings,
            path,
            text,
        })
    }

    /// Returns the team's rulings that count for a change.
    pub(crate) async fn rulings_in_force(
        &self,
        repository: &Repository,
        pinned: &Pinned,
    ) -> Result<RulingsInForce, CaseError> {
        let now = self.ledger.store().now().await?;
        let (repository, pinned) = (repository.clone(), pinned.clone());
        blocking(move || RulingsInForce::read(&repository, &pinned, now)).await
    }

    /// Returns the place that a finding cites, as the ledger knows it. Of entries that tell less about
    /// their place, only the name of the finding counts.
    pub async fn cited_place(&self, finding: &ReviewedFinding) -> Result<CitedPlace, CaseError> {
        let lead = finding.voices.first();
        let of_lead = |part: fn(&Voice) -> &String| lead.map(part).cloned().unwrap_or_default();
        Ok(CitedPlace {
            code: self.tracked_finding(finding).await?.code,
            scope: of_lead(|voice| &voice.scope),
            signature: of_lead(|voice| &voice.signature),
            is_only: true,
        })
    }
}
