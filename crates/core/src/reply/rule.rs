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
