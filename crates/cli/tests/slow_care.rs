//! Care for a ledger with real processes: backups while others write, and a `gc` that is killed.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use common::{Ran, TestEnv};
use serde_json::{Value, json};

/// What lets everything go that may go.
const NOTHING_STAYS: [&str; 3] = ["gc", "--set", "ledger.retention.age=0s"];

fn ask(env: &TestEnv, prompt: &str) -> String {
    let ran = env.run(["ask", "scripted", prompt, "--json"]);
    ran.json()["case"].as_str().unwrap().to_owned()
}

/// Runs a command on another ledger.
fn on(env: &TestEnv, ledger: &Path, args: &[&str]) -> Ran {
    Ran::of(env.command(args).env("TRIBUNAL_LEDGER", ledger))
}

fn cases(env: &TestEnv, ledger: &Path) -> Vec<String> {
    let log = on(env, ledger, &["log", "--json", "-n", "1000"]).json();
    let cases = log["cases"].as_array().unwrap().iter();
    cases
        .map(|case| case["case"].as_str().unwrap().to_owned())
        .collect()
}

fn events(env: &TestEnv, ledger: &Path, case: &str) -> Vec<String> {
    let shown = on(env, ledger, &["show", case, "--format", "jsonl"]);
    shown.stdout.lines().map(str::to_owned).collect()
}

fn files_below(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for entry in entries {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files_below(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

/// Makes a file look as if it had been written hours ago.
fn make_old(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(7_200);
    std::fs::File::open(path)
        .unwrap()
        .set_modified(then)
        .unwrap();
}

#[test]
fn a_backup_during_eight_writers_is_an_exact_prefix() {
    let env = TestEnv::new();
    let prompts: String = (1..=60).map(|n| format!("Question {n}\n")).collect();
    env.write("prompts.txt", prompts);
    let args = ["ask", "scripted", "--batch", "prompts.txt", "--json"];
    let mut writers: Vec<_> = (0..8)
        .map(|_| {
            let mut command = env.command(args);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    // The first backup may come before the first case.
    let mut backups = Vec::new();
    for number in 1.. {
        let name = format!("backup-{number}.tar.gz");
        let ran = env.run(["backup", &name]);
        if ran.code == Some(0) {
            backups.push(env.project().join(name));
        } else {
            assert!(ran.stderr.contains("there is no ledger"), "{ran:?}");
        }
        let are_done = writers
            .iter_mut()
            .all(|one| one.try_wait().unwrap().is_some());
        if are_done || backups.len() == 6 {
            break;
        }
    }
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    env.run(["backup", "last.tar.gz"]).assert_code(0);
    backups.push(env.project().join("last.tar.gz"));
    env.assert_healthy();
    let whole: BTreeMap<String, Vec<String>> = cases(&env, &env.ledger())
        .into_iter()
        .map(|case| (case.clone(), events(&env, &env.ledger(), &case)))
        .collect();
    assert_eq!(whole.len(), 8);
    for (number, backup) in backups.iter().enumerate() {
        let mode = backup.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "only its owner reads a backup");
        let place = env.root().join(format!("restored-{number}"));
        let file = backup.display().to_string();
        let into = place.display().to_string();
        env.run(["restore", &file, "--into", &into]).assert_code(0);
        let healthy = on(&env, &place, &["doctor", "--ledger-only"]);
        assert_eq!(healthy.code, Some(0), "backup {number}: {healthy:?}");
        for case in cases(&env, &place) {
            let restored = events(&env, &place, &case);
            let all = &whole[&case];
            assert!(!restored.is_empty() && restored.len() <= all.len());
            assert_eq!(restored[..], all[..restored.len()], "backup {number}");
        }
    }
    let last = env.root().join(format!("restored-{}", backups.len() - 1));
    for (case, all) in &whole {
        assert_eq!(
            events(&env, &last, case),
            *all,
            "the last backup is complete"
        );
    }
    assert_eq!(files_below(&env.project().join(".git")).len(), 0);
    let left = std::fs::read_dir(env.project()).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 1, "nothing but `.git` begins with a point");
}

#[test]
fn packed_cases_are_shown_exported_and_played_as_before() {
    let env = TestEnv::new();
    let case = ask(&env, "What is packed?");
    let before = env.run(["export", &case]).json();
    env.run(["gc"]).assert_code(0);
    assert_eq!(
        files_below(&env.ledger().join("runs")),
        Vec::<PathBuf>::new()
    );
    assert_eq!(files_below(&env.ledger().join("packs")).len(), 1);
    env.assert_healthy();
    assert_eq!(env.run(["export", &case]).json(), before);
    env.run(["replay", &case]).assert_code(0);
    let again = env.run(["gc", "--json"]).json();
    assert_eq!(again["packed"], json!([]), "there is nothing left to do");

    // A pack is part of a backup, and damage to it is noticed.
    env.run(["backup", "b.tar.gz"]).assert_code(0);
    let copy = env.root().join("copy");
    let into = copy.display().to_string();
    env.run(["restore", "b.tar.gz", "--into", &into])
        .assert_code(0);
    assert_eq!(on(&env, &copy, &["export", &case]).json(), before);
    let pack = files_below(&copy.join("packs")).pop().unwrap();
    let mut bytes = std::fs::read(&pack).unwrap();
    let middle = bytes.len() - 9;
    bytes[middle] ^= 0xff;
    std::fs::write(&pack, bytes).unwrap();
    let ran = on(&env, &copy, &["doctor", "--ledger-only"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("missing or changed"), "{ran:?}");
}

#[test]
fn a_packed_case_goes_on_where_it_stopped() {
    let env = TestEnv::new();
    let script = env.write(
        "script.json",
        json!({"replies": [
            {"when": "second", "error": {"class": "crash", "message": "no"}},
            {"text": "an answer"},
        ]})
        .to_string(),
    );
    let agent = |script: &Path| {
        env.write_user_config(&format!(
            "agents: [{{name: ann, provider: scripted, role: reviewer, script: {script:?}}}]\nretry: {{attempts: 1}}\n"
        ));
    };
    agent(&script);
    env.write("prompts.txt", "first\nsecond\n");
    let ran = env.run(["ask", "ann", "--batch", "prompts.txt", "--json"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    let case = cases(&env, &env.ledger()).pop().unwrap();
    env.run(["gc"]).assert_code(0);
    assert_eq!(
        files_below(&env.ledger().join("runs")),
        Vec::<PathBuf>::new()
    );
    let better = json!({"replies": [{"text": "an answer"}]}).to_string();
    agent(&env.write("script.json", better));
    let ran = env.run(["resume", &case, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answers = ran.json()["answers"].as_array().unwrap().len();
    assert_eq!(answers, 2);
    assert_eq!(
        files_below(&env.ledger().join("packs")),
        Vec::<PathBuf>::new()
    );
    env.assert_healthy();
    env.run(["gc"]).assert_code(0);
    env.run(["replay", &case]).assert_code(0);
    env.assert_healthy();
}

#[test]
fn what_was_collected_is_said_to_be_collected_and_never_missing() {
    let env = TestEnv::new();
    let case = ask(&env, "What is collected?");
    let dry = env
        .run([
            "gc",
            "--dry-run",
            "--json",
            "--set",
            "ledger.retention.age=0s",
        ])
        .json();
    assert_eq!(dry["collected"][0]["case"], json!(case));
    assert!(
        env.run(["show", &case]).stdout.contains("answered"),
        "nothing was changed"
    );
    assert_eq!(
        files_below(&env.ledger().join("packs")),
        Vec::<PathBuf>::new()
    );

    env.run(NOTHING_STAYS).assert_code(0);
    assert_eq!(
        files_below(&env.ledger().join("runs")),
        Vec::<PathBuf>::new()
    );
    assert_eq!(
        files_below(&env.ledger().join("packs")),
        Vec::<PathBuf>::new()
    );
    env.assert_healthy();
    let shown = env.run(["show", &case]);
    assert!(shown.stdout.contains("collected by gc on 2"), "{shown:?}");
    let exported = env.run(["export", &case]).json();
    assert!(exported["collected_at"].is_i64(), "{exported}");
    let markdown = env.run(["export", &case, "--format", "markdown"]);
    assert!(
        markdown.stdout.contains("collected by gc on 2"),
        "{markdown:?}"
    );
    let replayed = env.run(["replay", &case]);
    assert_eq!(replayed.code, Some(2));
    assert!(
        replayed.stderr.contains("collected by gc on 2"),
        "{replayed:?}"
    );
    let again = env.run([&NOTHING_STAYS[..], &["--json"]].concat()).json();
    assert_eq!(again["collected"], json!([]), "once is enough");

    // A text that was stored again is kept, and a file that is lost without `gc` is still missed.
    let other = ask(&env, "What is lost?");
    let run = env.run(["export", &other]).json()["runs"][0]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    std::fs::remove_file(env.ledger().join("runs").join(run).join("reply.json")).unwrap();
    let ran = env.run(["doctor", "--ledger-only"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("is missing or changed"), "{ran:?}");
}

/// Kills `gc` at every point where it could be, and goes on.
fn kill_everywhere(args: &[&str], check: impl Fn(&TestEnv, &[String])) {
    let scene = || {
        let env = TestEnv::new();
        let cases: Vec<String> = (0..3)
            .map(|n| ask(&env, &format!("Question {n}?")))
            .collect();
        (env, cases)
    };
    let (mut env, cases) = scene();
    let points = env.crash_points(args);
    check(&env, &cases);
    let own = points
        .iter()
        .filter(|(name, _)| name.starts_with("gc.") || name.starts_with("files."));
    let mut kills = 0;
    for (name, hits) in own {
        for hit in 1..=*hits {
            let (env, cases) = scene();
            env.crash_at(args, name, hit);
            env.assert_healthy();
            env.run(args).assert_code(0);
            check(&env, &cases);
            env.assert_healthy();
            kills += 1;
        }
    }
    assert!(kills >= 6, "{points:?}");
}

#[test]
fn a_gc_that_is_killed_while_it_packs_loses_nothing() {
    kill_everywhere(&["gc"], |env, cases| {
        assert_eq!(
            files_below(&env.ledger().join("runs")),
            Vec::<PathBuf>::new()
        );
        for case in cases {
            let exported = env.run(["export", case]).json();
            assert!(exported["runs"][0]["prompt"].is_string(), "{exported}");
            assert!(exported["runs"][0]["reply"].is_object(), "{exported}");
        }
    });
}

#[test]
fn a_gc_that_is_killed_while_it_collects_is_gone_on_with() {
    kill_everywhere(&NOTHING_STAYS, |env, cases| {
        assert_eq!(
            files_below(&env.ledger().join("runs")),
            Vec::<PathBuf>::new()
        );
        for case in cases {
            let told = events(env, &env.ledger(), case);
            let collected = told
                .iter()
                .filter(|event| event.contains("files_collected"));
            assert_eq!(collected.count(), 1, "{told:?}");
        }
    });
}

#[test]
fn leftovers_are_told_by_the_doctor_and_removed_by_gc() {
    let env = TestEnv::new();
    let case = ask(&env, "What is left?");
    let digits = "0123456789abcdef0123456789abcdef";
    let ours = [
        env.project().join(format!(".dispute.md.{digits}")),
        env.ledger().join("blobs").join(format!(".x.{digits}")),
        env.ledger().join(format!(".care.{digits}")),
    ];
    for path in &ours {
        std::fs::write(path, "half").unwrap();
    }
    let unbegun = env.ledger().join("runs/r-00000000000000aa");
    std::fs::create_dir(&unbegun).unwrap();
    std::fs::write(unbegun.join("prompt.md"), "never asked").unwrap();
    let theirs = [
        env.project().join(".dispute.md.mine"),
        env.project().join(format!("x.{digits}")),
    ];
    for path in &theirs {
        std::fs::write(path, "mine").unwrap();
        make_old(path);
    }
    let doctor = || env.run(["doctor", "--ledger-only", "--json"]).json();
    let leftovers = |doctor: &Value| {
        let all = doctor["findings"].as_array().unwrap().iter();
        all.filter(|one| one["part"] == "leftover").count()
    };
    assert_eq!(leftovers(&doctor()), 0, "somebody may be writing them");
    ours.iter().for_each(|path| make_old(path));
    make_old(&unbegun);
    let told = doctor();
    assert_eq!(leftovers(&told), 4, "{told:#}");
    assert_eq!(told["fine"], json!(true));
    assert!(told.to_string().contains("tribunal gc"));
    env.run(["gc", "--dry-run"]).assert_code(0);
    assert_eq!(leftovers(&doctor()), 4, "a dry run removes nothing");
    env.run(["gc"]).assert_code(0);
    assert_eq!(leftovers(&doctor()), 0);
    assert!(ours.iter().all(|path| !path.exists()) && !unbegun.exists());
    assert!(theirs.iter().all(|path| path.exists()));
    assert!(env.run(["show", &case]).stdout.contains("answered"));
}

#[test]
fn a_prompt_lies_once_among_the_files_of_a_run() {
    let env = TestEnv::new();
    let agents = "agents: [{name: ann, command: [cat], role: reviewer}]\n";
    env.write_user_config(agents);
    let told = |ran: Ran| {
        ran.json()["answers"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        told(env.run(["ask", "ann", "Say this again.", "--json"])),
        "Say this again."
    );
    // With a text before it the program reads something else than the prompt.
    env.write_user_config(
        "agents: [{name: ann, command: [cat], role: reviewer, instructions: Be brief.}]\n",
    );
    let both = told(env.run(["ask", "ann", "Say this again.", "--json"]));
    assert_eq!(both, "Be brief.\n\nSay this again.");
    let files = files_below(&env.ledger().join("runs"));
    let named = |name: &str| files.iter().filter(|path| path.ends_with(name)).count();
    assert_eq!(
        (named("prompt.md"), named("prompt.txt")),
        (2, 0),
        "{files:?}"
    );
    env.assert_healthy();
}

const NONCE: &str = "{{line:Nonce: }}";

fn signed(list: &str, items: &Value) -> String {
    json!({"nonce": NONCE, list: items, "end": NONCE}).to_string()
}

/// A review whose coder mends the only defect on a branch, which is returned.
fn arbitrated() -> (TestEnv, String) {
    let env = TestEnv::with_repository();
    env.write("a.py", "eval(input())\n");
    let defect = json!({"id": "1", "file": "a.py", "line": 1, "label": "HIGH", "category": "security",
        "confidence": 95, "title": "Input is run", "description": "`eval` runs what somebody types.",
        "quote": "eval(input())", "trigger": "any expression", "suggestion": "Parse it."});
    let fixed = json!([{"finding_id": "F1", "can_happen": "no", "state": "fixed", "reason": "the problem is gone"}]);
    let mends = json!([{"finding_id": "F1", "answer": "implemented", "reason": "factual_error",
        "justification": "It is gone."}]);
    let script = |name: &str, replies: Value| {
        let path = env.root().join(format!("{name}.json"));
        std::fs::write(&path, json!({"replies": replies}).to_string()).unwrap();
        path
    };
    let ann = script(
        "ann",
        json!([
            {"when": "Was it fixed?", "text": signed("checks", &fixed)},
            {"when": "The change: the coder's work", "text": signed("findings", &json!([]))},
            {"text": signed("findings", &json!([defect]))},
        ]),
    );
    let cody = script(
        "cody",
        json!([
            {"text": signed("responses", &mends), "write": {"a.py": "x = 2\n"}},
        ]),
    );
    env.write_user_config(&format!(
        "agents:\n  - {{name: ann, provider: scripted, script: {ann:?}, role: reviewer, family: a}}\n  \
         - {{name: cody, provider: scripted, script: {cody:?}, role: coder, family: c}}\n\
         review: {{builtin: [], rounds: 1, judge: {{weigh: false}}}}\n"
    ));
    env.run(["review", "--arbitrate", "--json"]);
    let branches = env.git_output(&[
        "branch",
        "--list",
        "tribunal/*",
        "--format=%(refname:short)",
    ]);
    let branch = branches.trim().to_owned();
    assert!(branch.starts_with("tribunal/c-"), "{branches:?}");
    (env, branch)
}

fn has_branch(env: &TestEnv, branch: &str) -> bool {
    let name = format!("refs/heads/{branch}");
    !env.git_output(&["for-each-ref", &name]).is_empty()
}

#[test]
fn only_branches_that_are_ours_unmoved_and_merged_or_old_are_removed() {
    let (env, branch) = arbitrated();
    env.git(&["branch", "tribunal/c-ffffffffff", "main"]);
    let report = env.run(["gc", "--json"]).json();
    assert!(
        has_branch(&env, &branch),
        "its work was not merged: {report}"
    );
    let commit = env.git_output(&["rev-parse", &branch]);

    // Somebody works on it: it is theirs now, merged or not.
    env.git(&["stash", "-u", "-q"]);
    env.git(&["checkout", "-q", &branch]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    env.git(&["checkout", "-q", "main"]);
    env.git(&["merge", "-q", "--no-ff", "-m", "merged", &branch]);
    env.run(["gc"]).assert_code(0);
    assert!(has_branch(&env, &branch), "it was moved");

    env.git(&["branch", "-q", "-f", &branch, commit.trim()]);
    let dry = env.run(["gc", "--dry-run", "--json"]).json();
    assert!(dry["leftovers"].to_string().contains(&branch), "{dry}");
    assert!(has_branch(&env, &branch));
    let report = env.run(["gc", "--json"]).json();
    assert!(!has_branch(&env, &branch), "{report}");
    assert!(
        has_branch(&env, "tribunal/c-ffffffffff"),
        "the ledger does not know it"
    );
    env.assert_healthy();

    let (env, branch) = arbitrated();
    env.git(&["branch", "mine", &branch]);
    env.git(&["branch", "-D", "-q", "mine"]);
    env.run(NOTHING_STAYS).assert_code(0);
    assert!(
        !has_branch(&env, &branch),
        "its case is older than the policy"
    );
    env.assert_healthy();
}

#[test]
fn restoring_replaces_nothing_that_anybody_may_want() {
    let env = TestEnv::new();
    let first = ask(&env, "First?");
    env.run(["backup", "b.tar.gz"]).assert_code(0);
    let ran = env.run(["backup", "b.tar.gz"]);
    assert_eq!(ran.code, Some(2), "a backup replaces no file: {ran:?}");
    let second = ask(&env, "Second?");
    let ran = env.run(["restore", "b.tar.gz"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("has 2 cases"), "{ran:?}");

    let whole = std::fs::read(env.project().join("b.tar.gz")).unwrap();
    env.write("cut.tar.gz", &whole[..whole.len() / 2]);
    let ran = env.run(["restore", "cut.tar.gz", "--force"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        cases(&env, &env.ledger()).len(),
        2,
        "a damaged backup changes nothing"
    );

    let homes = env.ledger().join("homes/ann");
    std::fs::create_dir_all(&homes).unwrap();
    let private = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(homes.parent().unwrap(), private).unwrap();
    std::fs::write(homes.join("login"), "kept").unwrap();
    env.run(["restore", "b.tar.gz", "--force"]).assert_code(0);
    assert_eq!(cases(&env, &env.ledger()), std::slice::from_ref(&first));
    assert_eq!(std::fs::read(homes.join("login")).unwrap(), b"kept");
    env.assert_healthy();
    let aside = std::fs::read_dir(env.root())
        .unwrap()
        .flatten()
        .find(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with("ledger.before-")
        });
    let mut both = cases(&env, &aside.unwrap().path());
    both.sort();
    let mut expected = [first, second];
    expected.sort();
    assert_eq!(both, expected);
    let left = std::fs::read_dir(env.root()).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0);
}
