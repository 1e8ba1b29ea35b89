//! Findings in any JSON value: all dialects, SARIF, and what is none of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tribunal_core::reply::{Author, findings_in_value};

fuzz_target!(|text: &str| {
    if let Ok(value) = serde_json::from_str(text) {
        let read = findings_in_value(&value, &Author::default());
        let silent = read.findings.is_empty() && read.problems.is_empty();
        assert!(read.answered || !silent);
    }
});
