//! Disputes that have been open for too long: the list, the warning and the webhook.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use insta::assert_snapshot;

use super::{Court, add_task, open_dispute};
use crate::common::TestEnv;

#[test]
fn stale_disputes_are_listed_with_their_days() {
    let mut court = Court::new();
    let id = court.open();
    let fresh = court.env.run(["dispute", "list", "--stale"]).assert_code(0);
    assert_snapshot!(fresh.stderr, @"No dispute has been open for > 7 days.");
    court.env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "3");
    let other = add_task(&court.env, "Add OAuth");
    court.env.run(["task", "start", &other]).assert_code(0);
    open_dispute(&court.env, &other);
    court.env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "12");
    let stale = court.env.run(["dispute", "list", "--stale"]).assert_code(0);
    assert_snapshot!(court.env.tidy(&stale.stdout), @"
    WARNING: 2 disputes have been open for > 7 days

     ID            TASK           DAYS OPEN 
     [DISPUTE]  Fix login bug  12        
     [DISPUTE]  Add OAuth      9         

    Run `tribunal dispute show <id>` for details.
    ");
    let shown = court.env.run(["dispute", "show", &id]).assert_code(0);
    assert_snapshot!(court.env.tidy(&shown.stderr), @"
    Warning: dispute [DISPUTE] (Fix login bug) has been open for 12 days.
    Warning: dispute [DISPUTE] (Add OAuth) has been open for 9 days.
    ");
    let args = ["--set", "disputes.alert_on_stale=none", "dispute", "list"];
    assert_eq!(court.env.run(args).assert_code(0).stderr, "");
    let args = ["--set", "disputes.timeout_days=20", "dispute", "list"];
    assert_eq!(court.env.run(args).assert_code(0).stderr, "");
    court.env.assert_healthy();
}

#[test]
fn a_dispute_is_stale_as_soon_as_the_days_are_over() {
    let mut court = Court::new();
    court.open();
    for (ahead, stale) in [("6", 0), ("7", 1)] {
        court.env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", ahead);
        let args = ["dispute", "list", "--stale", "--json"];
        let listed = court.env.run(args).assert_code(0).json();
        assert_eq!(
            listed["disputes"].as_array().unwrap().len(),
            stale,
            "{ahead}"
        );
    }
}

/// A receiver that answers each message with the next of `statuses`, then with 204.
struct Receiver {
    url: String,
    heard: mpsc::Receiver<(String, serde_json::Value)>,
}

impl Receiver {
    fn new(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (tell, heard) = mpsc::channel();
        std::thread::spawn(move || {
            let mut statuses = statuses.iter();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut delivery, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    let line = line.trim().to_ascii_lowercase();
                    if let Some(value) = line.strip_prefix("tribunal-delivery: ") {
                        delivery = value.to_owned();
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
                let status = statuses.next().unwrap_or(&204);
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
                stream.write_all(answer.as_bytes()).unwrap();
                let _ = tell.send((delivery, serde_json::from_slice(&body).unwrap()));
            }
        });
        Self { url, heard }
    }

    fn all(&self) -> Vec<(String, serde_json::Value)> {
        self.heard.try_iter().collect()
    }
}

fn webhook(court: &mut Court, url: &str) {
    court.env.write_user_config(&format!(
        "disputes:\n  alert_on_stale: webhook\n  webhook: {url}\n"
    ));
    court.env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "8");
}

#[test]
fn the_webhook_is_told_once_for_each_stale_dispute() {
    let mut court = Court::new();
    let id = court.open();
    let receiver = Receiver::new(&[503, 500]);
    webhook(&mut court, &receiver.url);
    for status in ["503", "500"] {
        let listed = court.env.run(["dispute", "list"]).assert_code(0);
        assert_eq!(
            listed.stderr,
            format!(
                "Warning: the webhook did not take the message about 1 stale dispute (HTTP {status}); a later command tries again.\n"
            )
        );
    }
    for _ in 0..2 {
        let listed = court.env.run(["dispute", "list"]).assert_code(0);
        assert_eq!(listed.stderr, "");
    }
    let heard = receiver.all();
    assert_eq!(heard.len(), 3, "two failures and one success");
    for (delivery, body) in &heard {
        assert_eq!(*delivery, format!("{id}-stale"));
        assert_eq!(body["event"], "dispute_stale");
        assert_eq!(body["dispute"], id);
        assert_eq!(body["days_open"], 8);
        assert_eq!(body["subject"]["title"], "Fix login bug");
    }
    let shown = court.env.run(["dispute", "show", &id, "--json"]);
    let deliveries = shown.assert_code(0).json()["dispute"]["deliveries"].clone();
    let told: Vec<String> = deliveries
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {} {}", one["attempt"], one["delivered"], one["answer"]))
        .collect();
    assert_eq!(
        told,
        [
            r#"1 false "HTTP 503""#,
            r#"2 false "HTTP 500""#,
            r#"3 true "HTTP 204""#
        ]
    );
    court.env.assert_healthy();
}

#[test]
fn an_address_that_does_not_answer_is_not_asked_by_every_command() {
    let mut court = Court::new();
    let id = court.open();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", closed.local_addr().unwrap());
    drop(closed);
    webhook(&mut court, &url);
    for _ in 0..3 {
        court.env.run(["dispute", "list"]).assert_code(0);
    }
    let shown = court.env.run(["dispute", "show", &id, "--json"]);
    let dispute = shown.assert_code(0).json()["dispute"].clone();
    assert_eq!(dispute["alerts"]["attempts"], 3);
    assert_eq!(dispute["alerts"]["delivered"], false);
    court.env.assert_healthy();
}

#[test]
fn every_command_about_work_warns_of_stale_disputes() {
    let mut court = Court::new();
    court.open();
    court.env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "6");
    assert_eq!(court.env.run(["log"]).assert_code(0).stderr, "");
    court.env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "12");
    for args in [
        vec!["log"],
        vec!["log", "--json"],
        vec!["task", "list"],
        vec!["task", "show", &court.task],
        vec!["dispute", "list", "--json"],
    ] {
        let ran = court.env.run(&args).assert_code(0);
        assert!(
            ran.stderr
                .contains("(Fix login bug) has been open for 12 days."),
            "{args:?}: {}",
            ran.stderr
        );
    }
    court.env.assert_healthy();
}

#[test]
fn the_loop_warns_of_stale_disputes_and_tells_the_webhook() {
    let mut env = TestEnv::with_repository();
    let coder = env.write("../coder.json", "{\"replies\": []}");
    let task = add_task(&env, "Fix login bug");
    let id = open_dispute(&env, &task);
    let receiver = Receiver::new(&[]);
    let agents = format!(
        "agents: [{{name: ann, provider: scripted, role: coder, script: {:?}}}]\n",
        coder.display().to_string()
    );
    env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "12");
    env.write_user_config(&agents);
    let ran = env.run(["run"]).assert_code(0);
    assert!(
        ran.stderr.contains("has been open for 12 days."),
        "{}",
        ran.stderr
    );
    let url = &receiver.url;
    env.write_user_config(&format!(
        "{agents}disputes: {{alert_on_stale: webhook, webhook: {url:?}}}\n"
    ));
    for _ in 0..2 {
        env.run(["run"]).assert_code(0);
    }
    let heard = receiver.all();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(heard[0].0, format!("{id}-stale"));
    env.assert_healthy();
}

#[test]
fn a_receiver_that_never_answers_holds_a_command_up_once_and_not_for_each_dispute() {
    let mut court = Court::new();
    for index in 0..9 {
        let task = add_task(&court.env, &format!("task {index}"));
        open_dispute(&court.env, &task);
    }
    // It takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", silent.local_addr().unwrap());
    webhook(&mut court, &url);
    let ran = court.env.run(["dispute", "list"]).assert_code(0);
    assert_eq!(
        ran.stderr,
        "Warning: the webhook did not take the message about 9 stale disputes (no answer within 2 s); a later command tries again.\n"
    );
    court.env.assert_healthy();
}
