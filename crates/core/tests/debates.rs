//! Debates as conversations: `debates/*.md` say who said what, and what the arbitrator answered.
//!
//! `> NAME: text` is a message of NAME; a line that begins with `>   ` goes on with it. `>> text`
//! is a raw line as a pipe delivers it, `> (deadline)` and `> (end)` are what their names say.
//! `< NAME: text` is a message to NAME. The final consensus is shown by its summary, and below it
//! a line `=` for each finding and each remark on completeness or problems.

use serde_json::{Value, json};
use tribunal_core::consensus::{Policy, Report};
use tribunal_core::debate::{Debate, Input, Letter, Outgoing, Reader};

#[test]
fn the_course_of_a_debate() {
    check(include_str!("debates/course.md"));
}

#[test]
fn answers_that_are_missing_late_or_unreadable() {
    check(include_str!("debates/recovery.md"));
}

#[test]
fn only_the_lead_steers() {
    check(include_str!("debates/control.md"));
}

#[test]
fn order_and_repetition_change_nothing() {
    let opening = opening(&["ann", "codex", "gemini"], 6);
    let mut said = Vec::new();
    for (who, of) in [("ann", "codex"), ("codex", "gemini"), ("gemini", "ann")] {
        for file in 0..6 {
            said.push(letter(
                who,
                json!({"finding_id": format!("{of}-{file}"), "original_model": of,
                    "action": if file % 2 == 0 { "agree" } else { "disagree" },
                    "confidence_adjustment": file, "reasoning": "I have read it"}),
            ));
        }
    }
    let forward: Vec<Input> = said.clone();
    let mut shuffled: Vec<Input> = said.iter().rev().cloned().collect();
    shuffled.extend(said.iter().step_by(2).cloned());
    shuffled.insert(3, letter("lead", opening.clone()));
    let end = |said: Vec<Input>| {
        let mut debate = Debate::new("lead", Policy::arena());
        let mut sent = debate.hear(letter("lead", opening.clone()));
        for input in said {
            sent.extend(debate.hear(input));
        }
        for signal in ["ROUND 2 COMPLETE", "ROUND 2 COMPLETE", "ROUND 3 COMPLETE"] {
            sent.extend(debate.hear(letter("lead", json!(signal))));
        }
        sent.pop().expect("the consensus")
    };
    assert_eq!(end(forward), end(shuffled));
}

/// Of three reviewers over 40 files, `dead` says nothing after round 1, `garbled` never sends
/// anything readable, and `yielding` takes back whatever is challenged.
#[test]
fn a_long_debate_with_failing_reviewers_is_counted_right() {
    let names = ["dead", "garbled", "keen", "yielding"];
    let mut debate = Debate::new("lead", Policy::arena());
    let mut sent = debate.hear(letter("lead", opening(&names, 40)));
    let about = |of: &str, file: u32, action: &str, by: i32| {
        json!({"finding_id": format!("{of}-{file}"), "original_model": of, "action": action,
            "confidence_adjustment": by, "reasoning": "the caller checks it before this line"})
    };
    for file in 0..40 {
        sent.extend(debate.hear(letter(
            "garbled",
            json!(format!("{{\"finding_id\": {file}")),
        )));
    }
    let challenges: Vec<Value> = (0..40)
        .map(|file| about("yielding", file, "disagree", -10))
        .collect();
    let support: Vec<Value> = (0..40)
        .map(|file| about("dead", file, "agree", 5))
        .collect();
    let keen = json!({"model": "keen", "round": 2, "responses": challenges});
    sent.extend(debate.hear(letter("lead", keen)));
    sent.extend(debate.hear(letter("yielding", Value::Array(support))));
    sent.extend(debate.hear(letter("lead", json!("ROUND 2 COMPLETE"))));
    for file in 0..40 {
        sent.extend(debate.hear(letter("yielding", about("yielding", file, "concede", -10))));
    }
    sent.extend(debate.hear(Input::Deadline));
    let report = debate.report().expect("the debate is over");
    let counts = &report.debate_statistics;
    assert_eq!(counts.total_findings_received, 160);
    assert_eq!(
        counts
            .findings_per_model
            .values()
            .copied()
            .collect::<Vec<_>>(),
        [40; 4]
    );
    let round2 = &counts.round2_cross_examination;
    assert_eq!((round2.agreements, round2.disagreements), (40, 40));
    let received: Vec<(&str, u32)> = round2
        .responses_received
        .iter()
        .map(|(name, number)| (name.as_str(), *number))
        .collect();
    assert_eq!(received, [("keen", 40), ("yielding", 40)]);
    let round3 = &counts.round3_defense;
    assert_eq!(
        (round3.defended, round3.conceded, round3.modified),
        (0, 40, 0)
    );
    assert_eq!(report.consensus.rejected.len(), 40, "{}", report.summary);
    assert!(
        report
            .consensus
            .rejected
            .iter()
            .all(|one| one.original_model == "yielding")
    );
    assert_eq!(
        report.incomplete,
        [
            "Debate incomplete — dead did not respond",
            "Debate incomplete — what garbled sent in round 2 could not be read",
        ]
    );
    // One request to send again, one note that it failed again; not forty.
    let to = |name: &str, word: &str| {
        let found = sent.iter().filter(|one| match one {
            Outgoing::Message {
                recipient, content, ..
            } => recipient == name && content.contains(word),
            Outgoing::ShutdownResponse { .. } => false,
        });
        found.count()
    };
    assert_eq!(to("garbled", "Please send that again"), 1);
    assert_eq!(to("lead", "counts as abstention"), 1);
}

/// A message that was cut off anywhere is never a stance, a signal or a crash.
#[test]
fn what_is_cut_off_never_counts() {
    let opened = opening(&["ann", "bob"], 1);
    let stance = json!({"finding_id": "ann-0", "original_model": "ann", "action": "disagree",
        "confidence_adjustment": -20, "reasoning": "prevented — by the caller"});
    let lines = [
        json!({"type": "message", "from": "bob", "content": stance}).to_string(),
        json!({"type": "message", "from": "bob", "content": stance.to_string()}).to_string(),
        json!({"type": "message", "from": "lead", "content": "ROUND 2 COMPLETE"}).to_string(),
        json!({"type": "shutdown_request", "from": "lead", "request_id": "r"}).to_string(),
    ];
    for line in lines {
        for (end, _) in line.char_indices() {
            let mut debate = Debate::new("lead", Policy::arena());
            let mut reader = Reader::new("lead");
            let open = json!({"from": "lead", "content": opened}).to_string();
            debate.hear(reader.read(&open).expect("the opening"));
            if let Some(input) = reader.read(&line[..end]) {
                debate.hear(input);
            }
            assert_eq!(debate.round(), Some(2), "{}", &line[..end]);
            debate.hear(Input::Closed);
            let report = debate.report().expect("a report");
            let round2 = &report.debate_statistics.round2_cross_examination;
            assert_eq!(round2.disagreements, 0, "{}", &line[..end]);
        }
    }
    // The same within a readable envelope.
    let text = stance.to_string();
    for (end, _) in text.char_indices() {
        let mut debate = Debate::new("lead", Policy::arena());
        debate.hear(letter("lead", opened.clone()));
        let sent = debate.hear(letter("bob", json!(text[..end])));
        assert!(
            matches!(&sent[..], [Outgoing::Message { recipient, .. }] if recipient == "bob"),
            "{sent:?}"
        );
    }
}

fn letter(from: &str, content: Value) -> Input {
    Input::Message(Letter {
        from: from.to_owned(),
        content,
    })
}

/// Returns an opening with one finding of every reviewer in every file, at places of their own.
fn opening(names: &[&str], files: u32) -> Value {
    let mut lists = serde_json::Map::new();
    for (nth, name) in (1..).zip(names) {
        let findings = (0..files).map(|file| {
            json!({"id": format!("{name}-{file}"), "file": format!("src/f{file:02}.rs"),
                "line": nth * 100, "category": "bug", "severity": "high", "confidence": 80,
                "title": format!("{name} doubts step {file} here"),
                "description": "`step` is called with a negative number",
                "trigger": "an empty list"})
        });
        lists.insert((*name).to_owned(), findings.collect());
    }
    json!({"reviewers": names, "rounds": 3, "findings": lists})
}

/// Holds every conversation of a file and shows those that went differently.
#[track_caller]
fn check(file: &str) {
    let mut differences = String::new();
    for section in file.split("\n## ").skip(1) {
        let (name, body) = section.split_once('\n').expect("a body below the name");
        let script: Vec<&str> = body
            .lines()
            .filter(|line| line.starts_with(['>', '<', '=']))
            .collect();
        let actual = hold(&script);
        if actual != script {
            differences.push_str(&format!("\n## {name}\n\n{}\n", actual.join("\n")));
        }
    }
    assert!(differences.is_empty(), "went so:\n{differences}");
}

/// Plays the given side of a conversation, and returns all of it as it went.
fn hold(script: &[&str]) -> Vec<String> {
    let mut debate = Debate::new("lead", Policy::arena());
    let mut reader = Reader::new("lead");
    let mut went = Vec::new();
    let given: Vec<&&str> = script.iter().filter(|line| line.starts_with('>')).collect();
    let mut index = 0;
    while index < given.len() {
        let mut said = given[index].to_string();
        went.push(said.clone());
        index += 1;
        while let Some(more) = given.get(index).and_then(|line| line.strip_prefix(">   ")) {
            went.push(given[index].to_string());
            said.push_str(more);
            index += 1;
        }
        let Some(input) = input(&said, &mut reader) else {
            continue;
        };
        for sent in debate.hear(input) {
            went.extend(told(&sent));
        }
    }
    went
}

fn input(said: &str, reader: &mut Reader) -> Option<Input> {
    if let Some(line) = said.strip_prefix(">> ") {
        return reader.read(line);
    }
    Some(match said {
        "> (deadline)" => Input::Deadline,
        "> (end)" => Input::Closed,
        _ => {
            let (from, text) = said
                .strip_prefix("> ")
                .and_then(|rest| rest.split_once(": "))
                .expect("`> NAME: text`");
            Input::Message(Letter {
                from: from.to_owned(),
                content: Value::String(text.to_owned()),
            })
        }
    })
}

fn told(sent: &Outgoing) -> Vec<String> {
    match sent {
        Outgoing::ShutdownResponse {
            request_id,
            approve,
            content,
        } => {
            let word = if *approve { "approved" } else { "refused" };
            let why = content.as_deref().unwrap_or_default();
            let line = format!("< shutdown {request_id} {word} {why}");
            vec![line.trim_end().to_owned()]
        }
        Outgoing::Message {
            recipient,
            content,
            summary,
        } => match serde_json::from_str::<Report>(content) {
            Ok(report) => {
                let mut lines = vec![format!("< {recipient}: [{summary}]")];
                lines.extend(outcome(&report));
                lines
            }
            Err(_) => vec![format!("< {recipient}: {content}")],
        },
    }
}

fn outcome(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for finding in &report.findings {
        lines.push(format!(
            "= accepted {} {}: {}",
            finding.severity,
            finding.title,
            finding.cross_examination_trail.final_confidence_calculation
        ));
    }
    for (index, one) in (0..).zip(&report.consensus.disputed) {
        let urgent = if report.escalations.contains(&index) {
            ", escalated"
        } else {
            ""
        };
        lines.push(format!(
            "= disputed {} {}: {}{urgent}",
            one.details.severity,
            one.title,
            one.details
                .cross_examination_trail
                .final_confidence_calculation
        ));
    }
    for one in &report.consensus.rejected {
        lines.push(format!(
            "= rejected {} {}: {}",
            one.details.severity,
            one.original_title,
            one.details
                .cross_examination_trail
                .final_confidence_calculation
        ));
    }
    if report.findings.is_empty() && report.consensus.disputed.is_empty() {
        lines.push(format!("= summary {}", report.summary));
    }
    lines.extend(report.incomplete.iter().map(|text| format!("= {text}")));
    lines.extend(
        report
            .problems
            .iter()
            .map(|text| format!("= problem {text}")),
    );
    lines
}
