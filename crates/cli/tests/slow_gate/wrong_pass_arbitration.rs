//! A coder works on findings, and what it did is not enough, or not in the user's hands.
//!
//! The gate speaks of what the user has. Most cases use `--apply`, so that a real fix would pass:
//! that is their control.

use serde_json::{Value, json};

use crate::common::Ran;
use crate::corpus_case::{
    CorpusCase, control, corpus_case, expect_fail, expect_no_pass, expect_pass,
};
use crate::gate_scene::{
    EVAL_DEFECT, EVAL_MENDED, GateScene, NONCE, SHOP_AFTER, SHOP_MENDED, signed_claims,
    signed_list, signed_nothing,
};
use crate::reported_claim::{ReportedClaim, division, injection, lost_update};

const IMPLEMENTED: &str = r#"{"finding_id": "F1", "answer": "implemented"}"#;
const DISCARDED: &str = r#"{"finding_id": "F1", "answer": "discarded", "reason": "personal_style", "justification": "We like it so."}"#;
const OBJECTED: &str = r#"{"finding_id": "F1", "answer": "objected", "reason": "factual_error", "justification": "Only our own scripts call it.", "evidence": ["src/shop.py:4"]}"#;

/// Returns the replies of a reviewer who reports these claims, says about every fix that it is in
/// this state, and reports `later` about the coder's work.
fn reviewer_replies(claims: &[ReportedClaim], state: &str, later: &[ReportedClaim]) -> Value {
    let mut replies = Vec::new();
    let can_happen = if state == "fixed" { "no" } else { "yes" };
    for asked in (1..=4).rev() {
        let checks: Vec<String> = (1..=asked)
            .map(|number| format!(r#"{{"finding_id": "F{number}", "can_happen": "{can_happen}", "state": "{state}", "reason": "src/shop.py:5 shows it."}}"#))
            .collect();
        replies.push(json!({
            "when": ["Was it fixed?", format!("\"finding_id\":\"F{asked}\"")],
            "text": signed_list("checks", &checks.join(",")),
        }));
    }
    replies.push(json!({"when": "The change: the coder's work", "text": signed_claims(later)}));
    replies.push(json!({"text": signed_claims(claims)}));
    Value::Array(replies)
}

/// Returns the shop with ann, who reports the injection, and a coder with these replies.
fn shop_with_coder(replies: &Value) -> GateScene {
    let mut scene = GateScene::with_shop_change();
    let ann = reviewer_replies(&[injection()], "fixed", &[]);
    scene.agent("ann", "anthropic", "reviewer", &ann);
    scene.agent("cody", "google", "coder", replies);
    scene
}

fn coder_reply(responses: &str, write: &Value) -> Value {
    json!([{ "text": signed_list("responses", responses), "write": write }])
}

fn mending_coder() -> Value {
    coder_reply(IMPLEMENTED, &json!({"src/shop.py": SHOP_MENDED}))
}

/// Returns a case: with `--apply` this coder does not get the change through.
fn coder(name: &str, replies: Value) -> CorpusCase {
    corpus_case(name, move || {
        expect_no_pass(&shop_with_coder(&replies).arbitrate(&["--apply"]))
    })
}

/// Returns a case: the coder's work on a rule's finding is written, and the rule looks again.
fn builtin_coder(name: &str, write: Value) -> CorpusCase {
    corpus_case(name, move || {
        let review = |write: &Value| {
            let mut scene = GateScene::with_builtin_reviewers();
            scene.write("src/run.py", EVAL_DEFECT);
            scene.agent("cody", "google", "coder", &coder_reply(IMPLEMENTED, write));
            scene.arbitrate(&["--apply"])
        };
        expect_no_pass(&review(&write))?;
        control(expect_pass(&review(&json!({"src/run.py": EVAL_MENDED}))))
    })
}

fn case_id(ran: &Ran) -> String {
    ran.json()["case"].as_str().unwrap().to_owned()
}

/// Cases in which the fix is good, but only offered.
fn offered_cases() -> Vec<CorpusCase> {
    vec![
        corpus_case(
            "a real fix with --apply passes, and only on a branch it does not",
            || {
                let scene = shop_with_coder(&mending_coder());
                let ran = scene.arbitrate(&[]);
                expect_fail(&ran)?;
                let with_offer = ran.json()["gate_with_offer"].clone();
                if with_offer != json!("pass") {
                    return Err(format!("gate_with_offer is {with_offer}"));
                }
                let scene = shop_with_coder(&mending_coder());
                control(expect_pass(&scene.arbitrate(&["--apply"])))
            },
        ),
        corpus_case("a real fix as a patch only", || {
            let scene = shop_with_coder(&mending_coder());
            let patch = format!("patch={}", scene.env.root().join("fix.patch").display());
            expect_fail(&scene.arbitrate(&["--offer", &patch]))
        }),
        corpus_case("a real fix of a commit on a branch only", || {
            let scene = shop_with_coder(&mending_coder());
            scene.commit_on_branch();
            expect_fail(&scene.arbitrate(&["--base", "main"]))
        }),
        corpus_case(
            "the same case resumed, with the fix still on its branch only",
            || {
                let scene = shop_with_coder(&mending_coder());
                let case = case_id(&scene.arbitrate(&[]));
                let ran = scene.run(&["resume", &case, "--json"]);
                if ran.code == Some(0) {
                    return Err(format!("exit 0: {}", ran.stderr));
                }
                expect_no_pass(&scene.run(&["show", &case, "--json"]).review_alone())
            },
        ),
        corpus_case("--apply, but the user changed the file meanwhile", || {
            let scene = shop_with_coder(&mending_coder());
            scene.env.commit_all("third");
            scene.write("src/shop.py", format!("{SHOP_AFTER}\n# mine\n"));
            expect_no_pass(&scene.arbitrate(&["--apply", "--commit", "HEAD"]))
        }),
    ]
}

/// Two claims: the coder fixes one and contests the other, a person enforces it, and the case goes on.
fn half_done_scene() -> (GateScene, String) {
    let mut scene = GateScene::with_shop_change();
    let claims = [injection(), division()];
    scene.agent(
        "ann",
        "anthropic",
        "reviewer",
        &reviewer_replies(&claims, "fixed", &[]),
    );
    let both_mended = SHOP_MENDED.replace("amount / count", "amount / count if count else 0");
    let both = format!("{IMPLEMENTED},{}", OBJECTED.replace("F1", "F2"));
    let other_way = format!("{OBJECTED},{}", IMPLEMENTED.replace("F1", "F2"));
    // Whichever of the two comes first, the injection is carried out and the division contested.
    let coder = json!([
        {"when": "\"ruling\":\"ENFORCE\"", "text": signed_list("responses", IMPLEMENTED),
         "write": {"src/shop.py": both_mended}},
        {"when": "\"finding_id\":\"F1\",\"title\":\"Division", "text": signed_list("responses", &other_way),
         "write": {"src/shop.py": SHOP_MENDED}},
        {"text": signed_list("responses", &both), "write": {"src/shop.py": SHOP_MENDED}},
    ]);
    scene.agent("cody", "google", "coder", &coder);
    let ran = scene.arbitrate(&[]);
    let case = case_id(&ran);
    control(expect_no_pass(&ran)).unwrap();
    (scene, case)
}

/// Cases in which a person rules and the case goes on.
fn resumed_cases() -> Vec<CorpusCase> {
    let resumed = |name: &'static str, meanwhile: fn(&GateScene, &str)| {
        corpus_case(name, move || {
            let (scene, case) = half_done_scene();
            scene.rule_on_open_dispute("reviewer");
            meanwhile(&scene, &case);
            let ran = scene.run(&["resume", &case, "--json"]);
            if ran.code == Some(0) {
                return Err(format!("exit 0 with {}", ran.stdout.lines().count()));
            }
            expect_no_pass(&ran)
        })
    };
    vec![
        resumed(
            "a person enforces the rest, and the work is only on the branch",
            |_, _| {},
        ),
        resumed(
            "a person enforces the rest, and the user has moved the branch",
            |scene, case| {
                scene.git(&["branch", "-f", &format!("tribunal/{case}"), "main"]);
            },
        ),
        resumed(
            "a person enforces the rest, and the user has deleted the branch",
            |scene, case| {
                scene.git(&["branch", "-D", &format!("tribunal/{case}")]);
            },
        ),
        resumed(
            "a person enforces the rest, and the user works on the branch",
            |scene, case| {
                scene.git(&["stash", "-q", "-u"]);
                scene.git(&["checkout", "-q", &format!("tribunal/{case}")]);
                scene.write("src/mine.py", "x = 1\n");
                scene.env.commit_all("mine");
            },
        ),
        corpus_case("nobody has ruled, and the case is resumed", || {
            let (scene, case) = half_done_scene();
            let ran = scene.run(&["resume", &case, "--json"]);
            match ran.code {
                Some(0) => Err("exit 0".to_owned()),
                _ => Ok(()),
            }
        }),
        corpus_case(
            "a person dismisses the rest, and the first fix is only on the branch",
            || {
                let (scene, case) = half_done_scene();
                scene.rule_on_open_dispute("coder");
                expect_no_pass(&scene.run(&["resume", &case, "--json"]))
            },
        ),
    ]
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let shop = |text: &str| json!({ "src/shop.py": text });
    let mut cases = offered_cases();
    cases.extend(resumed_cases());
    let twice_different = format!("{IMPLEMENTED},{OBJECTED}");
    let only_a_comment = SHOP_AFTER.replace("import db\n", "import db  # reviewed\n");
    let only_a_marker = SHOP_AFTER.replace(
        "    rate = ",
        "    # noqa: S608, the caller checks it\n    rate = ",
    );
    cases.extend([
        coder("the coder says implemented and changes nothing", coder_reply(IMPLEMENTED, &json!({}))),
        coder("the coder discards a HIGH finding", coder_reply(DISCARDED, &json!({}))),
        coder("the coder discards a HIGH finding and writes something else", coder_reply(DISCARDED, &json!({"src/new.py": "x = 1\n"}))),
        coder("the coder objects, and there is no judge", coder_reply(OBJECTED, &json!({}))),
        coder("the coder says implemented and objected about one finding", coder_reply(&twice_different, &json!({}))),
        coder("the coder answers about a finding that does not exist", coder_reply(&IMPLEMENTED.replace("F1", "F7"), &json!({}))),
        coder("the coder answers in prose", json!([{"text": "All done, everything is fixed now."}])),
        coder("the coder's answer is cut off", json!([{"text": signed_list("responses", IMPLEMENTED).trim_end_matches('}')}])),
        coder("the coder answers with another nonce", json!([{"text": signed_list("responses", IMPLEMENTED).replace(NONCE, "n-0123456789abcdef")}])),
        coder("the coder dies", json!([{"error": {"class": "crash", "message": "it fell over"}}])),
        coder("the coder objects for a reason that is not valid, without a justification", coder_reply(&OBJECTED.replace("Only our own scripts call it.", ""), &json!({}))),
    ]);
    for (name, text) in [
        (
            "the coder only adds a comment, and the reviewer says that it is not fixed",
            only_a_comment,
        ),
        (
            "the coder only adds a foreign marker, and the reviewer says that it is not fixed",
            only_a_marker,
        ),
    ] {
        let write = shop(&text);
        cases.push(corpus_case(name, move || {
            let mut scene = shop_with_coder(&coder_reply(IMPLEMENTED, &write));
            let ann = reviewer_replies(&[injection()], "not_fixed", &[]);
            scene.agent("ann", "anthropic", "reviewer", &ann);
            expect_no_pass(&scene.arbitrate(&["--apply"]))
        }));
    }
    cases.push(corpus_case("nobody says whether it is fixed", || {
        let mut scene = shop_with_coder(&mending_coder());
        let ann = json!([
            {"when": "Was it fixed?", "text": "Looks good to me!"},
            {"when": "The change: the coder's work", "text": signed_nothing()},
            {"text": signed_claims(&[injection()])},
        ]);
        scene.agent("ann", "anthropic", "reviewer", &ann);
        expect_no_pass(&scene.arbitrate(&["--apply"]))
    }));
    cases.push(corpus_case(
        "the fix of one finding brings another HIGH one",
        || {
            let broken = SHOP_MENDED.replace("    db.save(order)\n", "    db.save(order.copy())\n");
            let mut scene =
                shop_with_coder(&coder_reply(IMPLEMENTED, &json!({"src/shop.py": broken})));
            let later = lost_update()
                .lines(15, None)
                .quote("db.save(order.copy())")
                .title("The refund is saved to a copy and lost")
                .description(
                    "`order.copy()` has no row, so the new balance never reaches the database.",
                );
            let ann = reviewer_replies(&[injection()], "fixed", &[later]);
            scene.agent("ann", "anthropic", "reviewer", &ann);
            expect_no_pass(&scene.arbitrate(&["--apply"]))
        },
    ));
    cases.push(corpus_case(
        "two findings, and the coder answers one",
        || {
            let mut scene = shop_with_coder(&mending_coder());
            let ann = reviewer_replies(&[injection(), division()], "fixed", &[]);
            scene.agent("ann", "anthropic", "reviewer", &ann);
            expect_no_pass(&scene.arbitrate(&["--apply"]))
        },
    ));
    cases.extend([
        builtin_coder("the coder puts a marker with a reason above the defect", json!({"src/run.py": "def run(text):\n    # tribunal:ignore python-eval -- the caller checks it\n    return eval(text)\n"})),
        builtin_coder("the coder puts a foreign marker above the defect", json!({"src/run.py": "def run(text):\n    # ast-grep-ignore\n    return eval(text)\n"})),
        builtin_coder("the coder renames a variable", json!({"src/run.py": "def run(words):\n    return eval(words)\n"})),
        builtin_coder("the coder moves the defect to another file", json!({"src/run.py": "from src.more import more\n\n\ndef run(text):\n    return more(text)\n", "src/more.py": "def more(text):\n    return eval(text)\n"})),
        builtin_coder("the coder switches the rule off in the project's settings", json!({".tribunal/config.yml": "review: {builtin: [], rules: {python-eval: off}}\n"})),
        builtin_coder("the coder moves the defect to the page of disputes", json!({"src/run.py": "import runpy\n\nrun = runpy.run_path(\"dispute.md\")[\"run\"]\n", "dispute.md": EVAL_DEFECT})),
        builtin_coder("the coder declares the file generated", json!({".gitattributes": "*.py linguist-generated=true\n"})),
        builtin_coder("the coder calls the file generated in its first line", json!({"src/run.py": format!("# Code generated by a tool. DO NOT EDIT.\n{EVAL_DEFECT}")})),
    ]);
    cases
}

impl Ran {
    /// Returns the review inside of what `show` prints, as if `review` had printed it.
    fn review_alone(&self) -> Self {
        let review = self.json()["review"].clone();
        let code = match review["gate"].as_str() {
            Some("pass") => 0,
            Some("fail") => 1,
            _ => 5,
        };
        Self {
            stdout: review.to_string(),
            stderr: self.stderr.clone(),
            code: Some(code),
        }
    }
}
