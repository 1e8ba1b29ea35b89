//! ESLint, Biome and oxlint.

use serde_json::Value;

use super::rules::{Kind, Level, Weight, kind_of_word, weigh};
use super::sink::{Draft, Sink, line, text, value_at};
use super::tables::eslint as kind_of_rule;

/// Reads `eslint --format json`: a list of files with their messages.
pub(super) fn eslint(files: &[Value], sink: &mut Sink<'_>) {
    for (file_index, file) in files.iter().enumerate() {
        let path = text(file, "/filePath");
        let Some(messages) = file.get("messages").and_then(Value::as_array) else {
            sink.unread(&format!("[{file_index}]"), "the file has no messages");
            continue;
        };
        let counted = |name: &str| file.get(name).and_then(Value::as_u64).unwrap_or(0);
        let is_of = |message: &&Value, level: u64| {
            message.get("severity").and_then(Value::as_u64) == Some(level)
        };
        for (name, level) in [("errorCount", 2), ("warningCount", 1)] {
            let listed = messages.iter().filter(|one| is_of(one, level)).count();
            if counted(name) > u64::try_from(listed).unwrap_or(u64::MAX) {
                let what = format!("{name} is {} and {listed} are listed", counted(name));
                sink.incomplete(&format!("[{file_index}]"), &what);
            }
        }
        // A file that is ignored is listed too, with nothing but a warning without a rule.
        let about_run = |message: &Value| text(message, "/ruleId").is_empty();
        let skipped =
            !messages.is_empty() && messages.iter().all(|one| about_run(one) && !is_fatal(one));
        if !skipped {
            sink.looked_at(path);
        }
        for (index, message) in messages.iter().enumerate() {
            let at = format!("[{file_index}].messages[{index}]");
            eslint_message(message, path, &at, sink);
        }
    }
}

fn is_fatal(message: &Value) -> bool {
    message.get("fatal").and_then(Value::as_bool) == Some(true)
}

fn eslint_message(message: &Value, path: &str, at: &str, sink: &mut Sink<'_>) {
    let rule = text(message, "/ruleId");
    let says = text(message, "/message");
    let fatal = is_fatal(message);
    let severity = message.get("severity").and_then(Value::as_u64);
    let weight = match severity {
        _ if fatal => weigh(Kind::Bug, Level::Broken),
        Some(1) if rule.is_empty() => {
            // About the run rather than the code, such as a file that is ignored.
            sink.problem(at, says);
            return;
        }
        Some(2) => weigh(kind_of_rule(rule), Level::Error),
        Some(1) => weigh(kind_of_rule(rule), Level::Warning),
        _ => {
            sink.problem(at, "the severity is neither 1 nor 2");
            Weight {
                severity: None,
                ..weigh(kind_of_rule(rule), Level::Note)
            }
        }
    };
    let draft = Draft {
        file: path.to_owned(),
        line: line(message, "/line", at, sink),
        end_line: line(message, "/endLine", at, sink),
        rule: rule.to_owned(),
        message: says.to_owned(),
        suggestion: text(message, "/suggestions/0/desc").to_owned(),
        weight,
        ..Draft::default()
    };
    sink.add(at, draft);
}

/// Reads `biome lint --reporter=json`.
pub(super) fn biome(report: &Value, diagnostics: &[Value], sink: &mut Sink<'_>) {
    let hidden = value_at(report, "/summary/diagnosticsNotPrinted");
    if let Some(hidden) = hidden.and_then(Value::as_u64).filter(|hidden| *hidden > 0) {
        let what = format!("{hidden} diagnostics were not printed; add `--max-diagnostics=none`");
        sink.incomplete("summary", &what);
    }
    let files = |name: &str| value_at(report, &format!("/summary/{name}"))?.as_u64();
    if let (Some(changed), Some(unchanged)) = (files("changed"), files("unchanged")) {
        sink.counted("summary", changed.saturating_add(unchanged));
    }
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        let at = format!("diagnostics[{index}]");
        let category = text(diagnostic, "/category");
        let kind = match category.split('/').collect::<Vec<_>>()[..] {
            ["lint", group, ..] => kind_of_word(group).unwrap_or(Kind::Other),
            _ => Kind::Other,
        };
        let severity = text(diagnostic, "/severity");
        let weight = match severity {
            _ if category == "parse" => weigh(Kind::Bug, Level::Broken),
            _ => by_word(kind, severity, &at, sink),
        };
        let path = value_at(diagnostic, "/location/path");
        // Older versions wrap the path.
        let path = path.and_then(|path| path.as_str().or_else(|| path.get("file")?.as_str()));
        let draft = Draft {
            file: path.unwrap_or_default().to_owned(),
            line: line(diagnostic, "/location/start/line", &at, sink),
            end_line: line(diagnostic, "/location/end/line", &at, sink),
            rule: category.to_owned(),
            message: or(
                text(diagnostic, "/message"),
                text(diagnostic, "/description"),
            )
            .to_owned(),
            suggestion: text(diagnostic, "/advices/0/text").to_owned(),
            weight,
            ..Draft::default()
        };
        sink.add(&at, draft);
    }
}

/// Reads `oxlint --format json`.
pub(super) fn oxlint(report: &Value, diagnostics: &[Value], sink: &mut Sink<'_>) {
    if let Some(files) = report.get("number_of_files").and_then(Value::as_u64) {
        sink.counted("number_of_files", files);
    }
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        let at = format!("diagnostics[{index}]");
        let code = text(diagnostic, "/code");
        let severity = text(diagnostic, "/severity");
        // `eslint(no-debugger)`: the plugin, then the rule.
        let (plugin, rule) = code.split_once('(').unwrap_or(("", code));
        let rule = rule.trim_end_matches(')');
        let weight = match severity {
            "error" if code.is_empty() => weigh(Kind::Bug, Level::Broken),
            _ => by_word(
                kind_of_rule(&format!("{plugin}/{rule}")),
                severity,
                &at,
                sink,
            ),
        };
        let draft = Draft {
            file: text(diagnostic, "/filename").to_owned(),
            line: line(diagnostic, "/labels/0/span/line", &at, sink),
            rule: code.to_owned(),
            message: text(diagnostic, "/message").to_owned(),
            suggestion: text(diagnostic, "/help").to_owned(),
            weight,
            ..Draft::default()
        };
        sink.add(&at, draft);
    }
}

/// Returns the weight by the tool's word for its level; an unknown word is reported.
pub(super) fn by_word(kind: Kind, word: &str, at: &str, sink: &mut Sink<'_>) -> Weight {
    let level = match word.to_ascii_lowercase().as_str() {
        "error" | "fatal" => Level::Error,
        "warning" | "warn" => Level::Warning,
        "note" | "info" | "information" | "hint" | "advice" => Level::Note,
        _ => {
            sink.problem(at, &format!("{word:?} is no severity that is known"));
            return Weight {
                severity: None,
                ..weigh(kind, Level::Note)
            };
        }
    };
    weigh(kind, level)
}

fn or<'t>(first: &'t str, second: &'t str) -> &'t str {
    if first.is_empty() { second } else { first }
}
