//! Reads a change from what was pinned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tribunal_code::language::Language;
use tribunal_code::lines::LineSet;
use tribunal_code::nature::Nature;
use tribunal_code::place;
use tribunal_code::rule::is_read_alike;
use tribunal_code::text::decode;
use tribunal_core::review::coverage::{FileStatus, LeftOut, Omission};

use super::assets::{is_asset, is_asset_of_any_name, opening_of};
use super::compare::{Effort, Pair};
use super::links::FollowedLinks;
use super::listing::{self, Entry, Kind, Side};
use super::omit::{Rules, is_generated, left_out, settled_apart, too_many};
use super::repository::Repository;
use super::{Change, ChangeError, ChangedFile, Pinned, blobs, names, partial, settled};

/// What an object turned out to be.
#[derive(Debug, Clone)]
enum Content {
    Text(Arc<str>, Lossy),
    /// No text; the first bytes.
    Binary(Vec<u8>),
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
    let mut searched = Vec::new();
    let mut omitted = pinned.left_out.clone();
    omitted.extend(pinned.partly_left_out.iter().cloned());
    if let Some(head) = &pinned.head {
        let nothing = repo.format.empty_tree();
        let base = pinned.base.as_deref().filter(|_| !pinned.whole_files);
        let base = base.unwrap_or(nothing);
        let compared = listing::compare_with(repo, base, head, &pinned.paths, !pinned.moved_is_new);
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
        let links = FollowedLinks::new(repo, head, &entries)?;
        let rules = Rules::new(repo, pinned, &entries, links.targets())?;
        let entries = links.replace(repo, &rules, entries, &mut omitted)?;
        let named = by_name(&rules, pinned, &entries, &mut omitted);
        let sized = by_size(repo, pinned, named, &mut omitted)?;
        let contents = contents(repo, &sized)?;
        let mut effort = Effort::new();
        let unsettled = generated_by_branch(repo, pinned, &sized, &contents)?;
        for named in &sized {
            let may_be_generated = !unsettled.contains(named.path);
            match named.file(pinned, &contents, may_be_generated, &mut effort) {
                Ok((file, None)) => files.push(file),
                Ok((file, Some(left))) => {
                    searched.push(file);
                    omitted.push(left);
                }
                Err(left) => omitted.push(left),
            }
        }
        settled::mark(repo, pinned, &mut files)?;
    }
    if let Some(id) = &pinned.loose_patch {
        partial::read(repo, pinned, id, &mut files, &mut omitted)?;
    }
    Ok(Change::new(pinned.clone(), files, omitted, searched))
}

/// A file whose name is no reason to leave it out.
struct Named<'a> {
    entry: &'a Entry,
    path: &'a str,
    old_path: Option<&'a str>,
    /// Whether `.gitattributes` calls it binary.
    is_binary: bool,
    /// Why nobody reviews it, although it is searched.
    excused: Option<LeftOut>,
    /// Whether it is larger than what is put into questions.
    is_large: bool,
}

fn by_name<'a>(
    rules: &Rules,
    pinned: &Pinned,
    entries: &'a [Entry],
    omitted: &mut Vec<LeftOut>,
) -> Vec<Named<'a>> {
    let mut named = Vec::new();
    let limit = pinned.limits.max_files;
    let mut reviewed = 0;
    for entry in entries {
        match rules.paths(entry) {
            Err(left) => omitted.push(left),
            Ok(kept) if kept.excused.is_none() && reviewed >= limit => {
                omitted.push(too_many(kept.path, limit));
            }
            Ok(kept) => {
                reviewed += usize::from(kept.excused.is_none());
                named.push(Named {
                    entry,
                    path: kept.path,
                    old_path: kept.old_path,
                    is_binary: kept.is_binary,
                    excused: kept.excused,
                    is_large: false,
                });
            }
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
    // What is only searched has a budget apart: large lock files are common.
    let (mut total, mut total_searched) = (0_u64, 0_u64);
    let mut sized = Vec::new();
    for file in named {
        if file.is_gone()
            && file
                .ids()
                .any(|id| sizes.get(id).copied().flatten() > Some(limits.max_file_bytes))
        {
            omitted.push(left_out(
                file.path,
                Omission::Deleted,
                "too large to be shown",
            ));
            continue;
        }
        let found = file.ids().map(|id| sizes.get(id).copied().flatten());
        let Some(found) = found.collect::<Option<Vec<u64>>>() else {
            let detail = "its content is missing from the repository";
            // What is gone need not be read: a partial clone may lack it.
            let why = match file.is_gone() {
                true => Omission::Deleted,
                false => Omission::Unreadable,
            };
            omitted.push(left_out(file.path, why, detail));
            continue;
        };
        let largest = found.iter().copied().max().unwrap_or(0);
        let mut file = file;
        file.is_large = largest > limits.max_file_bytes;
        if file.is_large && names::is_only_searched(file.path) {
            let size = || left_out(file.path, Omission::NotCode, format!("{largest} bytes"));
            file.excused = file.excused.or_else(|| Some(size()));
        }
        let (total, max_file_bytes) = match file.excused {
            Some(_) => (&mut total_searched, limits.max_searched_bytes()),
            None if names::is_read_when_large(file.path) => {
                (&mut total, limits.max_searched_bytes())
            }
            None => (&mut total, limits.max_file_bytes),
        };
        if largest > max_file_bytes {
            let why = match opening(repo, &file.entry.new)? {
                Some(bytes) if is_asset(file.path, &bytes) => Omission::Asset,
                _ => Omission::Oversized,
            };
            omitted.push(left_out(file.path, why, format!("{largest} bytes")));
            continue;
        }
        let with_it = total.saturating_add(found.iter().sum());
        if with_it > limits.max_total_bytes {
            let detail = format!("the change has more than {} bytes", limits.max_total_bytes);
            omitted.push(left_out(file.path, Omission::TooMany, detail));
            continue;
        }
        *total = with_it;
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

/// Returns the files that are generated by their text, which only the branch under review says: the
/// settled side does not have them, or has them as they were written.
fn generated_by_branch(
    repo: &Repository,
    pinned: &Pinned,
    files: &[Named<'_>],
    contents: &BTreeMap<String, Content>,
) -> Result<BTreeSet<String>, ChangeError> {
    // Whole files have no side before them, so that the settled one is asked in any case.
    let whole = pinned.settled.as_deref().filter(|_| pinned.whole_files);
    let Some(settled) = whole.or_else(|| settled_apart(pinned)) else {
        return Ok(BTreeSet::new());
    };
    let is_claimed = |file: &&Named<'_>| {
        let new = contents.get(&file.entry.new.id);
        matches!(new, Some(Content::Text(text, _)) if place::is_generated(text))
    };
    let claimed: Vec<&Named<'_>> = files.iter().filter(is_claimed).collect();
    let mut unsettled: BTreeSet<String> = claimed.iter().map(|file| file.path.to_owned()).collect();
    let askable: Vec<&Named<'_>> = claimed
        .into_iter()
        .filter(|file| settled::is_plain(file.old_path.unwrap_or(file.path)))
        .collect();
    let names: Vec<String> = askable
        .iter()
        .map(|file| format!("{settled}:{}", file.old_path.unwrap_or(file.path)))
        .collect();
    blobs::each(repo, &names, |number, content| {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        if let (Some(file), Some(text)) = (askable.get(number), decode(&bytes))
            && place::is_generated(&text.text)
        {
            unsettled.remove(file.path);
        }
        Ok(())
    })?;
    Ok(unsettled)
}

/// Returns the first bytes of a file that is too large to be read.
fn opening(repo: &Repository, side: &Side) -> Result<Option<Vec<u8>>, ChangeError> {
    let mut bytes = None;
    if side.kind() == Kind::File {
        blobs::each(repo, &[side.id.as_str()], |_, content| {
            bytes = Some(opening_of(content)?);
            Ok(())
        })?;
    }
    Ok(bytes)
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        let opening = || opening_of(bytes).unwrap_or_default();
        match decode(bytes) {
            None => Self::Binary(opening()),
            // A small picture may have no zero byte, but it is no text either.
            Some(text) if text.is_lossy && is_asset_of_any_name(bytes) => Self::Binary(opening()),
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
        may_be_generated: bool,
        effort: &mut Effort,
    ) -> Result<(ChangedFile, Option<LeftOut>), LeftOut> {
        let omitted = |why| Err(left_out(self.path, why, ""));
        let sides = [&self.entry.old, &self.entry.new].map(|side| {
            let is_file = side.kind() == Kind::File;
            is_file.then(|| contents.get(&side.id)).flatten()
        });
        let has = |sought: fn(&Content) -> bool| sides.into_iter().flatten().any(sought);
        if has(|content| matches!(content, Content::Key)) {
            return omitted(if self.is_gone() {
                Omission::Deleted
            } else {
                Omission::Credentials
            });
        }
        let secret = self.excused.as_ref();
        let secret = secret.filter(|left| left.why == Omission::Credentials);
        if let Some(left) = secret.filter(|_| !self.is_public(sides)) {
            return Err(left.clone());
        }
        // What is no text is no prose, whatever its name is.
        let excused = self.excused.as_ref().filter(|_| secret.is_none());
        let by_name = excused.filter(|left| left.why != Omission::NotCode);
        if let Some(why) = self.binary(sides) {
            let left = by_name.cloned();
            return Err(left.unwrap_or_else(|| left_out(self.path, why, "")));
        }
        if let Some(left) = by_name.filter(|_| self.is_binary) {
            return Err(left.clone());
        }
        if self.is_binary {
            let detail = "by `.gitattributes`";
            return Err(left_out(self.path, Omission::Binary, detail));
        }
        let [old, new] = sides.map(|content| match content {
            Some(Content::Text(text, is_lossy)) => Some((text.clone(), *is_lossy)),
            _ => None,
        });
        // What nobody read before is read as a whole.
        let is_first_read = |old: &str| {
            let new = new.as_ref().map(|(text, _)| &**text);
            self.became_code(new)
                || new.is_some_and(|new| place::is_generated(old) && !place::is_generated(new))
        };
        let old = old.filter(|(text, _)| !is_first_read(text));
        let status = self.status(pinned.whole_files, old.is_some());
        let (base_text, new_text) = (
            old.as_ref().map(|(text, _)| text.clone()),
            new.as_ref().map(|(text, _)| text.clone()),
        );
        let is_whole = pinned.whole_files;
        let (before, after) = (base_text.as_deref(), new_text.as_deref());
        // What begins as a script is one, whatever its name says.
        let is_script = after.is_some_and(|text| text.starts_with("#!"));
        let is_lock_file = |left: &&LeftOut| left.why == Omission::LockFile;
        let mut excused = excused
            .filter(|left| !(is_script && is_lock_file(left)))
            .cloned();
        if may_be_generated && is_generated(is_whole, before, after) {
            excused = excused.or_else(|| Some(left_out(self.path, Omission::Generated, "")));
        }
        if let Some(left) = excused.take_if(|_| self.is_gone()) {
            return Err(left);
        }
        let is_endless = base_text.is_none() && new_text.as_deref().is_some_and(place::is_minified);
        if excused.is_none()
            && let Some(why) = names::omission(self.path).filter(|_| is_endless)
        {
            return Err(LeftOut {
                claimed: true,
                ..left_out(self.path, why, "")
            });
        }
        let Some((text, is_lossy)) = new.or(old) else {
            return omitted(Omission::Unreadable);
        };
        // A script is no prose either, and nobody reads one of this size.
        let is_prose = Nature::of(self.path, &text).is_prose_or_data();
        if !is_prose && let Some(left) = excused.take_if(|left| left.why == Omission::NotCode) {
            return Err(LeftOut {
                why: Omission::Oversized,
                ..left
            });
        }
        let pair = Pair {
            path: self.path,
            old_path: self.old_path.filter(|_| status == FileStatus::Renamed),
            status,
            old: base_text.as_deref(),
            new: new_text.as_deref(),
            old_mode: self.entry.old.mode,
            new_mode: self.entry.new.mode,
        };
        let (patch, diff) = pair.compare(effort);
        let file = ChangedFile {
            path: self.path.to_owned(),
            old_path: self
                .old_path
                .filter(|_| status == FileStatus::Renamed)
                .map(str::to_owned),
            status,
            unsettled: LineSet::default(),
            language: Language::detect(self.path, &text),
            text,
            base_text,
            patch,
            diff,
            is_lossy,
            is_large: self.is_large,
        };
        Ok((file, excused))
    }

    /// Tells whether everybody may see what is in the file on both sides.
    fn is_public(&self, sides: [Option<&Content>; 2]) -> bool {
        let former = [self.old_path.unwrap_or(self.path), self.path];
        sides
            .into_iter()
            .zip(former)
            .all(|(content, path)| match content {
                Some(Content::Text(text, _)) => names::is_public(path, text.as_bytes()),
                Some(Content::Binary(_) | Content::Key) => false,
                None => true,
            })
    }

    fn is_gone(&self) -> bool {
        self.entry.new.kind() == Kind::Missing
    }

    /// Returns why a file that is no text is left out; nothing when it is text now.
    fn binary(&self, [old, new]: [Option<&Content>; 2]) -> Option<Omission> {
        match (old, new) {
            (_, Some(Content::Binary(bytes))) if is_asset(self.path, bytes) => {
                Some(Omission::Asset)
            }
            (Some(Content::Binary(_)), Some(Content::Binary(_))) if self.is_same_binary() => {
                Some(Omission::Unchanged)
            }
            (_, Some(Content::Binary(_))) => Some(Omission::Binary),
            (Some(Content::Binary(_)), None) => Some(Omission::Deleted),
            _ => None,
        }
    }

    /// Tells whether a binary file has another name of the same kind, or another mode.
    fn is_same_binary(&self) -> bool {
        let ending = |path: &str| path.rsplit_once('.').map(|(_, ending)| ending.to_owned());
        let same_ending = self
            .old_path
            .is_none_or(|old| ending(old) == ending(self.path));
        self.entry.old.id == self.entry.new.id && same_ending
    }

    /// Tells whether a new name made code of what was none, put other rules in charge of it, or
    /// concerns what nobody reviewed before.
    fn became_code(&self, new: Option<&str>) -> bool {
        let (Some(old_path), Some(text)) = (self.old_path, new) else {
            return false;
        };
        let is_code = !Nature::of(self.path, text).is_prose_or_data();
        is_code
            && (!is_read_alike(old_path, self.path, text) || names::omission(old_path).is_some())
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
