//! Symbolic links of a change: where they lead, and what is read in their place.
//!
//! A link within the repository gives one more name to a file that is reviewed under its own. Where
//! the name of the link puts other rules in charge, the file is read under that name as well, so that
//! no program gets past the gate as a link to a note.

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
        let links: Vec<(&Entry, &str)> = entries
            .iter()
            .filter(|entry| entry.new.kind() == Kind::Link)
            .filter_map(|entry| Some((entry, str::from_utf8(&entry.path).ok()?)))
            .collect();
        if links.is_empty() {
            return Ok(Self::default());
        }
        let tree = LinkedTree::new(repo, head)?;
        let mut by_path = BTreeMap::new();
        for (entry, path) in links {
            by_path.insert(entry.path.clone(), tree.end_of(repo, path)?);
        }
        Ok(Self { by_path })
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
        Ok(replaced)
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
            && !(rules.excuses_alike(&file.path, &file.through) && is_same_to_readers(file, &bytes))
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
}

impl LinkedTree {
    fn new(repo: &Repository, head: &str) -> Result<Self, ChangeError> {
        let files = listing::all_files(repo, head)?.into_iter();
        let sides =
            files.filter_map(|entry| Some((String::from_utf8(entry.path).ok()?, entry.new)));
        Ok(Self {
            sides: sides.collect(),
        })
    }

    fn end_of(&self, repo: &Repository, link: &str) -> Result<LinkEnd, ChangeError> {
        let nowhere = |why: &str| Ok(LinkEnd::Nowhere(why.to_owned()));
        let path = match self.follow(repo, link)? {
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
                return Ok(LinkEnd::File(linked(&path, side)));
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
            false => Ok(LinkEnd::Directory { path, files }),
        }
    }

    /// Returns the path that a link leads to, or why it leads to none of the repository.
    fn follow(
        &self,
        repo: &Repository,
        link: &str,
    ) -> Result<Result<String, &'static str>, ChangeError> {
        let mut rest: Vec<String> = link.rsplit('/').map(str::to_owned).collect();
        let mut at: Vec<String> = Vec::new();
        let mut hops = 0;
        while let Some(part) = rest.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    if at.pop().is_none() {
                        return Ok(Err("leads out of the repository"));
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
                return Ok(Err("leads to another link without end"));
            }
            let Some(text) = link_text(repo, side)? else {
                return Ok(Err("does not name a path"));
            };
            if text.starts_with('/') {
                return Ok(Err("leads out of the repository"));
            }
            at.pop();
            rest.extend(text.rsplit('/').map(str::to_owned));
        }
        Ok(Ok(at.join("/")))
    }
}

/// Returns where a link says that it leads.
fn link_text(repo: &Repository, side: &Side) -> Result<Option<String>, ChangeError> {
    let sizes = blobs::sizes(repo, &[side.id.as_str()])?;
    let is_short = sizes.first().copied().flatten() <= Some(LONGEST_LINK);
    if !is_short || sizes.first().copied().flatten().is_none() {
        return Ok(None);
    }
    let text = String::from_utf8(blobs::content(repo, &side.id)?).ok();
    Ok(text.filter(|text| !text.is_empty() && !text.contains('\0')))
}
