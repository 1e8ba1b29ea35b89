//! Everything about one finding: members, rounds, every number, and what would reverse it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tribunal_core::consensus::{
    Group, Policy, Report, Reversal, Score, Settlement, Trail, Verdict,
};
use tribunal_core::finding::Finding;

use super::text::{Places, statements};
use crate::error::CliError;
use crate::exit::Exit;
use crate::report::explain::{listed, one_line, write_confidence};

/// Returns all groups that `id` names.
pub(super) fn find<'a>(
    id: &str,
    settlement: &'a Settlement,
    report: &'a Report,
    reversals: &[Reversal],
) -> Result<Vec<Case<'a>>, CliError> {
    let found = named(settlement, id);
    if found.is_empty() {
        let ids = settlement.findings.iter().map(|one| one.id.as_str());
        let ids: Vec<&str> = ids.take(10).collect();
        let hint = if ids.is_empty() {
            "Nobody reported anything".to_owned()
        } else {
            format!("The first ones are: {}", ids.join(", "))
        };
        let text = format!("there is no finding `{id}`");
        return Err(CliError::new(Exit::NotFound, text).hint(hint));
    }
    let mut places = Places::default();
    let mut explained = Vec::new();
    for (index, group) in settlement.groups.iter().enumerate() {
        let place = places.next(group.verdict);
        if found.contains(&index) {
            explained.push(Case {
                settlement,
                group,
                report,
                place,
                reversal: reversals[index],
            });
        }
    }
    Ok(explained)
}

/// Returns the groups as JSON.
pub(super) fn json(cases: &[Case<'_>], policy: &Policy) -> Result<Value, CliError> {
    let groups: Vec<Value> = cases.iter().map(Case::json).collect::<Result<_, _>>()?;
    Ok(json!({
        "schema": "tribunal.explain.v1", "policy": policy.name, "groups": groups,
    }))
}

/// Returns the groups in words.
pub(super) fn text(cases: &[Case<'_>]) -> String {
    let texts: Vec<String> = cases.iter().map(Case::text).collect();
    texts.join("\n")
}

/// Returns the groups with a member of that name, or the one with that number.
fn named(settlement: &Settlement, id: &str) -> Vec<usize> {
    let is_meant = |finding: &Finding| {
        finding.id == id
            || finding.spoken_name() == id
            || id
                .strip_prefix(finding.reviewer.as_str())
                .and_then(|rest| rest.strip_prefix(':'))
                .is_some_and(|rest| rest == finding.id)
    };
    let has = |group: &Group| {
        let mut members = group.members.iter();
        members.any(|&member| is_meant(&settlement.findings[member as usize]))
    };
    let groups = settlement.groups.iter().enumerate();
    let found: Vec<usize> = groups
        .filter(|(_, group)| has(group))
        .map(|(index, _)| index)
        .collect();
    if !found.is_empty() {
        return found;
    }
    let number = id.parse::<usize>().ok().and_then(|one| one.checked_sub(1));
    let number = number.filter(|index| *index < settlement.groups.len());
    number.into_iter().collect()
}

/// One group under explanation.
pub(super) struct Case<'a> {
    settlement: &'a Settlement,
    group: &'a Group,
    report: &'a Report,
    /// Where it stands in the list of its verdict.
    place: usize,
    reversal: Reversal,
}

impl Case<'_> {
    fn members(&self) -> impl Iterator<Item = &Finding> {
        let members = self.group.members.iter();
        members.map(|&member| &self.settlement.findings[member as usize])
    }

    fn trail(&self) -> &Trail {
        let lists = &self.report.consensus;
        match self.group.verdict {
            Verdict::Accepted => &self.report.findings[self.place].cross_examination_trail,
            Verdict::Disputed => &lists.disputed[self.place].details.cross_examination_trail,
            Verdict::Rejected => &lists.rejected[self.place].details.cross_examination_trail,
        }
    }

    fn reasons(&self) -> String {
        let lists = &self.report.consensus;
        match self.group.verdict {
            Verdict::Accepted => lists.accepted[self.place].resolution_notes.clone(),
            Verdict::Disputed => {
                let disputed = &lists.disputed[self.place];
                let questions = disputed.unresolved_questions.join(" ");
                format!("Open: {questions} {}", disputed.recommended_action)
            }
            Verdict::Rejected => lists.rejected[self.place].rejection_reason.clone(),
        }
    }

    fn reversal(&self) -> String {
        self.settlement
            .reversal(self.group, &self.reversal)
            .join(" ")
    }

    fn json(&self) -> Result<Value, CliError> {
        let members: Vec<&Finding> = self.members().collect();
        Ok(json!({
            "verdict": self.group.verdict,
            "severity": self.group.severity,
            "confidence": self.group.confidence,
            "agreement": self.group.agreement,
            "voices": self.group.voices,
            "validation_score": self.group.score.map(Score::total),
            "validation": super::as_value(&self.group.score)?,
            "question": self.settlement.question(self.group),
            "members": super::as_value(&members)?,
            "reasons": self.reasons(),
            "reversal": self.reversal(),
            "reversed_by": super::as_value(&self.reversal)?,
            "trail": super::as_value(self.trail())?,
            "trace": super::as_value(&self.group.trace)?,
        }))
    }

    fn text(&self) -> String {
        let group = self.group;
        let lead = &self.settlement.findings[group.lead() as usize];
        let agreement = match group.verdict {
            Verdict::Accepted => format!(", {}", group.agreement),
            Verdict::Disputed | Verdict::Rejected => String::new(),
        };
        let mut text = format!(
            "{}\n{}: {}, confidence {}{agreement}\n",
            one_line(&lead.title),
            group.verdict,
            group.severity,
            group.confidence,
        );
        let families: std::collections::BTreeSet<&str> = self
            .members()
            .map(|finding| finding.family.as_str())
            .collect();
        let families: Vec<&str> = families.into_iter().collect();
        let _ = writeln!(
            text,
            "Voices: {} of {}{}\n{}",
            group.voices,
            one_line(&listed(&families)),
            group.score.map_or_else(String::new, |score| format!(
                "; validation score {}",
                score.total()
            )),
            one_line(&self.reasons())
        );
        text.push_str("\nMembers\n");
        for finding in self.members() {
            member(&mut text, finding);
        }
        let said: Vec<String> = statements(self.trail()).collect();
        if !said.is_empty() {
            text.push_str("\nRounds 2 and 3\n");
            for one in said {
                let _ = writeln!(text, "  {}", one_line(&one));
            }
        }
        let question = self.settlement.question(group);
        if !question.is_empty() {
            let _ = writeln!(text, "\nQuestion\n  {}", one_line(&question));
        }
        write_confidence(&mut text, group.trace.lines());
        if let Some(score) = group.score {
            let _ = writeln!(text, "\nValidation score\n  {score}");
        }
        let _ = write!(
            text,
            "\nWhat would reverse it\n  {}\n",
            one_line(&self.reversal())
        );
        text
    }
}

fn member(text: &mut String, finding: &Finding) {
    let stated = |word: Option<String>| word.unwrap_or_else(|| "not stated".to_owned());
    let _ = writeln!(
        text,
        "  {} ({}) calls it {}",
        one_line(&finding.reviewer),
        one_line(&finding.family),
        one_line(&finding.id)
    );
    let _ = writeln!(
        text,
        "    at {}; severity {}, confidence {}, category {}",
        one_line(&finding.location.to_string()),
        stated(finding.severity.map(|one| one.to_string())),
        stated(finding.confidence.map(|one| one.to_string())),
        stated(finding.category.map(|one| one.to_string()))
    );
    for (name, value) in [
        ("title", &finding.title),
        ("says", &finding.description),
        ("quotes", &finding.quote),
        ("trigger", &finding.trigger),
        ("fix", &finding.suggestion),
    ] {
        if !value.is_empty() {
            let _ = writeln!(text, "    {name}: {}", one_line(value));
        }
    }
}
