//! The output of any other tool: findings with a place, problems, or no answer at all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tribunal_core::reply::{Author, read_tool_output};

fuzz_target!(|bytes: &[u8]| {
    let read = read_tool_output(bytes, Some("/work"), &Author::default());
    for finding in &read.findings {
        assert!(!finding.title.is_empty() || !finding.description.is_empty());
        assert!(finding.location.line != Some(0));
    }
    if !read.answered {
        assert!(!read.problems.is_empty(), "nobody learns why it is no answer");
    }
});
