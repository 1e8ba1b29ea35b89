//! Linters, and what a change does to silence them: markers such as `# noqa`, and other settings.
//!
//! A marker of the change silences nothing, nor do settings that the change edits. The linter runs
//! once more in a checkout without these markers and with the settings from before, and what it
//! reports only there counts, too. So whatever hides nothing costs nothing.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tribunal_code::linter_marker::{LinterMarker, without_markers};
use tribunal_code::linter_settings::is_read_by;
use tribunal_code::nature::Nature;
use tribunal_core::finding::{Category, Finding, Grounding, Label, Location, Source};
use tribunal_core::ids::AgentName;
use tribunal_core::reply::{Author, Findings, planted_defect, tool_name, tool_reads};
use tribunal_core::review::coverage::FileStatus;
use tribunal_core::scale::Confidence;

use super::ReviewRequest;
use super::hear::{AgentMember, Hearing};
use crate::case::{CaseError, blocking};
use crate::change::{self, Change, EarlierSettings, Repository};

/// The name of the finding about a marker whose effect nobody can tell.
const MARKER_RULE: &str = "new-suppression";

/// The name of the finding about settings whose effect nobody can tell.
const SETTINGS_RULE: &str = "new-linter-settings";

/// So many markers and files are named; a number tells of the rest.
const NAMED: usize = 5;

/// What a linter reports without that with which the change silences it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HiddenFindings {
    /// What only markers and settings of the change hide.
    pub(super) findings: Vec<Finding>,
    /// What people should know about it; empty when the change has neither.
    pub(super) note: String,
    /// Why nobody can tell what they hide; empty when that is known.
    pub(super) fault: String,
}

/// A file with markers that the change adds.
#[derive(Debug, Clone)]
struct MarkedFile {
    path: String,
    /// Its text without them.
    text: String,
    markers: Vec<LinterMarker>,
}

/// One more run of a linter: which settings it finds, and what that is called.
struct SecondRun {
    /// What follows the name of the linter in the key of the step.
    key: &'static str,
    settings: Vec<EarlierSettings>,
    /// Whose settings they are.
    owner: &'static str,
}

impl Hearing<'_> {
    /// Lets a tool look without that with which the change silences it, if there is any.
    pub(super) async fn hidden_findings(
        self,
        member: &AgentMember,
        tool: &str,
        change: &Change,
        before: &Findings,
    ) -> Result<Option<HiddenFindings>, CaseError> {
        let marked = match self.request.refuse_new_suppressions {
            true => marked_files(tool, change),
            false => Vec::new(),
        };
        let runs = self.second_runs(member, !marked.is_empty()).await?;
        if runs.is_empty() {
            return Ok(None);
        }
        let name = &member.name;
        let mut hidden = HiddenFindings::default();
        let mut notes = Vec::new();
        for run in runs {
            let means = means_of(name, &marked, &run);
            let why = match (marked.is_empty(), run.settings.is_empty()) {
                (true, _) => "This change edits settings of the linter that hide it.",
                (false, true) => "This change adds a marker that hides it.",
                (false, false) => "This change adds a marker or edits settings that hide it.",
            };
            let key = format!("{}review {name}: {}", self.request.phase, run.key);
            let files = marked.clone();
            let prepare = move |root: &Path| {
                write_texts(root, &files)?;
                change::restore_linter_settings(root, &run.settings)
            };
            let looked = self.look_in_second_checkout(member, &key, prepare).await?;
            let told = match looked.and_then(whole_answer) {
                Ok(told) => told,
                Err(why) => {
                    hidden.fault =
                        format!("this change {means}, and what they hide is not known: {why}");
                    return Ok(Some(hidden));
                }
            };
            for mut finding in told.findings {
                let known = before.findings.iter().chain(&hidden.findings);
                if known.into_iter().any(|other| is_same(&finding, other)) {
                    continue;
                }
                let text = format!("{}\n\n{why}", finding.description);
                text.trim_start().clone_into(&mut finding.description);
                hidden.findings.push(finding);
            }
            notes.push(format!(
                "this change {means}; {name} ran once more without that, and what it reported then \
                 counts"
            ));
        }
        hidden.note = notes.join(". ");
        Ok(Some(hidden))
    }

    /// Returns how the tool has to run once more: with the settings from before the change, and in
    /// a look at a coder's work also with those that the reviewed change has.
    async fn second_runs(
        self,
        member: &AgentMember,
        has_markers: bool,
    ) -> Result<Vec<SecondRun>, CaseError> {
        let named = member.tool.as_ref().map(|tool| tool.named_files.clone());
        let named = named.unwrap_or_default();
        let earlier = earlier_settings(self.repository, self.request, named.clone()).await?;
        let mut runs = Vec::new();
        if has_markers || !earlier.is_empty() {
            runs.push(SecondRun {
                key: match earlier.is_empty() {
                    true => "without new markers",
                    false => "with earlier settings",
                },
                settings: earlier,
                owner: "from before the change",
            });
        }
        if let Some(reviewed) = self.request.reviewed.clone() {
            let settings = settings_of(self.repository, self.request, reviewed, named).await?;
            if !settings.is_empty() {
                runs.push(SecondRun {
                    key: "with reviewed settings",
                    settings,
                    owner: "of the reviewed change",
                });
            }
        }
        Ok(runs)
    }
}

/// Returns the settings of linters from before the change that is reviewed, as far as it has others.
pub(super) async fn earlier_settings(
    repository: &Repository,
    request: &ReviewRequest,
    named: Vec<String>,
) -> Result<Vec<EarlierSettings>, CaseError> {
    let pinned = &request.pinned;
    if !request.refuse_new_suppressions {
        return Ok(Vec::new());
    }
    match pinned.settled.clone().or_else(|| pinned.base.clone()) {
        Some(before) => settings_of(repository, request, before, named).await,
        None => Ok(Vec::new()),
    }
}

/// Returns the settings that `before` has, as far as the head has others.
async fn settings_of(
    repository: &Repository,
    request: &ReviewRequest,
    before: String,
    named: Vec<String>,
) -> Result<Vec<EarlierSettings>, CaseError> {
    let Some(head) = request.pinned.head.clone() else {
        return Ok(Vec::new());
    };
    if !request.restores_linter_settings {
        return Ok(Vec::new());
    }
    let repository = repository.clone();
    blocking(move || change::earlier_linter_settings(&repository, &before, &head, &named)).await
}

/// Returns what was told if it is a whole answer, else what it lacks.
fn whole_answer(told: Findings) -> Result<Findings, String> {
    match told.problems.first() {
        Some(problem) => Err(problem.to_string()),
        None if told.answered => Ok(told),
        None => Err("it gave no answer".to_owned()),
    }
}

/// Returns with what the change silences a linter, in words.
fn means_of(name: &AgentName, marked: &[MarkedFile], run: &SecondRun) -> String {
    let mut means = Vec::new();
    if !marked.is_empty() {
        let markers = name_markers(marked);
        means.push(format!("adds markers that silence {name} ({markers})"));
    }
    if !run.settings.is_empty() {
        let paths: Vec<String> = run
            .settings
            .iter()
            .map(|file| format!("`{}`", file.path))
            .collect();
        means.push(format!(
            "edits settings of linters ({}), which count as those {}",
            first_few(&paths),
            run.owner
        ));
    }
    means.join(" and ")
}

/// Returns a finding for each file with settings of linters that the change edits, beside a report
/// that was made elsewhere: nobody can tell what they hide.
pub(super) fn of_settings(
    tool: &str,
    settings: &[EarlierSettings],
    change: &Change,
    author: &Author,
) -> Vec<Finding> {
    let tool = tool_name(tool);
    // What is not under review has no place in it, and counts nevertheless.
    let place = |path: &str| {
        change
            .file(path)
            .map_or("", |file| file.path.as_str())
            .to_owned()
    };
    let of_file = |file: &EarlierSettings| Finding {
        title: format!(
            "this change edits `{}`, with which linters are set up",
            file.path
        ),
        description: format!(
            "The report of {tool} was made with these settings, so nobody knows what they hide."
        ),
        suggestion: format!(
            "Let {tool} run as an agent of the panel, which also runs it with the settings from before, \
             or dismiss this finding with the reason for the settings."
        ),
        rule: SETTINGS_RULE.to_owned(),
        ..of_import(&place(&file.path), None, author)
    };
    let own = settings.iter().filter(|file| is_read_by(&tool, &file.path));
    own.map(of_file).collect()
}

/// Returns what all findings beside a report that was made elsewhere have in common.
fn of_import(path: &str, line: Option<u32>, author: &Author) -> Finding {
    Finding {
        location: Location {
            file: path.to_owned(),
            line,
            ..Location::default()
        },
        category: Some(Category::Other),
        reviewer: author.reviewer.clone(),
        family: author.family.clone(),
        severity: Some(Label::High.severity()),
        confidence: Some(Confidence::clamped(90)),
        label: Some(Label::High),
        grounding: Grounding::Confirmed,
        source: Source::Tool,
        ..Finding::default()
    }
}

/// Returns a finding for each marker that the change adds to silence a tool whose report was made
/// elsewhere: nobody can tell what it hides.
pub(super) fn of_markers(tool: &str, change: &Change, author: &Author) -> Vec<Finding> {
    let finding = |path: &str, marker: &LinterMarker| Finding {
        rule: MARKER_RULE.to_owned(),
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
        ..of_import(path, Some(marker.line), author)
    };
    let marked = marked_files(tool, change);
    let all = marked
        .iter()
        .flat_map(|file| file.markers.iter().map(|one| finding(&file.path, one)));
    all.collect()
}

/// Returns the files in which the change adds markers that `tool` heeds.
fn marked_files(tool: &str, change: &Change) -> Vec<MarkedFile> {
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
        MarkedFile {
            path: file.path.clone(),
            text,
            markers,
        }
    });
    marked.filter(|file| !file.markers.is_empty()).collect()
}

fn name_markers(marked: &[MarkedFile]) -> String {
    let all: Vec<String> = marked
        .iter()
        .flat_map(|file| {
            let path = &file.path;
            let markers = file.markers.iter();
            markers.map(move |one| format!("`{}` at {path}:{}", one.text, one.line))
        })
        .collect();
    first_few(&all)
}

fn first_few(all: &[String]) -> String {
    match all.len().checked_sub(NAMED) {
        Some(more) if more > 0 => format!("{} and {more} more", all[..NAMED].join(", ")),
        _ => all.join(", "),
    }
}

/// Writes the texts in the place of those that are there.
fn write_texts(root: &Path, marked: &[MarkedFile]) -> std::io::Result<()> {
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
