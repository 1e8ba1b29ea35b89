//! A small language for reviews, so that a case reads as what was said and what came of it.
//!
//! ```text
//! ann(anthropic): HIGH bug 85% src/db.rs:10 "query built by hand" fix="use a parameter"
//! bob(openai) disagrees a1 -10 "the value is a constant"
//! ann concedes a1
//! ```
//!
//! Findings are called by the first letter of their reviewer and a number: `a1`, `a2`, `b1`.

#![allow(dead_code, reason = "each binary uses a part of it")]

use std::collections::BTreeMap;

use tribunal_core::consensus::{
    Advisory, AdvisoryOutcome, Group, Input, Judgement, Kind, Reviewer, Settlement,
};
use tribunal_core::finding::{Category, Finding, Grounding};
use tribunal_core::reply::Side;
use tribunal_core::review::{Defense, Examination, Plea, Stance};
use tribunal_core::scale::{Adjustment, Confidence, Severity};

/// Reads the lines of a case.
pub(crate) fn input(lines: &[&str]) -> Input {
    let mut input = Input::default();
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    for line in lines {
        let words = words(line);
        let verb = words.get(1).map_or("", String::as_str);
        match (words[0].as_str(), verb) {
            ("panel:", _) => input
                .panel
                .extend(words[1..].iter().map(|word| reviewer(word))),
            ("silent:", _) => input.silent.extend(words[1..].iter().cloned()),
            ("judge", _) => input.judgements.push(judgement(&words)),
            ("osv", _) => input.advisories.push(advisory(&words)),
            (_, "agrees" | "partly" | "disagrees" | "sees") => {
                input.examinations.push(examination(&words, &mut numbers));
            }
            (_, "defends" | "concedes" | "modifies") => input.defenses.push(defense(&words)),
            (author, _) if author.ends_with(':') => {
                input.findings.push(finding(&words, &mut numbers));
            }
            _ => panic!("no such line: {line}"),
        }
    }
    input
}

/// Renders a group as cases expect it: verdict, severity, confidence, agreement, members.
pub(crate) fn outcome(settlement: &Settlement, group: &Group) -> String {
    let ids = group.members.iter();
    let mut ids: Vec<&str> = ids
        .map(|&member| settlement.findings[member as usize].id.as_str())
        .collect();
    ids[1..].sort_unstable();
    let kind = match group.kind {
        Kind::Agreed => group.agreement.to_string(),
        Kind::Unique => "single".to_owned(),
        Kind::Conflicted(about) => format!("conflict({about})"),
    };
    let urgent = if group.escalate { " ESCALATE" } else { "" };
    format!(
        "{} {} {} {kind} {}{urgent}",
        group.verdict,
        group.severity,
        group.confidence,
        ids.join(" ")
    )
}

fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("never empty").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn reviewer(word: &str) -> Reviewer {
    let word = word.trim_end_matches([':', ',']);
    let (name, family) = word.split_once('(').unwrap_or((word, word));
    Reviewer {
        name: name.to_owned(),
        family: family.trim_end_matches(')').to_owned(),
    }
}

fn finding(words: &[String], numbers: &mut BTreeMap<String, u32>) -> Finding {
    let author = reviewer(&words[0]);
    let number = numbers.entry(author.name.clone()).or_default();
    *number += 1;
    let mut finding = Finding {
        id: format!("{}{number}", &author.name[..1]),
        reviewer: author.name,
        family: author.family,
        ..Finding::default()
    };
    for word in &words[1..] {
        attribute(&mut finding, word);
    }
    finding
}

fn attribute(finding: &mut Finding, word: &str) {
    if let Some((key, value)) = word.split_once('=') {
        let value = value.to_owned();
        match key {
            "id" => finding.id = value,
            "fn" => finding.location.function = Some(value),
            "desc" => finding.description = value,
            "fix" => finding.suggestion = value,
            "quote" => finding.quote = value,
            "trigger" => finding.trigger = value,
            "ground" => {
                finding.grounding = match value.as_str() {
                    "confirmed" => Grounding::Confirmed,
                    "doubtful" => Grounding::Doubtful,
                    "refuted" => Grounding::Refuted,
                    _ => panic!("no such grounding: {value}"),
                }
            }
            _ => panic!("no such attribute: {key}"),
        }
    } else if let Ok(severity) = word.parse::<Severity>() {
        finding.severity = Some(severity);
    } else if let Ok(label) = word.parse() {
        finding.label = Some(label);
    } else if let Ok(category) = word.parse::<Category>() {
        finding.category = Some(category);
    } else if let Some(percent) = word.strip_suffix('%') {
        let number = percent.parse().expect("a number before %");
        finding.confidence = Some(Confidence::new(number).expect("0 to 100"));
    } else if let Some((file, lines)) = place(word) {
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        finding.location.file = file.to_owned();
        finding.location.line = first.parse().ok();
        finding.location.end_line = last.parse().ok();
    } else {
        finding.title = word.to_owned();
    }
}

fn place(word: &str) -> Option<(&str, &str)> {
    let (file, lines) = word.rsplit_once(':')?;
    (file.contains('.') && !file.contains(' ')).then_some((file, lines))
}

fn examination(words: &[String], numbers: &mut BTreeMap<String, u32>) -> Examination {
    let author = reviewer(&words[0]);
    let mut examination = Examination {
        reviewer: author.name,
        family: author.family,
        finding_id: words[2].clone(),
        original_model: None,
        stance: match words[1].as_str() {
            "agrees" | "sees" => Stance::Agree,
            "partly" => Stance::Partial,
            _ => Stance::Disagree,
        },
        adjustment: Adjustment::NONE,
        reasoning: String::new(),
        new_observations: Vec::new(),
    };
    if words[1] == "sees" {
        let mut seen = words[2..].to_vec();
        seen[0] = format!("{}:", words[0]);
        examination.new_observations.push(finding(&seen, numbers));
        return examination;
    }
    for word in &words[3..] {
        match (word.split_once('='), amount(word)) {
            (Some(("of", author)), _) => examination.original_model = Some(author.to_owned()),
            (_, Some(adjustment)) => examination.adjustment = adjustment,
            _ => examination.reasoning.clone_from(word),
        }
    }
    examination
}

fn defense(words: &[String]) -> Defense {
    let mut defense = Defense {
        reviewer: reviewer(&words[0]).name,
        finding_id: words[2].clone(),
        plea: match words[1].as_str() {
            "defends" => Plea::Defend,
            "concedes" => Plea::Concede,
            _ => Plea::Modify,
        },
        adjustment: Adjustment::NONE,
        reasoning: String::new(),
        revised_severity: None,
        revised_description: None,
    };
    for word in &words[3..] {
        match (word.split_once('='), amount(word)) {
            (Some(("severity", level)), _) => {
                defense.revised_severity = Some(level.parse().expect("a severity"));
            }
            (Some(("desc", text)), _) => defense.revised_description = Some(text.to_owned()),
            (_, Some(adjustment)) => defense.adjustment = adjustment,
            _ => defense.reasoning.clone_from(word),
        }
    }
    defense
}

fn advisory(words: &[String]) -> Advisory {
    let name = || words[3].clone();
    Advisory {
        finding_id: words[2].clone(),
        reviewer: None,
        outcome: match words[1].as_str() {
            "confirms" => AdvisoryOutcome::Confirmed(name()),
            "patched" => AdvisoryOutcome::Patched(name()),
            _ => AdvisoryOutcome::Unknown,
        },
    }
}

fn judgement(words: &[String]) -> Judgement {
    let severity = words[3].strip_prefix("severity=");
    Judgement {
        finding_id: words[2].clone(),
        reviewer: None,
        judge: "jim".to_owned(),
        side: match words[1].as_str() {
            "for" => Side::For,
            "against" => Side::Against,
            _ => Side::Balanced,
        },
        severity: severity.map(|level| level.parse().expect("a severity")),
        reason: words.last().cloned().unwrap_or_default(),
    }
}

fn amount(word: &str) -> Option<Adjustment> {
    if !word.starts_with(['+', '-']) {
        return None;
    }
    let number = word.parse().ok()?;
    Some(Adjustment::new(number).expect("-30 to 30"))
}
