//! The receipt: what was seen by whom, and what by nobody.

use tribunal_code::nature::{Nature, has_same_cells};
use tribunal_core::reply::tool_reads;
use tribunal_core::review::coverage::{Coverage, CoveredFile, FileStatus, LeftOut, Omission};

use super::hear::Heard;
use super::{Member, ReviewRequest};
use crate::change::{Change, ChangedFile};

/// Tells whether the content of a file is what it was before the change.
fn is_unchanged(file: &ChangedFile) -> bool {
    let is_text = matches!(file.status, FileStatus::Renamed | FileStatus::Modified);
    let is_same = |base: &str| base == &*file.text || has_same_cells(&file.path, base, &file.text);
    is_text && file.base_text.as_deref().is_some_and(is_same) && !file.is_lossy
}

/// Returns what was seen by whom, as a receipt.
pub(super) fn coverage(change: &Change, request: &ReviewRequest, heard: &[Heard]) -> Coverage {
    let mut coverage = Coverage {
        reviewed: Vec::new(),
        left_out: change.left_out.clone(),
        withheld: request.withheld.clone(),
    };
    let has_agents = request.members.iter().any(|member| {
        matches!(
            member,
            Member::Agent { is_tool: false, .. } | Member::Unasked { .. }
        )
    });
    let has_builtin = request
        .members
        .iter()
        .any(|member| matches!(member, Member::Builtin { .. }));
    let has_tool_for = |path: &str| {
        request.members.iter().any(|member| match member {
            Member::Agent { tool, .. } => tool
                .as_ref()
                .is_some_and(|tool| tool_reads(&tool.name, path)),
            Member::Builtin { .. } | Member::Import { .. } | Member::Unasked { .. } => false,
        })
    };
    for file in &change.files {
        let is_covered = heard.iter().any(|one| one.covered.contains(&file.path));
        if is_covered {
            let lines = match file.status {
                FileStatus::Whole => file.text.lines().count(),
                _ => file
                    .diff
                    .added()
                    .ranges()
                    .iter()
                    .map(|(a, b)| (b - a + 1) as usize)
                    .sum(),
            };
            coverage.reviewed.push(CoveredFile {
                path: file.path.clone(),
                old_path: file.old_path.clone(),
                status: file.status,
                changed_lines: u32::try_from(lines).unwrap_or(u32::MAX),
            });
            continue;
        }
        let nature = Nature::of(&file.path, &file.text);
        let (why, detail) = if nature.is_prose_or_data() {
            // Whoever was asked, nobody had to be.
            (Omission::NotCode, "")
        } else if file.is_large {
            (
                Omission::Oversized,
                "only the built-in reviewers read a file of this size",
            )
        } else if has_agents {
            (Omission::Unanswered, "")
        } else if is_unchanged(file) {
            (Omission::Unchanged, "its code is as it was")
        } else if has_builtin && nature.has_reader() {
            (
                Omission::Unreadable,
                "the built-in reviewers could not check it",
            )
        } else if has_tool_for(&file.path) {
            (Omission::Unanswered, "")
        } else {
            (Omission::UnknownLanguage, "")
        };
        coverage.left_out.push(LeftOut {
            path: file.path.clone(),
            why,
            detail: detail.to_owned(),
            claimed: false,
        });
    }
    coverage
        .left_out
        .sort_by(|one, other| one.path.cmp(&other.path));
    coverage
}
