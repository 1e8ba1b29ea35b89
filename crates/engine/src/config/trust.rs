//! Which project configs the user trusts: what a repository brings along may run nothing unasked.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Project;
use super::error::ConfigError;
use super::layers::for_each_leaf;
use super::node::{Kind, Node};
use super::read::absolute;
use crate::files::{Durability, create_private_dir, write_private};

/// Keys of an agent that decide what runs, with which secrets, where data goes, or whether silence
/// is an answer.
const SENSITIVE_OF_AGENT: [&str; 7] = [
    "accept_empty",
    "command",
    "env",
    "pass_env",
    "base_url",
    "api_key_env",
    "login",
];

/// Returns what `tree` sets that a project may set only when trusted.
pub(super) fn sensitive(tree: &Node, project: &Project) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for_each_leaf(tree, &mut |path, node| {
        let needs_trust = match path {
            ["agents", _, "script"] => leaves(node, &project.root),
            ["agents", _, "provider"] => is_reached_outside(node),
            ["agents", _, key, ..] => SENSITIVE_OF_AGENT.contains(key),
            ["arbiter", "provider"] => is_reached_outside(node),
            ["arbiter", "base_url" | "api_key_env"] => true,
            ["project", "test_command", ..] => true,
            ["disputes", "webhook"] | ["ledger", "path"] | ["advisories", "url"] => true,
            ["advisories", "path"] => leaves(node, &project.root),
            _ => false,
        };
        if needs_trust && !matches!(node.kind, Kind::Null) {
            found.push((path.join("."), shown(node)));
        }
    });
    found
}

/// Returns a value as people read it.
pub(super) fn shown(node: &Node) -> String {
    match &node.kind {
        Kind::Text(text) => text.clone(),
        _ => node.to_json().to_string(),
    }
}

/// A provider that is a program starts that program as a command would, a linter runs with the
/// user's login, and a model API gets the code and costs the user money. Only replies from a file
/// or a record do nothing of the kind.
fn is_reached_outside(node: &Node) -> bool {
    let word = shown(node);
    !["scripted", "replay"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(&word))
}

/// Tells whether a path leads out of `root`, also through links.
fn leaves(node: &Node, root: &Path) -> bool {
    let path = absolute(Path::new(&shown(node)), root, None);
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    shown(node).starts_with('~') || !path.starts_with(root) || !real.starts_with(real_root)
}

/// The project configs the user trusts, in the user's state directory.
#[derive(Debug, Clone)]
pub struct TrustStore {
    directory: Option<PathBuf>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TrustFile {
    version: u32,
    trusted: Vec<Trusted>,
}

/// A content at a place. A copy elsewhere is not trusted: its relative commands lead elsewhere.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Trusted {
    file: PathBuf,
    hash: String,
}

impl TrustStore {
    /// Returns the store in `directory`; without one nothing is trusted.
    #[must_use]
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self { directory }
    }

    /// Tells whether `file` with the content of `hash` is trusted.
    #[must_use]
    pub fn is_trusted(&self, file: &Path, hash: &str) -> bool {
        let Some(path) = self.path() else {
            return false;
        };
        let file = real(file);
        // What cannot be read trusts nothing.
        let known = read(&path).unwrap_or_default();
        known
            .trusted
            .iter()
            .any(|one| one.file == file && one.hash == hash)
    }

    /// Trusts `file` with the content of `hash`, in place of any earlier content.
    pub fn trust(&self, file: &Path, hash: &str) -> Result<(), ConfigError> {
        self.change(file, |file, trusted| {
            trusted.retain(|one| one.file != *file);
            trusted.push(Trusted {
                file: file.to_owned(),
                hash: hash.to_owned(),
            });
        })
    }

    /// Trusts `file` no longer.
    pub fn distrust(&self, file: &Path) -> Result<(), ConfigError> {
        self.change(file, |file, trusted| {
            trusted.retain(|one| one.file != *file)
        })
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join("trust.json"))
    }

    fn change(
        &self,
        file: &Path,
        change: impl FnOnce(&PathBuf, &mut Vec<Trusted>),
    ) -> Result<(), ConfigError> {
        let failed = |path: &Path, source| ConfigError::File {
            file: path.to_owned(),
            action: "write",
            source,
        };
        let (Some(directory), Some(path)) = (&self.directory, self.path()) else {
            let source = std::io::Error::other("neither HOME nor XDG_STATE_HOME is set");
            return Err(failed(Path::new("trust.json"), source));
        };
        create_private_dir(directory).map_err(|source| failed(directory, source))?;
        // Two terminals may answer at the same time; the lock ends with the file handle.
        let lock = directory.join("trust.lock");
        let held = private_lock(&lock).map_err(|source| failed(&lock, source))?;
        let mut known = read(&path).unwrap_or_default();
        known.version = 1;
        change(&real(file), &mut known.trusted);
        let text =
            serde_json::to_vec_pretty(&known).map_err(|error| failed(&path, error.into()))?;
        let written = write_private(&path, &text, Durability::Machine);
        drop(held);
        written.map_err(|source| failed(&path, source))
    }
}

fn private_lock(path: &Path) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::OpenOptions::new();
    let file = options
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)?;
    file.lock()?;
    Ok(file)
}

fn real(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
}

fn read(path: &Path) -> Option<TrustFile> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
