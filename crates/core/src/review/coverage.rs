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
    /// What agents that look around were not given, because it instructs or configures agents, is
    /// hidden and unknown, or may hold secrets. What changed in it is part of the question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
}

impl Coverage {
    /// Returns the files whose absence forbids a PASS: all but those that may be left out.
    pub fn uncovered<'a>(
        &'a self,
        may_skip: &'a [Omission],
    ) -> impl Iterator<Item = &'a LeftOut> + 'a {
        let may = |file: &LeftOut| {
            let is_allowed = may_skip.contains(&file.why) || file.why.needs_nobody();
            is_allowed && !file.claimed
        };
        self.left_out.iter().filter(move |file| !may(file))
    }

    /// Returns how many files were left out for which reasons, in words: `2 files of prose or data`.
    #[must_use]
    pub fn left_out_in_words(&self) -> String {
        let parts = Omission::ALL.into_iter().filter_map(|why| {
            let count = self.left_out.iter().filter(|file| file.why == why).count();
            let (noun, attribute) = match count {
                1 => ("file", why.attribute().replace("that are", "that is")),
                _ => ("files", why.attribute().to_owned()),
            };
            let attribute = match (why, count) {
                (Omission::Symlink, 1) => "that is a link".to_owned(),
                (Omission::LinkWithin, 1) => "that is a link within the repository".to_owned(),
                _ => attribute,
            };
            (count > 0).then(|| format!("{count} {noun} {attribute}"))
        });
        parts.collect::<Vec<_>>().join(", ")
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
    /// Whether only the change itself says so: such a reason excuses nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub claimed: bool,
}

/// Why a file was not reviewed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// It is no text, and nobody knows what it is.
    Binary,
    /// A picture, a font, a sound or a document, by its name and its first bytes.
    Asset,
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
    /// What is staged differs from the file and from the last commit, and only one can be reviewed.
    PartlyStaged,
    /// Another repository.
    Submodule,
    /// A link to another file.
    Symlink,
    /// A link to a file or directory of the repository, which is reviewed under its own name.
    LinkWithin,
    /// Prose or data, and nobody of the panel read it.
    NotCode,
    /// Code in a language that no reviewer of the panel reads.
    UnknownLanguage,
    /// The config says to ignore it.
    Ignored,
    /// It belongs to Tribunal: its settings, its rulings, its rendering of disputes.
    Own,
    /// Nothing of its content changed, only its name or its mode.
    Unchanged,
    /// It was deleted, and what it was could not be shown.
    Deleted,
    /// A reviewer was to see it, and no reviewer's answer came.
    Unanswered,
    /// The change has more files than the limit.
    TooMany,
}

impl Omission {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 20] = [
        Self::Binary,
        Self::Asset,
        Self::Generated,
        Self::LockFile,
        Self::Vendored,
        Self::Oversized,
        Self::Credentials,
        Self::Unreadable,
        Self::PartlyStaged,
        Self::Submodule,
        Self::Symlink,
        Self::LinkWithin,
        Self::NotCode,
        Self::UnknownLanguage,
        Self::Ignored,
        Self::Own,
        Self::Unchanged,
        Self::Deleted,
        Self::Unanswered,
        Self::TooMany,
    ];

    /// Returns the reason in a few words.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Asset => "picture, font or other asset",
            Self::Generated => "generated",
            Self::LockFile => "lock file",
            Self::Vendored => "vendored",
            Self::Oversized => "too large",
            Self::Credentials => "may hold credentials",
            Self::Unreadable => "cannot be read",
            Self::PartlyStaged => "staged content differs from the file",
            Self::Submodule => "submodule",
            Self::Symlink => "symbolic link",
            Self::LinkWithin => "link within the repository",
            Self::NotCode => "not code",
            Self::UnknownLanguage => "no reviewer reads its language",
            Self::Ignored => "ignored by the config",
            Self::Own => "belongs to Tribunal",
            Self::Unchanged => "content unchanged",
            Self::Deleted => "deleted",
            Self::Unanswered => "no reviewer answered",
            Self::TooMany => "too many files",
        }
    }

    /// Tells whether the reason never forbids a PASS, whatever the settings say.
    #[must_use]
    pub fn needs_nobody(self) -> bool {
        matches!(
            self,
            Self::Ignored | Self::Own | Self::Unchanged | Self::Deleted | Self::LinkWithin
        )
    }

    /// Returns what helps where the reason forbids a PASS; nothing where it never does.
    #[must_use]
    pub fn advice(self) -> Option<&'static str> {
        Some(match self {
            Self::Binary => "nobody can read a binary file: put its source under review",
            Self::Asset => {
                "nobody reads pictures and documents: `tribunal config add review.may_skip asset`"
            }
            Self::Generated => {
                "the base must say that a file is generated: let an earlier change say so"
            }
            Self::LockFile => {
                "nobody reviews lock files: `tribunal config add review.may_skip lock_file`"
            }
            Self::Vendored => "review new vendored code by itself: `tribunal review DIRECTORY`",
            Self::Oversized => {
                "split the file, or raise the limit: `tribunal config set review.max_file 8MiB`"
            }
            Self::Credentials => {
                "keep keys out of the repository: `git rm --cached FILE`, and add the file to \
                 `.gitignore`; if it was ever pushed, replace the key"
            }
            Self::Unreadable => "look why the file cannot be read",
            Self::PartlyStaged => {
                "review what is staged by `tribunal review --staged`, or stage the rest by `git add`"
            }
            Self::Submodule => "look at the commit of the submodule yourself",
            Self::Symlink => {
                "look yourself where the link leads; `tribunal config add review.may_skip symlink` \
                 lets every link pass"
            }
            Self::NotCode => {
                "`tribunal connect claude --role reviewer` adds a reviewer who reads prose; \
                 `tribunal config add review.may_skip not_code` lets it pass unread"
            }
            Self::UnknownLanguage => {
                "`tribunal connect claude --role reviewer` adds a reviewer who reads every language; \
                 codex, gemini, opencode and other programs do, too"
            }
            Self::Own => "keep programs and links out of `.tribunal/`",
            Self::Unanswered => "`tribunal doctor` checks the reviewers who did not answer",
            Self::TooMany => {
                "review a part of the files at a time (`tribunal review PATH`), or raise the limit: \
                 `tribunal config set review.max_files 20000`"
            }
            Self::Ignored | Self::Unchanged | Self::Deleted | Self::LinkWithin => return None,
        })
    }

    /// Tells whether it helps to leave the file out of all reviews by `review.ignore`.
    #[must_use]
    pub fn can_be_ignored(self) -> bool {
        let is_excused = self.needs_nobody();
        let is_hidden = matches!(self, Self::Credentials | Self::PartlyStaged);
        !is_excused && !is_hidden && !matches!(self, Self::Unanswered | Self::TooMany)
    }

    /// Returns the reason as it follows `2 files`.
    fn attribute(self) -> &'static str {
        match self {
            Self::Binary => "that are binary",
            Self::Asset => "with pictures, fonts or other assets",
            Self::Generated => "that programs wrote",
            Self::LockFile => "with locked versions",
            Self::Vendored => "of vendored code",
            Self::Oversized => "over the size limit",
            Self::Credentials => "that may hold credentials",
            Self::Unreadable => "that cannot be read",
            Self::PartlyStaged => "whose staged content differs",
            Self::Submodule => "for submodules",
            Self::Symlink => "that are links",
            Self::LinkWithin => "that are links within the repository",
            Self::NotCode => "of prose or data",
            Self::UnknownLanguage => "in languages nobody reads",
            Self::Ignored => "ignored by the config",
            Self::Own => "of Tribunal itself",
            Self::Unchanged => "with unchanged content",
            Self::Deleted => "deleted",
            Self::Unanswered => "without an answer",
            Self::TooMany => "over the limit",
        }
    }
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.phrase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_that_can_forbid_a_pass_has_its_own_advice() {
        let mut seen = Vec::new();
        for why in Omission::ALL {
            let Some(advice) = why.advice() else {
                assert!(why.needs_nobody(), "{why:?}");
                continue;
            };
            assert!(!seen.contains(&advice), "{why:?}");
            seen.push(advice);
            // Another reviewer helps only where a reviewer can read the file.
            let can_be_read = matches!(why, Omission::NotCode | Omission::UnknownLanguage);
            assert_eq!(advice.contains("tribunal connect"), can_be_read, "{why:?}");
            // What the advice names to be skipped is called so.
            let word = serde_json::to_value(why).unwrap();
            if let Some((_, rest)) = advice.split_once("review.may_skip ") {
                let named = rest.split('`').next().unwrap();
                assert_eq!(Some(named), word.as_str(), "{why:?}");
            }
        }
    }
}
