//! Why a finding ended as it did, in the words that all explanations share.

use std::fmt::Write as _;

use tribunal_core::consensus::{AdvisoryOutcome, TraceLine};
use tribunal_core::text::for_terminal;

/// Returns what somebody said in round 2 or 3, as a sentence.
pub(crate) fn spoken(who: &str, action: &str, by: i8, why: &str) -> String {
    let verb = match action {
        "agree" => "agrees",
        "partial" => "agrees in part",
        "disagree" => "disagrees",
        "defend" => "defends it",
        "concede" => "concedes",
        "modify" => "changes it",
        other => other,
    };
    let by = if by == 0 {
        String::new()
    } else {
        format!(" ({by:+})")
    };
    let why = if why.is_empty() {
        String::new()
    } else {
        format!(": {why}")
    };
    format!("{who} {verb}{by}{why}").trim_start().to_owned()
}

/// Returns what an advisory database says, as a sentence.
pub(crate) fn advisory(outcome: &AdvisoryOutcome) -> String {
    match outcome {
        AdvisoryOutcome::Confirmed(id) => format!("{id} affects the version in use"),
        AdvisoryOutcome::Patched(id) => format!("the version in use has the patch of {id}"),
        AdvisoryOutcome::Unknown => "none fits, which says nothing about it".to_owned(),
    }
}

/// Writes the calculation, one number to a line, and its sum.
pub(crate) fn write_confidence(text: &mut String, lines: &[TraceLine]) {
    text.push_str("\nConfidence\n");
    for line in lines {
        let words = one_line(line.step.words());
        let _ = writeln!(text, "  {:>4}  {words}", line.amount);
    }
    let sum: i32 = lines.iter().map(|line| line.amount).sum();
    let _ = writeln!(text, "  {sum:>4}  in all");
}

/// Returns names as people list them.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns foreign text as it may stand in one line on a terminal.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    for_terminal(&words.join(" ")).into_owned()
}
