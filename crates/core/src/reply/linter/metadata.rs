//! What SARIF says about rules: their level, their weight, and what they are about.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rules::{Kind, Level, Weight, kind_of_word, ruff, rust, weigh};
use super::sink::{Sink, text, value_at};
use super::tables::eslint;
use crate::finding::Category;
use crate::scale::Severity;

/// The rules of one run: of the tool itself and of its extensions.
pub(in crate::reply) struct Rules<'a> {
    /// Name of the tool.
    pub(in crate::reply) tool: &'a str,
    /// The tool and its extensions, each with its rules in their order.
    components: Vec<&'a [Value]>,
    by_id: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Rules<'a> {
    pub(in crate::reply) fn of(run: &'a Value) -> Self {
        let rules_of = |component: &'a Value| {
            let rules = component.get("rules").and_then(Value::as_array);
            rules.map(Vec::as_slice).unwrap_or_default()
        };
        let extensions = value_at(run, "/tool/extensions").and_then(Value::as_array);
        let driver = value_at(run, "/tool/driver");
        let mut components = vec![driver.map(rules_of).unwrap_or_default()];
        components.extend(extensions.into_iter().flatten().map(rules_of));
        let mut by_id = BTreeMap::new();
        for rule in components.iter().copied().flatten() {
            by_id.entry(text(rule, "/id")).or_insert(rule);
        }
        Self {
            tool: text(run, "/tool/driver/name"),
            components,
            by_id,
        }
    }

    /// Returns the rule of a result, by its name or by its place in the list.
    pub(in crate::reply) fn rule(&self, result: &Value) -> Option<&'a Value> {
        let number = |pointer: &str| {
            let number = value_at(result, pointer)?.as_u64()?;
            usize::try_from(number).ok()
        };
        let component = number("/rule/toolComponent/index").map_or(0, |index| index + 1);
        let index = number("/ruleIndex").or_else(|| number("/rule/index"));
        let listed = index.and_then(|index| self.components.get(component)?.get(index));
        let named = text(result, "/ruleId");
        let named = if named.is_empty() {
            text(result, "/rule/id")
        } else {
            named
        };
        // The name of a special case begins with that of its rule: `CA1000/1`.
        let above = named.rsplit_once('/').map_or("", |(above, _)| above);
        listed
            .or_else(|| self.by_id.get(named).copied())
            .or_else(|| self.by_id.get(above).copied().filter(|_| !above.is_empty()))
    }
}

/// Tools whose rules we know, whatever format they write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reply) enum Known {
    Rust,
    Ruff,
    Eslint,
    Biome,
    Nothing,
}

/// Returns whose rules those of `tool` are.
pub(in crate::reply) fn known_tool(tool: &str) -> Known {
    let tool = tool.to_ascii_lowercase();
    let is = |word: &str| tool.contains(word);
    if is("clippy") || is("rustc") {
        Known::Rust
    } else if is("ruff") {
        Known::Ruff
    } else if is("eslint") || is("oxlint") {
        Known::Eslint
    } else if is("biome") {
        Known::Biome
    } else {
        Known::Nothing
    }
}

/// Returns what a result is worth.
pub(in crate::reply) fn weight(
    result: &Value,
    rule: Option<&Value>,
    id: &str,
    known: Known,
    at: &str,
    sink: &mut Sink<'_>,
) -> Weight {
    let level = level(result, rule, at, sink);
    let (kind, level) = kind(result, rule, id, known, level);
    let mut weight = weigh(kind, level.unwrap_or(Level::Note));
    if level.is_none() {
        weight.severity = None;
    }
    if let Some(score) = security_severity(result, rule, at, sink) {
        weight.category = Some(Category::Security);
        weight.severity = Some(score);
    }
    let precision = rule.map_or("", |rule| text(rule, "/properties/precision"));
    match precision {
        "very-high" => weight.confidence = 90,
        "high" => weight.confidence = 80,
        "medium" => weight.confidence = 65,
        "low" => weight.confidence = 45,
        _ => {}
    }
    if let Some(rank) = rank(result, rule, at, sink) {
        weight.confidence = rank;
    }
    weight
}

/// Returns the level of a result, which its rule may supply; nothing for a word that is none.
fn level(result: &Value, rule: Option<&Value>, at: &str, sink: &mut Sink<'_>) -> Option<Level> {
    let by_rule = || rule.map_or("", |rule| text(rule, "/defaultConfiguration/level"));
    let word = match text(result, "/level") {
        "" => by_rule(),
        word => word,
    };
    match word {
        "error" => Some(Level::Error),
        "warning" | "" => Some(Level::Warning),
        "note" | "none" => Some(Level::Note),
        other => {
            let what = format!("{other:?} is no level; known are error, warning, note, none");
            sink.problem(&format!("{at}.level"), &what);
            None
        }
    }
}

fn kind(
    result: &Value,
    rule: Option<&Value>,
    id: &str,
    known: Known,
    level: Option<Level>,
) -> (Kind, Option<Level>) {
    if is_weakness(result, rule) {
        return (Kind::Security, level);
    }
    let group = |id: &str| id.split('/').nth(1).and_then(kind_of_word);
    match known {
        Known::Rust => (rust(id), level),
        Known::Eslint => (eslint(id), level),
        Known::Biome => (group(id).unwrap_or(Kind::Other), level),
        // All results of Ruff have the same level.
        Known::Ruff => {
            let (kind, level) = ruff(id);
            (kind, Some(level))
        }
        Known::Nothing => {
            let tagged = tags(result, rule).find_map(kind_of_word);
            (tagged.unwrap_or(Kind::Unknown), level)
        }
    }
}

fn tags<'v>(result: &'v Value, rule: Option<&'v Value>) -> impl Iterator<Item = &'v str> {
    let of = |value: &'v Value| value_at(value, "/properties/tags")?.as_array();
    let lists = [of(result), rule.and_then(of)];
    let tags = lists.into_iter().flatten().flatten();
    tags.filter_map(Value::as_str)
}

/// Tells whether a result names a weakness of the CWE list, or calls itself security.
fn is_weakness(result: &Value, rule: Option<&Value>) -> bool {
    let is_cwe = |word: &str| word.to_ascii_lowercase().contains("cwe-");
    let by_tag = tags(result, rule).any(|tag| tag.eq_ignore_ascii_case("security") || is_cwe(tag));
    let listed = |value: Option<&Value>| {
        let list = value.and_then(Value::as_array);
        list.into_iter().flatten().any(|one| {
            let names = ["/toolComponent/name", "/target/toolComponent/name"];
            let of_cwe = |pointer: &&str| text(one, pointer).eq_ignore_ascii_case("CWE");
            names.iter().any(of_cwe) || is_cwe(text(one, "/id"))
        })
    };
    by_tag || listed(result.get("taxa")) || listed(rule.and_then(|rule| rule.get("relationships")))
}

/// Returns the severity that the score from 0 to 10 of a weakness stands for.
fn security_severity(
    result: &Value,
    rule: Option<&Value>,
    at: &str,
    sink: &mut Sink<'_>,
) -> Option<Severity> {
    let of = |value: &'_ Value| value_at(value, "/properties/security-severity").cloned();
    let given = of(result).or_else(|| rule.and_then(of))?;
    let score = match &given {
        Value::String(text) => text.trim().parse::<f64>().ok(),
        number => number.as_f64(),
    };
    match score {
        Some(score) if (9.0..=10.0).contains(&score) => Some(Severity::Critical),
        Some(score) if (7.0..9.0).contains(&score) => Some(Severity::High),
        Some(score) if (4.0..7.0).contains(&score) => Some(Severity::Medium),
        Some(score) if (0.0..4.0).contains(&score) => Some(Severity::Low),
        _ => {
            let what = "the security-severity must be a number from 0 to 10";
            sink.problem(at, what);
            None
        }
    }
}

/// Returns the rank from 0 to 100 that the tool gives to a result; -1 means none.
fn rank(result: &Value, rule: Option<&Value>, at: &str, sink: &mut Sink<'_>) -> Option<u8> {
    let by_rule = || value_at(rule?, "/defaultConfiguration/rank");
    let given = result.get("rank").or_else(by_rule)?.as_f64()?;
    if (0.0..=100.0).contains(&given) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked above"
        )]
        return Some(given.round() as u8);
    }
    if !(-1.0..0.0).contains(&given) {
        sink.problem(at, "the rank must be a number from 0 to 100");
    }
    None
}
