//! A repository with a change, scripted agents in the user's own settings, and the program.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::common::{Ran, TestEnv};
use crate::reported_claim::ReportedClaim;

/// Where a scripted agent writes the nonce of its question.
pub(crate) const NONCE: &str = "{{line:Nonce: }}";

/// The code before the change.
pub(crate) const SHOP_BEFORE: &str = "import db


def total(rows):
    return sum(row.amount for row in rows)
";

/// The code after the change. Reviewers quarrel about lines 5, 10 and 14.
pub(crate) const SHOP_AFTER: &str = "import db


def total(rows, user):
    rate = db.execute(\"SELECT rate FROM rates WHERE user = '%s'\" % user)
    return sum(row.amount for row in rows) * rate


def share(amount, count):
    return amount / count


def refund(order, amount):
    order.balance -= amount
    db.save(order)
    return order.balance
";

/// The code after the change, with the statement on line 5 mended.
pub(crate) const SHOP_MENDED: &str = "import db


def total(rows, user):
    rate = db.execute(\"SELECT rate FROM rates WHERE user = ?\", (user,))
    return sum(row.amount for row in rows) * rate


def share(amount, count):
    return amount / count


def refund(order, amount):
    order.balance -= amount
    db.save(order)
    return order.balance
";

/// A file with a defect that a built-in rule reports as HIGH.
pub(crate) const EVAL_DEFECT: &str = "def run(text):\n    return eval(text)\n";

/// The same file without the defect.
pub(crate) const EVAL_MENDED: &str = "def run(text):\n    return int(text)\n";

/// A repository, its agents and its settings.
pub(crate) struct GateScene {
    pub(crate) env: TestEnv,
    agents: Vec<String>,
    review_settings: Vec<String>,
    settings: String,
    has_user_settings: bool,
}

impl GateScene {
    /// Returns a repository with one commit and nothing but the built-in reviewers.
    pub(crate) fn with_builtin_reviewers() -> Self {
        Self {
            env: TestEnv::with_repository(),
            agents: Vec::new(),
            review_settings: Vec::new(),
            settings: String::new(),
            has_user_settings: false,
        }
    }

    /// Returns a repository with an uncommitted change of `src/shop.py` that is reviewed by
    /// scripted agents alone, in one round.
    pub(crate) fn with_shop_change() -> Self {
        let mut scene = Self::with_builtin_reviewers();
        scene.write("src/shop.py", SHOP_BEFORE);
        scene.env.commit_all("the shop");
        scene.write("src/shop.py", SHOP_AFTER);
        scene.has_user_settings = true;
        scene.review_setting("builtin: []");
        scene.review_setting("rounds: 1");
        scene
    }

    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        self.env.write(path, contents);
    }

    pub(crate) fn git(&self, args: &[&str]) {
        self.env.git(args);
    }

    /// Commits what there is on a new branch `pr`.
    pub(crate) fn commit_on_branch(&self) {
        self.git(&["checkout", "-q", "-b", "pr"]);
        self.env.commit_all("the change");
    }

    /// Makes a file of the project executable.
    pub(crate) fn make_executable(&self, path: &str) {
        let path = self.env.project().join(path);
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, permissions).unwrap();
    }

    /// Adds an agent to the user's settings, or replaces its replies.
    pub(crate) fn agent(&mut self, name: &str, family: &str, role: &str, replies: &Value) {
        let script = self.env.root().join(format!("{name}.json"));
        std::fs::write(&script, json!({ "replies": replies }).to_string()).unwrap();
        self.agent_line(&format!(
            "{{name: {name}, provider: scripted, script: {:?}, role: {role}, family: {family}}}",
            script.display().to_string()
        ));
    }

    /// Adds a reviewer who gives one answer to everything.
    pub(crate) fn reviewer(&mut self, name: &str, family: &str, text: &str) {
        self.agent(name, family, "reviewer", &json!([{ "text": text }]));
    }

    /// Adds a reviewer who reports these claims.
    pub(crate) fn reviewer_of(&mut self, name: &str, family: &str, claims: &[ReportedClaim]) {
        self.reviewer(name, family, &signed_claims(claims));
    }

    /// Adds a linter that is a shell script.
    pub(crate) fn linter(&mut self, name: &str, script: &str) {
        let path = self.env.root().join(format!("{name}.sh"));
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        let path = path.display().to_string();
        self.agent_line(&format!(
            "{{name: {name}, kind: sarif, command: [sh, {path:?}], role: reviewer}}"
        ));
    }

    /// Adds an agent as the user's settings have it.
    pub(crate) fn agent_line(&mut self, yaml: &str) {
        let line = format!("  - {yaml}\n");
        if !self.agents.contains(&line) {
            self.agents.push(line);
        }
        self.has_user_settings = true;
    }

    /// Adds a line below `review` to the user's settings.
    pub(crate) fn review_setting(&mut self, line: &str) {
        self.review_settings.push(format!("  {line}\n"));
        self.has_user_settings = true;
    }

    /// Adds settings at the top of the user's settings.
    pub(crate) fn setting(&mut self, yaml: &str) {
        self.settings.push_str(yaml);
        self.settings.push('\n');
        self.has_user_settings = true;
    }

    fn write_user_settings(&self) {
        if !self.has_user_settings {
            return;
        }
        let mut yaml = String::from("retry: {attempts: 1}\n");
        if !self.agents.is_empty() {
            yaml += &format!("agents:\n{}", self.agents.concat());
        }
        if !self.review_settings.is_empty() {
            yaml += &format!("review:\n{}", self.review_settings.concat());
        }
        self.env
            .write_user_config(&format!("{yaml}{}", self.settings));
    }

    /// Runs any command with the user's settings in place.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.write_user_settings();
        self.env.run(args)
    }

    /// Runs `review --json` with these arguments.
    pub(crate) fn review(&self, args: &[&str]) -> Ran {
        self.run(&[&["review", "--json"], args].concat())
    }

    /// Runs `review --arbitrate --json` with these arguments.
    pub(crate) fn arbitrate(&self, args: &[&str]) -> Ran {
        self.review(&[&["--arbitrate"], args].concat())
    }

    /// Rules on the only open dispute as a person.
    pub(crate) fn rule_on_open_dispute(&self, decision: &str) {
        let listed = self.run(&["dispute", "list", "--status", "open", "--json"]);
        let disputes = listed.json()["disputes"].as_array().unwrap().clone();
        assert_eq!(disputes.len(), 1, "one open dispute: {disputes:?}");
        let id = disputes[0]["id"].as_str().unwrap();
        let notes = "src/shop.py shows it, and I have read it.";
        let args = crate::common::resolve_args(id, decision, notes);
        self.run(&args).assert_code(0);
    }
}

/// Returns an answer under contract with these claims.
pub(crate) fn signed_claims(claims: &[ReportedClaim]) -> String {
    let items: Vec<String> = (1..)
        .zip(claims)
        .map(|(number, claim): (usize, _)| claim.as_json(number))
        .collect();
    signed_list("findings", &items.join(","))
}

/// Returns an answer under contract that reports nothing.
pub(crate) fn signed_nothing() -> String {
    signed_list("findings", "")
}

/// Returns an answer under contract with one list.
pub(crate) fn signed_list(key: &str, items: &str) -> String {
    format!(r#"{{"nonce": "{NONCE}", "{key}": [{items}], "end": "{NONCE}"}}"#)
}

/// Returns an answer under contract in tagged lines.
pub(crate) fn signed_lines(lines: &[String]) -> String {
    format!("REVIEW {NONCE}\n{}\nEND {NONCE}", lines.join("\n"))
}
