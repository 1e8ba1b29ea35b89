//! A reviewer's word on whether its findings were fixed, under contract.

use serde_json::Value;

use super::beside::{MORE_TEXT, is_courtesy};
use super::debate::read;
use super::signed::complete_object;
use super::{Problem, Statements};
use crate::scale::UnknownWord;
use crate::text::truncate_chars;

/// Longest reason, in characters.
const LONGEST_REASON: usize = 20_000;

/// What a reason says when the problem is not gone, in small letters.
const NOT_GONE: [&str; 45] = [
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
        // Answers of earlier versions do not have this word.
        let can_happen = fields.object.get("can_happen");
        let can_happen = can_happen.map(|word| word.as_str().unwrap_or_default());
        if fixed && can_happen.is_some_and(|word| word != "no") {
            let what = "the `state` is fixed and this is not \"no\"; which is meant?";
            fields.report(fields.path("can_happen"), what);
            return None;
        }
        let reason = fields.text(&["reason"]);
        if reason.is_empty() {
            fields.report(fields.path("reason"), "it says no reason");
            return None;
        }
        let small = reason.to_lowercase().replace('\u{2019}', "'");
        let denial = NOT_GONE.iter().find(|phrase| small.contains(**phrase));
        if let (true, Some(denial)) = (fixed, denial) {
            let what = format!("it says \"{denial}\" and the `state` is fixed; which is meant?");
            fields.report(fields.path("reason"), &what);
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

/// Takes back every `fixed` beside which more than courtesy stands: it may say the opposite.
fn doubt_beside(
    checks: &mut Statements<Check>,
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
) {
    let beside = complete_object(text, structured, nonce).map(|(_, _, beside)| beside);
    let is_fine = beside.is_ok_and(|beside| is_courtesy(&beside, ""));
    let is_any = checks.statements.iter().any(|check| check.fixed);
    if is_fine || !is_any {
        return;
    }
    let fixed = checks.statements.iter().filter(|check| check.fixed);
    checks
        .left_out
        .extend(fixed.map(|check| check.finding_id.clone()));
    checks.statements.retain(|check| !check.fixed);
    checks.problems.push(Problem {
        at: String::new(),
        what: MORE_TEXT.to_owned(),
    });
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
                r#"{{"nonce": "n-7", "checks": [{{"finding_id": "F1", {words} "state": "fixed", "reason": "a.rs:3 checks x"}}], "end": "n-7"}}"#
            )
        };
        let whole = check("");
        for (text, is_fixed) in [
            (whole.clone(), true),
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
        ] {
            let check = serde_json::json!({"finding_id": "F1", "can_happen": "no",
                "state": "fixed", "reason": reason});
            let said = say(&check.to_string());
            assert!(said.starts_with("! checks[0].reason"), "{reason}: {said}");
        }
    }

    #[test]
    fn only_the_exact_words_with_a_reason_count() {
        for (checks, expected) in [
            (
                r#"{"finding_id": "F1", "state": "fixed", "reason": "a.rs:3"}"#,
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
                r#"{"finding_id": "F1", "state": "fixed", "reason": "not_fixed: a.rs:3 divides"}"#,
                "! checks[0].reason: it says \"not_fixed\" and the `state` is fixed; which is meant?",
            ),
            (
                r#"{"finding_id": "F1", "state": "fixed", "reason": "a.rs:3 can still divide"}"#,
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
                r#"{"finding_id": "F1", "state": "fixed", "reason": "x"},
                   {"finding_id": "F1", "state": "not_fixed", "reason": "x"}"#,
                "! checks[1]: F1 is answered twice and differently; neither is counted",
            ),
            (
                r#"{"finding_id": "F2", "state": "fixed", "reason": "x"}"#,
                "! checks[0]: \"F2\" is not among the findings asked about",
            ),
        ] {
            assert_eq!(say(checks), expected, "{checks}");
        }
    }
}
