//! Nothing to review, deletions, renames, merges, and what the user or the base has excused.

use crate::common::Ran;
use crate::corpus_case::{CorpusCase, corpus_case, expect_pass};
use crate::gate_scene::{EVAL_DEFECT, EVAL_MENDED, GateScene};

/// Returns a case: what this scene ends with passes.
fn state(name: &'static str, act: fn(&mut GateScene) -> Ran) -> CorpusCase {
    corpus_case(name, move || {
        let mut scene = GateScene::with_builtin_reviewers();
        expect_pass(&act(&mut scene))
    })
}

fn add_submodule(scene: &GateScene) {
    let other = scene.env.root().join("other");
    let path = other.display().to_string();
    std::fs::create_dir_all(&other).unwrap();
    for args in [
        &["-C", &path, "init", "-q", "-b", "main"][..],
        &["-C", &path, "commit", "-q", "--allow-empty", "-m", "one"],
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            &path,
            "sub",
        ],
    ] {
        scene.git(args);
    }
    scene.env.commit_all("a submodule");
    let inside = scene.env.project().join("sub").display().to_string();
    scene.git(&["-C", &inside, "commit", "-q", "--allow-empty", "-m", "two"]);
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    vec![
        state("no change at all", |scene| scene.review(&[])),
        state("nothing is staged", |scene| {
            scene.write("src/run.py", EVAL_DEFECT);
            scene.review(&["--staged"])
        }),
        state("the base is the head", |scene| {
            scene.review(&["--base", "HEAD"])
        }),
        state("a branch without commits", |scene| {
            scene.git(&["checkout", "-q", "-b", "pr"]);
            scene.review(&["--base", "main"])
        }),
        state("an empty commit", |scene| {
            scene.git(&["commit", "-q", "--allow-empty", "-m", "empty"]);
            scene.review(&["--commit", "HEAD"])
        }),
        state("a path that the branch did not touch", |scene| {
            scene.write("web/page.py", EVAL_MENDED);
            scene.env.commit_all("before");
            scene.write("src/run.py", EVAL_DEFECT);
            scene.commit_on_branch();
            scene.review(&["--base", "main", "web"])
        }),
        state("an empty patch", |scene| {
            scene.write("../empty.patch", "");
            scene.review(&["--patch", "../empty.patch"])
        }),
        state("the first commit of a repository, with prose", |scene| {
            scene.review(&["--commit", "HEAD"])
        }),
        state(
            "the first commit of a repository, with clean code",
            |scene| {
                scene.git(&["checkout", "-q", "--orphan", "fresh"]);
                scene.write("src/run.py", EVAL_MENDED);
                scene.env.commit_all("first");
                scene.review(&["--commit", "HEAD"])
            },
        ),
        state("a file with a defect is deleted", |scene| {
            scene.write("src/run.py", EVAL_DEFECT);
            scene.env.commit_all("before");
            std::fs::remove_file(scene.env.project().join("src/run.py")).unwrap();
            scene.review(&[])
        }),
        state(
            "code in a language that nobody here reads is deleted",
            |scene| {
                scene.write("src/run.rb", "puts 1\n");
                scene.env.commit_all("before");
                scene.git(&["rm", "-q", "src/run.rb"]);
                scene.review(&["--staged"])
            },
        ),
        state("a file is renamed", |scene| {
            scene.write("src/run.py", EVAL_MENDED);
            scene.env.commit_all("before");
            scene.git(&["mv", "src/run.py", "src/walk.py"]);
            scene.commit_on_branch();
            scene.review(&["--base", "main"])
        }),
        state("a file is renamed by git and edited afterwards", |scene| {
            scene.write("docs/one.md", "Words.\nMore words.\nAnd more.\n");
            scene.write("src/run.py", EVAL_MENDED);
            scene.env.commit_all("before");
            scene.git(&["mv", "docs/one.md", "docs/two.md"]);
            scene.git(&["mv", "src/run.py", "src/walk.py"]);
            scene.write("docs/two.md", "Words.\nMore words.\nAnd more.\nNew.\n");
            scene.write("src/walk.py", format!("{EVAL_MENDED}\n# More.\n"));
            scene.review(&[])
        }),
        state("a file with an old defect is renamed", |scene| {
            let text = format!("{}{EVAL_DEFECT}", "import json\n".repeat(30));
            scene.write("src/run.py", text);
            scene.env.commit_all("before");
            scene.git(&["mv", "src/run.py", "src/walk.py"]);
            scene.commit_on_branch();
            scene.review(&["--base", "main"])
        }),
        state("a script becomes executable", |scene| {
            scene.write("bin/run.py", EVAL_MENDED);
            scene.env.commit_all("before");
            scene.make_executable("bin/run.py");
            scene.review(&[])
        }),
        state("a merge of two clean branches", |scene| {
            scene.git(&["checkout", "-q", "-b", "one"]);
            scene.write("src/one.py", EVAL_MENDED);
            scene.env.commit_all("one");
            scene.git(&["checkout", "-q", "-b", "two", "main"]);
            scene.write("src/two.py", EVAL_MENDED);
            scene.env.commit_all("two");
            scene.git(&["merge", "-q", "--no-ff", "-m", "merge", "one"]);
            scene.review(&["--commit", "HEAD"])
        }),
        state("the user ignores a directory", |scene| {
            scene.review_setting("ignore: ['scratch/']");
            scene.write("scratch/run.py", EVAL_DEFECT);
            scene.review(&[])
        }),
        state("the user ignores one file beside clean code", |scene| {
            scene.review_setting("ignore: ['*.rb']");
            scene.write("src/run.rb", "puts 1\n");
            scene.write("src/run.py", EVAL_MENDED);
            scene.review(&[])
        }),
        state("the base ignores a directory", |scene| {
            scene.write(".tribunal/config.yml", "review: {ignore: ['scratch/']}\n");
            scene.env.commit_all("settings");
            scene.write("scratch/run.py", EVAL_DEFECT);
            scene.commit_on_branch();
            scene.review(&["--base", "main"])
        }),
        state("vendored code that the base has is updated", |scene| {
            scene.write("vendor/lib/run.go", "package lib\n\nvar Version = 1\n");
            scene.write("vendor/modules.txt", "# example.org/lib v1.0.0\n");
            scene.env.commit_all("before");
            scene.write("vendor/lib/run.go", "package lib\n\nvar Version = 2\n");
            scene.review(&[])
        }),
        state(
            "a library that is installed below node_modules at the base is updated",
            |scene| {
                scene.write("node_modules/left/index.js", "module.exports = 1;\n");
                scene.env.commit_all("before");
                scene.write("node_modules/left/index.js", "module.exports = 2;\n");
                scene.review(&[])
            },
        ),
        state("a generated file of the base is generated again", |scene| {
            let head = "# Code generated by protoc. DO NOT EDIT.\n";
            scene.write("src/api_pb2.py", format!("{head}A = 1\n"));
            scene.env.commit_all("before");
            scene.write("src/api_pb2.py", format!("{head}A = 2\n"));
            scene.review(&[])
        }),
        state(
            "a file that the base's attributes call generated",
            |scene| {
                scene.write(".gitattributes", "gen/** linguist-generated=true\n");
                scene.write("gen/a.py", "A = 1\n");
                scene.env.commit_all("before");
                scene.write("gen/a.py", "A = 2\n");
                scene.review(&[])
            },
        ),
        state("a submodule moves forward", |scene| {
            add_submodule(scene);
            scene.env.commit_all("forward");
            scene.review(&["--commit", "HEAD"])
        }),
        state(
            "a submodule has moved forward and is not committed",
            |scene| {
                add_submodule(scene);
                scene.review(&[])
            },
        ),
        state(
            "settings of the branch that only tighten, beside clean code",
            |scene| {
                scene.write("src/run.py", EVAL_MENDED);
                scene.write(
                    ".tribunal/config.yml",
                    "review: {issues: {mandatory: [CRITICAL, HIGH, MEDIUM], optional: [LOW]}}\n",
                );
                scene.commit_on_branch();
                scene.review(&["--base", "main"])
            },
        ),
        state(
            "settings with agents at the base, in a home that trusts nothing",
            |scene| {
                scene.write(
                    ".tribunal/config.yml",
                    "agents:\n  - {name: ann, command: claude, role: reviewer, login: user}\n",
                );
                scene.env.commit_all("settings");
                scene.write("src/run.py", EVAL_MENDED);
                scene.commit_on_branch();
                scene.review(&["--base", "main", "--reviewer", "builtin"])
            },
        ),
        state(
            "what `init` wrote, committed, in a home that trusts nothing",
            |scene| {
                scene.run(&["init"]).assert_code(0);
                scene.env.commit_all("settings");
                std::fs::remove_dir_all(scene.env.home()).unwrap();
                std::fs::create_dir_all(scene.env.home()).unwrap();
                scene.write("src/run.py", EVAL_MENDED);
                scene.commit_on_branch();
                scene.review(&["--base", "main", "--reviewer", "builtin"])
            },
        ),
        state("a worktree of the same repository lies in it", |scene| {
            scene.git(&["worktree", "add", "-q", "-b", "other", "wt"]);
            scene.write("src/run.py", EVAL_MENDED);
            scene.review(&[])
        }),
        state("a hundred small files of prose and data", |scene| {
            for number in 0..50 {
                scene.write(&format!("docs/{number}.md"), "Words.\n");
                scene.write(&format!("data/{number}.csv"), "a,b\n");
            }
            scene.review(&[])
        }),
        state("a file whose name has spaces and accents", |scene| {
            scene.write("docs/über uns.md", "Words.\n");
            scene.write("src/größe rechnen.py", EVAL_MENDED);
            scene.review(&[])
        }),
    ]
}
