//! `demo`: the whole story, what the README shows of it, and what it leaves alone.

mod picture;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::{Ran, TestEnv};

/// Plays the story in a directory of the test.
fn play(env: &TestEnv, args: &[&str]) -> Ran {
    let stage = stage(env).display().to_string();
    let mut all = vec!["demo", "--fast", "--dir", &stage];
    all.extend(args);
    env.run(all)
}

fn stage(env: &TestEnv) -> PathBuf {
    env.root().join("stage")
}

/// Returns what is the same whenever the story is told: ids are numbered as they come, times and
/// commits are replaced, and so is the place.
fn normalized(env: &TestEnv, text: &str) -> String {
    let text = text.replace(&stage(env).display().to_string(), "/tmp/tribunal-demo-1");
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let starts_word = !out.ends_with(|c: char| c.is_alphanumeric() || c == '-');
        if let Some(id) = id_at(rest).filter(|_| starts_word) {
            let next = known.len() + 1;
            // A dispute has the digits of its case.
            let number = *known.entry(id[2..].to_owned()).or_insert(next);
            out.push_str(&format!("{}{number:010}", &id[..2]));
            rest = &rest[id.len()..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    let lines = out.lines().map(without_times);
    lines.map(|line| line + "\n").collect()
}

/// Returns the id of a case or a dispute with which `text` begins.
fn id_at(text: &str) -> Option<&str> {
    let is_kind = text.starts_with("c-") || text.starts_with("d-");
    let digits = text.get(2..12)?;
    let is_id = is_kind && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| &text[..12])
}

/// Returns a line in which clocks stand still.
fn without_times(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for index in 0..words.len() {
        let bytes = words[index].as_bytes();
        let is_date = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
        let is_time = bytes.len() >= 5 && bytes[2] == b':' && bytes[0].is_ascii_digit();
        let is_seconds = words.get(index + 1).is_some_and(|next| next == "s");
        if is_date {
            words[index] = "2026-01-15".to_owned();
        } else if is_time {
            words[index] = "14:30:05"[..bytes.len()].to_owned();
        } else if is_seconds && words[index].parse::<f64>().is_ok() {
            words[index] = "0.0".to_owned();
        }
    }
    words.join(" ")
}

/// Returns the story without its last part, which tells how long ago everything was.
fn timeless(story: &str) -> &str {
    let end = story.find("\n5. The record").expect("the last part");
    &story[..end]
}

#[test]
fn the_whole_story_is_told_by_the_commands_themselves() {
    let mut env = TestEnv::new();
    let ran = play(&env, &[]).assert_code(0);
    let story = normalized(&env, &ran.stdout);
    insta::assert_snapshot!("story", timeless(&story));
    for line in [
        "  Repository   /tmp/tribunal-demo-1/depot\n",
        "  Ledger       /tmp/tribunal-demo-1/state/tribunal/ledgers\n",
        "\nThree commands for your own repository\n",
    ] {
        assert!(story.contains(line), "{line} is missing in {story}");
    }
    // The ledger that it names holds all of it, and holds together.
    let launcher = stage(&env).join("tribunal");
    let doctor = Ran::of(std::process::Command::new(&launcher).arg("doctor"));
    doctor.assert_code(0);
    // Telling it again is only the end of it.
    let again = play(&env, &[]).assert_code(0);
    assert!(!again.stdout.contains("$ tribunal"), "{}", again.stdout);
    assert!(again.stdout.contains("Three commands for your own"));
    // Its last words can be typed as they stand, wherever the program lies.
    let program = env!("CARGO_BIN_EXE_tribunal");
    let elsewhere = format!("Shells do not find `tribunal` yet; it lies here:\n  {program}\n");
    assert!(again.stdout.ends_with(&elsewhere), "{}", again.stdout);
    let package = env!("CARGO_MANIFEST_DIR");
    env.set_env("CARGO_MANIFEST_DIR", package);
    let built = play(&env, &[]).assert_code(0).stdout;
    let install = format!("so that shells find `tribunal`:\n  cargo install --path {package}\n");
    assert!(built.ends_with(&install), "{built}");
    let folder = std::path::Path::new(program).parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    env.set_env("PATH", path);
    let found = play(&env, &[]).assert_code(0).stdout;
    assert!(found.ends_with("object, rule and mend\n"), "{found}");
}

#[test]
fn settings_ledger_and_home_of_the_user_are_left_alone() {
    let mut env = TestEnv::new();
    // Neither may be heeded: the story would fail.
    env.write_user_config("review: {builtin: []}\nagents: [{name: ann, command: [/nowhere]}]\n");
    env.set_env("TRIBUNAL_RUN__MAX_REJECTIONS", "9");
    let before = files(env.root());
    play(&env, &[]).assert_code(0);
    let mut after = files(env.root());
    after.retain(|path| !path.starts_with(stage(&env)));
    assert_eq!(after, before);
}

#[test]
fn a_directory_with_something_else_in_it_is_refused() {
    let env = TestEnv::new();
    std::fs::create_dir(stage(&env)).unwrap();
    std::fs::write(stage(&env).join("thesis.txt"), "Nearly done.\n").unwrap();
    let ran = play(&env, &[]).assert_code(2);
    insta::assert_snapshot!(env.tidy(&ran.stderr), @"
    Error: [ROOT]/stage holds something else
    Hint: Name a directory that is empty or does not exist yet
    ");
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let env = TestEnv::new();
    let ran = play(&env, &["--color", "always"]).assert_code(0);
    let story = normalized(&env, &ran.stdout);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let picture = root.join("docs/demo.svg");
    let drawn = picture::draw(&picture::part(&story, "review --arbitrate"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&picture, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&picture).unwrap_or_default();
    assert!(
        kept == drawn,
        "docs/demo.svg is out of date; run this test again with UPDATE=1"
    );
    // What the README quotes in text stands in the story line by line.
    let plain = picture::plain(&story);
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let quotes: Vec<&str> = readme
        .split("```")
        .filter_map(|block| block.strip_prefix("text\n"))
        .filter(|block| block.starts_with("$ tribunal "))
        .collect();
    assert!(!quotes.is_empty(), "the README quotes nothing");
    for quote in quotes {
        for part in quote.split("…\n") {
            assert!(plain.contains(part), "not in the story:\n{part}");
        }
    }
}

/// Returns all files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path),
        }
    }
    found.sort();
    found
}
