//! Symbolic links of a change: where they lead, and what is read in their place.
//!
//! A link within the repository gives one more name to a file that is reviewed under its own. Where
//! the name of the link puts other rules in charge, the file is read under that name as well, so that
//! no program gets past the gate as a link to a note. That holds for links that the change brings and
//! for links that were there before to files that it changes.

use std::collections::BTreeMap;

use tribunal_code::place;
use tribunal_code::rule::is_read_alike;
use tribunal_code::text::decode;
use tribunal_core::review::coverage::{LeftOut, Omission};

use super::assets::is_asset;
use super::listing::{self, Entry, Kind, Side};
use super::omit::{Rules, left_out};
use super::repository::Repository;
use super::{ChangeError, blobs, names};

/// How many links are followed one after the other.
const MOST_HOPS: usize = 16;

/// How many files below a linked directory are looked at.
const MOST_FILES: usize = 500;

/// How many bytes of linked files are looked at.
const MOST_BYTES: u64 = 32 << 20;

/// The longest text of a link that is followed; paths are not longer.
const LONGEST_LINK: u64 = 4096;

/// The links of a change, followed.
#[derive(Default)]
pub(super) struct FollowedLinks {
    by_path: BTreeMap<Vec<u8>, LinkEnd>,
    /// Changed files that links reach which the change does not touch.
    reached: Vec<ReachedFile>,
}

/// A changed file that can be reached through a link that was there before.
struct ReachedFile {
    file: LinkedFile,
    /// What the change does to the file.
    change: Entry,
}

/// Where a link leads.
enum LinkEnd {
    /// To this file.
    File(LinkedFile),
    /// To a directory with these files.
    Directory {
        path: String,
        files: Vec<LinkedFile>,
    },
    /// To nothing that can be read here, for this reason.
    Nowhere(String),
}

/// A file that can be reached through a link.
struct LinkedFile {
    /// Its own path.
    path: String,
    /// Its path through the link.
    through: String,
    side: Side,
}

impl FollowedLinks {
    /// Follows all links among `entries` in the tree after the change.
    pub(super) fn new(
        repo: &Repository,
        head: &str,
        entries: &[Entry],
    ) -> Result<Self, ChangeError> {
        let tree = LinkedTree::new(repo, head)?;
        let mut by_path = BTreeMap::new();
        let changed: BTreeMap<&str, &Entry> = entries
            .iter()
            .filter_map(|entry| Some((str::from_utf8(&entry.path).ok()?, entry)))
            .collect();
        let mut reached = Vec::new();
        for link in tree.links() {
            let end = tree.end_of(link);
            if let Some(entry) = changed.get(link) {
                by_path.insert(entry.path.clone(), end);
                continue;
            }
            let files = match end {
                LinkEnd::File(file) => vec![file],
                LinkEnd::Directory { files, .. } => files,
                LinkEnd::Nowhere(_) => Vec::new(),
            };
            reached.extend(files.into_iter().filter_map(|file| {
                let change = (*changed.get(file.path.as_str())?).clone();
                (change.new.kind() == Kind::File).then_some(ReachedFile { file, change })
            }));
        }
        Ok(Self { by_path, reached })
    }

    /// Returns the paths of all files that the links lead to.
    pub(super) fn targets(&self) -> impl Iterator<Item = &[u8]> {
        self.by_path.values().flat_map(|end| {
            let files = match end {
                LinkEnd::File(file) => std::slice::from_ref(file),
                LinkEnd::Directory { files, .. } => files,
                LinkEnd::Nowhere(_) => &[],
            };
            files.iter().map(|file| file.path.as_bytes())
        })
    }

    /// Puts what must be read in the place of the links, and notes the links that nobody has to read.
    ///
    /// Links that the settings ignore stay, so that the note about them says so.
    pub(super) fn replace(
        &self,
        repo: &Repository,
        rules: &Rules,
        entries: Vec<Entry>,
        omitted: &mut Vec<LeftOut>,
    ) -> Result<Vec<Entry>, ChangeError> {
        let mut replaced = Vec::with_capacity(entries.len());
        for entry in entries {
            let shown = String::from_utf8_lossy(&entry.path).into_owned();
            let end = match self.by_path.get(&entry.path) {
                Some(end) if !rules.is_ignored(&shown) && !names::is_own(&shown) => end,
                _ => {
                    replaced.push(entry);
                    continue;
                }
            };
            match meaning(repo, rules, &entry, end)? {
                LinkMeaning::SecondName(target) => {
                    let detail = format!("leads to `{target}`");
                    omitted.push(left_out(&shown, Omission::LinkWithin, detail));
                }
                LinkMeaning::Read(files) => replaced.extend(files),
                LinkMeaning::Unread(why, detail) => omitted.push(left_out(&shown, why, detail)),
            }
        }
        replaced.extend(self.read_through_links(repo, rules)?);
        Ok(replaced)
    }

    /// Returns the changed files that other rules read under the name of a link, under that name.
    fn read_through_links(
        &self,
        repo: &Repository,
        rules: &Rules,
    ) -> Result<Vec<Entry>, ChangeError> {
        let reached: Vec<&ReachedFile> = self
            .reached
            .iter()
            .filter(|reached| !rules.is_ignored(&reached.file.through))
            .filter(|reached| !names::is_own(&reached.file.through))
            .collect();
        let ids: Vec<&str> = reached
            .iter()
            .map(|reached| reached.file.side.id.as_str())
            .collect();
        let sizes = blobs::sizes(repo, &ids)?;
        let mut entries = Vec::new();
        let mut looked_at = Vec::new();
        let mut bytes: u64 = 0;
        for (reached, size) in reached.into_iter().zip(sizes) {
            bytes = bytes.saturating_add(size.unwrap_or(MOST_BYTES));
            // What is too much to be compared is read once more, and what is too large is then told.
            match bytes > MOST_BYTES {
                true => entries.push(reached.under_other_name()),
                false => looked_at.push(reached),
            }
        }
        let ids: Vec<&str> = looked_at
            .iter()
            .map(|reached| reached.file.side.id.as_str())
            .collect();
        blobs::each(repo, &ids, |number, content| {
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes)?;
            if let Some(reached) = looked_at.get(number)
                && !rules.is_read_alike_through(&reached.file, &bytes)
            {
                entries.push(reached.under_other_name());
            }
            Ok(())
        })?;
        Ok(entries)
    }
}

/// What a link means for the review.
enum LinkMeaning {
    /// It is one more name for what is reviewed under its own.
    SecondName(String),
    /// These files are read under the name of the link.
    Read(Vec<Entry>),
    /// Nobody can read what it leads to.
    Unread(Omission, String),
}

fn meaning(
    repo: &Repository,
    rules: &Rules,
    entry: &Entry,
    end: &LinkEnd,
) -> Result<LinkMeaning, ChangeError> {
    let (target, files) = match end {
        LinkEnd::Nowhere(why) => {
            return Ok(LinkMeaning::Unread(Omission::Symlink, why.clone()));
        }
        LinkEnd::File(file) => (&file.path, std::slice::from_ref(file)),
        LinkEnd::Directory { path, files } => (path, files.as_slice()),
    };
    for file in files {
        if names::may_hold_credentials(&file.path) || rules.is_encrypted(&file.path) {
            let detail = format!("leads to `{}`", file.path);
            return Ok(LinkMeaning::Unread(Omission::Credentials, detail));
        }
        if rules.is_ignored(&file.path) || names::is_own(&file.path) {
            let detail = format!("leads to `{}`, which nobody reviews", file.path);
            return Ok(LinkMeaning::Unread(Omission::Symlink, detail));
        }
    }
    let ids: Vec<&str> = files.iter().map(|file| file.side.id.as_str()).collect();
    let sizes = blobs::sizes(repo, &ids)?;
    let bytes: u64 = sizes.iter().map(|size| size.unwrap_or(MOST_BYTES)).sum();
    if files.len() > MOST_FILES || bytes > MOST_BYTES {
        let detail = format!("leads to `{target}`, which is too large to be looked at");
        return Ok(LinkMeaning::Unread(Omission::Symlink, detail));
    }
    let mut read = Vec::new();
    blobs::each(repo, &ids, |number, content| {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        if let Some(file) = files.get(number)
            && !rules.is_read_alike_through(file, &bytes)
        {
            read.push(file.as_new());
        }
        Ok(())
    })?;
    // What was a file before is one that changed, whatever else is called so.
    if let (LinkEnd::File(file), Kind::File) = (end, entry.old.kind()) {
        let changed = Entry {
            new: file.side.clone(),
            ..entry.clone()
        };
        return Ok(LinkMeaning::Read(vec![changed]));
    }
    Ok(match read.is_empty() {
        true => LinkMeaning::SecondName(target.clone()),
        false => LinkMeaning::Read(read),
    })
}

impl LinkedFile {
    /// Returns the file as a new one under the name of the link.
    fn as_new(&self) -> Entry {
        Entry {
            path: self.through.clone().into_bytes(),
            old_path: None,
            old: Side {
                mode: 0,
                id: self.side.id.chars().map(|_| '0').collect(),
            },
            new: self.side.clone(),
        }
    }
}

impl ReachedFile {
    /// Returns the change of the file under the name of the link.
    fn under_other_name(&self) -> Entry {
        Entry {
            path: self.file.through.clone().into_bytes(),
            old_path: None,
            ..self.change.clone()
        }
    }
}

impl Rules {
    /// Tells whether a file is left out or read alike under its own name and through the link.
    fn is_read_alike_through(&self, file: &LinkedFile, bytes: &[u8]) -> bool {
        self.excuses_alike(&file.path, &file.through) && is_same_to_readers(file, bytes)
    }
}

/// Tells whether the same rules read a file under both names.
fn is_same_to_readers(file: &LinkedFile, bytes: &[u8]) -> bool {
    let (own, through) = (file.path.as_str(), file.through.as_str());
    match decode(bytes) {
        Some(text) if names::starts_as_key(text.text.as_bytes()) => false,
        Some(text) => !place::is_generated(&text.text) && is_read_alike(own, through, &text.text),
        None => {
            let ending = |path: &str| path.rsplit_once('.').map(|(_, end)| end.to_lowercase());
            is_asset(through, bytes) || ending(own) == ending(through)
        }
    }
}

/// The tree in which links are followed.
struct LinkedTree {
    sides: BTreeMap<String, Side>,
    /// Where links say that they lead, by their path; those that name no path are absent.
    texts: BTreeMap<String, String>,
}

impl LinkedTree {
    fn new(repo: &Repository, head: &str) -> Result<Self, ChangeError> {
        let files = listing::all_files(repo, head)?.into_iter();
        let sides =
            files.filter_map(|entry| Some((String::from_utf8(entry.path).ok()?, entry.new)));
        let sides: BTreeMap<String, Side> = sides.collect();
        let texts = link_texts(repo, &sides)?;
        Ok(Self { sides, texts })
    }

    /// Returns the paths of all links.
    fn links(&self) -> impl Iterator<Item = &str> {
        let links = self.sides.iter();
        let links = links.filter(|(_, side)| side.kind() == Kind::Link);
        links.map(|(path, _)| path.as_str())
    }

    fn end_of(&self, link: &str) -> LinkEnd {
        let nowhere = |why: &str| LinkEnd::Nowhere(why.to_owned());
        let path = match self.follow(link) {
            Ok(path) => path,
            Err(why) => return nowhere(why),
        };
        let linked = |path: &str, side: &Side| LinkedFile {
            path: path.to_owned(),
            through: link.to_owned(),
            side: side.clone(),
        };
        match self.sides.get(&path) {
            Some(side) if side.kind() == Kind::File => {
                return LinkEnd::File(linked(&path, side));
            }
            Some(_) => return nowhere("leads into another repository"),
            None => {}
        }
        let folder = format!("{path}/");
        if path.is_empty() || link.starts_with(&folder) {
            return nowhere("leads to a directory around itself");
        }
        let below = self.sides.range(folder.clone()..);
        let below = below.take_while(|(path, _)| path.starts_with(&folder));
        // Links in it are judged by themselves.
        let files = below.filter(|(_, side)| side.kind() == Kind::File);
        let files: Vec<LinkedFile> = files
            .map(|(path, side)| LinkedFile {
                through: format!("{link}/{}", path.strip_prefix(&folder).unwrap_or(path)),
                ..linked(path, side)
            })
            .collect();
        match files.is_empty() {
            true => nowhere("leads to nothing that the repository holds"),
            false => LinkEnd::Directory { path, files },
        }
    }

    /// Returns the path that a link leads to, or why it leads to none of the repository.
    fn follow(&self, link: &str) -> Result<String, &'static str> {
        let mut rest: Vec<String> = link.rsplit('/').map(str::to_owned).collect();
        let mut at: Vec<String> = Vec::new();
        let mut hops = 0;
        while let Some(part) = rest.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    if at.pop().is_none() {
                        return Err("leads out of the repository");
                    }
                    continue;
                }
                _ => at.push(part),
            }
            let Some(side) = self.sides.get(&at.join("/")) else {
                continue;
            };
            if side.kind() != Kind::Link {
                continue;
            }
            hops += 1;
            if hops > MOST_HOPS {
                return Err("leads to another link without end");
            }
            let Some(text) = self.texts.get(&at.join("/")) else {
                return Err("does not name a path");
            };
            if text.starts_with('/') {
                return Err("leads out of the repository");
            }
            at.pop();
            rest.extend(text.rsplit('/').map(str::to_owned));
        }
        Ok(at.join("/"))
    }
}

/// Returns where the links of a tree say that they lead, by their path.
fn link_texts(
    repo: &Repository,
    sides: &BTreeMap<String, Side>,
) -> Result<BTreeMap<String, String>, ChangeError> {
    let links = sides.iter().filter(|(_, side)| side.kind() == Kind::Link);
    let links: Vec<(&String, &str)> = links.map(|(path, side)| (path, side.id.as_str())).collect();
    let ids: Vec<&str> = links.iter().map(|(_, id)| *id).collect();
    let sizes = blobs::sizes(repo, &ids)?;
    let short: Vec<(&String, &str)> = links
        .into_iter()
        .zip(sizes)
        .filter(|(_, size)| size.is_some_and(|size| size <= LONGEST_LINK))
        .map(|(link, _)| link)
        .collect();
    let ids: Vec<&str> = short.iter().map(|(_, id)| *id).collect();
    let mut texts = BTreeMap::new();
    blobs::each(repo, &ids, |number, content| {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        let text = String::from_utf8(bytes).ok();
        let text = text.filter(|text| !text.is_empty() && !text.contains('\0'));
        if let (Some((path, _)), Some(text)) = (short.get(number), text) {
            texts.insert((*path).clone(), text);
        }
        Ok(())
    })?;
    Ok(texts)
}
