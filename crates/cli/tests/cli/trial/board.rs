//! The live board: one line for each contestant and each judge.

use serde_json::json;

use crate::common::TestEnv;
use crate::common::cast::{Cast, scoring};
use crate::common::terminal::Terminal;

#[test]
fn a_terminal_shows_a_line_for_each_contestant_and_judge_until_the_report() {
    let mut cast = Cast::new(TestEnv::new());
    let usage = json!({"input": 1200, "output": 85});
    let answer = [json!({"text": "Queue them.", "usage": usage})];
    cast.agent("ann", "anthropic", "contestant", &answer);
    let failure = json!({"error": {"class": "network", "message": "connection refused"}});
    cast.agent("bob", "mistral", "contestant", &[failure]);
    let mut judge = scoring("Correctness", &[("Queue", 70)]);
    for reply in &mut judge {
        reply["delay_ms"] = json!(4000);
    }
    cast.agent("jim", "openai", "judge", &judge);
    let args = ["trial", "How?", "--contestant", "ann,bob", "--judges", "1"];
    let terminal = Terminal::start(&cast.env, &args);
    terminal.wait_for("1 at work, 2 ended");
    let screen = terminal.screen();
    let line = |name: &str| {
        let found = screen
            .lines()
            .find(|line| line.contains(name) && line.contains("tokens"));
        found
            .unwrap_or_else(|| panic!("no line for {name}: {screen}"))
            .to_owned()
    };
    for (name, parts) in [
        ("ann ", ["✓ 11 characters", "1,285 tokens"]),
        ("bob ", ["✗ connection refused", "0 tokens"]),
        ("Correctness (jim)", ["judges", "0 tokens"]),
    ] {
        let line = line(name);
        for part in parts {
            assert!(line.contains(part), "`{part}` is missing: {line}");
        }
        assert!(line.chars().count() <= 80, "{line}");
    }
    // The board gives way to the report.
    assert_eq!(terminal.exit_code(), 0);
    let screen = terminal.screen();
    assert!(!screen.contains("✓ 11 characters"), "{screen}");
    assert!(screen.contains("the only contestant left"), "{screen}");
}
