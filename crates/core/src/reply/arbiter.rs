//! Answers of the loop's agents under contract: decisions, guidance, plans, reports of work.

use serde_json::Value;

use super::signed::signed_object;
use crate::arbiter::{Decision, Question};
use crate::scale::UnknownWord;
use crate::task::plan::{Plan, PlanStep};
use crate::text::truncate_chars;

/// Longest text of an answer that is kept, in characters.
const LONGEST: usize = 4_000;

/// The most steps of a plan.
const MOST_STEPS: usize = 50;

/// Reads the arbiter's answer to `question`, or says what is wrong with it.
///
/// A mode that is none of the candidates is no answer, and neither is a word that is nearly one.
pub fn read_signed_decision(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    question: &Question,
) -> Result<Decision, String> {
    let value = signed_object(text, structured, nonce)?;
    let word = value.get("decision").and_then(Value::as_str);
    let word = word.ok_or("the answer has no word `decision`")?;
    let reason = || required(&value, "reason");
    match (word, question) {
        ("SELECT_MODE", Question::SelectAgent(input)) => {
            let mode = required(&value, "mode")?;
            if input.agents.iter().all(|agent| agent.name != mode) {
                let names: Vec<&str> = input.agents.iter().map(|one| one.name.as_str()).collect();
                let mode = truncate_chars(&mode, 60);
                return Err(format!(
                    "{mode:?} is none of the agents {}",
                    names.join(", ")
                ));
            }
            let reason = reason()?;
            Ok(Decision::SelectMode { mode, reason })
        }
        ("CONTINUE", Question::EvaluateProgress(_)) => Ok(Decision::Continue { reason: reason()? }),
        ("RETRY", _) => Ok(Decision::Retry { reason: reason()? }),
        ("COMPLETE", _) => {
            let summary = required(&value, "summary").or_else(|_| reason())?;
            Ok(Decision::Complete { summary })
        }
        (other, Question::SelectAgent(_)) => {
            let known = "SELECT_MODE, COMPLETE, RETRY";
            Err(UnknownWord::new("decision", other, known).to_string())
        }
        (other, Question::EvaluateProgress(_)) => {
            let known = "CONTINUE, COMPLETE, RETRY";
            Err(UnknownWord::new("decision", other, known).to_string())
        }
    }
}

/// What the arbiter says to both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guidance {
    /// To the coder.
    pub coder: String,
    /// To the reviewers.
    pub reviewer: String,
}

/// Reads the arbiter's guidance, or says what is wrong with it.
pub fn read_signed_guidance(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
) -> Result<Guidance, String> {
    let value = signed_object(text, structured, nonce)?;
    Ok(Guidance {
        coder: required(&value, "coder")?,
        reviewer: required(&value, "reviewer")?,
    })
}

/// Reads a planner's answer, or says what is wrong with it. `version` is the number of the plan.
pub fn read_signed_plan(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    version: u32,
) -> Result<Plan, String> {
    let value = signed_object(text, structured, nonce)?;
    let steps = value.get("steps").and_then(Value::as_array);
    let steps = steps.ok_or("the answer has no list `steps`")?;
    if steps.len() > MOST_STEPS {
        return Err(format!("the plan has more than {MOST_STEPS} steps"));
    }
    let read = |(index, step): (usize, &Value)| {
        let at = |error: String| format!("steps[{index}]: {error}");
        let id = match step.get("id") {
            Some(Value::Number(number)) => number.to_string(),
            _ => required(step, "id").map_err(at)?,
        };
        Ok(PlanStep {
            id,
            title: required(step, "title").map_err(at)?,
            depends_on: texts(step, "depends_on").map_err(at)?,
            acceptance: texts(step, "acceptance").map_err(at)?,
            done: false,
        })
    };
    let steps: Result<Vec<PlanStep>, String> = steps.iter().enumerate().map(read).collect();
    let plan = Plan {
        version,
        steps: steps?,
    };
    plan.problem().map_or(Ok(plan), Err)
}

/// What a coder says about its work. The files are what counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkReport {
    /// What it did.
    pub summary: String,
    /// The steps of the plan that it calls done.
    pub done: Vec<String>,
}

/// Reads what a coder says about its work, or says what is wrong with it.
pub fn read_signed_work(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
) -> Result<WorkReport, String> {
    let value = signed_object(text, structured, nonce)?;
    Ok(WorkReport {
        summary: required(&value, "summary")?,
        done: texts(&value, "done")?,
    })
}

fn required(value: &Value, key: &str) -> Result<String, String> {
    let text = value.get(key).and_then(Value::as_str).map(str::trim);
    let text = text.filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| format!("the answer has no `{key}`"))?;
    Ok(truncate_chars(text, LONGEST).into_owned())
}

/// Returns a list of texts; none when it is missing.
fn texts(value: &Value, key: &str) -> Result<Vec<String>, String> {
    let list = match value.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(format!("`{key}` is not a list")),
    };
    let text = |one: &Value| match one {
        Value::String(text) => Ok(truncate_chars(text.trim(), LONGEST).into_owned()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(format!("`{key}` holds something else than text")),
    };
    list.iter().take(100).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbiter::{Candidate, EvaluateInput, Execution, ExecutionResult, SelectInput, Work};

    fn select() -> Question {
        Question::SelectAgent(SelectInput {
            task: "t".into(),
            plan: None,
            history: Vec::new(),
            last_error: None,
            agents: vec![Candidate {
                name: "developer".into(),
                does: Work::Develop,
                when_to_use: String::new(),
            }],
        })
    }

    fn evaluate() -> Question {
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

    fn read(text: &str, question: &Question) -> String {
        match read_signed_decision(text, None, "n-7", question) {
            Ok(decision) => format!("{decision}: {}", decision.reason()),
            Err(problem) => format!("no answer: {problem}"),
        }
    }

    fn signed(inside: &str) -> String {
        format!(r#"{{"nonce":"n-7",{inside},"end":"n-7"}}"#)
    }

    #[test]
    fn a_decision_is_one_known_word_for_the_question_that_was_asked() {
        let chosen = signed(r#""decision":"SELECT_MODE","mode":"developer","reason":"r""#);
        let done = signed(r#""decision":"COMPLETE","reason":"r","summary":"s""#);
        let goes_on = signed(r#""decision":"CONTINUE","reason":"r""#);
        for (text, question, expected) in [
            (chosen.clone(), select(), "SELECT_MODE developer: r"),
            (done.clone(), select(), "COMPLETE: s"),
            (done.clone(), evaluate(), "COMPLETE: s"),
            (goes_on.clone(), evaluate(), "CONTINUE: r"),
            (
                signed(r#""decision":"RETRY","reason":"r""#),
                evaluate(),
                "RETRY: r",
            ),
            (
                format!("I think so.\n```json\n{chosen}\n```\nGood luck!"),
                select(),
                "SELECT_MODE developer: r",
            ),
            (
                chosen.replace("\"developer\"", "\"magician\""),
                select(),
                "no answer: \"magician\" is none of the agents developer",
            ),
            (
                chosen.replace("\"developer\"", "\"Developer\""),
                select(),
                "no answer: \"Developer\" is none of the agents developer",
            ),
            (
                chosen,
                evaluate(),
                "no answer: \"SELECT_MODE\" is no decision; known are CONTINUE, COMPLETE, RETRY",
            ),
            (
                goes_on.clone(),
                select(),
                "no answer: \"CONTINUE\" is no decision; known are SELECT_MODE, COMPLETE, RETRY",
            ),
            (
                signed(r#""decision":"INCOMPLETE","reason":"r""#),
                evaluate(),
                "no answer: \"INCOMPLETE\" is no decision; known are CONTINUE, COMPLETE, RETRY",
            ),
            (
                signed(r#""decision":"complete","reason":"r""#),
                evaluate(),
                "no answer: \"complete\" is no decision; known are CONTINUE, COMPLETE, RETRY",
            ),
            (
                "The work is incomplete.".to_owned(),
                evaluate(),
                "no answer: the answer does not carry the nonce of the question",
            ),
            (
                format!("{goes_on} {done}"),
                evaluate(),
                "no answer: two answers with the nonce contradict each other",
            ),
            (
                goes_on.replace(r#","end":"n-7""#, ""),
                evaluate(),
                "no answer: the answer has no end mark, so it may be cut off",
            ),
            (
                signed(r#""decision":"CONTINUE","reason":" ""#),
                evaluate(),
                "no answer: the answer has no `reason`",
            ),
            (String::new(), evaluate(), "no answer: the answer is empty"),
        ] {
            assert_eq!(read(&text, &question), expected, "{text}");
        }
    }

    #[test]
    fn a_plan_has_steps_that_can_be_done() {
        let read = |inside: &str| match read_signed_plan(&signed(inside), None, "n-7", 2) {
            Ok(plan) => format!("plan {} of {}", plan.version, plan.steps.len()),
            Err(problem) => problem,
        };
        for (inside, expected) in [
            (
                r#""steps":[{"id":"1","title":"a"},{"id":2,"title":"b","depends_on":[1]}]"#,
                "plan 2 of 2",
            ),
            (r#""steps":[]"#, "the plan has no steps"),
            (r#""plan":[]"#, "the answer has no list `steps`"),
            (
                r#""steps":[{"id":"1"}]"#,
                "steps[0]: the answer has no `title`",
            ),
            (
                r#""steps":[{"id":"1","title":"a","acceptance":"x"}]"#,
                "steps[0]: `acceptance` is not a list",
            ),
            (
                r#""steps":[{"id":"1","title":"a","depends_on":["1"]}]"#,
                "step `1` depends on itself",
            ),
        ] {
            assert_eq!(read(inside), expected, "{inside}");
        }
    }

    #[test]
    fn guidance_speaks_to_both_sides() {
        let both = signed(r#""coder":"a","reviewer":"b""#);
        assert!(read_signed_guidance(&both, None, "n-7").is_ok());
        let one = signed(r#""coder":"a""#);
        assert_eq!(
            read_signed_guidance(&one, None, "n-7"),
            Err("the answer has no `reviewer`".to_owned())
        );
    }

    #[test]
    fn a_report_of_work_names_the_steps_that_are_done() {
        let text = format!("Done. {}", signed(r#""summary":"s","done":["1",2]"#));
        assert_eq!(
            read_signed_work(&text, None, "n-7"),
            Ok(WorkReport {
                summary: "s".into(),
                done: vec!["1".into(), "2".into()],
            })
        );
    }
}
