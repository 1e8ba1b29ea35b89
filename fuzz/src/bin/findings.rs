//! Round 1: any text becomes findings that say something, or problems.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tribunal_core::reply::{Author, read_findings};

fuzz_target!(|text: &str| {
    let read = read_findings(text, &Author::default());
    for finding in &read.findings {
        assert!(!finding.title.is_empty() || !finding.description.is_empty());
        assert!(finding.location.line != Some(0));
    }
    let silent = read.findings.is_empty() && read.problems.is_empty();
    assert!(read.answered || !silent, "nothing is dropped in silence");
});
