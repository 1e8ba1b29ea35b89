//! Phase 6: what published advisories say about security findings. Who looked them up is not our
//! business; the answers arrive as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::outcome::Note;
use super::trace::Step;
use crate::finding::Category;

/// The answer of an advisory database about one finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advisory {
    /// The finding, by its id.
    pub finding_id: String,
    /// Whose finding it is, when ids alone do not tell.
    #[serde(default)]
    pub reviewer: Option<String>,
    /// What the database says.
    pub outcome: AdvisoryOutcome,
}

/// What an advisory database says about a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdvisoryOutcome {
    /// An advisory describes the problem, and the version in use is affected.
    Confirmed(
        /// The id of the advisory.
        String,
    ),
    /// An advisory describes the problem, and the version in use has the patch.
    Patched(
        /// The id of the advisory.
        String,
    ),
    /// Nothing fits. That says nothing about the finding.
    Unknown,
}

/// Applies what was looked up: confirmed raises the confidence, patched lowers the severity.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let docket = draft.docket;
    if docket.advisories.is_empty() || draft.lead().category != Category::Security {
        return;
    }
    let answers = draft
        .members
        .iter()
        .filter_map(|member| docket.advisories.get(member));
    let mut answers: Vec<&AdvisoryOutcome> = answers.flatten().collect();
    answers.sort_unstable();
    answers.dedup();
    let mut confirmed = 0;
    let mut patched = false;
    for answer in answers {
        match answer {
            AdvisoryOutcome::Confirmed(id) => {
                confirmed = docket.policy.advisory.confirmed;
                draft.note(Note::AdvisoryConfirms(id.clone()));
            }
            AdvisoryOutcome::Patched(id) => {
                patched = true;
                draft.note(Note::AdvisoryPatched(id.clone()));
            }
            AdvisoryOutcome::Unknown => {}
        }
    }
    draft.trace.push_nonzero(Step::Advisory, confirmed);
    if patched {
        draft.severity = draft.severity.lowered();
        draft.severity_ruled = true;
    }
}
