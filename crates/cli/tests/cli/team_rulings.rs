//! `.tribunal/rulings.yml`: what the team dismissed counts from the base commit, for whoever reviews.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Ran, TestEnv};

const FILE: &str = ".tribunal/rulings.yml";

/// Returns a repository with a change that fails, and the id of its finding.
fn desk() -> (TestEnv, String) {
    let mut env = TestEnv::with_repository();
    env.set_env("USER", "Ann");
    env.write("src/a.py", "eval(input())\n");
    let report = env.run(["review", "--json"]).assert_code(1).json();
    let id = report["findings"][0]["id"].as_str().unwrap().to_owned();
    (env, id)
}

/// Dismisses the finding for the team and returns what the file then says.
fn dismissed(env: &TestEnv, id: &str, more: &[&str]) -> String {
    let mut args = vec!["dismiss", id, "--why", "It is a toy", "--team"];
    args.extend(more);
    env.run(args).assert_code(0);
    std::fs::read_to_string(env.project().join(FILE)).unwrap()
}

/// Commits the team's file and nothing else.
fn commit_file(env: &TestEnv, text: &str) {
    env.write(FILE, text);
    env.git(&["add", "-f", FILE]);
    env.git(&["commit", "-q", "-m", "rulings", "--", FILE]);
}

/// Reviews as a colleague does, whose ledger knows nothing.
fn colleague(env: &TestEnv, args: &[&str]) -> Ran {
    let number = std::fs::read_dir(env.root()).unwrap().count();
    let ledger = env.root().join(format!("colleague-{number}"));
    let ledger = ledger.display().to_string();
    let mut all = vec!["--ledger", &ledger, "review"];
    all.extend(args);
    env.run(all)
}

/// Returns the notes of a report about the file.
fn notes(report: &Value) -> Vec<String> {
    let notes = report["notes"].as_array().unwrap().iter();
    let notes = notes.map(|note| note.as_str().unwrap().to_owned());
    notes.filter(|note| note.contains(FILE)).collect()
}

#[test]
fn a_ruling_of_the_base_counts_for_colleagues_and_ci() {
    let (env, id) = desk();
    let text = dismissed(&env, &id, &[]);
    assert_snapshot!(env.tidy(&text.replace(&id[2..], "[ID]")), @r#"
    # What this team decided about findings of `tribunal review`. An entry counts for a change once it
    # is in the base commit of that change. `tribunal dismiss --team` writes this file.
    rulings:
      - finding: "f-[ID]"
        fingerprint: "[ID]29d989d5da867efe"
        file: "src/a.py"
        code: "eval(input())"
        category: "security"
        rule: "python-eval"
        title: "`eval` runs text that is not a literal as code"
        claims: [{"place":"ec92556df0ebe51bab92f214","rule":"python-eval","text":"`eval` runs text that is not a literal as code\n\nWhoever can influence the text runs code of their own in this process.\n\nParse the input with `ast.literal_eval` or `json.loads`, or look it up in a table of operations."}]
        decision: "dismiss"
        basis: "not_a_defect"
        reason: "It is a toy"
        by: "Ann"
        date: "[DATE]"
    "#);
    commit_file(&env, &text);
    let ran = colleague(&env, &["--json"]).assert_code(0);
    let report = ran.json();
    let finding = &report["findings"][0];
    assert_eq!(finding["standing"], "dismissed");
    assert_eq!(finding["counts"], false);
    assert_eq!(finding["team_ruling"]["by"], "Ann");
    assert_eq!(notes(&report), [""; 0]);
    let text = colleague(&env, &[]).assert_code(0).stdout;
    let told: Vec<&str> = text
        .lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("Standing"))
        .take_while(|line| !line.is_empty())
        .collect();
    assert_snapshot!(env.tidy(&told.join(" ")), @"");
    let sarif = colleague(&env, &["--format", "sarif"])
        .assert_code(0)
        .json();
    let why = &sarif["runs"][0]["results"][0]["suppressions"][0]["justification"];
    assert!(why.as_str().unwrap().contains("It is a toy"), "{why}");
    // So does a review of whole files, which has no base.
    colleague(&env, &["src/a.py", "--json"]).assert_code(0);
    env.assert_healthy();
}

#[test]
fn a_change_cannot_dismiss_its_own_findings() {
    let (env, id) = desk();
    let text = dismissed(&env, &id, &[]);
    let report = colleague(&env, &["--json"]).assert_code(1).json();
    assert_snapshot!(notes(&report).join("\n"), @"not yet in force: 1 ruling added by this change; `.tribunal/rulings.yml` counts from the base commit");
    let report = colleague(&env, &["src/a.py", "--json"])
        .assert_code(1)
        .json();
    assert_snapshot!(notes(&report).join("\n"), @"not yet in force: 1 ruling that the last commit does not have; `.tribunal/rulings.yml` counts from there");
    // Committed on the branch together with the code, or before it: the base is what counts.
    env.git(&["checkout", "-q", "-b", "topic"]);
    commit_file(&env, &text);
    env.git(&["add", "src"]);
    env.git(&["commit", "-q", "-m", "code"]);
    let args = ["--base", "main", "--json"];
    let report = colleague(&env, &args).assert_code(1).json();
    assert_eq!(notes(&report).len(), 1, "{report}");
    env.git(&["reset", "-q", "--soft", "main"]);
    env.git(&["commit", "-q", "-m", "both"]);
    colleague(&env, &["--commit", "HEAD", "--json"]).assert_code(1);
    // Nor can it change an entry so that it fits.
    env.git(&["checkout", "-q", "main"]);
    let other = text.replace("src/a.py", "src/b.py");
    commit_file(&env, &other);
    env.git(&["checkout", "-q", "-b", "second"]);
    env.write("src/a.py", "eval(input())\n");
    env.write(FILE, &text);
    env.commit_all("both");
    let report = colleague(&env, &args).assert_code(1).json();
    assert_eq!(notes(&report).len(), 1, "{report}");
    env.assert_healthy();
}

#[test]
fn what_is_wrong_in_the_file_is_named_and_does_not_count() {
    let (env, id) = desk();
    let good = dismissed(&env, &id, &[]);
    let without = |key: &str| -> String {
        let lines = good
            .lines()
            .filter(|line| !line.contains(&format!(" {key}:")));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let mut told = Vec::new();
    for text in [
        without("reason"),
        good.replace("reason: \"It is a toy\"", "reason: \"  \""),
        good.replace("    by:", "    severity: low\n    by:"),
        good.replace("rulings:", "rules:"),
        good.replace("\"dismiss\"", "\"enforce\""),
        format!("{good}  - 5\n")
            .replace(&id, "f-0")
            .replace("  - finding", "  - {}\n  - finding")
            .replace("src/a.py", "b.py"),
        good.replace("rulings:", "rulings: [").clone(),
        "rulings: 7\n".to_owned(),
        "\u{0}\u{1}".to_owned(),
        good.replacen("    code:", "    reason: \"twice\"\n    code:", 1),
    ] {
        commit_file(&env, &text);
        let report = colleague(&env, &["--json"]).assert_code(1).json();
        let notes = notes(&report);
        assert!(!notes.is_empty(), "{text}: {report}");
        told.extend(notes);
    }
    assert_snapshot!(told.join("\n"), @r#"
    `.tribunal/rulings.yml` of the base commit: entry 1: missing field `reason`; this entry does not count
    `.tribunal/rulings.yml` of the base commit: entry 1: `reason` is empty; this entry does not count
    `.tribunal/rulings.yml` of the base commit: entry 1: unknown field `severity`, expected one of `finding`, `fingerprint`, `file`, `function`, `scope`, `signature`, `code`, `category`, `rule`, `title`, `also`, `claims`, `decision`, `basis`, `reason`, `by`, `date`, `expires`; this entry does not count
    `.tribunal/rulings.yml` of the base commit cannot be read, so nothing in it counts: unknown key `rules`; the only key is `rulings`
    `.tribunal/rulings.yml` of the base commit: entry 1: unknown variant `enforce`, expected `dismiss`; this entry does not count
    `.tribunal/rulings.yml` of the base commit: entry 1: missing field `finding`; this entry does not count
    `.tribunal/rulings.yml` of the base commit: entry 3: invalid type: integer `5`, expected struct TeamRuling; this entry does not count
    `.tribunal/rulings.yml` of the base commit cannot be read, so nothing in it counts: line 4: this is not valid YAML: "-" is only valid inside a block
    `.tribunal/rulings.yml` of the base commit cannot be read, so nothing in it counts: `rulings` is not a list
    `.tribunal/rulings.yml` of the base commit cannot be read, so nothing in it counts: line 1: this is not valid YAML: unexpected character: `\u{0}'
    `.tribunal/rulings.yml` of the base commit cannot be read, so nothing in it counts: line 15: the key `reason` stands here a second time
    "#);
    // Nobody changes a file that is not understood, and then nothing is ruled either.
    let ran = env
        .run(["dismiss", &id, "--why", "x", "--team", "--overrule"])
        .assert_code(2);
    assert!(ran.stderr.contains("cannot be read"), "{}", ran.stderr);
    // Entries beside a wrong one count.
    commit_file(&env, &format!("{good}  - finding: \"f-1\"\n"));
    colleague(&env, &["--json"]).assert_code(0);
    env.assert_healthy();
}

#[test]
fn an_entry_covers_its_claim_and_ends_with_its_last_day() {
    let (mut env, id) = desk();
    let text = dismissed(&env, &id, &["--expires", "30d"]);
    commit_file(&env, &text);
    let reviewed = colleague(&env, &["--json"]).assert_code(0).json();
    // The same code at another place, and another claim at the same place.
    env.write(
        "src/a.py",
        "eval(input())\n\n\ndef f():\n    eval(input())\n",
    );
    let report = colleague(&env, &["--json"]).assert_code(1).json();
    let counted: Vec<bool> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["counts"].as_bool().unwrap())
        .collect();
    assert_eq!(counted.len(), 2, "{report}");
    assert_eq!(
        counted.iter().filter(|counts| **counts).count(),
        1,
        "{report}"
    );
    env.write("src/a.py", "eval(input())\n");
    let rule = reviewed["findings"][0]["rule"].as_str().unwrap();
    assert!(text.contains(rule) && !rule.is_empty());
    let title = reviewed["findings"][0]["title"].as_str().unwrap();
    commit_file(
        &env,
        &text
            .replace(rule, "another-rule")
            .replace(title, "Another claim"),
    );
    colleague(&env, &["--json"]).assert_code(1);
    commit_file(&env, &text);
    env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "31");
    let report = colleague(&env, &["--json"]).assert_code(1).json();
    assert_eq!(
        notes(&report),
        [format!("1 ruling of `{FILE}` expired: {id}")]
    );
}

#[test]
fn a_review_comes_to_the_same_end_when_a_ruling_has_ended_since() {
    let (mut env, id) = desk();
    let text = dismissed(&env, &id, &["--expires", "30d"]);
    commit_file(&env, &text);
    env.run(["dismiss", "--undo", &id]).assert_code(0);
    let report = env.run(["review", "--json"]).assert_code(0).json();
    let case = report["case"].as_str().unwrap();
    env.set_env("TRIBUNAL_CLOCK_AHEAD_DAYS", "31");
    env.run(["replay", case]).assert_code(0);
}

#[test]
fn an_entry_is_taken_back_and_comments_stay() {
    let (env, id) = desk();
    let text = dismissed(&env, &id, &[]);
    env.write(FILE, format!("# Ours.\n{text}"));
    let undone = env.run(["dismiss", "--undo", &id]).assert_code(0);
    assert!(
        undone.stderr.contains("add `--team` to remove it there"),
        "{}",
        undone.stderr
    );
    let alone = env.run(["dismiss", "--undo", &id]).assert_code(2);
    assert_snapshot!(alone.stderr.replace(&id, "[ID]"), @"
    Error: Finding [ID] is dismissed by `.tribunal/rulings.yml` alone
    Hint: Add `--team` to remove it there
    ");
    let removed = env
        .run(["dismiss", "--undo", &id, "--team", "--json"])
        .assert_code(0);
    assert_eq!(removed.json()["disputes"], json!([]));
    let left = std::fs::read_to_string(env.project().join(FILE)).unwrap();
    assert!(
        left.starts_with("# Ours.\n") && !left.contains("finding:"),
        "{left}"
    );
    env.run(["dismiss", "--undo", &id, "--team"]).assert_code(2);
    // Saying it twice leaves one entry, the last.
    dismissed(&env, &id, &[]);
    let args = ["accept-risk", &id, "--why", "Ours", "--overrule", "--team"];
    env.run(args).assert_code(0);
    let text = std::fs::read_to_string(env.project().join(FILE)).unwrap();
    assert_eq!(text.matches("finding:").count(), 1, "{text}");
    assert!(
        text.contains("risk_accepted") && text.contains("Ours"),
        "{text}"
    );
    env.assert_healthy();
}

#[test]
fn a_ruling_of_an_earlier_commit_of_the_same_branch_does_not_count() {
    let (env, id) = desk();
    let text = dismissed(&env, &id, &[]);
    env.git(&["checkout", "-q", "-b", "topic"]);
    commit_file(&env, &text);
    env.git(&["add", "src"]);
    env.git(&["commit", "-q", "-m", "code"]);
    let report = colleague(&env, &["--commit", "HEAD", "--json"])
        .assert_code(1)
        .json();
    assert_snapshot!(notes(&report).join("\n"), @"not yet in force: 1 ruling of this branch; `.tribunal/rulings.yml` counts once the default branch has it");
    // Nor for files, nor for what is not committed yet.
    colleague(&env, &["src/a.py"]).assert_code(1);
    env.git(&["reset", "-q", "--soft", "HEAD~1"]);
    colleague(&env, &["--staged"]).assert_code(1);
    // Once the default branch has it, it counts for every branch that began after it.
    env.git(&["stash", "-q"]);
    env.git(&["checkout", "-q", "main"]);
    env.git(&["merge", "-q", "--ff-only", "topic"]);
    env.git(&["checkout", "-q", "-b", "second"]);
    env.git(&["stash", "pop", "-q"]);
    env.commit_all("code");
    colleague(&env, &["--commit", "HEAD"]).assert_code(0);
}
