//! Citations that hold, nearly hold, and do not.

use super::*;
use tribunal_core::finding::Category;

const TEXT: &str = "\
import os

def load(path):
    with open(path) as file:
        return file.read()

def save(path, text):
    with open(path, 'w') as file:
        file.write(text)
";

fn check(claim: Claim<'_>, expected: Grounding, reasons: &[&str]) {
    check_in(claim, None, expected, reasons);
}

fn check_in(claim: Claim<'_>, diff: Option<&Diff>, expected: Grounding, reasons: &[&str]) {
    let text = (claim.file == "a.py").then_some(TEXT);
    let grounded = ground(&claim, text, diff);
    let shown: Vec<String> = grounded.reasons.iter().map(ToString::to_string).collect();
    assert_eq!(
        (grounded.grounding, shown),
        (expected, reasons.iter().map(ToString::to_string).collect())
    );
}

fn at(line: i64) -> Claim<'static> {
    Claim {
        file: "a.py",
        line: Some(line),
        ..Claim::default()
    }
}

#[test]
fn a_citation_that_holds_is_confirmed() {
    let claim = Claim {
        end_line: Some(9),
        quote: "with open( path,'w' ) as file:\nfile.write(text)",
        names: &["save", "os.open()"],
        ..at(8)
    };
    check(claim, Grounding::Confirmed, &[]);
    check(
        Claim {
            line: None,
            ..at(1)
        },
        Grounding::Confirmed,
        &[],
    );
}

#[test]
fn what_does_not_exist_is_refuted() {
    check(
        Claim {
            file: "b.py",
            ..at(1)
        },
        Grounding::Refuted,
        &["the cited file does not exist"],
    );
    for line in [0, -1, 10, i64::MAX, i64::MIN] {
        let reason = format!("line {line} does not exist, the file has 9");
        check(at(line), Grounding::Refuted, &[&reason]);
    }
    check(
        Claim {
            quote: "shutil.rmtree(path)",
            line: None,
            ..at(3)
        },
        Grounding::Refuted,
        &["the quoted code is not in the file"],
    );
}

#[test]
fn a_quote_that_is_not_there_refutes_only_what_is_outside_of_the_change() {
    let claim = Claim {
        quote: "shutil.rmtree(path)",
        ..at(3)
    };
    let near = Diff::parse("--- a.py\n+++ a.py\n@@ -1 +1 @@\n-import sys\n+import os\n");
    let far = Diff::parse("--- a.py\n+++ a.py\n@@ -70,0 +71 @@\n+x\n");
    let missing = "the quoted code is not in the file";
    check(claim, Grounding::Doubtful, &[missing]);
    check_in(claim, Some(&near), Grounding::Doubtful, &[missing]);
    let distance = "the nearest change is 68 lines away";
    check_in(claim, Some(&far), Grounding::Refuted, &[missing, distance]);
}

#[test]
fn code_is_found_whatever_people_put_around_it() {
    for quote in [
        "`file.write(text)`",
        "\"file.write(text)\"",
        "\u{201c}file.write(text)\u{201d}",
        "'file.write(text)'",
        "```python\nfile.write(text)\n```",
        "~~~\n        file.write(text)\n~~~",
        "+        file.write(text)",
        "     9 +         file.write(text)",
        "     9           file.write(text)",
        "9: file.write(text)",
        "9 | file.write(text)",
        "a.py:9: file.write(text)",
        "file.write(text) ...",
        "file.write(text)\u{2026}",
        "file.write(text);",
        "> file.write(text)",
        "     8 +     with open(path, 'w') as file:\n     9 +         file.write(text)",
        "```\n8: with open(path, 'w') as file:\n9: file.write(text)\n```",
    ] {
        let claim = Claim { quote, ..at(9) };
        check(claim, Grounding::Confirmed, &[]);
    }
    // What is around it does not make it stand there.
    for quote in ["`shutil.rmtree(root)`", "9: unlink(everything)"] {
        let claim = Claim { quote, ..at(9) };
        check(
            claim,
            Grounding::Doubtful,
            &["the quoted code is not in the file"],
        );
    }
}

#[test]
fn what_is_elsewhere_is_doubtful_and_found() {
    let claim = Claim {
        quote: "file.write(text)",
        ..at(99)
    };
    let grounded = ground(&claim, Some(TEXT), None);
    assert_eq!(grounded.grounding, Grounding::Doubtful);
    assert_eq!(grounded.lines, Some((9, 9)));
    check(
        Claim {
            names: &["rmtree"],
            ..at(3)
        },
        Grounding::Doubtful,
        &["`rmtree` does not occur in the file"],
    );
    check(
        Claim {
            end_line: Some(2),
            ..at(3)
        },
        Grounding::Doubtful,
        &["the cited range ends before it starts"],
    );
    check(
        Claim { file: " ", ..at(3) },
        Grounding::Doubtful,
        &["no file is cited"],
    );
}

#[test]
fn quotes_may_have_gaps_and_marks_of_a_diff() {
    let with_gap = "def load(path):\n    ...\n    return file.read()";
    check(
        Claim {
            quote: with_gap,
            ..at(3)
        },
        Grounding::Confirmed,
        &[],
    );
    let from_diff = "+    with open(path, 'w') as file:\n+        file.write(text)";
    check(
        Claim {
            quote: from_diff,
            ..at(8)
        },
        Grounding::Confirmed,
        &[],
    );
    let in_wrong_order = "return file.read()\n...\ndef load(path):";
    check(
        Claim {
            quote: in_wrong_order,
            ..at(3)
        },
        Grounding::Doubtful,
        &["the code is not there as it is quoted"],
    );
}

#[test]
fn distance_to_the_change_counts() {
    let diff = Diff::parse("--- a.py\n+++ a.py\n@@ -1 +1 @@\n-import sys\n+import os\n");
    check_in(at(1), Some(&diff), Grounding::Confirmed, &[]);
    check_in(at(9), Some(&diff), Grounding::Confirmed, &[]);
    let far = Diff::parse("--- a.py\n+++ a.py\n@@ -70,0 +71 @@\n+x\n");
    check_in(
        at(1),
        Some(&far),
        Grounding::Doubtful,
        &["the nearest change is 70 lines away"],
    );
    let other = Diff::parse("--- b.py\n+++ b.py\n@@ -1 +1 @@\n-a\n+b\n");
    check_in(
        at(1),
        Some(&other),
        Grounding::Doubtful,
        &["the file is not part of the change"],
    );
}

#[test]
fn names_are_taken_from_backticks() {
    let text = "`load` calls `os.open()` and `x + y`; see `load`, not `` or `3`";
    assert_eq!(named_in(text), ["load", "os.open()"]);
}

#[test]
fn a_place_survives_moved_lines_and_not_other_code() {
    let name = |text: &str, line| place_name(&identify("a.py", text, Category::Bug, Some(line)));
    let original = name(TEXT, 9);
    let moved = TEXT.replace("import os\n", "import os\nimport sys\n\n");
    let indented = TEXT.replace("        file.write", "            file.write");
    assert_eq!(original, name(&moved, 11));
    assert_eq!(original, name(&indented, 9));
    assert_eq!(original.len(), 24);
    assert_ne!(original, name(TEXT, 8));
    // The same line in two functions is two findings, and so is a repeated line.
    let twice = "def f():\n    a()\n    a()\ndef g():\n    a()\n";
    let names = [name(twice, 2), name(twice, 3), name(twice, 5)];
    assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
    let security = identify("a.py", TEXT, Category::Security, Some(9));
    assert_ne!(original, place_name(&security));
    assert_eq!(name(TEXT, 0), name(TEXT, u32::MAX));
}

#[test]
fn two_claims_about_one_place_have_two_names() {
    let place = place_name(&identify("a.py", TEXT, Category::Bug, Some(9)));
    let names = [
        fingerprint(&place, "division by zero", 0),
        fingerprint(&place, "money is rounded", 0),
        fingerprint(&place, "division by zero", 1),
        place.clone(),
    ];
    let mut different = names.to_vec();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), names.len());
}

#[test]
fn a_quote_that_is_nearly_right_is_doubtful_and_not_invented() {
    check(
        Claim {
            quote: "with open(path, mode='w') as file",
            ..at(8)
        },
        Grounding::Doubtful,
        &["the code is not there as it is quoted"],
    );
}
