//! What programs read: SARIF, HTML as a document, JUnit, the body of a review, the schema.

use serde_json::{Value, json};
use tribunal_core::reply::{Author, findings_in_value};
use tribunal_core::review::gate::Gate;
use tribunal_core::scale::Severity;

use super::*;

/// Returns what the schema of the standard says against a log.
pub(super) fn problems(log: &Value) -> Vec<String> {
    static SCHEMA: std::sync::LazyLock<jsonschema::Validator> = std::sync::LazyLock::new(|| {
        let text = include_str!("../../../../tests/schemas/sarif-schema-2.1.0.json");
        let schema = serde_json::from_str(text).unwrap();
        let options = jsonschema::options().should_validate_formats(true);
        options.build(&schema).unwrap()
    });
    let errors = SCHEMA.iter_errors(log);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn sarif(report: &ReviewReport, details: bool) -> Value {
    let print = if details { detailed } else { printed };
    serde_json::from_str(&print(report, ReviewFormat::Sarif)).unwrap()
}

#[test]
fn sarif_follows_the_schema_of_the_standard() {
    for report in [fixture::report(), gated(Gate::Pass), gated(inconclusive())] {
        for details in [false, true] {
            assert_eq!(problems(&sarif(&report, details)), Vec::<String>::new());
        }
    }
    let mut broken = sarif(&fixture::report(), false);
    broken["runs"][0]["results"][0]["level"] = json!("fatal");
    assert_eq!(problems(&broken).len(), 1);
}

#[test]
fn sarif_tells_what_stands_what_is_open_and_what_was_dismissed() {
    let log = sarif(&fixture::report(), false);
    let run = &log["runs"][0];
    let told: Vec<String> = run["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| {
            format!(
                "{} {} {} {} {} {}",
                result["ruleId"].as_str().unwrap(),
                result["kind"].as_str().unwrap(),
                result["level"].as_str().unwrap(),
                result["rank"],
                result["baselineState"].as_str().unwrap(),
                result["suppressions"].as_array().unwrap().len()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "tribunal/security fail error 95 new 0",
            "tribunal/bug fail warning 64 new 0",
            "tribunal/performance fail note 55 unchanged 1",
            "tribunal/bug review none 58 unchanged 0",
        ]
    );
    let first = &run["results"][0];
    assert_eq!(
        first["partialFingerprints"],
        json!({"tribunal/v1": "v1:3c19a27e"})
    );
    let place = &first["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/invoice/search.rs");
    assert_eq!(
        place["region"],
        json!({
            "startLine": 42,
            "endLine": 42,
            "snippet": {"text": "    let sql = format!(\"SELECT * FROM {table} WHERE name = '{name}'\");"},
        })
    );
    let (index, id) = (first["ruleIndex"].as_u64().unwrap(), &first["ruleId"]);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules[usize::try_from(index).unwrap()]["id"], *id);
    assert_eq!(first["properties"]["blocking"], true);
    assert_eq!(first["properties"]["voices"][1]["family"], "openai");
    assert_eq!(run["artifacts"].as_array().unwrap().len(), 4);
    let rejected = &sarif(&fixture::report(), true)["runs"][0]["results"][4];
    assert_eq!(rejected["kind"], "informational");
}

#[test]
fn sarif_says_whether_the_review_came_to_an_end() {
    for (gate, successful, code) in [
        (Gate::Pass, true, 0),
        (Gate::Fail { open: 1 }, true, 1),
        (inconclusive(), false, 5),
    ] {
        let log = sarif(&gated(gate), false);
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], successful);
        assert_eq!(invocation["exitCode"], code);
        let told = invocation["toolExecutionNotifications"].as_array().unwrap();
        let left_out = |one: &&Value| one["descriptor"]["id"] == "left-out";
        assert_eq!(told.iter().filter(left_out).count(), 11);
    }
}

#[test]
fn sarif_is_read_back_by_our_own_reader() {
    let author = Author {
        reviewer: "earlier".to_owned(),
        ..Author::default()
    };
    let read = findings_in_value(&sarif(&fixture::report(), true), &author);
    assert_eq!(read.problems, []);
    let told: Vec<String> = read
        .findings
        .iter()
        .map(|one| format!("{} {}", one.location, one.title))
        .collect();
    // The dismissed one and the rejected one are no findings any more.
    assert_eq!(
        told,
        [
            "src/invoice/search.rs:42 The customer's name is pasted into the SQL statement",
            "src/api.rs:118-121 Callers never learn that a search was cut off",
            "src/invoice/lock.rs:23-24 Two requests can lock the same invoice",
        ]
    );
    assert_eq!(read.findings[0].severity, Some(Severity::High));
    assert_eq!(read.findings[0].location.function.as_deref(), Some("find"));
}

#[test]
fn pages_allow_their_own_style_and_nothing_else() {
    let page = printed(&fixture::report(), ReviewFormat::Html);
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
    for foreign in [
        "<script", "<link", "<img", "http://", "https://", " style=", "@import",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(!page.contains("at a glance"), "five need no list");
    assert_eq!(page.matches("<details class=\"finding ").count(), 5);
    assert_eq!(page.matches(" binds\" id=\"finding-").count(), 1);
    assert_eq!(page.matches("<mark class=\"line\">").count(), 7);
}

#[test]
fn junit_fails_or_breaks_whenever_the_gate_does_not_pass() {
    let counts = |gate| {
        let text = printed(&gated(gate), ReviewFormat::Junit);
        let line = text.lines().nth(1).unwrap().to_owned();
        let (_, counts) = line.split_once("failures=").unwrap();
        counts.trim_end_matches('>').to_owned()
    };
    assert_eq!(counts(Gate::Pass), "\"0\" errors=\"0\" skipped=\"13\"");
    assert_eq!(
        counts(Gate::Fail { open: 1 }),
        "\"2\" errors=\"0\" skipped=\"13\""
    );
    assert_eq!(counts(inconclusive()), "\"0\" errors=\"1\" skipped=\"13\"");
}

#[test]
fn reviews_comment_on_the_diff_and_tell_the_rest() {
    let review: Value = serde_json::from_str(&review_json(&fixture::report())).unwrap();
    assert_eq!(review["event"], "REQUEST_CHANGES");
    let comments = review["comments"].as_array().unwrap();
    let places: Vec<Value> = comments
        .iter()
        .map(|one| {
            let mut place = one.clone();
            place.as_object_mut().unwrap().remove("body");
            place
        })
        .collect();
    assert_eq!(
        places,
        [
            json!({"path": "src/invoice/search.rs", "line": 42, "side": "RIGHT"}),
            json!({
                "path": "src/invoice/lock.rs", "line": 24, "side": "RIGHT",
                "start_line": 23, "start_side": "RIGHT",
            }),
        ]
    );
    let body = review["body"].as_str().unwrap();
    assert!(
        body.contains(
            "### Outside of the diff\n\n#### **SHOULD (medium) 64:** Callers never learn"
        )
    );
    assert!(
        !body.contains("rows.clone"),
        "what was dismissed is not said again"
    );
    let calm: Value = serde_json::from_str(&review_json(&gated(inconclusive()))).unwrap();
    assert_eq!(calm["event"], "COMMENT");
}

#[test]
fn reports_follow_their_own_schema() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    for report in [fixture::report(), gated(Gate::Pass), gated(inconclusive())] {
        let value = serde_json::from_str(&printed(&report, ReviewFormat::Json)).unwrap();
        let errors: Vec<String> = schema
            .iter_errors(&value)
            .map(|one| one.to_string())
            .collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

#[test]
fn sarif_has_a_rule_for_every_rule_and_never_takes_one_of_a_linter_for_ours() {
    let mut report = fixture::report();
    for (index, (family, rule)) in [
        ("builtin", "python-eval"),
        ("ruff", "python-eval"),
        ("ruff", "F401"),
    ]
    .into_iter()
    .enumerate()
    {
        let finding = &mut report.findings[index];
        rule.clone_into(&mut finding.rule);
        rule.clone_into(&mut finding.voices[0].rule);
        family.clone_into(&mut finding.voices[0].family);
    }
    let log = sarif(&report, false);
    assert_eq!(problems(&log), Vec::<String>::new());
    let rules = &log["runs"][0]["tool"]["driver"]["rules"];
    let results = log["runs"][0]["results"].as_array().unwrap();
    let of = |index: usize| {
        let rule = results[index]["ruleIndex"].as_u64().unwrap();
        let rule = &rules[usize::try_from(rule).unwrap()];
        assert_eq!(rule["id"], results[index]["ruleId"]);
        rule
    };
    assert_eq!(of(0)["id"], "python-eval");
    assert_eq!(of(0)["defaultConfiguration"]["level"], "error");
    assert!(of(0)["help"]["text"].as_str().unwrap().contains("Fix: "));
    assert_eq!(of(1)["id"], "python-eval");
    assert_ne!(of(0), of(1));
    assert_eq!(of(2)["id"], "F401");
    assert_eq!(of(3)["id"], "tribunal/bug");
}

#[test]
fn every_format_names_the_rule() {
    let mut report = fixture::report();
    "python-eval".clone_into(&mut report.findings[0].rule);
    "python-eval".clone_into(&mut report.findings[0].voices[0].rule);
    for format in ReviewFormat::value_variants() {
        let text = printed(&report, *format);
        assert!(text.contains("python-eval"), "{format:?}: {text}");
    }
}
