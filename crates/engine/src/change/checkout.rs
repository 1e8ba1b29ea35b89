//! Writes the reviewed files into a directory of their own, for agents to look around in.
//!
//! We write the objects ourselves instead of asking git, so that nothing can run on the way:
//! attributes name filters, and a checkout is where they would be obeyed. Files with which the
//! reviewed branch would speak to the agents are not written, nor those that may hold secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::agent_names::{AgentFile, agent_file, folded, speaks_to_agents};
use super::dot_names::is_unknown_dot_file;
use super::listing::{self, Entry, Kind};
use super::repository::Repository;
use super::settled::settled;
use super::{ChangeError, Pinned, blobs, names, paths};
use crate::files::create_private_dir;
use crate::git_dir::make_git_dir;

/// How long listing the files may take.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// How much of a file is looked at before it is written.
const OPENING: u64 = 4 << 10;

/// Writes the tree after the change into `target`, which must not exist or be empty.
///
/// It appears whole or not at all, with a git directory that lists the files, so that programs that
/// look upwards for a repository find this one. For a patch without a repository there is nothing
/// else to write.
///
/// # Errors
///
/// The directory holds something, an object was pruned, or a file cannot be written.
pub fn checkout(repo: &Repository, pinned: &Pinned, target: &Path) -> Result<(), ChangeError> {
    let doing = || ChangeError::file(format!("write `{}`", target.display()));
    if fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(ChangeError::TargetExists {
            path: target.to_owned(),
        });
    }
    let parent = target.parent().unwrap_or(Path::new("."));
    create_private_dir(parent).map_err(doing())?;
    let new = tempfile::Builder::new()
        .prefix(".checkout-")
        .tempdir_in(parent)
        .map_err(doing())?;
    let written = match &pinned.head {
        Some(head) => {
            let choice = FileChoice::for_reviewers(repo, pinned, head)?;
            write_tree(repo, head, new.path(), &choice)?.entries
        }
        None => Vec::new(),
    };
    let dot_git = new.path().join(".git");
    make_git_dir(&dot_git, repo.format, None).map_err(doing())?;
    list_files(repo, &dot_git, &written)?;
    fs::rename(new.keep(), target).map_err(doing())
}

/// Lists the files in the index of their git directory: a file that is tracked is looked at by
/// most programs even where the project's own `.gitignore` names it.
fn list_files(repo: &Repository, dot_git: &Path, entries: &[Entry]) -> Result<(), ChangeError> {
    let list = index_info(entries);
    if list.is_empty() {
        return Ok(());
    }
    let call = repo.git.on(dot_git).index(&dot_git.join("index"));
    let call = call.args(["update-index", "-z", "--index-info"]);
    call.limit(TIME_LIMIT).input(list).output()?;
    Ok(())
}

/// Returns the entries as `update-index --index-info` reads them, submodules left out.
pub(crate) fn index_info(entries: &[Entry]) -> Vec<u8> {
    let mut list = Vec::new();
    let files = entries
        .iter()
        .filter(|entry| entry.new.kind() != Kind::Submodule);
    for entry in files {
        list.extend_from_slice(format!("{:06o} {}\t", entry.new.mode, entry.new.id).as_bytes());
        list.extend_from_slice(&entry.path);
        list.push(0);
    }
    list
}

/// Whether files with which a repository speaks to agents, or configures them, are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentFiles {
    /// They are not: the branch is under review, and must not instruct who works on it.
    LeftOut,
    /// The project's rules are, as far as the default branch has them word for word. What configures
    /// agents, and could start programs, is not.
    Settled,
    /// They are, as any other file.
    Kept,
}

/// Which files of a tree are written.
pub(crate) struct FileChoice {
    agent_files: AgentFiles,
    /// What instructs agents on the default branch, by path.
    settled: BTreeMap<Vec<u8>, String>,
    /// The files of the change, where hidden files are given only if they belong to it.
    changed: Option<BTreeSet<Vec<u8>>>,
}

impl FileChoice {
    /// Returns what an agent that writes is given of the commit `start`.
    pub(crate) fn for_writers(
        repo: &Repository,
        start: &str,
        agent_files: AgentFiles,
    ) -> Result<Self, ChangeError> {
        let mut settled_files = BTreeMap::new();
        if agent_files == AgentFiles::Settled && repo.is_versioned() {
            let files = listing::all_files(repo, &settled(repo, start)?)?;
            let files = files.into_iter().filter(|entry| {
                agent_file(&String::from_utf8_lossy(&entry.path)) == Some(AgentFile::Instructs)
            });
            settled_files.extend(files.map(|entry| (entry.path, entry.new.id)));
        }
        Ok(Self {
            agent_files,
            settled: settled_files,
            changed: None,
        })
    }

    /// Returns what reviewers are given of `head`: the change, and what is not hidden.
    fn for_reviewers(repo: &Repository, pinned: &Pinned, head: &str) -> Result<Self, ChangeError> {
        let nothing = repo.format.empty_tree();
        let base = match pinned.whole_files {
            true => nothing,
            false => pinned.base.as_deref().unwrap_or(nothing),
        };
        let changed = listing::compare(repo, base, head, &pinned.paths)?;
        Ok(Self {
            agent_files: AgentFiles::LeftOut,
            settled: BTreeMap::new(),
            changed: Some(changed.into_iter().map(|entry| entry.path).collect()),
        })
    }

    /// Returns where a file goes, unless it is left out.
    fn place(&self, entry: &Entry) -> Option<PathBuf> {
        let path = place(&entry.path)?;
        let text = String::from_utf8_lossy(&entry.path);
        let is_given = match (self.agent_files, agent_file(&text)) {
            (_, None) | (AgentFiles::Kept, _) => true,
            (AgentFiles::Settled, Some(AgentFile::Instructs)) => {
                self.settled.get(&entry.path) == Some(&entry.new.id)
            }
            (AgentFiles::Settled | AgentFiles::LeftOut, Some(_)) => false,
        };
        let is_shown = self
            .changed
            .as_ref()
            .is_none_or(|changed| changed.contains(&entry.path) || !is_unknown_dot_file(&text));
        (is_given && is_shown).then_some(path)
    }

    /// Tells whether a link leads to a file that is withheld for what it says to agents.
    fn leads_to_agent_file(&self, path: &Path, destination: &Path) -> bool {
        let mut whole: Vec<&OsStr> = path.iter().collect();
        whole.pop();
        for part in destination {
            match part.as_bytes() {
                b"." => {}
                b".." => {
                    whole.pop();
                }
                _ => whole.push(part),
            }
        }
        let whole: PathBuf = whole.into_iter().collect();
        self.agent_files != AgentFiles::Kept && speaks_to_agents(&whole.to_string_lossy())
    }
}

/// Returns what reviewers who look around are not given although the tree has it, by the name of the
/// file or of the directory that is the reason.
///
/// # Errors
///
/// An object was pruned.
pub(crate) fn withheld_from_reviewers(
    repo: &Repository,
    pinned: &Pinned,
) -> Result<Vec<String>, ChangeError> {
    let Some(head) = &pinned.head else {
        return Ok(Vec::new());
    };
    let choice = FileChoice::for_reviewers(repo, pinned, head)?;
    let files = listing::all_files(repo, head)?;
    let withheld = files
        .iter()
        .filter(|entry| entry.new.kind() != Kind::Submodule && choice.place(entry).is_none())
        .map(|entry| reason_in(&String::from_utf8_lossy(&entry.path)));
    let withheld: BTreeSet<String> = withheld.collect();
    Ok(withheld.into_iter().collect())
}

/// Returns the shortest beginning of a path that is withheld by its name, ending with a slash if it is
/// a directory.
fn reason_in(path: &str) -> String {
    for (end, _) in path.match_indices('/') {
        let folder = &path[..end];
        if speaks_to_agents(folder) || is_unknown_dot_file(folder) {
            return format!("{folder}/");
        }
    }
    path.to_owned()
}

/// What of a tree stands in a directory.
pub(crate) struct Written {
    /// The entries that are there.
    pub(crate) entries: Vec<Entry>,
    /// The paths of those that are not.
    pub(crate) withheld: Vec<Vec<u8>>,
}

/// Writes a commit or tree into `root` and tells what is there then.
pub(crate) fn write_tree(
    repo: &Repository,
    head: &str,
    root: &Path,
    choice: &FileChoice,
) -> Result<Written, ChangeError> {
    let listed = listing::all_files(repo, head);
    // A pruned object is the likely reason, and worth a sentence of its own.
    let entries = listed.or_else(|error| blobs::expect(repo, &[head]).and(Err(error)))?;
    write_all(repo, &entries, root, choice)?;
    let (entries, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| {
        let found = choice
            .place(entry)
            .map(|path| fs::symlink_metadata(root.join(path)));
        found.is_some_and(|found| found.is_ok_and(|metadata| !metadata.is_dir()))
    });
    let withheld = others.into_iter().map(|entry| entry.path).collect();
    Ok(Written { entries, withheld })
}

fn write_all(
    repo: &Repository,
    entries: &[Entry],
    root: &Path,
    choice: &FileChoice,
) -> Result<(), ChangeError> {
    let wanted: Vec<(&Entry, PathBuf)> = entries
        .iter()
        .filter_map(|entry| Some((entry, choice.place(entry)?)))
        .collect();
    let folders: BTreeSet<&Path> = wanted
        .iter()
        .filter_map(|(_, path)| path.parent())
        .collect();
    for folder in folders {
        let path = root.join(folder);
        let doing = format!("make `{}`", path.display());
        create_private_dir(&path).map_err(ChangeError::file(doing))?;
    }
    let of_kind = |kind| {
        wanted
            .iter()
            .filter(move |(entry, _)| entry.new.kind() == kind)
    };

    let files: Vec<_> = of_kind(Kind::File).collect();
    let ids: Vec<&str> = files
        .iter()
        .map(|(entry, _)| entry.new.id.as_str())
        .collect();
    blobs::each(repo, &ids, |index, content| match files.get(index) {
        Some((entry, path)) => write_file(&root.join(path), entry.new.mode, content),
        None => Ok(()),
    })?;

    // Links come last: until then, no path below the root can lead out of it.
    let links: Vec<_> = of_kind(Kind::Link).collect();
    let ids: Vec<&str> = links
        .iter()
        .map(|(entry, _)| entry.new.id.as_str())
        .collect();
    blobs::each(repo, &ids, |index, content| {
        let mut bytes = Vec::new();
        content.take(OPENING).read_to_end(&mut bytes)?;
        let destination = Path::new(OsStr::from_bytes(&bytes));
        match links.get(index) {
            Some((_, path))
                if leads_inside(path, destination)
                    && !choice.leads_to_agent_file(path, destination) =>
            {
                symlink(destination, root.join(path))
            }
            _ => Ok(()),
        }
    })
}

/// Returns where a file goes, unless it is left out whoever asks.
///
/// Trees are data from strangers: git refuses to make one with `..` or `.git` in it, but not to
/// read one.
pub(crate) fn place(path: &[u8]) -> Option<PathBuf> {
    let text = String::from_utf8_lossy(path);
    let is_git = |part: &str| matches!(folded(part).as_str(), ".git" | "git~1");
    if !paths::stays_inside(&text)
        || text.split('/').any(is_git)
        || names::may_hold_credentials(&text)
    {
        return None;
    }
    Some(PathBuf::from(OsStr::from_bytes(path)))
}

fn write_file(path: &Path, mode: u32, content: &mut dyn Read) -> io::Result<()> {
    let mut opening = Vec::new();
    content.take(OPENING).read_to_end(&mut opening)?;
    if names::starts_as_key(&opening) {
        return Ok(());
    }
    let mut file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(if mode & 0o100 == 0 { 0o600 } else { 0o700 })
        .open(path)?;
    io::copy(&mut opening.as_slice(), &mut file)?;
    io::copy(content, &mut file)?;
    Ok(())
}

/// Tells whether a link at `path` cannot lead out of the root, however other links lie.
///
/// It may climb first and descend then, no higher than the root. Climbing after descending is
/// refused, because what it descended into may be a link itself.
pub(crate) fn leads_inside(path: &Path, destination: &Path) -> bool {
    use std::path::Component::{CurDir, Normal, ParentDir};
    let mut height = path.components().count().saturating_sub(1);
    let mut has_descended = false;
    for part in destination.components() {
        match part {
            CurDir => {}
            Normal(_) => has_descended = true,
            ParentDir if has_descended || height == 0 => return false,
            ParentDir => height -= 1,
            _ => return false,
        }
    }
    !destination.as_os_str().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_inside() {
        let cases = [
            ("a", "b", true),
            ("a/b", "../c", true),
            ("a/b", "../../c", false),
            ("a", "..", false),
            ("a", "/etc/passwd", false),
            ("a", "b/../c", false),
            ("a/b/c", "../../d/e", true),
            ("a", "./b", true),
            ("a", "", false),
        ];
        for (path, destination, expected) in cases {
            let leads = leads_inside(Path::new(path), Path::new(destination));
            assert_eq!(leads, expected, "{path} -> {destination}");
        }
    }

    #[test]
    fn paths_of_strangers_are_looked_at() {
        for path in [
            "../a",
            "a/../b",
            ".git/config",
            "a/.GIT/x",
            "a/.git./x",
            "a/.g\u{200c}it/x",
            "/etc/x",
            "a//b",
        ] {
            assert_eq!(place(path.as_bytes()), None, "{path}");
        }
        for path in ["a/b", "x/CLAUDE.md"] {
            assert_eq!(place(path.as_bytes()), Some(PathBuf::from(path)));
        }
    }

    #[test]
    fn what_is_withheld_is_told_by_its_reason() {
        let rows = [
            ("AGENTS.md", "AGENTS.md"),
            ("a/.claude/skills/x/SKILL.md", "a/.claude/"),
            (".github/agents/x.md", ".github/agents/"),
            (".new/a/b", ".new/"),
            ("a/.env", "a/.env"),
        ];
        for (path, expected) in rows {
            assert_eq!(reason_in(path), expected);
        }
    }
}
