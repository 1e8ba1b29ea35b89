//! Reads a change from what was pinned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tribunal_code::language::Language;
use tribunal_code::text::decode;
use tribunal_core::review::coverage::{FileStatus, LeftOut, Omission};

use super::compare::{Effort, Pair};
use super::listing::{self, Entry, Kind, Side};
use super::omit::{Rules, is_generated, left_out, too_many};
use super::repository::Repository;
use super::{Change, ChangeError, ChangedFile, Pinned, blobs, names, partial};

/// What an object turned out to be.
#[derive(Debug, Clone)]
enum Content {
    Text(Arc<str>, Lossy),
    Binary,
    Key,
}

/// Whether bytes had to be replaced.
type Lossy = bool;

/// Reads the change; the same for the same `pinned`, whatever happened since.
///
/// # Errors
///
/// Git fails, or an object was pruned.
pub fn read(repo: &Repository, pinned: &Pinned) -> Result<Change, ChangeError> {
    let mut files = Vec::new();
    let mut omitted = pinned.left_out.clone();
    if let Some(head) = &pinned.head {
        let nothing = repo.format.empty_tree();
        let base = pinned.base.as_deref().filter(|_| !pinned.whole_files);
        let base = base.unwrap_or(nothing);
        let compared = listing::compare(repo, base, head, &pinned.paths);
        // A pruned object is the likely reason, and worth a sentence of its own.
        let mut entries =
            compared.or_else(|error| blobs::expect(repo, &[base, head]).and(Err(error)))?;
        // The tree has these as they were before; nobody asked for that.
        let unstored: BTreeSet<&[u8]> = pinned
            .left_out
            .iter()
            .map(|left| left.path.as_bytes())
            .collect();
        entries.retain(|entry| !unstored.contains(entry.path.as_slice()));
        let rules = Rules::new(repo, pinned, &entries)?;
        let named = by_name(&rules, pinned, &entries, &mut omitted);
        let sized = by_size(repo, pinned, named, &mut omitted)?;
        let contents = contents(repo, &sized)?;
        let mut effort = Effort::new();
        for named in &sized {
            match named.file(pinned, &contents, &mut effort) {
                Ok(file) => files.push(file),
                Err(left) => omitted.push(left),
            }
        }
    }
    if let Some(id) = &pinned.loose_patch {
        partial::read(repo, pinned, id, &mut files, &mut omitted)?;
    }
    Ok(Change::new(pinned.clone(), files, omitted))
}

/// A file whose name is no reason to leave it out.
struct Named<'a> {
    entry: &'a Entry,
    path: &'a str,
    old_path: Option<&'a str>,
}

fn by_name<'a>(
    rules: &Rules,
    pinned: &Pinned,
    entries: &'a [Entry],
    omitted: &mut Vec<LeftOut>,
) -> Vec<Named<'a>> {
    let mut named = Vec::new();
    let limit = pinned.limits.max_files;
    for entry in entries {
        match rules.paths(entry) {
            Err(left) => omitted.push(left),
            Ok((path, _)) if named.len() >= limit => {
                omitted.push(too_many(path, limit));
            }
            Ok((path, old_path)) => named.push(Named {
                entry,
                path,
                old_path,
            }),
        }
    }
    named
}

fn by_size<'a>(
    repo: &Repository,
    pinned: &Pinned,
    named: Vec<Named<'a>>,
    omitted: &mut Vec<LeftOut>,
) -> Result<Vec<Named<'a>>, ChangeError> {
    let ids: Vec<&str> = named.iter().flat_map(Named::ids).collect();
    let sizes = blobs::sizes(repo, &ids)?;
    let sizes: BTreeMap<&str, Option<u64>> = ids.into_iter().zip(sizes).collect();
    let limits = &pinned.limits;
    let mut total: u64 = 0;
    let mut sized = Vec::new();
    for file in named {
        let found = file.ids().map(|id| sizes.get(id).copied().flatten());
        let Some(found) = found.collect::<Option<Vec<u64>>>() else {
            let detail = "its content is missing from the repository";
            omitted.push(left_out(file.path, Omission::Unreadable, detail));
            continue;
        };
        let largest = found.iter().copied().max().unwrap_or(0);
        if largest > limits.max_file_bytes {
            let detail = format!("{largest} bytes");
            omitted.push(left_out(file.path, Omission::Oversized, detail));
            continue;
        }
        let with_it = total.saturating_add(found.iter().sum());
        if with_it > limits.max_total_bytes {
            let detail = format!("the change has more than {} bytes", limits.max_total_bytes);
            omitted.push(left_out(file.path, Omission::TooMany, detail));
            continue;
        }
        total = with_it;
        sized.push(file);
    }
    Ok(sized)
}

fn contents(
    repo: &Repository,
    files: &[Named<'_>],
) -> Result<BTreeMap<String, Content>, ChangeError> {
    let mut ids: Vec<&str> = files.iter().flat_map(Named::ids).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut contents = BTreeMap::new();
    let mut bytes = Vec::new();
    blobs::each(repo, &ids, |index, content| {
        bytes.clear();
        content.read_to_end(&mut bytes)?;
        if let Some(id) = ids.get(index) {
            contents.insert((*id).to_owned(), Content::of(&bytes));
        }
        Ok(())
    })?;
    Ok(contents)
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        match decode(bytes) {
            None => Self::Binary,
            Some(text) if names::starts_as_key(text.text.as_bytes()) => Self::Key,
            Some(text) => Self::Text(Arc::from(&*text.text), text.is_lossy),
        }
    }
}

impl<'a> Named<'a> {
    /// Returns the ids of the contents on both sides.
    fn ids(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let is_file = |side: &&Side| side.kind() == Kind::File;
        let sides = [&self.entry.old, &self.entry.new];
        let files = sides.into_iter().filter(is_file);
        files.map(|side| side.id.as_str())
    }

    fn file(
        &self,
        pinned: &Pinned,
        contents: &BTreeMap<String, Content>,
        effort: &mut Effort,
    ) -> Result<ChangedFile, LeftOut> {
        let omitted = |why| Err(left_out(self.path, why, ""));
        let sides = [&self.entry.old, &self.entry.new].map(|side| {
            let is_file = side.kind() == Kind::File;
            is_file.then(|| contents.get(&side.id)).flatten()
        });
        let has = |sought: fn(&Content) -> bool| sides.into_iter().flatten().any(sought);
        if has(|content| matches!(content, Content::Key)) {
            return omitted(Omission::Credentials);
        }
        if has(|content| matches!(content, Content::Binary)) {
            return omitted(Omission::Binary);
        }
        let [old, new] = sides.map(|content| match content {
            Some(Content::Text(text, is_lossy)) => Some((text.clone(), *is_lossy)),
            _ => None,
        });
        let status = self.status(pinned.whole_files, old.is_some());
        let (base_text, new_text) = (
            old.as_ref().map(|(text, _)| text.clone()),
            new.as_ref().map(|(text, _)| text.clone()),
        );
        let is_whole = pinned.whole_files;
        if is_generated(is_whole, base_text.as_deref(), new_text.as_deref()) {
            return omitted(Omission::Generated);
        }
        let Some((text, is_lossy)) = new.or(old) else {
            return omitted(Omission::Unreadable);
        };
        let pair = Pair {
            path: self.path,
            old_path: self.old_path,
            status,
            old: base_text.as_deref(),
            new: new_text.as_deref(),
            old_mode: self.entry.old.mode,
            new_mode: self.entry.new.mode,
        };
        let (patch, diff) = pair.compare(effort);
        Ok(ChangedFile {
            path: self.path.to_owned(),
            old_path: self.old_path.map(str::to_owned),
            status,
            language: Language::detect(self.path, &text),
            text,
            base_text,
            patch,
            diff,
            is_lossy,
        })
    }

    fn status(&self, is_whole: bool, had_text: bool) -> FileStatus {
        if is_whole {
            FileStatus::Whole
        } else if self.entry.new.kind() == Kind::Missing {
            FileStatus::Deleted
        } else if !had_text {
            // It may have been a link or a submodule before: to a reader, all of it is new.
            FileStatus::Added
        } else if self.old_path.is_some() {
            FileStatus::Renamed
        } else {
            FileStatus::Modified
        }
    }
}
