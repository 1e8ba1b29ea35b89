//! Rounds 2 and 3: examinations, defenses and signals, in both forms in which they are sent.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Problem;
use super::fields::Fields;
use super::find::{Author, findings_in_value};
use super::json::extract;
use crate::review::{Defense, Examination, Plea, Stance};
use crate::scale::{Adjustment, Severity, UnknownWord};

/// One thing said in a debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Round 2.
    Examination(Examination),
    /// Round 3.
    Defense(Defense),
    /// From the lead.
    Signal(Signal),
}

/// What the lead says about the course of the debate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// All answers of this round were sent.
    RoundComplete(u8),
    /// The debate should end.
    ShutdownRequest {
        /// The id to answer to.
        request_id: String,
    },
}

/// What was read from a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Messages {
    /// What was said, in order.
    pub messages: Vec<Message>,
    /// What could not be used. An answer with a wrong number or word is not counted at all.
    pub problems: Vec<Problem>,
}

/// Reads a message of a debate. `sender` is its author unless the message names a model itself.
#[must_use]
pub fn read_messages(text: &str, sender: &Author) -> Messages {
    let mut read = Messages::default();
    if let Some(round) = completed_round(text) {
        read.messages
            .push(Message::Signal(Signal::RoundComplete(round)));
        return read;
    }
    match extract(text) {
        Ok(answer) => {
            read_value(&answer.value, "", sender, &answer.doubled, &mut read);
            read.problems.extend(answer.problems());
        }
        Err(error) => read.problems.push(Problem {
            at: String::new(),
            what: error.to_string(),
        }),
    }
    read
}

fn completed_round(text: &str) -> Option<u8> {
    let bare = text.trim().trim_matches('"');
    let round = bare.strip_prefix("ROUND ")?.strip_suffix(" COMPLETE")?;
    round.parse().ok()
}

/// Reads one message or several. `doubled` are the keys that had two values.
fn read_value(
    value: &Value,
    at: &str,
    sender: &Author,
    doubled: &BTreeSet<String>,
    read: &mut Messages,
) {
    match value {
        Value::Array(list) => {
            for (index, item) in list.iter().enumerate() {
                read_one(item, &format!("{at}[{index}]"), sender, doubled, read);
            }
        }
        Value::Object(object) => {
            let batch = ["responses", "defenses"]
                .into_iter()
                .find_map(|name| Some((name, object.get(name)?)));
            let Some((name, list)) = batch else {
                return read_one(value, at, sender, doubled, read);
            };
            // A forwarded answer names its own author; the lead only passes it on.
            let author = match object.get("model").and_then(Value::as_str) {
                Some(model) if model != sender.reviewer => Author {
                    reviewer: model.to_owned(),
                    family: String::new(),
                },
                _ => sender.clone(),
            };
            match list {
                Value::Array(_) => read_value(list, name, &author, doubled, read),
                _ => problem(read, name, "a list was expected"),
            }
        }
        _ => problem(read, at, "an object was expected"),
    }
}

fn read_one(
    value: &Value,
    at: &str,
    sender: &Author,
    doubled: &BTreeSet<String>,
    read: &mut Messages,
) {
    let Value::Object(object) = value else {
        return problem(read, at, "an object was expected");
    };
    // A message that says two things at once says nothing, nor does one of two authors.
    let within = |path: &String| {
        path.strip_prefix(at)
            .is_some_and(|rest| !rest.starts_with('['))
    };
    let beside = |path: &String| !path.contains('[');
    if doubled.iter().any(|path| within(path) || beside(path)) {
        return;
    }
    if object.get("type").and_then(Value::as_str) == Some("shutdown_request") {
        let ids = ["request_id", "requestId"];
        let id = ids.iter().find_map(|name| object.get(*name)?.as_str());
        let request_id = id.unwrap_or_default().to_owned();
        read.messages
            .push(Message::Signal(Signal::ShutdownRequest { request_id }));
        return;
    }
    let mut problems = Vec::new();
    let mut fields = Fields {
        object,
        at: at.to_owned(),
        problems: &mut problems,
    };
    let action = fields.text(&["action", "stance", "verdict"]);
    let message = if let Some(stance) = stance(&action) {
        examination(&mut fields, stance, sender).map(Message::Examination)
    } else if let Some(plea) = plea(&action) {
        defense(&mut fields, plea, sender).map(Message::Defense)
    } else {
        let known = "agree, partial, disagree, defend, concede, modify";
        let at = fields.path("action");
        let unknown = UnknownWord::new("action", &action, known);
        fields.report(at, &unknown.to_string());
        None
    };
    read.messages.extend(message);
    read.problems.extend(problems);
}

pub(super) fn examination(
    fields: &mut Fields<'_>,
    stance: Stance,
    sender: &Author,
) -> Option<Examination> {
    let finding_id = named_finding(fields)?;
    let adjustment = adjustment(fields)?;
    let original = fields.text(&["original_model", "target_model"]);
    let mut new_observations = Vec::new();
    if let Some((at, value)) = fields.get(&["new_observations"]) {
        let seen = findings_in_value(value, sender);
        new_observations = seen.findings;
        for problem in seen.problems {
            fields.report(format!("{at}{}", problem.at), &problem.what);
        }
    }
    Some(Examination {
        reviewer: sender.reviewer.clone(),
        family: sender.family.clone(),
        finding_id,
        original_model: (!original.is_empty()).then_some(original),
        stance,
        adjustment,
        reasoning: fields.text(&["reasoning", "reason"]),
        new_observations,
    })
}

pub(super) fn defense(fields: &mut Fields<'_>, plea: Plea, sender: &Author) -> Option<Defense> {
    let finding_id = named_finding(fields)?;
    let adjustment = adjustment(fields)?;
    let unreadable = fields.problems.len();
    let revised_severity = fields.word(&["revised_severity"], str::parse::<Severity>);
    if fields.problems.len() > unreadable {
        return None;
    }
    let revised = fields.text(&["revised_description"]);
    Some(Defense {
        reviewer: sender.reviewer.clone(),
        finding_id,
        plea,
        adjustment,
        reasoning: fields.text(&["reasoning", "reason"]),
        revised_severity,
        revised_description: (!revised.is_empty()).then_some(revised),
    })
}

fn named_finding(fields: &mut Fields<'_>) -> Option<String> {
    let id = fields.text(&["finding_id", "id", "finding"]);
    if id.is_empty() {
        let at = fields.path("finding_id");
        fields.report(at, "it does not say which finding it is about");
        return None;
    }
    Some(id)
}

/// Returns the adjustment, 0 when none is given, nothing when it is out of range.
fn adjustment(fields: &mut Fields<'_>) -> Option<Adjustment> {
    let names = ["confidence_adjustment", "adjustment"];
    let Some((at, _)) = fields.get(&names) else {
        return Some(Adjustment::NONE);
    };
    match Adjustment::new(fields.integer(&names)?) {
        Ok(adjustment) => Some(adjustment),
        Err(error) => {
            fields.report(at, &error.to_string());
            None
        }
    }
}

fn stance(word: &str) -> Option<Stance> {
    match word.to_ascii_lowercase().as_str() {
        "agree" | "support" => Some(Stance::Agree),
        "partial" => Some(Stance::Partial),
        "disagree" | "challenge" => Some(Stance::Disagree),
        _ => None,
    }
}

fn plea(word: &str) -> Option<Plea> {
    match word.to_ascii_lowercase().as_str() {
        "defend" => Some(Plea::Defend),
        "concede" | "withdraw" => Some(Plea::Concede),
        "modify" => Some(Plea::Modify),
        _ => None,
    }
}

fn problem(read: &mut Messages, at: &str, what: &str) {
    read.problems.push(Problem {
        at: at.to_owned(),
        what: what.to_owned(),
    });
}
