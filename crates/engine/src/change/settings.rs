//! The user's git settings, read as data: a few harmless ones are passed on, none is obeyed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ChangeError;
use super::discover::Found;
use super::git::Git;
use super::own::ObjectFormat;
use super::repository::Home;

/// Settings that say how files of the working tree become objects, and can do nothing else.
const PASSED_ON: [&str; 9] = [
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.trustctime",
    "core.checkstat",
    "core.checkroundtripencoding",
];

/// What the user configured, as far as it matters here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// The last value of each key; keys are lower case except for the part in the middle.
    values: BTreeMap<String, String>,
}

impl Settings {
    /// Reads the user's files and, on top of them, those of the repository.
    pub(crate) fn read(git: &Git, home: &Home, found: Option<&Found>) -> Result<Self, ChangeError> {
        let mut settings = Self::default();
        for file in home.config_files() {
            // The user may include other files; a repository may not reach out of itself.
            settings.add(git, &file, "--includes")?;
        }
        if let Some(found) = found {
            settings.add(git, &found.common_dir.join("config"), "--no-includes")?;
            let own = found.git_dir.join("config.worktree");
            settings.add(git, &own, "--no-includes")?;
        }
        Ok(settings)
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Returns the names of objects in the repository.
    pub(crate) fn object_format(&self) -> Result<ObjectFormat, ChangeError> {
        match self.get("extensions.objectformat") {
            None | Some("sha1") => Ok(ObjectFormat::Sha1),
            Some("sha256") => Ok(ObjectFormat::Sha256),
            Some(other) => Err(ChangeError::BrokenRepository {
                path: PathBuf::from("config"),
                reason: format!("its object format `{other}` is unknown"),
            }),
        }
    }

    /// Returns what calls on the working tree below `root` are to be told.
    pub(crate) fn for_work_tree(&self, home: &Home, root: &Path) -> Vec<String> {
        let mut settings: Vec<String> = PASSED_ON
            .iter()
            .filter_map(|key| Some(format!("{key}={}", self.get(key)?)))
            .collect();
        let excludes = match self.get("core.excludesfile") {
            Some(path) => home.expand(path).map(|path| root.join(path)),
            None => home.default_excludes(),
        };
        if let Some(path) = excludes.filter(|path| path.is_file()) {
            settings.push(format!("core.excludesFile={}", path.display()));
        }
        settings
    }

    fn add(&mut self, git: &Git, file: &Path, includes: &str) -> Result<(), ChangeError> {
        if !file.is_file() {
            return Ok(());
        }
        let call = git.alone().args(["config", "--null", includes]);
        let output = call
            .args([Path::new("--file"), file, Path::new("--list")])
            .output()?;
        for entry in String::from_utf8_lossy(&output).split_terminator('\0') {
            // A key without a value means yes.
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            self.values.insert(key.to_owned(), value.to_owned());
        }
        Ok(())
    }
}
