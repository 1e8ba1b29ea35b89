//! What reviewers, coder and judge say about the change of the story.

use serde_json::{Value, json};

use super::answering;

const FIND: &str = "# Review of a change";
const WORK: &str = "The change: the coder's work";
const EXAMINE: &str = "# Cross-examination of findings";
const DEFEND: &str = "# Your findings were examined";
const VERIFY: &str = "# Was it fixed?";
const RESPOND: &str = "# Review feedback on your code";

/// The change with both defects mended.
const MENDED: &str = include_str!("../../../../../../examples/clean/depot.py");

/// Code of the change that findings cite.
const STATEMENT: &str = "WHERE owner = '{owner}'";
const SHARED: &str = "overdue: list[dict] = []";
const SAFE: &str = "yaml.safe_load(file)";

/// Code of the list of work that findings cite.
const ARCHIVE: &str = "\"tar czf archive.tgz parcels/\" + month";

pub(super) fn ann() -> Vec<Value> {
    let injection = finding(
        ("depot.py", 11, "CRITICAL", "security", 92),
        "The owner's name becomes part of the SQL statement",
        "`owner` is put into the statement as text, so a quote in a name ends the literal and the rest is \
         executed.",
        STATEMENT,
        "find_parcels(db, \"' OR 1=1 --\") returns everybody's parcels",
        "Pass it as a parameter: `db.execute(\"… WHERE owner = ?\", (owner,))`.",
    );
    let archive = finding(
        ("archive.py", 7, "HIGH", "security", 90),
        "The month can carry a command",
        "`month` is joined to a line that a shell reads.",
        ARCHIVE,
        "pack(\"01; rm -rf parcels\")",
        "Start `tar` with a list of arguments and without a shell.",
    );
    let mended = json!({ "checks": [{"finding_id": "F1", "can_happen": "no", "state": "fixed",
        "reason": "depot.py:11 passes the name as a parameter"}]});
    vec![
        answering(&[VERIFY], mended),
        examining(
            "`yaml.safe_load(file)` at depot.py:20 builds plain values only; `yaml.load` with a full \
             loader would be the problem.",
        ),
        reporting(&[WORK], &[]),
        reporting(&[ARCHIVE], &[archive]),
        reporting(&[STATEMENT], &[injection]),
        reporting(&[], &[]),
    ]
}

pub(super) fn bob() -> Vec<Value> {
    let injection = finding(
        ("depot.py", 11, "HIGH", "security", 85),
        "SQL injection through `owner`",
        "The f-string builds the query from what a visitor typed.",
        STATEMENT,
        "a name with a quote in it",
        "Use a placeholder.",
    );
    let shared = finding(
        ("depot.py", 27, "MEDIUM", "bug", 84),
        "All calls of `due` share one list",
        "The default of `overdue` is made once, so parcels of earlier calls stay in it.",
        SHARED,
        "due([a]) and then due([b]) returns both",
        "Make the list inside the function.",
    );
    let mended = |reason: &str| json!({ "checks": [{"finding_id": "F1", "can_happen": "no", "state": "fixed", "reason": reason}]});
    let list = mended("depot.py:28 makes a new list for each call");
    let query = mended("depot.py:11 has a placeholder where the name was");
    vec![
        answering(&[VERIFY, "All calls of `due` share one list"], list),
        answering(&[VERIFY], query),
        examining("depot.py:20 calls `safe_load`, which knows no tags that build objects."),
        reporting(&[WORK], &[]),
        reporting(&[STATEMENT], &[injection, shared]),
        reporting(&[], &[]),
    ]
}

pub(super) fn eve() -> Vec<Value> {
    let routes = finding(
        ("depot.py", 20, "HIGH", "security", 72),
        "A route file can build any object",
        "YAML from a file is turned into objects, which runs code of whoever wrote the file.",
        SAFE,
        "a route file with a `!!python/object` tag",
        "Do not read YAML.",
    );
    let concede = json!({ "defenses": [{
        "finding_id": "F1", "action": "concede", "confidence_adjustment": -25,
        "reasoning": "I had read `yaml.load`. depot.py:20 says `yaml.safe_load(file)`, and depot.py:7 \
                      imports nothing that adds constructors.",
        "revised_severity": null, "revised_description": null,
    }]});
    vec![
        answering(&[DEFEND], concede),
        reporting(&[WORK], &[]),
        reporting(&[STATEMENT], &[routes]),
        reporting(&[], &[]),
    ]
}

/// The coder mends one defect at once, contests the other, and does what is enforced.
pub(super) fn cody() -> Vec<Value> {
    let object = json!({ "responses": [
        {"finding_id": "F1", "answer": "objected", "reason": "misunderstood_context",
         "justification": "Names reach this function from the login form, which allows letters only.",
         "evidence": [{"kind": "code", "reference": "depot.py:10",
            "text": "def find_parcels(db: sqlite3.Connection, owner: str) -> list[tuple]:"}]},
        {"finding_id": "F2", "answer": "implemented", "reason": null, "evidence": [],
         "justification": "Each call makes a list of its own."},
    ]});
    let obey = json!({ "responses": [
        {"finding_id": "F1", "answer": "implemented", "reason": null, "evidence": [],
         "justification": "The owner's name is a parameter now."},
    ]});
    let half = MENDED.replace(
        "\"SELECT id, place FROM parcels WHERE owner = ?\", (owner,)",
        "f\"SELECT id, place FROM parcels WHERE owner = '{owner}'\"",
    );
    vec![
        writing(
            answering(&[RESPOND, "\"ruling\":\"ENFORCE\""], obey),
            MENDED,
        ),
        writing(answering(&[RESPOND], object), &half),
    ]
}

pub(super) fn jude() -> Vec<Value> {
    vec![answering(
        &["# Ruling on one dispute"],
        json!({
            "ruling": "ENFORCE",
            "reason": "depot.py:11 takes any text, and no login form stands in the material: a name such \
                       as O'Brien already breaks the statement.",
            "reversal": "Code that restricts `owner` on every way into find_parcels.",
        }),
    )]
}

/// Returns a finding: place, label, category and confidence first.
fn finding(
    (file, line, label, category, confidence): (&str, u32, &str, &str, u32),
    title: &str,
    description: &str,
    quote: &str,
    trigger: &str,
    suggestion: &str,
) -> Value {
    json!({"id": format!("{file}:{line}"), "file": file, "line": line, "label": label, "category": category,
        "confidence": confidence, "title": title, "description": description, "quote": quote,
        "trigger": trigger, "suggestion": suggestion})
}

/// A reviewer who reports these findings where all these texts stand in the question.
fn reporting(when: &[&str], findings: &[Value]) -> Value {
    let when = [&[FIND], when].concat();
    answering(&when, json!({ "findings": findings }))
}

/// A reviewer who contradicts the finding that it is asked about.
fn examining(reasoning: &str) -> Value {
    answering(
        &[EXAMINE],
        json!({ "responses": [{"finding_id": "F1", "action": "disagree",
            "confidence_adjustment": -20, "reasoning": reasoning, "new_observations": []}]}),
    )
}

fn writing(mut reply: Value, depot: &str) -> Value {
    reply["write"] = json!({ "depot.py": depot });
    reply
}
