//! What is left out of a review, and what a change cannot hide.

use tribunal_core::review::coverage::Omission;
use tribunal_engine::change::{ChangeLimits, ChangeSource};

use super::world::{World, lines};

/// Returns the first line of a key, in parts so that no scanner takes this file for one.
fn key() -> String {
    ["-----BEGIN PRI", "VATE KEY-----\nMIIE hunter2\n"].concat()
}

#[test]
fn each_reason_has_its_word() {
    let world = World::with(&[
        (
            ".gitattributes",
            "*.dat -diff\ngen/** linguist-generated\nlib/** linguist-vendored\n",
        ),
        ("gen.rs", "// @generated\nfn a() {}\n"),
        ("app.min.js", "y\n"),
        ("node_modules/a/index.js", "y\n"),
        ("node_modules/b/index.js", "y\n"),
    ]);
    let files: &[(&str, &str)] = &[
        ("a.rs", "fn main() {}\n"),
        ("image.png", "\u{89}PNG\0"),
        ("table.dat", "1\n"),
        ("gen/x.rs", "x\n"),
        ("lib/x.rs", "x\n"),
        ("gen.rs", "// @generated\nfn b() {}\n"),
        ("Cargo.lock", "x\n"),
        ("app.min.js", "x\n"),
        (".env", "SECRET=hunter2\n"),
        (".env.example", "SECRET=\n"),
        ("certificate.txt", &key()),
        ("docs/notes.md", "x\n"),
        ("node_modules/a/index.js", "x\n"),
        ("node_modules/b/index.js", "x\n"),
        ("big.txt", &"x".repeat(3 << 20)),
    ];
    for (path, text) in files {
        world.write(path, text);
    }
    let mut request = world.request(ChangeSource::Default, &[]);
    request.ignore = vec!["docs/".to_owned(), "!docs/keep.md".to_owned()];
    let change = world.asked(&request);
    let expected = [
        "A .env.example +1 -0",
        "A a.rs +1 -0",
        "not .env: may hold credentials",
        "not Cargo.lock: lock file",
        "not app.min.js: generated",
        "not big.txt: not code, 3145728 bytes",
        "not certificate.txt: may hold credentials",
        "not docs/notes.md: ignored by the config",
        "not gen.rs: generated",
        "not gen/x.rs: generated, by `.gitattributes`",
        "not image.png: binary",
        "not lib/x.rs: vendored, by `.gitattributes`",
        "not node_modules/a/index.js: vendored",
        "not node_modules/b/index.js: vendored",
        "not table.dat: binary, by `.gitattributes`",
    ];
    assert_eq!(lines(&change), expected);

    // The same files, committed, are left out for the same reasons.
    world.commit(&[]);
    request.source = ChangeSource::Commit("HEAD".to_owned());
    assert_eq!(lines(&world.asked(&request)), expected);
}

#[test]
fn secrets_are_handed_out_nowhere() {
    let world = World::with(&[
        (".env", "SECRET=hunter2\n"),
        ("server.pem", &key()),
        ("innocent.txt", &key()),
        ("a", "1\n"),
    ]);
    let check = |source: ChangeSource| {
        let change = world.change(source);
        let text = format!("{change:?}");
        assert!(!text.contains("hunter2"), "{text}");
        change
    };
    check(ChangeSource::Files);
    check(ChangeSource::Commit("HEAD".to_owned()));
    world.write(".env", "SECRET=hunter22\n");
    world.remove("server.pem");
    world.git(["mv", "innocent.txt", "renamed.txt"]);
    world.write("a", "2\n");
    let change = check(ChangeSource::Default);
    let expected = [
        "M a +1 -1",
        "not .env: may hold credentials",
        "not renamed.txt: may hold credentials",
        "not server.pem: deleted, may hold credentials",
    ];
    assert_eq!(lines(&change), expected);
    check(ChangeSource::Files);
    world.git(["checkout", "-q", ".env"]);
    world.git(["mv", ".env", "settings.txt"]);
    let change = check(ChangeSource::Staged);
    assert!(lines(&change).contains(&"not settings.txt: may hold credentials".to_owned()));
    let patch = format!(
        "--- /dev/null\n+++ b/x.txt\n@@ -0,0 +1,2 @@\n+{}",
        key().trim_end().replace('\n', "\n+") + "\n"
    );
    let change = check(ChangeSource::PatchText(patch.into_bytes()));
    assert_eq!(lines(&change), ["not x.txt: may hold credentials"]);
}

#[test]
fn secrets_that_git_does_not_have_are_not_stored_by_us() {
    let world = World::with(&[("a", "1\n")]);
    world.write(".env", "SECRET=hunter2\n");
    world.write("b", "stored\n");
    let change = world.change(ChangeSource::Default);
    assert_eq!(
        lines(&change),
        ["A b +1 -0", "not .env: may hold credentials"]
    );
    let own = std::fs::read_dir(world.clones()).unwrap().next().unwrap();
    let own = own.unwrap().path();
    let is_stored = |path: &str| {
        let id = world.git(["hash-object", path]);
        own.join(format!("objects/{}/{}", &id[..2], &id[2..]))
            .exists()
    };
    assert_eq!([".env", "b"].map(is_stored), [false, true]);
}

#[test]
fn a_change_cannot_declare_itself_generated() {
    let world = World::with(&[
        ("old.rs", "fn a() {}\n"),
        ("was.rs", "// @generated\nfn a() {}\n"),
    ]);
    world.write(".gitattributes", "*.rs linguist-generated -diff\n");
    world.write("old.rs", "// @generated DO NOT EDIT\nfn evil() {}\n");
    world.write("new.rs", "// @generated\nfn evil() {}\n");
    world.write("was.rs", "fn by_hand() {}\n");
    let expected = [
        "A .gitattributes +1 -0",
        "A new.rs +2 -0",
        "M old.rs +2 -1",
        "A was.rs +1 -0",
    ];
    world.check(ChangeSource::Default, &expected);
    // Once that is accepted, it counts.
    world.commit(&[]);
    world.write("old.rs", "fn later() {}\n");
    world.check(
        ChangeSource::Default,
        &["not old.rs: generated, by `.gitattributes`"],
    );
    // Whole files are generated if they were before the uncommitted work, too.
    world.git(["rm", "-q", "-f", ".gitattributes"]);
    world.commit(&[]);
    world.write("fresh.rs", "// @generated\nfn evil() {}\n");
    world.write(
        "was.rs",
        format!("fn evil() {{}} //{}\n", "x".repeat(9_000)),
    );
    let change = world.change(ChangeSource::Files);
    assert_eq!(
        lines(&change),
        [
            "W fresh.rs +2 -0",
            "W old.rs +1 -0",
            "W was.rs +1 -0",
            "not new.rs: generated"
        ]
    );
}

#[test]
fn limits_leave_out_the_rest_and_say_so() {
    let world = World::with(&[("a", "")]);
    for name in ["b", "c", "d", "e"] {
        world.write(name, "12345678\n");
    }
    let mut request = world.request(ChangeSource::Default, &[]);
    request.limits.max_files = 2;
    let expected = [
        "A b +1 -0",
        "A c +1 -0",
        "not d: too many files, the change has more than 2 files",
        "not e: too many files, the change has more than 2 files",
    ];
    assert_eq!(lines(&world.asked(&request)), expected);
    request.limits.max_files = 1;
    for number in 0..6 {
        world.write(format!("f{number}"), "x\n");
    }
    let change = world.asked(&request);
    assert_eq!((change.files.len(), change.left_out.len()), (1, 4));
    let last = "not f0: too many files, the first of 6 beyond the limit";
    assert_eq!(lines(&change).last().map(String::as_str), Some(last));
    for number in 0..6 {
        world.remove(&format!("f{number}"));
    }
    request.limits = ChangeLimits {
        max_total_bytes: 20,
        ..ChangeLimits::default()
    };
    let change = world.asked(&request);
    assert_eq!(change.files.len(), 2);
    assert!(
        change
            .left_out
            .iter()
            .all(|left| left.why == Omission::TooMany)
    );
    request.limits = ChangeLimits {
        max_file_bytes: 4,
        ..ChangeLimits::default()
    };
    let change = world.asked(&request);
    assert_eq!((change.files.len(), change.left_out.len()), (0, 4));
    world.commit(&[]);
    request.source = ChangeSource::Commit("HEAD".to_owned());
    assert_eq!(world.asked(&request).left_out, change.left_out);
}

#[test]
fn what_is_not_stored_is_not_shown_as_it_was() {
    let world = World::with(&[("a", "small\n")]);
    world.write("a", "x".repeat(3 << 20));
    let change = world.change(ChangeSource::Files);
    assert_eq!(lines(&change), ["not a: too large, 3145728 bytes"]);
}

#[test]
fn a_glob_that_cannot_be_read_is_named() {
    let world = World::with(&[("a", "1\n")]);
    let mut request = world.request(ChangeSource::Files, &[]);
    request.ignore = vec!["ok".to_owned(), "[z-a]".to_owned()];
    let error = tribunal_engine::change::pin(&world.open(), &request).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the glob `[z-a]` cannot be read"),
        "{error}"
    );
}

#[test]
fn special_files_do_not_stop_the_rest() {
    let world = World::with(&[("was-a-file", "1\n"), ("a", "1\n")]);
    world.remove("was-a-file");
    let status = std::process::Command::new("mkfifo")
        .args([world.project.join("was-a-file"), world.project.join("pipe")])
        .status();
    assert!(status.unwrap().success());
    world.write("a", "2\n");
    let expected = [
        "M a +1 -1",
        "not was-a-file: cannot be read, neither a file nor a link",
    ];
    world.check(ChangeSource::Default, &expected);
}
