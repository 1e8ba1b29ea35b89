//! `dispute.md`: the disputes of a project as a page for people, a pure rendering of the ledger.
//!
//! What parties wrote is text and stays text: no line of theirs can become a heading, a rule, a
//! fence, a comment, a link or a line of ours.

use std::fmt::Write as _;

use super::{Dispute, DisputeState, Gravity, Party, Status, Subject};
use crate::text::for_terminal;
use crate::time::Timestamp;

/// The line by which we know a file as ours. Another file of that name is left alone.
pub const MARKER: &str =
    "<!-- Written by tribunal from its ledger. Changes made here are overwritten. -->";

/// Where the page lies below the root of the project.
pub const FILE_NAME: &str = "dispute.md";

/// What the page shows.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Those that wait for a ruling.
    pub open: &'a [Dispute],
    /// Those that were ruled last.
    pub resolved: &'a [Dispute],
    /// How many more were ruled before those.
    pub earlier: u64,
}

impl Page<'_> {
    /// Returns the page: open disputes by age, then resolved ones, the latest ruling first.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = format!("# Active Disputes\n\n{MARKER}\n");
        let mut open: Vec<&Dispute> = self.open.iter().filter(|one| is_shown(one)).collect();
        open.sort_by_key(|one| (one.opened_at, &one.id));
        let mut resolved: Vec<&Dispute> =
            self.resolved.iter().filter(|one| is_shown(one)).collect();
        resolved.sort_by_key(|one| (std::cmp::Reverse(ruled_at(one)), &one.id));
        if open.is_empty() {
            text.push_str("\nNone are open.\n");
        }
        for (index, dispute) in open.iter().chain(&resolved).enumerate() {
            if index > 0 || open.is_empty() {
                text.push_str("\n---\n");
            }
            text.push('\n');
            render_one(&mut text, dispute);
        }
        if self.earlier > 0 {
            let earlier = match self.earlier {
                1 => "1 more was".to_owned(),
                count => format!("{count} more were"),
            };
            let _ = write!(
                text,
                "\n---\n\n{earlier} resolved earlier: `tribunal dispute list --status resolved`\n"
            );
        }
        text
    }
}

/// Tells whether `contents` is a page of ours.
#[must_use]
pub fn is_ours(contents: &str) -> bool {
    contents
        .lines()
        .take(5)
        .any(|line| line.trim_end() == MARKER)
}

fn is_shown(dispute: &Dispute) -> bool {
    dispute.opening.gravity == Gravity::Major
}

fn ruled_at(dispute: &Dispute) -> Option<Timestamp> {
    dispute.ruling().map(|ruling| ruling.at)
}

fn render_one(text: &mut String, dispute: &Dispute) {
    let status = match dispute.status() {
        Status::Open => "OPEN",
        Status::Resolved => "RESOLVED",
        Status::Noted => "NOTED",
    };
    let _ = writeln!(text, "## Dispute: {} ({status})\n", dispute.id);
    let title = one_line(dispute.opening.subject.title());
    let id = one_line(&dispute.opening.subject.id());
    let _ = match &dispute.opening.subject {
        Subject::Task { .. } => writeln!(text, "**Task:** {title} ({id})"),
        Subject::Finding { review, finding } => {
            let place = one_line(&finding.location.to_string());
            let weight = finding.weight();
            writeln!(
                text,
                "**Finding:** {title} ({weight}, {id}, {place}, review {review})"
            )
        }
    };
    if let Some(referral) = &dispute.referral {
        let (title, id) = (one_line(&referral.title), one_line(&referral.task));
        let _ = writeln!(text, "**Task:** {title} ({id})");
    }
    match dispute.ruling() {
        Some(ruling) => {
            let side = ruling.decision.side().to_uppercase();
            let _ = writeln!(text, "**Resolution:** {side} ({})", ruling.at.date());
            let by = one_line(&ruling.by());
            let _ = writeln!(text, "**By:** {by}: {}", ruling.decision.phrase());
            let _ = writeln!(text, "**Notes:** {}", one_line(&ruling.reason));
            if let Some(limits) = ruling.limits() {
                let _ = writeln!(text, "**Terms:** {limits}");
            }
            if dispute.precedent_dropped {
                let _ = writeln!(text, "**Taken back:** the ruling covers nothing any more");
            }
        }
        None => render_open(text, dispute),
    }
}

fn render_open(text: &mut String, dispute: &Dispute) {
    let opening = &dispute.opening;
    let _ = writeln!(text, "**Reason:** {}", opening.grounds.phrase());
    let opened = dispute.opened_at;
    let _ = writeln!(
        text,
        "**Created:** {} {} UTC",
        opened.date(),
        opened.time_of_day()
    );
    if !opening.files.is_empty() {
        let files: Vec<String> = opening.files.iter().map(|file| one_line(file)).collect();
        let _ = writeln!(text, "**Files:** {}", files.join(", "));
    }
    for (party, heading) in [(Party::Coder, "Coder"), (Party::Reviewer, "Reviewer")] {
        match dispute.position(party) {
            Some(position) => {
                let author = one_line(&position.shown_author());
                let _ = writeln!(text, "\n### {heading} Position ({author})");
                let _ = writeln!(text, "{}", paragraph(&position.text));
            }
            None => {
                let _ = writeln!(text, "\n### {heading} Position\nNot stated yet.");
            }
        }
    }
    let _ = writeln!(text, "\n### Status\n{}", status_line(dispute));
}

fn status_line(dispute: &Dispute) -> String {
    let human = "AWAITING HUMAN DECISION";
    match &dispute.state {
        DisputeState::AwaitingPosition { from } => {
            format!("{human}\nThe position of the {from} is missing.")
        }
        DisputeState::BeforeJudge => "BEFORE A JUDGE".to_owned(),
        DisputeState::AwaitingHuman { question } => {
            format!("{human}\nWhy: {}", one_line(question))
        }
        DisputeState::Open | DisputeState::Ruled | DisputeState::Noted => human.to_owned(),
    }
}

/// Returns `text` on one line, with nothing in it that Markdown takes for more than text.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    escape_inline(&for_terminal(&words.join(" ")))
}

/// Returns `text` in its lines, with nothing in it that Markdown takes for structure other than a
/// plain list.
fn paragraph(text: &str) -> String {
    let text = for_terminal(text.trim());
    let lines = text.lines().map(|line| escape_line(line.trim_end()));
    lines.collect::<Vec<_>>().join("\n")
}

fn escape_line(line: &str) -> String {
    let rest = line.trim_start();
    let indent = if rest.len() == line.len() { "" } else { "  " };
    let Some(first) = rest.chars().next() else {
        return String::new();
    };
    if let Some(item) = rest.strip_prefix("- ") {
        let item = item.trim_start();
        // `- - -` is a rule, and a list inside a list on one line helps nobody.
        let (mark, item) = match item.chars().next() {
            Some('-' | '+' | '*') => ("\\- ", item),
            _ => ("- ", item),
        };
        return format!("{indent}{mark}{}", escape_start(item));
    }
    match first {
        '-' | '+' => format!("{indent}\\{}", escape_inline(rest)),
        _ => format!("{indent}{}", escape_start(rest)),
    }
}

/// Escapes what has a meaning at the beginning of a line only, and the rest.
fn escape_start(text: &str) -> String {
    let escaped = escape_inline(text);
    match text.chars().next() {
        Some('#' | '=' | '|' | ':' | '~' | '-' | '+') => format!("\\{escaped}"),
        Some('`') if text.starts_with("```") => format!("\\{escaped}"),
        _ => escaped,
    }
}

/// Escapes what has a meaning anywhere in a line. Backticks stay, for names of code.
fn escape_inline(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let chars: Vec<char> = text.chars().collect();
    for (index, &c) in chars.iter().enumerate() {
        let beside = |at: Option<usize>| at.and_then(|at| chars.get(at)).copied();
        let inside_word = || {
            let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            word(beside(index.checked_sub(1))) && word(beside(Some(index + 1)))
        };
        match c {
            '\\' | '<' | '>' | '[' | ']' | '*' => escaped.push('\\'),
            '_' if !inside_word() => escaped.push('\\'),
            _ => {}
        }
        escaped.push(c);
    }
    escaped
}
