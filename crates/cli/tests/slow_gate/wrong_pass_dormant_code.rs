//! Dormant code that a change wakes without touching its lines, and scripts in markup.
//!
//! The control of each case: another change of the same file, which leaves the code asleep, passes.

use crate::corpus_case::{CorpusCase, control, corpus_case, expect_no_pass, expect_pass};
use crate::gate_scene::GateScene;

/// A file before the change, after one that wakes what is in it, and after one that does not.
struct DormantFile {
    name: &'static str,
    path: &'static str,
    before: &'static str,
    woken: &'static str,
    asleep: &'static str,
}

fn wakes(file: DormantFile) -> CorpusCase {
    corpus_case(file.name, move || {
        let review = |after: &str| {
            let scene = GateScene::with_builtin_reviewers();
            scene.write(file.path, file.before);
            scene.env.commit_all("before");
            scene.write(file.path, after);
            scene.review(&[])
        };
        expect_no_pass(&review(file.woken))?;
        control(expect_pass(&review(file.asleep)))
    })
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let file = |name, path, before, woken, asleep| DormantFile {
        name,
        path,
        before,
        woken,
        asleep,
    };
    let files = vec![
        file(
            "the marks of a comment around eval are removed",
            "src/a.js",
            "function f(q) {\n/*\n  return eval(q);\n*/\n}\n",
            "function f(q) {\n  return eval(q);\n}\n",
            "function f(q) {\n/*\n  return eval(q);\n*/\n}\nf(1);\n",
        ),
        file(
            "the marks of a comment around gets are removed",
            "src/a.c",
            "void f(void) {\n  char line[80];\n/*\n  gets(line);\n*/\n}\n",
            "void f(void) {\n  char line[80];\n  gets(line);\n}\n",
            "void f(void) {\n  char line[81];\n/*\n  gets(line);\n*/\n}\n",
        ),
        file(
            "the quotes around exec are removed",
            "src/a.py",
            "x = 1\n\"\"\"\nimport sys\nexec(sys.argv[1])\n\"\"\"\n",
            "x = 1\nimport sys\nexec(sys.argv[1])\n",
            "x = 2\n\"\"\"\nimport sys\nexec(sys.argv[1])\n\"\"\"\n",
        ),
        file(
            "a name in a workflow becomes a script",
            ".github/workflows/x.yml",
            "on: issues\njobs:\n  a:\n    steps:\n      - name: |\n          hello\n          ${{ github.event.issue.title }}\n",
            "on: issues\njobs:\n  a:\n    steps:\n      - run: |\n          hello\n          ${{ github.event.issue.title }}\n",
            "on: issues\njobs:\n  b:\n    steps:\n      - name: |\n          hello\n          ${{ github.event.issue.title }}\n",
        ),
        file(
            "a first line makes a script of a text",
            "tool.txt",
            "import sys\n\ndef g(q):\n    return eval(q)\n",
            "#!/usr/bin/env python3\nimport sys\n\ndef g(q):\n    return eval(q)\n",
            "import os\n\ndef g(q):\n    return eval(q)\n",
        ),
        file(
            "the comment that suppresses dormant code was there before it woke",
            "src/b.py",
            "x = 1\n\"\"\"\nexec(x)  # tribunal-ignore python-eval: it is only an example\n\"\"\"\n",
            "x = 1\nexec(x)  # tribunal-ignore python-eval: it is only an example\n",
            "x = 2\n\"\"\"\nexec(x)  # tribunal-ignore python-eval: it is only an example\n\"\"\"\n",
        ),
        file(
            "a script in a page is no longer a comment",
            "web/a.html",
            "<p>\n<!--\n<script>eval(location.hash)</script>\n-->\n</p>\n",
            "<p>\n<script>eval(location.hash)</script>\n</p>\n",
            "<p>a\n<!--\n<script>eval(location.hash)</script>\n-->\n</p>\n",
        ),
        file(
            "a script in a page",
            "web/b.html",
            "<p></p>\n",
            "<p></p>\n<script>\neval(location.hash.slice(1))\n</script>\n",
            "<p></p>\n<script>\nrun(location.hash.slice(1))\n</script>\n",
        ),
        file(
            "a script in a drawing",
            "web/b.svg",
            "<svg></svg>\n",
            "<svg><script>eval(location.hash.slice(1))</script></svg>\n",
            "<svg><rect/></svg>\n",
        ),
        file(
            "a handler of an event in a drawing",
            "web/c.svg",
            "<svg></svg>\n",
            "<svg onload=\"eval(location.hash)\"></svg>\n",
            "<svg class=\"eval(location.hash)\"></svg>\n",
        ),
        file(
            "a coding of Python in which letters are others",
            "src/c.py",
            "x = 1\n",
            "# coding: utf-7\ndef f(x):\n    return +AGU-val(x)\n",
            "# coding: utf-8\ndef f(x):\n    return val(x)\n",
        ),
        file(
            "a name of Python in full-width letters",
            "src/d.py",
            "x = 1\n",
            "def f(x):\n    return \u{ff45}val(x)\n",
            "def f(x):\n    return '\u{ff45}val(x)'\n",
        ),
        file(
            "one marker of a conflict is left in prose",
            "docs/a.md",
            "x\n",
            "<<<<<<< HEAD\nx\n",
            "```\n<<<<<<< HEAD\n```\nx\n",
        ),
        file(
            "one marker of a conflict is left in settings",
            "a.yml",
            "a: 1\n",
            "a: 1\n>>>>>>> feature\n",
            "a: 1 # >>>>>>> feature\n",
        ),
        file(
            "markers of a conflict of another size",
            "src/e.py",
            "a = 1\n",
            "<<<<<<<<< HEAD\na = 1\n=========\na = 2\n>>>>>>>>> f\n",
            "a = 1\n# =========\n",
        ),
        file(
            "a character that moves a terminal in code",
            "src/f.py",
            "a = 1\n",
            "a = 1  # fine\u{1b}[1A\u{1b}[2K\n",
            "a = 1  # fine\n",
        ),
        file(
            "a message in variation selectors",
            "docs/b.md",
            "a\n",
            "a \u{1f600}\u{e0154}\u{e0155}\n",
            "a \u{1f600} \u{2764}\u{fe0f} \u{845b}\u{e0100}\n",
        ),
        file(
            "a command of a shell through another name of the module",
            "src/g.py",
            "a = 1\n",
            "import subprocess as sp\ndef g(q):\n    sp.check_output(f\"ls {q}\", shell=True)\n",
            "import shlex, subprocess as sp\ndef g(q):\n    sp.check_output(f\"ls {shlex.quote(q)}\", shell=True)\n",
        ),
    ];
    let mut cases: Vec<CorpusCase> = files.into_iter().map(wakes).collect();
    cases.push(corpus_case("a secret in a text in UTF-32", || {
        let scene = GateScene::with_builtin_reviewers();
        let text = format!("\u{feff}key: AKIA{}\n", "QWERTYUIOPASDFGH");
        let bytes: Vec<u8> = text
            .chars()
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect();
        scene.write("a.txt", bytes);
        expect_no_pass(&scene.review(&[]))
    }));
    cases
}
