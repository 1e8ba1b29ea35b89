//! Rounds 2 and 3 under contract: an answer counts only if it carries the nonce of its question,
//! and a statement only if it is about a finding that was asked about, in words of the list and
//! numbers of the scale.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Problem;
use super::fields::Fields;
use super::find::{Author, findings_in_value, unrated};
use super::rounds::{defense, examination};
use super::signed::signed_object;
use crate::finding::Finding;
use crate::review::{Defense, Examination, Plea, Stance};
use crate::scale::{Severity, UnknownWord};

/// No answer has more statements; further ones are not read.
const MOST_STATEMENTS: usize = 10_000;

/// What was read from an answer of round 2 or 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statements<T> {
    /// At most one for each finding that was asked about, called as in the question.
    pub statements: Vec<T>,
    /// What could not be used. A statement with a wrong word or number is not counted at all.
    pub problems: Vec<Problem>,
    /// Findings that were asked about and have no statement.
    pub left_out: Vec<String>,
    /// Whether it was an answer at all. Without it, silence means nothing.
    pub answered: bool,
}

/// Reads the answer to a question of round 2 that carried `nonce` and was about `asked`.
///
/// New observations are findings; a problem in one of them does not spoil the statement.
#[must_use]
pub fn read_signed_examinations(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    author: &Author,
    asked: &[String],
) -> Statements<Examination> {
    read(text, structured, nonce, asked, "responses", |fields| {
        let stance = word(fields, "agree, disagree, partial", |word| match word {
            "agree" => Some(Stance::Agree),
            "partial" => Some(Stance::Partial),
            "disagree" => Some(Stance::Disagree),
            _ => None,
        })?;
        let new_observations = observations(fields, author);
        let mut bare = fields.object.clone();
        bare.remove("new_observations");
        let mut fields = Fields {
            object: &bare,
            at: fields.at.clone(),
            problems: &mut *fields.problems,
        };
        let mut read = examination(&mut fields, stance, author)?;
        // Who reported it was not told, so whatever is written there is a guess.
        read.original_model = None;
        read.new_observations = new_observations;
        let reasoning = read.reasoning.clone();
        reasoned(&mut fields, &reasoning)?;
        Some((read.finding_id.clone(), read))
    })
}

/// Reads the answer to a question of round 3 that carried `nonce` and was about `asked`.
#[must_use]
pub fn read_signed_defenses(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    author: &Author,
    asked: &[String],
) -> Statements<Defense> {
    read(text, structured, nonce, asked, "defenses", |fields| {
        let plea = word(fields, "defend, concede, modify", |word| match word {
            "defend" => Some(Plea::Defend),
            "concede" => Some(Plea::Concede),
            "modify" => Some(Plea::Modify),
            _ => None,
        })?;
        let read = defense(fields, plea, author)?;
        reasoned(fields, &read.reasoning)?;
        let changes = read.revised_severity.is_some() || read.revised_description.is_some();
        if plea == Plea::Modify && !changes && read.adjustment.get() == 0 {
            let at = fields.at.clone();
            fields.report(at, "it modifies nothing");
            return None;
        }
        Some((read.finding_id.clone(), read))
    })
}

/// Reads one statement; nothing when it cannot be counted.
type ReadOne<'r, T> = dyn FnMut(&mut Fields<'_>) -> Option<(String, T)> + 'r;

pub(super) fn read<T: PartialEq>(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    asked: &[String],
    list: &str,
    mut read_one: impl FnMut(&mut Fields<'_>) -> Option<(String, T)>,
) -> Statements<T> {
    let refused = |what: &str| Statements {
        statements: Vec::new(),
        problems: vec![Problem {
            at: String::new(),
            what: what.to_owned(),
        }],
        left_out: asked.to_vec(),
        answered: false,
    };
    let value = match signed_object(text, structured, nonce) {
        Ok(value) => value,
        Err(what) => return refused(what),
    };
    match value.get(list).and_then(Value::as_array) {
        Some(items) => in_list(items, list, asked, &mut read_one),
        None => refused(&format!("the answer has no list `{list}`")),
    }
}

fn in_list<T: PartialEq>(
    items: &[Value],
    list: &str,
    asked: &[String],
    read_one: &mut ReadOne<'_, T>,
) -> Statements<T> {
    let mut problems = Vec::new();
    // What was said about each finding; nothing for one about which two things were said.
    let mut said: BTreeMap<String, Option<T>> = BTreeMap::new();
    for (index, item) in items.iter().take(MOST_STATEMENTS).enumerate() {
        let at = format!("{list}[{index}]");
        let empty = Map::new();
        let object = item.as_object().unwrap_or(&empty);
        let mut fields = Fields {
            object,
            at: at.clone(),
            problems: &mut problems,
        };
        if !item.is_object() {
            fields.report(at, "an object was expected");
            continue;
        }
        let Some((id, one)) = read_one(&mut fields) else {
            continue;
        };
        if !asked.contains(&id) {
            let shown = crate::text::truncate_chars(&id, 60).into_owned();
            fields.report(
                at,
                &format!("{shown:?} is not among the findings asked about"),
            );
            continue;
        }
        match said.get(&id) {
            None => {
                said.insert(id, Some(one));
            }
            Some(Some(known)) if *known == one => {}
            Some(_) => {
                let what = format!("{id} is answered twice and differently; neither is counted");
                fields.report(at, &what);
                said.insert(id, None);
            }
        }
    }
    if items.len() > MOST_STATEMENTS {
        problems.push(Problem {
            at: list.to_owned(),
            what: format!("only the first {MOST_STATEMENTS} statements were read"),
        });
    }
    let spoken = |id: &&String| !matches!(said.get(*id), Some(Some(_)));
    Statements {
        left_out: asked.iter().filter(spoken).cloned().collect(),
        statements: said.into_values().flatten().collect(),
        problems,
        answered: true,
    }
}

/// Returns the word under `action`, exactly as it was asked for.
fn word<T>(
    fields: &mut Fields<'_>,
    known: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let action = fields.text(&["action", "stance"]);
    let found = read(&action);
    if found.is_none() {
        let unknown = UnknownWord::new("action", &action, known);
        fields.report(fields.path("action"), &unknown.to_string());
    }
    found
}

fn reasoned(fields: &mut Fields<'_>, reasoning: &str) -> Option<()> {
    if reasoning.is_empty() {
        fields.report(fields.path("reasoning"), "it says no reason");
        return None;
    }
    Some(())
}

fn observations(fields: &mut Fields<'_>, author: &Author) -> Vec<Finding> {
    let Some((at, value)) = fields.get(&["new_observations"]) else {
        return Vec::new();
    };
    if value.as_array().is_some_and(Vec::is_empty) {
        return Vec::new();
    }
    let seen = findings_in_value(value, author);
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    for problem in seen.problems.into_iter().chain(unrated(list, "")) {
        fields.report(format!("{at}{}", problem.at), &problem.what);
    }
    // Problems here leave the statement as it is. What nobody rates must not pass for harmless.
    let mut findings = seen.findings;
    for finding in &mut findings {
        if finding.severity.is_none() && finding.label.is_none() {
            finding.severity = Some(Severity::High);
        }
    }
    findings
}

#[cfg(test)]
mod tests;
