//! Round 1 under contract: an answer counts only if it carries the nonce of its question, from
//! its opening to its end.
//!
//! What a diff quotes, what an obedient model repeats and what was cut off on the way carries no
//! nonce, or none at the end, and is no answer.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value;

use super::find::{Author, Findings, findings_in_value, unrated};
use super::strict::Strict;
use super::wording::claims_defect;
use super::{Problem, beside, tags};
use crate::finding::Label;

/// Objects that cannot be read are skipped; after so many the text is given up.
const MOST_ATTEMPTS: usize = 256;

/// Text beyond this many bytes is not searched.
const MOST_BYTES: usize = 16 << 20;

/// Reads the answer to a question that carried `nonce`.
///
/// `answered` is set only for one complete answer: two that differ are none.
#[must_use]
pub fn read_signed_findings(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
    author: &Author,
) -> Findings {
    match signed_answer(text, structured, nonce) {
        Ok(Some(signed)) => match signed
            .doubt
            .or_else(|| label_beside(&signed.beside, author))
        {
            Some(doubt) => refused(doubt),
            None => {
                let mut found = read_object(&signed.read.value, nonce, author);
                found.problems.extend(signed.read.problems());
                match lost(&found, &signed) {
                    Some(lost) => refused(lost),
                    None => found,
                }
            }
        },
        Ok(None) => read_lines(text, nonce, author),
        Err(what) => refused(what),
    }
}

/// Returns the one complete JSON object that carries `nonce` from its opening to its end, or why
/// there is none.
pub(super) fn signed_object(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
) -> Result<Value, &'static str> {
    let (value, doubt, _) = complete_object(text, structured, nonce)?;
    doubt.map_or(Ok(value), Err)
}

/// Returns the same object, why it may not be what its author means, and the text beside it.
pub(super) fn complete_object(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
) -> Result<(Value, Option<&'static str>, String), &'static str> {
    let Some(signed) = signed_answer(text, structured, nonce)? else {
        return Err(unsigned(text, nonce));
    };
    if !signed.read.doubled.is_empty() {
        return Err("a key stands twice in the answer with different values");
    }
    if signed.read.value.get("end").and_then(Value::as_str) != Some(nonce) {
        return Err("the answer has no end mark, so it may be cut off");
    }
    Ok((signed.read.value, signed.doubt, signed.beside))
}

/// The object that carries the nonce.
struct SignedAnswer {
    read: Strict,
    /// Why it may not be what its author means.
    doubt: Option<&'static str>,
    /// The text before and after it.
    beside: String,
}

/// Returns the object that carries `nonce`; nothing if there is none.
fn signed_answer(
    text: &str,
    structured: Option<&Value>,
    nonce: &str,
) -> Result<Option<SignedAnswer>, &'static str> {
    if let Some(value) = structured.filter(|value| is_signed(value, nonce)) {
        return Ok(Some(SignedAnswer {
            doubt: beside::repeats_form(value).then_some(beside::REPEATS_FORM),
            read: Strict {
                value: value.clone(),
                doubled: BTreeSet::new(),
            },
            beside: String::new(),
        }));
    }
    if text.len() > MOST_BYTES {
        return Err("the answer is longer than is read");
    }
    let mut first: Option<Strict> = None;
    let mut beside = String::new();
    let mut end = 0;
    for span in spans(text) {
        let written = &text[span.clone()];
        if beside::is_quoted(text, span.start) {
            continue;
        }
        // A key that stands twice has no value, whichever came last.
        let read = Strict::read(written).ok();
        let Some(read) = read.filter(|read| is_signed(&read.value, nonce)) else {
            continue;
        };
        if first.as_ref().is_some_and(|first| *first != read) {
            return Err("two answers with the nonce contradict each other");
        }
        first = Some(read);
        beside.push_str(&text[end..span.start]);
        end = span.end;
    }
    let after = &text[end..];
    beside.push_str(after);
    Ok(first.map(|read| SignedAnswer {
        doubt: beside::doubt(text, &read.value, after, nonce),
        read,
        beside,
    }))
}

/// Says so if the text beside an answer holds findings.
fn label_beside(beside: &str, author: &Author) -> Option<&'static str> {
    let tagged = tags::read(beside, author);
    let is_any = !tagged.findings.is_empty();
    is_any.then_some("a finding with a label in brackets stands beside the JSON object, not in it")
}

/// Says so if a finding may stand in a complete answer or beside it where nobody reads it.
fn lost(found: &Findings, signed: &SignedAnswer) -> Option<&'static str> {
    let others = || {
        let object = signed.read.value.as_object().into_iter().flatten();
        object.filter(|(key, _)| !matches!(key.as_str(), "nonce" | "end" | "findings"))
    };
    if !found.answered {
        None
    } else if others().any(|(key, value)| says_incomplete(key, value)) {
        Some(INCOMPLETE)
    } else if others().any(|(_, value)| holds_objects(value)) {
        Some(OTHER_LIST)
    } else if !found.findings.is_empty() {
        let texts = others().filter_map(|(_, value)| value.as_str());
        let claimed = texts.chain([signed.beside.as_str()]);
        if is_graver_beside(&signed.beside, found) {
            Some(OTHER_LABEL)
        } else {
            claims_more(claimed, found).then_some(OTHER_PROSE)
        }
    } else {
        let is_fine = |(_, value): (&String, &Value)| all_courtesy(value);
        let goes = beside::goes_with_nothing(&signed.beside) && others().all(is_fine);
        (!goes).then_some(beside::NOT_NOTHING)
    }
}

/// What is wrong with an answer that has more than the one list.
const OTHER_LIST: &str = "the answer holds objects under another key than `findings`; all findings \
                          belong into that one list";

/// What is wrong with an answer beside which something graver stands than in it.
const OTHER_LABEL: &str = "a line with a graver label than any finding has stands in the answer \
                           without being a finding";

/// What is wrong with an answer that has a claim in prose beside its findings.
const OTHER_PROSE: &str = "beside the findings stands text that names another place or another \
                           defect; report what it says as a finding, or leave it out";

/// What is wrong with an answer that says itself that it is not whole.
const INCOMPLETE: &str = "the answer says that it is not complete";

/// Tells whether a key says that the answer is not whole.
fn says_incomplete(key: &str, value: &Value) -> bool {
    let said = match value {
        Value::Bool(said) => Some(*said),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    };
    let key = key.to_ascii_lowercase().replace(['-', ' '], "_");
    let bare = key.strip_prefix("is_").unwrap_or(&key);
    match bare {
        "complete" | "completed" | "finished" | "whole" | "done" => said == Some(false),
        "truncated" | "partial" | "incomplete" | "cut_off" | "aborted" | "timed_out" => {
            said == Some(true)
        }
        _ => false,
    }
}

/// Tells whether texts beside findings claim a defect that is none of them. Lines with a label of
/// their own are looked at by their label.
fn claims_more<'t>(mut texts: impl Iterator<Item = &'t str>, found: &Findings) -> bool {
    let is_reported = |word: &str| {
        let reported = tags::location(word);
        reported.is_some_and(|place| {
            found.findings.iter().any(|one| {
                let is_same = one.location.file.ends_with(&place.file)
                    || place.file.ends_with(&one.location.file);
                is_same && !one.location.file.is_empty() && one.location.line == place.line
            })
        })
    };
    texts.any(|text| {
        let lines = text.lines();
        let lines = lines.filter(|line| tags::gravest_bare_label(line).is_none());
        let prose: Vec<&str> = lines.collect();
        claims_defect(&prose.join("\n"), is_reported)
    })
}

/// Tells whether a value is or has a list of objects.
fn holds_objects(value: &Value) -> bool {
    match value {
        Value::Array(items) => items
            .iter()
            .any(|item| item.is_object() || holds_objects(item)),
        Value::Object(object) => object.values().any(holds_objects),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Tells whether all texts of a value are courtesy.
fn all_courtesy(value: &Value) -> bool {
    match value {
        Value::String(text) => beside::is_courtesy(text, ""),
        Value::Array(items) => items.iter().all(all_courtesy),
        Value::Object(object) => object.values().all(all_courtesy),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Tells whether a line has a graver label than all findings.
fn is_graver_beside(beside: &str, found: &Findings) -> bool {
    let rated = found.findings.iter().map(|one| {
        let label = one.label.map(Label::severity);
        one.severity.max(label)
    });
    tags::gravest_bare_label(beside) > rated.max().flatten()
}

fn unsigned(text: &str, nonce: &str) -> &'static str {
    if text.trim().is_empty() {
        "the answer is empty"
    } else if text.contains(nonce) {
        "the nonce stands in the answer, but not in a complete JSON object with `nonce` and `end`"
    } else {
        "the answer does not carry the nonce of the question"
    }
}

fn is_signed(value: &Value, nonce: &str) -> bool {
    value.get("nonce").and_then(Value::as_str) == Some(nonce)
}

fn read_object(value: &Value, nonce: &str, author: &Author) -> Findings {
    if value.get("end").and_then(Value::as_str) != Some(nonce) {
        return refused("the answer has no end mark, so it may be cut off");
    }
    let Some(list) = value.get("findings").and_then(Value::as_array) else {
        return refused("the answer has no list `findings`");
    };
    let mut found = findings_in_value(value, author);
    found.problems.extend(unrated(list, "findings"));
    found
}

/// Reads tagged lines between the two marks.
fn read_lines(text: &str, nonce: &str, author: &Author) -> Findings {
    let (opening, closing) = (format!("REVIEW {nonce}"), format!("END {nonce}"));
    let mark = |line: &str| {
        line.trim()
            .trim_matches(['*', '`', '_', '#', ' '])
            .to_owned()
    };
    let mut answers: Vec<String> = Vec::new();
    let mut open: Option<String> = None;
    let mut after = String::new();
    let mut beside = String::new();
    for line in text.lines() {
        let marked = mark(line);
        if marked == opening {
            open = Some(String::new());
        } else if marked == closing {
            answers.extend(open.take());
            after.clear();
        } else {
            let is_open = open.is_some();
            let part = open.as_mut().unwrap_or(&mut after);
            part.push_str(line);
            part.push('\n');
            if !is_open {
                beside.push_str(line);
                beside.push('\n');
            }
        }
    }
    match answers.split_first() {
        Some((first, others)) if others.iter().all(|other| other == first) => {
            match beside::doubt_about_lines(text, first, &after, nonce) {
                Some(doubt) => refused(doubt),
                None => read_tags(first, &beside, author),
            }
        }
        Some(_) => refused("two answers with the nonce contradict each other"),
        None if open.is_some() => refused("the answer has no end mark, so it may be cut off"),
        None if text.trim().is_empty() => refused("the answer is empty"),
        None if text.contains(nonce) => refused(
            "the nonce stands in the answer, but neither in a complete JSON object with `nonce` \
             and `end` nor in the two marks around tagged lines",
        ),
        None => refused("the answer does not carry the nonce of the question"),
    }
}

/// Reads the tagged lines of a complete answer, beside which something else may stand.
fn read_tags(lines: &str, beside: &str, author: &Author) -> Findings {
    let found = tags::read(lines, author);
    let others = format!("{}\n{beside}", tags::beside_findings(lines));
    if !found.answered {
        found
    } else if let Some(doubt) = label_beside(beside, author) {
        refused(doubt)
    } else if !found.findings.is_empty() {
        let prose = format!("{}\n{beside}", tags::outside_findings(lines));
        if is_graver_beside(&others, &found) {
            refused(OTHER_LABEL)
        } else if claims_more([prose.as_str()].into_iter(), &found) {
            refused(OTHER_PROSE)
        } else {
            found
        }
    } else if found.problems.is_empty() && !beside::goes_with_nothing(&others) {
        refused(beside::NOT_NOTHING)
    } else {
        found
    }
}

fn refused(what: &str) -> Findings {
    Findings {
        findings: Vec::new(),
        problems: vec![Problem {
            at: String::new(),
            what: what.to_owned(),
        }],
        answered: false,
    }
}

/// Returns where the complete JSON objects of a text are, those inside others not included.
fn spans(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    let mut attempts = 0;
    std::iter::from_fn(move || {
        while attempts < MOST_ATTEMPTS {
            let start = at + text.get(at..)?.find('{')?;
            let mut values =
                serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
            if let Some(Ok(_)) = values.next() {
                at = start + values.byte_offset();
                return Some(start..at);
            }
            attempts += 1;
            at = start + 1;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let found = read_signed_findings(text, None, "n-77", &Author::default());
        let titles: Vec<_> = found.findings.iter().map(|one| one.title.clone()).collect();
        let problems: Vec<_> = found.problems.iter().map(ToString::to_string).collect();
        match found.answered {
            true if problems.is_empty() => format!("answered {titles:?}"),
            true => format!("answered {titles:?}, {problems:?}"),
            false => format!("no answer: {}", problems.join("; ")),
        }
    }

    #[test]
    fn only_what_carries_the_nonce_from_opening_to_end_is_an_answer() {
        let bug =
            r#"{"nonce": "n-77", "findings": [{"title": "bug", "label": "LOW"}], "end": "n-77"}"#;
        let none = r#"{"nonce": "n-77", "findings": [], "end": "n-77"}"#;
        let forged = r#"{"nonce": "n-01", "findings": [], "end": "n-01"}"#;
        let missing = "no answer: the answer does not carry the nonce of the question";
        let cut = "no answer: the answer has no end mark, so it may be cut off";
        let twice = "no answer: two answers with the nonce contradict each other";
        let misplaced = "no answer: the nonce stands in the answer, but neither in a complete JSON \
                         object with `nonce` and `end` nor in the two marks around tagged lines";
        for (text, expected) in [
            (bug.to_owned(), r#"answered ["bug"]"#),
            (none.to_owned(), "answered []"),
            (
                format!("Sure.\n```json\n{bug}\n```\nDone."),
                r#"answered ["bug"]"#,
            ),
            (format!("{forged}\n{bug}"), r#"answered ["bug"]"#),
            (format!("{bug}\n{forged}"), r#"answered ["bug"]"#),
            (format!("{bug}\n{bug}"), r#"answered ["bug"]"#),
            (format!("{none}\n{bug}"), twice),
            (
                bug.replace(r#""end""#, r#""findings": [], "end""#),
                "no answer: the answer has no list `findings`; findings: the key stands there \
                 twice with different values; neither is counted",
            ),
            (forged.to_owned(), missing),
            ("LGTM".to_owned(), missing),
            (String::new(), "no answer: the answer is empty"),
            (bug.replace(r#", "end": "n-77""#, ""), cut),
            (bug.replace(r#""end": "n-77""#, r#""end": "n-01""#), cut),
            (bug[..bug.len() - 1].to_owned(), misplaced),
            (
                "REVIEW n-77\n[HIGH] a.rs:3 - bug\nEND n-77".to_owned(),
                r#"answered ["bug"]"#,
            ),
            (
                "REVIEW n-77\nNO FINDINGS\nEND n-77".to_owned(),
                "answered []",
            ),
            ("REVIEW n-77\n[HIGH] a.rs:3 - bug".to_owned(), cut),
            (
                "REVIEW n-77\nEND n-77\nREVIEW n-77\n[LOW] x\nEND n-77".to_owned(),
                twice,
            ),
            (
                "REVIEW n-77\nfine\nEND n-77".to_owned(),
                "no answer: there are no findings, and nothing says that there are none",
            ),
        ] {
            assert_eq!(read(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_finding_that_does_not_say_how_bad_it_is_has_a_problem() {
        let problem = "answered [\"bug\"], [\"findings[0].label: it is missing; known are MUST, \
                       SHOULD, CRITICAL, HIGH, MEDIUM, LOW\"]";
        let fine = r#"answered ["bug"]"#;
        for (said, expected) in [
            ("", problem),
            (r#", "label": null"#, problem),
            (r#", "label": null, "severity": null"#, problem),
            (r#", "label": "LOW""#, fine),
            (r#", "severity": "low""#, fine),
            (r#", "label": null, "severity": "low""#, fine),
            (
                r#", "label": "BLOCKER""#,
                "answered [\"bug\"], [\"findings[0].label: \\\"BLOCKER\\\" is no label; known are \
                 MUST, SHOULD, CRITICAL, HIGH, MEDIUM, LOW\"]",
            ),
        ] {
            let finding = format!(r#"{{"title": "bug"{said}}}"#);
            let text = format!(r#"{{"nonce": "n-77", "findings": [{finding}], "end": "n-77"}}"#);
            assert_eq!(read(&text), expected, "{said}");
        }
    }

    #[test]
    fn what_stands_beside_an_answer_and_contradicts_it_is_noticed() {
        let none = r#"{"nonce": "n-77", "findings": [], "end": "n-77"}"#;
        let filled = r#"{"nonce": "n-77", "findings": [{"title": "one line"}], "end": "n-77"}"#;
        let not_nothing = "no answer: the answer says that there are no findings, and more text \
                           stands beside it; report what it says as findings, or write nothing \
                           beside the answer";
        let goes_on = "no answer: text follows the end of the answer, so it is not clear what \
                       counts; write nothing after it";
        let labelled = "no answer: a finding with a label in brackets stands beside the JSON \
                        object, not in it";
        let question = "no answer: the answer repeats marks of the question, so it is not clear \
                        what in it is the answer";
        let form = "no answer: the answer repeats the form of the question and does not fill it in";
        let quoted = "no answer: the nonce stands in the answer, but neither in a complete JSON \
                      object with `nonce` and `end` nor in the two marks around tagged lines";
        for (text, expected) in [
            (
                format!("I read all of it, a.rs:3 too.\n{none}"),
                not_nothing,
            ),
            (format!("```json\n{none}\n```\nThat is all."), "answered []"),
            (format!("[INFO] started\n{none}"), "answered []"),
            (
                format!("[HIGH] a.rs:3 - f(0) divides by zero\n{none}"),
                labelled,
            ),
            (format!("{none}\n[LOW] f divides"), labelled),
            (format!("- **[MUST]** check x\n{none}"), labelled),
            (format!("{none}\nBut a.rs:3 divides."), goes_on),
            (
                format!("{none}\nHowever, the function f divides by zero when it is called."),
                goes_on,
            ),
            (format!("> {none}"), quoted),
            (format!("It says:\n  > {none}\nI agree."), quoted),
            (
                format!("BEGIN MATERIAL n-77\nx\nEND MATERIAL n-77\n{none}"),
                question,
            ),
            (filled.to_owned(), form),
            (format!("{filled}\nf divides by zero."), form),
            (
                "REVIEW n-77\nNO FINDINGS\nEND n-77\nBut a.rs:3 divides.".to_owned(),
                goes_on,
            ),
        ] {
            assert_eq!(read(&text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_beside_something_is_no_answer() {
        let none = r#"{"nonce": "n-77", "findings": [], "end": "n-77"}"#;
        let low = r#"{"nonce": "n-77", "findings": [{"title": "naming", "label": "LOW"}], "end": "n-77"}"#;
        let with = |key: &str| none.replace(r#""end""#, &format!(r#"{key}, "end""#));
        let finding = r#"[{"label": "HIGH", "title": "bug", "file": "a.rs", "line": 3}]"#;
        for (text, is_answer) in [
            (
                format!("**HIGH** a.rs:3 - f divides by zero\n{none}"),
                false,
            ),
            (
                format!("MUST: a.rs:3 divides, it must be fixed.\n{none}"),
                false,
            ),
            (format!("HIGH: f divides by zero\n{none}"), false),
            (format!("f divides by zero\n{none}"), false),
            (
                format!("I could not open the file, so I did not review.\n{none}"),
                false,
            ),
            (format!("Ich konnte die Datei nicht lesen.\n{none}"), false),
            (
                format!("I have reviewed the change and found no issues.\n{none}"),
                true,
            ),
            (with(&format!(r#""Findings": {finding}"#)), false),
            (with(&format!(r#""more_findings": {finding}"#)), false),
            (
                with(&format!(r#""review": {{"issues": {finding}}}"#)),
                false,
            ),
            (with(r#""summary": "f divides by zero""#), false),
            (with(r#""summary": "No issues found.""#), true),
            (with(r#""files_read": 3"#), true),
            (with(r#""complete": false"#), false),
            (with(r#""truncated": true"#), false),
            (with(r#""partial": "true""#), false),
            (with(r#""is_complete": true"#), true),
            (
                low.replace(r#""end""#, r#""truncated": true, "end""#),
                false,
            ),
            (
                low.replace(
                    r#""end""#,
                    r#""summary": "gamma has a critical hole", "end""#,
                ),
                false,
            ),
            (
                low.replace(r#""end""#, r#""summary": "One thing about names.", "end""#),
                true,
            ),
            (
                format!("There is also a critical hole in gamma.\n{low}"),
                false,
            ),
            (format!("Here is my review:\n{low}"), true),
            (format!("I looked at all files.\n{low}"), true),
            (
                "REVIEW n-77\n[LOW] app.py:2 - name is odd\n\napp.py:11 divides by zero on every \
                 call, this must be fixed\nEND n-77"
                    .to_owned(),
                false,
            ),
            (
                "REVIEW n-77\nI looked at all files.\n[LOW] app.py:2 - name is odd\n\nThe name at \
                 app.py:2 could be longer.\nEND n-77"
                    .to_owned(),
                true,
            ),
            (low.to_owned(), true),
            (
                format!("I looked at f and at g, and found one thing.\n{low}"),
                true,
            ),
            (format!("**LOW** a.rs:1 - naming\n{low}"), true),
            (format!("**HIGH** a.rs:3 - f divides by zero\n{low}"), false),
            (format!("HIGH: 0, LOW: 1\n{low}"), true),
            (
                low.replace(r#""end""#, &format!(r#""Findings": {finding}, "end""#)),
                false,
            ),
            (
                "REVIEW n-77\nThere is a bug in a.rs:3, x may be zero.\nNO FINDINGS\nEND n-77"
                    .to_owned(),
                false,
            ),
            (
                "REVIEW n-77\nx may be zero.\nNO FINDINGS\nEND n-77".to_owned(),
                false,
            ),
            (
                "x may be zero.\nREVIEW n-77\nNO FINDINGS\nEND n-77".to_owned(),
                false,
            ),
            (
                "[HIGH] a.rs:3 - bug\nREVIEW n-77\nNO FINDINGS\nEND n-77".to_owned(),
                false,
            ),
            (
                "Sure.\nREVIEW n-77\nNO FINDINGS\nEND n-77\nDone.".to_owned(),
                true,
            ),
            (
                "REVIEW n-77\n[LOW] a.rs:1 - naming\nHIGH: a.rs:3 - divides by zero\nEND n-77"
                    .to_owned(),
                false,
            ),
        ] {
            let found = read_signed_findings(&text, None, "n-77", &Author::default());
            assert_eq!(found.answered, is_answer, "{text}: {:?}", found.problems);
        }
    }

    #[test]
    fn several_findings_on_one_line_are_several() {
        for (line, expected) in [
            (
                "[LOW] a.rs:1 - naming; [HIGH] a.rs:3 - division by zero",
                r#"answered ["naming", "division by zero"]"#,
            ),
            (
                "- [LOW] a.rs:1 - naming **[HIGH]** a.rs:3 - division",
                r#"answered ["naming", "division"]"#,
            ),
            (
                "[LOW] naming. [HIGH] division [MUST] a.rs:4 check it",
                r#"answered ["naming.", "division", "check it"]"#,
            ),
            (
                "[LOW] naming\nand more; [HIGH] a.rs:3 - division",
                r#"answered ["naming", "division"]"#,
            ),
            (
                "[LOW] the reader drops `[HIGH]` at the end",
                r#"answered ["the reader drops `[HIGH]` at the end"]"#,
            ),
            (
                "[LOW] naming [HIGH] division",
                "answered [\"naming [HIGH] division\"], [\"line 1: [HIGH] stands in the text of \
                 another finding; write each finding on a line of its own\"]",
            ),
        ] {
            let text = format!("REVIEW n-77\n{line}\nEND n-77");
            assert_eq!(read(&text), expected, "{line}");
        }
    }

    #[test]
    fn an_answer_cut_at_any_byte_is_never_read_as_one_without_findings() {
        let whole = r#"Here: {"nonce": "n-77", "findings": [{"title": "bug", "label": "LOW"}], "end": "n-77"}"#;
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            assert!(read(&whole[..end]).starts_with("no answer"), "{end}");
        }
    }
}
