//! A repository with a defect, a reviewer who sees it, and a scripted coder and judge.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::{AFTER, BEFORE, DEFECT, NONCE, signed};
use crate::common::{Ran, TestEnv};

/// The change with its defect mended.
pub(super) const MENDED: &str = "import db


def total(rows, user):
    rate = db.execute(\"SELECT rate FROM rates WHERE user = ?\", (user,))
    return sum(row.amount for row in rows) * rate
";

/// A cast of scripted agents around one change.
pub(super) struct Court {
    pub(super) env: TestEnv,
    agents: Vec<String>,
    settings: String,
}

impl Court {
    /// Returns a change with a defect and the reviewer ann who reports it, is satisfied by any fix
    /// and finds nothing else.
    pub(super) fn with_ann() -> Self {
        let mut court = Self::empty();
        court.agent("ann", "reviewer", &ann(&[], true));
        court
    }

    /// Returns the same, but ann calls it critical and bob low: they contradict each other.
    pub(super) fn split() -> Self {
        let mut court = Self::empty();
        for (name, label) in [("ann", "CRITICAL"), ("bob", "LOW")] {
            let mut replies = ann(&[], true);
            let last = replies.as_array_mut().unwrap().last_mut().unwrap();
            *last = json!({ "text": signed(&DEFECT.replace("HIGH", label)) });
            court.agent(name, "reviewer", &replies);
        }
        court
    }

    /// Returns a change with a defect and nobody to look at it.
    pub(super) fn empty() -> Self {
        let env = TestEnv::with_repository();
        env.write("src/pay.py", BEFORE);
        env.commit_all("second");
        env.write("src/pay.py", AFTER);
        Self {
            env,
            agents: Vec::new(),
            settings: String::new(),
        }
    }

    /// Adds an agent with these replies.
    pub(super) fn agent(&mut self, name: &str, role: &str, replies: &Value) {
        let script = self.env.root().join(format!("{name}.json"));
        std::fs::write(&script, json!({ "replies": replies }).to_string()).unwrap();
        self.agents.push(format!(
            "  - {{name: {name}, provider: scripted, script: {:?}, role: {role}, family: {name}s}}\n",
            script.display().to_string()
        ));
    }

    /// Adds a coder who answers with these responses and writes these files.
    pub(super) fn coder(&mut self, responses: &str, write: &Value) {
        let replies = json!([{ "text": answer("responses", responses), "write": write }]);
        self.agent("cody", "coder", &replies);
    }

    /// Adds a judge who always rules like this.
    pub(super) fn judge(&mut self, word: &str) {
        let ruling = format!(
            r#"{{"nonce": "{NONCE}", "ruling": "{word}", "reason": "src/pay.py:5 shows it.", "reversal": "A caller that escapes.", "end": "{NONCE}"}}"#
        );
        self.agent("jude", "judge", &json!([{ "text": ruling }]));
    }

    /// Adds an agent as it is written in the config.
    pub(super) fn raw_agent(&mut self, yaml: &str) {
        self.agents.push(format!("  - {yaml}\n"));
    }

    /// Adds a line to the settings of reviews.
    pub(super) fn setting(&mut self, line: &str) {
        self.settings.push_str(&format!("  {line}\n"));
    }

    pub(super) fn write_config(&self) {
        let agents = self.agents.concat();
        self.env.write_user_config(&format!(
            "agents:\n{agents}review:\n  builtin: []\n  rounds: 1\n{}retry: {{attempts: 1}}\n",
            self.settings
        ));
    }

    /// Arbitrates, checks that the user's files are as before, and returns what came of it.
    pub(super) fn arbitrate(&self, args: &[&str]) -> Ran {
        self.write_config();
        let before = self.files();
        let mut all = vec!["review", "--arbitrate"];
        all.extend(args);
        let ran = self.env.run(all);
        if !args.contains(&"--apply") {
            assert_eq!(self.files(), before, "{}", ran.stderr);
        }
        self.env.assert_healthy();
        self.assert_tidy();
        ran
    }

    /// Arbitrates and tells the end in a few words.
    pub(super) fn told(&self, args: &[&str]) -> String {
        let mut all = vec!["--json"];
        all.extend(args);
        told(&self.arbitrate(&all))
    }

    /// Panics if anything is left where coders work.
    pub(super) fn assert_tidy(&self) {
        let left = self.env.places_left();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Returns all files of the project, the index and `HEAD` included.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let root = self.env.project();
        let mut found = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                let is_object = name.starts_with(".git/objects");
                // The record of disputes belongs there; the user's own files do not change.
                if is_object || name.contains("tribunal") || name == "dispute.md" {
                    continue;
                }
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        found.insert(name, std::fs::read(&path).unwrap());
                    }
                }
            }
        }
        found
    }

    /// Returns a file as it is on the branch that was offered.
    pub(super) fn on_branch(&self, ran: &Ran, path: &str) -> String {
        let report = ran.json();
        let branch = report["arbitration"]["offer"]["branch"].as_str().unwrap();
        self.git(&["show", &format!("{branch}:{path}")])
    }

    /// Replaces what differs from run to run, names of branches and commits included.
    pub(super) fn tidy(&self, text: &str) -> String {
        let text = self.env.tidy(text);
        let mut tidy = String::new();
        for word in text.split_inclusive([' ', '\n', '`', ')', '(', '/']) {
            let end = word.trim_end_matches([' ', '\n', '`', ')', '(', '/', '…', ';', '.']);
            let is_hex = |id: &str| id.len() >= 10 && id.bytes().all(|b| b.is_ascii_hexdigit());
            let known = end.strip_prefix("c-").or(end.strip_prefix("d-"));
            match known.filter(|id| is_hex(id)) {
                Some(_) => tidy.push_str(&format!("[{}]{}", &end[..1], &word[end.len()..])),
                None if is_hex(end) => tidy.push_str(&format!("[COMMIT]{}", &word[end.len()..])),
                None => tidy.push_str(word),
            }
        }
        tidy
    }

    pub(super) fn git(&self, args: &[&str]) -> String {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(self.env.project())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Returns the replies of a reviewer who reports the defect, checks the fix and finds no more than
/// `later` in the coder's work.
pub(super) fn ann(later: &[&str], is_fixed: bool) -> Value {
    let state = match is_fixed {
        true => r#""can_happen": "no", "state": "fixed""#,
        false => r#""can_happen": "yes", "state": "not_fixed""#,
    };
    let all = (1..=9)
        .map(|number| {
            format!(r#"{{"finding_id": "F{number}", {state}, "reason": "src/pay.py:5 shows it."}}"#)
        })
        .collect::<Vec<_>>();
    let mut replies = Vec::new();
    // The checks that were asked for stand first; more than that would be problems.
    for asked in (1..=9).rev() {
        let checks = all
            .iter()
            .take(asked)
            .cloned()
            .collect::<Vec<_>>()
            .join(",");
        replies.push(json!({
            "when": ["Was it fixed?", format!("\"finding_id\":\"F{asked}\"")],
            "text": answer("checks", &checks),
        }));
    }
    replies.push(json!({"when": "The change: the coder's work", "text": signed(&later.join(","))}));
    replies.push(json!({ "text": signed(DEFECT) }));
    Value::Array(replies)
}

/// Returns an answer under contract with one list.
pub(super) fn answer(list: &str, items: &str) -> String {
    format!(r#"{{"nonce": "{NONCE}", "{list}": [{items}], "end": "{NONCE}"}}"#)
}

/// Returns a response to the first finding.
pub(super) fn says(word: &str, more: &str) -> String {
    format!(r#"{{"finding_id": "F1", "answer": "{word}"{more}}}"#)
}

/// Returns the end of an arbitration in a few words, after checking the exit code.
pub(super) fn told(ran: &Ran) -> String {
    let report = ran.json();
    let gate = report["gate"].as_str().unwrap();
    let code = match gate {
        "pass" => 0,
        "fail" => 1,
        _ => 5,
    };
    assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    let arbitration = &report["arbitration"];
    let mut told = gate.to_owned();
    for finding in arbitration["findings"].as_array().unwrap() {
        let state = finding["state"].as_str().unwrap();
        told += &format!("; {}: {state}", finding["title"].as_str().unwrap());
        if let Some(why) = finding["why"].as_str() {
            told += &format!(" ({why})");
        }
        for dispute in finding["disputes"].as_array().into_iter().flatten() {
            let decision = dispute["decision"]["decision"].as_str().unwrap_or("open");
            told += &format!(", {} {decision}", dispute["origin"].as_str().unwrap());
        }
    }
    let end = arbitration["end"]["reason"].as_str().unwrap();
    let offered = arbitration["offer"]["offered"]
        .as_str()
        .unwrap_or("nothing");
    let with = report["gate_with_offer"].as_str();
    let with = with.map_or_else(String::new, |gate| format!(" ({gate} with it)"));
    told + &format!("; {end}; offered {offered}{with}")
}
