//! The cast: agents that answer from files, and what is in those files.
//!
//! An answer is chosen by what the question says and carries the nonce of the question; everything
//! else about it is checked as a model's answer is.

mod review;
mod tasks;
mod trial;

use serde_json::{Value, json};

pub(super) use trial::CHALLENGE;

/// The settings of the story's repository.
pub(super) const CONFIG: &str = "\
# The cast of the demo: agents that answer from files. Families stand for lines of models.
agents:
  - {name: ann, provider: scripted, script: .tribunal/cast/ann.json, role: reviewer, family: alder}
  - {name: bob, provider: scripted, script: .tribunal/cast/bob.json, role: reviewer, family: birch}
  - {name: eve, provider: scripted, script: .tribunal/cast/eve.json, role: reviewer, family: elm}
  - {name: cody, provider: scripted, script: .tribunal/cast/cody.json, role: coder, family: cedar}
  - {name: jude, provider: scripted, script: .tribunal/cast/jude.json, role: judge, family: juniper}
  - {name: june, provider: scripted, script: .tribunal/cast/jude.json, role: judge, family: larch}
  - {name: jack, provider: scripted, script: .tribunal/cast/jude.json, role: judge, family: maple}
  - {name: art, provider: scripted, script: .tribunal/cast/art.json, role: arbiter, family: ash}
  - {name: con, provider: scripted, script: .tribunal/cast/con.json, role: contestant, family: cedar}

review:
  builtin: [security]
  # The story goes on by itself; at your own terminal you would be asked.
  on_dispute: {prompt_user: false, default: judge}

run:
  max_rejections: 2
  coordinate_at: []
";

/// Where a scripted agent writes the nonce of its question.
const NONCE: &str = "{{line:Nonce: }}";

/// Returns the files of replies by the names of their agents. Whoever is not `fast` takes as long to
/// answer as it takes to see who is at work.
pub(super) fn scripts(fast: bool) -> Vec<(&'static str, String)> {
    let cast = [
        ("ann", review::ann()),
        ("bob", review::bob()),
        ("eve", review::eve()),
        ("cody", [tasks::cody(), review::cody()].concat()),
        ("jude", [trial::judges(), review::jude()].concat()),
        ("art", trial::art()),
        ("con", trial::contestants()),
    ];
    let file = |(name, mut replies): (&'static str, Vec<Value>)| {
        for (index, reply) in replies.iter_mut().enumerate() {
            let delay = if fast { 0 } else { 700 + 230 * (index % 4) };
            reply["delay_ms"] = delay.into();
            // Roughly what such an answer would take.
            reply["usage"] = json!({"input": 2_400, "output": reply.to_string().len() / 4});
        }
        (name, format!("{:#}\n", json!({ "replies": replies })))
    };
    cast.into_iter().map(file).collect()
}

/// Returns an answer under contract to questions in which all these texts stand.
fn answering(when: &[&str], mut answer: Value) -> Value {
    // The contract wants the nonce first and its repetition last.
    let mut signed = json!({ "nonce": NONCE });
    if let (Some(signed), Some(answer)) = (signed.as_object_mut(), answer.as_object_mut()) {
        signed.append(answer);
        signed.insert("end".to_owned(), NONCE.into());
    }
    json!({ "when": when, "json": signed })
}
