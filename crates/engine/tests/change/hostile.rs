//! Repositories whose config or content wants to run something or reach out of itself.

use std::fs;
use std::path::Path;

use tribunal_engine::change::{ChangeSource, checkout, pin, read};

use super::world::{World, lines};

/// A repository with uncommitted work, in which every setting can be planted.
fn world() -> World {
    let world = World::with(&[("a.txt", "1\n"), ("b.bin", "1\n"), (".gitattributes", "")]);
    world.git(["tag", "v1"]);
    world.commit(&[("a.txt", "2\n")]);
    world.write("a.txt", "3\n");
    world.write("new.txt", "x\n");
    world
}

/// Attributes that ask for every driver there may be.
const FILTERED: &str = "* filter=evil diff=evil merge=evil\n";

/// What is planted: a name for messages, settings with `%` for the canary, and attributes.
type Planted = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

/// Does all we ever do with a repository.
fn do_everything(world: &World) {
    let patch = b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-2\n+5\n".to_vec();
    let sources = [
        ChangeSource::Default,
        ChangeSource::Files,
        ChangeSource::Uncommitted,
        ChangeSource::Staged,
        ChangeSource::Base("v1".to_owned()),
        ChangeSource::Commit("HEAD".to_owned()),
        ChangeSource::PatchText(patch),
    ];
    for (number, source) in sources.into_iter().enumerate() {
        let repo = world.open();
        // A source may be empty or refused; what counts is what runs.
        let Ok(pinned) = pin(&repo, &world.request(source, &[])) else {
            continue;
        };
        let _ = read(&repo, &pinned);
        let target = world.root.join(format!("checkout-{number}"));
        let _ = checkout(&repo, &pinned, &target);
    }
}

#[test]
fn no_setting_of_a_repository_makes_us_run_a_program() {
    let cases: &[Planted] = &[
        ("fsmonitor", &[("core.fsmonitor", "%")], ""),
        ("hooks", &[("core.hooksPath", "HOOKS")], ""),
        (
            "filters",
            &[
                ("filter.evil.clean", "%"),
                ("filter.evil.smudge", "%"),
                ("filter.evil.required", "true"),
            ],
            FILTERED,
        ),
        ("filter process", &[("filter.evil.process", "%")], FILTERED),
        ("external diff", &[("diff.external", "%")], ""),
        ("diff driver", &[("diff.evil.command", "%")], FILTERED),
        ("textconv", &[("diff.evil.textconv", "%")], FILTERED),
        ("merge driver", &[("merge.evil.driver", "% %A")], FILTERED),
        (
            "pager",
            &[("core.pager", "%"), ("pager.diff-tree", "%")],
            "",
        ),
        (
            "editor",
            &[("core.editor", "%"), ("sequence.editor", "%")],
            "",
        ),
        (
            "alias",
            &[("alias.rev-parse", "!%"), ("alias.config", "!%")],
            "",
        ),
        (
            "ssh",
            &[("core.sshCommand", "%"), ("core.askPass", "%")],
            "",
        ),
        ("alternates", &[("core.alternateRefsCommand", "%")], ""),
        ("pack hook", &[("uploadpack.packObjectsHook", "%")], ""),
        (
            "trace",
            &[("trace2.eventTarget", "%"), ("core.gitProxy", "%")],
            "",
        ),
        (
            "gpg",
            &[("gpg.program", "%"), ("log.showSignature", "true")],
            "",
        ),
    ];
    for (name, settings, attributes) in cases {
        let world = world();
        let canary = world.canary();
        let hooks = world.root.join("hooks");
        fs::create_dir(&hooks).unwrap();
        for hook in [
            "post-index-change",
            "reference-transaction",
            "pre-commit",
            "post-checkout",
        ] {
            fs::copy(&canary, hooks.join(hook)).unwrap();
            fs::copy(&canary, world.project.join(".git/hooks").join(hook)).unwrap();
        }
        for (key, value) in *settings {
            let value = value
                .replace('%', &canary)
                .replace("HOOKS", hooks.to_str().unwrap());
            world.git(["config", key, &value]);
        }
        world.write(".gitattributes", attributes);
        fs::write(world.project.join(".git/info/attributes"), attributes).unwrap();
        world.silence();
        do_everything(&world);
        assert!(!world.sang(), "{name}");
    }
}

#[test]
fn the_canary_sings_for_git_itself() {
    // Without this, the test above might prove nothing.
    let world = world();
    let canary = world.canary();
    world.git(["config", "filter.evil.clean", &canary]);
    world.write(".gitattributes", "* filter=evil\n");
    world.git(["add", "-A"]);
    assert!(world.sang());
}

#[test]
fn no_submodule_makes_us_run_a_program() {
    let world = world();
    let other = World::with(&[("inside", "1\n")]);
    let url = other.project.to_str().unwrap();
    world.git(["submodule", "--quiet", "add", url, "sub"]);
    world.commit(&[]);
    let sub = world.project.join("sub");
    let canary = world.canary();
    world.git_in(&sub, ["config", "core.fsmonitor", &canary]);
    world.git_in(&sub, ["config", "filter.evil.clean", &canary]);
    fs::write(sub.join(".gitattributes"), "* filter=evil\n").unwrap();
    fs::write(sub.join("inside"), "2\n").unwrap();
    world.write("a.txt", "4\n");
    world.silence();
    do_everything(&world);
    assert!(!world.sang());
    world.try_git(&world.project, ["status"]);
    assert!(world.sang(), "git itself asks the submodule");
}

#[test]
fn a_partial_clone_fetches_nothing() {
    let world = world();
    let canary = world.canary();
    let blob = world.git(["rev-parse", "HEAD:a.txt"]);
    let object = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    fs::remove_file(world.project.join(object)).unwrap();
    for (key, value) in [
        ("core.repositoryFormatVersion", "1".to_owned()),
        ("extensions.partialClone", "origin".to_owned()),
        ("remote.origin.promisor", "true".to_owned()),
        ("remote.origin.url", format!("ext::{canary}")),
        ("remote.origin.uploadpack", canary.clone()),
        ("protocol.ext.allow", "always".to_owned()),
        ("protocol.allow", "always".to_owned()),
    ] {
        world.git(["config", key, &value]);
    }
    world.silence();
    do_everything(&world);
    let missing = "0123456789012345678901234567890123456789";
    let _ = world.try_pin(ChangeSource::Commit(missing.to_owned()), &[]);
    assert!(!world.sang());
    world.try_git(&world.project, ["cat-file", "-p", &blob]);
    assert!(world.sang(), "git itself fetches");
}

#[test]
fn another_working_tree_in_the_config_is_not_looked_at() {
    let world = world();
    let elsewhere = world.root.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("private"), "secret\n").unwrap();
    world.git(["config", "core.worktree", elsewhere.to_str().unwrap()]);
    let expected = ["M a.txt +1 -1", "A new.txt +1 -0"];
    world.check(ChangeSource::Default, &expected);
}

#[test]
fn names_with_dashes_quotes_and_commands_in_them_are_names() {
    let names = [
        "--output=x",
        "-rf",
        "$(touch canary)",
        "`touch canary`",
        "a b",
        "a\"b",
        "a\\b",
        "a;b|c&d",
        "line\nbreak",
        "tab\there",
        ":(top)x",
        "*",
        "?",
        "ünïcödé",
        " leading",
        "trailing ",
        "b/a",
    ];
    let world = World::with(&[("x", "x\n")]);
    for name in names {
        world.write(name, "1\n");
    }
    let change = world.change(ChangeSource::Default);
    let mut expected: Vec<&str> = names.to_vec();
    expected.sort_unstable();
    let found: Vec<&str> = change.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found, expected);
    for file in &change.files {
        assert_eq!(
            (&*file.text, file.diff.path.as_str()),
            ("1\n", file.path.as_str())
        );
        assert!(file.diff.is_changed(1), "{}", file.path);
        let alone = world.change_of(ChangeSource::Files, &[&format!("./{}", file.path)]);
        assert_eq!(alone.files.len(), 1, "{}", file.path);
    }
    world.commit(&[]);
    for name in names {
        world.write(name, "2\n");
    }
    let change = world.change(ChangeSource::Default);
    assert!(change.files.iter().all(|file| file.diff.is_changed(1)));
    assert_eq!(change.files.len(), names.len());
    let target = world.root.join("checkout");
    checkout(&world.open(), &change.pinned, &target).unwrap();
    for name in names {
        assert_eq!(fs::read_to_string(target.join(name)).unwrap(), "2\n");
    }
    assert!(!Path::new("canary").exists());
}

#[test]
fn links_to_secrets_are_named_and_not_followed() {
    let world = World::with(&[("a", "1\n")]);
    let secret = world.root.join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("passwords"), "hunter2\n").unwrap();
    std::os::unix::fs::symlink(secret.join("passwords"), world.project.join("link")).unwrap();
    std::os::unix::fs::symlink(&secret, world.project.join("folder")).unwrap();
    let expected = [
        "not folder: symbolic link, leads out of the repository",
        "not link: symbolic link, leads out of the repository",
    ];
    world.check(ChangeSource::Default, &expected);
    let error = world
        .try_pin(ChangeSource::Files, &["folder/passwords"])
        .unwrap_err();
    assert_eq!(error.to_string(), "`folder/passwords` matches no file");
    let change = world.change_of(ChangeSource::Files, &["link"]);
    assert_eq!(
        lines(&change),
        ["not link: symbolic link, leads out of the repository"]
    );
}

#[test]
fn a_program_in_the_project_is_not_taken_for_git() {
    let world = world();
    let canary = world.canary();
    fs::copy(canary, world.project.join("git")).unwrap();
    do_everything(&world);
    assert!(!world.sang());
}
