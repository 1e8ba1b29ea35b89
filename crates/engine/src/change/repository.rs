//! The user's repository, or plain directory, together with our own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

use super::ChangeError;
use super::discover::{Found, discover};
use super::git::{Call, Git};
use super::own::{self, ObjectFormat};
use super::settings::Settings;

/// How many commits are kept in mind.
const MOST_KNOWN: usize = 10_000;

/// Where the user keeps settings of git.
#[derive(Debug, Clone, Default)]
pub struct Home {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The value of `XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
}

impl Home {
    /// Returns the home of whoever runs this process.
    #[must_use]
    pub(crate) fn of_user() -> Self {
        let absolute =
            |value: OsString| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
        Self {
            home: std::env::var_os("HOME").and_then(absolute),
            config_home: std::env::var_os("XDG_CONFIG_HOME").and_then(absolute),
        }
    }

    /// Returns the files git reads, the stronger ones last.
    pub(crate) fn config_files(&self) -> Vec<PathBuf> {
        let xdg = self.git_dir().map(|path| path.join("config"));
        let classic = self.home.as_ref().map(|path| path.join(".gitconfig"));
        xdg.into_iter().chain(classic).collect()
    }

    /// Returns the list of ignored files that counts when none is configured.
    pub(crate) fn default_excludes(&self) -> Option<PathBuf> {
        self.git_dir().map(|path| path.join("ignore"))
    }

    /// Returns a configured path with `~` replaced.
    pub(crate) fn expand(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(rest) => self.home.as_ref().map(|home| home.join(rest)),
            None if path.starts_with('~') || path.is_empty() => None,
            None => Some(PathBuf::from(path)),
        }
    }

    fn git_dir(&self) -> Option<PathBuf> {
        let fallback = || self.home.as_ref().map(|home| home.join(".config"));
        let config = self.config_home.clone().or_else(fallback)?;
        Some(config.join("git"))
    }
}

/// Where changes are read from.
#[derive(Debug, Clone)]
pub struct Repository {
    pub(crate) git: Git,
    /// The directory the user stands in, without symbolic links.
    pub(crate) directory: PathBuf,
    /// The user's repository; none for a plain directory.
    pub(crate) found: Option<Found>,
    /// Our repository.
    pub(crate) own: PathBuf,
    pub(crate) format: ObjectFormat,
    pub(crate) settings: Settings,
    pub(crate) home: Home,
    /// An index other than that of the repository.
    index: Option<PathBuf>,
    /// The commits that were made or looked at here, by id.
    known: Arc<Mutex<BTreeMap<String, Known>>>,
}

/// What a commit says for ever. Asking git again costs a process each time.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// Its tree.
    pub(crate) tree: String,
    /// Its only parent, if it is a commit of ours and has one.
    pub(crate) parent: Option<String>,
}

impl Repository {
    /// Finds the repository around `directory`, if there is one, and prepares ours in `clone_dir`.
    ///
    /// # Errors
    ///
    /// Git is missing or too old, the repository is broken, or ours cannot be written.
    pub fn open(directory: &Path, clone_dir: PathBuf) -> Result<Self, ChangeError> {
        Self::open_for(&Home::of_user(), directory, clone_dir)
    }

    /// Does the same for a user with another home.
    ///
    /// # Errors
    ///
    /// As for `open`.
    pub fn open_for(
        home: &Home,
        directory: &Path,
        clone_dir: PathBuf,
    ) -> Result<Self, ChangeError> {
        let git = Git::find()?;
        let doing = format!("enter `{}`", directory.display());
        let directory = directory.canonicalize().map_err(ChangeError::file(doing))?;
        let found = discover(&directory)?;
        let settings = Settings::read(&git, home, found.as_ref())?;
        let format = settings.object_format()?;
        let place = found.as_ref().map_or(&directory, |found| &found.common_dir);
        let own = own::prepare(&clone_dir, place, found.as_ref(), format)?;
        Ok(Self {
            git,
            directory,
            found,
            own,
            format,
            settings,
            home: home.clone(),
            index: None,
            known: Arc::default(),
        })
    }

    /// Uses the index that git names to its hooks in `GIT_INDEX_FILE`, which is not always the usual
    /// one. That of another repository does not count.
    #[must_use]
    pub fn with_index(mut self, index: PathBuf) -> Self {
        let place = index.parent().and_then(|place| place.canonicalize().ok());
        let ours = self.found.as_ref();
        let ours = ours.and_then(|found| found.git_dir.canonicalize().ok());
        if place.is_some() && place == ours {
            self.index = Some(index);
        }
        self
    }

    /// Returns the root to which the paths of a change are relative.
    #[must_use]
    pub fn root(&self) -> &Path {
        let work_tree = self.found.as_ref().map(|found| found.work_tree.as_deref());
        work_tree.flatten().unwrap_or(&self.directory)
    }

    /// Tells whether there is a git repository, rather than a plain directory.
    #[must_use]
    pub(crate) fn is_versioned(&self) -> bool {
        self.found.is_some()
    }

    /// Returns the directory whose files are under review.
    pub(crate) fn work_tree(&self) -> Result<&Path, ChangeError> {
        match &self.found {
            Some(found) => found.work_tree.as_deref().ok_or(ChangeError::NoWorkingTree),
            None => Ok(&self.directory),
        }
    }

    /// Returns the user's repository, or says that there is none.
    pub(crate) fn versioned(&self) -> Result<&Found, ChangeError> {
        self.found
            .as_ref()
            .ok_or_else(|| ChangeError::NotARepository {
                directory: self.directory.clone(),
            })
    }

    /// Returns the user's index, if there may be one.
    pub(crate) fn index(&self) -> Option<PathBuf> {
        let usual = || self.found.as_ref().map(|found| found.git_dir.join("index"));
        self.index.clone().or_else(usual)
    }

    /// Returns a directory for files of ours that are needed for a moment.
    pub(crate) fn temporary(&self) -> Result<TempDir, ChangeError> {
        tempfile::Builder::new()
            .prefix("temporary-")
            .tempdir_in(&self.own)
            .map_err(ChangeError::file("make a temporary directory"))
    }

    /// Returns what is known of a commit.
    pub(crate) fn known(&self, commit: &str) -> Option<Known> {
        self.commits().get(commit).cloned()
    }

    /// Keeps what a commit says.
    pub(crate) fn keep_known(&self, commit: &str, known: Known) {
        let mut commits = self.commits();
        if commits.len() >= MOST_KNOWN {
            commits.clear();
        }
        commits.entry(commit.to_owned()).or_insert(known);
    }

    fn commits(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        // Inserting and clearing cannot leave the map half-changed.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a call on our repository.
    pub(crate) fn call(&self) -> Call<'_> {
        self.git.on(&self.own)
    }

    /// Returns a call that compares files of the working tree with an index of ours.
    pub(crate) fn call_on_files(&self, root: &Path, index: &Path) -> Call<'_> {
        let settings = self.settings.for_work_tree(&self.home, root);
        self.call().work_tree(root).index(index).settings(&settings)
    }
}
