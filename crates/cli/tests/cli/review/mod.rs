//! `review`: from a change to a gate, with the built-in reviewers and a scripted cast.

mod advisories;
mod answers;
mod arbitrate;
mod attacks;
mod builtin;
mod cited;
mod debate;
mod harmless;
mod linter_settings;
mod linters;
mod places;
mod reading;
mod tools;

use serde_json::json;

use crate::common::{Ran, TestEnv};

/// A repository in which a change is reviewed by scripted agents.
pub(super) struct Desk {
    pub(super) env: TestEnv,
    reviewers: Vec<String>,
}

impl Desk {
    /// Returns a repository with one commit.
    pub(super) fn new() -> Self {
        let desk = Self {
            env: TestEnv::with_repository(),
            reviewers: Vec::new(),
        };
        desk.write("src/pay.py", BEFORE);
        desk.env.commit_all("second");
        desk
    }

    /// Returns a repository with an uncommitted change that has a defect on line 5.
    pub(super) fn with_change() -> Self {
        let desk = Self::new();
        desk.write("src/pay.py", AFTER);
        desk
    }

    pub(super) fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        self.env.write(path, contents);
    }

    pub(super) fn git(&self, args: &[&str]) {
        self.env.git(args);
    }

    /// Adds a reviewer who gives these answers, one after the other is asked for.
    pub(super) fn reviewer(&mut self, name: &str, family: &str, replies: &serde_json::Value) {
        let script = self.env.root().join(format!("{name}.json"));
        std::fs::write(&script, json!({ "replies": replies }).to_string()).unwrap();
        self.reviewers.push(format!(
            "  - {{name: {name}, provider: scripted, script: {:?}, role: reviewer, family: {family}}}\n",
            script.display().to_string()
        ));
    }

    /// Adds a linter that runs this shell script in the checkout.
    pub(super) fn linter(&mut self, name: &str, script: &str) {
        let path = self.env.root().join(format!("{name}.sh"));
        std::fs::write(&path, script).unwrap();
        self.reviewers.push(format!(
            "  - {{name: {name}, kind: sarif, command: [sh, {:?}], role: reviewer}}\n",
            path.display().to_string()
        ));
    }

    /// Adds a linter that is a program of this name, which runs this shell script. `more` are further
    /// keys of the agent.
    pub(super) fn program(&mut self, name: &str, script: &str, more: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.env.root().join("bin").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.raw_agent(&format!(
            "{{name: {name}, kind: sarif, command: [{:?}], role: reviewer{more}}}",
            path.display().to_string()
        ));
    }

    /// Adds an agent as it is written in the config.
    pub(super) fn raw_agent(&mut self, yaml: &str) {
        self.reviewers.push(format!("  - {yaml}\n"));
    }

    /// Reviews with the scripted cast alone.
    pub(super) fn review(&self, args: &[&str]) -> Ran {
        let agents: String = self.reviewers.concat();
        let yaml = format!(
            "agents:\n{agents}review: {{builtin: [], rounds: 1}}\nretry: {{attempts: 1}}\n"
        );
        self.env.write_user_config(&yaml);
        let mut all = vec!["review"];
        all.extend(args);
        let ran = self.env.run(all);
        self.env.assert_healthy();
        ran
    }

    /// Reviews with one reviewer who answers `text`, and tells what came of it.
    pub(super) fn outcome_of(text: &str) -> String {
        let mut desk = Self::with_change();
        desk.reviewer("ann", "anthropic", &json!([{ "text": text }]));
        told(&desk.review(&["--json"]))
    }
}

pub(super) const BEFORE: &str = "import db


def total(rows):
    return sum(row.amount for row in rows)
";

pub(super) const AFTER: &str = "import db


def total(rows, user):
    rate = db.execute(\"SELECT rate FROM rates WHERE user = '%s'\" % user)
    return sum(row.amount for row in rows) * rate
";

/// An answer under contract with these findings.
pub(super) fn signed(findings: &str) -> String {
    format!(r#"{{"nonce": "{NONCE}", "findings": [{findings}], "end": "{NONCE}"}}"#)
}

/// Where a scripted agent writes the nonce of its question.
pub(super) const NONCE: &str = "{{line:Nonce: }}";

/// The finding that the change deserves.
pub(super) const DEFECT: &str = r#"{"id": "1", "file": "src/pay.py", "line": 5, "label": "HIGH", "category": "security", "confidence": 90, "title": "SQL from user input", "description": "`user` reaches the statement unescaped, so a quote ends the literal.", "quote": "WHERE user = '%s'", "trigger": "user = \"' OR 1=1 --\"", "suggestion": "Pass it as a parameter."}"#;

/// Returns gate, findings and causes in one line.
pub(super) fn told(ran: &Ran) -> String {
    let report = ran.json();
    let titles: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!(
                "{} {}",
                one["verdict"].as_str().unwrap(),
                one["title"].as_str().unwrap()
            )
        })
        .collect();
    let gate = report["gate"].as_str().unwrap();
    let code = match gate {
        "pass" => 0,
        "fail" => 1,
        _ => 5,
    };
    assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    let causes = report["causes"].as_array();
    let causes: Vec<_> = causes.iter().flat_map(|list| list.iter()).collect();
    let mut told = gate.to_owned();
    for title in titles {
        told += &format!("; {title}");
    }
    for cause in causes {
        told += &format!("; {}", cause.as_str().unwrap());
    }
    told
}
