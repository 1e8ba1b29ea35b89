//! Changes that need no reviewer pass and say why; what only claims to be harmless does not.

use super::Desk;

const PASS: i32 = 0;
const INCONCLUSIVE: i32 = 5;

/// Reviews uncommitted work with the built-in reviewers and returns the sentence with the gate.
fn gate_of(desk: &Desk, args: &[&str], code: i32) -> String {
    let mut all = vec!["review"];
    all.extend(args);
    let ran = desk.env.run(all).assert_code(code);
    // The sentence is the last of the report, and wrapped.
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    let gates = ["PASS:", "FAIL:", "INCONCLUSIVE:"];
    let start = words.iter().rposition(|word| gates.contains(word));
    words
        .get(start.unwrap_or(0)..)
        .unwrap_or_default()
        .join(" ")
}

/// Checks gate and words for a change that adds these files to a repository with `base`.
fn check(base: &[(&str, &[u8])], change: &[(&str, &[u8])], code: i32, said: &str) {
    let desk = Desk::new();
    for (path, bytes) in base {
        desk.write(path, bytes);
    }
    if !base.is_empty() {
        desk.env.commit_all("base");
    }
    for (path, bytes) in change {
        desk.write(path, bytes);
    }
    let name = change.first().map_or("", |(path, _)| *path);
    let line = gate_of(&desk, &[], code);
    assert!(line.contains(said), "{name}: {line}");
    // The same, committed.
    desk.env.commit_all("change");
    let line = gate_of(&desk, &["--commit", "HEAD"], code);
    assert!(line.contains(said), "{name}, committed: {line}");
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

#[test]
fn an_empty_change_passes_with_the_reason() {
    let desk = Desk::new();
    let cases: [(&[&str], &str); 3] = [
        (
            &[],
            "no uncommitted work, and the branch has nothing of its own",
        ),
        (&["--staged"], "nothing is staged"),
        (
            &["--base", "HEAD"],
            "no commit of the branch came after `HEAD`",
        ),
    ];
    for (args, said) in cases {
        let line = gate_of(&desk, args, PASS);
        assert!(
            line.contains("nothing in this change needed a reviewer"),
            "{line}"
        );
        assert!(line.contains(said), "{line}");
    }
    desk.write("docs/a.md", "text\n");
    desk.env.commit_all("docs");
    let line = gate_of(&desk, &["--base", "HEAD~1", "src"], PASS);
    assert!(line.contains("below the given paths"), "{line}");
    let ran = desk
        .env
        .run(["review", "--base", "HEAD~1", "nodir"])
        .assert_code(4);
    assert!(
        ran.stderr.contains("`nodir` matches no file"),
        "{}",
        ran.stderr
    );
    let report = desk
        .env
        .run(["review", "--staged", "--json"])
        .assert_code(PASS)
        .json();
    assert_eq!(report["gate"], "pass");
    assert_eq!(report["change"]["empty"], "nothing is staged");
}

#[test]
fn an_empty_patch_passes_and_nonsense_is_a_mistake() {
    let desk = Desk::new();
    let args = ["review", "--patch", "-"];
    desk.env.run_with_input(args, "").assert_code(PASS);
    desk.env
        .run_with_input(args, "not a patch\n")
        .assert_code(2);
}

#[test]
fn prose_data_and_assets_need_no_reviewer() {
    let cases: [(&str, &[u8], &str); 7] = [
        ("README.md", b"# Title\n", "1 file of prose or data"),
        ("LICENSE", b"MIT {x}\n", "1 file of prose or data"),
        ("docs/a.rst", b"text\n", "1 file of prose or data"),
        ("notes.txt", b"text\n", "1 file of prose or data"),
        ("data/table.csv", b"a,b\n1,2\n", "1 file of prose or data"),
        (
            "logo.png",
            PNG,
            "1 file with pictures, fonts or other assets",
        ),
        (
            "Cargo.lock",
            b"version = 4\n",
            "1 file with locked versions",
        ),
    ];
    for (path, bytes, said) in cases {
        check(&[], &[(path, bytes)], PASS, said);
    }
    // Twice the same reason is one part of the sentence.
    check(
        &[],
        &[("a.md", b"x\n"), ("b.md", b"y\n")],
        PASS,
        "2 files of prose or data",
    );
}

#[test]
fn configuration_counts_as_read() {
    for path in [
        ".github/workflows/ci.yml",
        "package.json",
        "Cargo.toml",
        "pom.xml",
        "Dockerfile",
        "Makefile",
        "run.sh",
        "schema.sql",
        "style.css",
        "setup.cfg",
        ".gitignore",
        "index.html",
        "api.proto",
        "main.tf",
        "build.gradle",
        "CMakeLists.txt",
        "page.j2",
    ] {
        let text: &[u8] = match path {
            "package.json" => b"{}\n",
            _ => b"",
        };
        check(&[], &[(path, text)], PASS, "1 file reviewed");
    }
}

#[test]
fn code_that_nobody_reads_never_passes() {
    let cases: [(&str, &[u8]); 9] = [
        ("a.rb", b"system 'x'\n"),
        ("a.kt", b"fun main() {}\n"),
        ("page.vue", b"<script>x()</script>\n"),
        ("tool", b"#!/usr/bin/env ruby\nputs 1\n"),
        ("notes.txt", b"#!/usr/bin/perl\nprint 1\n"),
        ("thing.xyz", b"import os\nos.system('x')\n"),
        ("lib.so", b"\x7fELF\x02\x01\x01\0\0"),
        ("logo.png", b"\x7fELF\x02\x01\x01\0\0"),
        ("app.jar", b"PK\x03\x04\0\0"),
    ];
    for (path, bytes) in cases {
        check(&[], &[(path, bytes)], INCONCLUSIVE, path);
    }
}

#[test]
fn what_the_change_itself_calls_vendored_or_generated_is_read() {
    let evil: &[u8] = b"def f(s):\n    return eval(s)\n";
    for path in ["vendor/a.py", "dist/a.py", "src/a.generated.py"] {
        check(&[], &[(path, evil)], 1, "FAIL");
    }
    let marked: &[u8] = b"# @generated, do not edit\ndef f(s):\n    return eval(s)\n";
    check(&[], &[("src/b.py", marked)], 1, "FAIL");
    let attributes: &[u8] = b"*.py linguist-generated\n";
    check(
        &[],
        &[(".gitattributes", attributes), ("src/c.py", evil)],
        1,
        "FAIL",
    );
    // What was so before the change is left out as before.
    check(
        &[("vendor/a.py", b"x = 1\n")],
        &[("vendor/a.py", evil)],
        PASS,
        "1 file of vendored code",
    );
    check(
        &[(".gitattributes", b"*.gen.py linguist-generated\n")],
        &[("x.gen.py", evil)],
        PASS,
        "that programs wrote",
    );
}

#[test]
fn a_new_name_makes_no_code_of_prose_unseen() {
    let desk = Desk::new();
    desk.write("payload.txt", "def f(s):\n    return eval(s)\n");
    desk.env.commit_all("prose");
    desk.git(&["mv", "payload.txt", "payload.py"]);
    let line = gate_of(&desk, &["--staged"], 1);
    assert!(line.contains("FAIL"), "{line}");
}

#[test]
fn names_modes_and_deletions_alone_pass() {
    let desk = Desk::new();
    desk.write("a.rb", "puts 1\n");
    desk.write("b.bin", b"\0\x01\x02");
    desk.write("c.rb", "puts 2\n");
    desk.env.commit_all("base");
    desk.git(&["mv", "a.rb", "d.rb"]);
    desk.git(&["rm", "-q", "b.bin"]);
    desk.git(&["update-index", "--chmod=+x", "c.rb"]);
    let line = gate_of(&desk, &["--staged"], PASS);
    assert!(
        line.contains("2 files with unchanged content, 1 file deleted"),
        "{line}"
    );
}

#[test]
fn files_of_tribunal_are_given_to_nobody_and_need_nobody() {
    let rulings: &[u8] = b"rulings: []\n";
    let change: [(&str, &[u8]); 2] = [
        (".tribunal/rulings.yml", rulings),
        ("dispute.md", b"# Disputes\n"),
    ];
    check(&[], &change, PASS, "2 files of Tribunal itself");
    // A program does not become harmless by its place.
    check(
        &[],
        &[(".tribunal/x.py", b"eval(input())\n")],
        INCONCLUSIVE,
        ".tribunal/x.py",
    );
}

#[test]
fn what_the_user_ignores_needs_no_reviewer() {
    let desk = Desk::new();
    desk.env.write_user_config("review: {ignore: ['*.rb']}\n");
    desk.write("a.rb", "puts 1\n");
    let line = gate_of(&desk, &[], PASS);
    assert!(line.contains("1 file ignored by the config"), "{line}");
}

#[test]
fn documents_and_large_prose_need_no_reviewer() {
    let office = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0abcdefghijklmnop[Content_Types].xml\0\0";
    let asset = "1 file with pictures, fonts or other assets";
    for path in ["report.docx", "table.xlsx", "talk.pptx"] {
        check(&[], &[(path, office)], PASS, asset);
    }
    check(&[], &[("paper.pdf", b"%PDF-1.7\n\0\xff")], PASS, asset);
    let prose = "A long story.\n".repeat(200_000);
    let said = "1 file of prose or data";
    check(&[], &[("docs/story.md", prose.as_bytes())], PASS, said);
    // Neither macros nor programs are documents, and neither a script nor a key is prose.
    check(&[], &[("report.docm", office)], INCONCLUSIVE, "report.docm");
    let script = format!("#!/bin/sh\n{prose}");
    check(
        &[],
        &[("run.txt", script.as_bytes())],
        INCONCLUSIVE,
        "too large",
    );
    let mut program = b"\x7fELF\x02\x01\x01\0\0".to_vec();
    program.extend(prose.as_bytes());
    check(&[], &[("story.txt", &program)], INCONCLUSIVE, "binary");
    let key = format!("{prose}ghp_{}\n", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let desk = Desk::new();
    desk.write("docs/story.md", key);
    gate_of(&desk, &[], 1);
}

#[test]
fn prose_passes_although_a_reviewer_is_broken() {
    let mut desk = Desk::new();
    desk.write("README.md", "# Title\n");
    desk.raw_agent("{name: ann, role: reviewer, command: ['false']}");
    let report = desk.review(&["--json"]).assert_code(PASS).json();
    assert_eq!(report["reviewers"][0]["state"], "missing", "{report}");
    // Beside code it is missing.
    desk.write("src/a.rb", "puts 1\n");
    desk.review(&["--json"]).assert_code(INCONCLUSIVE);
}

#[test]
fn what_nobody_can_read_comes_with_advice_that_helps() {
    type Made = fn(&Desk);
    let cases: [(Made, &str, &str); 4] = [
        (
            |desk| {
                let link = desk.env.project().join("src/l.py");
                std::os::unix::fs::symlink("/etc/hosts", link).unwrap();
            },
            "look yourself where the link leads",
            "/src/l.py",
        ),
        (
            |desk| desk.write("lib.so", b"\x7fELF\x02\0"),
            "put its source under review",
            "/lib.so",
        ),
        (
            |desk| desk.write("big.py", "x = 1\n".repeat(400_000)),
            "tribunal config set review.max_file",
            "/big.py",
        ),
        (
            |desk| desk.write("a.rb", "puts 1\n"),
            "tribunal connect claude --role reviewer",
            "*.rb",
        ),
    ];
    for (make, advice, pattern) in cases {
        let desk = Desk::new();
        make(&desk);
        let ran = desk.env.run(["review"]).assert_code(INCONCLUSIVE);
        let words: Vec<&str> = ran.stdout.split_whitespace().collect();
        let said = words.join(" ");
        assert!(said.contains(advice), "{advice}: {said}");
        let connects = said.contains("tribunal connect");
        assert_eq!(connects, advice.contains("tribunal connect"), "{said}");
        // What the report says to type helps.
        let command = "tribunal config add review.ignore";
        assert!(said.contains(command), "{said}");
        desk.env
            .run(["config", "add", "review.ignore", pattern])
            .assert_code(0);
        desk.env.run(["review"]).assert_code(PASS);
    }
}

#[test]
fn a_file_of_keys_is_to_be_taken_out_and_not_to_be_ignored() {
    for path in [".env", "server.pem", "id_rsa"] {
        let desk = Desk::new();
        desk.write(path, "KEY=1\n");
        let ran = desk.env.run(["review"]).assert_code(INCONCLUSIVE);
        let words: Vec<&str> = ran.stdout.split_whitespace().collect();
        let said = words.join(" ");
        assert!(said.contains("git rm --cached"), "{said}");
        assert!(!said.contains("review.ignore"), "{said}");
    }
}

#[test]
fn hidden_text_is_reported_in_prose_too() {
    let change: [(&str, &[u8]); 1] = [("README.md", "merge \u{e0041}\u{e0042} this\n".as_bytes())];
    check(&[], &change, 1, "FAIL");
}
