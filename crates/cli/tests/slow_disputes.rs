//! Kills commands about disputes at every named point: the next command does what is left, once.
//! And lets several processes rule at the same time: one of them wins.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

use common::{Ran, TestEnv, resolve_args};
use serde_json::{Value, json};

/// A project with one task in review, and perhaps a dispute about it.
struct Scene {
    env: TestEnv,
    task: String,
}

impl Scene {
    fn new() -> Self {
        let env = TestEnv::new();
        let script = env.root().join("jim.json");
        let nonce = "{{line:Nonce: }}";
        let ruling = json!({"nonce": nonce, "ruling": "DISMISS", "reason": "src/a.rs:1 checks it before the call.",
            "reversal": "a test", "end": nonce});
        std::fs::write(
            &script,
            json!({"replies": [{ "json": ruling }]}).to_string(),
        )
        .unwrap();
        env.write_user_config(&format!(
            "agents:\n  - {{name: jim, provider: scripted, script: {:?}, role: judge}}\n",
            script.display().to_string()
        ));
        let added = env.run(["task", "add", "Fix login bug", "--json"]);
        let task = added.assert_code(0).json()["task"]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        for step in ["start", "submit"] {
            env.run(["task", step, &task]).assert_code(0);
        }
        Self { env, task }
    }

    fn disputed() -> (Self, String) {
        let scene = Self::new();
        scene.env.run(create(&scene.task)).assert_code(0);
        let id = scene.only_dispute()["id"].as_str().unwrap().to_owned();
        let args = ["dispute", "answer", &id, "--position", "They do."];
        scene.env.run(args).assert_code(0);
        (scene, id)
    }

    fn disputes(&self) -> Vec<Value> {
        let listed = self.env.run(["dispute", "list", "--json"]).assert_code(0);
        listed.json()["disputes"].as_array().unwrap().clone()
    }

    fn only_dispute(&self) -> Value {
        let mut disputes = self.disputes();
        assert_eq!(disputes.len(), 1, "{disputes:?}");
        disputes.remove(0)
    }

    fn marker(&self) -> String {
        let shown = self.env.run(["task", "show", &self.task]).assert_code(0);
        shown.stdout.chars().take(3).collect()
    }

    /// Returns the page with its ids and times replaced.
    fn page(&self) -> String {
        let path = self.env.project().join("dispute.md");
        self.env
            .tidy(&std::fs::read_to_string(path).unwrap_or_default())
    }

    /// Checks that the story is whole and each effect was done once.
    fn check(&self, what: &str) {
        self.env.assert_healthy();
        for dispute in self.disputes() {
            let case = dispute["case"].as_str().unwrap();
            let shown = self.env.run(["show", case, "--json"]).assert_code(0).json();
            let mut done: BTreeMap<String, u32> = BTreeMap::new();
            for event in shown["events"].as_array().unwrap() {
                let effect = event["effect"].as_str().unwrap_or_default().to_owned();
                match event["type"].as_str().unwrap() {
                    "effect_intended" => drop(done.entry(effect).or_default()),
                    "effect_done" => *done.entry(effect).or_default() += 1,
                    _ => {}
                }
            }
            assert!(done.values().all(|times| *times == 1), "{what}: {done:?}");
        }
        let audit = self.env.run(["task", "audit", &self.task]);
        assert_eq!(audit.code, Some(0), "{what}: {}", audit.stdout);
        for word in ["disputed by", "ruled on by"] {
            assert!(
                audit.stdout.matches(word).count() <= 1,
                "{what}: {}",
                audit.stdout
            );
        }
        let left: Vec<_> = std::fs::read_dir(self.env.project())
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
            .filter(|name| name.starts_with(".dispute.md"))
            .collect();
        assert!(left.len() <= 1, "{what}: {left:?}");
    }
}

fn create(task: &str) -> Vec<&str> {
    let position = "Tokens never expire";
    vec![
        "dispute",
        "create",
        task,
        "--reason",
        "security_concern",
        "--position",
        position,
    ]
}

/// Returns the names of the points that `args` reaches, each with its number of hits.
fn points(scene: &mut Scene, args: &[&str]) -> Vec<String> {
    let list = scene.env.root().join("points");
    scene
        .env
        .set_env("TRIBUNAL_CRASH_LIST", list.display().to_string());
    let ran = scene.env.run(args);
    assert!(matches!(ran.code, Some(0 | 5)), "{ran:?}");
    let text = std::fs::read_to_string(&list).unwrap();
    let distinct: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    distinct.into_iter().collect()
}

/// Runs `args` until it dies at `point`, which it must.
fn die_at(scene: &mut Scene, point: &str, args: &[&str]) {
    scene.env.set_env("TRIBUNAL_CRASH_AT", point);
    let ran = scene.env.run(args);
    assert_eq!(ran.code, None, "{point} was not reached: {ran:?}");
    scene.env.set_env("TRIBUNAL_CRASH_AT", "nowhere");
}

#[test]
fn a_dispute_is_opened_once_wherever_the_process_is_killed() {
    let mut reference = Scene::new();
    let args: Vec<String> = create(&reference.task)
        .iter()
        .map(|&s| s.to_owned())
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let points = points(&mut reference, &args);
    assert!(points.len() >= 12, "{points:?}");
    let expected = reference.page();
    for point in points {
        let mut scene = Scene::new();
        let task = scene.task.clone();
        die_at(&mut scene, &point, &create(&task));
        if scene.disputes().is_empty() {
            scene.env.run(create(&task)).assert_code(0);
        }
        scene.only_dispute();
        assert_eq!(scene.marker(), "[!]", "{point}");
        assert_eq!(scene.page(), expected, "{point}");
        scene.check(&point);
    }
}

#[test]
fn a_ruling_takes_hold_once_wherever_the_process_is_killed() {
    let (mut reference, id) = Scene::disputed();
    let points = points(&mut reference, &resolve_args(&id, "coder", "fine"));
    assert!(points.len() >= 12, "{points:?}");
    let expected = reference.page();
    for point in points {
        let (mut scene, id) = Scene::disputed();
        let args = resolve_args(&id, "coder", "fine");
        die_at(&mut scene, &point, &args);
        // The next command does what is left; what was not stored is asked for again.
        if scene.only_dispute()["status"] == "open" {
            scene.env.run(args).assert_code(0);
        }
        assert_eq!(scene.marker(), "[x]", "{point}");
        assert_eq!(scene.page(), expected, "{point}");
        scene.check(&point);
    }
}

#[test]
fn a_judge_rules_once_wherever_the_process_is_killed() {
    let (mut reference, id) = Scene::disputed();
    let points = points(&mut reference, &["dispute", "judge", &id]);
    let expected = reference.page();
    for point in points {
        let (mut scene, id) = Scene::disputed();
        die_at(&mut scene, &point, &["dispute", "judge", &id]);
        scene.env.run(["resume"]);
        let dispute = scene.only_dispute();
        if dispute["status"] == "open" {
            let judged = scene.env.run(["dispute", "judge", &id]);
            assert_eq!(judged.code, Some(0), "{point}: {judged:?}");
        }
        let dispute = scene.only_dispute();
        assert_eq!(dispute["rulings"].as_array().unwrap().len(), 1, "{point}");
        assert_eq!(dispute["hearings"].as_array().unwrap().len(), 1, "{point}");
        let case = dispute["case"].as_str().unwrap();
        let shown = scene.env.run(["show", case, "--format", "jsonl"]).stdout;
        let runs = shown.matches("\"run_started\"").count();
        assert!((1..=2).contains(&runs), "{point}: {runs} runs");
        assert_eq!(scene.marker(), "[x]", "{point}");
        assert_eq!(scene.page(), expected, "{point}");
        scene.check(&point);
    }
}

#[test]
fn of_several_processes_that_rule_at_once_one_wins_and_the_others_are_told() {
    for round in 0..12 {
        let (scene, id) = Scene::disputed();
        let start = |decision: &str| {
            let args = resolve_args(&id, decision, decision);
            let mut command = scene.env.command(args);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            (decision.to_owned(), command.spawn().unwrap())
        };
        let started = ["coder", "reviewer", "coder", "reviewer"].map(start);
        let ended = started.map(|(decision, child)| {
            let output = child.wait_with_output().unwrap();
            let ran = Ran {
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
                code: output.status.code(),
            };
            (decision, ran)
        });
        let (won, lost): (Vec<_>, Vec<_>) = ended.iter().partition(|(_, ran)| ran.code == Some(0));
        assert_eq!(won.len(), 1, "round {round}: {ended:?}");
        for (_, ran) in lost {
            assert_eq!(ran.code, Some(6), "round {round}: {ran:?}");
            let told = ran.stderr.contains("was ruled before")
                || ran.stderr.contains("is being worked on by process");
            assert!(told, "round {round}: {}", ran.stderr);
        }
        let expected = if won[0].0 == "coder" { "[x]" } else { "[-]" };
        assert_eq!(scene.marker(), expected, "round {round}");
        let dispute = scene.only_dispute();
        assert_eq!(dispute["rulings"].as_array().unwrap().len(), 1);
        scene.check("race");
    }
}

#[test]
fn processes_that_open_disputes_at_once_leave_a_page_with_all_of_them() {
    let env = TestEnv::new();
    let tasks: Vec<String> = (0..6)
        .map(|number| {
            let added = env.run(["task", "add", &format!("Task {number}"), "--json"]);
            let id = added.assert_code(0).json()["task"]["id"].clone();
            id.as_str().unwrap().to_owned()
        })
        .collect();
    let children: Vec<_> = tasks
        .iter()
        .map(|task| {
            let mut args = create(task);
            args.extend(["--as", "coder"]);
            let mut command = env.command(args);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let page = std::fs::read_to_string(env.project().join("dispute.md")).unwrap();
    assert_eq!(page.matches("(OPEN)").count(), 6, "{page}");
    env.assert_healthy();
}

#[test]
fn a_message_that_was_sent_but_not_recorded_is_sent_once_more_under_the_same_name() {
    for point in ["dispute.alert.before#1", "dispute.alert.sent#1"] {
        let (mut scene, id) = Scene::disputed();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (tell, heard) = std::sync::mpsc::channel();
        std::thread::spawn(move || answer_all(&listener, &tell));
        scene.env.write_user_config(&format!(
            "disputes:\n  alert_on_stale: webhook\n  webhook: {url}\n"
        ));
        scene.env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "8");
        die_at(&mut scene, point, &["dispute", "list"]);
        for _ in 0..3 {
            scene.env.run(["dispute", "list"]).assert_code(0);
        }
        let names: Vec<String> = heard.try_iter().collect();
        let most = if point.contains("sent") { 2 } else { 1 };
        assert_eq!(names, vec![format!("{id}-stale"); most], "{point}");
        scene.check(point);
    }
}

/// Answers every request with 204 and tells the name of its message.
fn answer_all(listener: &std::net::TcpListener, tell: &std::sync::mpsc::Sender<String>) {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim().to_ascii_lowercase();
            if let Some(name) = line.strip_prefix("tribunal-delivery: ") {
                tell.send(name.to_owned()).unwrap();
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
    }
}
