//! Results of static analysis tools, in SARIF 2.1.0.
//!
//! Fingerprints of the tool are left out on purpose: the identity of a finding is ours to give.

use serde_json::Value;

use super::linter::metadata::{Rules, known_tool, weight};
use super::linter::places::Places;
use super::linter::sink::{Draft, Sink, line, text, value_at};

/// Notifications that are shown of one run.
const MOST_NOTIFICATIONS: usize = 20;

/// Reads all results of all runs.
pub(super) fn read(log: &Value, sink: &mut Sink<'_>) {
    let version = text(log, "/version");
    if !version.is_empty() && !version.starts_with("2.") {
        let what = format!("SARIF of version {version:?} is not read, only 2.1.0");
        sink.incomplete("version", &what);
        return;
    }
    let Some(runs) = log.get("runs").and_then(Value::as_array) else {
        sink.incomplete("runs", "a list was expected");
        return;
    };
    if runs.is_empty() {
        sink.incomplete("runs", "no tool has run");
    }
    for (index, run) in runs.iter().enumerate() {
        read_run(run, &format!("runs[{index}]"), sink);
    }
}

fn read_run(run: &Value, at: &str, sink: &mut Sink<'_>) {
    read_invocations(run, at, sink);
    if holds_results_elsewhere(run) {
        let what = "results of the run stand in other files, which are not read";
        sink.incomplete(at, what);
    }
    // A run without results is a tool that did not report, not one that found nothing.
    let Some(results) = run.get("results").and_then(Value::as_array) else {
        sink.incomplete(at, "the run has no results");
        return;
    };
    read_artifacts(run, sink);
    let rules = Rules::of(run);
    let places = Places::of(run);
    for (index, result) in results.iter().enumerate() {
        if is_set_aside(result) {
            sink.set_aside();
        } else {
            let at = format!("{at}.results[{index}]");
            finding(result, &rules, &places, &at, sink);
        }
    }
}

/// Tells whether results of a run were put into files of their own.
fn holds_results_elsewhere(run: &Value) -> bool {
    let elsewhere = run
        .get("externalPropertyFileReferences")
        .and_then(|references| references.get("results"));
    elsewhere.is_some_and(|files| match files {
        Value::Null => false,
        Value::Array(files) => !files.is_empty(),
        _ => true,
    })
}

/// Takes the files that the tool says it looked at.
fn read_artifacts(run: &Value, sink: &mut Sink<'_>) {
    let artifacts = run.get("artifacts").and_then(Value::as_array);
    for artifact in artifacts.into_iter().flatten() {
        let roles = artifact.get("roles").and_then(Value::as_array);
        let is_target = |roles: &Vec<Value>| roles.iter().any(|one| one == "analysisTarget");
        if roles.is_none_or(is_target) {
            sink.looked_at(text(artifact, "/location/uri"));
        }
    }
}

/// Takes what the tool says about its own work.
fn read_invocations(run: &Value, at: &str, sink: &mut Sink<'_>) {
    let invocations = run.get("invocations").and_then(Value::as_array);
    for (index, invocation) in invocations.into_iter().flatten().enumerate() {
        let at = format!("{at}.invocations[{index}]");
        let errors = |list: &str| {
            let told = invocation.get(list).and_then(Value::as_array);
            let told = told.into_iter().flatten();
            let told = told.filter(|one| text(one, "/level") == "error");
            told.take(MOST_NOTIFICATIONS)
        };
        let says = |one: &Value| match text(one, "/message/text") {
            "" => "an error".to_owned(),
            says => says.to_owned(),
        };
        for one in errors("toolConfigurationNotifications") {
            sink.problem(&at, &says(one));
        }
        for one in errors("toolExecutionNotifications") {
            let place = value_at(one, "/locations/0/physicalLocation/artifactLocation");
            let file = place.map(|place| Places::of(run).path(place, sink.root));
            let file = file.unwrap_or_default();
            let what = format!("the tool failed: {}", says(one));
            match file.as_str() {
                "" => sink.incomplete(&at, &what),
                file => sink.failed_at(file, &at, &what),
            }
        }
        if invocation
            .get("executionSuccessful")
            .and_then(Value::as_bool)
            == Some(false)
        {
            sink.incomplete(&at, "the tool says that it did not run successfully");
        }
    }
}

/// Tells whether a result says that something is fine, is gone, or was suppressed by its owner.
fn is_set_aside(result: &Value) -> bool {
    let kind = result.get("kind").and_then(Value::as_str).unwrap_or("fail");
    let suppressions = result.get("suppressions").and_then(Value::as_array);
    let in_force = |one: &Value| matches!(text(one, "/status"), "" | "accepted");
    matches!(kind, "pass" | "notApplicable" | "informational")
        || text(result, "/baselineState") == "absent"
        || suppressions.is_some_and(|list| !list.is_empty() && list.iter().all(in_force))
}

/// Places of one result that are read.
const MOST_PLACES: usize = 100;

fn finding(result: &Value, rules: &Rules<'_>, places: &Places<'_>, at: &str, sink: &mut Sink<'_>) {
    let named = result.get("locations").and_then(Value::as_array);
    let count = named.map_or(0, Vec::len).clamp(1, MOST_PLACES);
    for place in 0..count {
        let mut draft = draft_at(result, place, rules, places, at, sink);
        if count > 1 {
            at.clone_into(&mut draft.result);
        }
        sink.add(at, draft);
    }
}

/// Returns what a result says about one of its places.
fn draft_at(
    result: &Value,
    place: usize,
    rules: &Rules<'_>,
    places: &Places<'_>,
    at: &str,
    sink: &mut Sink<'_>,
) -> Draft {
    let rule = rules.rule(result);
    let id = or(text(result, "/ruleId"), text(result, "/rule/id"));
    let id = or(id, rule.map_or("", |rule| text(rule, "/id")));
    let location = format!("/locations/{place}/physicalLocation");
    let logical = format!("/locations/{place}/logicalLocations/0");
    let function = or(
        text(result, &format!("{logical}/name")),
        text(result, &format!("{logical}/fullyQualifiedName")),
    );
    Draft {
        file: places.file(result, place, sink.root),
        line: line(result, &format!("{location}/region/startLine"), at, sink),
        end_line: line(result, &format!("{location}/region/endLine"), at, sink),
        function: (!function.is_empty()).then(|| function.to_owned()),
        rule: id.to_owned(),
        message: message(result, rule),
        suggestion: suggestion(result),
        quote: text(result, &format!("{location}/region/snippet/text")).to_owned(),
        result: String::new(),
        weight: weight(result, rule, id, known_tool(rules.tool), at, sink),
    }
}

/// Returns the message: its own text, or the one that the rule keeps under the message's name.
fn message(result: &Value, rule: Option<&Value>) -> String {
    let name = text(result, "/message/id");
    let kept = rule
        .and_then(|rule| rule.get("messageStrings")?.get(name)?.get("text")?.as_str())
        .unwrap_or_default();
    let template = or(text(result, "/message/text"), kept);
    let template = or(template, text(result, "/message/markdown"));
    let arguments = value_at(result, "/message/arguments").and_then(Value::as_array);
    match arguments {
        Some(arguments) => filled(template, arguments),
        None => template.to_owned(),
    }
}

/// Puts the arguments into `{0}`, `{1}` in one pass; what they contain is not looked at again.
fn filled(template: &str, arguments: &[Value]) -> String {
    let mut whole = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        whole.push_str(before);
        let argument = after.split_once('}').and_then(|(number, after)| {
            let index: usize = number.parse().ok()?;
            Some((arguments.get(index)?.as_str()?, after))
        });
        match argument {
            Some((argument, after)) => {
                whole.push_str(argument);
                rest = after;
            }
            None => {
                whole.push('{');
                rest = after;
            }
        }
    }
    whole + rest
}

/// Returns what the tool would change.
fn suggestion(result: &Value) -> String {
    let described = text(result, "/fixes/0/description/text");
    let replacement = "/fixes/0/artifactChanges/0/replacements/0/insertedContent/text";
    let put = text(result, replacement).trim();
    match (described, put) {
        ("", "") => String::new(),
        ("", put) => format!("replace it with `{put}`"),
        (described, "") => described.to_owned(),
        (described, put) => format!("{described}: `{put}`"),
    }
}

fn or<'t>(first: &'t str, second: &'t str) -> &'t str {
    if first.is_empty() { second } else { first }
}
