//! The directory that agents look around in.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use tribunal_engine::change::{ChangeError, ChangeSource, Pinned, checkout};

use super::world::World;

/// Returns each path below `root` with its mode and text, or where a link leads.
fn tree(root: &Path) -> BTreeMap<String, (u32, String)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let text = if metadata.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else if path == root.join(".git") {
                // Ours, and nothing of the reviewed tree is in it.
                let config = fs::read_to_string(path.join("config")).unwrap();
                assert!(config.contains("excludesFile = /dev/null"), "{config}");
                continue;
            } else if metadata.is_dir() {
                assert_eq!(metadata.permissions().mode() & 0o777, 0o700);
                folders.push(path);
                continue;
            } else {
                fs::read_to_string(&path).unwrap()
            };
            let mode = metadata.permissions().mode() & 0o777;
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            found.insert(name.to_owned(), (mode, text));
        }
    }
    found
}

fn written(world: &World, pinned: &Pinned) -> BTreeMap<String, (u32, String)> {
    let target = world.root.join("work/checkout");
    checkout(&world.open(), pinned, &target).unwrap();
    let found = tree(&target);
    assert_eq!(fs::read_dir(world.root.join("work")).unwrap().count(), 1);
    found
}

#[test]
fn files_are_written_as_they_are_stored_and_private() {
    let world = World::with(&[("a.txt", "1\n"), ("src/run.sh", "#!/bin/sh\n")]);
    world.git(["config", "core.autocrlf", "true"]);
    let run = world.project.join("src/run.sh");
    fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../a.txt", world.project.join("src/inside")).unwrap();
    symlink("/etc/passwd", world.project.join("src/outside")).unwrap();
    symlink("../../..", world.project.join("src/above")).unwrap();
    world.write("new.txt", "uncommitted\n");
    let found = written(&world, &world.pin(ChangeSource::Default));
    let shown: Vec<_> = found
        .iter()
        .map(|(path, (mode, text))| (path.as_str(), mode & 0o777, text.as_str()))
        .collect();
    let expected = [
        ("a.txt", 0o600, "1\n"),
        ("new.txt", 0o600, "uncommitted\n"),
        ("src/inside", 0o777, "-> ../a.txt"),
        ("src/run.sh", 0o700, "#!/bin/sh\n"),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn nothing_speaks_to_the_agents_and_no_secret_is_there() {
    let key = ["-----BEGIN PRI", "VATE KEY-----\n"].concat();
    let files = [
        "CLAUDE.md",
        "sub/AGENTS.md",
        "GEMINI.md",
        ".claude/settings.json",
        "sub/.codex/config.toml",
        ".gemini/settings.json",
        ".opencode/agent.md",
        "opencode.json",
        ".cursorrules",
        ".windsurfrules",
        ".mcp.json",
        ".github/copilot-instructions.md",
        ".aider.conf.yml",
        ".agents/skills/x/SKILL.md",
        ".vscode/settings.json",
        ".crush.json",
        "WARP.md",
        ".rules",
        ".envrc",
        ".github/agents/x.md",
        ".nobody-knows-this/plugin.js",
        "AGENTS.md.",
        "AGENT\u{17f}.md",
        ".env",
        "id_rsa",
        "deep/er/server.pem",
    ];
    let mut all: Vec<(&str, &str)> = files.iter().map(|file| (*file, "obey\n")).collect();
    all.extend([
        ("a.rs", "x\n"),
        (".github/workflows/ci.yml", "x\n"),
        (".gitignore", "target\n"),
        ("sub/.eslintrc.json", "{}\n"),
        ("key.txt", &key),
    ]);
    let world = World::with(&all);
    symlink("CLAUDE.md", world.project.join("notes.md")).unwrap();
    symlink("../.claude", world.project.join("sub/rules")).unwrap();
    symlink("a.rs", world.project.join("b.rs")).unwrap();
    world.commit(&[]);
    let pinned = world.pin(ChangeSource::Commit("HEAD".to_owned()));
    let found: Vec<String> = written(&world, &pinned).into_keys().collect();
    let expected = [
        ".github/workflows/ci.yml",
        ".gitignore",
        "a.rs",
        "b.rs",
        "sub/.eslintrc.json",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_hidden_file_is_there_if_it_belongs_to_the_change_and_is_no_agents() {
    let world = World::with(&[("a.rs", "x\n"), (".old/tool.py", "x = 1\n")]);
    world.commit(&[
        (".new/tool.py", "x = 1\n"),
        (".claude/settings.json", "{}\n"),
    ]);
    let pinned = world.pin(ChangeSource::Commit("HEAD".to_owned()));
    let found: Vec<String> = written(&world, &pinned).into_keys().collect();
    assert_eq!(found, [".new/tool.py", "a.rs"]);
}

#[test]
fn a_directory_that_holds_something_stays_as_it_is() {
    let world = World::with(&[("a", "1\n")]);
    let pinned = world.pin(ChangeSource::Commit("HEAD".to_owned()));
    let target = world.root.join("target");
    fs::create_dir(&target).unwrap();
    checkout(&world.open(), &pinned, &target).unwrap();
    let error = checkout(&world.open(), &pinned, &target).unwrap_err();
    assert!(matches!(error, ChangeError::TargetExists { .. }), "{error}");
    assert_eq!(tree(&target).len(), 1);
}

#[test]
fn a_patch_alone_leaves_an_empty_directory() {
    let world = World::plain();
    let patch = b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n".to_vec();
    let pinned = world.pin(ChangeSource::PatchText(patch));
    assert_eq!(written(&world, &pinned).len(), 0);
}

/// Stores a tree that git would not make, from lines as `ls-tree` prints them.
fn hostile_tree(world: &World, entries: &[(&str, &str, &str)]) -> String {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        write!(bytes, "{mode} {name}\0").unwrap();
        let digits: Vec<char> = id.chars().collect();
        for pair in digits.chunks(2) {
            let pair: String = pair.iter().collect();
            bytes.push(u8::from_str_radix(&pair, 16).unwrap());
        }
    }
    let mut child = Command::new("git")
        .args(["hash-object", "-t", "tree", "-w", "--stdin", "--literally"])
        .current_dir(&world.project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn trees_of_strangers_write_only_below_the_target() {
    let world = World::with(&[("a", "evil\n")]);
    let blob = world.git(["rev-parse", "HEAD:a"]);
    let up = world.git(["rev-parse", "HEAD"]);
    let outside = world.root.join("outside");
    fs::create_dir(&outside).unwrap();
    world.write("target-text", outside.to_str().unwrap());
    let link = world.git(["hash-object", "-w", "target-text"]);
    world.remove("target-text");
    let inner = hostile_tree(&world, &[("100644", "x", &blob)]);
    let config = hostile_tree(&world, &[("100644", "config", &blob)]);
    let cases: &[&[(&str, &str, &str)]] = &[
        &[("40000", "..", &inner)],
        &[("100644", "../evil", &blob)],
        &[("100644", "/tmp/evil", &blob)],
        &[("40000", ".git", &config)],
        &[("40000", ".GIT", &config)],
        &[("120000", "d", &link), ("40000", "d", &inner)],
        &[("120000", "d", &link), ("100644", "d/x", &blob)],
        &[("160000", "module", &up)],
    ];
    for (number, entries) in cases.iter().enumerate() {
        let mut pinned = world.pin(ChangeSource::Commit("HEAD".to_owned()));
        pinned.head = Some(hostile_tree(&world, entries));
        let target = world.root.join(format!("deep/{number}/target"));
        // Refusing the whole tree is as good as refusing what is wrong with it.
        let _ = checkout(&world.open(), &pinned, &target);
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "case {number}");
        let around = world.root.join(format!("deep/{number}"));
        let beside = fs::read_dir(around).unwrap().count();
        assert!(beside <= 1, "case {number}");
        if target.exists() {
            let written = tree(&target);
            assert!(
                written.keys().all(|path| path == "d/x"),
                "case {number}: {written:?}"
            );
        }
    }
    assert!(!Path::new("/tmp/evil").exists());
}
