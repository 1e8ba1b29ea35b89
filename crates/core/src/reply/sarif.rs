//! Results of static analysis tools, in SARIF 2.1.0.

use serde_json::{Map, Value};

use super::Problem;
use super::find::{Author, Findings};
use crate::finding::{Finding, Location};
use crate::scale::Severity;

/// Reads all results of all runs.
pub(super) fn read(object: &Map<String, Value>, author: &Author, found: &mut Findings) {
    let runs = object.get("runs").and_then(Value::as_array);
    let Some(runs) = runs else {
        found.answered = false;
        found.problems.push(Problem {
            at: "runs".to_owned(),
            what: "a list was expected".to_owned(),
        });
        return;
    };
    for (run_index, run) in runs.iter().enumerate() {
        // A run without results is a tool that did not report, not one that found nothing.
        let Some(results) = run.get("results").and_then(Value::as_array) else {
            found.problems.push(Problem {
                at: format!("runs[{run_index}]"),
                what: "the run has no results".to_owned(),
            });
            continue;
        };
        for (index, result) in results.iter().enumerate() {
            let at = format!("runs[{run_index}].results[{index}]");
            if is_set_aside(result) {
                continue;
            }
            let finding = finding(result, run, author, &at, &mut found.problems);
            found.findings.extend(finding);
        }
    }
}

/// Tells whether a result says that something is fine, or was suppressed by its owner.
fn is_set_aside(result: &Value) -> bool {
    let kind = result.get("kind").and_then(Value::as_str).unwrap_or("fail");
    let suppressed = result.get("suppressions").and_then(Value::as_array);
    matches!(kind, "pass" | "notApplicable" | "informational")
        || suppressed.is_some_and(|list| !list.is_empty())
}

fn finding(
    result: &Value,
    run: &Value,
    author: &Author,
    at: &str,
    problems: &mut Vec<Problem>,
) -> Option<Finding> {
    let text = |path: &str| result.pointer(path).and_then(Value::as_str).unwrap_or("");
    let message = text("/message/text");
    let rule = text("/ruleId");
    if message.is_empty() && rule.is_empty() {
        problems.push(Problem {
            at: at.to_owned(),
            what: "a result without message and rule says nothing".to_owned(),
        });
        return None;
    }
    let level = text("/level");
    let level = if level.is_empty() {
        rule_level(run, rule).unwrap_or("warning")
    } else {
        level
    };
    let severity = match level {
        "error" => Some(Severity::High),
        "warning" => Some(Severity::Medium),
        "note" | "none" => Some(Severity::Low),
        other => {
            problems.push(Problem {
                at: format!("{at}.level"),
                what: format!("{other:?} is no level; known are error, warning, note, none"),
            });
            None
        }
    };
    let place = "/locations/0/physicalLocation";
    let line = |name: &str| {
        let number = result.pointer(&format!("{place}/region/{name}"))?;
        let line = number.as_u64().and_then(|line| u32::try_from(line).ok());
        line.filter(|line| *line > 0)
    };
    let function = text("/locations/0/logicalLocations/0/name");
    let title = crate::text::headline(message, 120).into_owned();
    Some(Finding {
        id: String::new(),
        reviewer: author.reviewer.clone(),
        family: author.family.clone(),
        location: Location {
            file: text(&format!("{place}/artifactLocation/uri")).to_owned(),
            line: line("startLine"),
            end_line: line("endLine"),
            function: (!function.is_empty()).then(|| function.to_owned()),
        },
        severity,
        title: if title.is_empty() {
            rule.to_owned()
        } else {
            title
        },
        description: match (rule, message) {
            ("", message) => message.to_owned(),
            (rule, message) => format!("{message} ({rule})"),
        },
        quote: text(&format!("{place}/region/snippet/text")).to_owned(),
        ..Finding::default()
    })
}

/// Returns the level that a rule gives to its results unless they say otherwise.
fn rule_level<'a>(run: &'a Value, rule: &str) -> Option<&'a str> {
    let rules = run.pointer("/tool/driver/rules")?.as_array()?;
    let known = |one: &&Value| one.get("id").and_then(Value::as_str) == Some(rule);
    rules
        .iter()
        .find(known)?
        .pointer("/defaultConfiguration/level")?
        .as_str()
}
