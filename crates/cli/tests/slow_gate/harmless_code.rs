//! Clean changes of code, in the languages that the built-in reviewers read.

use crate::corpus_case::{CorpusCase, corpus_case, expect_pass};
use crate::gate_scene::GateScene;
use crate::planted_defects::PLANTED_DEFECTS;

/// Returns a case: the file changes from the one text to the other, and passes.
fn edited(
    name: &'static str,
    path: &'static str,
    before: impl AsRef<[u8]> + Send + Sync + 'static,
    after: impl AsRef<[u8]> + Send + Sync + 'static,
) -> CorpusCase {
    corpus_case(name, move || {
        let scene = GateScene::with_builtin_reviewers();
        scene.write(path, before.as_ref());
        scene.env.commit_all("before");
        scene.write(path, after.as_ref());
        expect_pass(&scene.review(&[]))
    })
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let mut cases = Vec::new();
    for planted in PLANTED_DEFECTS {
        cases.push(corpus_case(
            format!("{}: a new file without a defect", planted.language),
            || {
                let scene = GateScene::with_builtin_reviewers();
                scene.write(planted.path, planted.clean());
                scene.commit_on_branch();
                expect_pass(&scene.review(&["--base", "main"]))
            },
        ));
        cases.push(corpus_case(
            format!("{}: the defect of the base is mended", planted.language),
            || {
                let scene = GateScene::with_builtin_reviewers();
                scene.write(planted.path, planted.broken());
                scene.env.commit_all("before");
                scene.write(planted.path, planted.clean());
                expect_pass(&scene.review(&[]))
            },
        ));
    }
    let python = "def add(one, two):\n    return one + two\n";
    cases.extend([
        edited("Python: a comment and a docstring", "src/add.py", python, "def add(one, two):\n    \"\"\"Add two numbers.\"\"\"\n    # Nothing else.\n    return one + two\n"),
        edited("Python: only white space", "src/add.py", python, "def add(one, two):\n\n    return one + two\n\n"),
        edited("Python: carriage returns", "src/add.py", python, python.replace('\n', "\r\n")),
        edited("Python: a mark of byte order", "src/add.py", python, format!("\u{feff}{python}")),
        edited("Python: no newline at the end", "src/add.py", python, python.trim_end().to_owned()),
        edited("Python: a very long line", "src/add.py", python, format!("{python}NAMES = [{}]\n", "'name', ".repeat(900))),
        edited("Python: words of many languages in strings", "src/add.py", python, format!("{python}HELLO = ['Grüße', 'こんにちは', 'שלום', 'مرحبا', '👩\u{200d}💻']\n")),
        edited("Python: a test", "tests/test_add.py", "", "from src.add import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n"),
        edited("Rust: a test", "src/lib.rs", "pub fn add(a: u8, b: u8) -> u8 {\n    a.saturating_add(b)\n}\n", "pub fn add(a: u8, b: u8) -> u8 {\n    a.saturating_add(b)\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(super::add(1, 2), 3);\n    }\n}\n"),
        edited("a comment that speaks of markers", "src/add.py", python, format!("{python}# Use `tribunal:ignore` only with a reason.\n")),
        edited("a defect of the base that the change does not touch", "src/run.py", "def run(text):\n    return eval(text)\n", "def run(text):\n    return eval(text)\n\n\ndef one():\n    return 1\n"),
    ]);
    cases
}
