//! A review as it comes out of a real one: agreement, dissent, a dispute, a precedent, gaps.

use tribunal_core::agent::ErrorClass;
use tribunal_core::consensus::{AdvisoryOutcome, Agreement, Statistics, Step, Verdict};
use tribunal_core::finding::{Category, Grounding, Label, Location};
use tribunal_core::ids::CaseId;
use tribunal_core::money::{Cost, MicroUsd, Usage};
use tribunal_core::reply::Side;
use tribunal_core::review::gate::{Gate, Obligation};
use tribunal_core::review::report::{
    Action, ChangeSummary, Dissent, FixedFinding, REVIEW_SCHEMA, ReviewReport, ReviewedFinding,
    ReviewerState, ReviewerSummary, Standing, Statement, SuppressedFinding, Weighed,
};
use tribunal_core::review::rule_level::RuleLevels;
use tribunal_core::review::{Plea, Stance};
use tribunal_core::scale::{Adjustment, Confidence, Severity};

use super::parts::{coverage, frame, place, tokens, trace, voice};

/// Returns the review.
pub(super) fn report() -> ReviewReport {
    ReviewReport {
        schema: REVIEW_SCHEMA.to_owned(),
        case: CaseId::from_bits(0x2a_51c0_99e4),
        change: ChangeSummary {
            title: "main..invoice-search".to_owned(),
            base: Some("6f1d2c0b9a".to_owned()),
            head: Some("c04e7715d3".to_owned()),
            whole_files: false,
            selector: Vec::new(),
            empty: None,
        },
        gate: Gate::Fail { open: 1 },
        gate_with_offer: None,
        outdated: None,
        unread_because: Vec::new(),
        fail_on: None,
        policy: "tribunal".to_owned(),
        reviewers: reviewers(),
        findings: vec![agreed(), outside(), dismissed(), disputed(), rejected()],
        arbitration: None,
        fixed: vec![FixedFinding {
            id: "f-77aa01c2".to_owned(),
            fingerprint: "77aa01c2".to_owned(),
            location: place("src/invoice/total.rs", 88, 88),
            title: "Totals above 2^31 cents wrap around".to_owned(),
        }],
        suppressed: vec![SuppressedFinding {
            rule: "rust-length-truncated".to_owned(),
            reviewer: "builtin:correctness".to_owned(),
            location: place("src/invoice/page.rs", 14, 14),
            title: "`as u16` cuts a length off".to_owned(),
            label: Label::Medium,
            reason: "a page has at most 100 rows".to_owned(),
        }],
        coverage: coverage(),
        rule_levels: RuleLevels::new(),
        statistics: Statistics::default(),
        usage: tokens(61_204, 5_713),
        cost: Cost::Unknown,
        notes: vec![
            "`src/legacy/export.rs` was split into 2 parts to fit the context of codex".to_owned(),
        ],
    }
}

fn reviewers() -> Vec<ReviewerSummary> {
    let reviewer = |name: &str, family: &str, findings, usage, cost, elapsed_ms| ReviewerSummary {
        name: name.to_owned(),
        family: family.to_owned(),
        state: ReviewerState::Answered,
        findings,
        problems: Vec::new(),
        usage,
        cost,
        elapsed_ms,
    };
    let claude = reviewer(
        "claude",
        "anthropic",
        3,
        tokens(31_000, 2_950),
        Cost::Known(MicroUsd(214_500)),
        48_200,
    );
    let mut codex = reviewer(
        "codex",
        "openai",
        2,
        tokens(30_204, 2_763),
        Cost::Unknown,
        71_000,
    );
    codex.problems = vec!["finding 3 was not read: it names no file and no line".to_owned()];
    let mut gemini = reviewer(
        "gemini",
        "google",
        0,
        Usage::default(),
        Cost::Unknown,
        120_000,
    );
    gemini.state = ReviewerState::Missing {
        class: Some(ErrorClass::Hung),
        why: "nothing came within 2 minutes".to_owned(),
    };
    let free = Cost::Known(MicroUsd(0));
    let builtin = reviewer(
        "builtin:security",
        "builtin",
        1,
        Usage::default(),
        free,
        310,
    );
    let mut tests = reviewer("builtin:tests", "builtin", 0, Usage::default(), free, 0);
    tests.state = ReviewerState::Idle;
    vec![claude, codex, gemini, builtin, tests]
}

fn agreed() -> ReviewedFinding {
    let mut finding = finding("f-3c19a27e", Verdict::Accepted, Severity::Critical, 95);
    finding.category = Category::Security;
    finding.agreement = Agreement::Majority;
    finding.location = place("src/invoice/search.rs", 42, 42);
    finding.location.function = Some("find".to_owned());
    finding.title = "The customer's name is pasted into the SQL statement".to_owned();
    finding.description =
        "`find` builds its statement with `format!`, and the name comes straight \
        from the query string of the request. Whoever searches can read every table that the \
        service can read.\n\nThe same pattern was removed from `orders` last year."
            .to_owned();
    finding.suggestion =
        "Pass the name as a parameter:\n```rust\nconn.query(\"SELECT * FROM invoices WHERE name = ?1\", [name])\n```".to_owned();
    finding.trigger = "GET /invoices?name=' OR 1=1 --".to_owned();
    finding.frame = frame(
        40,
        &[
            "pub fn find(conn: &Conn, name: &str) -> Result<Vec<Invoice>> {",
            "    let table = \"invoices\";",
            "    let sql = format!(\"SELECT * FROM {table} WHERE name = '{name}'\");",
            "    conn.query(&sql)",
            "}",
        ],
        42..=42,
    );
    finding.voices = vec![
        voice(
            "claude",
            "anthropic",
            Severity::Critical,
            85,
            Grounding::Confirmed,
        ),
        voice("codex", "openai", Severity::High, 80, Grounding::Doubtful),
    ];
    finding.voices[1].title = "SQL injection in find()".to_owned();
    finding.voices[1].description = "String formatting is used to build a query.".to_owned();
    finding.voices[1].doubts = vec!["the quoted code stands 3 lines further down".to_owned()];
    finding.dissent = vec![Dissent {
        reviewer: "builtin:security".to_owned(),
        says: "the caller in `api.rs` trims the name, so severity high is enough".to_owned(),
    }];
    finding.trace = trace(&[
        (Step::Highest, 85),
        (Step::Agreement, 15),
        (Step::Grounding, -5),
    ]);
    finding.reasons = vec!["Two families agree (claude, codex).".to_owned()];
    finding
}

fn outside() -> ReviewedFinding {
    let mut finding = finding("f-90b1d4aa", Verdict::Accepted, Severity::Medium, 64);
    finding.location = place("src/api.rs", 118, 121);
    finding.in_diff = false;
    finding.obligation = Obligation::Optional;
    finding.label = Label::Should;
    finding.standing = Standing::Regressed;
    finding.title = "Callers never learn that a search was cut off".to_owned();
    finding.description =
        "`find` now stops at 500 rows, and the handler still says `complete: true`.".to_owned();
    finding.frame = frame(
        117,
        &[
            "    let found = search::find(&conn, &name)?;",
            "    Ok(Json(Answer {",
            "        complete: true,",
            "        rows: found,",
            "    }))",
        ],
        118..=121,
    );
    finding.voices = vec![voice(
        "codex",
        "openai",
        Severity::Medium,
        70,
        Grounding::Confirmed,
    )];
    finding.trace = trace(&[(Step::Original, 70), (Step::SingleSource, -6)]);
    finding.reasons = vec!["One voice, with a place and a trigger in the code.".to_owned()];
    finding
}

fn dismissed() -> ReviewedFinding {
    let mut finding = finding("f-5512cc00", Verdict::Accepted, Severity::Low, 55);
    finding.category = Category::Performance;
    finding.standing = Standing::Dismissed;
    finding.counts = false;
    finding.obligation = Obligation::Optional;
    finding.label = Label::Low;
    finding.location = place("src/invoice/search.rs", 61, 61);
    finding.title = "`rows.clone()` copies the whole list".to_owned();
    finding.description = "The list is copied once per request.".to_owned();
    finding.voices = vec![voice(
        "claude",
        "anthropic",
        Severity::Low,
        60,
        Grounding::Confirmed,
    )];
    finding.trace = trace(&[(Step::Original, 60), (Step::SingleSource, -5)]);
    finding.reasons = vec!["Ruling d-12 dismissed it: lists have at most 500 rows.".to_owned()];
    finding
}

fn disputed() -> ReviewedFinding {
    let mut finding = finding("f-e07d3b19", Verdict::Disputed, Severity::Critical, 58);
    finding.standing = Standing::Open;
    finding.location = place("src/invoice/lock.rs", 23, 24);
    finding.title = "Two requests can lock the same invoice".to_owned();
    finding.description = "The flag is read and written in two statements.".to_owned();
    finding.trigger = "two PUT requests for one invoice within a millisecond".to_owned();
    finding.frame = frame(
        22,
        &[
            "    let invoice = load(id).await?;",
            "    if !invoice.locked {",
            "        store(id, Locked::Yes).await?;",
            "    }",
        ],
        23..=24,
    );
    finding.voices = vec![voice(
        "claude",
        "anthropic",
        Severity::Critical,
        75,
        Grounding::Confirmed,
    )];
    finding.dissent = vec![Dissent {
        reviewer: "codex".to_owned(),
        says: "`load` takes the row lock, so the second request waits".to_owned(),
    }];
    finding.rounds = rounds();
    finding.escalate = true;
    finding.judgement = Some(Weighed {
        judge: "opus".to_owned(),
        side: Side::Balanced,
        severity: None,
        reason: "Neither shows where the transaction ends.".to_owned(),
    });
    finding.advisories = vec![AdvisoryOutcome::Patched("GHSA-xxxx-lock".to_owned())];
    finding.trace = trace(&[
        (Step::Lowest, 75),
        (Step::SingleSource, -5),
        (Step::Adjustment("openai".to_owned()), -12),
    ]);
    finding.reasons =
        vec!["A critical finding of one family needs confidence 85 or a second family.".to_owned()];
    finding.reversal =
        "Show whether `load` opens a transaction that lives until `store`.".to_owned();
    finding
}

fn rounds() -> Vec<Statement> {
    let said = |round, reviewer: &str, family: &str, action, by, reasoning: &str| Statement {
        round,
        reviewer: reviewer.to_owned(),
        family: family.to_owned(),
        action,
        adjustment: Adjustment::new(by).unwrap(),
        reasoning: reasoning.to_owned(),
        revised_severity: None,
        revised_description: None,
        not_counted: None,
    };
    let against = "`load` takes the row lock, so the second request waits";
    let disagree = Action::Examined(Stance::Disagree);
    let codex = said(2, "codex", "openai", disagree, -12, against);
    let mut gemini = said(
        2,
        "gemini",
        "google",
        Action::Examined(Stance::Agree),
        5,
        "",
    );
    gemini.not_counted = Some("it names no code that was not named before".to_owned());
    let mut claude = said(
        3,
        "claude",
        "anthropic",
        Action::Pleaded(Plea::Modify),
        0,
        "",
    );
    claude.revised_severity = Some(Severity::High);
    vec![codex, gemini, claude]
}

fn rejected() -> ReviewedFinding {
    let mut finding = finding("f-0b8e6f21", Verdict::Rejected, Severity::Medium, 22);
    finding.counts = false;
    finding.category = Category::TestCoverage;
    finding.obligation = Obligation::Optional;
    finding.location = place("src/invoice/search.rs", 9, 9);
    finding.title = "There are no tests for `find`".to_owned();
    finding.description = "The module has no tests.".to_owned();
    finding.voices = vec![voice(
        "claude",
        "anthropic",
        Severity::Medium,
        50,
        Grounding::Refuted,
    )];
    finding.voices[0].doubts = vec!["`tests/search.rs` calls `find`".to_owned()];
    finding.trace = trace(&[(Step::Original, 50), (Step::Defense, -28)]);
    finding.reasons = vec!["Its author conceded: `tests/search.rs` covers it.".to_owned()];
    finding.reversal = "A branch of `find` that no test reaches.".to_owned();
    finding
}

fn finding(id: &str, verdict: Verdict, severity: Severity, confidence: i32) -> ReviewedFinding {
    ReviewedFinding {
        rule: String::new(),
        id: id.to_owned(),
        fingerprint: id.replace("f-", "v1:"),
        verdict,
        standing: Standing::New,
        counts: true,
        contradicted: false,
        escalate: false,
        obligation: Obligation::Mandatory,
        label: Label::High,
        severity,
        category: Category::Bug,
        confidence: Confidence::clamped(confidence),
        agreement: Agreement::SingleSource,
        location: Location::default(),
        in_diff: true,
        title: String::new(),
        description: String::new(),
        suggestion: String::new(),
        trigger: String::new(),
        frame: Vec::new(),
        voices: Vec::new(),
        dissent: Vec::new(),
        rounds: Vec::new(),
        judgement: None,
        advisories: Vec::new(),
        precedents: Vec::new(),
        similar: None,
        linked: Vec::new(),
        team_ruling: None,
        trace: Vec::new(),
        score: None,
        question: String::new(),
        reasons: Vec::new(),
        reversal: String::new(),
    }
}
