//! Many verdicts at once: one JSON line in, one JSON line out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::{Ballot, Excluded, Method, NoVerdict, Points, Sitting, Verdict, decide};
use crate::consensus::Record;
use crate::reply::{Problem, Strict};

/// A line without a verdict.
#[derive(Debug, Error)]
pub enum NoLine {
    /// The line is no JSON, or lacks what a comparison needs.
    #[error("the line is no comparison: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Its scores give no verdict.
    #[error(transparent)]
    NoVerdict(#[from] NoVerdict),
}

/// What comes out of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchVerdict {
    /// The name of the comparison, as given.
    pub item_id: Value,
    /// The name of the panel, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<Value>,
    /// The id of the winner, or `tie`.
    pub winner: String,
    /// How sure it is that the winner is better than the second, 0 to 100.
    pub confidence: Option<u8>,
    /// The score of each contestant.
    pub scores: BTreeMap<String, Points>,
}

/// What a line holds. Other keys are the caller's business.
#[derive(Deserialize)]
struct Line {
    #[serde(alias = "id")]
    item_id: Value,
    #[serde(default)]
    panel: Option<Value>,
    judges: BTreeMap<String, Value>,
}

/// Decides the comparison on one line. Judges who do not count come as problems.
///
/// The contestants are those whom at least one judge scored.
pub fn verdict_line(
    line: &str,
    method: Method,
    record: Option<&Record>,
) -> Result<(BatchVerdict, Verdict, Vec<Problem>), NoLine> {
    let strict = Strict::read(line)?;
    let mut problems: Vec<Problem> = strict.problems().collect();
    let line: Line = serde_json::from_value(strict.value)?;
    let mut sitting = Sitting::default();
    for (judge, given) in line.judges {
        match scores(&given) {
            Ok(scores) => {
                sitting.contestants.extend(scores.keys().cloned());
                let family = given.get("family").and_then(Value::as_str);
                sitting.ballots.push(Ballot {
                    judge,
                    family: family.map(str::to_owned),
                    scores,
                    swapped: None,
                });
            }
            Err(why) => sitting.absent.push(Excluded { judge, why }),
        }
    }
    let verdict = decide(&sitting, method, record)?;
    problems.extend(verdict.excluded.iter().map(|one| Problem {
        at: one.judge.clone(),
        what: one.why.clone(),
    }));
    let ranking = verdict.ranking.iter();
    let settled = BatchVerdict {
        item_id: line.item_id,
        panel: line.panel,
        winner: verdict.winner.clone().unwrap_or_else(|| "tie".to_owned()),
        confidence: verdict.confidence,
        scores: ranking
            .map(|one| (one.contestant.clone(), one.score))
            .collect(),
    };
    Ok((settled, verdict, problems))
}

/// Returns the scores of one judge, or what is wrong with them.
fn scores(given: &Value) -> Result<BTreeMap<String, Points>, String> {
    let scores = given.get("scores").and_then(Value::as_object);
    let scores = scores.ok_or("it has no object `scores`")?;
    if scores.is_empty() {
        return Err("it scored nobody".to_owned());
    }
    let read = scores.iter().map(|(id, score)| {
        let points = match score {
            serde_json::Value::String(text) => text.trim().parse().ok(),
            other => serde_json::from_value(other.clone()).ok(),
        };
        match points {
            Some(points) => Ok((id.clone(), points)),
            None => Err(format!("its score of `{id}` is no number")),
        }
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide_line(line: &str) -> String {
        match verdict_line(line, Method::Mean, None) {
            Ok((settled, _, problems)) => {
                let mut text = serde_json::to_string(&settled).expect("it serializes");
                for problem in problems {
                    text.push_str(&format!("\n{problem}"));
                }
                text
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_line_goes_in_and_a_line_comes_out() {
        let line = r#"{"item_id": "q/7", "panel": ["a"], "truth": "1", "judges": {
            "ann": {"kind": "score", "scores": {"1": 80, "2": 60.5}},
            "bob": {"scores": {"1": 70.0, "2": 75}}}}"#;
        assert_eq!(
            decide_line(line),
            r#"{"item_id":"q/7","panel":["a"],"winner":"1","confidence":50,"scores":{"1":75,"2":67.75}}"#
        );
    }

    #[test]
    fn judges_that_cannot_be_counted_are_named() {
        for (judges, expected) in [
            (
                r#""a": {"scores": {"x": 50, "y": 50}}"#,
                r#"{"item_id":1,"winner":"tie","confidence":50,"scores":{"x":50,"y":50}}"#,
            ),
            (
                r#""a": {"scores": {"x": 5, "y": 4}}, "b": {"scores": {"x": 5}}, "c": {"scores": {"x": "nine", "y": 1}}, "d": 3, "e": {"scores": {"x": 101, "y": 0}}"#,
                "{\"item_id\":1,\"winner\":\"x\",\"confidence\":55,\"scores\":{\"x\":5,\"y\":4}}\nb: it did not score `y`\nc: its score of `x` is no number\nd: it has no object `scores`\ne: it gave `x` 101, which is not from 0 to 100",
            ),
            (
                r#""a": {"scores": {"x": 5}}, "b": {"scores": {"y": 5}}"#,
                "no judge counts (a: it did not score `y`; b: it did not score `x`)",
            ),
            (
                r#""a": {"scores": {"x": 101, "y": "5.5"}}"#,
                "no judge counts (a: it gave `x` 101, which is not from 0 to 100)",
            ),
            (
                r#""a": {"scores": {"x": "82.5", "y": 82}}"#,
                "{\"item_id\":1,\"winner\":\"x\",\"confidence\":75,\"scores\":{\"x\":82.5,\"y\":82}}",
            ),
            (
                r#""a": {"family": "m", "scores": {"x": 5, "y": 4}}, "b": {"family": "m", "scores": {"x": 5, "y": 4}}"#,
                "{\"item_id\":1,\"winner\":\"x\",\"confidence\":75,\"scores\":{\"x\":5,\"y\":4}}",
            ),
            ("", "there is no contestant"),
            (
                r#""a": {"scores": {"x": 5}}"#,
                "{\"item_id\":1,\"winner\":\"x\",\"confidence\":null,\"scores\":{\"x\":5}}",
            ),
        ] {
            let line = format!(r#"{{"id": 1, "judges": {{{judges}}}}}"#);
            assert_eq!(decide_line(&line), expected, "{judges}");
        }
    }

    #[test]
    fn a_line_that_is_no_comparison_is_an_error() {
        for line in ["", "[]", r#"{"item_id": 1}"#, r#"{"judges": {}}"#] {
            assert!(verdict_line(line, Method::Mean, None).is_err(), "{line}");
        }
    }
}
