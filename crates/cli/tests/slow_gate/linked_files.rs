//! Symbolic links: those within the repository are one more name for a file that is reviewed, and
//! no program gets past the gate behind one.

use std::os::unix::fs::symlink;

use crate::common::Ran;
use crate::corpus_case::{CorpusCase, corpus_case, expect_no_pass, expect_pass};
use crate::gate_scene::{EVAL_DEFECT, EVAL_MENDED, GateScene};

/// Makes the link `path` in the project, in the place of whatever was there.
fn link(scene: &GateScene, path: &str, target: &str) {
    let path = scene.env.project().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    // There may be nothing to remove.
    let _ = std::fs::remove_file(&path);
    symlink(target, path).unwrap();
}

/// Returns a case: these files are there before, and then the scene is changed and reviewed.
fn linked(
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    expect: fn(&Ran) -> Result<(), String>,
    change: fn(&GateScene),
) -> CorpusCase {
    corpus_case(name, move || {
        let scene = GateScene::with_builtin_reviewers();
        for (path, text) in files {
            scene.write(path, text);
        }
        scene.env.commit_all("before");
        change(&scene);
        expect(&scene.review(&[]))?;
        scene.commit_on_branch();
        expect(&scene.review(&["--base", "main"]))
    })
}

/// Returns links that change nothing for anybody who reads the code.
pub(crate) fn harmless_cases() -> Vec<CorpusCase> {
    let pass = expect_pass;
    vec![
        linked(
            "a link from one file of instructions to another",
            &[("AGENTS.md", "Be brief.\n")],
            pass,
            |scene| link(scene, "CLAUDE.md", "AGENTS.md"),
        ),
        linked(
            "a link to code in another directory",
            &[("src/run.py", EVAL_MENDED)],
            pass,
            |scene| link(scene, "app/run.py", "../src/run.py"),
        ),
        linked(
            "a link to code with an old defect",
            &[("src/run.py", EVAL_DEFECT)],
            pass,
            |scene| link(scene, "app/run.py", "../src/run.py"),
        ),
        linked(
            "a link to a directory",
            &[("src/one.py", EVAL_MENDED), ("src/two.md", "Words.\n")],
            pass,
            |scene| link(scene, "app", "src"),
        ),
        linked("a link to a link", &[("LICENSE", "MIT\n")], pass, |scene| {
            link(scene, "docs/LICENSE", "../LICENSE");
            link(scene, "web/LICENSE", "../docs/LICENSE");
        }),
        linked(
            "a link to a file that the change adds",
            &[("LICENSE", "MIT\n")],
            pass,
            |scene| {
                scene.write("src/run.py", EVAL_MENDED);
                link(scene, "run.py", "src/run.py");
            },
        ),
        linked(
            "a link that leads to the next version",
            &[
                ("docs/v1/a.md", "One.\n"),
                ("docs/v2/a.md", "Two.\n"),
                ("docs/README.md", "Versions.\n"),
            ],
            pass,
            |scene| {
                link(scene, "docs/latest", "v1");
                scene.env.commit_all("a link");
                link(scene, "docs/latest", "v2");
            },
        ),
        linked(
            "a copy that becomes a link",
            &[("src/run.py", EVAL_MENDED), ("app/run.py", EVAL_MENDED)],
            pass,
            |scene| link(scene, "app/run.py", "../src/run.py"),
        ),
        linked(
            "a note changes that a link of old gives another name",
            &[("AGENTS.md", "Be brief.\n"), ("src/run.py", EVAL_MENDED)],
            pass,
            |scene| {
                link(scene, "CLAUDE.md", "AGENTS.md");
                link(scene, "app/run.py", "../src/run.py");
                scene.env.commit_all("links");
                scene.write("AGENTS.md", "Be very brief.\n");
                scene.write("src/run.py", format!("{EVAL_MENDED}\n# More.\n"));
            },
        ),
        linked(
            "a link to nothing is removed",
            &[("README.md", "Words.\n")],
            pass,
            |scene| {
                link(scene, "old", "nowhere");
                scene.env.commit_all("a link");
                std::fs::remove_file(scene.env.project().join("old")).unwrap();
            },
        ),
    ]
}

/// Returns links behind which something hides.
pub(crate) fn wrong_pass_cases() -> Vec<CorpusCase> {
    let stop = expect_no_pass;
    vec![
        linked(
            "a link calls a note Python",
            &[("docs/notes.txt", EVAL_DEFECT)],
            stop,
            |scene| link(scene, "src/run.py", "../docs/notes.txt"),
        ),
        linked(
            "a link in a link calls a note Python",
            &[("docs/notes.txt", EVAL_DEFECT)],
            stop,
            |scene| {
                link(scene, "src/notes", "../docs");
                link(scene, "src/run.py", "notes/notes.txt");
            },
        ),
        linked(
            "a link takes a test into the product",
            &[("README.md", "Words.\n")],
            stop,
            |scene| {
                scene.write("tests/test_run.py", EVAL_DEFECT);
                link(scene, "src/run.py", "../tests/test_run.py");
            },
        ),
        linked(
            "a link takes a directory of tests into the product",
            &[("README.md", "Words.\n")],
            stop,
            |scene| {
                scene.write("tests/run.py", EVAL_DEFECT);
                link(scene, "src", "tests");
            },
        ),
        linked(
            "a link takes vendored code into the product",
            &[("vendor/run.py", EVAL_DEFECT)],
            stop,
            |scene| link(scene, "src/run.py", "../vendor/run.py"),
        ),
        linked(
            "a link makes a workflow of a file for people",
            &[(
                "docs/ci.yml",
                "on: [issues]\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo \"${{ github.event.issue.title }}\"\n",
            )],
            stop,
            |scene| link(scene, ".github/workflows/ci.yml", "../../docs/ci.yml"),
        ),
        linked(
            "a linked directory makes workflows of files for people",
            &[(
                "docs/ci/ci.yml",
                "on: [issues]\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo \"${{ github.event.issue.title }}\"\n",
            )],
            stop,
            |scene| link(scene, ".github/workflows", "../docs/ci"),
        ),
        linked(
            "a file becomes a link to one with a defect",
            &[("src/run.py", EVAL_MENDED), ("src/old.py", EVAL_DEFECT)],
            stop,
            |scene| link(scene, "src/run.py", "old.py"),
        ),
        linked(
            "a note changes that a link of old calls Python",
            &[("notes.txt", "x = 1\n")],
            stop,
            |scene| {
                link(scene, "run.py", "notes.txt");
                scene.env.commit_all("a link");
                scene.write("notes.txt", EVAL_DEFECT);
            },
        ),
        linked(
            "a test changes that a link of old takes into the product",
            &[("tests/run.py", "x = 1\n")],
            stop,
            |scene| {
                link(scene, "src/run.py", "../tests/run.py");
                scene.env.commit_all("a link");
                scene.write("tests/run.py", EVAL_DEFECT);
            },
        ),
        linked(
            "a test changes in a directory that a link of old takes into the product",
            &[("tests/run.py", "x = 1\n")],
            stop,
            |scene| {
                link(scene, "src", "tests");
                scene.env.commit_all("a link");
                scene.write("tests/run.py", EVAL_DEFECT);
            },
        ),
        linked(
            "a link leads out of the repository",
            &[("README.md", "Words.\n")],
            stop,
            |scene| link(scene, "src/run.py", "../../run.py"),
        ),
        linked(
            "a link names a place on the machine",
            &[("README.md", "Words.\n")],
            stop,
            |scene| link(scene, "notes", "/etc/passwd"),
        ),
        linked(
            "a link leads to nothing",
            &[("README.md", "Words.\n")],
            stop,
            |scene| link(scene, "src/run.py", "build/run.py"),
        ),
        linked(
            "links lead to each other",
            &[("README.md", "Words.\n")],
            stop,
            |scene| {
                link(scene, "src/one.py", "two.py");
                link(scene, "src/two.py", "one.py");
            },
        ),
        linked(
            "a link leads to a file that may hold keys",
            &[("README.md", "Words.\n")],
            stop,
            |scene| {
                scene.write("prod.env", "A=1\n");
                scene.git(&["add", "-f", "prod.env"]);
                link(scene, "settings.txt", "prod.env");
            },
        ),
        linked(
            "a link leads into Tribunal's own files",
            &[(".tribunal/notes.txt", EVAL_DEFECT)],
            stop,
            |scene| link(scene, "src/run.py", "../.tribunal/notes.txt"),
        ),
    ]
}
