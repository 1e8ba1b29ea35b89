//! Readers: what a model or a tool wrote becomes typed answers plus a list of problems.
//!
//! Nothing is dropped in silence, nothing is repaired by guessing, and a number or a word outside
//! of its scale is reported, never moved to the nearest one.

mod arbiter;
mod beside;
mod debate;
mod fields;
mod find;
mod json;
mod linter;
mod nested_findings;
mod own;
mod responses;
mod rounds;
mod rule;
mod sarif;
mod signed;
mod strict;
mod tags;
mod trial;
mod verify;
mod weigh;
mod wording;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use arbiter::{
    Guidance, WorkReport, read_signed_decision, read_signed_guidance, read_signed_plan,
    read_signed_work,
};
pub use debate::{Statements, read_signed_defenses, read_signed_examinations};
pub use find::{Author, Findings, findings_in_value, read_findings};
pub use json::{ExtractError, extract_json};
pub use linter::{
    Looked, ToolReport, family_of_tool_named, first_of_each_result, is_known_tool, planted_defect,
    read_tool_output, read_tool_report, tool_name, tool_reads, tool_report_of,
};
pub use own::{OwnReview, read_own_review};
pub use responses::{AskedFinding, read_signed_responses};
pub use rounds::{Message, Messages, Signal, read_messages};
pub use rule::{JudgeAnswer, read_signed_ruling};
pub use signed::read_signed_findings;
pub(crate) use strict::Strict;
pub use trial::{
    DesignedContestant, Masked, read_signed_contestants, read_signed_panel, read_signed_scores,
};
pub use verify::{Check, read_signed_checks};
pub use weigh::{Side, Weighing, read_signed_weighing};

/// Something in an answer that could not be used as it stands.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Problem {
    /// Where it is, such as `findings[2].confidence`; empty for the whole answer.
    pub at: String,
    /// What is wrong, as a sentence without a full stop.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "{}: {}", self.at, self.what)
        }
    }
}
