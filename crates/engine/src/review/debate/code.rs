//! The code of a change as the rule of new evidence looks things up in it.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use tribunal_core::review::evidence::{Code, compact, words};

use crate::change::Change;

/// The code of a change; what takes a walk over all of it is done once, when first needed.
pub(super) struct ChangeCode<'a> {
    change: &'a Change,
    compact: OnceCell<Vec<String>>,
    names: OnceCell<BTreeSet<&'a str>>,
}

impl<'a> ChangeCode<'a> {
    pub(super) fn new(change: &'a Change) -> Self {
        Self {
            change,
            compact: OnceCell::new(),
            names: OnceCell::new(),
        }
    }

    /// Returns all texts of the change, those before it included: what was removed is evidence too.
    fn texts(change: &'a Change) -> impl Iterator<Item = &'a str> {
        let files = change.files.iter();
        files.flat_map(|file| {
            let now: &str = &file.text;
            std::iter::once(now).chain(file.base_text.as_deref())
        })
    }
}

impl Code for ChangeCode<'_> {
    fn has_line(&self, file: &str, line: u32) -> bool {
        let bare = file.trim_start_matches("./");
        let file = self.change.file(bare);
        file.is_some_and(|file| line > 0 && file.text.lines().nth(line as usize - 1).is_some())
    }

    fn contains(&self, fragment: &str) -> bool {
        let change = self.change;
        let texts = self
            .compact
            .get_or_init(|| Self::texts(change).map(compact).collect());
        let fragment = compact(fragment);
        texts.iter().any(|text| text.contains(&fragment))
    }

    fn has_name(&self, name: &str) -> bool {
        let change = self.change;
        let names = self
            .names
            .get_or_init(|| Self::texts(change).flat_map(words).collect());
        names.contains(name)
    }
}
