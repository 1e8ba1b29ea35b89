//! The code that a judge is shown when a dispute names files.

use std::fmt::Write as _;
use std::path::{Component, Path};

use tribunal_core::dispute::{Dispute, Precedent};
use tribunal_core::finding::Label;
use tribunal_core::text::truncate_chars;

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
        let severity = label.severity();
        let is_same = label.as_str().eq_ignore_ascii_case(severity.as_str());
        Ok(DisputeBackground {
            weight: match is_same {
                true => label.as_str().to_owned(),
                false => format!("{label} ({severity})"),
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
