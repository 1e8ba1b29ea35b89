//! The signed answers of a trial: contestants and judges as the arbiter designs them, and scores.
//!
//! An answer counts whole or not at all. Whoever invents a contestant, forgets one, leaves the scale
//! or gives no reason is asked again, and told what was wrong.

use std::collections::BTreeSet;

use serde_json::Value;

use super::signed::signed_object;
use crate::ids::AgentName;
use crate::text::truncate_chars;
use crate::trial::archetype::Design;
use crate::trial::{Evaluation, MOST_CRITERIA, Scorecard, unmask};
use crate::verdict::Points;

/// Longest name that is taken over.
const LONGEST_NAME: usize = 60;

/// A contestant as the arbiter designs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignedContestant {
    /// Its name for people.
    pub name: String,
    /// As whom it answers.
    pub persona: String,
    /// What it cares about most.
    pub focus: String,
    /// The agent that is to answer.
    pub agent: AgentName,
    /// The sampling temperature in thousandths, where one was given.
    pub temperature_milli: Option<u32>,
}

/// Reads the contestants that the arbiter designed: exactly `count`, of the agents given.
pub fn read_signed_contestants(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    count: usize,
    agents: &[AgentName],
) -> Result<Vec<DesignedContestant>, String> {
    let value = signed_object(text, structured, nonce)?;
    let listed = list(&value, "", "contestants")?;
    if listed.len() != count {
        return Err(format!(
            "`contestants` holds {} entries, and {count} were asked for",
            listed.len()
        ));
    }
    let mut names = BTreeSet::new();
    let mut designed = Vec::new();
    for (index, one) in listed.iter().enumerate() {
        let at = format!("contestants[{index}]");
        let name = name_of(one, &at, &mut names)?;
        let agent = text_of(one, &at, "agent")?;
        let known = agents.iter().find(|known| known.as_str() == agent);
        let agent = known.cloned().ok_or_else(|| {
            let known: Vec<&str> = agents.iter().map(AgentName::as_str).collect();
            let agent = truncate_chars(&agent, LONGEST_NAME).into_owned();
            format!(
                "{at}.agent: {agent:?} is no agent; there are {}",
                known.join(", ")
            )
        })?;
        designed.push(DesignedContestant {
            name,
            persona: text_of(one, &at, "persona")?,
            focus: text_of(one, &at, "focus")?,
            agent,
            temperature_milli: temperature(one, &at)?,
        });
    }
    Ok(designed)
}

/// Reads the judges that the arbiter designed, at most `most`, with the reasons for the panel.
///
/// `labels` are the words by which answers can be called; each judge's reason must use one.
pub fn read_signed_panel(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    most: usize,
    labels: &[String],
) -> Result<(String, Vec<Design>), String> {
    let value = signed_object(text, structured, nonce)?;
    let reasoning = text_of(&value, "", "reasoning")?;
    let listed = list(&value, "", "judges")?;
    if listed.is_empty() || listed.len() > most {
        return Err(format!(
            "`judges` holds {} entries; between 1 and {most} were asked for",
            listed.len()
        ));
    }
    let mut names = BTreeSet::new();
    let mut judges = Vec::new();
    for (index, one) in listed.iter().enumerate() {
        let at = format!("judges[{index}]");
        let reasoning = text_of(one, &at, "reasoning")?;
        if !labels.iter().any(|label| mentions(&reasoning, label)) {
            return Err(format!(
                "{at}.reasoning: it names none of the answers; call at least one by its label, such as {}",
                labels.first().map_or("", String::as_str)
            ));
        }
        let criteria = match one.get("criteria") {
            Some(_) => texts(one, &at, "criteria")?,
            None => texts(one, &at, "evaluationCriteria")
                .map_err(|_| format!("{at}: there is no list `criteria`"))?,
        };
        if criteria.is_empty() || criteria.len() > MOST_CRITERIA {
            return Err(format!(
                "{at}.criteria: it holds {} entries; between 1 and {MOST_CRITERIA} were asked for",
                criteria.len()
            ));
        }
        judges.push(Design {
            name: name_of(one, &at, &mut names)?,
            focus: text_of(one, &at, "focus")?,
            criteria,
            reasoning,
        });
    }
    Ok((reasoning, judges))
}

/// Reads one judge's scores. `labels` are the neutral labels with the id and the name behind each,
/// in the order in which the judge saw them.
pub fn read_signed_scores(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    labels: &[Masked],
) -> Result<Evaluation, String> {
    let value = signed_object(text, structured, nonce)?;
    let listed = list(&value, "", "evaluations")?;
    let names: Vec<(String, String)> = labels
        .iter()
        .map(|one| (one.label.clone(), one.name.clone()))
        .collect();
    let mut cards: Vec<(usize, Scorecard)> = Vec::new();
    for (index, one) in listed.iter().enumerate() {
        let at = format!("evaluations[{index}]");
        let label = text_of(one, &at, "id")?;
        let Some(place) = labels.iter().position(|known| known.label == label) else {
            let known: Vec<&str> = labels.iter().map(|one| one.label.as_str()).collect();
            let label = truncate_chars(&label, LONGEST_NAME).into_owned();
            let known = known.join(", ");
            return Err(format!("{at}.id: {label:?} is none of the answers {known}"));
        };
        if cards.iter().any(|(taken, _)| *taken == place) {
            return Err(format!("{at}.id: {label} was scored twice"));
        }
        let reveal = |texts: Vec<String>| texts.iter().map(|text| unmask(text, &names)).collect();
        let card = Scorecard {
            contestant: labels[place].id.clone(),
            score: score(one, &at)?,
            strengths: reveal(texts(one, &at, "strengths")?),
            weaknesses: reveal(texts(one, &at, "weaknesses")?),
            reasoning: unmask(&text_of(one, &at, "reasoning")?, &names),
        };
        cards.push((place, card));
    }
    let scored = |place: usize| cards.iter().any(|(taken, _)| *taken == place);
    let missing = (0..labels.len()).filter(|place| !scored(*place));
    let missing: Vec<&str> = missing.map(|place| labels[place].label.as_str()).collect();
    if !missing.is_empty() {
        return Err(format!("there is no score for {}", missing.join(", ")));
    }
    cards.sort_by_key(|(place, _)| *place);
    Ok(Evaluation {
        cards: cards.into_iter().map(|(_, card)| card).collect(),
        summary: unmask(&text_of(&value, "", "summary")?, &names),
    })
}

/// A contestant behind a neutral label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The label.
    pub label: String,
    /// The contestant's id.
    pub id: String,
    /// The contestant's name for people.
    pub name: String,
}

/// Returns a number from 0 to 100, also one that is written as text. Nothing is moved into the scale.
fn score(value: &Value, at: &str) -> Result<Points, String> {
    let given = value.get("score").filter(|score| !score.is_null());
    let given = given.ok_or_else(|| format!("{at}: there is no `score`"))?;
    let points = match given {
        Value::Number(number) => number.to_string().parse::<Points>().ok(),
        Value::String(text) => text.trim().parse::<Points>().ok(),
        _ => None,
    };
    let points = points.filter(|points| points.is_score());
    points.ok_or_else(|| {
        let given = truncate_chars(&given.to_string(), LONGEST_NAME).into_owned();
        format!("{at}.score: {given} is no number from 0 to 100")
    })
}

fn temperature(value: &Value, at: &str) -> Result<Option<u32>, String> {
    let Some(given) = value.get("temperature").filter(|one| !one.is_null()) else {
        return Ok(None);
    };
    let milli = match given {
        Value::Number(number) => number.to_string().parse::<Points>().ok(),
        _ => None,
    };
    let milli = milli.filter(|one| (Points::ZERO..=Points::whole(2)).contains(one));
    let milli = milli.map(Points::thousandths);
    milli
        .map(Some)
        .ok_or_else(|| format!("{at}.temperature: it is no number from 0 to 2"))
}

fn list<'v>(value: &'v Value, at: &str, key: &str) -> Result<&'v Vec<Value>, String> {
    let found = value.get(key).and_then(Value::as_array);
    found.ok_or_else(|| format!("{}there is no list `{key}`", prefix(at)))
}

fn text_of(value: &Value, at: &str, key: &str) -> Result<String, String> {
    let text = value.get(key).and_then(Value::as_str).map(str::trim);
    let text = text.filter(|text| !text.is_empty());
    text.map(str::to_owned)
        .ok_or_else(|| format!("{}there is no text `{key}`", prefix(at)))
}

fn texts(value: &Value, at: &str, key: &str) -> Result<Vec<String>, String> {
    let entries = list(value, at, key)?.iter().map(|entry| {
        let text = entry
            .as_str()
            .map(str::trim)
            .filter(|text| !text.is_empty());
        text.map(str::to_owned)
            .ok_or_else(|| format!("{}an entry of `{key}` is no text", prefix(at)))
    });
    entries.collect()
}

fn prefix(at: &str) -> String {
    match at.is_empty() {
        true => String::new(),
        false => format!("{at}: "),
    }
}

fn name_of(value: &Value, at: &str, taken: &mut BTreeSet<String>) -> Result<String, String> {
    let name = text_of(value, at, "name")?;
    let name = truncate_chars(
        &crate::text::for_terminal(&name).replace('\n', " "),
        LONGEST_NAME,
    )
    .into_owned();
    match taken.insert(name.to_lowercase()) {
        true => Ok(name),
        false => Err(format!("{at}.name: {name:?} stands there twice")),
    }
}

/// Tells whether `text` holds `label` as words of their own, whatever their case.
fn mentions(text: &str, label: &str) -> bool {
    let (text, label) = (text.to_lowercase(), label.to_lowercase());
    let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(&label)) {
        let start = from + found;
        let end = start + label.len();
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        if apart(before) && apart(after) {
            return true;
        }
        from = end;
    }
    false
}

#[cfg(test)]
mod tests;
