//! Does what a finding cites exist: the file, the lines, the quoted code, the named things.
//!
//! Grounding never drops a finding. It says how well the citation holds and why, and where the
//! quoted code really is; what follows from that is decided elsewhere.

mod identity;
mod quote;

use std::fmt;

use tribunal_core::finding::Grounding;

use crate::diff::Diff;
pub use identity::{Identity, Sheet, earlier_place_name, fingerprint, identify, place_name};
use quote::Compact;
pub use quote::named_in;

/// How many lines away from the cited ones quoted code still counts as near.
pub(crate) const NEAR_QUOTE: u32 = 10;
/// How many lines away from the cited ones a named thing still counts as near.
pub(crate) const NEAR_NAME: u32 = 40;
/// How many lines away from a change a finding still counts as being about it.
pub(crate) const NEAR_CHANGE: u32 = 10;
/// How many names are looked for; a finding that drops more proves nothing by it.
const MAX_NAMES: usize = 32;
/// The longest quote that is looked for, in bytes.
const MAX_QUOTE: usize = 20_000;

/// What a finding says about where it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claim<'a> {
    /// The path as cited.
    pub file: &'a str,
    /// The first line as cited, whatever number that is.
    pub line: Option<i64>,
    /// The last line as cited.
    pub end_line: Option<i64>,
    /// The code as quoted; empty when none is.
    pub quote: &'a str,
    /// Functions, variables and types that the finding names.
    pub names: &'a [&'a str],
}

/// Why a citation is not fully confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No file is cited.
    NoFile,
    /// The file does not exist.
    FileMissing,
    /// The line does not exist.
    LineMissing {
        /// The line as cited.
        line: i64,
        /// How many lines the file has.
        lines: u32,
    },
    /// The range ends before it starts.
    RangeReversed,
    /// The quoted code is nowhere in the file.
    QuoteMissing,
    /// The quoted code is not there as it is quoted, but most of its words are.
    QuoteInexact,
    /// The quoted code is in the file, but not near the line.
    QuoteElsewhere {
        /// Where it begins.
        line: u32,
    },
    /// A name is nowhere in the file.
    NameMissing {
        /// The name.
        name: String,
    },
    /// None of the names is near the line.
    NamesFar,
    /// The file is not part of the change.
    FileNotChanged,
    /// The line is far from everything that changed.
    FarFromChange {
        /// How many lines away the nearest change is; nothing if no line of the file changed.
        distance: Option<u32>,
    },
}

/// How well a citation holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grounded {
    /// The result.
    pub grounding: Grounding,
    /// Why it is not `Confirmed`; empty when it is.
    pub reasons: Vec<Reason>,
    /// First and last line that hold: as cited, or where the quoted code was found.
    pub lines: Option<(u32, u32)>,
}

/// Checks a citation against the text of the cited file, if there is one, and the change.
#[must_use]
pub fn ground(claim: &Claim<'_>, text: Option<&str>, diff: Option<&Diff>) -> Grounded {
    if claim.file.trim().is_empty() {
        return doubtful(vec![Reason::NoFile]);
    }
    let Some(text) = text else {
        return Grounded {
            grounding: Grounding::Refuted,
            reasons: vec![Reason::FileMissing],
            lines: None,
        };
    };
    let compact = Compact::new(text);
    let mut reasons = Vec::new();
    let cited = cited_lines(claim, compact.line_count(), &mut reasons);
    let lines = place_quote(claim, cited, &compact, &mut reasons);
    soften_quote(claim, text, lines, &mut reasons);
    check_names(claim, lines, text, &mut reasons);
    if let Some(diff) = diff {
        check_change(claim, lines, diff, &mut reasons);
    }
    Grounded {
        grounding: verdict(&reasons, lines),
        reasons,
        lines,
    }
}

fn doubtful(reasons: Vec<Reason>) -> Grounded {
    Grounded {
        grounding: Grounding::Doubtful,
        reasons,
        lines: None,
    }
}

/// Returns the cited lines as far as they exist.
fn cited_lines(claim: &Claim<'_>, count: u32, reasons: &mut Vec<Reason>) -> Option<(u32, u32)> {
    let existing = |line: i64| u32::try_from(line).ok().filter(|n| (1..=count).contains(n));
    let given = claim.line?;
    let Some(first) = existing(given) else {
        reasons.push(Reason::LineMissing {
            line: given,
            lines: count,
        });
        return None;
    };
    let Some(end) = claim.end_line else {
        return Some((first, first));
    };
    if end < given {
        reasons.push(Reason::RangeReversed);
        return Some((first, first));
    }
    match existing(end) {
        Some(last) => Some((first, last)),
        None => {
            reasons.push(Reason::LineMissing {
                line: end,
                lines: count,
            });
            Some((first, count))
        }
    }
}

/// Looks for the quoted code and returns the lines that hold.
fn place_quote(
    claim: &Claim<'_>,
    cited: Option<(u32, u32)>,
    compact: &Compact,
    reasons: &mut Vec<Reason>,
) -> Option<(u32, u32)> {
    if claim.quote.trim().is_empty() || claim.quote.len() > MAX_QUOTE {
        return cited;
    }
    let found = match cited {
        Some((first, last)) => {
            let near = (
                first.saturating_sub(NEAR_QUOTE),
                last.saturating_add(NEAR_QUOTE),
            );
            match compact.find(claim.quote, near) {
                Some(_) => return cited,
                None => compact.find(claim.quote, (1, u32::MAX)),
            }
        }
        None => compact.find(claim.quote, (1, u32::MAX)),
    };
    match found {
        Some((line, last)) => {
            // Without a line the quote is the citation, and it holds.
            if claim.line.is_some() {
                reasons.push(Reason::QuoteElsewhere { line });
            }
            Some((line, last))
        }
        None => {
            reasons.push(Reason::QuoteMissing);
            cited
        }
    }
}

/// Takes a quote for inexact rather than invented if most of its words stand near the cited lines.
fn soften_quote(claim: &Claim<'_>, text: &str, lines: Option<(u32, u32)>, reasons: &mut [Reason]) {
    let missing = reasons.iter_mut().find(|one| **one == Reason::QuoteMissing);
    let (Some(reason), Some((first, last))) = (missing, lines) else {
        return;
    };
    let near = (
        first.saturating_sub(NEAR_QUOTE),
        last.saturating_add(NEAR_QUOTE),
    );
    if quote::resembles(text, claim.quote, near) {
        *reason = Reason::QuoteInexact;
    }
}

fn check_names(
    claim: &Claim<'_>,
    lines: Option<(u32, u32)>,
    text: &str,
    reasons: &mut Vec<Reason>,
) {
    let mut is_any_near = false;
    let mut is_any_far = false;
    for name in claim
        .names
        .iter()
        .take(MAX_NAMES)
        .filter(|name| !name.is_empty())
    {
        let Some((first, last)) = lines else {
            if !quote::occurs(text, name, None) {
                reasons.push(Reason::NameMissing {
                    name: shortened(name),
                });
            }
            continue;
        };
        let near = (
            first.saturating_sub(NEAR_NAME),
            last.saturating_add(NEAR_NAME),
        );
        if quote::occurs(text, name, Some(near)) {
            is_any_near = true;
        } else if quote::occurs(text, name, None) {
            is_any_far = true;
        } else {
            reasons.push(Reason::NameMissing {
                name: shortened(name),
            });
        }
    }
    if is_any_far && !is_any_near {
        reasons.push(Reason::NamesFar);
    }
}

fn shortened(name: &str) -> String {
    tribunal_core::text::truncate_chars(name, 80).into_owned()
}

fn check_change(
    claim: &Claim<'_>,
    lines: Option<(u32, u32)>,
    diff: &Diff,
    reasons: &mut Vec<Reason>,
) {
    let Some(file) = diff.file(claim.file) else {
        reasons.push(Reason::FileNotChanged);
        return;
    };
    let Some((first, last)) = lines else {
        return;
    };
    if file.added().touches(first, last) {
        return;
    }
    let distance = file
        .distance(first)
        .into_iter()
        .chain(file.distance(last))
        .min();
    if distance.is_none_or(|distance| distance > NEAR_CHANGE) {
        reasons.push(Reason::FarFromChange { distance });
    }
}

fn verdict(reasons: &[Reason], lines: Option<(u32, u32)>) -> Grounding {
    let is_refuted = reasons.iter().any(|reason| match reason {
        Reason::FileMissing | Reason::QuoteMissing => true,
        Reason::LineMissing { .. } => lines.is_none(),
        Reason::NoFile
        | Reason::RangeReversed
        | Reason::QuoteInexact
        | Reason::QuoteElsewhere { .. }
        | Reason::NameMissing { .. }
        | Reason::NamesFar
        | Reason::FileNotChanged
        | Reason::FarFromChange { .. } => false,
    });
    if is_refuted {
        Grounding::Refuted
    } else if reasons.is_empty() {
        Grounding::Confirmed
    } else {
        Grounding::Doubtful
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("no file is cited"),
            Self::FileMissing => f.write_str("the cited file does not exist"),
            Self::LineMissing { line, lines } => {
                write!(f, "line {line} does not exist, the file has {lines}")
            }
            Self::RangeReversed => f.write_str("the cited range ends before it starts"),
            Self::QuoteMissing => f.write_str("the quoted code is not in the file"),
            Self::QuoteInexact => f.write_str("the code is not there as it is quoted"),
            Self::QuoteElsewhere { line } => {
                write!(
                    f,
                    "the quoted code is at line {line}, not near the cited one"
                )
            }
            Self::NameMissing { name } => write!(f, "`{name}` does not occur in the file"),
            Self::NamesFar => f.write_str("what is named occurs only far from the cited line"),
            Self::FileNotChanged => f.write_str("the file is not part of the change"),
            Self::FarFromChange {
                distance: Some(lines),
            } => {
                write!(f, "the nearest change is {lines} lines away")
            }
            Self::FarFromChange { distance: None } => f.write_str("no line of the file changed"),
        }
    }
}

#[cfg(test)]
mod tests;
