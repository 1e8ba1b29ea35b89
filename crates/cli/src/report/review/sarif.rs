//! A review in SARIF 2.1.0, for code scanning and for anybody who collects results of tools.

mod result;
mod rules;

use serde_json::{Value, json};
use tribunal_core::consensus::Verdict;
use tribunal_core::review::coverage::{CoveredFile, LeftOut};
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::{ReviewReport, ReviewerState};

use super::shown::{NAME, one_line, shown};
use super::{Options, arbitrated, facts, json};
use crate::exit::Exit;
use rules::RuleTable;

/// Where the format is defined.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Returns the log. What was rejected is in it only with all details: consumers that do not know
/// of kinds would raise an alarm.
pub(super) fn render(report: &ReviewReport, options: &Options) -> String {
    let findings = report
        .findings
        .iter()
        .filter(|finding| options.details || finding.verdict != Verdict::Rejected);
    let rules = RuleTable::of(findings.clone());
    let results: Vec<Value> = findings
        .map(|finding| result::of(report, finding, &rules))
        .collect();
    json::pretty(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(&rules) },
            "automationDetails": {
                "id": "tribunal/review/",
                "description": { "text": format!("Review of {}", one_line(&report.change.title, NAME)) },
            },
            "invocations": [invocation(report)],
            "artifacts": artifacts(report),
            "results": results,
            "columnKind": "unicodeCodePoints",
            "properties": {
                "case": report.case,
                "gate": report.gate.as_str(),
                "policy": shown(&report.policy),
                "base": report.change.base.as_deref().map(shown),
                "head": report.change.head.as_deref().map(shown),
                "usage": report.usage,
                "cost": report.cost,
                "fixed": report.fixed,
                "ruleLevels": report.rule_levels,
            },
        }],
    }))
}

fn driver(rules: &RuleTable) -> Value {
    json!({
        "name": "Tribunal",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": rules.descriptors,
    })
}

fn invocation(report: &ReviewReport) -> Value {
    let (exit, conclusive) = match report.gate {
        Gate::Pass => (Exit::Pass, true),
        Gate::Fail { .. } => (Exit::Fail, true),
        Gate::Inconclusive { .. } => (Exit::Inconclusive, false),
    };
    let mut notifications = Vec::new();
    if let Gate::Inconclusive { causes } = &report.gate {
        for cause in causes {
            notifications.push(notification("gate", "error", &one_line(cause, NAME)));
        }
    }
    for step in arbitrated::next_steps(report) {
        notifications.push(notification("next-step", "note", &step.sentence()));
    }
    for reviewer in &report.reviewers {
        if matches!(reviewer.state, ReviewerState::Missing { .. }) {
            let (name, (_, why)) = (one_line(&reviewer.name, NAME), facts::state(reviewer));
            let text = format!("No complete answer came from {name}: {why}");
            notifications.push(notification("missing-reviewer", "warning", &text));
        }
    }
    notifications.extend(report.coverage.left_out.iter().map(left_out));
    for note in &report.notes {
        notifications.push(notification("note", "note", &one_line(note, NAME)));
    }
    json!({
        "executionSuccessful": conclusive,
        "exitCode": exit as u8,
        "exitCodeDescription": report.gate.as_str(),
        "toolExecutionNotifications": notifications,
    })
}

fn notification(id: &str, level: &str, text: &str) -> Value {
    json!({ "descriptor": { "id": id }, "level": level, "message": { "text": text } })
}

fn left_out(file: &LeftOut) -> Value {
    let text = format!(
        "{} was not reviewed: {}",
        facts::left_out_file(file),
        file.why
    );
    let mut told = notification("left-out", "warning", &text);
    told["locations"] = json!([{
        "physicalLocation": { "artifactLocation": { "uri": uri(&file.path) } },
    }]);
    told["properties"] = json!({ "why": file.why });
    told
}

fn artifacts(report: &ReviewReport) -> Vec<Value> {
    let artifact = |file: &CoveredFile| {
        json!({
            "location": { "uri": uri(&file.path) },
            "roles": ["analysisTarget"],
            "properties": {
                "status": file.status,
                "changedLines": file.changed_lines,
                "oldPath": file.old_path.as_deref().map(shown),
            },
        })
    };
    report.coverage.reviewed.iter().map(artifact).collect()
}

/// Returns a path as a relative reference: whatever it holds, it names no scheme and no host.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for (index, byte) in path.bytes().enumerate() {
        match byte {
            b'/' if index > 0 => uri.push('/'),
            b'-' | b'.' | b'_' | b'~' | b'+' | b'@' | b'=' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_relative_references() {
        for (path, written) in [
            ("src/db.rs", "src/db.rs"),
            ("a b/ä#1.rs", "a%20b/%C3%A4%231.rs"),
            ("javascript:alert(1)", "javascript%3Aalert%281%29"),
            ("//host/x", "%2F/host/x"),
        ] {
            assert_eq!(uri(path), written);
        }
    }
}
