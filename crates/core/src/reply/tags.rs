//! Tagged lines: `[MUST] text`, `[HIGH] path:line - text`, as bullets, in bold, with continuations.

use super::Problem;
use super::find::{Author, Findings};
use crate::finding::{Finding, Label, Location};
use crate::scale::Severity;

/// A message that says that there is nothing to report.
const APPROVALS: [&str; 3] = ["APPROVED", "NO FINDINGS", "LGTM"];

/// A message that says that there is something.
const REFUSALS: [&str; 2] = ["NEEDS_CHANGES", "NEEDS CHANGES"];

/// Fewer letters after a label are no claim.
const SHORTEST_CLAIM: usize = 6;

/// Reads the tagged lines of a message. Tags in code fences and quotations are not the
/// reviewer's own words and do not count.
pub(super) fn read(text: &str, author: &Author) -> Findings {
    let mut found = Findings::default();
    let mut current: Option<(Label, String)> = None;
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
            close(&mut current, author, &mut found);
            continue;
        }
        if fenced || bare.starts_with('>') || line.starts_with("    ") && current.is_none() {
            continue;
        }
        let (bare, later) = first_of_several(bare);
        match tag(bare) {
            Tag::Known(label, rest) => {
                close(&mut current, author, &mut found);
                current = Some((label, rest.to_owned()));
            }
            Tag::Unknown(word) => {
                close(&mut current, author, &mut found);
                found.problems.push(Problem {
                    at: format!("line {}", index + 1),
                    what: format!("[{word}] is no label"),
                });
            }
            Tag::None if ends_finding(bare) => {
                close(&mut current, author, &mut found);
                found.answered |= is_one_of(bare, &APPROVALS) || is_one_of(bare, &REFUSALS);
                if is_one_of(bare, &REFUSALS) && found.findings.is_empty() {
                    found.problems.push(Problem {
                        at: format!("line {}", index + 1),
                        what: "changes are asked for, but none is named".to_owned(),
                    });
                }
            }
            Tag::None => {
                if let Some((_, text)) = &mut current {
                    text.push('\n');
                    text.push_str(bare);
                }
            }
        }
        for (label, rest) in later {
            close(&mut current, author, &mut found);
            current = Some((label, rest.to_owned()));
        }
        for label in labels_inside(current.as_ref().map_or("", |(_, text)| text)) {
            found.problems.push(Problem {
                at: format!("line {}", index + 1),
                what: format!(
                    "[{label}] stands in the text of another finding; write each finding on a \
                     line of its own"
                ),
            });
        }
    }
    close(&mut current, author, &mut found);
    found.answered |= !found.findings.is_empty();
    if !found.answered && found.problems.is_empty() {
        found.problems.push(Problem {
            at: String::new(),
            what: "there are no findings, and nothing says that there are none".to_owned(),
        });
    }
    found
}

/// Cuts a line into its first finding and those that follow on the same line: a label in brackets
/// after the end of a clause, or before a place.
fn first_of_several(line: &str) -> (&str, Vec<(Label, &str)>) {
    let starts: Vec<(usize, Label, usize)> = inner_labels(line)
        .filter(|(start, _, end)| {
            let before = line[..*start].trim_end_matches(['*', '_', ' ']);
            let (place, _) = place(line[*end..].trim_start_matches(['*', '_', ':', ' ']));
            let is_placed = place.line.is_some();
            !before.is_empty() && (is_placed || before.ends_with([';', '.', ',', '|', '/']))
        })
        .collect();
    let Some((first, _, _)) = starts.first() else {
        return (line, Vec::new());
    };
    let ends = starts.iter().skip(1).map(|(start, _, _)| *start);
    let ends = ends.chain([line.len()]);
    let later = starts.iter().zip(ends).map(|((_, label, from), to)| {
        let rest = line[*from..to].trim_matches(['*', '_', ' ', ';', ',', '|']);
        (*label, rest.trim_start_matches([':', ' ']))
    });
    let bare = line[..*first].trim_end_matches(['*', '_', ' ', ';', ',', '|']);
    (bare, later.collect())
}

/// Returns the labels that stand in brackets inside a text of a finding, each once.
fn labels_inside(text: &str) -> Vec<Label> {
    let last = text.rsplit('\n').next().unwrap_or_default();
    let leading = match tag(last) {
        Tag::Known(label, _) => Some(label),
        Tag::Unknown(_) | Tag::None => None,
    };
    let inner = inner_labels(last).map(|(_, label, _)| label);
    let mut labels: Vec<Label> = leading.into_iter().chain(inner).collect();
    labels.dedup();
    labels
}

/// Returns the labels in brackets of a line that are not its beginning, with where each begins and
/// ends. What stands in backticks is quoted.
fn inner_labels(line: &str) -> impl Iterator<Item = (usize, Label, usize)> {
    let opened = line.match_indices('[').map(|(start, _)| start);
    opened.filter_map(move |start| {
        let (word, rest) = line[start + 1..].split_once(']')?;
        let is_quoted = line[..start].matches('`').count() % 2 == 1;
        let is_shouted = word.chars().all(|c| c.is_ascii_uppercase());
        let label = word.parse::<Label>().ok()?;
        let is_link = rest.starts_with(['(', '[']);
        let is_first = without_bullet(&line[..start])
            .trim_matches(['*', '_', ' '])
            .is_empty();
        let is_inner = !is_quoted && is_shouted && !is_link && !is_first;
        is_inner.then_some((start, label, line.len() - rest.len()))
    })
}

/// Returns the gravest label that begins a line without brackets, such as `**HIGH** a.rs:3 - …` or
/// `MUST: …`, or that shares a line with a place.
pub(super) fn gravest_bare_label(text: &str) -> Option<Severity> {
    let labels = text.lines().filter_map(bare_label);
    labels.map(Label::severity).max()
}

fn bare_label(line: &str) -> Option<Label> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let has_place = line.split_whitespace().any(|word| location(word).is_some());
    if has_place {
        let mut labels = line.split(|c: char| !is_word(c)).filter_map(shouted_label);
        if let Some(label) = labels.next() {
            return Some(label);
        }
    }
    marked_label(line)
}

/// Returns the label that a title begins with, in brackets or before a colon or a dash.
pub(super) fn label_of_title(title: &str) -> Option<Label> {
    match tag(title) {
        Tag::Known(label, _) => Some(label),
        Tag::Unknown(_) => None,
        Tag::None => marked_label(title),
    }
}

/// Returns the label that begins a line without brackets, such as `MUST: …`.
fn marked_label(line: &str) -> Option<Label> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let bare = without_bullet(line.trim());
    let start = bare.trim_start_matches(['*', '_', '#', '(', ' ']);
    let length = start.find(|c: char| !is_word(c)).unwrap_or(start.len());
    let label = shouted_label(&start[..length])?;
    let rest = &start[length..];
    let is_marked = rest
        .trim_start()
        .starts_with(['*', '_', ':', '-', '|', ')', '\u{2013}', '\u{2014}']);
    let letters = rest.chars().filter(|c| c.is_alphabetic()).count();
    (is_marked && letters >= SHORTEST_CLAIM).then_some(label)
}

fn shouted_label(word: &str) -> Option<Label> {
    let is_shouted = !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase());
    is_shouted.then(|| word.parse::<Label>().ok())?
}

/// Returns what stands between the marks of an answer and belongs neither to a finding nor to a
/// message that there is none.
pub(super) fn beside_findings(text: &str) -> String {
    let says_none = |line: &&str| is_one_of(line, &APPROVALS);
    let rest: Vec<&str> = text.lines().filter(|line| !says_none(line)).collect();
    rest.join("\n")
}

/// Returns the lines between the marks of an answer that no finding takes in: paragraphs after an
/// empty line, and what stands before the first label.
pub(super) fn outside_findings(text: &str) -> String {
    let mut outside = String::new();
    let (mut fenced, mut is_inside) = (false, false);
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            is_inside = false;
        } else if !fenced && !matches!(tag(line), Tag::None) {
            is_inside = true;
        } else if !fenced && ends_finding(line) {
            is_inside = false;
            outside.push('\n');
        } else if !fenced && !is_inside {
            outside.push_str(line);
            outside.push('\n');
        }
    }
    outside
}

enum Tag<'a> {
    Known(Label, &'a str),
    Unknown(&'a str),
    None,
}

/// Reads the tag that a line starts with, after a bullet or a number, in bold or not.
fn tag(line: &str) -> Tag<'_> {
    let line = without_bullet(line);
    let line = line.trim_start_matches(['*', '_']);
    let Some((word, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return Tag::None;
    };
    let word = word.trim_matches(['*', '_', ' ']);
    let rest = rest.trim_start_matches(['*', '_']);
    if let Ok(label) = word.parse::<Label>() {
        let rest = rest.trim_start_matches([':', ' ']);
        return Tag::Known(label, rest);
    }
    // A link, a check box and a reference are no tags.
    let shouted = word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    if shouted && !rest.starts_with(['(', '[']) {
        Tag::Unknown(word)
    } else {
        Tag::None
    }
}

fn without_bullet(line: &str) -> &str {
    let line = line.trim_start();
    for bullet in ["- ", "* ", "+ ", "• "] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return rest.trim_start();
        }
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    match line.get(digits..) {
        Some(rest) if digits > 0 => rest
            .strip_prefix(". ")
            .or_else(|| rest.strip_prefix(") "))
            .map_or(line, str::trim_start),
        _ => line,
    }
}

/// Tells whether a line without a tag ends the finding before it.
fn ends_finding(line: &str) -> bool {
    line.is_empty()
        || line.starts_with('#')
        || is_one_of(line, &APPROVALS)
        || is_one_of(line, &REFUSALS)
}

fn is_one_of(line: &str, words: &[&str]) -> bool {
    let bare = line.trim_matches(|c: char| !c.is_alphanumeric());
    words.iter().any(|word| bare.eq_ignore_ascii_case(word))
}

fn close(current: &mut Option<(Label, String)>, author: &Author, found: &mut Findings) {
    let Some((label, text)) = current.take() else {
        return;
    };
    let text = text.trim();
    let (location, rest) = place(text);
    let rest = if rest.is_empty() { text } else { rest };
    if rest.is_empty() {
        found.problems.push(Problem {
            at: String::new(),
            what: format!("[{label}] stands without a text"),
        });
        return;
    }
    let description: String = rest.split('\n').collect::<Vec<_>>().join(" ");
    found.findings.push(Finding {
        reviewer: author.reviewer.clone(),
        family: author.family.clone(),
        location,
        label: Some(label),
        severity: Some(label.severity()),
        title: crate::text::headline(rest, 120).into_owned(),
        description,
        ..Finding::default()
    });
}

/// Reads `path:line` at the start of a text, or the first one in it.
fn place(text: &str) -> (Location, &str) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if let Some(location) = location(first) {
        let rest = rest.trim_start();
        let rest = rest.strip_prefix(['-', '–', '—', ':']).unwrap_or(rest);
        return (location, rest.trim_start());
    }
    let mentioned = text.split_whitespace().find_map(location);
    (mentioned.unwrap_or_default(), text)
}

/// Returns the place that a word names, such as `a.rs:3`.
pub(super) fn location(word: &str) -> Option<Location> {
    let word = word.trim_matches(|c: char| "`'\"()*,.;:-–—".contains(c));
    let (file, lines) = word.rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let first: u32 = first.trim_start_matches('L').parse().ok()?;
    let last: u32 = last.trim_start_matches('L').parse().ok()?;
    let is_path = file.contains(['.', '/']) && !file.contains("//");
    (is_path && first > 0).then(|| Location {
        file: file.to_owned(),
        line: Some(first),
        end_line: (last > first).then_some(last),
        function: None,
    })
}
