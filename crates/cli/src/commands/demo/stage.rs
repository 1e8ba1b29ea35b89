//! Where the story is played: a directory with a repository, a cast and a home of its own.

use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tribunal_engine::place::{PlacePurpose, find_ledger_place};

use super::cast;
use crate::error::CliError;
use crate::exit::Exit;

/// What the repository holds before the story begins.
const FILES: [(&str, &str); 4] = [
    (
        "depot.py",
        include_str!("../../../../../examples/demo/before/depot.py"),
    ),
    (
        "desk.js",
        include_str!("../../../../../examples/planted/desk.js"),
    ),
    (
        "ledger.rs",
        include_str!("../../../../../examples/planted/ledger.rs"),
    ),
    (
        "TASKS.md",
        include_str!("../../../../../examples/demo/TASKS.md"),
    ),
];

/// The change that nobody has committed yet.
const CHANGE: (&str, &str) = (
    "depot.py",
    include_str!("../../../../../examples/demo/after/depot.py"),
);

/// Whoever makes the first commit; the user's own name has no business in it.
const AUTHOR: [&str; 4] = ["-c", "user.name=Demo", "-c", "user.email=demo@example.org"];

/// The directory of a story.
pub(super) struct Stage {
    directory: PathBuf,
}

impl Stage {
    /// Sets the stage in a new directory for temporary files.
    pub(super) fn fresh(fast: bool) -> Result<Self, CliError> {
        let base = std::env::temp_dir();
        for number in 1.. {
            let directory = base.join(format!("tribunal-demo-{number}"));
            match std::fs::DirBuilder::new().mode(0o700).create(&directory) {
                Ok(()) => return Self::set(directory, fast),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot("make", &directory, &error)),
            }
        }
        unreachable!("there are more numbers than directories")
    }

    /// Returns the stage in `directory`, which is set if nothing is there yet.
    pub(super) fn at(directory: &Path, fast: bool) -> Result<Self, CliError> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .and_then(|()| directory.canonicalize())
            .and_then(|directory| Ok((std::fs::read_dir(&directory)?.next().is_none(), directory)))
            .map_err(|error| cannot("use", directory, &error))
            .and_then(|(is_empty, directory)| match is_empty {
                true => Self::set(directory, fast),
                false => Self::found(directory),
            })
    }

    /// Returns a stage that was set before.
    fn found(directory: PathBuf) -> Result<Self, CliError> {
        let stage = Self { directory };
        if !stage.is_set() {
            let text = format!("{} holds something else", stage.directory.display());
            return Err(CliError::new(Exit::Usage, text)
                .hint("Name a directory that is empty or does not exist yet"));
        }
        // The program may lie elsewhere by now.
        stage.write_launcher()?;
        Ok(stage)
    }

    /// Writes everything that the story needs. The launcher comes last: where it is, all is.
    fn set(directory: PathBuf, fast: bool) -> Result<Self, CliError> {
        let stage = Self { directory };
        let repository = stage.repository();
        let write = |path: &Path, text: &str| {
            let parent = path.parent().unwrap_or(&repository);
            std::fs::create_dir_all(parent)
                .and_then(|()| std::fs::write(path, text))
                .map_err(|error| cannot("write", path, &error))
        };
        for (name, text) in FILES {
            write(&repository.join(name), text)?;
        }
        let ours = repository.join(".tribunal");
        write(&ours.join("config.yml"), cast::CONFIG)?;
        for (name, replies) in cast::scripts(fast) {
            write(&ours.join(format!("cast/{name}.json")), &replies)?;
        }
        // Neither templates nor settings of the user take part.
        stage.git(&["init", "-q", "--template=", "-b", "main"])?;
        stage.git(&["add", "."])?;
        stage.git(&[&AUTHOR[..], &["commit", "-q", "-m", "The front desk"]].concat())?;
        write(&repository.join(CHANGE.0), CHANGE.1)?;
        stage.write_launcher()?;
        Ok(stage)
    }

    /// Returns the repository of the story.
    pub(super) fn repository(&self) -> PathBuf {
        self.directory.join("depot")
    }

    /// Returns the ledger of the story; where ledgers are as long as there is none.
    pub(super) fn ledger(&self) -> PathBuf {
        let state = self.directory.join("state").join("tribunal");
        let found = find_ledger_place(&state, &self.repository(), PlacePurpose::Reading);
        let place = found.ok().flatten().map(|place| place.directory);
        place.unwrap_or_else(|| state.join("ledgers"))
    }

    /// Returns the file that says how far the story has been told.
    pub(super) fn progress(&self) -> PathBuf {
        self.directory.join("story.json")
    }

    /// Returns a line that a person can type to run `arguments` on this stage.
    pub(super) fn line(&self, arguments: &[String]) -> String {
        let words = std::iter::once(self.launcher().display().to_string());
        let words: Vec<String> = words.chain(arguments.iter().cloned()).collect();
        crate::typed_words::typed_command(&words)
    }

    /// Returns the line that goes on with the story.
    pub(super) fn go_on(&self) -> String {
        let directory = self.directory.display().to_string();
        self.line(&["demo".to_owned(), "--dir".to_owned(), directory])
    }

    /// Returns the command that runs `arguments` on this stage as a person would.
    pub(super) fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(self.launcher());
        command.args(arguments).stdin(Stdio::null());
        // What was chosen for us holds for the commands too; they look for it where shells put it.
        match anstream::ColorChoice::global() {
            anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => {
                command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
            }
            anstream::ColorChoice::Never => {
                command.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
            }
            anstream::ColorChoice::Auto => {}
        }
        command
    }

    /// Returns the recorded cases, the newest first.
    pub(super) fn cases(&self) -> Result<Vec<Value>, CliError> {
        let log = self.asked(&["log", "--json", "--recent", "1000"])?;
        Ok(log["cases"].as_array().cloned().unwrap_or_default())
    }

    /// Returns what a command prints as JSON.
    pub(super) fn asked(&self, arguments: &[&str]) -> Result<Value, CliError> {
        let line: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let output = self.command(&line).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| self.broken("start a command", &error))?;
        serde_json::from_slice(&output.stdout)
            .map_err(|error| self.broken(&format!("read `{}`", self.line(&line)), &error))
    }

    /// Returns the error for a story that cannot be told.
    pub(super) fn broken(&self, what: &str, error: &dyn std::error::Error) -> CliError {
        CliError::new(Exit::Internal, format!("cannot {what}")).caused_by(error)
    }

    fn launcher(&self) -> PathBuf {
        self.directory.join("tribunal")
    }

    fn is_set(&self) -> bool {
        self.launcher().is_file()
    }

    /// Writes the program that runs ours on this stage.
    ///
    /// Commands are processes of their own, as they are in a shell, because their surroundings differ
    /// from ours and a process cannot change its own environment safely. That this is a script means
    /// that a person can go on with what the story leaves behind, whether or not we are installed.
    fn write_launcher(&self) -> Result<(), CliError> {
        let program =
            std::env::current_exe().map_err(|error| self.broken("find ourselves", &error))?;
        let quoted = |path: &Path| crate::typed_words::typed_word(&path.display().to_string());
        let text = format!(
            "#!/bin/sh\n\
             # Runs `tribunal` in the repository of the demo, away from your settings and ledgers.\n\
             for name in $(env | sed -n 's/^\\(TRIBUNAL_[A-Za-z0-9_]*\\)=.*/\\1/p'); do\n    \
                 [ \"$name\" = TRIBUNAL_LOG ] || unset \"$name\"\n\
             done\n\
             export XDG_CONFIG_HOME={config} XDG_STATE_HOME={state}\n\
             cd {repository} && exec {program} \"$@\"\n",
            config = quoted(&self.directory.join("config")),
            state = quoted(&self.directory.join("state")),
            repository = quoted(&self.repository()),
            program = quoted(&program),
        );
        let file = self.launcher();
        let new = self.directory.join("tribunal.new");
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o700);
        options
            .open(&new)
            .and_then(|mut opened| std::io::Write::write_all(&mut opened, text.as_bytes()))
            .and_then(|()| std::fs::rename(&new, &file))
            .map_err(|error| cannot("write", &file, &error))
    }

    fn git(&self, arguments: &[&str]) -> Result<(), CliError> {
        let output = Command::new("git")
            .args([
                "-c",
                "commit.gpgsign=false",
                "-c",
                "core.hooksPath=/dev/null",
            ])
            .args(arguments)
            .current_dir(self.repository())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .output();
        let output = output.map_err(|error| {
            self.broken("start git", &error)
                .hint("Tribunal reads repositories with git; install it first")
        })?;
        if output.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(self.broken("make a repository", &std::io::Error::other(told)))
    }
}

fn cannot(what: &str, path: &Path, error: &dyn std::error::Error) -> CliError {
    CliError::new(Exit::Usage, format!("cannot {what} {}", path.display())).caused_by(error)
}
