//! One finding as a card.

use tribunal_core::consensus::Verdict;
use tribunal_core::finding::Grounding;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding, Voice};

use super::super::said::said_of;
use super::super::shown::{NAME, TITLE, one_line};
use super::super::{facts, frame};
use super::{paragraphs, rich, text};

/// Returns the card. Its anchor is its number, since ids are foreign text.
pub(super) fn card(report: &ReviewReport, finding: &ReviewedFinding, number: usize) -> String {
    let open = if finding.verdict == Verdict::Rejected {
        ""
    } else {
        " open"
    };
    let binds = if facts::fails(report, finding) {
        " binds"
    } else {
        ""
    };
    let quiet = if finding.counts { "" } else { " quiet" };
    let mut out = format!(
        "<details class=\"finding {}{binds}{quiet}\" id=\"finding-{number}\"{open}>\n<summary>\
         <span class=\"chip\">{}</span> <span class=\"sure\">{}</span>\
         <span class=\"title\">{}</span>\
         <span class=\"where\"><code>{}</code><a class=\"anchor\" href=\"#finding-{number}\">{}</a></span>\
         </summary>\n<div class=\"body\">\n",
        finding.severity,
        text(&facts::labelled_severity(finding)),
        finding.confidence,
        rich(&one_line(&finding.title, TITLE)),
        text(&one_line(&finding.location.to_string(), NAME)),
        text(&one_line(&finding.id, NAME)),
    );
    out.push_str(&code(finding));
    out.push_str(&paragraphs(&finding.description));
    out.push_str("<dl class=\"fields\">\n");
    out.push_str(&field("Trigger", &paragraphs(&finding.trigger)));
    out.push_str(&field("Fix", &paragraphs(&finding.suggestion)));
    out.push_str(&field("Said by", &voices(finding)));
    for said in said_of(finding) {
        let (who, says) = (text(&said.who), rich(&said.says));
        out.push_str(&field(said.name, &format!("<p><b>{who}</b>: {says}</p>")));
    }
    let reasons: String = finding.reasons.iter().map(|why| paragraphs(why)).collect();
    let name = match finding.verdict {
        Verdict::Accepted => "Why",
        Verdict::Disputed => "Open",
        Verdict::Rejected => "Rejected",
    };
    out.push_str(&field(name, &reasons));
    if finding.verdict != Verdict::Accepted {
        out.push_str(&field("Settled by", &paragraphs(&finding.reversal)));
    }
    out.push_str(&field("Confidence", &calculation(finding)));
    let standing = format!("{}, {}", finding.category, facts::standing(report, finding));
    out.push_str(&field("Standing", &format!("<p>{}</p>", rich(&standing))));
    out + "</dl>\n</div>\n</details>\n"
}

/// Returns the code around the finding.
fn code(finding: &ReviewedFinding) -> String {
    if finding.frame.is_empty() {
        return String::new();
    }
    let mut out = String::from("<pre class=\"frame\"><code>");
    for line in frame::lines(&finding.frame) {
        let (tag, mark) = if line.marked {
            ("mark", "›")
        } else {
            ("span", " ")
        };
        out.push_str(&format!(
            "<{tag} class=\"line\"><span class=\"no\">{mark}{}</span>{}\n</{tag}>",
            line.number,
            text(&line.text)
        ));
    }
    out + "</code></pre>\n"
}

fn voices(finding: &ReviewedFinding) -> String {
    let voices: String = finding
        .voices
        .iter()
        .enumerate()
        .map(|(n, one)| voice(one, n))
        .collect();
    format!("<ul class=\"voices\">{voices}</ul>")
}

/// Returns one reviewer; the lead's words stand in the card already.
fn voice(voice: &Voice, number: usize) -> String {
    let grounding = match voice.grounding {
        Grounding::Unchecked => "",
        Grounding::Confirmed => " <span class=\"ground confirmed\">code confirmed</span>",
        Grounding::Doubtful => " <span class=\"ground doubtful\">code doubtful</span>",
        Grounding::Refuted => " <span class=\"ground refuted\">code not found</span>",
    };
    let mut out = format!(
        "<li><span class=\"who\">{}</span>{grounding}",
        text(&facts::voice(voice))
    );
    for doubt in &voice.doubts {
        out.push_str(&format!(
            "<p class=\"doubt\">{}</p>",
            rich(&one_line(doubt, NAME))
        ));
    }
    if number > 0 && !voice.description.trim().is_empty() {
        out.push_str(&format!(
            "<details><summary>{}</summary>{}</details>",
            rich(&one_line(&voice.title, TITLE)),
            paragraphs(&voice.description)
        ));
    }
    out + "</li>\n"
}

/// Returns how the confidence came about.
fn calculation(finding: &ReviewedFinding) -> String {
    let mut out = String::from("<p class=\"sum\">");
    for (index, line) in facts::terms(&finding.trace) {
        let sign = match (index, line.amount < 0) {
            (0, false) => "",
            (0, true) | (_, true) => "−\u{a0}",
            (_, false) => "+\u{a0}",
        };
        out.push_str(&format!(
            "<span>{sign}<b>{}</b> {}</span> ",
            line.amount.unsigned_abs(),
            text(&one_line(line.step.words(), NAME))
        ));
    }
    if facts::terms(&finding.trace).count() > 1 {
        out.push_str(&format!(
            "<span>=\u{a0}<b>{}</b></span>",
            finding.confidence
        ));
    }
    out + "</p>"
}

fn field(name: &str, html: &str) -> String {
    if html.is_empty() {
        return String::new();
    }
    format!("<div><dt>{name}</dt><dd>{html}</dd></div>\n")
}
