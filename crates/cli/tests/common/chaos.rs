//! Agents that answer well, badly, with nothing, with lies, or die; and what must hold of the loop all
//! the same.
//!
//! What an agent does follows from the seed, its role, the title of the task and how often it was asked,
//! so a seed tells the same story again.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use super::TestEnv;

/// One program for all roles; the role is its argument.
const AGENT: &str = r##"#!/bin/sh
prompt=$(cat)
field() { printf '%s\n' "$prompt" | sed -n "s/^$1: //p" | head -1; }
nonce=$(field Nonce)
title=$(field Task)
key=$(printf '%s' "$SEED $1 $title" | cksum | cut -d' ' -f1)
n=$(( $(cat "$DIR/$key" 2>/dev/null || echo 0) + 1 ))
echo "$n" > "$DIR/$key"
x=$(( (key + n * 7919 + SEED * 104729) % 2147483648 ))
x=$(( (x * 1103515245 + 12345) % 2147483648 ))
dice=$(( (x / 65536) % 100 ))
name=$(printf '%s' "$title" | tr -c 'a-z0-9' '_')
say() { printf '{"nonce": "%s", %s, "end": "%s"}\n' "$nonce" "$1" "$nonce"; exit 0; }
case "$dice" in
  9[5-9]) kill -9 $$ ;;
  9[0-4]) exit 1 ;;
  8[7-9]) echo "Looks good to me."; exit 0 ;;
  86) exit 0 ;;
  85) printf '{"nonce": "%s", "end": "%s"} {"nonce": "%s", "decision": "COMPLETE"' "$nonce" "$nonce" "$nonce"; exit 0 ;;
esac
case "$1 $prompt" in
  coder*"# Review feedback on your code"*)
    case "$dice" in
      [0-3]?) say '"responses": []' ;;
      *) say '"responses": [{"finding_id": "F1", "answer": "objected", "reason": "misunderstood_context", "justification": "Only constants come in.", "evidence": [{"kind": "code", "reference": "a.py:1", "text": "def f(x):"}]}]' ;;
    esac ;;
  coder*)
    case "$dice" in
      [0-4]?) printf 'def f(x):\n    return x + %s\n' "$n" > "$name.py" ;;
      5?) printf 'def f(x):\n    return eval(x)  # %s\n' "$n" > "$name.py" ;;
      6?) printf 'x = %s\n' "$n" > shared.py ;;
      7?) : > bug ;;
    esac
    say '"summary": "all of it is done", "done": ["1"]' ;;
  planner*) say '"steps": [{"id": "1", "title": "one"}, {"id": "2", "title": "two", "depends_on": ["1"]}]' ;;
  reviewer*"# Review of a change"*)
    file=$(printf '%s\n' "$prompt" | grep -o '[a-z_0-9]*\.py' | head -1)
    case "$dice" in
      [0-5]?) say '"findings": []' ;;
      *) say '"findings": [{"id": "1", "file": "'"$file"'", "line": 1, "label": "HIGH", "category": "bug", "confidence": 90, "title": "wrong sum '"$n"'", "description": "it adds the wrong number", "quote": "def f(x):", "trigger": "any call", "suggestion": "add one"}]' ;;
    esac ;;
  reviewer*) say '"checks": [{"finding_id": "F1", "fixed": true, "reason": "it is gone"}]' ;;
  arbiter*"# Guidance for both sides"*) say '"coder": "way '"$n"'", "reviewer": "look '"$n"'"' ;;
  arbiter*)
    case "$dice" in
      [0-1]?) say '"decision": "COMPLETE", "reason": "r", "summary": "s"' ;;
      2?) say '"decision": "CONTINUE", "reason": "r"' ;;
      [3-4]?) say '"decision": "RETRY", "reason": "another way"' ;;
      5?) say '"decision": "SELECT_MODE", "mode": "reviewer", "reason": "r"' ;;
      6?) say '"decision": "SELECT_MODE", "mode": "tester", "reason": "r"' ;;
      *) say '"decision": "SELECT_MODE", "mode": "developer", "reason": "r"' ;;
    esac ;;
  judge*)
    case "$dice" in
      [0-3]?) say '"ruling": "dismiss", "reason": "only constants come in", "reversal": "another caller"' ;;
      *) say '"ruling": "enforce", "reason": "it is wrong", "reversal": "a test"' ;;
    esac ;;
esac
"##;

/// The limits of a story, and who takes part in it.
#[derive(Debug, Clone, Copy)]
pub struct Story {
    pub seed: u64,
    pub tasks: u32,
    pub max_iterations: u32,
    pub max_rejections: u32,
    pub lanes: u32,
    with: u64,
}

impl Story {
    /// Returns the story of a seed.
    pub fn of(seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut below = |most: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % most
        };
        let small = |number: u64| u32::try_from(number).unwrap();
        Self {
            seed,
            tasks: small(2 + below(3)),
            max_iterations: small(1 + below(6)),
            max_rejections: small(1 + below(3)),
            lanes: small(1 + below(3)),
            with: below(256),
        }
    }

    /// Returns a story in which all roles are taken and limits are low.
    pub fn with_everybody(seed: u64) -> Self {
        Self {
            with: 0xFF,
            max_iterations: 4,
            max_rejections: 2,
            ..Self::of(seed)
        }
    }

    fn has(&self, bit: u32) -> bool {
        self.with & (1 << bit) != 0
    }

    /// Writes the agents and the config into `env`.
    pub fn set(&self, env: &TestEnv) {
        let dir = env.root().join("dice");
        std::fs::create_dir_all(&dir).unwrap();
        let head = format!("#!/bin/sh\nSEED={}\nDIR='{}'\n", self.seed, dir.display());
        let script = env.write("../chaos.sh", head + AGENT);
        let agent = |name: &str, role: &str, part: &str| {
            let script = script.display();
            format!(
                "  - {{name: {name}, command: [sh, {script}, {part}], role: {role}, family: {name}s}}\n"
            )
        };
        let mut agents = agent("ann", "coder", "coder");
        for (bit, name, role, part) in [
            (0, "bob", "coder", "coder"),
            (1, "planner", "coder", "planner"),
            (2, "rex", "reviewer", "reviewer"),
            (3, "art", "arbiter", "arbiter"),
            (4, "judy", "judge", "judge"),
        ] {
            if self.has(bit) {
                agents += &agent(name, role, part);
            }
        }
        let tests = match self.has(5) {
            true => "project: {test_command: [sh, -c, 'test ! -e bug']}\n",
            false => "",
        };
        let attempts = if self.has(6) { 1 } else { 2 };
        env.write_user_config(&format!(
            "agents:\n{agents}retry: {{attempts: {attempts}, base: 1ms}}\n{tests}\
             run: {{max_iterations: {}, max_rejections: {}, coordinate_at: [1], arbitrate: {}}}\n",
            self.max_iterations,
            self.max_rejections,
            self.has(7),
        ));
    }

    /// Panics unless all that must hold after `runs` runs does.
    pub fn check(&self, env: &TestEnv, runs: usize) {
        let board = env.run(["task", "list", "--json"]).assert_code(0).json();
        for task in board["tasks"].as_array().unwrap() {
            let id = task["id"].as_str().unwrap();
            let shown = env.run(["task", "show", id, "--json"]).assert_code(0);
            let shown = shown.json()["task"].clone();
            let events = events(env, id);
            self.check_reason(env, &shown);
            self.check_work(env, &shown, &events);
            self.check_approval(&shown, &events);
            self.check_calls(&shown, &events, runs);
        }
        env.run(["task", "audit"]).assert_code(0);
        env.assert_healthy();
        env.assert_no_survivor("the loop");
    }

    /// A task that is not completed says why, and nobody holds it.
    fn check_reason(&self, env: &TestEnv, task: &Value) {
        let state = task["state"].as_str().unwrap();
        let id = &task["id"];
        assert!(task["holder"].is_null(), "{self:?}: {id} is held");
        if !matches!(state, "completed" | "pending") {
            let events = env.run(["show", id.as_str().unwrap()]).stdout;
            assert!(task["why"].is_string(), "{self:?}: {task}\n{events}");
            assert!(task["next"].is_string(), "{self:?}: {task}");
        }
    }

    /// Work is on a branch of the user wherever the task ended.
    fn check_work(&self, env: &TestEnv, task: &Value, events: &[Value]) {
        let (state, id) = (
            task["state"].as_str().unwrap(),
            task["id"].as_str().unwrap(),
        );
        if !matches!(state, "failed" | "disputed") {
            return;
        }
        let kept = events.iter().rposition(|one| one["type"] == "work_kept");
        let based = events.iter().rposition(|one| one["type"] == "work_based");
        let Some(kept) = kept.filter(|kept| based.is_some_and(|based| based < *kept)) else {
            return;
        };
        let commit = events[kept]["commit"].as_str().unwrap();
        let branch = format!("refs/heads/tribunal/task/{id}");
        let there = Command::new("git")
            .args(["rev-parse", &branch])
            .current_dir(env.project())
            .output()
            .unwrap();
        let there = String::from_utf8_lossy(&there.stdout).trim().to_owned();
        assert_eq!(there, commit, "{self:?}: work of {id} is on no branch");
    }

    /// Only a review that passed, or a ruling, completes a task.
    fn check_approval(&self, task: &Value, events: &[Value]) {
        if task["state"] != "completed" {
            return;
        }
        let moved = events.iter().rfind(|one| one["type"] == "task_moved");
        if moved.unwrap()["done"] != "approve" {
            return;
        }
        let reviewed = events.iter().rfind(|one| one["type"] == "task_reviewed");
        let gate = reviewed
            .map(|one| one["gate"].to_string())
            .unwrap_or_default();
        assert!(gate.contains("pass"), "{self:?}: {task} after {gate}");
        let mut tests = events.iter().rev();
        let tested = tests.find(|one| one["execution"]["result"] == "tested");
        if let Some(tested) = tested {
            assert_eq!(tested["execution"]["passed"], true, "{self:?}: {task}");
        }
    }

    /// Between two reviews, executions and calls stay within what docs/tasks.md says.
    fn check_calls(&self, task: &Value, events: &[Value], runs: usize) {
        let most = self.max_iterations as usize + 1;
        let (mut executions, mut failed) = (0, 0);
        let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
        for event in events {
            match event["type"].as_str().unwrap() {
                "task_moved" if event["done"] != "submit" => {
                    (executions, failed) = (0, 0);
                    calls.clear();
                }
                "task_reviewed" => calls.clear(),
                "execution_done" if event["execution"]["result"] == "failed" => failed += 1,
                "execution_done" => executions += 1,
                "run_started" => {
                    let role = event["role"].as_str().unwrap();
                    *calls.entry(role).or_default() += 1;
                }
                _ => {}
            }
            let title = &task["title"];
            assert!(
                executions <= most + 1,
                "{self:?}: {executions} executions, {title}"
            );
            assert!(
                failed <= most * runs,
                "{self:?}: {failed} failures, {title}"
            );
            // A call that failed may be repeated once.
            let of = |role: &str| calls.get(role).copied().unwrap_or(0);
            assert!(
                of("coder") <= most * 4 * runs,
                "{self:?}: {calls:?}, {title}"
            );
            assert!(
                of("arbiter") <= (most + 1) * 8 * runs,
                "{self:?}: {calls:?}, {title}"
            );
        }
    }
}

fn events(env: &TestEnv, case: &str) -> Vec<Value> {
    let shown = env.run(["show", case, "--format", "jsonl"]).assert_code(0);
    let lines = shown.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
