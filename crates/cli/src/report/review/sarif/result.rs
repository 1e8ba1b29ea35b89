//! One finding as a result of SARIF.

use serde_json::{Value, json};
use tribunal_core::consensus::Verdict;
use tribunal_core::dispute::Precedent;
use tribunal_core::review::report::{FrameLine, ReviewReport, ReviewedFinding, Standing, Voice};

use super::super::arbitrated;
use super::super::facts;
use super::super::shown::{NAME, PROSE, TITLE, one_line, prose, shown};
use super::rules::{RuleTable, level};
use super::uri;

/// Returns the result.
pub(super) fn of(report: &ReviewReport, finding: &ReviewedFinding, rules: &RuleTable) -> Value {
    // A result that is no plain failure has no level, by the standard.
    let (kind, level) = match finding.verdict {
        Verdict::Accepted => ("fail", level(finding.severity)),
        Verdict::Disputed => ("review", "none"),
        Verdict::Rejected => ("informational", "none"),
    };
    let (rule, index) = rules.place_of(finding);
    let mut result = json!({
        "ruleId": rule,
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": { "text": message(finding) },
        "partialFingerprints": { "tribunal/v1": shown(&finding.fingerprint) },
        "rank": finding.confidence.get(),
        "baselineState": match finding.standing {
            Standing::New | Standing::Regressed => "new",
            _ => "unchanged",
        },
        "suppressions": suppressions(finding),
        "properties": properties(report, finding),
    });
    if !finding.location.file.is_empty() {
        result["locations"] = json!([location(finding)]);
    }
    result
}

/// Returns the whole message. A bracket before a parenthesis would make a link of it.
fn message(finding: &ReviewedFinding) -> String {
    let mut text = one_line(&finding.title, TITLE);
    if text.is_empty() {
        text = format!("{} finding without a title", finding.category);
    }
    for (name, part) in [
        ("", &finding.description),
        ("Trigger: ", &finding.trigger),
        ("Fix: ", &finding.suggestion),
    ] {
        if !part.trim().is_empty() {
            text.push_str(&format!("\n\n{name}{}", prose(part)));
        }
    }
    text.push_str(&format!(
        "\n\nSaid by {}.",
        facts::voices_and_ratings(finding)
    ));
    text.replace("](", "] (")
}

fn location(finding: &ReviewedFinding) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(&finding.location.file) } });
    if let Some((first, last)) = finding.location.lines() {
        // Lines count from 1, whatever a reviewer says.
        physical["region"] = json!({ "startLine": first.max(1), "endLine": last.max(1) });
        let marked = finding.frame.iter().filter(|line| line.marked);
        let quoted = snippet(marked);
        if !quoted.is_empty() {
            physical["region"]["snippet"] = json!({ "text": quoted });
        }
        if let [start, .., end] = finding.frame.as_slice() {
            physical["contextRegion"] = json!({
                "startLine": start.number.max(1),
                "endLine": end.number.max(1),
                "snippet": { "text": snippet(finding.frame.iter()) },
            });
        }
    }
    let mut location = json!({ "physicalLocation": physical });
    if let Some(function) = &finding.location.function {
        location["logicalLocations"] =
            json!([{ "name": one_line(function, NAME), "kind": "function" }]);
    }
    location
}

fn snippet<'a>(lines: impl Iterator<Item = &'a FrameLine>) -> String {
    let lines: Vec<_> = lines.map(|line| shown(&line.text)).collect();
    lines.join("\n")
}

/// Returns who set a finding aside. An empty list says that nobody did.
fn suppressions(finding: &ReviewedFinding) -> Value {
    if finding.standing != Standing::Dismissed {
        return json!([]);
    }
    let ruled = finding.precedents.iter().map(Precedent::phrase);
    let team = finding.team_ruling.iter().map(|team| team.phrase());
    let ruled = ruled.chain(team);
    let reasons = finding.reasons.iter().cloned();
    let why: Vec<String> = ruled
        .chain(reasons)
        .map(|why| one_line(&why, PROSE))
        .collect();
    let why = if why.is_empty() {
        "A ruling dismissed it.".to_owned()
    } else {
        why.join(" ")
    };
    json!([{ "kind": "external", "status": "accepted", "justification": why }])
}

fn properties(report: &ReviewReport, finding: &ReviewedFinding) -> Value {
    let voices: Vec<Value> = finding.voices.iter().map(voice).collect();
    let dissent: Vec<Value> = finding
        .dissent
        .iter()
        .map(|one| json!({ "reviewer": shown(&one.reviewer), "says": shown(&one.says) }))
        .collect();
    json!({
        "id": shown(&finding.id),
        "verdict": finding.verdict,
        "standing": finding.standing,
        "severity": finding.severity,
        "label": finding.label,
        "obligation": finding.obligation,
        "blocking": report.binds(finding),
        "counts": finding.counts,
        "escalate": finding.escalate,
        "agreement": finding.agreement,
        "inDiff": finding.in_diff,
        "voices": voices,
        "dissent": dissent,
        "trace": finding.trace,
        "calculation": facts::calculation(&finding.trace),
        "reasons": finding.reasons.iter().map(|why| shown(why)).collect::<Vec<_>>(),
        "reversal": shown(&finding.reversal),
        "arbitration": arbitrated::told_of(report, &finding.id),
    })
}

fn voice(voice: &Voice) -> Value {
    json!({
        "reviewer": shown(&voice.reviewer),
        "family": shown(&voice.family),
        "id": shown(&voice.id),
        "title": shown(&voice.title),
        "severity": voice.severity,
        "confidence": voice.confidence,
        "grounding": voice.grounding,
        "doubts": voice.doubts.iter().map(|doubt| shown(doubt)).collect::<Vec<_>>(),
    })
}
