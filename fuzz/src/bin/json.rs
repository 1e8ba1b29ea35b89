//! The JSON in an answer: what is found once is found again when it stands alone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tribunal_core::reply::extract_json;

fuzz_target!(|text: &str| {
    if let Ok(value) = extract_json(text) {
        let alone = extract_json(&value.to_string());
        assert!(alone.is_ok(), "{value}: {alone:?}");
    }
});
