//! Rounds 2 and 3 under contract: an answer counts only if it carries the nonce of its question,
//! and a statement only if it is about a finding that was asked about, in words of the list and
//! numbers of the scale.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::Fields;
use super::find::{Author, Findings, findings_in_value, unrated};
use super::nested_findings::holds_finding;
use super::rounds::{defense, examination};
use super::signed::signed_object;
use super::{Problem, tags};
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
    /// What holds a finding that cannot be read. Such an answer is none, and must not be forgotten.
    pub unread: Option<String>,
}

/// Reads the answer to a question of round 2 that carried `nonce` and was about `asked`.
///
/// New observations are findings; a problem in one of them does not spoil the statement. One that
/// cannot be read, or stands where nobody reads it, makes the whole answer none, so that it is asked
/// for again and is not lost.
#[must_use]
pub fn read_signed_examinations(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    author: &Author,
    asked: &[String],
) -> Statements<Examination> {
    let mut unread = None;
    let mut read = read(text, structured, nonce, asked, "responses", |fields| {
        let new_observations = observations(fields, author, asked, &mut unread);
        let stance = word(fields, "agree, disagree, partial", |word| match word {
            "agree" => Some(Stance::Agree),
            "partial" => Some(Stance::Partial),
            "disagree" => Some(Stance::Disagree),
            _ => None,
        })?;
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
    });
    let unread = unread.or_else(|| finding_beside(text, structured, nonce, "responses"));
    refuse(&mut read, asked, unread);
    read
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
    let mut read = read(text, structured, nonce, asked, "defenses", |fields| {
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
    });
    let unread = finding_beside(text, structured, nonce, "defenses");
    refuse(&mut read, asked, unread);
    read
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
        unread: None,
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
        unread: None,
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

/// Reads the new observations of a statement. What cannot be read, and what stands in a statement
/// that cannot be counted, goes to `unread`: nobody would hear of it otherwise.
fn observations(
    fields: &mut Fields<'_>,
    author: &Author,
    asked: &[String],
    unread: &mut Option<Problem>,
) -> Vec<Finding> {
    let id = fields.object.get("finding_id").or(fields.object.get("id"));
    let id = id.and_then(Value::as_str).map(str::trim);
    let is_asked = id.is_some_and(|id| asked.iter().any(|one| one == id));
    let Some((at, value)) = fields.get(&["new_observations"]) else {
        return Vec::new();
    };
    if value.as_array().is_some_and(Vec::is_empty) {
        return Vec::new();
    }
    let mut refuse = |at: String, what: &str| {
        unread.get_or_insert_with(|| Problem {
            at,
            what: what.to_owned(),
        });
    };
    if !is_asked {
        refuse(at.clone(), OBSERVED_ELSEWHERE);
    }
    let Some(items) = value.as_array() else {
        refuse(at, "a list of findings was expected");
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let at = format!("{at}[{index}]");
        let seen = observation(item, author);
        if seen.findings.is_empty() {
            refuse(at, UNREADABLE_OBSERVATION);
            continue;
        }
        let unrated = unrated(std::slice::from_ref(item), "");
        for problem in seen.problems.into_iter().chain(unrated) {
            let inside = problem.at.trim_start_matches("[0]");
            fields.report(format!("{at}{inside}"), &problem.what);
        }
        findings.extend(seen.findings);
    }
    // Problems here leave the statement as it is. What nobody rates must not pass for harmless.
    for finding in &mut findings {
        if finding.severity.is_none() && finding.label.is_none() {
            finding.severity = Some(Severity::High);
        }
    }
    findings
}

/// Reads one new observation: a finding, or a line with a label.
fn observation(item: &Value, author: &Author) -> Findings {
    match item.as_str() {
        Some(line) => tags::read(line, author),
        None => findings_in_value(&Value::from(vec![item.clone()]), author),
    }
}

/// What is wrong with an observation in which no finding can be read.
const UNREADABLE_OBSERVATION: &str =
    "it is no finding; write an object with `file`, `line`, `label`, `title` and `description`";

/// What is wrong with an observation beside a finding that nobody asked about.
const OBSERVED_ELSEWHERE: &str =
    "it stands in a response that is about none of the findings; put it into one that is";

/// Says so if a finding stands in the answer outside of the statements, where nobody reads it.
fn finding_beside(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    list: &str,
) -> Option<Problem> {
    let value = signed_object(text, structured, nonce).ok()?;
    let object = value.as_object()?;
    let is_other = |key: &str| !matches!(key, "nonce" | "end") && key != list;
    let beside = object
        .iter()
        .find(|(key, value)| is_other(key) && holds_finding(value, 0));
    if let Some((key, _)) = beside {
        return Some(Problem {
            at: crate::text::truncate_chars(key, 40).into_owned(),
            what: format!(
                "findings stand here, where none are asked for; write `{list}` only, \
                           with new findings in the `new_observations` of a response"
            ),
        });
    }
    let items = object.get(list)?.as_array()?.iter().enumerate();
    let mut inside = items.filter_map(|(index, item)| {
        let mut entries = item.as_object()?.iter();
        let is_hidden = |(key, value): &(&String, &Value)| {
            key.as_str() != "new_observations" && !value.is_string() && holds_finding(value, 0)
        };
        let (key, _) = entries.find(is_hidden)?;
        Some((index, crate::text::truncate_chars(key, 40).into_owned()))
    });
    inside.next().map(|(index, key)| Problem {
        at: format!("{list}[{index}].{key}"),
        what: "findings stand here, where none are asked for".to_owned(),
    })
}

/// Makes an answer none if something in it would go unheard.
fn refuse<T>(read: &mut Statements<T>, asked: &[String], unread: Option<Problem>) {
    let Some(unread) = unread.filter(|_| read.answered) else {
        return;
    };
    read.answered = false;
    read.statements.clear();
    read.left_out = asked.to_vec();
    read.unread = Some(unread.to_string());
    read.problems.insert(0, unread);
}

#[cfg(test)]
mod tests;
