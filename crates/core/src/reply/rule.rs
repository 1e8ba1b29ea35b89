//! A judge's ruling under contract: one closed word, the reason, what would reverse it, the nonce.

use serde_json::Value;

use super::signed::signed_object;
use crate::dispute::Answer;

/// What a judge answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeAnswer {
    /// The word.
    pub answer: Answer,
    /// Why.
    pub reason: String,
    /// What would reverse it.
    pub reversal: String,
}

/// What a reason says when it argues for the other ruling, in small letters.
const FOR_THE_REVIEWER: [&str; 9] = [
    "the reviewer is right",
    "the finding is right",
    "the finding is correct",
    "the finding is valid",
    "the coder is wrong",
    "the objection fails",
    "the objection is wrong",
    "must be enforced",
    "must be fixed",
];
const FOR_THE_CODER: [&str; 9] = [
    "the coder is right",
    "the objection is right",
    "the objection is correct",
    "the objection is valid",
    "the objection holds",
    "the reviewer is wrong",
    "the finding is wrong",
    "must be dismissed",
    "should be dismissed",
];

/// A reason has at least so many letters and digits.
const SHORTEST_REASON: usize = 6;

impl JudgeAnswer {
    /// Returns the answer if its reason is one and does not contradict the ruling, or says what is
    /// wrong with it.
    pub fn checked(self) -> Result<Self, String> {
        let letters = self.reason.chars().filter(|c| c.is_alphanumeric()).count();
        // Not all languages put blanks between words.
        let is_one_word = self.reason.is_ascii() && self.reason.split_whitespace().count() < 2;
        if is_one_word || letters < SHORTEST_REASON {
            return Err("the `reason` is not a reason; write a sentence".to_owned());
        }
        let contradiction = |word: &str| {
            let ruling = self.answer;
            format!(
                "the `reason` says \"{word}\" and the `ruling` is {ruling}; which of them is meant?"
            )
        };
        let words = self.reason.split(|c: char| !c.is_ascii_alphanumeric());
        for word in words {
            let other = word.parse::<Answer>().ok();
            // A judge who escalates may say between what.
            let is_other = other.is_some_and(|other| other != self.answer);
            if is_other && self.answer != Answer::Escalate {
                return Err(contradiction(word));
            }
        }
        let against: &[&str] = match self.answer {
            Answer::Dismiss => &FOR_THE_REVIEWER,
            Answer::Enforce => &FOR_THE_CODER,
            Answer::Escalate => &[],
        };
        let reason = self.reason.to_lowercase();
        match against.iter().find(|phrase| reason.contains(**phrase)) {
            Some(phrase) => Err(contradiction(phrase)),
            None => Ok(self),
        }
    }
}

/// Reads the answer to a question that carried `nonce`, or says what is wrong with it.
pub fn read_signed_ruling(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
) -> Result<JudgeAnswer, String> {
    let value = signed_object(text, structured, nonce)?;
    let word = value.get("ruling").and_then(Value::as_str);
    let word = word.ok_or("the answer has no word `ruling`")?;
    let answer: Answer = word.parse().map_err(|error| format!("{error}"))?;
    Ok(JudgeAnswer {
        answer,
        reason: required(&value, "reason")?,
        reversal: required(&value, "reversal")?,
    })
}

fn required(value: &Value, key: &str) -> Result<String, String> {
    let text = value.get(key).and_then(Value::as_str).map(str::trim);
    match text {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        Some(_) | None => Err(format!("the answer has no `{key}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match read_signed_ruling(text, None, "n-7") {
            Ok(read) => format!("{}: {} / {}", read.answer, read.reason, read.reversal),
            Err(error) => error,
        }
    }

    fn object(ruling: &str) -> String {
        format!(
            r#"{{"nonce":"n-7","ruling":{ruling},"reason":"a.rs:3","reversal":"a test","end":"n-7"}}"#
        )
    }

    #[test]
    fn a_ruling_is_one_word_with_reason_reversal_and_both_marks() {
        let whole = object(r#""DISMISS""#);
        let unknown =
            |word: &str| format!("{word:?} is no ruling; known are ENFORCE, DISMISS, ESCALATE");
        let twice = "two answers with the nonce contradict each other".to_owned();
        for (text, expected) in [
            (whole.clone(), "DISMISS: a.rs:3 / a test".to_owned()),
            (
                object(r#""ENFORCE""#),
                "ENFORCE: a.rs:3 / a test".to_owned(),
            ),
            (
                object(r#""ESCALATE""#),
                "ESCALATE: a.rs:3 / a test".to_owned(),
            ),
            (
                format!("Of course!\n```json\n{whole}\n```"),
                "DISMISS: a.rs:3 / a test".to_owned(),
            ),
            (object(r#""dismiss""#), unknown("dismiss")),
            (object(r#""DISMISS|ENFORCE""#), unknown("DISMISS|ENFORCE")),
            (object(r#""DISMISS.""#), unknown("DISMISS.")),
            (
                object(r#"["DISMISS"]"#),
                "the answer has no word `ruling`".to_owned(),
            ),
            (format!("{whole}\n{}", object(r#""ENFORCE""#)), twice),
            (
                whole.replace(r#""reason""#, r#""ruling":"ENFORCE","reason""#),
                "a key stands twice in the answer with different values".to_owned(),
            ),
            (
                whole.replace("a.rs:3", " "),
                "the answer has no `reason`".to_owned(),
            ),
            (
                whole.replace("a test", ""),
                "the answer has no `reversal`".to_owned(),
            ),
            (
                whole.replace("n-7", "n-8"),
                "the answer does not carry the nonce of the question".to_owned(),
            ),
            (
                "DISMISS".to_owned(),
                "the answer does not carry the nonce of the question".to_owned(),
            ),
            (
                whole.replace(r#","end":"n-7""#, ""),
                "the answer has no end mark, so it may be cut off".to_owned(),
            ),
            (String::new(), "the answer is empty".to_owned()),
        ] {
            assert_eq!(read(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_reason_is_a_sentence_that_agrees_with_the_ruling() {
        for (answer, reason, expected) in [
            (Answer::Dismiss, "a.rs:3 checks it before.", true),
            (Answer::Dismiss, "B", false),
            (Answer::Dismiss, "ok ok", false),
            (Answer::Dismiss, "Unfounded.", false),
            (Answer::Dismiss, "検査は三行目にある", true),
            (Answer::Dismiss, "I ENFORCE it because of a.rs:3.", false),
            (
                Answer::Dismiss,
                "The reviewer is right about a.rs:3.",
                false,
            ),
            (
                Answer::Dismiss,
                "The rule enforces nothing at a.rs:3.",
                true,
            ),
            (
                Answer::Enforce,
                "a.rs:3 shows that the coder is right.",
                false,
            ),
            (Answer::Enforce, "DISMISS: a.rs:3 is safe.", false),
            (Answer::Enforce, "The reviewer is right, see a.rs:3.", true),
            (Answer::Escalate, "I could ENFORCE or DISMISS it.", true),
            (Answer::Escalate, "a.rs:3 does not show who calls it.", true),
        ] {
            let read = JudgeAnswer {
                answer,
                reason: reason.to_owned(),
                reversal: "a test".to_owned(),
            };
            assert_eq!(read.checked().is_ok(), expected, "{answer} {reason}");
        }
    }

    #[test]
    fn an_answer_cut_anywhere_is_none() {
        let whole = object(r#""DISMISS""#);
        for end in 0..whole.len() {
            assert!(
                read_signed_ruling(&whole[..end], None, "n-7").is_err(),
                "{end}"
            );
        }
    }
}
