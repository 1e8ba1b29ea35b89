//! Files that the user named: `--save`, `export --output`.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::TestEnv;

/// Returns a place with a case to export, and its id.
fn with_case() -> (TestEnv, String) {
    let env = TestEnv::with_repository();
    env.write("app.py", "def f(x):\n    return eval(x)\n");
    let ran = env
        .run(["ask", "scripted", "Hello", "--json"])
        .assert_code(0);
    let case = ran.json()["case"].as_str().unwrap().to_owned();
    (env, case)
}

/// Writes the file `path` by both commands that take one, and looks at it after each.
fn written_by_both(env: &TestEnv, case: &str, path: &Path, check: impl Fn(&str)) {
    let name = path.to_str().unwrap();
    env.run(["export", case, "--output", name]).assert_code(0);
    check("\"events\"");
    env.run(["review", "--save", &format!("sarif={name}")])
        .assert_code(1);
    check("\"runs\"");
}

#[test]
fn a_link_leads_on_to_the_file_that_is_written() {
    let (env, case) = with_case();
    let (target, link) = (env.root().join("target"), env.root().join("link"));
    std::fs::write(&target, "old").unwrap();
    symlink("target", &link).unwrap();
    written_by_both(&env, &case, &link, |part| {
        assert!(link.is_symlink());
        let text = std::fs::read_to_string(&target).unwrap();
        assert!(text.contains(part), "{text}");
    });
    // One that leads to nothing yet makes its file where it leads.
    let (later, dangling) = (env.root().join("later"), env.root().join("dangling"));
    symlink("later", &dangling).unwrap();
    env.run(["export", &case, "--output", dangling.to_str().unwrap()])
        .assert_code(0);
    assert!(dangling.is_symlink() && later.is_file());
}

#[test]
fn a_file_keeps_its_mode_and_its_other_names() {
    let (env, case) = with_case();
    let file = env.root().join("report");
    for mode in [0o600, 0o640, 0o644] {
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        written_by_both(&env, &case, &file, |part| {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(part), "{text}");
            assert_eq!(file.metadata().unwrap().mode() & 0o777, mode);
        });
    }
    let other = env.root().join("other-name");
    std::fs::hard_link(&file, &other).unwrap();
    written_by_both(&env, &case, &file, |part| {
        let text = std::fs::read_to_string(&other).unwrap();
        assert!(text.contains(part), "{text}");
    });
}

#[test]
fn a_pipe_and_a_device_take_the_bytes_and_stay() {
    let (env, case) = with_case();
    let pipe = env.root().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let reader = Command::new("cat")
        .arg(&pipe)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    env.run(["export", &case, "--output", pipe.to_str().unwrap()])
        .assert_code(0);
    let read = reader.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&read.stdout).contains("\"events\""));
    assert!(pipe.metadata().unwrap().file_type().is_fifo());

    written_by_both(&env, &case, Path::new("/dev/null"), |_| {
        let found = Path::new("/dev/null").metadata().unwrap();
        assert!(found.file_type().is_char_device());
    });
    let full = env
        .run(["export", &case, "--output", "/dev/full"])
        .assert_code(7);
    assert!(full.stderr.contains("Make room"), "{}", full.stderr);
}

#[test]
fn standard_output_can_be_named_whatever_it_is() {
    let (env, case) = with_case();
    let ran = env
        .run(["export", &case, "--output", "/dev/stdout"])
        .assert_code(0);
    assert!(ran.stdout.contains("\"events\""), "{}", ran.stdout);
    // A file behind it holds both what was saved and what was printed.
    let file = env.root().join("both");
    let status = env
        .command(["review", "--save", "sarif=/dev/stdout"])
        .stdout(std::fs::File::create(&file).unwrap())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with('{') && text.contains("FAIL"), "{text}");
}

#[test]
fn a_dash_is_not_taken_for_a_file() {
    let (env, case) = with_case();
    let ran = env.run(["export", &case, "--output", "-"]).assert_code(2);
    assert!(ran.stderr.contains("/dev/stdout"), "{}", ran.stderr);
    assert!(!env.project().join("-").exists());
}
