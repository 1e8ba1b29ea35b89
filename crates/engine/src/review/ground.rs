//! Holds every citation against the code: does the file exist, the line, the quote.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tribunal_code::ground::{
    Claim, Identity, Reason, Sheet, earlier_place_name, ground, named_in, place_name,
};
use tribunal_core::consensus::ClaimText;
use tribunal_core::finding::{Category, Finding, Grounding, Location, canonical_path};
use tribunal_core::review::identity::{Claimed, SightedClaim};

use super::cited_path::{known_path, line_in_path, may_mean_changed_file, path_meant};
use crate::change::Change;

/// A quote of so many bytes is not in a file by accident.
const SHORTEST_QUOTE: usize = 8;

/// The code of a change, with what was looked up once.
pub(crate) struct Ground<'a> {
    change: &'a Change,
    /// The files that were asked about, after the change and before it.
    sheets: Mutex<BTreeMap<(String, Side), Arc<Sheet>>>,
    /// Files of the repository that are not part of the change; nothing when nobody could look.
    others: Option<BTreeSet<String>>,
}

/// Which text of a file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    After,
    Before,
}

impl<'a> Ground<'a> {
    /// Returns the ground on which findings about `change` stand.
    pub(crate) fn new(change: &'a Change) -> Self {
        Self {
            change,
            sheets: Mutex::default(),
            others: None,
        }
    }

    /// Returns the same ground, which knows what other files the repository has.
    pub(crate) fn with_others(self, others: Option<BTreeSet<String>>) -> Self {
        Self { others, ..self }
    }

    /// Checks what a finding cites, corrects its line to where the quoted code stands, and returns
    /// why the citation does not fully hold.
    pub(crate) fn check(&self, finding: &mut Finding) -> Vec<String> {
        self.spell(&mut finding.location);
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
        let mut grounded = ground(&claim, text, diff);
        if grounded.grounding == Grounding::Refuted && self.may_exist(&claim) {
            // It is elsewhere, or nobody can tell: a doubt, and no proof that it was made up.
            grounded.grounding = Grounding::Doubtful;
            for reason in &mut grounded.reasons {
                if *reason == Reason::FileMissing {
                    *reason = Reason::FileNotChanged;
                }
            }
        }
        finding.grounding = grounded.grounding;
        if let Some((first, last)) = grounded.lines {
            finding.location.line = Some(first);
            finding.location.end_line = (last > first).then_some(last);
            finding.location.function = self.function(&finding.location.file, first);
        }
        grounded.reasons.iter().map(Reason::to_string).collect()
    }

    /// Gives a place the path that the change has for the file it means.
    fn spell(&self, location: &mut Location) {
        let others = self.others.as_ref();
        let is_other = |path: &str| others.is_some_and(|files| files.contains(path));
        let given = &location.file;
        let meant = match known_path(self.change, given) {
            Some(path) => Some(path),
            None if is_other(given) || is_other(&canonical_path(given)) => None,
            None => path_meant(self.change, given),
        };
        if location.line.is_none() && meant.is_some() {
            location.line = line_in_path(given);
        }
        location.file = meant.unwrap_or_else(|| canonical_path(given).into_owned());
    }

    /// Tells whether what a finding cites may exist although the change as it is now does not have
    /// it: in another file of the change or the repository, in a file that is left out, in the code
    /// before the change, or in the part of a file that a patch does not show.
    fn may_exist(&self, claim: &Claim<'_>) -> bool {
        let Some(file) = self.change.file(claim.file) else {
            let mut left_out = self.change.left_out.iter();
            let others = self.others.as_ref();
            let elsewhere = others.is_none_or(|files| files.contains(claim.file));
            return elsewhere
                || may_mean_changed_file(self.change, claim.file)
                || left_out.any(|one| one.path == claim.file)
                || self.is_quoted_from_change(claim.quote);
        };
        if self.change.pinned.loose_patch.is_some() {
            return true;
        }
        if self.is_quoted_from_change(claim.quote) {
            return true;
        }
        let before = file.base_text.as_deref();
        before.is_some_and(|before| {
            let then = ground(claim, Some(before), None);
            then.grounding != Grounding::Refuted
        })
    }

    /// Tells whether all lines of a quote are in one file of the change.
    fn is_quoted_from_change(&self, quote: &str) -> bool {
        let quote = quote.trim();
        let is_in = |text: &str| quote.lines().all(|line| text.contains(line.trim()));
        let mut files = self.change.files.iter();
        quote.len() >= SHORTEST_QUOTE && files.any(|file| is_in(&file.text))
    }

    /// Returns the place of a finding, which survives moved lines.
    pub(crate) fn identity(&self, finding: &Finding) -> Identity {
        let path = &finding.location.file;
        let category = finding.category.unwrap_or(Category::Other);
        let sheet = self.sheet(path, Side::After).unwrap_or_default();
        sheet.identify(path, category, finding.location.line)
    }

    /// Returns what a finding claims, and about which place.
    pub(crate) fn claim(&self, finding: &Finding) -> SightedClaim {
        let identity = self.identity(finding);
        let in_category = |category: Category| Identity {
            category,
            ..identity.clone()
        };
        let all = || Category::ALL.into_iter().map(in_category);
        SightedClaim {
            claimed: Claimed {
                place: place_name(&identity),
                category: identity.category,
                rule: finding.rule.clone(),
                text: ClaimText::new(&finding.title, &finding.description)
                    .with_details(&[&finding.trigger, &finding.suggestion]),
                scope: identity.scope.clone(),
                signature: identity.signature.clone(),
            },
            file: finding.location.file.clone(),
            places: all().map(|one| place_name(&one)).collect(),
            earlier_places: all().filter_map(|one| earlier_place_name(&one)).collect(),
            is_only: identity.is_only,
            has_code: !identity.code.is_empty(),
        }
    }

    /// Tells whether the same code stood at the same place before the change. Where the change adds
    /// an equal line, nobody can tell the new one from the old one, so none of them stood there.
    pub(crate) fn stood_before(&self, path: &str, identity: &Identity) -> bool {
        let sides = (
            self.sheet(path, Side::Before),
            self.sheet(path, Side::After),
        );
        let (Some(before), Some(after)) = sides else {
            return false;
        };
        let equal_lines = |sheet: &Sheet| {
            let lines = sheet.lines_with(&identity.code);
            let places =
                lines.map(|line| sheet.identify(&identity.file, identity.category, Some(line)));
            places.filter(|place| place.scope == identity.scope).count()
        };
        let name = place_name(identity);
        let is_it = |line| {
            let before = before.identify(&identity.file, identity.category, Some(line));
            place_name(&before) == name
        };
        !identity.code.is_empty()
            && equal_lines(&after) <= equal_lines(&before)
            && before.lines_with(&identity.code).any(is_it)
    }

    /// Tells whether a line with this code stands in a file after the change.
    pub(crate) fn stands(&self, path: &str, code: &str) -> bool {
        self.sheet(path, Side::After)
            .is_some_and(|sheet| sheet.lines_with(code).next().is_some())
    }

    fn sheet(&self, path: &str, side: Side) -> Option<Arc<Sheet>> {
        let key = (path.to_owned(), side);
        // Plain data, which is fit to read whatever happened to another thread.
        let mut sheets = self.sheets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = sheets.get(&key) {
            return Some(Arc::clone(known));
        }
        let file = self.change.file(path)?;
        let text = match side {
            Side::After => Some(file.text.as_ref()),
            Side::Before => file.base_text.as_deref(),
        };
        let sheet = Arc::new(Sheet::new(path, text?));
        sheets.insert(key, Arc::clone(&sheet));
        Some(sheet)
    }

    fn function(&self, path: &str, line: u32) -> Option<String> {
        let sheet = self.sheet(path, Side::After)?;
        Some(sheet.outline().function(line)?.name.clone())
    }
}
