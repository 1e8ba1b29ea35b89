//! The code that a judge is shown: the work on a task, and the files that a side names.

use std::fmt::Write as _;
use std::path::{Component, Path};

use tribunal_core::dispute::{Dispute, Gravity, Precedent, Subject};
use tribunal_core::finding::Label;
use tribunal_core::ids::CaseId;
use tribunal_core::text::truncate_chars;

use super::NewDispute;
use crate::Engine;
use crate::case::CaseError;
use crate::human::DisputeBackground;

/// So much of one file is shown, in characters.
const MOST_OF_A_FILE: usize = 60_000;

/// So much is shown in all, in characters.
const MOST: usize = 160_000;

impl Engine {
    /// Returns the code that was stored with a dispute; empty when there is none.
    pub(super) fn material_of(&self, dispute: &Dispute) -> Result<String, CaseError> {
        let material = match &dispute.opening.material {
            Some(hash) => self
                .dir
                .get_blob(hash)
                .map_err(CaseError::file("read the code of the dispute"))?,
            None => Vec::new(),
        };
        Ok(String::from_utf8_lossy(&material).into_owned())
    }

    /// Returns what a person is shown who has to choose or to rule.
    pub(crate) async fn background_of(
        &self,
        dispute: &Dispute,
        label: Label,
    ) -> Result<DisputeBackground, CaseError> {
        let precedents = self.precedents_of(dispute).await?;
        let precedents = precedents.iter().filter_map(Precedent::of);
        Ok(DisputeBackground {
            weight: match label.with_severity(label.severity()) {
                both if both.contains(' ') => both,
                _ => label.as_str().to_owned(),
            },
            code: self.material_of(dispute)?,
            precedents: precedents.map(|one| one.phrase()).collect(),
        })
    }

    /// Returns the named files of the project as a judge is shown them; nothing without files.
    ///
    /// Only files inside the project are read, however their names are written.
    pub fn files_as_material(&self, files: &[String]) -> Result<Option<String>, CaseError> {
        if files.is_empty() {
            return Ok(None);
        }
        let Some(project) = &self.disputes.project else {
            let text = "there is no project to read the files from; run `tribunal init`";
            return Err(CaseError::Request(text.to_owned()));
        };
        let mut text = String::new();
        for name in files {
            let contents = read_inside(project, name)?;
            let _ = writeln!(text, "FILE {name}");
            let shown = truncate_chars(&contents, MOST_OF_A_FILE);
            for (number, line) in (1..).zip(shown.lines()) {
                let _ = writeln!(text, "{number:>5}  {line}");
            }
        }
        Ok(Some(truncate_chars(&text, MOST).into_owned()))
    }
}

impl Engine {
    /// Returns a dispute about a task with the files and the code of the task's work, where the
    /// caller names none.
    pub(super) async fn with_work(&self, mut new: NewDispute) -> Result<NewDispute, CaseError> {
        let (Subject::Task { task, .. }, Gravity::Major) = (&new.subject, new.gravity) else {
            return Ok(new);
        };
        let Ok(task) = CaseId::new(task.clone()) else {
            return Ok(new);
        };
        // Work that lies elsewhere is out of sight, which stops nobody from contesting it.
        let work = match self.work_of_task(&task).await {
            Ok(Some(work)) => work,
            Ok(None) | Err(CaseError::Change(_)) => return Ok(new),
            Err(error) => return Err(error),
        };
        let shown = work.diff(MOST).await?;
        if new.files.is_empty() {
            new.files = work.files().to_vec();
        }
        new.material = match new.material {
            Some(named) => Some(format!("{named}\n{shown}")),
            None => Some(shown),
        };
        Ok(new)
    }

    /// Returns all files of a dispute once `more` are added, and the hash of the code that a judge is
    /// shown then; nothing when there are no more.
    pub(super) fn with_more_files(
        &self,
        dispute: &Dispute,
        more: Vec<String>,
    ) -> Result<(Vec<String>, Option<String>), CaseError> {
        let Some(added) = self.files_as_material(&more)? else {
            return Ok((Vec::new(), None));
        };
        let shown = match &dispute.opening.material {
            Some(hash) => {
                let before = self
                    .dir
                    .get_blob(hash)
                    .map_err(CaseError::file("read the code of the dispute"))?;
                format!("{}\n{added}", String::from_utf8_lossy(&before))
            }
            None => added,
        };
        let mut files = dispute.opening.files.clone();
        files.extend(
            more.into_iter()
                .filter(|file| !dispute.opening.files.contains(file)),
        );
        Ok((files, Some(self.stored_material(&shown)?)))
    }

    /// Stores code for a judge, without secrets, and returns its hash.
    pub(super) fn stored_material(&self, text: &str) -> Result<String, CaseError> {
        let text = self.redactor.redact(text);
        self.dir
            .put_blob(text.as_bytes())
            .map_err(CaseError::file("store the code of the dispute"))
    }
}

fn read_inside(project: &Path, name: &str) -> Result<String, CaseError> {
    let refuse = |why: &str| CaseError::Request(format!("cannot show the file `{name}`: {why}"));
    let relative = Path::new(name);
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !relative.components().all(plain) {
        return Err(refuse("name it from the root of the project"));
    }
    let root = project
        .canonicalize()
        .map_err(|error| refuse(&error.to_string()))?;
    let path = root
        .join(relative)
        .canonicalize()
        .map_err(|_| refuse("it does not exist"))?;
    if !path.starts_with(&root) || !path.is_file() {
        return Err(refuse("it is no file of the project"));
    }
    let bytes = std::fs::read(&path).map_err(|error| refuse(&error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
