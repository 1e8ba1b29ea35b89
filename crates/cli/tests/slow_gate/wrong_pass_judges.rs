//! The coder objects, and what the judge answers is no ruling for it.
//!
//! The control of the family: the same judge with a proper DISMISS passes the change.

use serde_json::{Value, json};

use crate::corpus_case::{
    CorpusCase, control, corpus_case, expect_fail, expect_no_pass, expect_pass,
};
use crate::gate_scene::{EVAL_DEFECT, GateScene, NONCE, signed_list};
use crate::reported_claim::{injection, unchecked_reader};

const OBJECTION: &str = r#"{"finding_id": "F1", "answer": "objected", "reason": "factual_error", "justification": "`total` is only called with names from our own table, see src/shop.py:4.", "evidence": ["src/shop.py:4"]}"#;
const BARE_OBJECTION: &str = r#"{"finding_id": "F1", "answer": "objected", "reason": "factual_error", "justification": "No.", "evidence": []}"#;

fn ruling(word: &str, reason: &str) -> String {
    let text = json!({"nonce": NONCE, "ruling": word, "reason": reason,
        "reversal": "A caller that passes what a visitor typed.", "end": NONCE});
    text.to_string()
}

fn dismissal() -> String {
    ruling(
        "DISMISS",
        "src/shop.py:4 is only called with names from the table.",
    )
}

fn court(judges: &[Value]) -> GateScene {
    let mut scene = GateScene::with_shop_change();
    scene.reviewer_of("ann", "anthropic", &[injection()]);
    let coder = json!([{ "text": signed_list("responses", OBJECTION) }]);
    scene.agent("cody", "google", "coder", &coder);
    for (number, replies) in (1..).zip(judges) {
        scene.agent(
            &format!("jude{number}"),
            &format!("judges{number}"),
            "judge",
            replies,
        );
    }
    scene
}

/// Returns a case with one judge who always answers this.
fn judge(name: &str, answer: String) -> CorpusCase {
    corpus_case(name, move || {
        let scene = court(&[json!([{ "text": answer }])]);
        expect_no_pass(&scene.arbitrate(&[]))
    })
}

/// Returns a case with a panel of three judges of these words.
fn jury(name: &str, words: [&'static str; 3]) -> CorpusCase {
    corpus_case(name, move || {
        let judges = words.map(|word| json!([{ "text": ruling(word, "src/shop.py:5 shows it.") }]));
        let mut scene = court(&judges);
        scene.review_setting("judge: {panel: 3}");
        expect_no_pass(&scene.arbitrate(&[]))
    })
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let without = |key: &str| {
        let mut text: Value = serde_json::from_str(&dismissal()).unwrap();
        text.as_object_mut().unwrap().remove(key);
        text.to_string()
    };
    let with = |key: &str, value: Value| {
        let mut text: Value = serde_json::from_str(&dismissal()).unwrap();
        text[key] = value;
        text.to_string()
    };
    let mut cases = vec![
        corpus_case("a proper DISMISS passes, a proper ENFORCE does not", || {
            let scene = court(&[json!([{ "text": dismissal() }])]);
            control(expect_pass(&scene.arbitrate(&[])))?;
            let enforced = ruling("ENFORCE", "src/shop.py:5 pastes the name.");
            expect_no_pass(&court(&[json!([{ "text": enforced }])]).arbitrate(&[]))
        }),
        judge("the judge gives no reason", without("reason")),
        judge(
            "the judge gives an empty reason",
            with("reason", json!("  ")),
        ),
        judge(
            "the judge gives a number as its reason",
            with("reason", json!(7)),
        ),
        judge(
            "the judge does not say what would reverse it",
            without("reversal"),
        ),
        judge(
            "the judge says two words",
            with("ruling", json!("DISMISS or ENFORCE")),
        ),
        judge(
            "the judge says two words in a list",
            with("ruling", json!(["DISMISS", "ENFORCE"])),
        ),
        judge(
            "the judge says another word",
            with("ruling", json!("OVERRULED")),
        ),
        judge("the judge says yes", with("ruling", json!(true))),
        judge(
            "the judge's word stands in prose",
            "DISMISS, because every caller checks it.".to_owned(),
        ),
        judge("the judge leaves the nonce out", without("nonce")),
        judge("the judge leaves the end out", without("end")),
        judge(
            "the judge uses a nonce from somewhere else",
            dismissal().replace(NONCE, "n-00c0ffee00c0ffee"),
        ),
        judge(
            "the judge begins with the nonce and ends with another",
            with("end", json!("n-00c0ffee00c0ffee")),
        ),
        judge(
            "the judge's answer is cut off",
            dismissal()[..dismissal().len() - 20].to_owned(),
        ),
        judge(
            "the judge gives two answers that contradict each other",
            format!(
                "{}\n{}",
                dismissal(),
                ruling("ENFORCE", "src/shop.py:5 pastes it.")
            ),
        ),
        judge(
            "the judge escalates",
            ruling("ESCALATE", "I cannot tell from src/shop.py."),
        ),
        judge(
            "the judge dismisses with a reason that enforces",
            ruling(
                "DISMISS",
                "The finding is right and I ENFORCE it: src/shop.py:5 pastes the name into the statement.",
            ),
        ),
        judge(
            "the judge dismisses with a reason that escalates",
            ruling(
                "DISMISS",
                "ESCALATE: a person should look at src/shop.py:5.",
            ),
        ),
        corpus_case("the judge dies", || {
            let crash = json!([{"error": {"class": "crash", "message": "it fell over"}}]);
            expect_no_pass(&court(&[crash]).arbitrate(&[]))
        }),
        jury(
            "three judges, three words",
            ["DISMISS", "ENFORCE", "ESCALATE"],
        ),
        jury(
            "three judges, two for the reviewer",
            ["ENFORCE", "DISMISS", "ENFORCE"],
        ),
        jury(
            "three judges, one for the coder and two undecided",
            ["ESCALATE", "DISMISS", "ESCALATE"],
        ),
    ];
    cases.push(corpus_case(
        "one of three judges answers, and dismisses",
        || {
            let mute = json!([{ "text": "I would rather not say." }]);
            let mut scene = court(&[json!([{ "text": dismissal() }]), mute.clone(), mute]);
            scene.review_setting("judge: {panel: 3}");
            expect_no_pass(&scene.arbitrate(&[]))
        },
    ));
    cases.push(corpus_case(
        "a judge beside a plain review has no say",
        || {
            for weigh in [None, Some("judge: {weigh: true}")] {
                let mut scene = court(&[json!([{ "text": dismissal() }])]);
                if let Some(line) = weigh {
                    scene.review_setting(line);
                }
                expect_no_pass(&scene.review(&[]))?;
            }
            Ok(())
        },
    ));
    cases.push(corpus_case("the judge dismisses one of two findings", || {
        let mut scene = court(&[json!([
            {"when": "Anybody reads the rate", "text": ruling("ENFORCE", "src/shop.py:5 asks nobody.")},
            {"text": dismissal()},
        ])]);
        scene.reviewer_of("ann", "anthropic", &[injection(), unchecked_reader()]);
        let both = format!("{OBJECTION},{}", OBJECTION.replace("F1", "F2"));
        let coder = json!([
            {"when": "F2", "text": signed_list("responses", &both)},
            {"text": signed_list("responses", OBJECTION)},
        ]);
        scene.agent("cody", "google", "coder", &coder);
        expect_no_pass(&scene.arbitrate(&[]))
    }));
    cases.push(corpus_case(
        "a rule's finding, an objection whose evidence does not exist, and an undecided judge",
        || {
            let mut scene = GateScene::with_builtin_reviewers();
            scene.write("src/run.py", EVAL_DEFECT);
            control(expect_fail(&scene.review(&[])))?;
            let invented = BARE_OBJECTION.replace("[]", r#"["docs/NOWHERE.md:12"]"#);
            let coder = json!([{ "text": signed_list("responses", &invented) }]);
            scene.agent("cody", "google", "coder", &coder);
            let undecided = ruling("ESCALATE", "docs/NOWHERE.md does not exist.");
            scene.agent("jude", "openai", "judge", &json!([{ "text": undecided }]));
            expect_no_pass(&scene.arbitrate(&[]))
        },
    ));
    cases
}
