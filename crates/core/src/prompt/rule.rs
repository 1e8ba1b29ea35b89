//! The question to a judge who rules on a dispute.
//!
//! What the parties wrote is shown as JSON, one object to a line, without who they are.

use serde_json::{Value, json};

use super::{RULE, fill, json_lines};
use crate::dispute::{Dispute, Party, Subject};

/// A judge rules on one dispute.
#[derive(Debug, Clone, Copy)]
pub struct RulePrompt<'a> {
    /// Random text that is nowhere in what is shown.
    pub nonce: &'a str,
    /// What is in dispute.
    pub dispute: &'a Dispute,
    /// Earlier rulings about the same or its like, the latest first.
    pub precedents: &'a [Dispute],
    /// The code that it is about; empty when none was recorded.
    pub material: &'a str,
}

impl RulePrompt<'_> {
    /// Returns the question.
    #[must_use]
    pub fn render(&self) -> String {
        let question = match self.dispute.opening.subject {
            Subject::Finding { .. } => {
                "must the coder carry out the finding, or is it to be dismissed?"
            }
            Subject::Task { .. } => {
                "must the work be changed as the reviewer demands, or does it stand?"
            }
        };
        let material = match self.material.trim() {
            "" => "(no code was recorded with the dispute)",
            text => text,
        };
        fill(
            &RULE,
            &[
                ("question", question),
                ("nonce", self.nonce),
                ("grounds", self.dispute.opening.grounds.phrase()),
                ("statements", &self.statements()),
                ("evidence", &or_none(self.evidence())),
                ("precedents", &or_none(self.earlier())),
                ("material", material),
            ],
        )
    }

    /// Returns all that is shown, in which the nonce must not occur.
    #[must_use]
    pub fn data(&self) -> String {
        let parts = [self.statements(), self.evidence(), self.earlier()];
        format!("{}\n{}", parts.join("\n"), self.material)
    }

    fn statements(&self) -> String {
        let opening = &self.dispute.opening;
        let mut lines: Vec<Value> = vec![json!({"about": opening.subject.title()})];
        if let Some(finding) = opening.subject.finding() {
            let mut line = json!({
                "from": "reviewer", "finding": finding.title,
                "place": finding.location.to_string(),
                "severity": finding.severity, "category": finding.category,
            });
            if let Some(label) = finding.label {
                line["label"] = json!(label);
            }
            lines.push(line);
        }
        if let Some(position) = &opening.reviewer {
            lines.push(json!({"from": "reviewer", "position": position.text}));
        }
        if let Some(position) = &opening.coder {
            let mut line = json!({"from": "coder", "position": position.text});
            if let Some(objection) = &opening.objection {
                line["ground"] = json!(objection.phrase());
                line["valid_ground"] = json!(objection.is_valid());
            }
            if let Some(lack) = opening.lack_of_evidence() {
                line["program"] = json!(lack);
            }
            lines.push(line);
        }
        json_lines(lines)
    }

    fn evidence(&self) -> String {
        json_lines(self.dispute.opening.evidence.iter().map(|one| {
            let from = match one.from {
                Party::Coder => "coder",
                Party::Reviewer => "reviewer",
            };
            json!({
                "from": from, "kind": one.kind.phrase(), "reference": one.reference,
                "text": one.text, "program": one.check.phrase(),
            })
        }))
    }

    fn earlier(&self) -> String {
        let fingerprint = |dispute: &Dispute| {
            let finding = dispute.opening.subject.finding();
            finding.map(|finding| finding.fingerprint.clone())
        };
        let own = fingerprint(self.dispute);
        let lines = self.precedents.iter().filter_map(|dispute| {
            let ruling = dispute.ruling()?;
            let by = if ruling.ruler.is_human() {
                "human"
            } else {
                "judge"
            };
            Some(json!({
                "about": dispute.opening.subject.title(),
                "same_finding": own.is_some() && fingerprint(dispute) == own,
                "ruling": ruling.decision.word(), "reason": ruling.reason,
                "date": ruling.at.date(), "by": by,
            }))
        });
        json_lines(lines)
    }
}

fn or_none(text: String) -> String {
    match text.is_empty() {
        true => "(none)".to_owned(),
        false => text,
    }
}
