//! A user with a project, both in a directory of their own.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tribunal_core::review::coverage::FileStatus;
use tribunal_engine::change::{
    Change, ChangeError, ChangeLimits, ChangeRequest, ChangeSource, Home, Pinned, Repository, pin,
    read,
};

/// A project directory, a home and a place for our repository.
pub(crate) struct World {
    _temp: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) project: PathBuf,
}

impl World {
    /// Returns a plain directory without a repository.
    pub(crate) fn plain() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let project = root.join("project");
        for name in ["project", "home"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        Self {
            _temp: temp,
            root,
            project,
        }
    }

    /// Returns an empty repository on the branch `main`.
    pub(crate) fn empty() -> Self {
        let world = Self::plain();
        world.git(["init", "-q", "-b", "main"]);
        world
    }

    /// Returns a repository with one commit of these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let world = Self::empty();
        world.commit(files);
        world
    }

    /// Writes files and commits everything.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, text) in files {
            self.write(path, text);
        }
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "--allow-empty", "-m", "change"]);
        self.git(["rev-parse", "HEAD"])
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.project.join(path)).unwrap();
    }

    /// Runs git as the user does, in the project.
    pub(crate) fn git<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        self.git_in(&self.project, args)
    }

    pub(crate) fn git_in<S: AsRef<OsStr>>(
        &self,
        directory: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> String {
        let output = self.try_git(directory, args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    pub(crate) fn try_git<S: AsRef<OsStr>>(
        &self,
        directory: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Output {
        Command::new("git")
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(directory)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.root.join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", "ann"), ("GIT_COMMITTER_NAME", "ann")])
            .envs([("GIT_AUTHOR_EMAIL", "a@x"), ("GIT_COMMITTER_EMAIL", "a@x")])
            .env("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z")
            .output()
            .unwrap()
    }

    /// Writes a program that leaves a trace when it runs, and returns its path.
    pub(crate) fn canary(&self) -> String {
        let program = self.root.join("canary.sh");
        let text = format!(
            "#!/bin/sh\ntouch '{}'\nexec timeout 5 cat\n",
            self.trace().display()
        );
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program.to_str().unwrap().to_owned()
    }

    /// Tells whether the canary ran.
    pub(crate) fn sang(&self) -> bool {
        self.trace().exists()
    }

    pub(crate) fn silence(&self) {
        let _ = fs::remove_file(self.trace());
    }

    fn trace(&self) -> PathBuf {
        self.root.join("canary-was-here")
    }

    pub(crate) fn home(&self) -> Home {
        Home {
            home: Some(self.root.join("home")),
            config_home: None,
        }
    }

    pub(crate) fn clones(&self) -> PathBuf {
        self.root.join("clones")
    }

    pub(crate) fn open(&self) -> Repository {
        self.try_open(&self.project).unwrap()
    }

    pub(crate) fn try_open(&self, directory: &Path) -> Result<Repository, ChangeError> {
        Repository::open_for(&self.home(), directory, self.clones())
    }

    pub(crate) fn request(&self, source: ChangeSource, paths: &[&str]) -> ChangeRequest {
        ChangeRequest {
            directory: self.project.clone(),
            source,
            paths: paths.iter().map(ToString::to_string).collect(),
            limits: ChangeLimits::default(),
            ignore: Vec::new(),
        }
    }

    pub(crate) fn try_pin(
        &self,
        source: ChangeSource,
        paths: &[&str],
    ) -> Result<Pinned, ChangeError> {
        pin(&self.open(), &self.request(source, paths))
    }

    pub(crate) fn pin(&self, source: ChangeSource) -> Pinned {
        self.try_pin(source, &[]).unwrap()
    }

    pub(crate) fn change(&self, source: ChangeSource) -> Change {
        self.change_of(source, &[])
    }

    pub(crate) fn change_of(&self, source: ChangeSource, paths: &[&str]) -> Change {
        self.asked(&self.request(source, paths))
    }

    pub(crate) fn asked(&self, request: &ChangeRequest) -> Change {
        let repo = self.try_open(&request.directory).unwrap();
        let pinned = pin(&repo, request).unwrap();
        // What is pinned goes through the ledger as JSON.
        let stored = serde_json::to_string(&pinned).unwrap();
        let pinned: Pinned = serde_json::from_str(&stored).unwrap();
        read(&repo, &pinned).unwrap()
    }

    /// Checks the files of a change and those left out, one line each.
    pub(crate) fn check(&self, source: ChangeSource, expected: &[&str]) {
        assert_eq!(lines(&self.change(source)), expected);
    }

    /// Checks that nothing is to be reviewed, and why.
    pub(crate) fn check_empty(&self, source: ChangeSource, expected: &str) {
        let pinned = self.pin(source);
        let reason = pinned.empty.map(|empty| empty.reason);
        assert_eq!(reason.as_deref(), Some(expected));
    }

    pub(crate) fn check_error(&self, source: ChangeSource, expected: &str) {
        let error = self.try_pin(source, &[]).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

/// Returns a change as text: what happened to each file and how many lines, then what is left out.
pub(crate) fn lines(change: &Change) -> Vec<String> {
    let count = |ranges: &[(u32, u32)]| -> u32 {
        ranges.iter().map(|(first, last)| last - first + 1).sum()
    };
    let files = change.files.iter().map(|file| {
        let status = match file.status {
            FileStatus::Added => 'A',
            FileStatus::Modified => 'M',
            FileStatus::Renamed => 'R',
            FileStatus::Deleted => 'D',
            FileStatus::Whole => 'W',
        };
        let from = file.old_path.as_ref().map(|old| format!(" from {old}"));
        let added = count(file.diff.added().ranges());
        let removed = count(file.diff.removed().ranges());
        let from = from.unwrap_or_default();
        format!("{status} {}{from} +{added} -{removed}", file.path)
    });
    let omitted = change
        .left_out
        .iter()
        .map(|left| match left.detail.as_str() {
            "" => format!("not {}: {}", left.path, left.why),
            detail => format!("not {}: {}, {detail}", left.path, left.why),
        });
    files.chain(omitted).collect()
}
