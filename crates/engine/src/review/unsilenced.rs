//! Linters and the markers that a change adds: `# noqa`, `#[allow(…)]` and the like.
//!
//! A marker of the change silences nothing. The linter runs once more in a checkout without these
//! markers, and what it reports only there counts, too. So a marker that hides nothing costs nothing.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tribunal_code::linter_marker::{LinterMarker, without_markers};
use tribunal_code::nature::Nature;
use tribunal_core::finding::{Category, Finding, Grounding, Label, Location, Source};
use tribunal_core::reply::{
    Author, Findings, planted_defect, read_tool_report, tool_name, tool_reads,
};
use tribunal_core::review::coverage::FileStatus;
use tribunal_core::scale::Confidence;

use super::ask::Asking;
use super::hear::{AgentMember, Hearing, PartAnswer};
use crate::case::{CaseError, blocking};
use crate::change::{self, Change};
use crate::files::hash_of;
use crate::worktree::remove_tree;

/// The name of the finding about a marker whose effect nobody can tell.
const RULE: &str = "new-suppression";

/// So many markers are named; a number tells of the rest.
const NAMED: usize = 5;

/// What a linter reports without the markers that the change adds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unsilenced {
    /// What only these markers hide.
    pub(super) findings: Vec<Finding>,
    /// What people should know about it; empty when the change adds no marker.
    pub(super) note: String,
    /// Why nobody can tell what they hide; empty when that is known.
    pub(super) fault: String,
}

/// A file with markers that the change adds.
struct Marked {
    path: String,
    /// Its text without them.
    text: String,
    markers: Vec<LinterMarker>,
}

impl Hearing<'_> {
    /// Lets a tool look without the markers that the change adds, if there are any.
    pub(super) async fn unsilenced(
        self,
        member: &AgentMember,
        tool: &str,
        change: &Change,
        before: &Findings,
    ) -> Result<Option<Unsilenced>, CaseError> {
        if !self.request.refuse_new_suppressions {
            return Ok(None);
        }
        let marked = marked(tool, change);
        if marked.is_empty() {
            return Ok(None);
        }
        let name = &member.name;
        let named = named(&marked);
        let digest = hash_of(format!("markers {name}").as_bytes());
        let dir = &self.asking.engine.dir;
        let place = dir
            .workplace(self.asking.case.id())
            .join(format!("checkout-{}", &digest[..8]));
        let (repository, pinned) = (self.repository.clone(), self.request.pinned.clone());
        let target = place.clone();
        blocking(move || {
            let doing = || change::ChangeError::file("take markers out of a checkout");
            remove_tree(&target).map_err(doing())?;
            change::checkout(&repository, &pinned, &target)?;
            write(&target, &marked).map_err(doing())
        })
        .await?;
        let hearing = Hearing {
            asking: Asking {
                directory: &place,
                ..self.asking
            },
            ..self
        };
        let key = format!("{}review {name}: without new markers", self.request.phase);
        let asked = hearing.ask(member, &key, String::new()).await?;
        // The next linter needs the room; the rest goes with the case.
        let _ = remove_tree(&place);
        let unknown = |why: String| {
            let fault = format!(
                "this change adds markers that silence it ({named}), and what they hide is not known: \
                 {why}"
            );
            Some(Unsilenced {
                fault,
                ..Unsilenced::default()
            })
        };
        let told = match asked {
            Ok(reply) => {
                let root = place.to_string_lossy();
                let author = member.author();
                read_tool_report(reply.text.as_bytes(), Some(&root), &author).findings
            }
            Err(PartAnswer::Failed(error)) => return Ok(unknown(error.message)),
            Err(PartAnswer::Parked(why)) => return Ok(unknown(why)),
            Err(PartAnswer::Read(_)) => Findings::default(),
        };
        if !told.answered || !told.problems.is_empty() {
            let problem = told.problems.first().map(ToString::to_string);
            let problem = problem.unwrap_or_else(|| "it gave no answer".to_owned());
            return Ok(unknown(problem));
        }
        let mut findings = told.findings;
        findings.retain(|one| !before.findings.iter().any(|other| is_same(one, other)));
        for finding in &mut findings {
            let text = format!(
                "{}\n\nThis change adds a marker that hides it.",
                finding.description
            );
            text.trim_start().clone_into(&mut finding.description);
        }
        Ok(Some(Unsilenced {
            findings,
            note: format!(
                "this change adds markers that silence {name} ({named}); {name} ran once more without \
                 them, and what it reported then counts"
            ),
            fault: String::new(),
        }))
    }
}

/// Returns a finding for each marker that the change adds to silence a tool whose report was made
/// elsewhere: nobody can tell what it hides.
pub(super) fn of_import(tool: &str, change: &Change, author: &Author) -> Vec<Finding> {
    let finding = |path: &str, marker: &LinterMarker| Finding {
        location: Location {
            file: path.to_owned(),
            line: Some(marker.line),
            ..Location::default()
        },
        category: Some(Category::Other),
        reviewer: author.reviewer.clone(),
        family: author.family.clone(),
        rule: RULE.to_owned(),
        severity: Some(Label::High.severity()),
        confidence: Some(Confidence::clamped(90)),
        label: Some(Label::High),
        title: format!(
            "this change adds `{}`, which silences {tool} here",
            marker.text
        ),
        description: format!(
            "The report of {tool} was made with this marker in the code, so nobody knows what it hides."
        ),
        suggestion: format!(
            "Remove the marker, let {tool} run as an agent of the panel, or dismiss this finding with \
             the reason for the marker."
        ),
        grounding: Grounding::Confirmed,
        source: Source::Tool,
        ..Finding::default()
    };
    let marked = marked(tool, change);
    let all = marked
        .iter()
        .flat_map(|file| file.markers.iter().map(|one| finding(&file.path, one)));
    all.collect()
}

/// Returns the files in which the change adds markers that `tool` heeds.
fn marked(tool: &str, change: &Change) -> Vec<Marked> {
    let tool = tool_name(tool);
    let tool = tool.as_str();
    let is_read = |path: &str, text: &str| match planted_defect(tool) {
        Some(_) => tool_reads(tool, path),
        None => !Nature::of(path, text).is_prose_or_data(),
    };
    let files = change.files.iter().filter(|file| {
        file.status != FileStatus::Deleted
            && !file.unsettled.is_empty()
            && is_read(&file.path, &file.text)
    });
    let marked = files.map(|file| {
        let (text, markers) = without_markers(tool, &file.text, &file.unsettled);
        Marked {
            path: file.path.clone(),
            text,
            markers,
        }
    });
    marked.filter(|file| !file.markers.is_empty()).collect()
}

fn named(marked: &[Marked]) -> String {
    let all: Vec<String> = marked
        .iter()
        .flat_map(|file| {
            let path = &file.path;
            let markers = file.markers.iter();
            markers.map(move |one| format!("`{}` at {path}:{}", one.text, one.line))
        })
        .collect();
    match all.len().checked_sub(NAMED) {
        Some(more) if more > 0 => format!("{} and {more} more", all[..NAMED].join(", ")),
        _ => all.join(", "),
    }
}

/// Writes the texts in the place of those that are there.
fn write(root: &Path, marked: &[Marked]) -> std::io::Result<()> {
    for file in marked {
        let path = root.join(&file.path);
        if std::fs::symlink_metadata(&path).is_ok_and(|data| data.is_file()) {
            std::fs::write(path, &file.text)?;
        }
    }
    Ok(())
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    let place = |finding: &Finding| (finding.location.file.clone(), finding.location.line);
    (place(one), &one.rule, &one.title) == (place(other), &other.rule, &other.title)
}
