//! No text that is a piece of a question is an answer, not even when the nonce is filled in.

use tribunal_core::arbiter::{EvaluateInput, Execution, ExecutionResult, Question};
use tribunal_core::ids::AgentName;
use tribunal_core::prompt::TEMPLATES;
use tribunal_core::reply::{
    AskedFinding, Author, JudgeAnswer, Masked, read_signed_checks, read_signed_contestants,
    read_signed_decision, read_signed_defenses, read_signed_examinations, read_signed_findings,
    read_signed_guidance, read_signed_panel, read_signed_plan, read_signed_responses,
    read_signed_ruling, read_signed_scores, read_signed_weighing, read_signed_work,
};
use tribunal_core::review::gate::Obligation;

const NONCE: &str = "5e1f0c9a7b3d2e4f6a80";

/// What is filled in for everything else than the nonce.
const FILLED: &str = "Amber";

fn progress() -> Question {
    Question::EvaluateProgress(EvaluateInput {
        task: "t".into(),
        plan: None,
        history: Vec::new(),
        last_execution: Execution {
            iteration: 1,
            mode: "developer".into(),
            result: ExecutionResult::Unchanged,
            summary: String::new(),
        },
    })
}

/// Returns the names of the readers that take `text` for an answer.
fn readers_that_accept(text: &str) -> Vec<&'static str> {
    let author = Author::default();
    let ids = ["F1".to_owned()];
    let asked = [AskedFinding {
        id: "F1".to_owned(),
        obligation: Obligation::Mandatory,
    }];
    let masked = [Masked {
        label: FILLED.to_owned(),
        id: "c1".to_owned(),
        name: "Ann".to_owned(),
    }];
    let labels = [FILLED.to_owned()];
    let agents = [AgentName::new("ann").expect("a name")];
    let findings = read_signed_findings(text, None, NONCE, &author).answered;
    let examinations = read_signed_examinations(text, None, NONCE, &author, &ids).answered;
    let defenses = read_signed_defenses(text, None, NONCE, &author, &ids).answered;
    let ruling = read_signed_ruling(text, None, NONCE).and_then(JudgeAnswer::checked);
    let contestants = read_signed_contestants(text, None, NONCE, 1, &agents);
    let accepted = [
        ("findings", findings),
        ("examinations", examinations),
        ("defenses", defenses),
        (
            "responses",
            read_signed_responses(text, None, NONCE, &asked).answered,
        ),
        (
            "checks",
            read_signed_checks(text, None, NONCE, &ids).answered,
        ),
        ("ruling", ruling.is_ok()),
        (
            "weighing",
            read_signed_weighing(text, None, NONCE, &[]).is_ok(),
        ),
        (
            "decision",
            read_signed_decision(text, None, NONCE, &progress()).is_ok(),
        ),
        ("guidance", read_signed_guidance(text, None, NONCE).is_ok()),
        ("plan", read_signed_plan(text, None, NONCE, 1).is_ok()),
        ("work", read_signed_work(text, None, NONCE).is_ok()),
        ("contestants", contestants.is_ok()),
        (
            "panel",
            read_signed_panel(text, None, NONCE, 3, &labels).is_ok(),
        ),
        (
            "scores",
            read_signed_scores(text, None, NONCE, &masked).is_ok(),
        ),
    ];
    let accepted = accepted.into_iter().filter(|(_, is_accepted)| *is_accepted);
    accepted.map(|(name, _)| name).collect()
}

/// Returns a template with the nonce where it belongs and the same word everywhere else.
fn question(template: &str) -> String {
    let mut text = template
        .replace("{{nonce}}", NONCE)
        .replace("{{severity}}", "");
    while let Some((before, after)) = text.split_once("{{") {
        let (_, after) = after.split_once("}}").expect("a closed placeholder");
        text = format!("{before}{FILLED}{after}");
    }
    text
}

/// Returns the beginnings and endings of a text, and what stands around its forms, by lines.
fn pieces(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let count = lines.len();
    let mut pieces = Vec::new();
    for at in 0..count {
        pieces.push(lines[..=at].join("\n"));
        pieces.push(lines[at..].join("\n"));
        let is_form = ["{\"nonce\"", "REVIEW "]
            .iter()
            .any(|form| lines[at].starts_with(form));
        for length in (1..6).filter(|_| is_form) {
            pieces.push(lines[at..count.min(at + length)].join("\n"));
        }
    }
    pieces
}

#[test]
fn no_piece_of_a_question_is_an_answer_to_it() {
    for template in TEMPLATES {
        let question = question(template.text);
        for piece in pieces(&question) {
            let none: Vec<&str> = Vec::new();
            assert_eq!(
                readers_that_accept(&piece),
                none,
                "{}: {piece}",
                template.name
            );
            let signed = piece.replace("NONCE", NONCE);
            assert_eq!(
                readers_that_accept(&signed),
                none,
                "{}: {signed}",
                template.name
            );
        }
    }
}

#[test]
fn the_nonce_is_not_in_the_form_of_a_question() {
    for template in TEMPLATES {
        let mut lines = template.text.lines();
        let signed = lines.find(|line| line.starts_with('{') && line.contains("{{nonce}}"));
        assert_eq!(signed, None, "{}", template.name);
    }
}
