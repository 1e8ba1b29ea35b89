//! The questions of rounds 2 and 3, and the one to a judge who weighs what stays contested.
//!
//! What reviewers wrote is shown as JSON, one object to a line: no text of theirs can begin a line
//! of its own, so none can pass for a mark or a heading.

use serde::Serialize;

use super::{DEFEND, EXAMINE, WEIGH, fill};
use crate::finding::Finding;
use crate::review::{Examination, Stance};
use crate::scale::{Adjustment, Severity};

/// A finding as it is shown to others: what was said, not by whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownFinding<'a> {
    /// The neutral name by which the answer calls it, such as `F1`.
    pub finding_id: String,
    #[serde(flatten)]
    report: ShownReport<'a>,
    /// What others reported about the same place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_reported: Vec<ShownReport<'a>>,
    /// What others say about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examinations: Vec<ShownExamination<'a>>,
}

impl<'a> ShownFinding<'a> {
    /// Returns `finding` under the name `finding_id`, with nothing beside it yet.
    #[must_use]
    pub fn new(finding_id: String, finding: &'a Finding) -> Self {
        Self {
            finding_id,
            report: ShownReport::of(finding),
            also_reported: Vec::new(),
            examinations: Vec::new(),
        }
    }
}

/// What one reviewer reported, without its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownReport<'a> {
    place: String,
    severity: Option<Severity>,
    category: Option<&'static str>,
    confidence: Option<u8>,
    title: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    quote: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    trigger: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    suggestion: &'a str,
}

impl<'a> ShownReport<'a> {
    /// Returns what `finding` says.
    #[must_use]
    pub fn of(finding: &'a Finding) -> Self {
        Self {
            place: finding.location.to_string(),
            severity: finding.severity,
            category: finding.category.map(|one| one.as_str()),
            confidence: finding.confidence.map(|one| one.get()),
            title: &finding.title,
            description: &finding.description,
            quote: &finding.quote,
            trigger: &finding.trigger,
            suggestion: &finding.suggestion,
        }
    }
}

/// What one reviewer says about a finding, without its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownExamination<'a> {
    action: Stance,
    confidence_adjustment: Adjustment,
    reasoning: &'a str,
}

impl<'a> ShownExamination<'a> {
    /// Returns what `examination` says.
    #[must_use]
    pub fn of(examination: &'a Examination) -> Self {
        Self {
            action: examination.stance,
            confidence_adjustment: examination.adjustment,
            reasoning: &examination.reasoning,
        }
    }
}

/// Rounds 2 and 3: findings put to a reviewer, with the code around them.
#[derive(Debug, Clone, Copy)]
pub struct RoundPrompt<'a> {
    /// Which round it is.
    pub round: Round,
    /// Random text that is nowhere in the findings and the code.
    pub nonce: &'a str,
    /// The change in one line.
    pub title: &'a str,
    /// Which part of the question this is, from 1.
    pub part: usize,
    /// How many parts there are.
    pub parts: usize,
    /// How many findings it is about.
    pub count: usize,
    /// The findings, as [`json_lines`] writes them.
    pub findings: &'a str,
    /// The code around the findings.
    pub material: &'a str,
}

/// A round after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Round {
    /// Round 2: others examine a finding.
    Examine,
    /// Round 3: its author answers.
    Defend,
}

impl Round {
    /// Returns the number of the round.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Examine => 2,
            Self::Defend => 3,
        }
    }
}

impl RoundPrompt<'_> {
    /// Returns the question.
    #[must_use]
    pub fn render(&self) -> String {
        let template = match self.round {
            Round::Examine => &EXAMINE,
            Round::Defend => &DEFEND,
        };
        let count = match self.count {
            1 => "one finding".to_owned(),
            count => format!("{count} findings"),
        };
        fill(
            template,
            &[
                ("count", &count),
                ("nonce", self.nonce),
                ("title", self.title),
                ("part", &self.part.to_string()),
                ("parts", &self.parts.to_string()),
                ("findings", self.findings),
                ("material", self.material),
            ],
        )
    }
}

/// What a judge is asked about a contested finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeighQuestion<'a> {
    /// Is it a problem at all?
    Validity,
    /// How bad is it? The severities that were stated.
    Severity(&'a [Severity]),
    /// Is the diagnosis of the first-named statement the right one?
    Cause(
        /// The neutral name of that statement.
        &'a str,
    ),
}

/// A judge weighs the statements about one finding.
#[derive(Debug, Clone, Copy)]
pub struct WeighPrompt<'a> {
    /// Random text that is nowhere in the statements and the code.
    pub nonce: &'a str,
    /// The change in one line.
    pub title: &'a str,
    /// What is asked.
    pub question: WeighQuestion<'a>,
    /// The statements, as [`json_lines`] writes them.
    pub statements: &'a str,
    /// The code around the finding.
    pub material: &'a str,
}

impl WeighPrompt<'_> {
    /// Returns the question.
    #[must_use]
    pub fn render(&self) -> String {
        let (question, meanings) = match self.question {
            WeighQuestion::Validity => (
                "is it a problem in this code, as those say who report it?".to_owned(),
                "`FOR` when the evidence that it is a problem is better, `AGAINST` when the \
                 evidence that it is none is better, `BALANCED` when neither is clearly better"
                    .to_owned(),
            ),
            WeighQuestion::Severity(_) => (
                "which of the stated severities does the evidence bear out?".to_owned(),
                "`FOR` when the evidence bears out one of the stated severities, `AGAINST` when \
                 it shows that there is no problem at all, `BALANCED` when neither is clear"
                    .to_owned(),
            ),
            WeighQuestion::Cause(name) => (
                format!("does {name} name the cause, or do the others?"),
                format!(
                    "`FOR` when the evidence for {name} is better, `AGAINST` when that for another \
                     statement is better, `BALANCED` when neither is clearly better"
                ),
            ),
        };
        let (severity, severities) = match self.question {
            WeighQuestion::Severity(stated) => {
                let words: Vec<&str> = stated.iter().map(|one| one.as_str()).collect();
                let listed = words.join(", ");
                let rule = " `severity` goes with `FOR` and is one of:";
                (
                    format!("\"severity\": \"{}\", ", words.join("|")),
                    format!("{rule} {listed}; with the other two it is null."),
                )
            }
            WeighQuestion::Validity | WeighQuestion::Cause(_) => (String::new(), String::new()),
        };
        fill(
            &WEIGH,
            &[
                ("question", &question),
                ("sides", "FOR|AGAINST|BALANCED"),
                ("meanings", &meanings),
                ("severity", &severity),
                ("severities", &severities),
                ("nonce", self.nonce),
                ("title", self.title),
                ("statements", self.statements),
                ("material", self.material),
            ],
        )
    }
}

/// Returns each item as JSON on a line of its own.
#[must_use]
pub fn json_lines<T: Serialize>(items: impl IntoIterator<Item = T>) -> String {
    let lines = items
        .into_iter()
        .filter_map(|item| serde_json::to_string(&item).ok());
    lines.collect::<Vec<_>>().join("\n")
}
