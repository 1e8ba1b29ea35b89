//! Every payload in every place of a report, printed in every format.

use std::borrow::Cow;

use serde_json::Value;
use tribunal_core::consensus::Step;
use tribunal_core::review::gate::Gate;
use tribunal_core::text::for_terminal;

use super::payloads::PAYLOADS;
use super::*;

/// Returns the review with `text` wherever foreign text can stand.
pub(super) fn poisoned(text: &str) -> ReviewReport {
    let mut report = fixture::report();
    report.findings.drain(1..3);
    report.reviewers.truncate(3);
    report.coverage.left_out.drain(1..9);
    report.coverage.reviewed.truncate(1);
    let poison = |field: &mut String| *field = format!("{field} {text}");
    poison(&mut report.change.title);
    poison(&mut report.policy);
    report.change.base = Some(text.to_owned());
    report.gate = Gate::Inconclusive {
        causes: vec![text.to_owned()],
    };
    report.notes.push(text.to_owned());
    report.arbitration = Some(arbitrated::arbitration(text));
    for reviewer in &mut report.reviewers {
        poison(&mut reviewer.name);
        poison(&mut reviewer.family);
        reviewer.problems.push(text.to_owned());
    }
    for finding in &mut report.findings {
        for field in [
            &mut finding.id,
            &mut finding.fingerprint,
            &mut finding.title,
            &mut finding.description,
            &mut finding.suggestion,
            &mut finding.trigger,
            &mut finding.location.file,
            &mut finding.reversal,
        ] {
            poison(field);
        }
        finding.location.function = Some(text.to_owned());
        finding
            .frame
            .iter_mut()
            .for_each(|line| poison(&mut line.text));
        finding.reasons.push(text.to_owned());
        finding
            .dissent
            .iter_mut()
            .for_each(|one| poison(&mut one.says));
        finding.trace[0].step = Step::Adjustment(text.to_owned());
        for voice in &mut finding.voices {
            voice.doubts.push(text.to_owned());
            for field in [&mut voice.reviewer, &mut voice.family, &mut voice.title] {
                poison(field);
            }
            poison(&mut voice.description);
        }
    }
    for fixed in &mut report.fixed {
        poison(&mut fixed.title);
        poison(&mut fixed.location.file);
    }
    for file in &mut report.coverage.left_out {
        poison(&mut file.path);
        poison(&mut file.detail);
    }
    report
        .coverage
        .reviewed
        .iter_mut()
        .for_each(|file| poison(&mut file.path));
    report
}

/// Calls `check` with the name of each payload and what became of it in `format`, in short and,
/// where that differs, with all details.
pub(super) fn each(format: ReviewFormat, check: impl Fn(&str, &str)) {
    use ReviewFormat::{Markdown, Sarif, Text};
    let differs = matches!(format, Text | Markdown | Sarif);
    for (name, payload) in PAYLOADS {
        let report = poisoned(payload);
        check(name, &printed(&report, format));
        if differs {
            check(name, &detailed(&report, format));
        }
    }
}

#[test]
fn no_format_passes_what_drives_a_terminal_or_turns_text_around() {
    for format in ReviewFormat::value_variants() {
        each(*format, |name, text| {
            let harmless = matches!(for_terminal(text), Cow::Borrowed(_));
            assert!(harmless, "{format:?}: {name}");
        });
    }
    for (name, payload) in PAYLOADS {
        let review = review_json(&poisoned(payload));
        assert!(matches!(for_terminal(&review), Cow::Borrowed(_)), "{name}");
    }
}

#[test]
fn text_holds_no_command_for_a_runner() {
    for format in [ReviewFormat::Text, ReviewFormat::Github] {
        each(format, |name, text| {
            assert!(
                !text.contains("##[") || format == ReviewFormat::Github,
                "{name}"
            );
            for line in text.lines().map(str::trim_start) {
                let ours = ["::error ", "::warning ", "::notice "];
                let ours = ours.iter().any(|start| line.starts_with(start));
                assert!(
                    !line.starts_with("::") || ours,
                    "{format:?}: {name}: {line}"
                );
            }
        });
    }
    each(ReviewFormat::Github, |name, text| {
        // Two findings that count, the gate, and two lines that lead on.
        assert_eq!(text.lines().count(), 5, "{name}");
        for line in text.lines().filter(|line| line.starts_with("::")) {
            let head = line.trim_start_matches(':').split("::").next();
            let head = head.unwrap_or_default();
            let properties = head.split_once(' ').map_or("", |(_, rest)| rest);
            for property in properties.split(',') {
                let known = ["file=", "line=", "endLine=", "title="];
                let known = known.iter().any(|name| property.starts_with(name));
                assert!(known, "{name}: {property}");
            }
        }
    });
}

#[test]
fn pages_hold_no_element_that_is_not_ours() {
    each(ReviewFormat::Html, |name, page| {
        let (_, body) = page.split_once("<body>").unwrap();
        for tag in body.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').unwrap();
            let element = tag.trim_start_matches('/').split(' ').next().unwrap();
            assert!(OURS.contains(&element), "{name}: <{tag}>");
            // Attributes are ours too: none of them holds foreign text.
            for handler in ["onerror", "onload", "onmouse", "onfocus", "src=", "style="] {
                assert!(!tag.contains(handler), "{name}: <{tag}>");
            }
        }
        assert!(!page.to_lowercase().contains("<script"), "{name}");
        assert_eq!(page.matches("<title>").count(), 1, "{name}");
        assert_eq!(page.matches("</style>").count(), 1, "{name}");
    });
}

/// The elements of the page.
const OURS: [&str; 36] = [
    "body", "header", "div", "strong", "h1", "span", "p", "dl", "dt", "dd", "nav", "label",
    "input", "main", "section", "h2", "small", "details", "summary", "code", "pre", "mark", "a",
    "ul", "li", "b", "br", "table", "thead", "tbody", "tr", "th", "td", "s", "footer", "html",
];

#[test]
fn xml_is_well_formed_and_keeps_its_shape() {
    each(ReviewFormat::Junit, |name, text| {
        let mut reader = quick_xml::Reader::from_str(text);
        reader.config_mut().check_end_names = true;
        let (mut cases, mut verdicts) = (0, 0);
        loop {
            match reader
                .read_event()
                .unwrap_or_else(|error| panic!("{name}: {error}"))
            {
                quick_xml::events::Event::Eof => break,
                quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                    match tag.name().as_ref() {
                        "testcase" => cases += 1,
                        "failure" | "error" => verdicts += 1,
                        _ => {}
                    }
                    assert!(tag.attributes().all(|one| one.is_ok()), "{name}");
                }
                quick_xml::events::Event::DocType(_) | quick_xml::events::Event::CData(_) => {
                    panic!("{name}: not ours")
                }
                _ => {}
            }
        }
        // The gate, a file that was seen, two with findings, three left out, three reviewers.
        assert_eq!(cases, 10, "{name}");
        assert_eq!(verdicts, 2, "{name}");
    });
}

#[test]
fn json_stays_json_and_keeps_every_character() {
    for (name, payload) in PAYLOADS {
        let report = poisoned(payload);
        for format in [ReviewFormat::Json, ReviewFormat::Jsonl] {
            let read: ReviewReport = serde_json::from_str(&printed(&report, format)).unwrap();
            assert_eq!(read, report, "{name}");
        }
        let line = printed(&report, ReviewFormat::Jsonl);
        assert_eq!(line.lines().count(), 1, "{name}");
        let log: Value = serde_json::from_str(&printed(&report, ReviewFormat::Sarif)).unwrap();
        assert_eq!(programs::problems(&log), Vec::<String>::new(), "{name}");
        let review: Value = serde_json::from_str(&review_json(&report)).unwrap();
        assert_eq!(review["event"], "COMMENT", "{name}");
    }
}
