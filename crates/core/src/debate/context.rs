//! The opening message: whose findings there are, who takes part, and how many rounds are held.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::agent::family_of;
use crate::consensus::Reviewer;
use crate::reply::{Author, Findings, findings_in_value, read_findings};

/// Where the findings of all reviewers stand.
const LISTS: [&str; 4] = ["findings", "aggregated_findings", "reviewers", "models"];

/// Where the names of the reviewers stand.
const NAMES: [&str; 2] = ["reviewers", "active_reviewers"];

/// What a debate begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Context {
    /// Whose findings there are, and who takes part.
    pub(super) reviewers: Vec<Reviewer>,
    /// The names of those who take part in the rounds.
    pub(super) active: BTreeSet<String>,
    /// How many rounds are held, the first included.
    pub(super) rounds: u8,
    /// What each reviewer reported.
    pub(super) lists: Vec<(Author, Findings)>,
    /// What could not be used of the message itself.
    pub(super) problems: Vec<String>,
}

/// Reads the opening message, or says why it is none.
pub(super) fn read(content: &Value) -> Result<Context, &'static str> {
    let parsed;
    let content = match content {
        Value::String(text) => {
            parsed = crate::reply::extract_json(text).map_err(|_| NO_CONTEXT)?;
            &parsed
        }
        other => other,
    };
    let named = named_reviewers(content);
    let lists = by_reviewer(content);
    if named.is_empty() && lists.is_none() {
        return Err(NO_CONTEXT);
    }
    let mut context = Context {
        active: named.iter().map(|one| one.name.clone()).collect(),
        reviewers: named,
        rounds: 3,
        lists: Vec::new(),
        problems: Vec::new(),
    };
    for (name, list) in lists.unwrap_or_default() {
        if name.is_empty() {
            context
                .problems
                .push("some findings name no reviewer; they are not counted".to_owned());
            continue;
        }
        let seat = context.reviewers.iter().find(|one| one.name == name);
        let family = seat.map_or_else(|| family_of(&name, None), |one| one.family.clone());
        if seat.is_none() {
            context.reviewers.push(Reviewer {
                name: name.clone(),
                family: family.clone(),
            });
        }
        let author = Author {
            reviewer: name,
            family,
        };
        let read = read_list(&list, &author);
        context.lists.push((author, read));
    }
    if context.active.is_empty() {
        let all = context.reviewers.iter().map(|one| one.name.clone());
        context.active = all.collect();
    }
    context.read_rounds(content);
    Ok(context)
}

const NO_CONTEXT: &str = "a debate begins with the findings by reviewer, such as \
                          {\"findings\": {\"ann\": [], \"bob\": []}, \"rounds\": 3}";

impl Context {
    fn read_rounds(&mut self, content: &Value) {
        let stated = ["rounds", "debate_rounds", "number_of_rounds"]
            .into_iter()
            .find_map(|name| content.get(name));
        match stated.map(|value| (value, value.as_u64())) {
            None => {}
            Some((_, Some(rounds @ 1..=3))) => self.rounds = u8::try_from(rounds).unwrap_or(3),
            Some((value, _)) => self.problems.push(format!(
                "{} is no number of rounds: it must lie between 1 and 3; 3 are held",
                crate::text::truncate_chars(&value.to_string(), 40)
            )),
        }
    }
}

/// Reads what one reviewer reported, as JSON or as the text of its answer.
pub(super) fn read_list(list: &Value, author: &Author) -> Findings {
    match list {
        Value::String(text) => read_findings(text, author),
        other => findings_in_value(other, author),
    }
}

fn named_reviewers(content: &Value) -> Vec<Reviewer> {
    let lists = NAMES.into_iter().filter_map(|name| content.get(name));
    let names = lists.filter_map(Value::as_array).flatten();
    let mut reviewers: Vec<Reviewer> = Vec::new();
    for value in names {
        let name = value.as_str().or_else(|| value.get("name")?.as_str());
        let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
            continue;
        };
        let model = value.get("model").and_then(Value::as_str);
        let family = value.get("family").and_then(Value::as_str);
        if reviewers.iter().all(|known| known.name != name) {
            reviewers.push(Reviewer {
                name: name.to_owned(),
                family: family.map_or_else(|| family_of(name, model), str::to_owned),
            });
        }
    }
    reviewers
}

/// Returns the findings by reviewer, if `value` holds those of several: an object with a list for
/// each name, a list of reports, or a list of findings of which each names its reviewer. What
/// names none stands under the empty name.
#[must_use]
pub fn by_reviewer(value: &Value) -> Option<Vec<(String, Value)>> {
    if let Some(list) = value.as_array() {
        return reports(list).or_else(|| named_findings(list, ""));
    }
    let object = value.as_object()?;
    for name in LISTS {
        match object.get(name) {
            Some(Value::Object(lists)) => return Some(pairs(lists)),
            Some(Value::Array(list)) if object.get("model").is_none() => {
                let file = object.get("file").and_then(Value::as_str);
                let found = reports(list).or_else(|| named_findings(list, file.unwrap_or("")));
                if found.is_some() {
                    return found;
                }
            }
            _ => {}
        }
    }
    // An empty list of all findings, beside the names of those who found nothing.
    let nothing = ["findings", "aggregated_findings"].into_iter().any(|name| {
        object
            .get(name)
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
    });
    let names = named_reviewers(value);
    if nothing && !names.is_empty() {
        return Some(names.into_iter().map(|one| (one.name, json!([]))).collect());
    }
    let is_report = ["findings", "issues", "results", "comments", "runs", "title"]
        .into_iter()
        .any(|name| object.contains_key(name));
    let only_lists = !object.is_empty() && object.values().all(holds_findings);
    (!is_report && only_lists).then(|| pairs(object))
}

fn pairs(lists: &Map<String, Value>) -> Vec<(String, Value)> {
    let trimmed = |(name, list): (&String, &Value)| (name.trim().to_owned(), list.clone());
    lists.iter().map(trimmed).collect()
}

/// Tells whether a value is a list of objects, or an object with a list of findings.
fn holds_findings(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().all(Value::is_object),
        Value::Object(report) => report.get("findings").is_some_and(Value::is_array),
        _ => false,
    }
}

/// Reads a list of reports, each with its model.
fn reports(list: &[Value]) -> Option<Vec<(String, Value)>> {
    let report = |value: &Value| {
        let name = author_of(value)?;
        let list = value.get("findings").or_else(|| value.get("issues"))?;
        list.is_array().then(|| (name, value.clone()))
    };
    let all: Option<Vec<_>> = list.iter().map(report).collect();
    all.filter(|reports| !reports.is_empty())
}

/// Reads a list of findings, if any of them names its reviewer.
fn named_findings(list: &[Value], file: &str) -> Option<Vec<(String, Value)>> {
    let speaks = |value: &Value| value.get("action").is_some();
    if list.iter().any(speaks) || !list.iter().any(|finding| author_of(finding).is_some()) {
        return None;
    }
    let mut found: Vec<(String, Vec<Value>)> = Vec::new();
    for finding in list {
        let name = author_of(finding).unwrap_or_default();
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, findings)) => findings.push(finding.clone()),
            None => found.push((name, vec![finding.clone()])),
        }
    }
    let whole = |(name, findings)| (name, json!({ "file": file, "findings": findings }));
    Some(found.into_iter().map(whole).collect())
}

/// Returns whom a value names as its author.
#[must_use]
pub fn author_of(value: &Value) -> Option<String> {
    let name = ["reviewer", "model", "source_model"]
        .into_iter()
        .find_map(|name| value.get(name)?.as_str())?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_several_reviewers_are_told_apart() {
        let names = |value: Value| {
            by_reviewer(&value).map(|lists| {
                let names = lists.into_iter().map(|(name, _)| name);
                names.collect::<Vec<_>>().join(" ")
            })
        };
        for (value, expected) in [
            (json!({"findings": {"ann": [], "bob": []}}), Some("ann bob")),
            (json!({"reviewers": {"ann": []}}), Some("ann")),
            (json!({"ann": [{"title": "x"}], "bob": []}), Some("ann bob")),
            (
                json!([{"model": "ann", "findings": []}, {"model": "bob", "findings": []}]),
                Some("ann bob"),
            ),
            (
                json!({"findings": [{"model": "ann", "title": "x"}, {"title": "y"}]}),
                Some("ann "),
            ),
            (
                json!({"findings": [], "reviewers": ["ann", "bob"]}),
                Some("ann bob"),
            ),
            (json!({"model": "ann", "findings": [{"title": "x"}]}), None),
            (json!({"runs": []}), None),
            (json!({"finding_id": "x", "action": "agree"}), None),
            (json!({"responses": [1]}), None),
            (json!([]), None),
            (json!({}), None),
        ] {
            assert_eq!(names(value.clone()).as_deref(), expected, "{value}");
        }
    }
}
