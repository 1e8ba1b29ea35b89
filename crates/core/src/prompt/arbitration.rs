//! The questions of an arbitrated review: what the coder does about findings, and whether it
//! helped.

use serde::Serialize;

use super::{RESPOND, VERIFY, fill};
use crate::review::gate::Obligation;
use crate::review::report::{ReviewedFinding, Voice};

/// A finding as it is put to the coder, or to whoever checks the coder's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AssignedFinding<'a> {
    /// The neutral name by which the answer calls it, such as `F1`.
    pub finding_id: String,
    label: &'static str,
    obligation: Obligation,
    place: String,
    category: &'static str,
    title: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    trigger: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    suggestion: &'a str,
    /// What other reviewers say about it. All of it belongs to the finding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<AlsoSaid<'a>>,
    /// The ruling that locked it, such as `ENFORCE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<&'a str>,
    /// What is to be done instead of what the finding says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<&'a str>,
    /// Why an earlier attempt did not settle it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_settled_because: Option<&'a str>,
}

/// What another reviewer says about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct AlsoSaid<'a> {
    place: String,
    title: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    trigger: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    suggestion: &'a str,
}

impl<'a> AlsoSaid<'a> {
    fn new(voice: &'a Voice) -> Self {
        Self {
            place: voice.location.to_string(),
            title: &voice.title,
            description: &voice.description,
            trigger: &voice.trigger,
            suggestion: &voice.suggestion,
        }
    }
}

impl<'a> AssignedFinding<'a> {
    /// Returns `finding` under the name `finding_id`, with nothing beside it yet.
    #[must_use]
    pub fn new(finding_id: String, finding: &'a ReviewedFinding, obligation: Obligation) -> Self {
        Self {
            finding_id,
            label: finding.label.as_str(),
            obligation,
            place: finding.location.to_string(),
            category: finding.category.as_str(),
            title: &finding.title,
            description: &finding.description,
            trigger: &finding.trigger,
            suggestion: &finding.suggestion,
            also: finding.other_voices().map(AlsoSaid::new).collect(),
            ruling: None,
            instructions: None,
            not_settled_because: None,
        }
    }
}

/// A question about several findings, with the code around them.
#[derive(Debug, Clone, Copy)]
pub struct ArbitrationPrompt<'a> {
    /// Random text that is nowhere in the findings and the code.
    pub nonce: &'a str,
    /// The change in one line.
    pub title: &'a str,
    /// How many findings it is about.
    pub count: usize,
    /// The findings, as [`super::json_lines`] writes them.
    pub findings: &'a str,
    /// The code around the findings.
    pub material: &'a str,
}

impl ArbitrationPrompt<'_> {
    /// Returns the question to the coder.
    #[must_use]
    pub fn respond(&self) -> String {
        self.fill(&RESPOND)
    }

    /// Returns the question to whoever stands for the findings.
    #[must_use]
    pub fn verify(&self) -> String {
        self.fill(&VERIFY)
    }

    fn fill(&self, template: &super::Template) -> String {
        let count = match self.count {
            1 => "is one finding".to_owned(),
            count => format!("are {count} findings"),
        };
        fill(
            template,
            &[
                ("nonce", self.nonce),
                ("title", self.title),
                ("count", &count),
                ("findings", self.findings),
                ("material", self.material),
            ],
        )
    }
}
