//! Settings of reviews: who reviews, how findings bind, how disputes about them are resolved.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tribunal_core::dispute::Recourse;
use tribunal_core::finding::Label;
use tribunal_core::review::coverage::Omission;
use tribunal_core::review::gate::Obligation;
use tribunal_core::review::rule_level::RuleLevels;

use super::command::{one_or_many, one_or_many_schema};
use super::policy::ReviewPolicy;
use super::trial::Weighing;
use super::values::Size;

/// Who reviews, how findings are settled, how they bind, and how disputes are resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewSettings {
    /// Domains of the built-in reviewers, which read syntax trees and need no model.
    pub builtin: Vec<Builtin>,
    /// Rules of the built-in reviewers, and of the project, with another level: `off`, `low`,
    /// `medium` or `high`, such as `{python-eval: low}`. `tribunal rules` lists them.
    pub rules: RuleLevels,
    /// The numbers by which findings are settled: `tribunal`, `arena`, or a mapping such as
    /// `{name: arena, rounds: {floor: 30}}` that changes some of them.
    pub policy: ReviewPolicy,
    /// Whether past rulings on reviewers move the confidence of their findings: `equal` or `record`.
    pub weights: Weighing,
    /// How far reviewers debate: at most 1, 2 or 3 rounds, or `contested`: three when two families
    /// or more can be asked.
    pub rounds: Rounds,
    /// Whether all findings are debated, not only what is contested.
    pub debate_all: bool,
    /// Characters of code in one question; a larger change is put in parts.
    pub part_chars: u32,
    /// Files that are never reviewed, as patterns like those of `.gitignore`.
    pub ignore: Vec<String>,
    /// Reasons for which a changed file may stay unreviewed without forbidding a PASS.
    pub may_skip: Vec<Omission>,
    /// Largest file that is reviewed.
    pub max_file: Size,
    /// Most files of one change.
    pub max_files: u32,
    /// Labels of a reviewer's recommendations.
    pub opinions: OpinionSettings,
    /// Labels of the problems a reviewer found.
    pub issues: IssueSettings,
    /// How findings are put to a coder, with `--arbitrate`.
    pub arbitration: ArbitrationSettings,
    /// What happens when the coder objects to a mandatory finding.
    pub on_dispute: OnDispute,
    /// The judge who rules on such an objection.
    pub judge: JudgeSettings,
}

impl Default for ReviewSettings {
    fn default() -> Self {
        Self {
            builtin: Builtin::ALL.to_vec(),
            rules: RuleLevels::new(),
            policy: ReviewPolicy::default(),
            weights: Weighing::Equal,
            rounds: Rounds::Contested,
            debate_all: false,
            part_chars: 160_000,
            ignore: Vec::new(),
            may_skip: vec![
                Omission::LockFile,
                Omission::Generated,
                Omission::Vendored,
                Omission::Asset,
                Omission::Submodule,
                Omission::NotCode,
            ],
            max_file: Size(2 << 20),
            max_files: 5_000,
            opinions: OpinionSettings::default(),
            issues: IssueSettings::default(),
            arbitration: ArbitrationSettings::default(),
            on_dispute: OnDispute::default(),
            judge: JudgeSettings::default(),
        }
    }
}

impl ReviewSettings {
    /// Returns whether a finding with `label` binds the coder; what no list names does.
    #[must_use]
    pub fn obligation(&self, label: Label) -> Obligation {
        let mandatory = [&self.opinions.mandatory, &self.issues.mandatory];
        let optional = [&self.opinions.optional, &self.issues.optional];
        let named = |lists: [&Vec<Label>; 2]| lists.into_iter().any(|list| list.contains(&label));
        if named(optional) && !named(mandatory) {
            Obligation::Optional
        } else {
            Obligation::Mandatory
        }
    }

    /// Returns the labels that bind the coder.
    #[must_use]
    pub(crate) fn mandatory_labels(&self) -> Vec<Label> {
        let binds = |label: &Label| self.obligation(*label) == Obligation::Mandatory;
        Label::ALL.into_iter().filter(binds).collect()
    }
}

/// A domain of the built-in reviewers.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Builtin {
    /// What an attacker could use.
    Security,
    /// What does the wrong thing.
    Correctness,
    /// Tests that prove nothing.
    Tests,
}

impl Builtin {
    /// All domains.
    pub const ALL: [Self; 3] = [Self::Security, Self::Correctness, Self::Tests];
}

/// How far reviewers debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "RoundsWord", into = "RoundsWord")]
#[schemars(with = "RoundsWord")]
pub enum Rounds {
    /// Up to three rounds about what is contested, when two families or more review.
    Contested,
    /// No debate.
    One,
    /// Others examine each finding.
    Two,
    /// And its author answers.
    Three,
}

/// How `rounds` is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(transform = only_these_rounds)]
enum RoundsWord {
    Number(u8),
    Word(String),
}

/// Puts the words that are understood in the place of any number or text.
fn only_these_rounds(schema: &mut schemars::Schema) {
    schema.remove("anyOf");
    schema.insert("enum".to_owned(), serde_json::json!(["contested", 1, 2, 3]));
}

impl TryFrom<RoundsWord> for Rounds {
    type Error = String;

    fn try_from(word: RoundsWord) -> Result<Self, String> {
        let text = match word {
            RoundsWord::Number(number) => number.to_string(),
            RoundsWord::Word(word) => word,
        };
        text.parse()
    }
}

impl FromStr for Rounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "contested" => Ok(Self::Contested),
            "1" => Ok(Self::One),
            "2" => Ok(Self::Two),
            "3" => Ok(Self::Three),
            _ => Err("`rounds` is `contested`, 1, 2 or 3".to_owned()),
        }
    }
}

impl From<Rounds> for RoundsWord {
    fn from(rounds: Rounds) -> Self {
        match rounds {
            Rounds::Contested => Self::Word("contested".to_owned()),
            Rounds::One => Self::Number(1),
            Rounds::Two => Self::Number(2),
            Rounds::Three => Self::Number(3),
        }
    }
}

/// Labels of a reviewer's recommendations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpinionSettings {
    /// Labels that the coder must carry out or object to.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema::<Label>")]
    pub mandatory: Vec<Label>,
    /// Labels that the coder may discard.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema::<Label>")]
    pub optional: Vec<Label>,
}

impl Default for OpinionSettings {
    fn default() -> Self {
        Self {
            mandatory: vec![Label::Must],
            optional: vec![Label::Should],
        }
    }
}

/// Labels of the problems a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IssueSettings {
    /// Labels that the coder must carry out or object to.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema::<Label>")]
    pub mandatory: Vec<Label>,
    /// Labels that the coder may discard.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema::<Label>")]
    pub optional: Vec<Label>,
}

impl Default for IssueSettings {
    fn default() -> Self {
        Self {
            mandatory: vec![Label::Critical, Label::High],
            optional: vec![Label::Medium, Label::Low],
        }
    }
}

/// How the findings of a review are put to a coder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArbitrationSettings {
    /// How often the coder works on findings before what is open goes on record as not converged.
    #[schemars(range(min = 1, max = 9))]
    pub rounds: u32,
}

impl Default for ArbitrationSettings {
    fn default() -> Self {
        Self { rounds: 3 }
    }
}

/// What happens when the coder objects to a mandatory finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OnDispute {
    /// Whether to ask on the terminal how the dispute is to be resolved.
    pub prompt_user: bool,
    /// The answer when nobody is asked, and the preselected one when somebody is.
    #[serde(rename = "default")]
    pub default_recourse: Recourse,
}

impl Default for OnDispute {
    fn default() -> Self {
        Self {
            prompt_user: true,
            default_recourse: Recourse::Judge,
        }
    }
}

/// The judge who rules on an objection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JudgeSettings {
    /// Who rules when the judge is uncertain.
    pub escalate_to: EscalateTo,
    /// Whether a judge also weighs the evidence about findings that stay contested in a plain review.
    pub weigh: bool,
    /// How many judges are asked about one dispute.
    #[schemars(range(min = 1, max = 9))]
    pub panel: u32,
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self {
            escalate_to: EscalateTo::Human,
            weigh: false,
            panel: 1,
        }
    }
}

/// Who rules when the judge is uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EscalateTo {
    /// A human is asked, and the dispute stays open until then.
    Human,
}
