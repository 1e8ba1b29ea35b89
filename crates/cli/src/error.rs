//! Errors as people see them: what happened, why, and what to do next.

use std::fmt::Write as _;
use std::path::Path;

use tribunal_core::dispute::Refusal;
use tribunal_core::text::for_terminal;
use tribunal_engine::case::CaseError;
use tribunal_engine::change::ChangeError;
use tribunal_engine::config::ConfigError;
use tribunal_engine::place::PlaceError;
use tribunal_store::StoreError;

use crate::exit::Exit;

/// An error with its exit code, its causes and hints.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) exit: Exit,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl CliError {
    /// Returns an error that says `message`.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            causes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Returns the error for a file that the user named and that cannot be read.
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        let exit = match error.kind() {
            std::io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Usage,
        };
        Self::new(exit, format!("cannot read {}", path.display())).caused_by(error)
    }

    /// Returns what happened, without causes and hints.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Adds what the user can do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds an error and its sources as causes.
    pub(crate) fn caused_by(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    /// Returns the text to print, with a newline at the end and `error` styled.
    pub(crate) fn render(&self) -> String {
        let (red, bold) = (
            anstyle::AnsiColor::Red.on_default().bold(),
            anstyle::Style::new().bold(),
        );
        let mut text = format!(
            "{red}Error:{red:#} {}\n",
            for_terminal(&sentence(&self.message))
        );
        for cause in &self.causes {
            let _ = writeln!(text, "  because: {}", for_terminal(cause));
        }
        for hint in &self.hints {
            let _ = writeln!(text, "{bold}Hint:{bold:#} {}", for_terminal(hint));
        }
        text
    }
}

/// Returns `text` beginning with a capital letter, as sentences do.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        // A name in the first place keeps its spelling.
        Some(first) if first.is_lowercase() => {
            first.to_uppercase().collect::<String>() + chars.as_str()
        }
        _ => text.to_owned(),
    }
}

/// What to do about a full disk.
const MAKE_ROOM: &str = "Make room on the disk, then give the command again; what was stored is kept, \
                         and `tribunal resume CASE` goes on with a case that is open in `tribunal log`";

/// Returns the error for a file that could not be written: a full disk is a stop of its own, which
/// has nothing to do with the program or its settings.
pub(crate) fn unwritten(what: impl Into<String>, error: &std::io::Error) -> CliError {
    let told = CliError::new(exit_of_file(error), what).caused_by(error);
    match tribunal_store::is_full(error) {
        true => told.hint(MAKE_ROOM),
        false => told,
    }
}

fn exit_of_file(error: &std::io::Error) -> Exit {
    match error.kind() {
        _ if tribunal_store::is_full(error) => Exit::Quota,
        std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
            Exit::Config
        }
        _ => Exit::Internal,
    }
}

/// Tells whether git ended because there was no room left.
fn names_full_disk(text: &str) -> bool {
    [
        "No space left on device",
        "Disk quota exceeded",
        "Out of diskspace",
    ]
    .iter()
    .any(|sign| text.contains(sign))
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        let exit = match &error {
            StoreError::NoSuchCase { .. }
            | StoreError::AmbiguousCase { .. }
            | StoreError::NoSuchTask { .. }
            | StoreError::AmbiguousTask { .. }
            | StoreError::NoSuchDispute { .. }
            | StoreError::AmbiguousDispute { .. } => Exit::NotFound,
            // What is decided or open already is a lock, as a ruling is.
            StoreError::OpenDispute { .. }
            | StoreError::Busy { .. }
            | StoreError::LeaseLost { .. }
            | StoreError::Locked { .. } => Exit::Busy,
            StoreError::NewerSchema { .. }
            | StoreError::OddSchema { .. }
            | StoreError::Incomplete { .. }
            | StoreError::Foreign { .. }
            | StoreError::Damaged { .. }
            | StoreError::Unusable { .. } => Exit::Config,
            StoreError::DiskFull { .. } => Exit::Quota,
            StoreError::DiskFailed { .. }
            | StoreError::Repeated { .. }
            | StoreError::Refused { .. }
            | StoreError::Database(_) => Exit::Internal,
        };
        let told = Self::new(exit, error.to_string());
        match &error {
            StoreError::NoSuchCase { .. } => {
                told.hint("`tribunal log` lists the cases of this project")
            }
            StoreError::NoSuchTask { .. } => told.hint("`tribunal task list` shows all tasks"),
            StoreError::NoSuchDispute { .. } => {
                told.hint("`tribunal dispute list` shows all disputes")
            }
            StoreError::AmbiguousCase { .. }
            | StoreError::AmbiguousTask { .. }
            | StoreError::AmbiguousDispute { .. } => told.hint("Give more characters of the id"),
            StoreError::OpenDispute { task } => told.hint(format!(
                "A task has one open major dispute at most; see `tribunal dispute list --task {task}`"
            )),
            StoreError::Busy { case, .. } => told.hint(format!(
                "Follow it with `tribunal watch {case}`, or stop that process first"
            )),
            StoreError::NewerSchema { .. } => {
                told.hint("Install the newer version of Tribunal that wrote it")
            }
            StoreError::OddSchema { .. } => {
                told.hint("Restore a backup with `tribunal restore FILE`, or move the ledger away")
            }
            StoreError::Foreign { path } => told
                .hint(format!(
                    "Put the right `{0}` and `{0}-wal` back, or move `{0}-wal` away if it is not yours",
                    path.display()
                ))
                .hint("Or restore a backup with `tribunal restore FILE --force`"),
            StoreError::Incomplete { path, .. } => told
                .hint(format!("Put `{0}` and `{0}-wal` back if you have them", path.display()))
                .hint("Or restore a backup with `tribunal restore FILE --force`")
                .hint("Or move the ledger's directory away to begin a new one"),
            StoreError::Damaged { .. } => told
                .hint("`tribunal doctor --ledger-only` tells more, if the ledger can be opened")
                .hint("Restore a backup with `tribunal restore FILE --force`"),
            StoreError::DiskFull { .. } => told.hint(MAKE_ROOM),
            StoreError::Database(source) => told.caused_by(source),
            _ => told,
        }
    }
}

/// Returns why a dispute does not take what was asked, and what can be done.
fn refused(refusal: &Refusal) -> CliError {
    let exit = match refusal {
        // A ruling is a lock: nobody rules a second time by accident.
        Refusal::AlreadyRuled { .. } | Refusal::Locked { .. } => Exit::Busy,
        Refusal::NothingToOverrule { .. }
        | Refusal::NoRuling { .. }
        | Refusal::Minor { .. }
        | Refusal::MissingPosition { .. }
        | Refusal::AlreadyStated { .. }
        | Refusal::EmptyPosition { .. }
        | Refusal::NoPosition
        | Refusal::NoNotes
        | Refusal::EmptyReason
        | Refusal::EmptyInstructions
        | Refusal::NotBeforeJudge { .. }
        | Refusal::Unsupported { .. }
        | Refusal::NotReferable { .. }
        | Refusal::AlreadyDropped { .. } => Exit::Usage,
    };
    let told = CliError::new(exit, refusal.to_string());
    match refusal {
        Refusal::AlreadyRuled { id, .. } => told
            .hint(format!("See `tribunal dispute show {id}`"))
            .hint("A person can overrule it: add `--overrule` to `tribunal dispute resolve`"),
        Refusal::Locked { by } => told.hint(format!(
            "Overrule it with `tribunal dispute resolve {by} --decision coder --overrule --notes …`"
        )),
        Refusal::MissingPosition { id, from } => told.hint(format!(
            "State it with `tribunal dispute answer {id} --as {from} --position …`"
        )),
        _ => told,
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let told = Self::new(Exit::Config, error.to_string());
        let told = match &error {
            ConfigError::File { source, .. } => told.caused_by(source),
            _ => told,
        };
        match error.next_step() {
            Some(step) => told.hint(step),
            None => told,
        }
    }
}

impl From<PlaceError> for CliError {
    fn from(error: PlaceError) -> Self {
        match &error {
            PlaceError::File { source, .. } => {
                let exit = match exit_of_file(source) {
                    Exit::Quota => Exit::Quota,
                    _ => Exit::Config,
                };
                Self::new(exit, error.to_string())
                    .caused_by(source)
                    .hint("Choose another place with `--ledger DIR`")
            }
            PlaceError::InUse { .. } => Self::new(Exit::Busy, error.to_string()).hint(
                "Wait until that process has ended; then the ledger moves to your state directory",
            ),
            PlaceError::DamagedRecord { .. } => Self::new(Exit::Config, error.to_string())
                .hint("Look at the ledger with `--ledger DIR`, or move its directory away"),
        }
    }
}

impl From<CaseError> for CliError {
    fn from(error: CaseError) -> Self {
        match error {
            CaseError::Store(error) => error.into(),
            CaseError::UnknownAgent { ref known, .. } => {
                Self::new(Exit::NotFound, error.to_string())
                    .hint(format!("The agents are: {known}"))
                    .hint("Add one with `tribunal connect <agent> --role <role>`")
            }
            CaseError::UnknownReviewer { ref known, .. } => {
                Self::new(Exit::NotFound, error.to_string())
                    .hint(format!("The reviewers are: {known}"))
                    .hint("Add one with `tribunal connect <agent> --role reviewer`")
            }
            CaseError::NoCoder => Self::new(Exit::Config, error.to_string())
                .hint("Add one with `tribunal connect <agent> --role coder`")
                .hint("Or review without `--arbitrate`"),
            CaseError::File { ref source, .. } => {
                unwritten(error.to_string(), source)
            }
            CaseError::UnfitAgent { reason, .. } => {
                Self::new(Exit::Config, reason).hint("`tribunal doctor` checks every agent")
            }
            CaseError::NoJudge { ref dispute } => Self::new(Exit::Config, error.to_string())
                .hint("Add one with `tribunal connect <agent> --role judge`")
                .hint(format!(
                    "Or rule yourself with `tribunal dispute resolve {dispute} --decision …`"
                )),
            CaseError::Undeliverable {
                ref dispute,
                ref task,
                ..
            } => Self::new(Exit::Fail, error.to_string())
                .hint(format!(
                    "Let it be done again: `tribunal dispute resolve {dispute} --decision custom \
                     --notes …`"
                ))
                .hint(format!(
                    "Or merge `tribunal/task/{task}` into the branch of approved work yourself, and \
                     rule again"
                )),
            CaseError::Dispute(refusal) => refused(&refusal),
            CaseError::Request(text) => Self::new(Exit::Usage, text),
            CaseError::Change(error) => {
                let exit = match &error {
                    ChangeError::UnknownRevision { .. }
                    | ChangeError::PathMatchesNothing { .. } => Exit::NotFound,
                    ChangeError::GitFailed { .. } if names_full_disk(&error.to_string()) => {
                        Exit::Quota
                    }
                    ChangeError::File { source, .. } => exit_of_file(source),
                    ChangeError::GitFailed { .. } => Exit::Internal,
                    _ => Exit::Usage,
                };
                let told = Self::new(exit, error.to_string());
                let told = error.hints().into_iter().fold(told, Self::hint);
                match exit {
                    Exit::Quota => told.hint(MAKE_ROOM),
                    _ => told,
                }
            }
            CaseError::Parked { .. } | CaseError::Unreadable { .. } => {
                Self::new(Exit::Internal, error.to_string())
            }
        }
    }
}
