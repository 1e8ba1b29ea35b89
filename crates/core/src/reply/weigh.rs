//! A judge's weighing under contract: one closed word, the reason, and the nonce of the question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::signed::complete_object;
use crate::scale::{Severity, UnknownWord};
use crate::word::shown_as_word;

/// Which side of a contested finding has the better evidence.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Those who report it.
    For,
    /// Those who say otherwise.
    Against,
    /// Neither clearly.
    Balanced,
}

impl Side {
    /// Returns the word that a judge answers with.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::For => "FOR",
            Self::Against => "AGAINST",
            Self::Balanced => "BALANCED",
        }
    }
}

shown_as_word!(Side);

/// What a judge answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighing {
    /// Which side has the better evidence.
    pub side: Side,
    /// The severity that the evidence bears out, where that was asked.
    pub severity: Option<Severity>,
    /// Why.
    pub reason: String,
}

/// Reads the answer to a question that carried `nonce`, or says what is wrong with it.
///
/// `severities` are those that were stated, when the question is about them; else it is empty.
pub fn read_signed_weighing(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    severities: &[Severity],
) -> Result<Weighing, String> {
    let (value, doubt, beside) = complete_object(text, structured, nonce)?;
    if let Some(doubt) = doubt {
        return Err(doubt.to_owned());
    }
    let side = match value.get("side").and_then(Value::as_str) {
        Some("FOR") => Side::For,
        Some("AGAINST") => Side::Against,
        Some("BALANCED") => Side::Balanced,
        Some(other) => {
            return Err(UnknownWord::new("side", other, "FOR, AGAINST, BALANCED").to_string());
        }
        None => return Err("the answer has no word `side`".to_owned()),
    };
    let mut words = beside.split(|c: char| !c.is_ascii_alphanumeric());
    let is_other =
        |word: &&str| matches!(*word, "FOR" | "AGAINST" | "BALANCED") && *word != side.as_str();
    if let Some(other) = words.find(is_other) {
        return Err(format!(
            "beside the answer stands \"{other}\" and the `side` is {side}; which of them is meant?"
        ));
    }
    let reason = value.get("reason").and_then(Value::as_str);
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    let Some(reason) = reason else {
        return Err("the answer has no `reason`".to_owned());
    };
    Ok(Weighing {
        side,
        severity: severity(&value, side, severities)?,
        reason: reason.to_owned(),
    })
}

fn severity(
    value: &Value,
    side: Side,
    severities: &[Severity],
) -> Result<Option<Severity>, String> {
    let given = value.get("severity").filter(|given| !given.is_null());
    if severities.is_empty() || side != Side::For {
        return match given {
            None => Ok(None),
            Some(_) => Err("`severity` does not go with this answer".to_owned()),
        };
    }
    let word = given
        .and_then(Value::as_str)
        .ok_or("the answer has no `severity`")?;
    let stated = severities.iter().find(|one| one.as_str() == word);
    stated.copied().map(Some).ok_or_else(|| {
        let words: Vec<&str> = severities.iter().map(|one| one.as_str()).collect();
        let shown = crate::text::truncate_chars(word, 60);
        format!(
            "{shown:?} is none of the stated severities {}",
            words.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, severities: &[Severity]) -> String {
        match read_signed_weighing(text, None, "n-7", severities) {
            Ok(read) => format!("{} {:?} {}", read.side, read.severity, read.reason),
            Err(error) => error,
        }
    }

    #[test]
    fn a_weighing_is_one_word_with_a_reason_and_both_marks() {
        let cut = "the answer has no end mark, so it may be cut off";
        let foreign = "the answer does not carry the nonce of the question";
        for (text, expected) in [
            (
                r#"{"nonce":"n-7","side":"FOR","reason":"a.rs:3","end":"n-7"}"#,
                "FOR None a.rs:3",
            ),
            (
                r#"{"nonce":"n-7","side":"BALANCED","severity":null,"reason":"x","end":"n-7"}"#,
                "BALANCED None x",
            ),
            (
                r#"{"nonce":"n-7","side":"for","reason":"x","end":"n-7"}"#,
                "\"for\" is no side; known are FOR, AGAINST, BALANCED",
            ),
            (
                r#"{"nonce":"n-7","side":"FOR","reason":" ","end":"n-7"}"#,
                "the answer has no `reason`",
            ),
            (
                r#"{"nonce":"n-7","side":"FOR","severity":"high","reason":"x","end":"n-7"}"#,
                "`severity` does not go with this answer",
            ),
            (
                r#"{"nonce":"n-7","reason":"x","end":"n-7"}"#,
                "the answer has no word `side`",
            ),
            (r#"{"nonce":"n-7","side":"FOR","reason":"x"}"#, cut),
            (
                r#"{"nonce":"n-1","side":"FOR","reason":"x","end":"n-1"}"#,
                foreign,
            ),
            (
                r#"{"nonce":"n-7","side":"FOR","reason":"x","end":"n-7"} {"nonce":"n-7","side":"AGAINST","reason":"x","end":"n-7"}"#,
                "two answers with the nonce contradict each other",
            ),
            (
                r#"{"nonce":"n-7","side":"AGAINST","reason":"x y","end":"n-7"} Rather FOR."#,
                "beside the answer stands \"FOR\" and the `side` is AGAINST; which of them is meant?",
            ),
            ("", "the answer is empty"),
        ] {
            assert_eq!(read(text, &[]), expected, "{text}");
        }
    }

    #[test]
    fn a_severity_is_one_of_those_that_were_stated() {
        let stated = [Severity::Critical, Severity::Low];
        for (severity, expected) in [
            (r#""low""#, "FOR Some(Low) x"),
            (
                r#""medium""#,
                "\"medium\" is none of the stated severities critical, low",
            ),
            (
                r#""LOW""#,
                "\"LOW\" is none of the stated severities critical, low",
            ),
            ("3", "the answer has no `severity`"),
            ("null", "the answer has no `severity`"),
        ] {
            let text = format!(
                r#"{{"nonce":"n-7","side":"FOR","severity":{severity},"reason":"x","end":"n-7"}}"#
            );
            assert_eq!(read(&text, &stated), expected, "{severity}");
        }
    }
}
