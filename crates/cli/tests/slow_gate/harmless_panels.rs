//! Panels that have nothing against the change, or nothing that counts.

use serde_json::json;

use crate::corpus_case::{CorpusCase, corpus_case, expect_pass};
use crate::gate_scene::{GateScene, NONCE, SHOP_AFTER, signed_nothing};
use crate::reported_claim::{
    ReportedClaim, constant_statement, injection, leaking_pool, lost_cents, lost_update,
};

/// Returns a case: reviewers of these families report these claims, and the change passes.
fn panel(name: &str, voices: Vec<(&'static str, Vec<ReportedClaim>)>) -> CorpusCase {
    corpus_case(name, move || {
        let mut scene = GateScene::with_shop_change();
        for (number, (family, claims)) in (1..).zip(&voices) {
            scene.reviewer_of(&format!("rev{number}"), family, claims);
        }
        expect_pass(&scene.review(&[]))
    })
}

fn invented() -> ReportedClaim {
    injection()
        .title("The parser of headers trusts their length")
        .description("`read_headers` copies as many bytes as the client says.")
        .file("src/headers.py")
        .lines(88, None)
        .quote("buffer.extend(stream.read(length))")
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let (a, b) = ("anthropic", "openai");
    let mut cases = vec![
        panel("one reviewer finds nothing", vec![(a, vec![])]),
        panel("two reviewers find nothing", vec![(a, vec![]), (b, vec![])]),
        panel(
            "one reviewer has a LOW remark",
            vec![(a, vec![constant_statement()])],
        ),
        panel(
            "one reviewer has optional remarks of each kind",
            vec![(
                a,
                vec![
                    constant_statement(),
                    lost_cents().label("MEDIUM"),
                    lost_update().label("SHOULD"),
                ],
            )],
        ),
        panel(
            "two reviewers agree on an optional remark",
            vec![
                (a, vec![lost_cents().label("MEDIUM")]),
                (b, vec![lost_cents().label("MEDIUM")]),
            ],
        ),
        panel(
            "an optional remark without a file",
            vec![(a, vec![leaking_pool().label("SHOULD")])],
        ),
        panel(
            "a finding in a file that does not exist, and nobody else says so",
            vec![(a, vec![invented()])],
        ),
        panel(
            "the same, beside a reviewer who finds nothing",
            vec![(a, vec![invented()]), (b, vec![])],
        ),
        panel(
            "a finding at a line that does not exist with a quote that does not either",
            vec![(a, vec![invented().file("src/shop.py").lines(880, None)])],
        ),
        panel(
            "an invented finding beside a LOW remark",
            vec![(a, vec![invented(), constant_statement()])],
        ),
    ];
    for (name, text) in [
        (
            "an answer in tagged lines that says NO FINDINGS",
            format!("REVIEW {NONCE}\nNO FINDINGS\nEND {NONCE}"),
        ),
        (
            "an answer in a fence between sentences",
            format!(
                "I read it.\n\n```json\n{}\n```\n\nThat is all.",
                signed_nothing()
            ),
        ),
        (
            "an optional remark in tagged lines",
            format!(
                "REVIEW {NONCE}\n[SHOULD] src/shop.py:10 - Say in a comment that `count` is never 0\nEND {NONCE}"
            ),
        ),
    ] {
        cases.push(corpus_case(name, move || {
            let mut scene = GateScene::with_shop_change();
            scene.reviewer("ann", "anthropic", &text);
            expect_pass(&scene.review(&[]))
        }));
    }
    cases.push(corpus_case(
        "a reviewer who is understood at the second attempt",
        || {
            let mut scene = GateScene::with_shop_change();
            let replies = json!([
                {"when": "could not be read", "text": signed_nothing()},
                {"text": "Looks fine!"},
            ]);
            scene.agent("ann", "anthropic", "reviewer", &replies);
            expect_pass(&scene.review(&[]))
        },
    ));
    cases.push(corpus_case(
        "a judge and a coder who are not needed",
        || {
            let mut scene = GateScene::with_shop_change();
            scene.reviewer_of("ann", "anthropic", &[constant_statement()]);
            let never = json!([{"error": {"class": "crash", "message": "must not be asked"}}]);
            scene.agent("jude", "openai", "judge", &never);
            expect_pass(&scene.review(&[]))
        },
    ));
    cases.push(corpus_case(
        "prose only, before a reviewer who would be dear",
        || {
            let mut scene = GateScene::with_shop_change();
            scene.env.commit_all("the shop again");
            scene.write("README.md", "A better project.\n");
            scene.reviewer("ann", "anthropic", &signed_nothing());
            expect_pass(&scene.review(&[]))
        },
    ));
    cases.push(corpus_case(
        "a change in parts that are all answered",
        || {
            let mut scene = GateScene::with_shop_change();
            scene.write(
                "src/more.py",
                format!("{SHOP_AFTER}{}", "# nothing to see here\n".repeat(200)),
            );
            scene.review_setting("part_chars: 2500");
            scene.reviewer("ann", "anthropic", &signed_nothing());
            expect_pass(&scene.review(&[]))
        },
    ));
    cases
}
