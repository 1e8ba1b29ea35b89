//! A review as one page that needs nothing else: no script, no request, no font, no image.

mod arbitration;
mod finding;
mod rest;

use tribunal_core::consensus::Verdict;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::ReviewReport;
use tribunal_core::scale::Severity;

use super::blocks::{Block, blocks, pieces};
use super::shown::{NAME, one_line, shown};
use super::{arbitrated, facts};
use crate::report::html::escaped;
use crate::report::words;

/// How the page looks.
const STYLE: &str = include_str!("html/style.css");

/// The hash of [`STYLE`], by which the page allows it and no other style.
const STYLE_HASH: &str = "sha256-9KP5TWWiaqWy6ILmwxhxnOmaYf+jSk4pbfJ0uW8x2ow=";

/// Returns the page.
pub(super) fn render(report: &ReviewReport) -> String {
    let title = text(&one_line(&report.change.title, NAME));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src '{STYLE_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{}: review of {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        report.gate
    );
    page.push_str(&head(report, &title));
    page.push_str(&filters(report));
    page.push_str(&rest::index(report));
    page.push_str("<main>\n");
    let mut number = 0;
    for list in facts::lists(report) {
        let facts::List {
            verdict,
            heading,
            findings,
        } = list;
        let about = match verdict {
            Verdict::Accepted => "What the panel stands by.",
            Verdict::Disputed => "What nobody could settle.",
            Verdict::Rejected => "What fell, and why.",
        };
        page.push_str(&format!(
            "<section class=\"list\" id=\"{verdict}\">\n<h2>{heading} <span class=\"number\">{}</span> \
             <small>{about}</small></h2>\n",
            findings.len()
        ));
        for finding in findings {
            number += 1;
            page.push_str(&finding::card(report, finding, number));
        }
        page.push_str("</section>\n");
    }
    page.push_str(&arbitration::section(report));
    page.push_str(&rest::reviewers(report));
    page.push_str(&rest::coverage(report));
    page.push_str(&rest::fixed(report));
    page.push_str(&rest::suppressed(report));
    page.push_str(&rest::notes(report));
    page.push_str("</main>\n");
    page.push_str(&rest::foot(report));
    page + "</body>\n</html>\n"
}

/// Returns the gate and the figures of the review.
fn head(report: &ReviewReport, title: &str) -> String {
    let class = match report.gate {
        Gate::Pass => "pass",
        Gate::Fail { .. } => "fail",
        Gate::Inconclusive { .. } => "inconclusive",
    };
    let said = match &report.gate {
        Gate::Inconclusive { causes } => {
            let causes: String = causes
                .iter()
                .map(|cause| format!("<li>{}</li>", rich(&one_line(cause, NAME))))
                .collect();
            format!(
                "<p>{}:</p>\n<ul>{causes}</ul>\n",
                text(facts::inconclusive(report))
            )
        }
        _ => format!("<p>{}.</p>\n", sentence(&facts::gate(report))),
    };
    let steps: String = arbitrated::next_steps(report)
        .iter()
        .map(|step| format!("<p>{}</p>\n", rich(&step.sentence())))
        .collect();
    let said = said + &steps;
    let mut figures = String::new();
    let number = |verdict| facts::of(report, verdict).count().to_string();
    let fixed = report.fixed.len() + arbitrated::fixed(report);
    for (name, figure) in [
        ("Accepted", number(Verdict::Accepted)),
        ("Disputed", number(Verdict::Disputed)),
        ("Rejected", number(Verdict::Rejected)),
        ("Fixed", fixed.to_string()),
        ("Files reviewed", report.coverage.reviewed.len().to_string()),
        ("Left out", report.coverage.left_out.len().to_string()),
        ("Tokens", words::tokens(report.usage).replace(" tokens", "")),
        ("Cost", words::cost(report.cost).replace("cost ", "")),
    ] {
        figures.push_str(&format!(
            "<div><dt>{name}</dt><dd>{}</dd></div>",
            text(&figure)
        ));
    }
    format!(
        "<header class=\"gate {class}\">\n<div class=\"verdict\"><strong>{}</strong></div>\n\
         <div class=\"said\">\n<h1>Review of <span>{title}</span></h1>\n{said}</div>\n\
         <dl class=\"figures\">{figures}</dl>\n</header>\n",
        report.gate
    )
}

/// Returns the boxes that show and hide findings; the style does the rest.
fn filters(report: &ReviewReport) -> String {
    if report.findings.is_empty() {
        return "<p class=\"nothing\">No findings.</p>\n".to_owned();
    }
    let mut boxes = String::new();
    for severity in Severity::ALL.into_iter().rev() {
        let number = report
            .findings
            .iter()
            .filter(|one| one.severity == severity)
            .count();
        if number > 0 {
            boxes.push_str(&format!(
                "<label class=\"{severity}\"><input type=\"checkbox\" id=\"show-{severity}\" checked> \
                 {severity} <span class=\"number\">{number}</span></label>\n"
            ));
        }
    }
    if report
        .findings
        .iter()
        .any(|finding| facts::fails(report, finding))
    {
        boxes.push_str(
            "<label><input type=\"checkbox\" id=\"only-binding\"> only what blocks</label>\n",
        );
    }
    format!("<nav class=\"filters\" aria-label=\"Findings to show\">\n{boxes}</nav>\n")
}

/// Returns foreign text as it may stand between tags and in quoted attributes.
fn text(given: &str) -> String {
    escaped(&shown(given))
}

/// Returns prose as paragraphs, with line breaks, and blocks of code.
fn paragraphs(given: &str) -> String {
    let html = |block: &Block| match block {
        Block::Prose(prose) => {
            let lines: Vec<String> = prose.lines().map(|line| rich(line.trim())).collect();
            format!("<p>{}</p>\n", lines.join("<br>\n"))
        }
        Block::Code(code) => format!("<pre class=\"code\"><code>{}</code></pre>\n", text(code)),
    };
    blocks(given).iter().map(html).collect()
}

/// Returns foreign text in which what stands between backticks is code.
fn rich(given: &str) -> String {
    let piece = |(is_code, piece): (bool, &str)| match is_code {
        true => format!("<code>{}</code>", text(piece)),
        false => text(piece),
    };
    pieces(given).into_iter().map(piece).collect()
}

/// Returns words of ours as the start of a sentence.
fn sentence(words: &str) -> String {
    text(&facts::sentence(words))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::Digest as _;

    use super::*;

    #[test]
    fn the_style_is_the_one_that_the_page_allows() {
        let hash = base64::prelude::BASE64_STANDARD.encode(sha2::Sha256::digest(STYLE));
        assert_eq!(STYLE_HASH, format!("sha256-{hash}"));
        assert!(!STYLE.contains("</") && !STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
