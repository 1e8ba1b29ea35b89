//! Which scopes the samples have, and how scopes of one name are told apart.

use super::*;
use crate::language::Limits;

fn check(language: Language, source: &str, expected: &[&str]) {
    let tree = language
        .parse(source, Limits::default())
        .expect("the sample parses");
    let outline = Outline::new(language, &tree, source);
    let shown: Vec<String> = outline
        .scopes()
        .iter()
        .map(|s| format!("{:?} {} {}-{}", s.kind, s.name, s.line, s.end_line))
        .collect();
    assert_eq!(shown, expected, "{language}");
}

#[test]
fn rust_sample() {
    check(
        Language::Rust,
        include_str!("../../tests/samples/sample.rs.txt"),
        &[
            "Module inner 1-12",
            "Type Point 2-4",
            "Type Point<T> 6-11",
            "Method shift 7-10",
            "Function free 14-18",
            "Function nested 15-16",
            "Type Shape 20-22",
            "Method area 21-21",
        ],
    );
}

#[test]
fn python_sample() {
    check(
        Language::Python,
        include_str!("../../tests/samples/sample.py.txt"),
        &[
            "Type Account 4-12",
            "Method pay 6-9",
            "Method later 7-8",
            "Method owner 11-12",
            "Function main 15-16",
        ],
    );
}

#[test]
fn javascript_and_typescript_samples() {
    check(
        Language::JavaScript,
        include_str!("../../tests/samples/sample.js.txt"),
        &[
            "Function load 1-3",
            "Function save 5-7",
            "Type Store 9-16",
            "Method open 10-12",
            "Method close 13-15",
            "Function onClick 19-19",
        ],
    );
    let typescript = [
        "Type Shape 1-3",
        "Type Base 5-9",
        "Method area 6-8",
        "Module geometry 11-15",
        "Function turn 12-14",
    ];
    let source = include_str!("../../tests/samples/sample.ts.txt");
    check(Language::TypeScript, source, &typescript);
    check(Language::Tsx, source, &typescript);
}

#[test]
fn go_sample() {
    check(
        Language::Go,
        include_str!("../../tests/samples/sample.go.txt"),
        &["Type Server 3-5", "Method Serve 7-9", "Function main 11-13"],
    );
}

#[test]
fn java_sample() {
    check(
        Language::Java,
        include_str!("../../tests/samples/sample.java.txt"),
        &[
            "Type Account 1-13",
            "Method Account 2-4",
            "Method pay 6-8",
            "Type Rule 10-12",
            "Method applies 11-11",
        ],
    );
}

#[test]
fn c_and_cpp_samples() {
    check(
        Language::C,
        include_str!("../../tests/samples/sample.c.txt"),
        &["Type point 1-3", "Function add 5-7", "Function find 9-11"],
    );
    check(
        Language::Cpp,
        include_str!("../../tests/samples/sample.cpp.txt"),
        &[
            "Module geometry 1-12",
            "Type Shape 2-7",
            "Method area 4-6",
            "Function Shape::scale 9-11",
        ],
    );
}

#[test]
fn paths_and_functions_of_a_line() {
    let source = include_str!("../../tests/samples/sample.py.txt");
    let tree = Language::Python
        .parse(source, Limits::default())
        .expect("the sample parses");
    let outline = Outline::new(Language::Python, &tree, source);
    assert_eq!(outline.path(8), "Account.pay.later");
    assert_eq!(outline.path(9), "Account.pay");
    assert_eq!(outline.path(1), "");
    assert_eq!(outline.function(8).map(|s| s.name.as_str()), Some("later"));
    assert_eq!(outline.function(5), None);
    assert_eq!(outline.path(u32::MAX), "");
}

/// Returns path and signature of the scopes around the lines that hold `here`.
fn marked(language: Language, source: &str) -> Vec<String> {
    let tree = language
        .parse(source, Limits::default())
        .expect("the sample parses");
    let outline = Outline::new(language, &tree, source);
    let lines = (1_u32..).zip(source.lines());
    let lines = lines.filter(|(_, line)| line.contains("here"));
    let shown = lines.map(|(line, _)| {
        let only = match outline.mark(line).is_only {
            true => " only",
            false => "",
        };
        format!(
            "{} {}{only}",
            outline.path(line),
            outline.mark(line).signature
        )
    });
    shown.collect()
}

#[test]
fn scopes_of_one_name_are_told_apart() {
    let go = "package a\nfunc (a A) Run(s string) {\n here() }\nfunc (b *B) Run(s string) {\n \
              here() }\nfunc (c Set[K, V]) Run() {\n here() }\nfunc Run() {\n here() }\n";
    assert_eq!(
        marked(Language::Go, go),
        [
            "A.Run (sstring)#0 only",
            "B.Run (sstring)#0 only",
            "Set.Run ()#0 only",
            "Run ()#0 only",
        ]
    );
    let java = "class A {\n void run(String s) {\n here(); }\n void run(String s, int n) {\n \
                here(); }\n class B { void run() {\n here(); } }\n}\n";
    assert_eq!(
        marked(Language::Java, java),
        [
            "A.run .(Strings)#0",
            "A.run .(Strings,intn)#0",
            "A.B.run ..()#0 only",
        ]
    );
    let python = "if a:\n    def g(q):\n        here()\nelse:\n    def g(q):\n        here()\n\
                  here()\n";
    assert_eq!(
        marked(Language::Python, python),
        ["g (q)#0", "g (q)#1", "  only"]
    );
    let rust = "impl A for T {\n fn run() {\n here(); }\n}\nimpl B for T {\n fn run() {\n \
                here(); }\n}\n";
    assert_eq!(
        marked(Language::Rust, rust),
        ["T.run A.()#0", "T.run B.()#0"]
    );
    let cpp = "int *run(int a) {\n here(); }\nint run(long a) {\n here(); }\n";
    assert_eq!(
        marked(Language::Cpp, cpp),
        ["run (inta)#0", "run (longa)#0"]
    );
    let script = "const run = (a) => {\n here(); };\nfunction go(b) {\n here(); }\n";
    assert_eq!(
        marked(Language::JavaScript, script),
        ["run (a)#0 only", "go (b)#0 only"]
    );
}

#[test]
fn a_hundred_thousand_levels_do_not_overflow() {
    let source = "(".repeat(100_000);
    let tree = Language::JavaScript
        .parse(&source, Limits::default())
        .expect("a tree with errors");
    assert_eq!(
        Outline::new(Language::JavaScript, &tree, &source),
        Outline::default()
    );
}
