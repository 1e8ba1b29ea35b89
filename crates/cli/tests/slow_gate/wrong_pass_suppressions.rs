//! A change brings a marker that would silence a rule about its own defect.
//!
//! A marker that the change itself adds does not count, and none counts without a reason. The
//! controls: without a marker the defect blocks, and the same file without the defect passes.

use crate::corpus_case::{
    CorpusCase, control, corpus_case, expect_fail, expect_no_pass, expect_pass,
};
use crate::gate_scene::GateScene;
use crate::planted_defects::{PLANTED_DEFECTS, PlantedDefect};

/// Where the marker is written.
#[derive(Clone, Copy)]
enum Place {
    Above,
    Beside,
    TopOfFile,
}

fn with_marker(planted: &PlantedDefect, place: Place, marker: &str) -> String {
    match place {
        Place::Above => planted.broken_below(marker),
        Place::Beside => planted.broken_beside(marker),
        Place::TopOfFile => planted.broken_under_heading(marker),
    }
}

fn review_of(path: &str, text: &str) -> crate::common::Ran {
    let scene = GateScene::with_builtin_reviewers();
    scene.write(path, text);
    scene.review(&[])
}

fn added_marker(planted: &'static PlantedDefect, place: Place, marker: &str) -> CorpusCase {
    let place_name = match place {
        Place::Above => "above the defect",
        Place::Beside => "beside the defect",
        Place::TopOfFile => "at the top of the file",
    };
    let marker = marker.replace("RULE", planted.rule);
    let name = format!("{}: `{marker}` {place_name}", planted.language);
    corpus_case(name, move || {
        let text = with_marker(planted, place, &marker);
        expect_no_pass(&review_of(planted.path, &text))
    })
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let mut cases = Vec::new();
    for planted in PLANTED_DEFECTS {
        for marker in [
            "ast-grep-ignore: RULE",
            "tribunal:ignore RULE -- the caller checks the text",
        ] {
            cases.push(added_marker(planted, Place::Above, marker));
        }
        let name = format!(
            "{}: the defect without a marker, beside its clean twin",
            planted.language
        );
        cases.push(corpus_case(name, || {
            expect_fail(&review_of(planted.path, &planted.broken()))?;
            control(expect_pass(&review_of(planted.path, &planted.clean())))
        }));
    }
    let python = &PLANTED_DEFECTS[0];
    for (place, marker) in [
        (Place::Above, "ast-grep-ignore"),
        (Place::Above, "tribunal:ignore RULE"),
        (
            Place::Above,
            "tribunal:ignore RULE: the caller checks the text",
        ),
        (Place::Above, "tribunal: ignore"),
        (Place::Beside, "ast-grep-ignore"),
        (
            Place::Beside,
            "tribunal:ignore RULE the caller checks the text",
        ),
        (Place::Beside, "noqa: S307"),
        (Place::Beside, "nosec B307"),
        (Place::Beside, "nosemgrep: the caller checks the text"),
        (Place::TopOfFile, "ast-grep-ignore"),
        (
            Place::TopOfFile,
            "tribunal:ignore-file RULE -- the caller checks the text",
        ),
    ] {
        cases.push(added_marker(python, place, marker));
    }
    cases.push(corpus_case(
        "a marker of the base without a reason does not excuse a new defect below it",
        || {
            let scene = GateScene::with_builtin_reviewers();
            let before =
                "def run(text):\n    # tribunal:ignore python-eval\n    return int(text)\n";
            scene.write("src/run.py", before);
            scene.env.commit_all("a marker");
            scene.write("src/run.py", before.replace("int(", "eval("));
            expect_no_pass(&scene.review(&[]))
        },
    ));
    cases.push(corpus_case(
        "a marker that the change moves from a harmless line to a defect",
        || {
            let scene = GateScene::with_builtin_reviewers();
            let marker = "    # tribunal:ignore python-eval -- the text is a constant\n";
            scene.write(
                "src/run.py",
                format!("def one():\n{marker}    return eval(ONE)\n\n\ndef run(text):\n    return int(text)\n"),
            );
            scene.env.commit_all("a marker");
            scene.write(
                "src/run.py",
                format!("def one():\n    return 1\n\n\ndef run(text):\n{marker}    return eval(text)\n"),
            );
            expect_no_pass(&scene.review(&[]))
        },
    ));
    cases.push(corpus_case(
        "a marker with a reason beside a `.gitattributes` that calls the file generated",
        || {
            let scene = GateScene::with_builtin_reviewers();
            let marker = "tribunal:ignore python-eval -- the caller checks the text";
            scene.write("src/run.py", PLANTED_DEFECTS[0].broken_below(marker));
            scene.write(".gitattributes", "*.py linguist-generated=true\n");
            scene.commit_on_branch();
            expect_no_pass(&scene.review(&["--base", "main"]))
        },
    ));
    cases
}
