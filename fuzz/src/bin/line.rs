//! One line of a batch: under every policy each finding ends in exactly one list.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tribunal_core::consensus::{Policy, settle_line};

fuzz_target!(|text: &str| {
    let members = |policy: &Policy| {
        let (line, _) = settle_line(text, policy, None).ok()?;
        let ids = line.findings.into_iter().flat_map(|one| one.ids);
        let mut ids: Vec<String> = ids.map(|id| id.to_string()).collect();
        ids.sort_unstable();
        Some(ids)
    };
    assert_eq!(members(&Policy::arena()), members(&Policy::tribunal()));
});
