//! The coder's responses under contract: one closed word for each finding that was asked about,
//! and the nonce of the question.

use serde_json::Value;

use super::Statements;
use super::debate::read;
use super::fields::Fields;
use crate::dispute::{Evidence, EvidenceCheck, EvidenceKind, Objection, Party};
use crate::review::gate::Obligation;
use crate::review::response::{Answer, Response};
use crate::scale::UnknownWord;
use crate::text::truncate_chars;

/// Longest text of a response or of a piece of evidence, in characters.
const LONGEST_TEXT: usize = 20_000;
/// Most pieces of evidence for one objection.
const MOST_EVIDENCE: usize = 20;
/// What stands for the reason of a mandatory finding that was discarded.
const JUST_DISCARDED: &str = "discarded, although it is mandatory";

/// A finding that the coder was asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedFinding {
    /// Its neutral name, such as `F1`.
    pub id: String,
    /// Whether it binds.
    pub obligation: Obligation,
}

/// Reads the answer to a question that carried `nonce` and was about `asked`.
///
/// A mandatory finding cannot be discarded: that is read as an objection without a valid ground.
/// An objection to a mandatory finding without a justification is not counted.
#[must_use]
pub fn read_signed_responses(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    asked: &[AskedFinding],
) -> Statements<(String, Response)> {
    let ids: Vec<String> = asked.iter().map(|one| one.id.clone()).collect();
    read(text, structured, nonce, &ids, "responses", |fields| {
        let id = fields.text(&["finding_id", "id"]);
        let finding = asked.iter().find(|one| one.id == id);
        let binds = finding.is_some_and(|one| one.obligation == Obligation::Mandatory);
        let response = response(fields, binds)?;
        Some((id.clone(), (id, response)))
    })
}

fn response(fields: &mut Fields<'_>, binds: bool) -> Option<Response> {
    let word = fields.text(&["answer", "action"]);
    let justification = fields.text(&["justification", "reasoning"]);
    let justification = truncate_chars(&justification, LONGEST_TEXT).into_owned();
    let answer = match word.as_str() {
        "implemented" => Answer::Implemented,
        "discarded" if !binds => Answer::Discarded,
        "discarded" => Answer::Objected {
            objection: Objection::Invalid {
                said: JUST_DISCARDED.to_owned(),
            },
            evidence: evidence(fields),
        },
        "objected" => {
            if binds && justification.is_empty() {
                let at = fields.path("justification");
                fields.report(at, "an objection to a mandatory finding needs one");
                return None;
            }
            Answer::Objected {
                objection: objection(&fields.text(&["reason"])),
                evidence: evidence(fields),
            }
        }
        other => {
            let known = "implemented, discarded, objected";
            let unknown = UnknownWord::new("answer", other, known);
            fields.report(fields.path("answer"), &unknown.to_string());
            return None;
        }
    };
    Some(Response {
        answer,
        justification,
    })
}

/// Returns the ground of an objection; whatever is not on the list is no valid one.
fn objection(word: &str) -> Objection {
    match word {
        "factual_error" => Objection::FactualError,
        "breaks_functionality" => Objection::BreaksFunctionality,
        "conflicts_with_requirement" => Objection::ConflictsWithRequirement,
        "misunderstood_context" => Objection::MisunderstoodContext,
        "" => Objection::Invalid {
            said: "none was given".to_owned(),
        },
        other => Objection::Invalid {
            said: truncate_chars(other, 200).into_owned(),
        },
    }
}

/// Returns the pieces of evidence that can be read; the others are reported.
fn evidence(fields: &mut Fields<'_>) -> Vec<Evidence> {
    let Some((at, value)) = fields.get(&["evidence"]) else {
        return Vec::new();
    };
    let Value::Array(items) = value else {
        fields.report(at, "a list was expected");
        return Vec::new();
    };
    let mut pieces = Vec::new();
    for (index, item) in items.iter().take(MOST_EVIDENCE).enumerate() {
        let at = format!("{at}[{index}]");
        let Value::Object(object) = item else {
            fields.report(at, "an object was expected");
            continue;
        };
        let mut inner = Fields {
            object,
            at,
            problems: &mut *fields.problems,
        };
        let kind = match inner.text(&["kind"]).as_str() {
            "code" => EvidenceKind::Code,
            "requirement" => EvidenceKind::Requirement,
            "test_output" => EvidenceKind::TestOutput,
            _ => EvidenceKind::Other,
        };
        let short = |text: String| truncate_chars(&text, LONGEST_TEXT).into_owned();
        pieces.push(Evidence {
            from: Party::Coder,
            kind,
            reference: short(inner.text(&["reference"])),
            text: short(inner.text(&["text", "quote"])),
            check: EvidenceCheck::Unchecked,
        });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Vec<AskedFinding> {
        let finding = |id: &str, obligation| AskedFinding {
            id: id.to_owned(),
            obligation,
        };
        vec![
            finding("F1", Obligation::Mandatory),
            finding("F2", Obligation::Optional),
        ]
    }

    /// Returns what an answer with these responses says, in short.
    fn say(responses: &str) -> String {
        let text = format!(r#"{{"nonce": "n-7", "responses": [{responses}], "end": "n-7"}}"#);
        read_all(&text)
    }

    fn read_all(text: &str) -> String {
        let read = read_signed_responses(text, None, "n-7", &asked());
        let said = read.statements.iter().map(|(id, one)| match &one.answer {
            Answer::Objected {
                objection,
                evidence,
            } => format!("{id} objected ({}, {})", objection.phrase(), evidence.len()),
            answer => format!("{id} {answer}"),
        });
        let problems = read.problems.iter().map(|problem| format!("! {problem}"));
        let left = read.left_out.iter().map(|id| format!("{id} unanswered"));
        said.chain(left)
            .chain(problems)
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn each_answer_is_one_closed_word() {
        for (responses, expected) in [
            (
                r#"{"finding_id": "F1", "answer": "implemented", "justification": "x"},
                   {"finding_id": "F2", "answer": "discarded"}"#,
                "F1 implemented; F2 discarded",
            ),
            (
                r#"{"finding_id": "F1", "answer": "discarded", "justification": "no time"}"#,
                "F1 objected (no valid ground: discarded, although it is mandatory, 0); \
                 F2 unanswered",
            ),
            (
                r#"{"finding_id": "F1", "answer": "objected", "reason": "factual_error",
                    "justification": "see", "evidence": [{"kind": "code", "reference": "a:1"}, 7]}"#,
                "F1 objected (factual error in the review, 1); F2 unanswered; \
                 ! responses[0].evidence[1]: an object was expected",
            ),
            (
                r#"{"finding_id": "F1", "answer": "objected", "reason": "taste",
                    "justification": "ugly"}"#,
                "F1 objected (no valid ground: taste, 0); F2 unanswered",
            ),
            (
                r#"{"finding_id": "F1", "answer": "objected", "reason": "factual_error"}"#,
                "F1 unanswered; F2 unanswered; ! responses[0].justification: an objection to a \
                 mandatory finding needs one",
            ),
            (
                r#"{"finding_id": "F1", "answer": "Implemented"}"#,
                "F1 unanswered; F2 unanswered; ! responses[0].answer: \"Implemented\" is no \
                 answer; known are implemented, discarded, objected",
            ),
            (
                r#"{"finding_id": "F1", "answer": "implemented"},
                   {"finding_id": "F1", "answer": "discarded"}"#,
                "F1 unanswered; F2 unanswered; ! responses[1]: F1 is answered twice and \
                 differently; neither is counted",
            ),
            (
                r#"{"finding_id": "F9", "answer": "implemented"}"#,
                "F1 unanswered; F2 unanswered; ! responses[0]: \"F9\" is not among the findings \
                 asked about",
            ),
        ] {
            assert_eq!(say(responses), expected, "{responses}");
        }
    }

    #[test]
    fn an_answer_cut_at_any_byte_answers_nothing() {
        let whole = r#"Done. {"nonce": "n-7", "responses": [{"finding_id": "F1", "answer":
            "implemented", "justification": "x"}], "end": "n-7"}"#;
        assert!(read_all(whole).starts_with("F1 implemented"));
        for end in 0..whole.len() {
            let said = read_all(&whole[..end]);
            assert!(said.starts_with("F1 unanswered; F2 unanswered"), "{end}");
        }
        let forged = whole.replace("n-7", "n-1");
        assert!(read_all(&forged).starts_with("F1 unanswered; F2 unanswered"));
    }
}
