//! The consensus as JSON, in the field names of the debate format, with schema version and trace.

mod lists;
mod question;
mod reasons;
mod statistics;
mod words;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::outcome::{Agreement, Group, Score, Settlement, Verdict};
use super::trace::TraceLine;
use crate::finding::{Category, Location};
use crate::scale::{Confidence, Severity};
use statistics::statistics;

/// The version of the JSON form. It changes when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// The whole report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The version of this form.
    pub schema_version: u32,
    /// Who arbitrated: always `tribunal`.
    pub model: String,
    /// In which role: always `debate-arbitrator`.
    pub role: String,
    /// The file under review; empty when there are several.
    pub file: String,
    /// The accepted findings, the worst first.
    pub findings: Vec<ReportedFinding>,
    /// All findings by verdict.
    pub consensus: Lists,
    /// What was counted on the way.
    pub debate_statistics: Statistics,
    /// The outcome in a few sentences.
    pub summary: String,
    /// Disputes that a human must look at now, as indices into `consensus.disputed`.
    pub escalations: Vec<u32>,
    /// One sentence for each reviewer that did not answer.
    pub incomplete: Vec<String>,
    /// What could not be used, and why.
    pub problems: Vec<String>,
}

/// An accepted finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedFinding {
    /// The severity agreed upon.
    pub severity: Severity,
    /// The final confidence.
    pub confidence: u8,
    /// The file; empty when unknown.
    pub file: String,
    /// The first line of the lead.
    pub line: Option<u32>,
    /// The category of the lead.
    pub category: Category,
    /// The title of the lead.
    pub title: String,
    /// The most detailed description, with what the other reviewers and the phases add.
    pub description: String,
    /// The most actionable suggestion.
    pub suggestion: String,
    /// All places, the lead's first.
    pub locations: Vec<Location>,
    /// The members by id, the lead first.
    pub ids: Vec<MemberId>,
    /// The members as they were reported, in the same order.
    #[serde(default)]
    pub members: Vec<Member>,
    /// What was said about it, round by round.
    pub cross_examination_trail: Trail,
    /// The calculation of the confidence; the amounts add up to it.
    pub trace: Vec<TraceLine>,
    /// The points of a finding with one voice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Score>,
    /// What is asked about it: who claims what on which evidence, or what its weakest side is, and
    /// what would confirm or deny it. Empty when nothing is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
}

/// The name of a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemberId {
    /// Who reported it.
    pub reviewer: String,
    /// What the reviewer calls it.
    pub id: String,
}

/// A member as its reviewer reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    /// Who reported it.
    pub reviewer: String,
    /// What the reviewer calls it.
    pub id: String,
    /// In one line.
    pub title: String,
    /// In full.
    pub description: String,
    /// What to do about it.
    pub suggestion: String,
    /// How bad, where the reviewer said so.
    pub severity: Option<Severity>,
    /// How sure, where the reviewer said so.
    pub confidence: Option<u8>,
}

/// What was said about a finding, round by round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trail {
    /// Who reported it, and how.
    pub round1: Round1,
    /// What others said.
    pub round2: Round2,
    /// What its author said then.
    pub round3: Round3,
    /// What has no place above: what a reviewer said about further members, and the pleas of
    /// further authors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Said>,
    /// The calculation of the confidence as a formula.
    pub final_confidence_calculation: String,
}

/// Who reported a finding, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Round1 {
    /// The author of the lead.
    pub original_model: String,
    /// The severity that the author gave, or the default.
    pub original_severity: Severity,
    /// The confidence that the author gave, or the default.
    pub original_confidence: u8,
}

/// What others said about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Round2 {
    /// By the name of the reviewer.
    #[serde(flatten)]
    pub by_reviewer: BTreeMap<String, Response>,
    /// Reviewers of the Claude family, of which there may be several.
    #[serde(default)]
    pub claude_reviewers: Vec<NamedResponse>,
}

/// What one reviewer said about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Response {
    /// `agree`, `disagree`, `partial`; in round 3 `defend`, `concede`, `modify`; or `N/A` when
    /// nothing came.
    pub action: String,
    /// How far it wanted to move the confidence.
    pub confidence_adjustment: i8,
    /// Why.
    pub reasoning: String,
}

/// What one of several reviewers said about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedResponse {
    /// Its name.
    pub reviewer: String,
    /// What it said.
    #[serde(flatten)]
    pub response: Response,
}

/// What the author of a finding said in the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Round3 {
    /// The author.
    pub defender: String,
    /// `defend`, `concede`, `modify`, or `N/A` when nothing came.
    pub action: String,
    /// How far it wanted to move the confidence.
    pub confidence_adjustment: i8,
    /// Why.
    pub reasoning: String,
}

/// Something that was said about a member in a later round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// In which round.
    pub round: u8,
    /// By whom.
    pub reviewer: String,
    /// About which finding, as the message calls it.
    pub finding_id: String,
    /// What, and why.
    #[serde(flatten)]
    pub response: Response,
}

/// All findings by verdict.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Lists {
    /// What stands.
    pub accepted: Vec<Accepted>,
    /// What falls.
    pub rejected: Vec<Rejected>,
    /// What nobody could settle.
    pub disputed: Vec<Disputed>,
}

/// Why an accepted finding stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    /// Its index in `findings`.
    pub finding_index: u32,
    /// How much agreement carries it.
    pub agreement_level: Agreement,
    /// Who reported it.
    pub contributing_models: Vec<String>,
    /// What severity each of them gave.
    pub original_severities: BTreeMap<String, Severity>,
    /// What confidence each of them gave.
    pub original_confidences: BTreeMap<String, u8>,
    /// How it was decided, dissent included.
    pub resolution_notes: String,
}

/// A finding that falls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rejected {
    /// The title of the lead.
    pub original_title: String,
    /// The author of the lead.
    pub original_model: String,
    /// The severity that the author gave, or the default.
    pub original_severity: Severity,
    /// The confidence that the author gave, or the default.
    pub original_confidence: u8,
    /// Why it falls.
    pub rejection_reason: String,
    /// What evidence would change that.
    pub reversal_criteria: String,
    /// What all verdicts carry.
    #[serde(flatten)]
    pub details: Details,
}

/// A finding that nobody could settle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disputed {
    /// The title of the lead.
    pub title: String,
    /// The first line of the lead.
    pub line: Option<u32>,
    /// What each reviewer says.
    pub perspectives: BTreeMap<String, String>,
    /// Why it could not be decided, and who dissents.
    #[serde(default)]
    pub notes: String,
    /// What a human must answer.
    pub unresolved_questions: Vec<String>,
    /// What a human should look at.
    pub recommended_action: String,
    /// What all verdicts carry.
    #[serde(flatten)]
    pub details: Details,
}

/// What a rejected or disputed finding carries besides its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Details {
    /// The severity it would have.
    pub severity: Severity,
    /// The final confidence.
    pub confidence: u8,
    /// All places, the lead's first.
    pub locations: Vec<Location>,
    /// The members by id, the lead first.
    pub ids: Vec<MemberId>,
    /// The members as they were reported, in the same order.
    #[serde(default)]
    pub members: Vec<Member>,
    /// What was said about it, round by round.
    pub cross_examination_trail: Trail,
    /// The calculation of the confidence; the amounts add up to it.
    pub trace: Vec<TraceLine>,
    /// The points of a finding with one voice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Score>,
    /// What is asked about it: who claims what on which evidence, or what its weakest side is, and
    /// what would confirm or deny it. Empty when nothing is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
}

/// What was counted on the way to a consensus.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// Findings of round 1, repeats of the same message not counted.
    pub total_findings_received: u32,
    /// The same by reviewer.
    pub findings_per_model: BTreeMap<String, u32>,
    /// Groups on which two or more voices agree and which are not disputed. This and the next four
    /// count every group once.
    pub agreements: u32,
    /// Conflicts that were settled.
    pub conflicts_resolved: u32,
    /// Groups that stay disputed.
    pub disputes_unresolved: u32,
    /// Accepted groups of one voice that nobody contests.
    pub unique_findings_accepted: u32,
    /// Rejected groups of one voice.
    pub unique_findings_rejected: u32,
    /// Findings looked up in advisories.
    pub security_advisories_checked: u32,
    /// What was said in round 2.
    pub round2_cross_examination: Round2Statistics,
    /// What was said in round 3.
    pub round3_defense: Round3Statistics,
    /// Where final confidences stand against the lead's own.
    pub confidence_changes: ConfidenceChanges,
}

/// What was said in round 2.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Round2Statistics {
    /// Examinations by reviewer.
    pub responses_received: BTreeMap<String, u32>,
    /// Those that agree.
    pub agreements: u32,
    /// Those that disagree.
    pub disagreements: u32,
    /// Those that agree in part.
    pub partial_agreements: u32,
    /// Findings first reported in round 2.
    pub new_observations_added: u32,
}

/// What was said in round 3.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Round3Statistics {
    /// Defenses by reviewer.
    pub defenses_received: BTreeMap<String, u32>,
    /// Authors that stood by a finding.
    pub defended: u32,
    /// Authors that took one back.
    pub conceded: u32,
    /// Authors that changed one.
    pub modified: u32,
}

/// Where final confidences stand against those the leads came with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConfidenceChanges {
    /// Groups that gained.
    pub increased: u32,
    /// Groups that lost.
    pub decreased: u32,
    /// Groups that stayed.
    pub unchanged: u32,
}

impl Settlement {
    /// Returns the settled review in its JSON form.
    #[must_use]
    pub fn report(&self) -> Report {
        let mut findings = Vec::new();
        let mut lists = Lists::default();
        let mut escalations = Vec::new();
        for group in &self.groups {
            match group.verdict {
                Verdict::Accepted => {
                    let index = u32::try_from(findings.len()).unwrap_or(u32::MAX);
                    lists.accepted.push(self.accepted(group, index));
                    findings.push(self.reported(group));
                }
                Verdict::Rejected => lists.rejected.push(self.rejected(group)),
                Verdict::Disputed => {
                    if group.escalate {
                        let index = u32::try_from(lists.disputed.len()).unwrap_or(u32::MAX);
                        escalations.push(index);
                    }
                    lists.disputed.push(self.disputed(group));
                }
            }
        }
        Report {
            schema_version: SCHEMA_VERSION,
            model: "tribunal".to_owned(),
            role: "debate-arbitrator".to_owned(),
            file: self.only_file(),
            findings,
            debate_statistics: statistics(self),
            summary: words::summary(self, &lists),
            consensus: lists,
            escalations,
            incomplete: words::incomplete(self),
            problems: self.problems.clone(),
        }
    }

    fn only_file(&self) -> String {
        let mut files = self.findings.iter().map(|finding| &finding.location.file);
        match files.next() {
            Some(first) if files.all(|file| file == first) => first.clone(),
            _ => String::new(),
        }
    }

    /// Returns the confidence that the lead of a group came with, stated or by default.
    fn original_confidence(&self, group: &Group) -> u8 {
        let stated = self.findings[group.lead() as usize].confidence;
        let first = group.trace.lines().first().map_or(0, |line| line.amount);
        stated.unwrap_or(Confidence::clamped(first)).get()
    }
}
