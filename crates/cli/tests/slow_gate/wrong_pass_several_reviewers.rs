//! Several reviewers rate a place differently.
//!
//! A merged finding blocks if any member would. The one exception, at least three families that
//! rated the same claim with a lower median, is not tried here: each case lacks a part of it.

use crate::corpus_case::{CorpusCase, control, corpus_case, expect_no_pass, expect_pass};
use crate::gate_scene::GateScene;
use crate::reported_claim::{
    ReportedClaim, clear_text_passwords, constant_statement, division, injection, leaking_pool,
    lost_cents, negative_balance, unchecked_reader,
};

type Voice = (&'static str, Vec<ReportedClaim>);

/// Returns a case with one reviewer for each family and its claims. The control has no grave item.
fn panel(name: &str, policy: &'static str, voices: Vec<Voice>) -> CorpusCase {
    corpus_case(name, move || {
        let review = |keeps_grave: bool| {
            let mut scene = GateScene::with_shop_change();
            scene.review_setting(&format!("policy: {policy}"));
            for (number, (family, claims)) in (1..).zip(&voices) {
                let is_kept = |claim: &&ReportedClaim| {
                    keeps_grave || matches!(claim.label.as_str(), "LOW" | "MEDIUM" | "SHOULD")
                };
                let claims: Vec<_> = claims.iter().filter(is_kept).cloned().collect();
                scene.reviewer_of(&format!("rev{number}"), family, &claims);
            }
            scene.review(&[])
        };
        expect_no_pass(&review(true))?;
        control(expect_pass(&review(false)))
    })
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let (a, b, c) = ("anthropic", "openai", "google");
    let low = |claim: ReportedClaim| vec![claim.label("LOW").confidence(95)];
    let should = |claim: ReportedClaim| vec![claim.label("SHOULD").confidence(95)];
    let high = |claim: ReportedClaim| vec![claim];
    let must = |claim: ReportedClaim| vec![claim.label("MUST")];
    let mut cases = Vec::new();
    for policy in ["tribunal", "arena"] {
        let with = |text: &str| format!("{text} ({policy})");
        cases.extend([
            panel(
                &with("two families, HIGH and LOW, one claim"),
                policy,
                vec![(a, high(injection())), (b, low(injection()))],
            ),
            panel(
                &with("two families, LOW first and MUST second, one claim"),
                policy,
                vec![(a, low(division())), (b, must(division()))],
            ),
            panel(
                &with("three reviewers of two families, LOW twice, HIGH once"),
                policy,
                vec![
                    (a, high(division())),
                    (b, low(division())),
                    (b, low(division())),
                ],
            ),
            panel(
                &with("three reviewers of one family, SHOULD twice, MUST once"),
                policy,
                vec![
                    (a, should(negative_balance())),
                    (a, must(negative_balance())),
                    (a, should(negative_balance())),
                ],
            ),
            panel(
                &with("three families on one line, but one of them about another claim"),
                policy,
                vec![
                    (a, high(division())),
                    (b, low(division())),
                    (c, low(lost_cents())),
                ],
            ),
            panel(
                &with("three families on one line, each about another claim"),
                policy,
                vec![
                    (a, low(constant_statement())),
                    (b, high(injection())),
                    (c, low(unchecked_reader())),
                ],
            ),
            panel(
                &with("three families, HIGH twice and LOW once"),
                policy,
                vec![
                    (a, low(injection())),
                    (b, high(injection())),
                    (c, high(injection())),
                ],
            ),
            panel(
                &with("three families, one of them silent, HIGH and LOW"),
                policy,
                vec![
                    (a, high(negative_balance())),
                    (b, Vec::new()),
                    (c, low(negative_balance())),
                ],
            ),
        ]);
    }
    cases.extend([
        panel(
            "HIGH of one family that two others did not report",
            "tribunal",
            vec![(a, high(division())), (b, Vec::new()), (c, Vec::new())],
        ),
        panel(
            "MUST of one family, a mild remark about the same line of another",
            "tribunal",
            vec![(a, must(injection())), (b, low(constant_statement()))],
        ),
        panel(
            "one reviewer reports both, another only the mild one",
            "tribunal",
            vec![
                (
                    a,
                    vec![
                        constant_statement().confidence(95),
                        injection().confidence(80),
                    ],
                ),
                (b, low(constant_statement())),
            ],
        ),
        panel(
            "HIGH without a file and LOW without a file, of two families",
            "tribunal",
            vec![(a, high(clear_text_passwords())), (b, low(leaking_pool()))],
        ),
        panel(
            "LOW on the whole function of one family, HIGH on its line of another",
            "tribunal",
            vec![
                (a, low(constant_statement().lines(4, Some(6)))),
                (b, high(injection())),
            ],
        ),
        panel(
            "HIGH with a low confidence, LOW with a high one",
            "tribunal",
            vec![(a, vec![injection().confidence(60)]), (b, low(injection()))],
        ),
    ]);
    cases
}
