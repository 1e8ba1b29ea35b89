//! The gate over what a change could keep from the built-in reviewers by names, places and spelling.

use super::Desk;

const FAIL: i32 = 1;
const INCONCLUSIVE: i32 = 5;
const EVAL: &str = "def run(cmd):\n    return eval(cmd)\n";
const KEY: &str = "key: ghp_0123456789abcdefghijABCDEFGHIJ012345 # example\n";
const WORKFLOW: &str = "on: issues\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo ${{ github.event.issue.title }}\n";

#[test]
fn no_name_of_a_file_excuses_what_is_in_it() {
    let conflict = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n";
    let cases = [
        ("src/demo/pay.py", EVAL),
        ("docs/pay.py", EVAL),
        ("examples/pay.py", EVAL),
        ("tests/config.yml", KEY),
        ("docs/setup.md", KEY),
        ("Cargo.lock", conflict),
        ("package-lock.json", "{\"a\": \"\u{202e}b\"}\n"),
        ("vendor/a.yml", KEY),
        ("n.py", "# harmless\rx = eval(input())\n"),
    ];
    for (path, text) in cases {
        let desk = Desk::new();
        desk.write(path, "");
        desk.env.commit_all("base");
        desk.write(path, text);
        let ran = desk.env.run(["review"]);
        assert_eq!(ran.code, Some(FAIL), "{path}: {}", ran.stdout);
    }
}

#[test]
fn a_directory_that_is_named_is_read_by_the_same_rules() {
    let desk = Desk::new();
    desk.write(".github/workflows/t.yml", WORKFLOW);
    for path in [".github", ".github/workflows/t.yml"] {
        desk.env.run(["review", path]).assert_code(FAIL);
    }
    desk.env.run(["review"]).assert_code(FAIL);
}

#[test]
fn staged_content_and_unknown_repositories_never_pass_unseen() {
    let desk = Desk::new();
    desk.write("app.py", "a = 1\n");
    desk.env.commit_all("base");
    desk.write("app.py", EVAL);
    desk.git(&["add", "app.py"]);
    desk.write("app.py", "a = 1\n");
    desk.env.run(["review"]).assert_code(FAIL);

    let desk = Desk::new();
    desk.write("sub/n.py", EVAL);
    desk.git(&["init", "-q", "sub"]);
    desk.env.run(["review"]).assert_code(INCONCLUSIVE);
    desk.env.run(["review", "sub"]).assert_code(FAIL);
}

#[test]
fn every_character_of_a_changed_line_is_shown_to_reviewers() {
    let pad = " ".repeat(3_000);
    let cases = [
        (
            "code behind padding",
            "a = 1\n".to_owned(),
            format!("x = 1;{pad}evil()\n"),
        ),
        (
            "code appended to an old long line",
            format!("x = \"{pad}\"\n"),
            format!("x = \"{pad}\"; evil()\n"),
        ),
        (
            "a line longer than a question",
            "a = 1\n".to_owned(),
            format!(
                "x = \"{}\"; evil()\n",
                "é".repeat(100_000) + &"e".repeat(70_000)
            ),
        ),
        (
            "a long line that was removed",
            format!("x = 1;{pad}evil()\n"),
            "x = 1\n".to_owned(),
        ),
    ];
    for (name, before, after) in cases {
        let mut desk = Desk::new();
        desk.write("app.py", before);
        desk.env.commit_all("base");
        desk.write("app.py", after);
        // One file for each question, because they are put at the same time.
        let seen = desk.env.root().join("seen");
        std::fs::create_dir(&seen).unwrap();
        let script = desk.env.root().join("sam.sh");
        let answer = r#"{"nonce": "'$nonce'", "findings": [], "end": "'$nonce'"}"#;
        let lines = [
            format!("question=$(mktemp {}/XXXXXX)", seen.display()),
            "cat > $question".to_owned(),
            "nonce=$(sed -n 's/^Nonce: //p' $question | head -n 1)".to_owned(),
            format!("echo '{answer}'"),
        ];
        std::fs::write(&script, lines.join("\n")).unwrap();
        desk.raw_agent(&format!(
            "{{name: sam, command: [sh, {script:?}], role: reviewer, family: x}}"
        ));
        desk.review(&["--diff", "app.py"]);
        let questions = std::fs::read_dir(&seen).unwrap();
        let questions: Vec<String> = questions
            .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
            .collect();
        let is_seen = questions.iter().any(|text| text.contains("evil()"));
        assert!(is_seen, "{name}: {} questions", questions.len());
    }
}
