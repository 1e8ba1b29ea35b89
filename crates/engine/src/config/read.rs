//! Reads config files: bounded, in UTF-8, each with the hash of its content.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::error::{ConfigError, Layer};
use super::node::{self, Mark, Node, Source};
use super::{ConfigFile, Project, Settings, Sources, layers, trust};

/// No config is larger; a file that is was not meant as one.
const LARGEST_FILE: u64 = 1024 * 1024;

/// Keys that no project file decides, trusted or not: what they allow is between the user and their
/// own machine.
pub(super) const USERS_OWN: [&[&str]; 2] = [&["git", "allow_local"], &["sandbox"]];

/// Reads and normalizes `path`, or `content` in its place; nothing when there is no such file.
pub(super) fn file(
    layer: Layer,
    path: &Path,
    content: Option<&[u8]>,
    sources: &Sources,
) -> Result<Option<(ConfigFile, Node)>, ConfigError> {
    let source = source(layer, path, &sources.cwd);
    let found = match content {
        Some(content) => Some(content.to_vec()),
        None => bytes(path, &source)?,
    };
    let Some(bytes) = found else {
        // A file that somebody named must be there; the usual ones need not.
        return match layer {
            Layer::Environment => Err(ConfigError::File {
                file: path.to_owned(),
                action: "find the config file that `TRIBUNAL_CONFIG` names,",
                source: std::io::ErrorKind::NotFound.into(),
            }),
            _ => Ok(None),
        };
    };
    let text = text(&bytes, &source)?;
    let mut node = layers::normalize(node::parse(text, &source)?)?;
    if layer == Layer::Project {
        for key in USERS_OWN {
            layers::remove(&mut node, key);
        }
    }
    let file = ConfigFile {
        layer,
        path: path.to_owned(),
        hash: hash(&bytes),
        sensitive: trust::sensitive(&node, &sources.project()),
    };
    Ok(Some((file, node)))
}

/// Returns the hash by which a content is trusted.
pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Returns the source for `path`, shown relative to `cwd` when it is below.
pub(super) fn source(layer: Layer, path: &Path, cwd: &Path) -> Arc<Source> {
    let shown = path.strip_prefix(cwd).unwrap_or(path).to_owned();
    Arc::new(Source {
        layer,
        file: Some(shown),
        name: None,
    })
}

/// Returns the content of `path`, or nothing when there is no such file.
pub(super) fn bytes(path: &Path, source: &Arc<Source>) -> Result<Option<Vec<u8>>, ConfigError> {
    let failed = |source| ConfigError::File {
        file: path.to_owned(),
        action: "read",
        source,
    };
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let start = start_of(source);
    // Opening a pipe would wait for a writer, reading a device may never end.
    if !metadata.is_file() {
        return Err(start.error("the config must be a regular file", None));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > LARGEST_FILE {
        let message = "the config is larger than 1 MiB";
        return Err(start.error(message, Some("is this the right file?".to_owned())));
    }
    Ok(Some(bytes))
}

fn is_absence(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Returns the content as text without its byte order mark.
pub(super) fn text<'b>(bytes: &'b [u8], source: &Arc<Source>) -> Result<&'b str, ConfigError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let utf16 = matches!(
        bytes,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..]
    );
    if utf16 {
        let message = "the config must be in UTF-8, but looks like UTF-16";
        let hint = "save it as UTF-8".to_owned();
        return Err(start_of(source).error(message, Some(hint)));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let lines = valid.split(|byte| *byte == b'\n');
        let last = lines.clone().next_back().unwrap_or_default();
        let column = String::from_utf8_lossy(last).chars().count() + 1;
        let mark = Mark {
            source: Arc::clone(source),
            line: u32::try_from(lines.count()).unwrap_or(0),
            column: u32::try_from(column).unwrap_or(0),
        };
        let message = "the config must be in UTF-8, but a byte here is not";
        mark.error(message, Some("save it as UTF-8".to_owned()))
    })
}

fn start_of(source: &Arc<Source>) -> Mark {
    Mark {
        source: Arc::clone(source),
        line: 1,
        column: 1,
    }
}

/// Makes the paths in the settings absolute, each by the place it was written in.
pub(super) fn resolve_paths(
    settings: &mut Settings,
    tree: &Node,
    sources: &Sources,
    project: &Project,
) {
    let base = |path: &[&str]| {
        let layer = tree.at(path).map(|node| node.mark.source.layer);
        match layer {
            Some(Layer::User) => sources.user_dir.as_deref().unwrap_or(&sources.cwd),
            Some(Layer::Project) | None => project.root.as_path(),
            Some(_) => sources.cwd.as_path(),
        }
    };
    let home = sources.env.get("HOME").map(Path::new);
    for agent in &mut settings.agents {
        if let Some(script) = &mut agent.script {
            let base = base(&["agents", agent.name.as_str(), "script"]);
            *script = absolute(script, base, home);
        }
    }
    if let Some(path) = &mut settings.advisories.path {
        *path = absolute(path, base(&["advisories", "path"]), home);
    }
    if let Some(path) = &mut settings.ledger.path {
        *path = absolute(path, base(&["ledger", "path"]), home);
    }
}

/// Returns `path` without `~`, `.` and `..`, from `base` when it is relative.
pub(super) fn absolute(path: &Path, base: &Path, home: Option<&Path>) -> PathBuf {
    let joined = match (path.strip_prefix("~"), home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => base.join(path),
    };
    let mut plain = PathBuf::new();
    for component in joined.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
