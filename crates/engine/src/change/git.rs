//! Our calls of git: each with an environment of its own and settings that no repository decides.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufReader, Read};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::ChangeError;
use super::process::{self, Ended, Failure, Output};

/// How long one call may take, unless it says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How much one call may answer when the answer is kept as a whole.
const OUTPUT_LIMIT: u64 = 128 << 20;
/// The oldest git whose plumbing has all that is used here.
const OLDEST: (u32, u32) = (2, 30);

/// Settings for every call. They are given on the command line, where they outrank each file.
///
/// Nothing here lets a program start: no hooks, no fsmonitor, no external diff, no transport.
/// Filters need a driver in a config file, and the only file that is read is ours.
const SETTINGS: [&str; 17] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    // Names that are special elsewhere must not make a whole snapshot fail here.
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.safecrlf=false",
    "core.pager=cat",
    // What is pinned must survive a power cut once the ledger says so.
    "core.fsync=loose-object,pack",
    "core.fsyncMethod=batch",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
];

/// The git program.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    program: PathBuf,
}

impl Git {
    /// Finds the program and checks that it will do.
    pub(crate) fn find() -> Result<Self, ChangeError> {
        // Relative entries would find a program in whatever directory is under review.
        let search = std::env::var_os("PATH").unwrap_or_default();
        let absolute = std::env::split_paths(&search).filter(|path| path.is_absolute());
        let search = std::env::join_paths(absolute).unwrap_or_default();
        let mut found =
            which::which_in_global("git", Some(search)).map_err(|_| ChangeError::GitMissing)?;
        let program = found.next().ok_or(ChangeError::GitMissing)?;
        let git = Self { program };
        git.check_version_once()?;
        Ok(git)
    }

    /// Returns the program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Returns a call that sees no repository.
    pub(crate) fn alone(&self) -> Call<'_> {
        Call::new(self, Path::new("/dev/null"), Path::new("/"))
    }

    /// Returns a call on this git directory alone, without a working tree.
    pub(crate) fn on(&self, git_dir: &Path) -> Call<'_> {
        Call::new(self, git_dir, git_dir)
    }

    /// Checks the version of a program that this process has not met yet.
    fn check_version_once(&self) -> Result<(), ChangeError> {
        static MET: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
        // Looking and pushing cannot leave the list half-changed.
        let met = || MET.lock().unwrap_or_else(PoisonError::into_inner);
        if met().contains(&self.program) {
            return Ok(());
        }
        self.check_version()?;
        met().push(self.program.clone());
        Ok(())
    }

    fn check_version(&self) -> Result<(), ChangeError> {
        let answer = self.alone().args(["version"]).output()?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let version = answer.split_whitespace().nth(2).unwrap_or_default();
        let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
        let read = (numbers.next().flatten(), numbers.next().flatten());
        let (Some(major), Some(minor)) = read else {
            let command = "version".to_owned();
            return Err(ChangeError::GitUnreadable { command });
        };
        if (major, minor) < OLDEST {
            return Err(ChangeError::GitTooOld {
                found: version.to_owned(),
                needed: format!("{}.{}", OLDEST.0, OLDEST.1),
            });
        }
        Ok(())
    }
}

/// One call, as it is put together.
pub(crate) struct Call<'a> {
    git: &'a Git,
    git_dir: PathBuf,
    work_tree: Option<PathBuf>,
    directory: PathBuf,
    index: Option<PathBuf>,
    objects: Option<PathBuf>,
    borrowed: Option<PathBuf>,
    settings: Vec<String>,
    args: Vec<OsString>,
    input: Vec<u8>,
    limit: Duration,
}

impl<'a> Call<'a> {
    fn new(git: &'a Git, git_dir: &Path, directory: &Path) -> Self {
        Self {
            git,
            git_dir: git_dir.to_owned(),
            work_tree: None,
            directory: directory.to_owned(),
            index: None,
            objects: None,
            borrowed: None,
            settings: Vec::new(),
            args: Vec::new(),
            input: Vec::new(),
            limit: TIME_LIMIT,
        }
    }

    /// Adds arguments; the first of all is the command.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Lets git look at the files below `root`.
    pub(crate) fn work_tree(mut self, root: &Path) -> Self {
        self.work_tree = Some(root.to_owned());
        // From elsewhere inside the tree, git would only see what is below there.
        self.directory = root.to_owned();
        self
    }

    /// Uses this index file.
    pub(crate) fn index(mut self, path: &Path) -> Self {
        self.index = Some(path.to_owned());
        self
    }

    /// Reads and writes objects in this store, whatever the git directory.
    pub(crate) fn objects(mut self, path: &Path) -> Self {
        self.objects = Some(path.to_owned());
        self
    }

    /// Reads objects in this store too.
    pub(crate) fn borrowing(mut self, path: &Path) -> Self {
        self.borrowed = Some(path.to_owned());
        self
    }

    /// Adds settings of the form `key=value`.
    pub(crate) fn settings(mut self, settings: &[String]) -> Self {
        self.settings.extend_from_slice(settings);
        self
    }

    /// Gives git something to read.
    pub(crate) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = input;
        self
    }

    /// Allows more or less time than usual.
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the call and returns the whole output of a success.
    pub(crate) fn output(self) -> Result<Vec<u8>, ChangeError> {
        let name = self.name();
        let ended = self.collect()?;
        if ended.status.success() {
            return Ok(ended.read);
        }
        Err(failed(name, &ended.stderr))
    }

    /// Runs the call and returns its first line, if it was a success.
    pub(crate) fn line(self) -> Result<String, ChangeError> {
        let output = self.output()?;
        Ok(first_line(&output))
    }

    /// Runs the call and returns its output, whatever its exit code says.
    pub(crate) fn output_whatever(self) -> Result<Vec<u8>, ChangeError> {
        Ok(self.collect()?.read)
    }

    /// Runs the call, whose failure is an answer too: that of nothing.
    pub(crate) fn answer(self) -> Result<Option<String>, ChangeError> {
        let ended = self.collect()?;
        let line = first_line(&ended.read);
        Ok((ended.status.success() && !line.is_empty()).then_some(line))
    }

    /// Runs the call, whose exit code is the answer, and returns it with what was printed.
    ///
    /// Only 0 and 1 are answers.
    pub(crate) fn judged(self) -> Result<(bool, String), ChangeError> {
        let name = self.name();
        let ended = self.collect()?;
        let printed = String::from_utf8_lossy(&ended.read).into_owned();
        match ended.status.code() {
            Some(0) => Ok((true, printed)),
            Some(1) => Ok((false, printed)),
            _ => Err(failed(name, &ended.stderr)),
        }
    }

    /// Runs the call and lets `read` have its output as it comes.
    pub(crate) fn stream<T>(
        self,
        read: impl FnOnce(&mut BufReader<Output<'_>>) -> io::Result<T>,
    ) -> Result<T, ChangeError> {
        let name = self.name();
        let ended = self.run(read)?;
        if ended.status.success() {
            return Ok(ended.read);
        }
        Err(failed(name, &ended.stderr))
    }

    fn collect(self) -> Result<Ended<Vec<u8>>, ChangeError> {
        let name = self.name();
        let ended = self.run(|stdout| {
            let mut bytes = Vec::new();
            stdout.take(OUTPUT_LIMIT + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        })?;
        if ended.read.len() as u64 > OUTPUT_LIMIT {
            return Err(ChangeError::TooLarge {
                what: format!("the answer of `git {name}`"),
                limit: OUTPUT_LIMIT,
            });
        }
        Ok(ended)
    }

    fn run<T>(
        mut self,
        read: impl FnOnce(&mut BufReader<Output<'_>>) -> io::Result<T>,
    ) -> Result<Ended<T>, ChangeError> {
        let command = self.name();
        let input = std::mem::take(&mut self.input);
        process::run(self.command(), &input, self.limit, read).map_err(|failure| match failure {
            Failure::Start(error) if error.kind() == io::ErrorKind::NotFound => {
                ChangeError::GitMissing
            }
            Failure::Start(source) => ChangeError::File {
                doing: "start `git`".to_owned(),
                source,
            },
            Failure::TooSlow => ChangeError::GitTooSlow {
                command,
                limit: self.limit,
            },
            Failure::Read(source) => ChangeError::File {
                doing: format!("read what `git {command}` answers"),
                source,
            },
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.git.program);
        // Ctrl-C is meant for us; git ends what it began.
        command.process_group(0);
        command.env_clear().current_dir(&self.directory);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
            .env("HOME", "/dev/null")
            .env("LC_ALL", "C")
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // A partial clone would fetch what it lacks, by a command its config names.
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "");
        if let Some(work_tree) = &self.work_tree {
            command.env("GIT_WORK_TREE", work_tree);
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        if let Some(objects) = &self.objects {
            command.env("GIT_OBJECT_DIRECTORY", objects);
        }
        if let Some(borrowed) = &self.borrowed {
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(borrowed));
        }
        let own = SETTINGS.iter().copied();
        for setting in own.chain(self.settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        command.args(&self.args);
        command
    }

    fn name(&self) -> String {
        let first = self.args.first().map(|arg| arg.to_string_lossy());
        first.unwrap_or_default().into_owned()
    }
}

/// Returns a path as git reads it in a list of paths, where a colon would end it.
fn quoted(path: &Path) -> OsString {
    let mut bytes = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            bytes.push(b'\\');
        }
        bytes.push(*byte);
    }
    bytes.push(b'"');
    OsString::from_vec(bytes)
}

fn failed(command: String, stderr: &[u8]) -> ChangeError {
    let text = String::from_utf8_lossy(stderr);
    // Warnings and hints may come before the line that says why.
    let reason = text.lines().find_map(|line| {
        let reason = line.strip_prefix("fatal: ");
        reason.or_else(|| line.strip_prefix("error: "))
    });
    let message = reason.map_or_else(|| first_line(stderr), str::to_owned);
    ChangeError::GitFailed { command, message }
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or_default().trim().to_owned()
}
