//! The demo at a terminal: how it looks there, and how it goes on after Ctrl-C.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::process::Command;

use common::terminal::Terminal;
use common::{Ran, TestEnv};
use unicode_width::UnicodeWidthChar as _;

/// Starts the demo in a terminal and stops it in the middle of the review.
fn stopped() -> (TestEnv, String) {
    let env = TestEnv::new();
    let stage = env.root().join("stage").display().to_string();
    let terminal = Terminal::start(&env, &["demo", "--dir", &stage]);
    terminal.wait_for("round 2:");
    terminal.keys(&["C-c"]);
    assert_eq!(terminal.exit_code(), 130, "{}", terminal.screen());
    terminal.wait_for("The story was stopped; nothing is lost");
    (env, terminal.screen())
}

/// Carries out a line that was printed between backticks after `words`, as it stands there.
fn as_printed(env: &TestEnv, screen: &str, words: &str) -> Ran {
    let (_, rest) = screen
        .split_once(words)
        .unwrap_or_else(|| panic!("{screen}"));
    let line = rest.split('`').nth(1).unwrap();
    // The terminal breaks what is longer than itself.
    let line = line.replace('\n', "");
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).env_clear();
    command.envs([("PATH", std::env::var("PATH").unwrap())]);
    command.env("HOME", env.home()).current_dir("/");
    Ran::of(&mut command)
}

fn commands(story: &str) -> Vec<&str> {
    let lines = story
        .lines()
        .filter_map(|line| line.strip_prefix("$ tribunal "));
    lines.map(|line| line.split(' ').next().unwrap()).collect()
}

const REST: [&str; 7] = ["explain", "trial", "task", "run", "task", "dispute", "log"];

#[test]
fn stopped_in_the_middle_it_goes_on_by_the_line_it_prints() {
    let (env, screen) = stopped();
    let ran = as_printed(&env, &screen, "Go on with the story").assert_code(0);
    let expected: Vec<&str> = ["resume"].into_iter().chain(REST).collect();
    assert_eq!(commands(&ran.stdout), expected, "{}", ran.stdout);
    let reviews = ran
        .stdout
        .matches("Review of uncommitted work on main")
        .count();
    assert_eq!(
        reviews, 1,
        "the review that was stopped is the one that goes on"
    );
    assert!(!ran.stdout.contains("It is played in"), "{}", ran.stdout);
}

#[test]
fn stopped_in_the_middle_resume_goes_on_and_the_story_after_it() {
    let (env, screen) = stopped();
    let ran = as_printed(&env, &screen, "Or finish what was interrupted").assert_code(1);
    assert!(ran.stdout.contains("PASS with"), "{}", ran.stdout);
    let ran = as_printed(&env, &screen, "Go on with the story").assert_code(0);
    assert_eq!(commands(&ran.stdout), REST, "{}", ran.stdout);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in [80, 120] {
        let env = TestEnv::new();
        let stage = env.root().join("stage").display().to_string();
        // What is told on the way is padded to the width, which looks like a break afterwards.
        let args = ["demo", "--fast", "--dir", &stage, "2>/dev/null"];
        let terminal = Terminal::of_width(&env, &args, columns);
        assert_eq!(terminal.exit_code(), 0, "{}", terminal.screen());
        let [broken, whole] = terminal.broken_and_whole();
        assert_eq!(broken, whole, "at {columns} columns");
        assert!(
            whole.contains("Three commands for your own repository"),
            "{whole}"
        );
        let coloured = terminal.coloured_screen();
        assert!(coloured.contains("\u{1b}["), "colours at a terminal");
    }
}

/// Returns the lines that were written, one after the other, without escape sequences.
fn lines_of(written: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in written.split(['\n', '\r']) {
        let mut plain = String::new();
        let mut rest = line;
        while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
            plain.push_str(before);
            let end = sequence.find(|c: char| c.is_ascii_alphabetic());
            rest = end.map_or("", |end| &sequence[end + 1..]);
        }
        plain.push_str(rest);
        lines.push(plain);
    }
    lines
}

/// Returns the rows of the terminal that a line fills.
///
/// What is told above the progress is filled up with spaces to the end of its row, so that several
/// lines come as one.
fn rows_of(line: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let width = c.width().unwrap_or(0);
        if used + width > columns {
            rows.push(String::new());
            used = 0;
        }
        used += width;
        rows.last_mut().unwrap().push(c);
    }
    rows
}

/// Tells whether the end of a row cut a line in two. A line with a spinner begins where it stands.
fn is_broken(row: &str, next: &str) -> bool {
    let begins = |c: char| c == ' ' || ('\u{2800}'..='\u{28ff}').contains(&c);
    !row.ends_with(' ') && !next.starts_with(begins)
}

/// Tells whether a text sets colours or weights.
fn is_styled(written: &str) -> bool {
    let mut sequences = written.split("\u{1b}[").skip(1);
    sequences.any(|rest| {
        rest.find(|c: char| c.is_ascii_alphabetic())
            .map(|end| &rest[end..=end])
            == Some("m")
    })
}

#[test]
fn nothing_that_is_told_on_the_way_is_wider_than_the_terminal_either() {
    for (columns, plain) in [(80, "--color never"), (120, ""), (80, "")] {
        let env = TestEnv::new();
        let stage = env.root().join("stage").display().to_string();
        let args = ["demo", "--fast", "--dir", &stage, plain];
        let terminal = Terminal::recorded(&env, &args, columns);
        assert_eq!(terminal.exit_code(), 0, "{}", terminal.screen());
        let written = terminal.written();
        assert_eq!(
            is_styled(&written),
            plain.is_empty(),
            "at {columns} {plain}"
        );
        let lines = lines_of(&written);
        for told in [
            "at work, ",
            "round 2:",
            "Three commands for your own repository",
        ] {
            assert!(
                lines.iter().any(|line| line.contains(told)),
                "{told}: {written}"
            );
        }
        for line in lines.iter().filter(|line| !line.contains(&stage)) {
            let rows = rows_of(line, columns.into());
            let broken = rows.windows(2).find(|pair| is_broken(&pair[0], &pair[1]));
            assert_eq!(broken, None, "at {columns} columns");
        }
    }
}

#[test]
fn it_waits_for_enter_where_that_is_asked_for() {
    let env = TestEnv::new();
    let stage = env.root().join("stage").display().to_string();
    let terminal = Terminal::start(&env, &["demo", "--fast", "--pause", "--dir", &stage]);
    terminal.wait_for("Enter goes on");
    assert!(!terminal.screen().contains("2. Why?"));
    terminal.keys(&["Enter"]);
    terminal.wait_for("2. Why?");
    terminal.wait_for("What would reverse it");
    terminal.keys(&["C-c"]);
    assert_eq!(terminal.exit_code(), 130, "{}", terminal.screen());
}
