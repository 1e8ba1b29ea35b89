//! What is printed when there is more than a reader takes.

use tribunal_core::review::gate::{Gate, Obligation};
use tribunal_core::review::report::ReviewedFinding;
use tribunal_core::scale::Severity;

use super::*;

/// Returns the first finding of the fixture `number` times, each on a line of its own.
fn many(number: u32, change: impl Fn(&mut ReviewedFinding)) -> ReviewReport {
    let mut report = fixture::report();
    let one = report.findings[0].clone();
    let findings = (1..=number).map(|line| {
        let mut finding = one.clone();
        finding.id = format!("f-{line:08}");
        finding.location.line = Some(line);
        change(&mut finding);
        finding
    });
    report.findings = findings.collect();
    report.gate = Gate::Fail { open: number };
    report
}

#[test]
fn a_step_gets_ten_annotations_of_a_kind_and_hears_of_the_rest() {
    let mut report = many(25, |_| {});
    let mild = many(12, |finding| {
        finding.severity = Severity::Medium;
        finding.obligation = Obligation::Optional;
    });
    report.findings.extend(mild.findings);
    let text = printed(&report, ReviewFormat::Github);
    let of = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
    assert_eq!(
        (of("::error "), of("::warning "), of("::notice ")),
        (10, 10, 0)
    );
    assert!(text.contains("::error title=Tribunal%3A 16 more findings::"));
    assert!(text.contains("::warning title=Tribunal%3A 3 more findings::"));
    // What binds comes first.
    let first_warning = text.find("::warning").unwrap();
    assert!(text.rfind("::error").unwrap() < first_warning);
}

#[test]
fn an_inconclusive_review_says_so_within_the_ten() {
    let mut report = many(12, |_| {});
    report.gate = inconclusive();
    let text = printed(&report, ReviewFormat::Github);
    let errors = text.lines().filter(|line| line.starts_with("::error "));
    assert_eq!(errors.count(), 10);
    assert!(text.starts_with(
        "::error title=Tribunal%3A INCONCLUSIVE::a blocking finding is disputed; gemini"
    ));
}

#[test]
fn comments_and_bodies_stay_below_the_limits_of_github() {
    let long = "The same words again and again. ".repeat(200);
    for in_diff in [true, false] {
        let report = many(60, |finding| {
            finding.description = long.clone();
            finding.in_diff = in_diff;
        });
        let markdown = printed(&report, ReviewFormat::Markdown);
        assert!(markdown.chars().count() < 65_536);
        // Beyond the limit a finding is a row and a line of a list.
        assert!(markdown.matches("<details open>").count() < 20);
        assert!(markdown.matches("\n- **HIGH (critical) 95**").count() > 20);
        let review: serde_json::Value = serde_json::from_str(&review_json(&report)).unwrap();
        let body = review["body"].as_str().unwrap();
        assert!(body.chars().count() < 65_536, "{}", body.len());
        assert!(body.contains("More findings are in the report"));
        let comments = review["comments"].as_array().unwrap();
        assert_eq!(comments.len(), if in_diff { 30 } else { 0 });
    }
}

#[test]
fn left_out_files_are_told_by_reason_and_no_reason_is_pushed_out() {
    let text = printed(&fixture::report(), ReviewFormat::Text);
    assert!(text.contains("may hold credentials: .env.staging"));
    assert!(text.contains("    and 1 more\n"));
}

#[test]
fn pages_with_many_findings_have_a_list_of_links() {
    let page = printed(&many(8, |_| {}), ReviewFormat::Html);
    assert!(page.contains("8 findings at a glance"));
    assert_eq!(
        page.matches("<li class=\"finding-link critical binds\">")
            .count(),
        8
    );
    for number in 1..=8 {
        assert!(page.contains(&format!("<a href=\"#finding-{number}\">")));
        assert!(page.contains(&format!("id=\"finding-{number}\"")));
    }
}
