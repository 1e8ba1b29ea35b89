//! The coverage receipt: which files of a change were reviewed, which were not, and why.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was looked at and what was not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Coverage {
    /// The files that reviewers saw, by path.
    pub reviewed: Vec<CoveredFile>,
    /// The files that nobody saw, by path.
    pub left_out: Vec<LeftOut>,
}

impl Coverage {
    /// Returns the files whose absence forbids a PASS: all but those that may be left out.
    pub fn uncovered<'a>(
        &'a self,
        may_skip: &'a [Omission],
    ) -> impl Iterator<Item = &'a LeftOut> + 'a {
        self.left_out
            .iter()
            .filter(|file| !may_skip.contains(&file.why))
    }
}

/// A file that reviewers saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoveredFile {
    /// Path from the root of the repository.
    pub path: String,
    /// Path before the change, when it was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// What happened to it.
    pub status: FileStatus,
    /// How many lines were added or changed; all lines when whole files are reviewed.
    pub changed_lines: u32,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It was there before and is still there.
    Modified,
    /// It has another name, and perhaps another content.
    Renamed,
    /// It is gone; reviewers see that it was removed.
    Deleted,
    /// It is reviewed as a whole, whatever changed.
    Whole,
}

/// A file that nobody saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Path from the root of the repository.
    pub path: String,
    /// The kind of reason.
    pub why: Omission,
    /// More about it, such as the size; empty when there is nothing to add.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Why a file was not reviewed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// It is no text.
    Binary,
    /// A program wrote it, and it was known for that before this change.
    Generated,
    /// It lists the exact versions of dependencies.
    LockFile,
    /// Somebody else's code, kept in the repository.
    Vendored,
    /// It is larger than the limit.
    Oversized,
    /// It looks like a file of keys or passwords; it is given to nobody.
    Credentials,
    /// It cannot be read.
    Unreadable,
    /// Another repository.
    Submodule,
    /// A link to another file.
    Symlink,
    /// Prose or data, and every reviewer of the panel reads only code.
    NotCode,
    /// Code in a language that no reviewer of the panel reads.
    UnknownLanguage,
    /// The config says to ignore it.
    Ignored,
    /// A reviewer was to see it, and no reviewer's answer came.
    Unanswered,
    /// The change has more files than the limit.
    TooMany,
}

impl Omission {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 14] = [
        Self::Binary,
        Self::Generated,
        Self::LockFile,
        Self::Vendored,
        Self::Oversized,
        Self::Credentials,
        Self::Unreadable,
        Self::Submodule,
        Self::Symlink,
        Self::NotCode,
        Self::UnknownLanguage,
        Self::Ignored,
        Self::Unanswered,
        Self::TooMany,
    ];

    /// Returns the reason in a few words.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Generated => "generated",
            Self::LockFile => "lock file",
            Self::Vendored => "vendored",
            Self::Oversized => "too large",
            Self::Credentials => "may hold credentials",
            Self::Unreadable => "cannot be read",
            Self::Submodule => "submodule",
            Self::Symlink => "symbolic link",
            Self::NotCode => "not code",
            Self::UnknownLanguage => "no reviewer reads its language",
            Self::Ignored => "ignored by the config",
            Self::Unanswered => "no reviewer answered",
            Self::TooMany => "too many files",
        }
    }
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.phrase())
    }
}
