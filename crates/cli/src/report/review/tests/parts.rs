//! Small parts of a report.

use std::ops::RangeInclusive;

use tribunal_core::consensus::{Step, TraceLine};
use tribunal_core::finding::{Grounding, Location};
use tribunal_core::money::Usage;
use tribunal_core::review::coverage::{Coverage, CoveredFile, FileStatus, LeftOut, Omission};
use tribunal_core::review::report::{FrameLine, Voice};
use tribunal_core::scale::{Confidence, Severity};

pub(super) fn place(file: &str, line: u32, end: u32) -> Location {
    Location {
        file: file.to_owned(),
        line: Some(line),
        end_line: (end != line).then_some(end),
        function: None,
    }
}

pub(super) fn voice(
    reviewer: &str,
    family: &str,
    severity: Severity,
    confidence: i32,
    grounding: Grounding,
) -> Voice {
    Voice {
        rule: String::new(),
        reviewer: reviewer.to_owned(),
        family: family.to_owned(),
        id: "1".to_owned(),
        title: String::new(),
        description: String::new(),
        location: Location::default(),
        place: String::new(),
        scope: String::new(),
        signature: String::new(),
        category: None,
        suggestion: String::new(),
        trigger: String::new(),
        quote: String::new(),
        label: None,
        severity: Some(severity),
        confidence: Some(Confidence::clamped(confidence)),
        grounding,
        doubts: Vec::new(),
    }
}

pub(super) fn frame(first: u32, lines: &[&str], marked: RangeInclusive<u32>) -> Vec<FrameLine> {
    let numbered = (first..).zip(lines);
    numbered
        .map(|(number, text)| FrameLine {
            number,
            text: (*text).to_owned(),
            marked: marked.contains(&number),
        })
        .collect()
}

pub(super) fn trace(lines: &[(Step, i32)]) -> Vec<TraceLine> {
    let line = |(step, amount): &(Step, i32)| TraceLine {
        step: step.clone(),
        amount: *amount,
    };
    lines.iter().map(line).collect()
}

pub(super) fn tokens(input: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        ..Usage::default()
    }
}

/// Returns four files that were seen and eleven that were not.
pub(super) fn coverage() -> Coverage {
    let file = |path: &str, status, changed_lines| CoveredFile {
        path: path.to_owned(),
        old_path: None,
        status,
        changed_lines,
    };
    let mut left_out: Vec<LeftOut> = (1..=8)
        .map(|n| LeftOut {
            path: format!("vendor/grid/part{n}.js"),
            why: Omission::Vendored,
            detail: String::new(),
            claimed: false,
        })
        .collect();
    for (path, why, detail) in [
        ("assets/stamp.png", Omission::Binary, "48 kB"),
        ("Cargo.lock", Omission::LockFile, ""),
        (".env.staging", Omission::Credentials, ""),
    ] {
        left_out.push(LeftOut {
            path: path.to_owned(),
            why,
            detail: detail.to_owned(),
            claimed: false,
        });
    }
    Coverage {
        reviewed: vec![
            file("src/api.rs", FileStatus::Modified, 12),
            file("src/invoice/lock.rs", FileStatus::Added, 64),
            file("src/invoice/search.rs", FileStatus::Modified, 33),
            file("src/invoice/total.rs", FileStatus::Modified, 1),
        ],
        left_out,
        withheld: Vec::new(),
    }
}
