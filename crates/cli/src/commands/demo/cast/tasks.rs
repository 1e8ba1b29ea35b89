//! What the coder does for the tasks of the story.

use serde_json::{Value, json};

use super::answering;

/// Where the question repeats why the work was sent back.
const SENT_BACK: &str = "## What binds you";

const LEDGER: &str = include_str!("../../../../../../examples/clean/ledger.rs");
const DESK: &str = include_str!("../../../../../../examples/clean/desk.js");

/// Packs by way of a shell: what the reviewers will not have.
const FIRST_ARCHIVE: &str = "\
\"\"\"Old parcels.\"\"\"

import os


def pack(month: str) -> None:
    os.system(\"tar czf archive.tgz parcels/\" + month)
";

/// The same by another name.
const SECOND_ARCHIVE: &str = "\
\"\"\"Old parcels.\"\"\"

import subprocess


def pack(month: str) -> None:
    subprocess.run(\"tar czf archive.tgz parcels/\" + month, shell=True, check=True)
";

pub(super) fn cody() -> Vec<Value> {
    vec![
        work(
            &["Task: Send the bill"],
            "The bill is sent without a shell.",
            "ledger.rs",
            LEDGER,
        ),
        work(
            &["Task: Pack the parcels", SENT_BACK],
            "The command is checked now.",
            "archive.py",
            SECOND_ARCHIVE,
        ),
        work(
            &["Task: Pack the parcels"],
            "A month is packed by tar.",
            "archive.py",
            FIRST_ARCHIVE,
        ),
        work(
            &["Task: Hand out pickup tokens"],
            "Tokens are random bytes from the system.",
            "desk.js",
            DESK,
        ),
        // What is found about its archive it calls done, and changes nothing.
        answering(
            &["# Review feedback on your code", "archive.py"],
            json!({"responses": [{"finding_id": "F1", "answer": "implemented",
                "justification": "The month comes from our own calendar."}]}),
        ),
    ]
}

fn work(when: &[&str], summary: &str, file: &str, text: &str) -> Value {
    let mut reply = answering(when, json!({ "summary": summary, "done": [] }));
    reply["write"] = json!({ file: text });
    reply
}
