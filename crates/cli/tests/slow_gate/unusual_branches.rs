//! A default branch with an unusual name: what the branch under review says does not count there either.

use crate::corpus_case::{CorpusCase, control, corpus_case, expect_fail, expect_pass};
use crate::gate_scene::{EVAL_DEFECT, EVAL_MENDED, GateScene};

/// What somebody does to a repository.
type GateStep = fn(&GateScene);

/// How the default branch is known.
const BRANCHES: [(&str, GateStep); 3] = [
    ("the only other branch is called trunk", |scene| {
        scene.git(&["branch", "-m", "main", "trunk"]);
    }),
    ("the remote is called upstream, its branch devel", |scene| {
        let other = clone_elsewhere(scene);
        scene.git(&["remote", "add", "upstream", &other]);
        scene.git(&["branch", "-m", "main", "devel"]);
        scene.git(&["push", "-q", "upstream", "devel"]);
        scene.git(&["remote", "set-head", "upstream", "devel"]);
        scene.git(&["checkout", "-q", "-b", "third"]);
    }),
    ("the head of origin is release", |scene| {
        let other = clone_elsewhere(scene);
        scene.git(&["remote", "add", "origin", &other]);
        scene.git(&["branch", "-m", "main", "release"]);
        scene.git(&["push", "-q", "origin", "release"]);
        scene.git(&["remote", "set-head", "origin", "release"]);
        scene.git(&["checkout", "-q", "-b", "third"]);
    }),
];

/// Makes an empty repository beside the project and returns its path.
fn clone_elsewhere(scene: &GateScene) -> String {
    let other = scene.env.root().join("elsewhere.git");
    let path = other.display().to_string();
    scene.git(&["init", "-q", "--bare", &path]);
    path
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let mut cases = Vec::new();
    for (name, arrange) in BRANCHES {
        cases.push(corpus_case(
            format!("{name}: a marker of the branch is reviewed as a whole"),
            move || {
                let scene = GateScene::with_builtin_reviewers();
                arrange(&scene);
                scene.git(&["checkout", "-q", "-b", "pr"]);
                let marker = "# tribunal-ignore python-eval: the text is ours\n";
                let marked = EVAL_DEFECT.replace("    return", &format!("    {marker}    return"));
                scene.write("src/run.py", marked);
                scene.env.commit_all("the change");
                expect_fail(&scene.review(&["src/run.py"]))?;
                scene.write("src/run.py", EVAL_MENDED);
                control(expect_pass(&scene.review(&["src/run.py"])))
            },
        ));
        cases.push(corpus_case(
            format!("{name}: an earlier commit of the branch switches a rule off"),
            move || {
                let scene = GateScene::with_builtin_reviewers();
                arrange(&scene);
                scene.git(&["checkout", "-q", "-b", "pr"]);
                scene.write(
                    ".tribunal/config.yml",
                    "review: {rules: {python-eval: off}}\n",
                );
                scene.env.commit_all("settings");
                scene.write("src/run.py", EVAL_DEFECT);
                scene.env.commit_all("the change");
                expect_fail(&scene.review(&["--commit", "HEAD"]))
            },
        ));
    }
    cases
}
