//! Real findings with odd or partly invented places.
//!
//! A place that does not exist and that nobody supports is rejected. Everything else counts. The
//! control of the family: an invented file alone does not stop the change.

use crate::corpus_case::{CorpusCase, control, corpus_case, expect_no_pass, expect_pass};
use crate::gate_scene::{GateScene, SHOP_AFTER, SHOP_BEFORE};
use crate::reported_claim::{ReportedClaim, division, injection, negative_balance};

/// Returns a case: one reviewer reports this.
fn reported(name: &str, claim: ReportedClaim) -> CorpusCase {
    corpus_case(name, move || {
        let mut scene = GateScene::with_shop_change();
        scene.reviewer_of("ann", "anthropic", std::slice::from_ref(&claim));
        expect_no_pass(&scene.review(&[]))
    })
}

/// Returns a case: two reviewers of two families report one of these each.
fn supported(name: &str, one: ReportedClaim, other: ReportedClaim) -> CorpusCase {
    corpus_case(name, move || {
        let mut scene = GateScene::with_shop_change();
        scene.reviewer_of("ann", "anthropic", std::slice::from_ref(&one));
        scene.reviewer_of("bob", "openai", std::slice::from_ref(&other));
        expect_no_pass(&scene.review(&[]))
    })
}

fn nowhere() -> ReportedClaim {
    injection()
        .file("src/nowhere.py")
        .lines(41, None)
        .quote("cursor.run(name)")
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let mut cases = vec![
        corpus_case(
            "an invented file alone is not counted, a real place is",
            || {
                let mut scene = GateScene::with_shop_change();
                scene.reviewer_of("ann", "anthropic", &[nowhere()]);
                control(expect_pass(&scene.review(&[])))?;
                scene.reviewer_of("ann", "anthropic", &[nowhere(), division()]);
                expect_no_pass(&scene.review(&[]))
            },
        ),
        reported(
            "the right file and quote, a line that does not exist",
            injection().lines(500, None),
        ),
        reported(
            "the right file and quote, the line of another function",
            injection().lines(14, None),
        ),
        reported(
            "the right file and quote, the first line",
            negative_balance().lines(1, None),
        ),
        reported(
            "the right line, and a quote with other spaces",
            division().quote("return amount  /  count"),
        ),
        reported("the right line without a quote", division().without_quote()),
        reported("the right quote without a line", division().without_line()),
        reported(
            "a range that begins in the change and ends behind the file",
            division().lines(10, Some(400)),
        ),
        reported(
            "a range of the whole file",
            negative_balance().lines(1, Some(16)),
        ),
        reported(
            "a quote of two lines",
            negative_balance().quote("order.balance -= amount\n    db.save(order)"),
        ),
        reported(
            "the path begins with `./`",
            injection().file("./src/shop.py"),
        ),
        reported(
            "the path has a double slash",
            injection().file("src//shop.py"),
        ),
        reported(
            "the path goes up and down again",
            injection().file("src/../src/shop.py"),
        ),
        reported(
            "the path begins with the `b/` of a diff",
            injection().file("b/src/shop.py"),
        ),
        reported(
            "the path begins with the `a/` of a diff",
            division().file("a/src/shop.py"),
        ),
        reported(
            "the path begins with a slash",
            injection().file("/src/shop.py"),
        ),
        reported("the path has backslashes", division().file("src\\shop.py")),
        supported(
            "two families, one of them at a line that does not exist",
            injection(),
            injection().lines(900, None).quote("cursor.run(name)"),
        ),
        supported(
            "two families, one of them in a file that does not exist",
            nowhere(),
            injection(),
        ),
        supported(
            "two families, one of them with an invented quote",
            division().quote("return amount // parts"),
            division(),
        ),
        supported(
            "two families, two spellings of one path",
            division().file("./src/shop.py"),
            division().label("LOW"),
        ),
        supported(
            "a mild voice at the real place, a grave one at a line that does not exist",
            division().lines(700, None),
            division().label("LOW"),
        ),
    ];
    cases.push(corpus_case("the absolute path of the file", || {
        let mut scene = GateScene::with_shop_change();
        let path = scene
            .env
            .project()
            .join("src/shop.py")
            .display()
            .to_string();
        scene.reviewer_of("ann", "anthropic", &[injection().file(&path)]);
        expect_no_pass(&scene.review(&[]))
    }));
    cases.push(corpus_case(
        "the quote is a line that the change deletes",
        || {
            let mut scene = GateScene::with_shop_change();
            let checked =
                SHOP_BEFORE.replace("    return sum", "    check_session(rows)\n    return sum");
            scene.write("src/shop.py", checked);
            scene.env.commit_all("checked");
            scene.write("src/shop.py", SHOP_BEFORE);
            let claim = injection()
                .title("The check of the session is gone")
                .description("`check_session(rows)` kept visitors out, and nothing replaces it.")
                .quote("check_session(rows)");
            scene.reviewer_of("ann", "anthropic", &[claim]);
            expect_no_pass(&scene.review(&[]))
        },
    ));
    cases.push(corpus_case(
        "the old name of a file that the change renames",
        || {
            let mut scene = GateScene::with_shop_change();
            scene.write("src/shop.py", SHOP_BEFORE);
            scene.git(&["mv", "src/shop.py", "src/store.py"]);
            scene.write("src/store.py", SHOP_AFTER);
            scene.commit_on_branch();
            scene.reviewer_of("ann", "anthropic", &[injection()]);
            expect_no_pass(&scene.review(&["--base", "main"]))
        },
    ));
    cases
}
