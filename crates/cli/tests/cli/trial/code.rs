//! Trials in code: worktrees, branches, tests as evidence, and the merge of the winner.

use serde_json::json;

use crate::common::TestEnv;
use crate::common::cast::{CHALLENGE, Cast, scoring};

/// Two contestants who write files, in a repository with tests.
fn workshop() -> Cast {
    let env = TestEnv::with_repository();
    env.write("sum.sh", "echo 1\n");
    env.write("check.sh", "sh sum.sh | grep -q 3\n");
    env.commit_all("second");
    let mut cast = Cast::new(env);
    cast.set("project: {test_command: \"sh check.sh\"}\n");
    cast.agent(
        "ann",
        "anthropic",
        "contestant",
        &[json!({"when": "# A challenge in code",
        "text": "Queue: I print three.", "write": {"sum.sh": "echo 3\n", "notes.md": "why\n"}})],
    );
    cast.agent(
        "bob",
        "mistral",
        "contestant",
        &[json!({"when": "# A challenge in code",
        "text": "Batch: I print two.", "write": {"sum.sh": "echo 2\n"}})],
    );
    let judges = ["Correctness", "Risk", "Practicality"].map(|name| {
        scoring(
            name,
            &[("## Summary\n\nQueue", 80), ("## Summary\n\nBatch", 40)],
        )
    });
    cast.agent("jim", "openai", "judge", &judges.concat());
    cast
}

const ARGS: [&str; 5] = [CHALLENGE, "--code", "--contestant", "ann,bob", "--json"];

fn state(cast: &Cast) -> String {
    let head = cast.env.git_output(&["rev-parse", "HEAD"]);
    let status = cast.env.git_output(&["status", "--porcelain"]);
    format!("{head}{status}")
}

#[test]
fn contestants_work_in_worktrees_and_the_users_tree_stays_as_it_is() {
    let cast = workshop();
    cast.env.write("mine.txt", "not committed\n");
    let before = state(&cast);
    let report = cast.trial(&ARGS).assert_code(0).json();
    assert_eq!(state(&cast), before);
    assert_eq!(report["verdict"]["winner"], "ann");
    let work = |place: usize| &report["contestants"][place]["output"]["work"];
    assert_eq!(work(0)["files"], json!(["notes.md", "sum.sh"]));
    assert_eq!(work(0)["tested"]["passed"], true, "{}", work(0));
    assert_eq!(work(1)["tested"]["ending"], "It failed (exit code 1).");
    for place in 0..2 {
        let branch = work(place)["branch"].as_str().unwrap();
        let commit = cast.env.git_output(&["rev-parse", branch]);
        assert_eq!(commit.trim(), work(place)["commit"].as_str().unwrap());
    }
    let seen = cast.newest()["runs"].to_string();
    assert!(
        seen.contains("It passed (exit code 0)."),
        "judges see the tests"
    );
    assert!(seen.contains("+echo 3"), "judges see the changes");
    assert!(
        !cast
            .env
            .ledger()
            .join("worktrees")
            .join(cast.newest_id())
            .exists()
    );
    cast.env.run(["replay", &cast.newest_id()]).assert_code(0);
}

#[test]
fn contestants_work_where_repository_ledger_and_places_are_on_two_file_systems() {
    for part in ["project", "ledger", "home"] {
        let cast = workshop();
        let Some(_other) = cast.env.move_elsewhere(part) else {
            return;
        };
        let report = cast.trial(&ARGS).assert_code(0).json();
        assert_eq!(report["verdict"]["winner"], "ann", "{part}");
        let id = cast.newest_id();
        cast.trial(&["decree", &id, "merge"]).assert_code(0);
        let sum = std::fs::read_to_string(cast.env.project().join("sum.sh")).unwrap();
        assert_eq!(sum, "echo 3\n", "{part}");
        cast.env.assert_healthy();
    }
}

#[test]
fn the_decree_merges_the_winner_and_refuses_a_tree_that_is_not_clean() {
    let cast = workshop();
    cast.trial(&ARGS).assert_code(0);
    let id = cast.newest_id();
    cast.env.write("check.sh", "true\n");
    let before = state(&cast);
    let ran = cast.trial(&["decree", &id, "merge"]);
    assert!(
        ran.stderr.contains("not committed: check.sh"),
        "{}",
        ran.stderr
    );
    assert_ne!(ran.code, Some(0));
    assert_eq!(state(&cast), before);
    cast.env.git(&["checkout", "-q", "--", "check.sh"]);
    cast.trial(&["decree", &id, "merge", "--note", "good"])
        .assert_code(0);
    let sum = std::fs::read_to_string(cast.env.project().join("sum.sh")).unwrap();
    assert_eq!(sum, "echo 3\n");
    assert_eq!(cast.env.git_output(&["status", "--porcelain"]), "");
    let report = cast.env.run(["trial", "show", &id, "--json"]).json();
    assert_eq!(report["decree"]["contestant"], "ann");
}

#[test]
fn a_branch_that_went_on_is_joined_and_one_that_conflicts_is_left_alone() {
    let cast = workshop();
    cast.trial(&ARGS).assert_code(0);
    let id = cast.newest_id();
    cast.env.write("other.txt", "other\n");
    cast.env.commit_all("third");
    cast.env.write("sum.sh", "echo 9\n");
    cast.env.commit_all("fourth");
    let before = state(&cast);
    let ran = cast.trial(&["decree", &id, "merge"]);
    assert!(
        ran.stderr.contains("it conflicts in sum.sh"),
        "{}",
        ran.stderr
    );
    assert_eq!(state(&cast), before);
    cast.env.git(&["reset", "-q", "--hard", "HEAD^"]);
    cast.trial(&["decree", &id, "merge"]).assert_code(0);
    assert_eq!(cast.env.git_output(&["status", "--porcelain"]), "");
    let parents = cast
        .env
        .git_output(&["rev-list", "--parents", "-n", "1", "HEAD"]);
    assert_eq!(
        parents.split_whitespace().count(),
        3,
        "a merge has two parents"
    );
    let log = cast.env.git_output(&["log", "--format=%s", "-n", "1"]);
    assert!(log.starts_with("Merge tribunal/"), "{log}");
}

#[test]
fn a_trial_that_goes_on_starts_from_the_winners_work() {
    let mut cast = workshop();
    cast.trial(&ARGS).assert_code(0);
    let first = cast.newest_id();
    for (name, family, text) in [
        ("ann", "anthropic", "Queue: I print four."),
        ("bob", "mistral", "Batch: I print five."),
    ] {
        let reply = json!({"when": ["# A challenge in code", "in the project's files already"],
            "text": text, "write": {format!("{name}.txt"): "more\n"}});
        cast.agent(name, family, "contestant", &[reply]);
    }
    let report = cast.trial(&["decree", &first, "iterate", "--json"]);
    let report = report.assert_code(0).json();
    let second = report["case"].as_str().unwrap();
    let work = &report["contestants"][1]["output"]["work"];
    assert_eq!(
        work["files"],
        json!(["bob.txt"]),
        "what was there is no change"
    );
    let branch = format!("tribunal/{second}/bob");
    let shown = |file: &str| cast.env.git_output(&["show", &format!("{branch}:{file}")]);
    assert_eq!(shown("notes.md"), "why\n", "the winner's new file");
    assert_eq!(shown("sum.sh"), "echo 3\n", "the winner's change");
    cast.trial(&["decree", second, "merge", "--contestant", "bob"])
        .assert_code(0);
    cast.env.run(["replay", second]).assert_code(0);
}

#[test]
fn a_contestant_that_changes_nothing_handed_nothing_in() {
    let mut cast = workshop();
    cast.agent("bob", "mistral", "contestant", &[json!({"text": "Done!"})]);
    let judges = ["Correctness", "Risk", "Practicality"]
        .map(|name| scoring(name, &[("## Summary\n\nQueue", 80)]));
    cast.agent("jim", "openai", "judge", &judges.concat());
    let report = cast.trial(&ARGS).json();
    assert_eq!(report["contestants"][1]["failed"], "it changed no file");
}

#[test]
fn a_summary_that_judges_see_in_part_is_told_in_code_too() {
    let mut cast = workshop();
    cast.set("trial: {answer_chars: 1000}\n");
    let text = format!("Queue: I print three. {}", "word ".repeat(100));
    let reply =
        json!({"when": "# A challenge in code", "text": text, "write": {"sum.sh": "echo 3\n"}});
    cast.agent("ann", "anthropic", "contestant", &[reply]);
    let report = cast.trial(&ARGS).assert_code(0).json();
    let note =
        "judges saw 73 % of what ann handed in: it is too long (`trial.answer_chars` is 1000)";
    let notes = report["notes"].as_array().unwrap();
    assert!(notes.contains(&json!(note)), "{notes:?}");
    let doubts = report["verdict"]["doubts"].to_string();
    assert!(doubts.contains("shortened"), "{doubts}");
}

#[test]
fn without_a_repository_there_is_no_trial_in_code() {
    let mut cast = Cast::new(TestEnv::new());
    std::fs::remove_dir_all(cast.env.project().join(".git")).unwrap();
    cast.agent(
        "ann",
        "anthropic",
        "[contestant, judge]",
        &[json!({"text": "x"})],
    );
    let ran = cast.trial(&[CHALLENGE, "--code", "--contestant", "ann,ann"]);
    assert!(
        ran.stderr.contains("needs a git repository"),
        "{}",
        ran.stderr
    );
}

#[test]
fn judges_of_code_see_neither_names_nor_paths_that_tell_who_wrote_what() {
    let mut cast = Cast::new(TestEnv::with_repository());
    cast.set("project: {test_command: pwd}\n");
    for (name, sum) in [("claude", "one"), ("codex", "two")] {
        let reply = json!({"when": "# A challenge in code", "text": format!("Done by {name}."),
            "write": {"a.txt": sum}});
        cast.agent(name, name, "contestant", &[reply]);
    }
    cast.agent("jim", "openai", "judge", &[json!({"text": "no"})]);
    let args = [
        CHALLENGE,
        "--code",
        "--contestant",
        "claude,codex",
        "--json",
    ];
    cast.trial(&args).assert_code(5);
    let exported = cast.newest();
    let runs = exported["runs"].as_array().unwrap();
    let asked: Vec<String> = runs
        .iter()
        .filter(|run| run.to_string().contains("judge correctness"))
        .map(|run| run["prompt"].to_string())
        .collect();
    assert!(!asked.is_empty());
    for prompt in asked {
        assert!(
            prompt.contains("/project"),
            "the tests' output is shown: {prompt}"
        );
        for word in ["claude", "codex", "worktrees"] {
            assert!(!prompt.to_lowercase().contains(word), "{word}: {prompt}");
        }
    }
    assert!(
        exported.to_string().contains("Done by claude."),
        "the record has the names"
    );
}

#[test]
fn a_decree_removes_the_branches_of_those_who_were_not_chosen() {
    let cast = workshop();
    cast.trial(&ARGS).assert_code(0);
    let branches = || cast.env.git_output(&["branch", "--list", "tribunal/*"]);
    assert_eq!(branches().lines().count(), 2);
    let id = cast.newest_id();
    cast.trial(&["decree", &id, "merge"]).assert_code(0);
    let left = branches();
    assert_eq!(left.trim(), format!("tribunal/{id}/ann"), "{left}");
}
