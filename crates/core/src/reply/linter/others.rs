//! Semgrep, golangci-lint, GitLab's Code Quality, and our own report.

use serde_json::Value;

use super::javascript::by_word;
use super::rules::{Kind, Level, Weight, kind_of_word, weigh};
use super::sink::{Draft, Sink, line, text, value_at};
use super::tables::golangci as kind_of_linter;
use crate::reply::find::{Author, findings_in_value};
use crate::scale::Severity;

/// Reads `semgrep scan --json`.
pub(super) fn semgrep(report: &Value, results: &[Value], sink: &mut Sink<'_>) {
    if let Some(scanned) = value_at(report, "/paths/scanned").and_then(Value::as_array) {
        if scanned.is_empty() {
            sink.incomplete("paths.scanned", "no file was looked at");
        }
        for path in scanned.iter().filter_map(Value::as_str) {
            sink.looked_at(path);
        }
    }
    let skipped = value_at(report, "/paths/skipped").and_then(Value::as_array);
    for path in skipped.into_iter().flatten() {
        sink.passed_over(text(path, "/path"));
    }
    for (index, result) in results.iter().enumerate() {
        let at = format!("results[{index}]");
        let quote = text(result, "/extra/lines");
        let fix = text(result, "/extra/fix");
        let draft = Draft {
            file: text(result, "/path").to_owned(),
            line: line(result, "/start/line", &at, sink),
            end_line: line(result, "/end/line", &at, sink),
            rule: text(result, "/check_id").to_owned(),
            message: text(result, "/extra/message").to_owned(),
            suggestion: if fix.is_empty() {
                String::new()
            } else {
                format!("replace it with `{fix}`")
            },
            // Without an account the lines are withheld, in these words.
            quote: if quote == "requires login" {
                String::new()
            } else {
                quote.to_owned()
            },
            weight: of_semgrep(result, &at, sink),
            ..Draft::default()
        };
        sink.add(&at, draft);
    }
    let errors = report.get("errors").and_then(Value::as_array);
    for (index, error) in errors.into_iter().flatten().enumerate() {
        let at = format!("errors[{index}]");
        let says = text(error, "/message");
        let says = if says.is_empty() {
            "an error without a message"
        } else {
            says
        };
        // One file was read in part, or one rule took too long for it.
        sink.passed_over(text(error, "/path"));
        match text(error, "/level") {
            "warn" | "info" => sink.problem(&at, says),
            _ => sink.incomplete(&at, says),
        }
    }
}

fn of_semgrep(result: &Value, at: &str, sink: &mut Sink<'_>) -> Weight {
    let metadata = |name: &str| text(result, &format!("/extra/metadata/{name}"));
    let weakness = value_at(result, "/extra/metadata/cwe").is_some_and(|cwe| !cwe.is_null());
    let kind = match kind_of_word(metadata("category")) {
        _ if weakness => Kind::Security,
        Some(kind) => kind,
        None => Kind::Unknown,
    };
    let mut weight = match text(result, "/extra/severity") {
        "CRITICAL" => Weight {
            severity: Some(Severity::Critical),
            ..weigh(kind, Level::Error)
        },
        "HIGH" => weigh(kind, Level::Error),
        "MEDIUM" => weigh(kind, Level::Warning),
        "LOW" | "INVENTORY" | "EXPERIMENT" => weigh(kind, Level::Note),
        word => by_word(kind, word, at, sink),
    };
    match metadata("confidence") {
        "HIGH" => weight.confidence = 85,
        "MEDIUM" => weight.confidence = 65,
        "LOW" => weight.confidence = 45,
        _ => {}
    }
    weight
}

/// Reads `golangci-lint run --output.json.path stdout`.
pub(super) fn golangci(report: &Value, issues: &[Value], sink: &mut Sink<'_>) {
    for (index, issue) in issues.iter().enumerate() {
        let at = format!("Issues[{index}]");
        let linter = text(issue, "/FromLinter");
        let says = text(issue, "/Text");
        let kind = kind_of_linter(linter, says);
        let weight = match text(issue, "/Severity") {
            _ if linter == "typecheck" => weigh(Kind::Bug, Level::Broken),
            "" => weigh(kind, Level::Warning),
            "high" | "critical" => weigh(kind, Level::Error),
            "medium" => weigh(kind, Level::Warning),
            "low" => weigh(kind, Level::Note),
            word => by_word(kind, word, &at, sink),
        };
        let quote = issue.get("SourceLines").and_then(Value::as_array);
        let quote = quote.into_iter().flatten().filter_map(Value::as_str);
        let draft = Draft {
            file: text(issue, "/Pos/Filename").to_owned(),
            line: line(issue, "/Pos/Line", &at, sink),
            end_line: line(issue, "/LineRange/To", &at, sink),
            rule: linter.to_owned(),
            message: says.to_owned(),
            quote: quote.take(20).collect::<Vec<_>>().join("\n"),
            weight,
            ..Draft::default()
        };
        sink.add(&at, draft);
    }
    let error = text(report, "/Report/Error");
    if !error.is_empty() {
        sink.incomplete("Report.Error", error);
    }
    let warnings = value_at(report, "/Report/Warnings").and_then(Value::as_array);
    for warning in warnings.into_iter().flatten() {
        sink.problem("Report.Warnings", text(warning, "/Text"));
    }
}

/// Reads GitLab's Code Quality, which is that of Code Climate.
pub(super) fn code_quality(issues: &[Value], sink: &mut Sink<'_>) {
    for (index, issue) in issues.iter().enumerate() {
        let at = format!("[{index}]");
        let words = issue.get("categories").and_then(Value::as_array);
        let words = words.into_iter().flatten().filter_map(Value::as_str);
        let kind = words
            .filter_map(kind_of_word)
            .next()
            .unwrap_or(Kind::Unknown);
        let mut weight = weigh(kind, Level::Warning);
        weight.severity = match text(issue, "/severity") {
            "info" | "minor" => Some(Severity::Low),
            "major" => Some(Severity::Medium),
            "critical" => Some(Severity::High),
            "blocker" => Some(Severity::Critical),
            "" => weight.severity,
            word => {
                sink.problem(&at, &format!("{word:?} is no severity that is known"));
                None
            }
        };
        let lines = value_at(issue, "/location/lines").is_some();
        let (first, last) = if lines {
            ("/location/lines/begin", "/location/lines/end")
        } else {
            (
                "/location/positions/begin/line",
                "/location/positions/end/line",
            )
        };
        let draft = Draft {
            file: text(issue, "/location/path").to_owned(),
            line: line(issue, first, &at, sink),
            end_line: line(issue, last, &at, sink),
            rule: text(issue, "/check_name").to_owned(),
            message: text(issue, "/description").to_owned(),
            suggestion: text(issue, "/content/body").to_owned(),
            weight,
            ..Draft::default()
        };
        sink.add(&at, draft);
    }
}

/// Reads a report of our own: what was accepted or is disputed, not what fell.
pub(super) fn own_report(report: &Value, author: &Author, sink: &mut Sink<'_>) {
    let stands = |finding: &&Value| {
        let gone = ["dismissed", "fixed"].contains(&text(finding, "/standing"));
        !gone && text(finding, "/verdict") != "rejected"
    };
    let Some(findings) = report.get("findings").and_then(Value::as_array) else {
        sink.incomplete("findings", "a list was expected");
        return;
    };
    let reviewed = value_at(report, "/coverage/reviewed").and_then(Value::as_array);
    for file in reviewed.into_iter().flatten() {
        sink.looked_at(text(file, "/path"));
    }
    let standing = findings.iter().filter(stands).cloned().collect();
    sink.extend(findings_in_value(&Value::Array(standing), author));
    if report.get("gate").and_then(Value::as_str) == Some("inconclusive") {
        sink.incomplete("gate", "the review that was reported is inconclusive");
    }
}
