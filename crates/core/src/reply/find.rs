//! Round 1: findings, from JSON in any of the known dialects or from tagged lines.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::{Fields, share};
use super::json::{ExtractError, extract};
use super::nested_findings::nested_findings;
use super::{Problem, linter, tags};
use crate::finding::{Category, Finding, Label, Location};
use crate::scale::{Severity, UnknownWord};

/// Whose answer is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Author {
    /// The name of the reviewer.
    pub reviewer: String,
    /// Its model family; empty when nobody knows.
    pub family: String,
}

/// What was read from an answer of round 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// The findings, in the order in which they were written.
    pub findings: Vec<Finding>,
    /// What could not be used.
    pub problems: Vec<Problem>,
    /// Whether it was an answer at all. Without it, no findings means nothing.
    pub answered: bool,
}

/// The forms in which findings arrive as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// The debate's reviewers, and our own.
    Plain,
    /// `codex review`.
    Codex,
    /// CodeAgora, whose CRITICAL is one level below its HARSHLY_CRITICAL.
    CodeAgora,
}

/// Reads an answer of round 1.
#[must_use]
pub fn read_findings(text: &str, author: &Author) -> Findings {
    let tagged = tags::read(text, author);
    match extract(text) {
        Ok(answer) => {
            let mut found = findings_in_value(&answer.value, author);
            found.problems.extend(answer.problems());
            // An empty list beside tagged lines is an example, not the answer.
            if !has_tags(&tagged) || !found.findings.is_empty() {
                found
            } else {
                tagged
            }
        }
        Err(ExtractError::NoJson) => tagged,
        Err(_) if has_tags(&tagged) => tagged,
        Err(error) => Findings {
            problems: vec![Problem {
                at: String::new(),
                what: error.to_string(),
            }],
            ..Findings::default()
        },
    }
}

/// Tells whether tags were seen, be it tags that could not be used.
fn has_tags(tagged: &Findings) -> bool {
    let about_tag = |problem: &Problem| problem.what.starts_with('[');
    !tagged.findings.is_empty() || tagged.problems.iter().any(about_tag)
}

/// Reads findings from JSON: a list, an object with a list, a tool's report, or one finding.
#[must_use]
pub fn findings_in_value(value: &Value, author: &Author) -> Findings {
    if let Some(found) = linter::in_value(value, author) {
        return found;
    }
    let mut found = Findings {
        answered: true,
        ..Findings::default()
    };
    match value {
        Value::Array(list) if is_list_of_reports(list) => {
            for (index, report) in list.iter().enumerate() {
                let Value::Object(report) = report else {
                    continue;
                };
                if let Some((name, list)) = list_of(report) {
                    let name = format!("[{index}].{name}");
                    read_list(list, &name, report, author, &mut found);
                }
            }
        }
        Value::Array(list) => read_list(list, "", &Map::new(), author, &mut found),
        Value::Object(object) => match list_of(object) {
            Some((name, list)) => read_list(list, name, object, author, &mut found),
            None if object.contains_key("title") => {
                read_list(
                    std::slice::from_ref(value),
                    "",
                    &Map::new(),
                    author,
                    &mut found,
                );
            }
            None => no_list(&mut found),
        },
        _ => no_list(&mut found),
    }
    name_apart(&mut found);
    found
}

fn no_list(found: &mut Findings) {
    found.answered = false;
    found.problems.push(Problem {
        at: String::new(),
        what: "there is no list of findings".to_owned(),
    });
}

fn list_of(object: &Map<String, Value>) -> Option<(&'static str, &Vec<Value>)> {
    ["findings", "issues", "results", "comments"]
        .into_iter()
        .find_map(|name| Some((name, object.get(name)?.as_array()?)))
}

/// Tells whether these are several reports, such as one for each file, and not findings.
fn is_list_of_reports(list: &[Value]) -> bool {
    let is_report = |value: &Value| {
        let object = value.as_object();
        object.is_some_and(|object| list_of(object).is_some() && !object.contains_key("title"))
    };
    !list.is_empty() && list.iter().all(is_report)
}

fn read_list(
    list: &[Value],
    name: &str,
    head: &Map<String, Value>,
    author: &Author,
    found: &mut Findings,
) {
    let dialect = dialect(list, head);
    let file = head.get("file").and_then(Value::as_str).unwrap_or("");
    for (index, item) in list.iter().enumerate() {
        let at = format!("{name}[{index}]");
        let Value::Object(object) = item else {
            found.problems.push(Problem {
                at,
                what: "an object was expected".to_owned(),
            });
            continue;
        };
        found.problems.extend(nested_findings(object, &at));
        let mut fields = Fields {
            object,
            at,
            problems: &mut found.problems,
        };
        let mut finding = match dialect {
            Dialect::Codex => codex(&mut fields),
            Dialect::Plain | Dialect::CodeAgora => plain(&mut fields, dialect),
        };
        if finding.title.is_empty() && finding.description.is_empty() {
            let at = fields.at.clone();
            fields.report(at, "a finding without title and description says nothing");
            continue;
        }
        if finding.location.file.is_empty() {
            file.clone_into(&mut finding.location.file);
        }
        take_gravest_label(&mut finding, object);
        finding.reviewer.clone_from(&author.reviewer);
        finding.family.clone_from(&author.family);
        found.findings.push(finding);
    }
}

/// Lets a finding be as grave as the gravest word in it says: its label, the beginning of its title
/// or description, or a field by which it binds. Nobody can tell which of two is meant.
fn take_gravest_label(finding: &mut Finding, object: &Map<String, Value>) {
    let rated = finding.severity.max(finding.label.map(Label::severity));
    let labels = [
        tags::label_of_title(&finding.title),
        tags::label_of_title(&finding.description),
        tags::label_of_title(&finding.suggestion),
        binds(object).then_some(Label::Must),
    ];
    let gravest = labels.into_iter().flatten();
    let gravest = gravest.max_by_key(|label| label.severity());
    if let Some(label) = gravest.filter(|label| Some(label.severity()) > rated) {
        finding.label = Some(label);
        finding.severity = Some(label.severity());
    }
}

/// Tells whether a field of a finding says that it binds.
fn binds(object: &Map<String, Value>) -> bool {
    let says = |value: &Value| match value {
        Value::Bool(said) => *said,
        Value::String(text) => {
            let word = text.trim().to_ascii_lowercase();
            matches!(
                word.as_str(),
                "true" | "yes" | "mandatory" | "must" | "required"
            )
        }
        _ => false,
    };
    object.iter().any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let is_asked = matches!(
            key.as_str(),
            "blocking"
                | "blocks"
                | "is_blocking"
                | "blocker"
                | "mandatory"
                | "must_fix"
                | "must"
                | "obligation"
        );
        is_asked && says(value)
    })
}

/// Returns one problem for each finding that does not say how bad it is, in no word at all.
///
/// Where nobody knows how bad something is, nobody knows whether it blocks.
pub(super) fn unrated(list: &[Value], name: &str) -> Vec<Problem> {
    let is_said = |finding: &Map<String, Value>| {
        let mut said = ["label", "severity", "priority"]
            .iter()
            .filter_map(|key| finding.get(*key));
        said.any(|word| !word.is_null())
    };
    let findings = list.iter().enumerate();
    let unrated = findings.filter(|(_, one)| one.as_object().is_some_and(|one| !is_said(one)));
    let problem = |(index, _)| Problem {
        at: format!("{name}[{index}].label"),
        what: "it is missing; known are MUST, SHOULD, CRITICAL, HIGH, MEDIUM, LOW".to_owned(),
    };
    unrated.map(problem).collect()
}

fn dialect(list: &[Value], head: &Map<String, Value>) -> Dialect {
    let agora = |value: &Value| {
        let word = value.get("severity").and_then(Value::as_str).unwrap_or("");
        matches!(word, "HARSHLY_CRITICAL" | "WARNING" | "SUGGESTION")
    };
    let schema = head.get("schema").and_then(Value::as_str).unwrap_or("");
    if schema.starts_with("codeagora") || list.iter().any(agora) {
        Dialect::CodeAgora
    } else if list
        .iter()
        .any(|value| value.get("code_location").is_some())
    {
        Dialect::Codex
    } else {
        Dialect::Plain
    }
}

fn plain(fields: &mut Fields<'_>, dialect: Dialect) -> Finding {
    let severity = match dialect {
        Dialect::CodeAgora => fields.word(&["severity"], codeagora_severity),
        Dialect::Plain | Dialect::Codex => fields.word(&["severity", "priority"], severity_word),
    };
    let mut finding = Finding {
        id: id_of(fields),
        location: location(fields),
        category: fields.word(&["category", "type"], str::parse::<Category>),
        severity,
        confidence: fields.confidence(&["confidence"]),
        label: fields.word(&["label"], str::parse::<Label>),
        title: fields.text(&["title", "name"]),
        description: fields.text(&["description", "body", "message", "detail"]),
        suggestion: fields.text(&["suggestion", "recommendation", "fix"]),
        quote: fields.text(&["quote", "code", "code_snippet", "evidence"]),
        trigger: fields.text(&["trigger", "trigger_path", "exploit"]),
        ..Finding::default()
    };
    if finding.title.is_empty() {
        finding.title = crate::text::headline(&finding.description, 120).into_owned();
    }
    finding
}

/// Reads a finding of `codex review`: a confidence from 0 to 1, a priority from 0 to 3.
fn codex(fields: &mut Fields<'_>) -> Finding {
    let confidence = fields.get(&["confidence_score"]).and_then(|(at, value)| {
        let share = share(value);
        if share.is_none() {
            fields.report(at, "a number from 0 to 1 was expected");
        }
        share
    });
    let severity = match fields.integer(&["priority"]) {
        None => None,
        Some(0) => Some(Severity::Critical),
        Some(1) => Some(Severity::High),
        Some(2) => Some(Severity::Medium),
        Some(3) => Some(Severity::Low),
        Some(other) => {
            let at = fields.path("priority");
            fields.report(
                at,
                &format!("{other} is no priority: it must lie between 0 and 3"),
            );
            None
        }
    };
    let title = fields.text(&["title"]);
    let place = fields
        .object
        .get("code_location")
        .and_then(Value::as_object);
    let location = place.map_or_else(Location::default, |object| {
        let at = fields.path("code_location");
        let mut place = Fields {
            object,
            at,
            problems: fields.problems,
        };
        let (line, end_line) = line_range(&mut place);
        Location {
            file: place.exact_text(&["absolute_file_path", "relative_file_path", "file_path"]),
            line,
            end_line,
            function: None,
        }
    });
    Finding {
        id: id_of(fields),
        location,
        severity,
        confidence,
        title,
        description: fields.text(&["body"]),
        ..Finding::default()
    }
}

fn location(fields: &mut Fields<'_>) -> Location {
    let nested = fields.object.get("location").and_then(Value::as_object);
    if let Some(object) = nested {
        let at = fields.path("location");
        let mut inner = Fields {
            object,
            at,
            problems: fields.problems,
        };
        return location(&mut inner);
    }
    let (mut line, mut end_line) = line_range(fields);
    if line.is_none() {
        line = fields.line(&["line", "line_start", "start_line", "line_number"]);
        end_line = fields.line(&["end_line", "line_end"]);
    }
    let function = fields.text(&["function", "enclosing_function"]);
    Location {
        file: fields.exact_text(&["file", "path", "file_path", "filename"]),
        line,
        end_line,
        function: (!function.is_empty()).then_some(function),
    }
}

/// Reads a range given as `[first, last]` or `{start, end}`.
fn line_range(fields: &mut Fields<'_>) -> (Option<u32>, Option<u32>) {
    match fields.get(&["line_range"]) {
        Some((at, Value::Object(object))) => {
            let mut range = Fields {
                object,
                at,
                problems: fields.problems,
            };
            (range.line(&["start"]), range.line(&["end"]))
        }
        Some((_, Value::Array(ends))) => {
            let line = |index: usize| {
                let number = ends.get(index)?.as_u64()?;
                u32::try_from(number).ok().filter(|line| *line > 0)
            };
            (line(0), line(1))
        }
        _ => (None, None),
    }
}

fn id_of(fields: &mut Fields<'_>) -> String {
    match fields.get(&["id", "finding_id"]) {
        Some((_, Value::Number(number))) => number.to_string(),
        _ => fields.text(&["id", "finding_id"]),
    }
}

/// Reads a severity, or a label that stands for one.
fn severity_word(word: &str) -> Result<Severity, UnknownWord> {
    word.parse::<Severity>().or_else(|unknown| {
        word.parse::<Label>()
            .map(Label::severity)
            .map_err(|_| unknown)
    })
}

fn codeagora_severity(word: &str) -> Result<Severity, UnknownWord> {
    match word.trim() {
        "HARSHLY_CRITICAL" => Ok(Severity::Critical),
        "CRITICAL" => Ok(Severity::High),
        "WARNING" => Ok(Severity::Medium),
        "SUGGESTION" => Ok(Severity::Low),
        _ => Err(UnknownWord::new(
            "severity",
            word,
            "HARSHLY_CRITICAL, CRITICAL, WARNING, SUGGESTION",
        )),
    }
}

/// Reports ids that are used twice. The consensus tells the findings apart.
fn name_apart(found: &mut Findings) {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for finding in found
        .findings
        .iter()
        .filter(|finding| !finding.id.is_empty())
    {
        *seen.entry(&finding.id).or_default() += 1;
    }
    for (id, _) in seen.into_iter().filter(|(_, times)| *times > 1) {
        found.problems.push(Problem {
            at: String::new(),
            what: format!("the id {id:?} is used more than once"),
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_gravest_word_of_a_finding_counts() {
        for (key, said, expected) in [
            ("note", json!("x"), Severity::Low),
            ("blocking", json!(false), Severity::Low),
            ("obligation", json!("optional"), Severity::Low),
            ("blocking", json!(true), Label::Must.severity()),
            ("Blocking", json!("yes"), Label::Must.severity()),
            ("obligation", json!("mandatory"), Label::Must.severity()),
            ("must_fix", json!(true), Label::Must.severity()),
            (
                "description",
                json!("[MUST] check it"),
                Label::Must.severity(),
            ),
            (
                "suggestion",
                json!("[CRITICAL] check it"),
                Severity::Critical,
            ),
        ] {
            let mut one = json!({"title": "naming", "label": "LOW"});
            one[key] = said;
            let found = findings_in_value(&json!([one]), &Author::default());
            let read = &found.findings[0];
            let rated = read.severity.max(read.label.map(Label::severity));
            assert_eq!(rated, Some(expected), "{one}");
        }
    }
}
