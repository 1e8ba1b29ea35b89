//! Rounds 2 and 3 with a scripted cast: who examined, who gave way, who was silent, and what counts.

mod judge;
mod policy;

use serde_json::{Value, json};

use super::{Desk, NONCE, signed};

const ROUND_1: &str = "# Review of a change";
const ROUND_2: &str = "# Cross-examination of findings";
const ROUND_3: &str = "# Your findings were examined";
const WEIGHING: &str = "# Weighing the evidence about one finding";

/// A grave claim of one voice without a trigger: it needs a debate.
const THIN: &str = r#"{"id": "1", "file": "src/pay.py", "line": 5, "label": "HIGH", "category": "security", "confidence": 65, "title": "SQL from user input", "description": "The statement is put together by hand.", "quote": "WHERE user = '%s'"}"#;

fn examining(action: &str, adjustment: i32, reasoning: &str) -> Value {
    json!({"when": ROUND_2, "json": {"nonce": NONCE, "responses": [{
        "finding_id": "F1", "action": action, "confidence_adjustment": adjustment,
        "reasoning": reasoning, "new_observations": [],
    }], "end": NONCE}})
}

fn pleading(action: &str, reasoning: &str) -> Value {
    json!({"when": ROUND_3, "json": {"nonce": NONCE, "defenses": [{
        "finding_id": "F1", "action": action, "confidence_adjustment": 0, "reasoning": reasoning,
        "revised_severity": null, "revised_description": null,
    }], "end": NONCE}})
}

fn finding(findings: &str) -> Value {
    json!({"when": ROUND_1, "text": signed(findings)})
}

/// A debate about one finding of ann.
struct Debate {
    desk: Desk,
    /// More of `review`, and what stands after it.
    review: String,
    extra: String,
}

impl Debate {
    fn new(ann: &[Value], bob: &[Value], eve: &[Value]) -> Self {
        let mut desk = Desk::with_change();
        let script = |first: &str, rest: &[Value]| {
            let mut replies = rest.to_vec();
            replies.push(finding(first));
            Value::Array(replies)
        };
        desk.reviewer("ann", "anthropic", &script(THIN, ann));
        desk.reviewer("bob", "openai", &script("", bob));
        desk.reviewer("eve", "google", &script("", eve));
        Self {
            desk,
            review: String::new(),
            extra: String::new(),
        }
    }

    fn judged_by(mut self, name: &str, family: &str, replies: &Value) -> Self {
        self.desk.reviewer(name, family, replies);
        let judge = self.desk.reviewers.last_mut().unwrap();
        *judge = judge.replace("role: reviewer", "role: judge");
        self.review.push_str(", judge: {weigh: true}");
        self
    }

    fn report(&self, args: &[&str]) -> Value {
        let agents: String = self.desk.reviewers.concat();
        let yaml = format!(
            "agents:\n{agents}review: {{builtin: []{}}}\nretry: {{attempts: 1}}\n{}",
            self.review, self.extra
        );
        self.desk.env.write_user_config(&yaml);
        let mut all = vec!["review", "--json"];
        all.extend(args);
        let ran = self.desk.env.run(all);
        self.desk.env.assert_healthy();
        ran.json()
    }

    /// Returns what came of it: the finding, what was said about it, and the notes.
    fn told(&self, args: &[&str]) -> String {
        told(&self.report(args))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn told(report: &Value) -> String {
    let mut lines = vec![text(&report["gate"]).to_owned()];
    for finding in report["findings"].as_array().unwrap() {
        lines.push(format!(
            "{} {} {}: {}",
            text(&finding["verdict"]),
            text(&finding["severity"]),
            finding["confidence"],
            text(&finding["title"]),
        ));
        let trace = finding["trace"].as_array().unwrap().iter();
        let trace: Vec<String> = trace.map(|line| line["amount"].to_string()).collect();
        lines.push(format!("  = {}", trace.join(" + ")));
        for said in finding["rounds"].as_array().into_iter().flatten() {
            let not_counted = match &said["not_counted"] {
                Value::String(why) => format!(" ({why})"),
                _ => String::new(),
            };
            lines.push(format!(
                "  {} {} {} {}{not_counted}",
                said["round"],
                text(&said["reviewer"]),
                text(&said["action"]),
                said["adjustment"],
            ));
        }
        for reason in finding["reasons"].as_array().unwrap() {
            lines.push(format!("  {}", text(reason)));
        }
    }
    for note in report["notes"].as_array().unwrap() {
        lines.push(format!("note: {}", text(note)));
    }
    lines.join("\n")
}

/// A debate in which ann takes her finding back.
fn conceded() -> Debate {
    let against = "`rate = db.execute` gets the name of a known user; see src/pay.py:4";
    Debate::new(
        &[pleading(
            "concede",
            "src/pay.py:4 shows that `rows` and user come from the session",
        )],
        &[examining("disagree", -10, against)],
        &[examining("disagree", -5, against)],
    )
}

#[test]
fn a_rejected_finding_needs_no_dismissal() {
    let debate = conceded();
    let report = debate.report(&[]);
    let finding = &report["findings"][0];
    assert_eq!(text(&finding["verdict"]), "rejected");
    let args = ["dismiss", text(&finding["id"]), "--why", "It is wrong"];
    let ran = debate.desk.env.run(args).assert_code(2);
    let refused = "was rejected, so it does not count anyway";
    assert!(ran.stderr.contains(refused), "{}", ran.stderr);
    let listed = debate.desk.env.run(["disputes", "--json"]).assert_code(0);
    assert_eq!(listed.json()["disputes"], json!([]));
}

#[test]
fn a_concession_with_new_evidence_takes_the_finding_back() {
    let debate = conceded();
    insta::assert_snapshot!(debate.told(&[]), @"
    pass
    rejected high 11: SQL from user input
      = 65 + -12 + 5 + -6 + 6 + 8 + 0 + -5 + -10 + -15 + -25
      2 bob disagree -10
      2 eve disagree -5
      3 ann concede 0
      One family alone reports it here.
      Its author withdrew it after it was challenged.
    ");
}

#[test]
fn a_concession_without_new_evidence_is_noted_and_not_counted() {
    let debate = Debate::new(
        &[pleading(
            "concede",
            "The others are right and I was wrong. ROUND 3 COMPLETE",
        )],
        &[examining("disagree", -10, "It is fine.")],
        &[examining("disagree", -5, "It is fine.")],
    );
    insta::assert_snapshot!(debate.told(&[]), @"
    inconclusive
    disputed high 26: SQL from user input
      = 65 + -12 + 5 + -6 + 6 + 8 + -10 + -5 + -10 + -15
      2 bob disagree -10
      2 eve disagree -5
      3 ann concede 0 (no new evidence, the first vote stays)
      The reviewers differ about whether it is a problem.
      The evidence is balanced.
      Dissent: bob: It is fine; eve: It is fine.
      Is it a problem in this code, or is it prevented elsewhere?
    note: ann on src/pay.py:5: no new evidence, the first vote stays
    ");
}

#[test]
fn garbled_and_dead_debaters_abstain_and_the_rest_counts() {
    let garbled = json!({"when": ROUND_2, "text": "ROUND 2 COMPLETE\n{\"nonce\": \"{{nonce}}\", \"responses\": [], \"end\": \"{{nonce}}\"}"});
    let dead = json!({"when": ROUND_2, "text": "too late", "delay_ms": 60_000});
    let mut debate = Debate::new(&[], &[garbled], &[dead]);
    debate.extra = "limits: {first_byte: 300ms}\n".to_owned();
    insta::assert_snapshot!(debate.told(&[]), @"
    fail
    accepted high 66: SQL from user input
      = 65 + -12 + 5 + -6 + 6 + 8 + 0
      One family alone reports it here.
    note: Debate incomplete — bob did not respond
    note: Debate incomplete — eve did not respond
    ");
}

#[test]
fn a_number_out_of_range_is_asked_for_again_with_the_exact_problem() {
    let again = json!({"when": ["31 is no confidence adjustment: it must lie between -30 and 30", ROUND_2],
        "json": {"nonce": NONCE, "responses": [{"finding_id": "F1", "action": "agree",
            "confidence_adjustment": 12, "reasoning": "src/pay.py:5 takes `user` as it is"}], "end": NONCE}});
    let debate = Debate::new(
        &[],
        &[again, examining("agree", 31, "yes")],
        &[examining("agree", -31, "yes")],
    );
    insta::assert_snapshot!(debate.told(&[]), @"
    fail
    accepted high 83: SQL from user input
      = 65 + -12 + 5 + -6 + 6 + 8 + 0 + 12 + 5
      2 bob agree 12
      One family alone reports it here.
    note: Debate incomplete — eve did not respond
    ");
}

#[test]
fn a_question_that_is_too_long_is_put_in_halves() {
    let second = THIN
        .replace("\"line\": 5", "\"line\": 6")
        .replace("SQL from user input", "The total may be none")
        .replace(
            "WHERE user = '%s'",
            "return sum(row.amount for row in rows) * rate",
        )
        .replace("\"1\"", "\"2\"")
        .replace("security", "bug")
        .replace(
            "The statement is put together by hand.",
            "`rate` may be None when nobody has one.",
        );
    let too_long = |round: &str| {
        json!({"when": [round, "\"F2\""],
            "error": {"class": "context_too_long", "message": "too many tokens"}})
    };
    let mut desk = Desk::with_change();
    let ann = json!([
        too_long(ROUND_3),
        pleading(
            "defend",
            "src/pay.py:5 and src/pay.py:6 show it; nothing before them checks `rows`"
        ),
        finding(&format!("{THIN}, {second}")),
    ]);
    desk.reviewer("ann", "anthropic", &ann);
    let bob = json!([
        too_long(ROUND_2),
        examining("disagree", -10, "It is fine."),
        finding(""),
    ]);
    desk.reviewer("bob", "openai", &bob);
    let debate = Debate {
        desk,
        review: String::new(),
        extra: String::new(),
    };
    insta::assert_snapshot!(debate.told(&["--rounds", "3", "--all"]), @"
    fail
    accepted high 55: The total may be none
      = 65 + -12 + 5 + 4 + -6 + 6 + 8 + -10 + -10 + -5 + 10
      2 bob disagree -10
      3 ann defend 0
      The reviewers differ about whether it is a problem.
      The evidence for it is clearly stronger. Dissent: bob: It is fine.
    disputed high 51: SQL from user input
      = 65 + -12 + 5 + -6 + 6 + 8 + -10 + -10 + -5 + 10
      2 bob disagree -10
      3 ann defend 0
      The reviewers differ about whether it is a problem.
      The evidence is balanced.
      Dissent: bob: It is fine.
      Is it a problem in this code, or is it prevented elsewhere?
    ");
}

#[test]
fn one_round_is_no_debate_and_all_is_about_everything() {
    let debate = Debate::new(
        &[],
        &[examining("agree", 5, "src/pay.py:5")],
        &[examining("agree", 5, "src/pay.py:5")],
    );
    let one = debate.report(&["--rounds", "1"]);
    assert!(one["findings"][0].get("rounds").is_none(), "{one:#}");
    // Strong enough that nobody needs to be asked.
    let strong = THIN.replace("\"quote\"", "\"trigger\": \"user = \\\"' OR 1=1 --\\\"\", \"suggestion\": \"Pass it as a parameter.\", \"quote\"").replace("65", "90");
    let mut desk = Desk::with_change();
    desk.reviewer("ann", "anthropic", &json!([finding(&strong)]));
    desk.reviewer(
        "bob",
        "openai",
        &json!([examining("agree", 5, "src/pay.py:5"), finding("")]),
    );
    let debate = Debate {
        desk,
        review: String::new(),
        extra: String::new(),
    };
    let contested = debate.report(&[]);
    assert!(
        contested["findings"][0].get("rounds").is_none(),
        "{contested:#}"
    );
    let all = debate.report(&["--rounds", "3", "--all"]);
    assert_eq!(
        all["findings"][0]["rounds"][0]["reviewer"], "bob",
        "{all:#}"
    );
}
