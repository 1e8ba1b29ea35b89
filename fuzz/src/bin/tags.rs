//! Tagged lines, without anything that looks like JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tribunal_core::reply::{Author, read_findings};

fuzz_target!(|text: &str| {
    let text = format!("[MUST] {}", text.replace(['{', '"', '`', '~'], " "));
    let read = read_findings(&text, &Author::default());
    assert!(!read.findings.is_empty() || !read.problems.is_empty());
});
