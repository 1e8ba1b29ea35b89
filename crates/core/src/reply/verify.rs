//! A reviewer's word on whether its findings were fixed, under contract.

use serde_json::Value;

use super::beside::{MORE_TEXT, is_courtesy};
use super::debate::read;
use super::fields::Fields;
use super::signed::complete_object;
use super::wording::{denial_of_outcome, is_sentence, normalized};
use super::{Problem, Statements};
use crate::scale::UnknownWord;
use crate::text::truncate_chars;

/// Longest reason, in characters.
const LONGEST_REASON: usize = 20_000;

/// What a reason says when the problem is not gone, in small letters.
///
/// Such lists have no end. They are the second net; the first is `can_happen`, without which nothing
/// is fixed.
const NOT_GONE: [&str; 70] = [
    "not_fixed",
    "not fixed",
    "isn't fixed",
    "not been fixed",
    "not yet fixed",
    "not gone",
    "unfixed",
    "only hides",
    "not solved",
    "not resolved",
    "unresolved",
    "problem remains",
    "bug remains",
    "defect remains",
    "issue remains",
    "persists",
    "only partly",
    "only partially",
    "not entirely",
    "not completely",
    "unclear",
    "cannot tell",
    "can't tell",
    "not sure",
    "nicht behoben",
    "nicht gelöst",
    "nicht weg",
    "immer noch",
    "noch immer",
    "weiterhin",
    "unklar",
    "still ",
    "is unchanged",
    "was not changed",
    "were not changed",
    "as before",
    "only added a comment",
    "cannot see",
    "can't see",
    "hard to say",
    "difficult to say",
    "impossible to say",
    "there is a bug",
    "there is a defect",
    "there is a problem",
    "incomplete",
    "fails to",
    "failed to",
    "would fail",
    "will fail",
    "fail again",
    "happen again",
    "can happen",
    "only moved",
    "only moves",
    "moved elsewhere",
    "moved to another",
    "merely ",
    "partly",
    "partially",
    "in part",
    "but not ",
    "except for",
    "except when",
    "unless",
    "no change",
    "nothing changed",
    "same problem",
    "same bug",
    "same defect",
];

/// What a reviewer says about one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The neutral name of the finding.
    pub finding_id: String,
    /// Whether the problem is gone.
    pub fixed: bool,
    /// What the code shows.
    pub reason: String,
}

/// Reads the answer to a question that carried `nonce` and was about `asked`.
///
/// A finding without a word on it was not checked.
#[must_use]
pub fn read_signed_checks(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    asked: &[String],
) -> Statements<Check> {
    let mut checks = read(text, structured, nonce, asked, "checks", |fields| {
        let finding_id = fields.text(&["finding_id", "id"]);
        let word = fields.text(&["state"]);
        let fixed = match word.as_str() {
            "fixed" => true,
            "not_fixed" => false,
            other => {
                let unknown = UnknownWord::new("state", other, "fixed, not_fixed");
                fields.report(fields.path("state"), &unknown.to_string());
                return None;
            }
        };
        let reason = fields.text(&["reason"]);
        if reason.is_empty() {
            fields.report(fields.path("reason"), "it says no reason");
            return None;
        }
        if fixed && let Some((at, what)) = doubt_of_fixed(fields, &reason) {
            fields.report(at, &what);
            return None;
        }
        let check = Check {
            finding_id: finding_id.clone(),
            fixed,
            reason: truncate_chars(&reason, LONGEST_REASON).into_owned(),
        };
        Some((finding_id, check))
    });
    doubt_beside(&mut checks, text, structured, nonce);
    checks
}

/// Keys of a check, and those by which some models repeat what the finding is.
const CHECK_KEYS: [&str; 15] = [
    "finding_id",
    "id",
    "can_happen",
    "state",
    "reason",
    "title",
    "file",
    "path",
    "line",
    "place",
    "label",
    "severity",
    "category",
    "obligation",
    "model",
];

/// Returns where and why a `fixed` does not count; nothing if all that stands there agrees with it.
fn doubt_of_fixed(fields: &Fields<'_>, reason: &str) -> Option<(String, String)> {
    let can_happen = fields.object.get("can_happen").and_then(Value::as_str);
    if can_happen != Some("no") {
        let what = "the `state` is fixed and this is not \"no\"; which is meant?";
        return Some((fields.path("can_happen"), what.to_owned()));
    }
    if !is_sentence(reason) {
        let what = "it is no sentence; say what the code shows".to_owned();
        return Some((fields.path("reason"), what));
    }
    if let Some(denial) = denial(reason) {
        let what = format!("it says \"{denial}\" and the `state` is fixed; which is meant?");
        return Some((fields.path("reason"), what));
    }
    let mut entries = fields.object.iter();
    let (key, _) =
        entries.find(|(key, value)| !CHECK_KEYS.contains(&key.as_str()) && !says_nothing(value))?;
    let at = fields.path(&truncate_chars(key, LONGEST_KEY));
    Some((at, NOT_ASKED.to_owned()))
}

/// Longest name of a key that is shown.
const LONGEST_KEY: usize = 40;

/// What is wrong with a key of its own beside a `fixed`.
const NOT_ASKED: &str = "nobody asked for this key, and it may say that the problem is not gone; \
                         leave it out or answer not_fixed";

/// Returns the words of a reason that say that the problem is not gone.
fn denial(reason: &str) -> Option<String> {
    let small = normalized(reason);
    let phrase = NOT_GONE.iter().find(|phrase| small.contains(**phrase));
    let phrase = phrase.copied().or_else(|| denial_of_outcome(&small));
    phrase.map(|phrase| truncate_chars(phrase, LONGEST_DENIAL).into_owned())
}

/// Longest quotation of a denial, in characters.
const LONGEST_DENIAL: usize = 60;

/// Tells whether a value that nobody asked for is empty.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => is_courtesy(text, ""),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Takes back every `fixed` beside which more than courtesy stands: it may say the opposite.
fn doubt_beside(
    checks: &mut Statements<Check>,
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
) {
    let is_any = checks.statements.iter().any(|check| check.fixed);
    let Ok((value, _, beside)) = complete_object(text, structured, nonce) else {
        return;
    };
    let mut entries = value.as_object().into_iter().flatten();
    let other = entries.find(|(key, value)| {
        !matches!(key.as_str(), "nonce" | "checks" | "end") && !says_nothing(value)
    });
    let problem = match other {
        Some((key, _)) => Problem {
            at: truncate_chars(key, LONGEST_KEY).into_owned(),
            what: NOT_ASKED.to_owned(),
        },
        None if !is_courtesy(&beside, "") => Problem {
            at: String::new(),
            what: MORE_TEXT.to_owned(),
        },
        None => return,
    };
    if !is_any {
        return;
    }
    let fixed = checks.statements.iter().filter(|check| check.fixed);
    checks
        .left_out
        .extend(fixed.map(|check| check.finding_id.clone()));
    checks.statements.retain(|check| !check.fixed);
    checks.problems.push(problem);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(checks: &str) -> String {
        let text = format!(r#"{{"nonce": "n-7", "checks": [{checks}], "end": "n-7"}}"#);
        let read = read_signed_checks(&text, None, "n-7", &["F1".to_owned()]);
        let said = read.statements.iter();
        let said = said.map(|one| format!("{} fixed={}", one.finding_id, one.fixed));
        let problems = read.problems.iter().map(|problem| format!("! {problem}"));
        said.chain(problems).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn fixed_beside_more_text_or_another_word_does_not_count() {
        let check = |words: &str| {
            format!(
                r#"{{"nonce": "n-7", "checks": [{{"finding_id": "F1", {words} "state": "fixed", "reason": "a.rs:3 checks x now."}}], "end": "n-7"}}"#
            )
        };
        let whole = check(r#""can_happen": "no","#);
        for (text, is_fixed) in [
            (whole.clone(), true),
            (check(""), false),
            (format!("Sure.\n{whole}\nDone."), true),
            (
                format!("The bug is still there: not_fixed.\n{whole}"),
                false,
            ),
            (format!("x can be zero.\n{whole}"), false),
            (check(r#""can_happen": "no","#), true),
            (check(r#""can_happen": "yes","#), false),
            (check(r#""can_happen": "unclear","#), false),
            (check(r#""can_happen": null,"#), false),
        ] {
            let read = read_signed_checks(&text, None, "n-7", &["F1".to_owned()]);
            assert_eq!(!read.statements.is_empty(), is_fixed, "{text}");
            assert_eq!(read.left_out.is_empty(), is_fixed, "{text}");
            assert_eq!(read.problems.is_empty(), is_fixed, "{text}");
        }
    }

    #[test]
    fn a_reason_that_says_or_doubts_that_the_problem_is_gone_does_not_count_as_fixed() {
        for reason in [
            "app.py:2 still subtracts b from a.",
            "The coder only added a comment at app.py:3; the code is as before.",
            "Line app.py:2 is unchanged.",
            "I cannot see whether app.py:2 was changed.",
            "It is hard to say from the material whether app.py:2 is right now.",
            "There is a bug at app.py:2, and users will get wrong sums.",
            "alpha(1) gives 43, so callers see a wrong sum.",
            "Only hidden, not solved.",
            "No change that matters at app.py:2.",
            "Nothing was done about it.",
            "fixed? no",
            "n/a",
            "yes",
            ".",
            "ok ok ok",
            "The issue has NOT been resolved",
            "It isn't gone.",
            "It hasn\u{2019}t been fixed",
            "Would fail again for a=1",
            "The defect is only moved to another line.",
            "Fixed, but not for negative numbers.",
            "Fixed unless a is 1.",
            "The fix is incomplete.",
            "It fails to address the finding.",
            "You could say that it is fixed, yet the sum is wrong.",
        ] {
            let check = serde_json::json!({"finding_id": "F1", "can_happen": "no",
                "state": "fixed", "reason": reason});
            let said = say(&check.to_string());
            assert!(said.starts_with("! checks[0].reason"), "{reason}: {said}");
        }
    }

    #[test]
    fn a_key_that_nobody_asked_for_must_be_empty_or_fixed_does_not_count() {
        let fixed = r#""finding_id": "F1", "can_happen": "no", "state": "fixed", "reason": "app.py:2 adds one now.""#;
        for (inside, beside, counts) in [
            ("", "", true),
            (r#", "note": null"#, r#", "findings": []"#, true),
            (
                r#", "title": "Total is off", "line": 2"#,
                r#", "note": "Done.""#,
                true,
            ),
            (r#", "still_open": true"#, "", false),
            (r#", "resolved": false"#, "", false),
            (r#", "remaining": "alpha adds 42""#, "", false),
            ("", r#", "note": "F1 is not fixed at all""#, false),
            ("", r#", "findings": [{"title": "Total is off"}]"#, false),
            ("", r#", "complete": false"#, false),
        ] {
            let text = format!(
                r#"{{"nonce": "n-7", "checks": [{{{fixed}{inside}}}]{beside}, "end": "n-7"}}"#
            );
            let read = read_signed_checks(&text, None, "n-7", &["F1".to_owned()]);
            assert_eq!(read.statements.len(), usize::from(counts), "{text}");
            assert_eq!(read.left_out.is_empty(), counts, "{text}");
            assert_eq!(read.problems.is_empty(), counts, "{text}");
        }
    }

    #[test]
    fn only_the_exact_words_with_a_reason_count() {
        for (checks, expected) in [
            (
                r#"{"finding_id": "F1", "can_happen": "no", "state": "fixed", "reason": "a.rs:3 checks x"}"#,
                "F1 fixed=true",
            ),
            (
                r#"{"finding_id": "F1", "state": "not_fixed", "reason": "a.rs:3"}"#,
                "F1 fixed=false",
            ),
            (
                r#"{"finding_id": "F1", "state": "fixed", "reason": " "}"#,
                "! checks[0].reason: it says no reason",
            ),
            (
                r#"{"finding_id": "F1", "can_happen": "no", "state": "fixed", "reason": "not_fixed: a.rs:3 divides"}"#,
                "! checks[0].reason: it says \"not_fixed\" and the `state` is fixed; which is meant?",
            ),
            (
                r#"{"finding_id": "F1", "can_happen": "no", "state": "fixed", "reason": "a.rs:3 can still divide"}"#,
                "! checks[0].reason: it says \"still \" and the `state` is fixed; which is meant?",
            ),
            (
                r#"{"finding_id": "F1", "state": "not_fixed", "reason": "not_fixed: a.rs:3"}"#,
                "F1 fixed=false",
            ),
            (
                r#"{"finding_id": "F1", "state": "FIXED", "reason": "x"}"#,
                "! checks[0].state: \"FIXED\" is no state; known are fixed, not_fixed",
            ),
            (
                r#"{"finding_id": "F1", "can_happen": "no", "state": "fixed", "reason": "a.rs:3 checks x"},
                   {"finding_id": "F1", "state": "not_fixed", "reason": "x"}"#,
                "! checks[1]: F1 is answered twice and differently; neither is counted",
            ),
            (
                r#"{"finding_id": "F2", "can_happen": "no", "state": "fixed", "reason": "a.rs:3 checks x"}"#,
                "! checks[0]: \"F2\" is not among the findings asked about",
            ),
        ] {
            assert_eq!(say(checks), expected, "{checks}");
        }
    }
}
