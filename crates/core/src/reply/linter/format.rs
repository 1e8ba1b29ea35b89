//! Which format a JSON value is in, told by its fields.

use serde_json::{Map, Value};

use crate::text::headline;

/// The formats that are recognised, as they are listed to people.
const KNOWN: &str = "SARIF, cargo, ESLint, Ruff, Semgrep, golangci-lint, mypy, pyright, Bandit, \
                     Biome, oxlint, Code Quality and tribunal.review.v1";

/// What one JSON value turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Sarif,
    CargoEvent,
    Eslint,
    Ruff,
    Semgrep,
    Golangci,
    MypyLine,
    Pyright,
    Bandit,
    Biome,
    Oxlint,
    CodeQuality,
    OwnReport,
    /// Findings in the form in which reviewers write them.
    Plain,
    /// An empty list, which several tools print when there is nothing to report.
    Nothing,
}

impl Format {
    /// Returns the name of the tool that writes it; empty when several do.
    pub(super) fn tool(self) -> &'static str {
        match self {
            Self::Eslint => "eslint",
            Self::Ruff => "ruff",
            Self::Semgrep => "semgrep",
            Self::Golangci => "golangci-lint",
            Self::MypyLine => "mypy",
            Self::Pyright => "pyright",
            Self::Bandit => "bandit",
            Self::Biome => "biome",
            Self::Oxlint => "oxlint",
            Self::OwnReport => "tribunal",
            Self::Sarif | Self::CargoEvent | Self::CodeQuality | Self::Plain | Self::Nothing => "",
        }
    }
}

/// Returns the format of `value`; nothing when it is unknown.
pub(super) fn format_of(value: &Value) -> Option<Format> {
    match value {
        Value::Array(items) if items.is_empty() => Some(Format::Nothing),
        Value::Array(items) => {
            let first = items.first()?.as_object()?;
            let has = |names: &[&str]| names.iter().all(|name| first.contains_key(*name));
            if has(&["filePath", "messages"]) {
                Some(Format::Eslint)
            } else if has(&["filename", "code", "location", "noqa_row"]) {
                Some(Format::Ruff)
            } else if has(&["description", "severity", "fingerprint"]) && has_path(first) {
                Some(Format::CodeQuality)
            } else if has(&["title"]) {
                Some(Format::Plain)
            } else {
                None
            }
        }
        Value::Object(object) => format_of_object(object),
        _ => None,
    }
}

fn has_path(issue: &Map<String, Value>) -> bool {
    let path = issue.get("location").and_then(|place| place.get("path"));
    path.is_some_and(Value::is_string)
}

fn format_of_object(object: &Map<String, Value>) -> Option<Format> {
    let has = |name: &str| object.contains_key(name);
    let list = |name: &str| object.get(name).is_some_and(Value::is_array);
    let word = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    if has("runs") {
        Some(Format::Sarif)
    } else if has("reason") && !word("reason").is_empty() {
        Some(Format::CargoEvent)
    } else if word("schema").starts_with("tribunal.review.") {
        Some(Format::OwnReport)
    } else if list("results") && list("errors") && has("paths") {
        Some(Format::Semgrep)
    } else if list("results") && list("errors") && has("metrics") {
        Some(Format::Bandit)
    } else if has("Issues") && (list("Issues") || has("Report")) {
        Some(Format::Golangci)
    } else if list("generalDiagnostics") && has("summary") {
        Some(Format::Pyright)
    } else if list("diagnostics") && has("number_of_files") {
        Some(Format::Oxlint)
    } else if list("diagnostics") && has("summary") && has("command") {
        Some(Format::Biome)
    } else if has("file") && has("severity") && has("message") && has("hint") {
        Some(Format::MypyLine)
    } else if list("findings") {
        Some(Format::Plain)
    } else {
        None
    }
}

/// Says what an unknown value looks like, so that its owner recognises it.
pub(super) fn unknown(value: &Value) -> String {
    let (what, object) = match value {
        Value::Array(items) => (
            "a list of objects",
            items.first().and_then(Value::as_object),
        ),
        value => ("an object", value.as_object()),
    };
    let names = object.into_iter().flat_map(Map::keys).take(6);
    let names: Vec<String> = names
        .map(|name| format!("`{}`", headline(name, 30)))
        .collect();
    let seen = match (object, names.is_empty()) {
        (None, _) => "a list of something else than objects".to_owned(),
        (Some(_), true) => format!("{what} without fields"),
        (Some(_), false) => format!("{what} with {}", names.join(", ")),
    };
    format!("the output is {seen}, which is no format that is known; known are {KNOWN}")
}
