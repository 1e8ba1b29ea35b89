//! One reviewer reports a grave and a mild item at or near one place.
//!
//! Every item of a reviewer is a finding of its own, and what blocks alone blocks beside others.
//! The control of each case: without the grave item the same answer passes.

use crate::corpus_case::{CorpusCase, control, corpus_case, expect_no_pass, expect_pass};
use crate::gate_scene::{GateScene, signed_claims, signed_lines};
use crate::reported_claim::{
    ReportedClaim, clear_text_passwords, constant_statement, division, injection, leaking_pool,
    lost_cents, lost_update, negative_balance, unchecked_reader,
};

/// The whole function `total` as a quote.
const WHOLE_TOTAL: &str = "def total(rows, user):\n    rate = db.execute(\"SELECT rate FROM rates WHERE user = '%s'\" % user)\n    return sum(row.amount for row in rows) * rate";

#[derive(Clone, Copy)]
enum Form {
    Json,
    TaggedLines,
}

fn answer(form: Form, claims: &[ReportedClaim]) -> String {
    match form {
        Form::Json => signed_claims(claims),
        Form::TaggedLines => {
            let lines: Vec<String> = claims.iter().map(ReportedClaim::as_tagged_line).collect();
            signed_lines(&lines)
        }
    }
}

/// Returns a case in which one answer holds all of these; those that block come with `true`.
fn one_answer(name: &str, form: Form, claims: Vec<(bool, ReportedClaim)>) -> CorpusCase {
    corpus_case(name, move || {
        let all: Vec<ReportedClaim> = claims.iter().map(|(_, claim)| claim.clone()).collect();
        let mild: Vec<ReportedClaim> = claims
            .iter()
            .filter(|(blocks, _)| !blocks)
            .map(|(_, claim)| claim.clone())
            .collect();
        let mut scene = GateScene::with_shop_change();
        scene.reviewer("ann", "anthropic", &answer(form, &all));
        expect_no_pass(&scene.review(&[]))?;
        if !mild.is_empty() {
            let mut scene = GateScene::with_shop_change();
            scene.reviewer("ann", "anthropic", &answer(form, &mild));
            control(expect_pass(&scene.review(&[])))?;
        }
        Ok(())
    })
}

pub(crate) fn cases() -> Vec<CorpusCase> {
    let grave = |claim: ReportedClaim| (true, claim);
    let mild = |claim: ReportedClaim, label: &str| (false, claim.label(label));
    let json = Form::Json;
    vec![
        one_answer(
            "HIGH after LOW on one line, of another category",
            json,
            vec![mild(constant_statement(), "LOW"), grave(injection())],
        ),
        one_answer(
            "HIGH before LOW on one line, of the same category",
            json,
            vec![grave(injection()), mild(unchecked_reader(), "LOW")],
        ),
        one_answer(
            "HIGH after LOW on one line, of the same category and the same quote",
            json,
            vec![mild(lost_cents(), "LOW"), grave(division())],
        ),
        one_answer(
            "MUST before SHOULD on one line",
            json,
            vec![
                grave(negative_balance().label("MUST")),
                mild(lost_update(), "SHOULD"),
            ],
        ),
        one_answer(
            "CRITICAL between two LOW on one line",
            json,
            vec![
                mild(constant_statement(), "LOW"),
                grave(injection().label("CRITICAL")),
                mild(unchecked_reader(), "LOW"),
            ],
        ),
        one_answer(
            "MUST on one line of a function that a LOW item quotes as a whole",
            json,
            vec![
                mild(
                    constant_statement()
                        .lines(4, Some(6))
                        .quote(WHOLE_TOTAL)
                        .confidence(97),
                    "LOW",
                ),
                grave(injection().label("MUST").confidence(80)),
            ],
        ),
        one_answer(
            "HIGH that quotes the whole function around a LOW item",
            json,
            vec![
                grave(injection().lines(4, Some(6)).quote(WHOLE_TOTAL)),
                mild(unchecked_reader().confidence(99), "LOW"),
            ],
        ),
        one_answer(
            "HIGH whose words are nearly those of the LOW item beside it",
            json,
            vec![
                mild(
                    division()
                        .title("Division of `amount` by `count` is not rounded")
                        .description("The quotient has many decimals, which looks odd on a bill.")
                        .confidence(95),
                    "LOW",
                ),
                grave(division().confidence(80)),
            ],
        ),
        one_answer(
            "the same item once as LOW and once as HIGH",
            json,
            vec![(true, division().label("LOW")), grave(division())],
        ),
        one_answer(
            "the same item first as HIGH with 75 and then as SHOULD with 100",
            json,
            vec![
                grave(negative_balance().confidence(75)),
                (true, negative_balance().label("SHOULD").confidence(100)),
            ],
        ),
        one_answer(
            "HIGH one line below a LOW item",
            json,
            vec![
                mild(constant_statement(), "LOW"),
                grave(
                    injection()
                        .lines(6, None)
                        .quote("return sum(row.amount for row in rows) * rate")
                        .title("`rate` is a cursor and cannot be multiplied")
                        .description(
                            "`db.execute` returns a cursor, so each call raises a TypeError.",
                        ),
                ),
            ],
        ),
        one_answer(
            "two HIGH of different labels behind three LOW on one line",
            json,
            vec![
                mild(lost_cents(), "LOW"),
                mild(
                    lost_cents()
                        .title("`count` deserves a longer name")
                        .category("other"),
                    "LOW",
                ),
                mild(
                    lost_cents()
                        .title("A type hint is missing")
                        .category("other"),
                    "LOW",
                ),
                grave(division().label("MUST")),
                grave(division().title("Infinity reaches the ledger for `nan`")),
            ],
        ),
        one_answer(
            "HIGH without a file beside LOW without a file",
            json,
            vec![mild(leaking_pool(), "LOW"), grave(clear_text_passwords())],
        ),
        one_answer(
            "MUST without a file before SHOULD without a file of the same category",
            json,
            vec![
                grave(clear_text_passwords().label("MUST")),
                mild(leaking_pool().category("security"), "SHOULD"),
            ],
        ),
        one_answer(
            "HIGH without a line beside LOW without a line in one file",
            json,
            vec![
                mild(lost_update().without_line().without_quote(), "LOW"),
                grave(negative_balance().without_line().without_quote()),
            ],
        ),
        one_answer(
            "tagged lines: [LOW] before [HIGH] on one line",
            Form::TaggedLines,
            vec![mild(constant_statement(), "LOW"), grave(injection())],
        ),
        one_answer(
            "tagged lines: [MUST] before [SHOULD] on one line",
            Form::TaggedLines,
            vec![
                grave(division().label("MUST")),
                mild(lost_cents(), "SHOULD"),
            ],
        ),
        one_answer(
            "tagged lines without a file: [SHOULD] before [MUST]",
            Form::TaggedLines,
            vec![
                mild(leaking_pool(), "SHOULD"),
                grave(clear_text_passwords().label("MUST")),
            ],
        ),
    ]
}
