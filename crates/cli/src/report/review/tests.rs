//! What the printers print.

mod arbitrated;
mod fixture;
mod hostile;
mod hostile_markdown;
mod limits;
mod parts;
mod payloads;
mod programs;
mod snapshots;
mod snapshots_markup;

use clap::ValueEnum as _;
use tribunal_core::review::gate::Gate;

use super::*;

/// Returns `report` in a format, with everything else as usual.
fn printed(report: &ReviewReport, format: ReviewFormat) -> String {
    render(report, format, &Options::default())
}

/// Returns `report` in a format, with all details.
fn detailed(report: &ReviewReport, format: ReviewFormat) -> String {
    let details = Options {
        details: true,
        ..Options::default()
    };
    render(report, format, &details)
}

/// Returns the review with another gate.
fn gated(gate: Gate) -> ReviewReport {
    let mut report = fixture::report();
    if !matches!(gate, Gate::Fail { .. }) {
        // What binds is gone; what is disputed stays.
        report.findings.remove(0);
    }
    report.gate = gate;
    report
}

/// Returns a gate that cannot decide, for two reasons.
fn inconclusive() -> Gate {
    Gate::Inconclusive {
        causes: vec![
            "a blocking finding is disputed".to_owned(),
            "gemini did not answer: nothing came within 2 minutes".to_owned(),
        ],
    }
}

#[test]
fn every_format_ends_with_one_line_break() {
    for report in [fixture::report(), gated(Gate::Pass), gated(inconclusive())] {
        for format in ReviewFormat::value_variants() {
            let text = printed(&report, *format);
            let ends = text.ends_with('\n') && !text.ends_with("\n\n");
            assert!(ends, "{format:?}");
        }
    }
}

#[test]
fn the_gate_is_the_first_word() {
    let first = |report: &ReviewReport| {
        let text = printed(report, ReviewFormat::Text);
        let gate = text.split("Review of").next().unwrap_or_default();
        gate.to_owned()
    };
    assert_eq!(
        first(&gated(Gate::Pass)),
        "PASS: 4 files reviewed, no blocking finding is open\n"
    );
    assert_eq!(
        first(&gated(inconclusive())),
        "INCONCLUSIVE: a blocking finding is disputed (f-e07d3b19); gemini did not answer: nothing came\n              within 2 minutes\n"
    );
}

#[test]
fn colours_add_nothing_but_colour() {
    let styled = Options {
        styled: true,
        ..Options::default()
    };
    let coloured = render(&fixture::report(), ReviewFormat::Text, &styled);
    let plain = printed(&fixture::report(), ReviewFormat::Text);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31mFAIL\u{1b}[0m: 1 blocking finding"));
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
}

#[test]
fn narrow_terminals_get_short_lines() {
    let narrow = Options {
        width: 60,
        ..Options::default()
    };
    let text = render(&fixture::report(), ReviewFormat::Text, &narrow);
    let findings = text.split("Reviewers").next().unwrap_or_default();
    // Code is never broken, since its lines would no longer be lines.
    let long = |line: &&str| line.chars().count() > 60 && !line.contains('│');
    let long: Vec<&str> = findings.lines().filter(long).collect();
    assert!(
        long.iter()
            // Nor are label, id and place, so that they can be searched for.
            .all(|line| line.starts_with("                  conn") || line.contains("  f-")),
        "{long:#?}"
    );
}

#[test]
fn details_show_what_is_folded() {
    let text = detailed(&fixture::report(), ReviewFormat::Text);
    for shown in [
        "  Rejected    Its author conceded: `tests/search.rs` covers it.",
        "  Doubt       claude: `tests/search.rs` calls `find`",
        "  Settled by  A branch of `find` that no test reaches.",
        "  Also        codex: String formatting is used to build a query.",
        "vendor/grid/part8.js",
    ] {
        assert!(text.contains(shown), "{shown}");
    }
}
