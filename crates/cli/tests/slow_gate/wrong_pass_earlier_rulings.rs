//! A ruling dismissed one claim; later another claim comes.
//!
//! A ruling covers what was shown to whoever ruled, and nothing else. The control of each case: the
//! dismissed claim itself, reported again, passes.

use serde_json::json;

use crate::corpus_case::{
    CorpusCase, control, corpus_case, expect_fail, expect_no_pass, expect_pass,
};
use crate::gate_scene::{GateScene, NONCE, signed_claims, signed_list};
use crate::reported_claim::{
    ReportedClaim, clear_text_passwords, division, injection, leaking_pool, lost_cents,
    lost_update, negative_balance, unchecked_reader,
};

/// Who dismissed the first claim.
#[derive(Clone, Copy)]
enum Ruler {
    Judge,
    Human,
    DismissCommand,
}

const OBJECTION: &str = r#"{"finding_id": "F1", "answer": "objected", "reason": "factual_error", "justification": "The callers check it before, see src/shop.py:4.", "evidence": ["src/shop.py:4"]}"#;

/// Reports the claim, and lets it be dismissed.
fn scene_with_dismissed(ruler: Ruler, dismissed: &ReportedClaim) -> Result<GateScene, String> {
    let mut scene = GateScene::with_shop_change();
    scene.reviewer_of("ann", "anthropic", std::slice::from_ref(dismissed));
    control(expect_no_pass(&scene.review(&[])))?;
    let coder = json!([{ "text": signed_list("responses", OBJECTION) }]);
    match ruler {
        Ruler::Judge => {
            scene.agent("cody", "google", "coder", &coder);
            let ruling = format!(
                r#"{{"nonce": "{NONCE}", "ruling": "DISMISS", "reason": "src/shop.py:4 shows that every caller checks it.", "reversal": "A caller that does not.", "end": "{NONCE}"}}"#
            );
            scene.agent("jude", "openai", "judge", &json!([{ "text": ruling }]));
            control(expect_pass(&scene.arbitrate(&[])))?;
        }
        Ruler::Human => {
            scene.agent("cody", "google", "coder", &coder);
            control(expect_no_pass(&scene.arbitrate(&[])))?;
            scene.rule_on_open_dispute("coder");
        }
        Ruler::DismissCommand => {
            let report = scene.review(&[]).json();
            let id = report["findings"][0]["id"].as_str().unwrap().to_owned();
            let why = "Every caller checks it, and a test proves it.";
            scene.run(&["dismiss", &id, "--why", why]).assert_code(0);
        }
    }
    control(expect_pass(&scene.review(&[])))?;
    Ok(scene)
}

/// Returns a case: after the ruling ann reports these, and they block.
fn later(
    name: &str,
    ruler: Ruler,
    dismissed: ReportedClaim,
    reported: Vec<ReportedClaim>,
) -> CorpusCase {
    corpus_case(name, move || {
        let mut scene = scene_with_dismissed(ruler, &dismissed)?;
        scene.reviewer_of("ann", "anthropic", &reported);
        expect_no_pass(&scene.review(&[]))
    })
}

/// Returns a case: after the ruling a reviewer of another family reports something else.
fn later_of_another(
    name: &str,
    ruler: Ruler,
    dismissed: ReportedClaim,
    reported: ReportedClaim,
) -> CorpusCase {
    corpus_case(name, move || {
        let mut scene = scene_with_dismissed(ruler, &dismissed)?;
        scene.reviewer_of("bob", "openai", std::slice::from_ref(&reported));
        expect_no_pass(&scene.review(&[]))
    })
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    use Ruler::{DismissCommand, Human, Judge};
    let other_identifier = division()
        .title("Division by zero when `amount` is taken for `count`")
        .description("`refund` calls it with the arguments swapped, so `amount` is the divisor.");
    let in_another_file = division().file("src/other.py").lines(2, None);
    let mut cases = vec![
        later(
            "dismissed by a judge; another claim on the same line",
            Judge,
            division(),
            vec![lost_cents()],
        ),
        later(
            "dismissed by a person; another claim on the same line",
            Human,
            division(),
            vec![lost_cents()],
        ),
        later(
            "dismissed by command; another claim on the same line",
            DismissCommand,
            division(),
            vec![lost_cents()],
        ),
        later(
            "dismissed by a judge; another claim on the same line beside the old one",
            Judge,
            lost_cents(),
            vec![lost_cents(), division()],
        ),
        later(
            "dismissed by a person; another claim of another category on the same line",
            Human,
            lost_cents(),
            vec![division().category("performance")],
        ),
        later(
            "dismissed by a judge; another claim in the same function",
            Judge,
            negative_balance(),
            vec![lost_update().lines(15, None).quote("db.save(order)")],
        ),
        later(
            "dismissed by a person; a claim of a graver label on the same line",
            Human,
            injection(),
            vec![unchecked_reader().label("CRITICAL").confidence(95)],
        ),
        later(
            "dismissed by a judge without a file; another claim without a file",
            Judge,
            leaking_pool().label("MUST"),
            vec![clear_text_passwords().label("MUST")],
        ),
        later(
            "dismissed by a person without a file; another claim without a file",
            Human,
            clear_text_passwords(),
            vec![leaking_pool()],
        ),
        later(
            "dismissed by command without a file; another claim without a file",
            DismissCommand,
            clear_text_passwords(),
            vec![leaking_pool().category("security")],
        ),
        later(
            "dismissed by a judge; the same sentence about another identifier",
            Judge,
            division(),
            vec![other_identifier],
        ),
        later(
            "dismissed by a judge at a line; another claim without a line",
            Judge,
            negative_balance(),
            vec![lost_update().without_line().without_quote()],
        ),
        later_of_another(
            "dismissed by a judge; another family reports something else on the line",
            Judge,
            division(),
            lost_cents(),
        ),
        later_of_another(
            "dismissed by a person; another family reports something else on the line",
            Human,
            injection(),
            unchecked_reader(),
        ),
        later_of_another(
            "dismissed by command; another family reports something else on the line",
            DismissCommand,
            negative_balance(),
            lost_update(),
        ),
    ];
    cases.push(corpus_case(
        "dismissed by a judge; the same claim about a copy in another file",
        move || {
            let mut scene = scene_with_dismissed(Ruler::Judge, &division())?;
            scene.write(
                "src/other.py",
                "def share(amount, count):\n    return amount / count\n",
            );
            scene.reviewer_of("ann", "anthropic", std::slice::from_ref(&in_another_file));
            expect_no_pass(&scene.review(&[]))
        },
    ));
    cases.push(corpus_case(
        "two MUST on one line; the judge dismisses one and enforces the other",
        || {
            let mut scene = GateScene::with_shop_change();
            let both = [division().label("MUST"), lost_cents().label("MUST")];
            scene.reviewer("ann", "anthropic", &signed_claims(&both));
            let objections = [OBJECTION.to_owned(), OBJECTION.replace("F1", "F2")].join(",");
            let coder = json!([
                {"when": "F2", "text": signed_list("responses", &objections)},
                {"text": signed_list("responses", OBJECTION)},
            ]);
            scene.agent("cody", "google", "coder", &coder);
            let ruling = |word: &str| {
                format!(
                    r#"{{"nonce": "{NONCE}", "ruling": "{word}", "reason": "src/shop.py:10 and its callers show it.", "reversal": "Another caller.", "end": "{NONCE}"}}"#
                )
            };
            // The judge who is shown the lost cents enforces; about the division alone it dismisses.
            let judge = json!([
                {"when": "Amounts are cents", "text": ruling("ENFORCE")},
                {"text": ruling("DISMISS")},
            ]);
            scene.agent("jude", "openai", "judge", &judge);
            expect_no_pass(&scene.arbitrate(&[]))
        },
    ));
    for (name, second_defect) in [
        (
            "a rule's finding dismissed by command; the same rule in another function",
            "def run(text):\n    return eval(text)\n\n\ndef other(words):\n    return eval(words[0])\n",
        ),
        (
            "a rule's finding dismissed by command; another rule on the same line",
            "import os\n\n\ndef run(text):\n    return eval(text), os.system(\"ls \" + text)\n",
        ),
    ] {
        cases.push(corpus_case(name, move || {
            let scene = GateScene::with_builtin_reviewers();
            scene.write("src/run.py", crate::gate_scene::EVAL_DEFECT);
            let ran = scene.review(&[]);
            control(expect_fail(&ran))?;
            let id = ran.json()["findings"][0]["id"].as_str().unwrap().to_owned();
            let why = "Only our own build calls it.";
            scene.run(&["dismiss", &id, "--why", why]).assert_code(0);
            control(expect_pass(&scene.review(&[])))?;
            scene.write("src/run.py", second_defect);
            expect_no_pass(&scene.review(&[]))
        }));
    }
    cases
}
