//! What can be wrong with the configuration, each as one sentence with its place.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The layers of the configuration; later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Built into the program.
    Default,
    /// The user's file.
    User,
    /// The project's file.
    Project,
    /// `TRIBUNAL_*` variables.
    Environment,
    /// Command-line flags.
    Flag,
}

impl Layer {
    /// Returns the word used in `config show`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// The file, for the layers that have one.
    pub file: Option<PathBuf>,
    /// The variable or flag, for the layers that have one.
    pub name: Option<String>,
    /// Line in the file, from 1; 0 when there is none.
    pub line: u32,
    /// Column in the line, in characters from 1; 0 when there is none.
    pub column: u32,
}

impl Origin {
    /// The origin of what nobody set.
    pub const DEFAULT: Self = Self {
        layer: Layer::Default,
        file: None,
        name: None,
        line: 0,
        column: 0,
    };
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, &self.name) {
            (Some(file), _) if self.line > 0 => {
                write!(f, "{}:{}:{}", file.display(), self.line, self.column)
            }
            (Some(file), _) => write!(f, "{}", file.display()),
            (None, Some(name)) => f.write_str(name),
            (None, None) => f.write_str(self.layer.as_str()),
        }
    }
}

/// A project config that wants what only a trusted one may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untrusted {
    /// The file.
    pub file: PathBuf,
    /// Hash of its content; trusting it trusts exactly this content.
    pub hash: String,
    /// The keys that need trust, with their values.
    pub sensitive: Vec<(String, String)>,
}

/// Why the configuration cannot be used or changed.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// Something in a layer is wrong.
    #[error("{origin}: {message}{}", suffix(hint.as_ref()))]
    Invalid {
        /// Where it stands.
        origin: Box<Origin>,
        /// What is wrong and what was expected.
        message: String,
        /// What was probably meant, or what to do.
        hint: Option<String>,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What was tried, such as `read`.
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The project's config wants what only a trusted one may.
    #[error("{} sets {} but is not trusted", .0.file.display(), keys(&.0.sensitive))]
    Untrusted(Untrusted),
    /// A key that does not exist was asked for.
    #[error("there is no setting `{key}`{}", suffix(hint.as_ref()))]
    UnknownKey {
        /// The key as given.
        key: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A file could not be changed without risk to what else stands in it.
    #[error("cannot change `{key}` in {}: {reason}", file.display())]
    Edit {
        /// The file, left as it was.
        file: PathBuf,
        /// The key that was to be changed.
        key: String,
        /// Why not.
        reason: String,
    },

    /// A project's file was to say what only the user's own can.
    #[error("`{key}` counts only in your own config, so {} was left as it was", file.display())]
    UsersOwn {
        /// The file of the project.
        file: PathBuf,
        /// The key that was to be changed.
        key: String,
        /// The value, as it was typed.
        value: String,
    },
}

impl ConfigError {
    /// Returns the file the error is about.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Invalid { origin, .. } => origin.file.as_deref(),
            Self::Untrusted(untrusted) => Some(&untrusted.file),
            Self::File { file, .. } | Self::Edit { file, .. } | Self::UsersOwn { file, .. } => {
                Some(file)
            }
            Self::UnknownKey { .. } => None,
        }
    }

    /// Returns what the user can do next, beyond what the sentence itself says.
    #[must_use]
    pub fn next_step(&self) -> Option<String> {
        match self {
            Self::Untrusted(_) => Some(
                "Read the file, then trust exactly this content with `tribunal config trust`"
                    .to_owned(),
            ),
            Self::Edit { .. } => Some("Edit it by hand with `tribunal config edit`".to_owned()),
            Self::UsersOwn { key, value, .. } => {
                Some(format!("Run `tribunal config set {key} {value} --user`"))
            }
            Self::UnknownKey { .. } => {
                Some("`tribunal config show` lists every setting".to_owned())
            }
            Self::Invalid { .. } | Self::File { .. } => None,
        }
    }
}

fn suffix(hint: Option<&String>) -> String {
    hint.map(|hint| format!("; {hint}")).unwrap_or_default()
}

fn keys(sensitive: &[(String, String)]) -> String {
    let quoted: Vec<_> = sensitive
        .iter()
        .take(3)
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    let more = sensitive.len().saturating_sub(quoted.len());
    let listed = quoted.join(", ");
    if more == 0 {
        listed
    } else {
        format!("{listed} and {more} more")
    }
}
