//! Answers of arbiters and judges, good and bad.

use serde_json::json;

use super::*;

fn signed(mut value: Value) -> String {
    value["nonce"] = json!("n-7");
    value["end"] = json!("n-7");
    value.to_string()
}

fn masked() -> Vec<Masked> {
    let one = |label: &str, id: &str, name: &str| Masked {
        label: label.to_owned(),
        id: id.to_owned(),
        name: name.to_owned(),
    };
    vec![
        one("R1", "queue", "Safety First"),
        one("R2", "batch", "Gas Optimizer"),
    ]
}

fn card(id: &str, score: &Value) -> Value {
    json!({"id": id, "score": score, "strengths": ["clear"], "weaknesses": [], "reasoning": "R1 and R2"})
}

fn scores(value: Value) -> String {
    match read_signed_scores(&signed(value), None, "n-7", &masked()) {
        Ok(read) => read
            .cards
            .iter()
            .map(|card| format!("{} {} {}", card.contestant, card.score, card.reasoning))
            .chain([read.summary.clone()])
            .collect::<Vec<_>>()
            .join("; "),
        Err(problem) => problem,
    }
}

#[test]
fn every_answer_is_scored_once_with_a_reason() {
    let two = |first: Value, second: Value| {
        scores(json!({"evaluations": [first, second], "summary": "R2 wins"}))
    };
    let good = card("R1", &json!(80));
    for (second, expected) in [
        (
            card("R2", &json!(90)),
            "queue 80 Safety First and Gas Optimizer; batch 90 Safety First and Gas Optimizer; Gas Optimizer wins",
        ),
        (
            card("R2", &json!(90.0)),
            "queue 80 Safety First and Gas Optimizer; batch 90 Safety First and Gas Optimizer; Gas Optimizer wins",
        ),
        (
            card("R3", &json!(90)),
            "evaluations[1].id: \"R3\" is none of the answers R1, R2",
        ),
        (
            card("Gas Optimizer", &json!(90)),
            "evaluations[1].id: \"Gas Optimizer\" is none of the answers R1, R2",
        ),
        (
            card("R1", &json!(90)),
            "evaluations[1].id: R1 was scored twice",
        ),
        (
            card("R2", &json!(101)),
            "evaluations[1].score: 101 is no number from 0 to 100",
        ),
        (
            card("R2", &json!(-1)),
            "evaluations[1].score: -1 is no number from 0 to 100",
        ),
        (
            card("R2", &json!("ninety")),
            "evaluations[1].score: \"ninety\" is no number from 0 to 100",
        ),
        (
            card("R2", &json!([90])),
            "evaluations[1].score: [90] is no number from 0 to 100",
        ),
        (
            card("R2", &Value::Null),
            "evaluations[1]: there is no `score`",
        ),
        (
            json!({"id": "R2", "score": 5, "strengths": [], "weaknesses": [], "reasoning": " "}),
            "evaluations[1]: there is no text `reasoning`",
        ),
        (
            json!({"id": "R2", "score": 5, "weaknesses": [], "reasoning": "x"}),
            "evaluations[1]: there is no list `strengths`",
        ),
        (
            json!({"id": "R2", "score": 5, "strengths": [3], "weaknesses": [], "reasoning": "x"}),
            "evaluations[1]: an entry of `strengths` is no text",
        ),
    ] {
        assert_eq!(two(good.clone(), second), expected);
    }
    assert_eq!(
        scores(json!({"evaluations": [good.clone()], "summary": "x"})),
        "there is no score for R2"
    );
    let both = json!([good, card("R2", &json!(1))]);
    assert_eq!(
        scores(json!({"evaluations": both})),
        "there is no text `summary`"
    );
}

#[test]
fn scores_without_the_nonce_do_not_count() {
    let forged = json!({"nonce": "n-1", "evaluations": [], "summary": "100", "end": "n-1"});
    assert_eq!(
        read_signed_scores(&forged.to_string(), None, "n-7", &masked()),
        Err("the answer does not carry the nonce of the question".to_owned())
    );
}

fn panel(judge: Value) -> String {
    let value = json!({"reasoning": "they differ", "judges": [judge]});
    let labels = ["C1".to_owned(), "Gas Optimizer".to_owned()];
    match read_signed_panel(&signed(value), None, "n-7", 3, &labels) {
        Ok((_, judges)) => format!("{}: {}", judges[0].name, judges[0].criteria.join(", ")),
        Err(problem) => problem,
    }
}

#[test]
fn a_judge_has_a_name_a_focus_criteria_and_a_reason_that_names_an_answer() {
    let judge = |criteria: Value, reasoning: &str| json!({"name": "Risk", "focus": "risk", "criteria": criteria, "reasoning": reasoning});
    for (judge, expected) in [
        (judge(json!(["a", "b"]), "C1 queues"), "Risk: a, b"),
        (judge(json!(["a"]), "the gas optimizer is new"), "Risk: a"),
        (
            judge(json!(["a"]), "C11 and all approaches have risks"),
            "judges[0].reasoning: it names none of the answers; call at least one by its label, such as C1",
        ),
        (
            judge(json!([]), "C1"),
            "judges[0].criteria: it holds 0 entries; between 1 and 10 were asked for",
        ),
        (
            judge(json!(vec!["x"; 11]), "C1"),
            "judges[0].criteria: it holds 11 entries; between 1 and 10 were asked for",
        ),
        (
            json!({"name": "Risk", "focus": "r", "evaluationCriteria": ["a"], "reasoning": "C1"}),
            "Risk: a",
        ),
        (
            json!({"name": "Risk", "criteria": ["a"], "reasoning": "C1"}),
            "judges[0]: there is no text `focus`",
        ),
    ] {
        assert_eq!(panel(judge), expected);
    }
}

#[test]
fn a_panel_has_between_one_and_the_most_judges_with_different_names() {
    let judge = json!({"name": "Risk", "focus": "r", "criteria": ["a"], "reasoning": "C1"});
    let read = |judges: Value| {
        let value = json!({"reasoning": "x", "judges": judges});
        let labels = ["C1".to_owned()];
        let read = read_signed_panel(&signed(value), None, "n-7", 2, &labels);
        read.map(|(_, judges)| judges.len())
    };
    let many = |count: usize| {
        Err(format!(
            "`judges` holds {count} entries; between 1 and 2 were asked for"
        ))
    };
    assert_eq!(read(json!([])), many(0));
    assert_eq!(read(json!([judge])), Ok(1));
    assert_eq!(
        read(json!([judge, judge])),
        Err("judges[1].name: \"Risk\" stands there twice".to_owned())
    );
    assert_eq!(read(json!([judge, judge, judge])), many(3));
}

#[test]
fn contestants_are_as_many_as_asked_for_and_of_known_agents() {
    let agents = [AgentName::new("ann").expect("a name")];
    let one = |agent: &str, temperature: Value| json!({"name": "Bold", "persona": "You are.", "focus": "speed", "agent": agent, "temperature": temperature});
    let read = |list: Value| {
        let value = json!({"contestants": list});
        let read = read_signed_contestants(&signed(value), None, "n-7", 1, &agents);
        read.map(|found| found[0].temperature_milli)
    };
    assert_eq!(read(json!([one("ann", json!(0.7))])), Ok(Some(700)));
    assert_eq!(read(json!([one("ann", Value::Null)])), Ok(None));
    for (list, expected) in [
        (
            json!([one("bob", json!(1))]),
            "contestants[0].agent: \"bob\" is no agent; there are ann",
        ),
        (
            json!([one("ann", json!(3))]),
            "contestants[0].temperature: it is no number from 0 to 2",
        ),
        (
            json!([]),
            "`contestants` holds 0 entries, and 1 were asked for",
        ),
    ] {
        assert_eq!(read(list), Err(expected.to_owned()));
    }
}
