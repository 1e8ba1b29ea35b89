//! Holds every citation against the code: does the file exist, the line, the quote.

use std::collections::BTreeMap;

use tribunal_code::ground::{Claim, Identity, Reason, ground, identify, named_in};
use tribunal_code::language::{Language, Limits};
use tribunal_code::outline::Outline;
use tribunal_core::finding::{Category, Finding, Grounding};

use crate::change::Change;

/// The code of a change, with what was looked up once.
pub(crate) struct Ground<'a> {
    change: &'a Change,
    outlines: BTreeMap<String, Outline>,
}

impl<'a> Ground<'a> {
    /// Returns the ground on which findings about `change` stand.
    pub(crate) fn new(change: &'a Change) -> Self {
        Self {
            change,
            outlines: BTreeMap::new(),
        }
    }

    /// Checks what a finding cites, corrects its line to where the quoted code stands, and returns
    /// why the citation does not fully hold.
    pub(crate) fn check(&mut self, finding: &mut Finding) -> Vec<String> {
        let file = self.known_path(&finding.location.file);
        if let Some(path) = file {
            finding.location.file = path;
        }
        if finding.grounding == Grounding::Confirmed {
            return Vec::new();
        }
        let names = named_in(&finding.description);
        let claim = Claim {
            file: &finding.location.file,
            line: finding.location.line.map(i64::from),
            end_line: finding.location.end_line.map(i64::from),
            quote: &finding.quote,
            names: &names,
        };
        let whole = self.change.pinned.whole_files;
        let text = self.change.file(&finding.location.file);
        let text = text.map(|file| file.text.as_ref());
        let diff = (!whole).then(|| self.change.diff());
        let grounded = ground(&claim, text, diff);
        finding.grounding = grounded.grounding;
        if let Some((first, last)) = grounded.lines {
            finding.location.line = Some(first);
            finding.location.end_line = (last > first).then_some(last);
            finding.location.function = self.function(&finding.location.file, first);
        }
        grounded.reasons.iter().map(Reason::to_string).collect()
    }

    /// Returns the identity of a finding, which survives moved lines and other words.
    pub(crate) fn identity(&self, finding: &Finding) -> Identity {
        let file = self.change.file(&finding.location.file);
        let text = file.map_or("", |file| file.text.as_ref());
        let category = finding.category.unwrap_or(Category::Other);
        identify(
            &finding.location.file,
            text,
            category,
            finding.location.line,
        )
    }

    /// Returns the path as the change has it, whatever a reviewer put in front of it.
    fn known_path(&self, given: &str) -> Option<String> {
        let given = given.trim().trim_matches('`').replace('\\', "/");
        let bare = given.trim_start_matches("./");
        let known = |path: &str| self.change.file(path).map(|file| file.path.clone());
        let without_prefix = || {
            let prefixes = ["a/", "b/"];
            prefixes
                .iter()
                .find_map(|prefix| known(bare.strip_prefix(prefix)?))
        };
        // An absolute path ends in the one we know.
        let by_ending = || {
            let mut files = self.change.files.iter();
            let ends = |path: &str| bare.ends_with(&format!("/{path}"));
            files
                .find(|file| ends(&file.path))
                .map(|file| file.path.clone())
        };
        known(bare).or_else(without_prefix).or_else(by_ending)
    }

    fn function(&mut self, path: &str, line: u32) -> Option<String> {
        if !self.outlines.contains_key(path) {
            let file = self.change.file(path)?;
            let outline = outline_of(path, &file.text).unwrap_or_default();
            self.outlines.insert(path.to_owned(), outline);
        }
        let outline = self.outlines.get(path)?;
        Some(outline.function(line)?.name.clone())
    }
}

fn outline_of(path: &str, text: &str) -> Option<Outline> {
    let language = Language::detect(path, text)?;
    let tree = language.parse(text, Limits::default()).ok()?;
    Some(Outline::new(language, &tree, text))
}
