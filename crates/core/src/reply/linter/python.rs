//! Ruff, mypy and pyright.

use serde_json::Value;

use super::javascript::by_word;
use super::rules::{Kind, Level, Weight, ruff as kind_of_rule, weigh};
use super::sink::{Draft, Sink, line, text, value_at};

/// Reads `ruff check --output-format json`.
pub(super) fn ruff(results: &[Value], sink: &mut Sink<'_>) {
    for (index, result) in results.iter().enumerate() {
        let at = format!("[{index}]");
        let code = text(result, "/code");
        let (kind, level) = kind_of_rule(code);
        let draft = Draft {
            file: text(result, "/filename").to_owned(),
            line: line(result, "/location/row", &at, sink),
            end_line: line(result, "/end_location/row", &at, sink),
            rule: code.to_owned(),
            message: text(result, "/message").to_owned(),
            suggestion: text(result, "/fix/message").to_owned(),
            weight: weigh(kind, level),
            ..Draft::default()
        };
        sink.add(&at, draft);
    }
}

/// Reads `bandit -f json`, which lists the files that it looked at with their metrics.
pub(super) fn bandit(report: &Value, results: &[Value], sink: &mut Sink<'_>) {
    let metrics = report.get("metrics").and_then(Value::as_object);
    let files: Vec<&String> = metrics
        .into_iter()
        .flat_map(|metrics| metrics.keys())
        .filter(|name| *name != "_totals")
        .collect();
    if files.is_empty() {
        sink.incomplete("metrics", "no file was looked at");
    }
    for file in files {
        sink.looked_at(file);
        let lines = metrics.and_then(|metrics| metrics.get(file)?.get("loc")?.as_u64());
        // It counts the lines of code that it read. A file without any tells nothing.
        if lines == Some(0) {
            sink.passed_over(file);
        }
    }
    for (index, result) in results.iter().enumerate() {
        let at = format!("results[{index}]");
        let mut weight = by_rank(text(result, "/issue_severity"), &at, sink);
        match text(result, "/issue_confidence") {
            "HIGH" => weight.confidence = 85,
            "MEDIUM" => weight.confidence = 65,
            "LOW" => weight.confidence = 45,
            _ => {}
        }
        let lines = value_at(result, "/line_range").and_then(Value::as_array);
        let last = lines.and_then(|lines| lines.last()?.as_u64());
        let draft = Draft {
            file: text(result, "/filename").to_owned(),
            line: line(result, "/line_number", &at, sink),
            end_line: last.and_then(|last| u32::try_from(last).ok()),
            rule: text(result, "/test_id").to_owned(),
            message: text(result, "/issue_text").to_owned(),
            weight,
            ..Draft::default()
        };
        sink.add(&at, draft);
    }
    let errors = report.get("errors").and_then(Value::as_array);
    for (index, error) in errors.into_iter().flatten().enumerate() {
        let (file, reason) = (text(error, "/filename"), text(error, "/reason"));
        sink.passed_over(file);
        sink.problem(&format!("errors[{index}]"), &format!("{file}: {reason}"));
    }
}

fn by_rank(severity: &str, at: &str, sink: &mut Sink<'_>) -> Weight {
    match severity {
        "HIGH" => weigh(Kind::Security, Level::Error),
        "MEDIUM" => weigh(Kind::Security, Level::Warning),
        "LOW" => weigh(Kind::Security, Level::Note),
        word => by_word(Kind::Security, word, at, sink),
    }
}

/// Reads one line of `mypy --output json`.
pub(super) fn mypy(result: &Value, number: usize, sink: &mut Sink<'_>) {
    let at = format!("line {number}");
    let code = text(result, "/code");
    let weight = match text(result, "/severity") {
        "error" if code == "syntax" => weigh(Kind::Bug, Level::Broken),
        // About what is installed rather than about the code.
        "error" if code.starts_with("import") => weigh(Kind::Other, Level::Note),
        "error" => weigh(Kind::Bug, Level::Warning),
        word => by_word(Kind::Other, word, &at, sink),
    };
    let draft = Draft {
        file: text(result, "/file").to_owned(),
        line: line(result, "/line", &at, sink),
        end_line: line(result, "/end_line", &at, sink),
        rule: code.to_owned(),
        message: text(result, "/message").to_owned(),
        suggestion: text(result, "/hint").to_owned(),
        weight,
        ..Draft::default()
    };
    sink.add(&at, draft);
}

/// Reads `pyright --outputjson`, which counts lines from zero.
pub(super) fn pyright(report: &Value, diagnostics: &[Value], sink: &mut Sink<'_>) {
    let files = value_at(report, "/summary/filesAnalyzed");
    if let Some(files) = files.and_then(Value::as_u64) {
        sink.counted("summary.filesAnalyzed", files);
    }
    let listed = diagnostics
        .iter()
        .filter(|one| text(one, "/severity") == "error");
    let listed = listed.count() as u64;
    let errors = value_at(report, "/summary/errorCount").and_then(Value::as_u64);
    if let Some(errors) = errors.filter(|errors| *errors > listed) {
        let told = format!("counts {errors} errors, and {listed} are listed");
        sink.incomplete("summary.errorCount", &told);
    }
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        let at = format!("generalDiagnostics[{index}]");
        let rule = text(diagnostic, "/rule");
        let mut next = |pointer: &str| {
            let number = value_at(diagnostic, pointer)?;
            let line = number.as_u64().and_then(|line| u32::try_from(line).ok());
            let line = line.and_then(|line| line.checked_add(1));
            if line.is_none() {
                sink.problem(&at, &format!("{number} is no line number"));
            }
            line
        };
        let (first, last) = (next("/range/start/line"), next("/range/end/line"));
        let draft = Draft {
            file: text(diagnostic, "/file").to_owned(),
            line: first,
            end_line: last,
            rule: rule.to_owned(),
            message: text(diagnostic, "/message").to_owned(),
            weight: of_pyright(text(diagnostic, "/severity"), rule, &at, sink),
            ..Draft::default()
        };
        sink.add(&at, draft);
    }
}

fn of_pyright(severity: &str, rule: &str, at: &str, sink: &mut Sink<'_>) -> Weight {
    match severity {
        // Only what breaks the language itself has no rule that could be turned off.
        "error" if rule.is_empty() => weigh(Kind::Bug, Level::Broken),
        "error" | "warning" if rule.starts_with("reportMissing") => weigh(Kind::Other, Level::Note),
        "error" => weigh(Kind::Bug, Level::Warning),
        word => by_word(Kind::Other, word, at, sink),
    }
}
