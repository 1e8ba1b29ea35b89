//! Rounds 2 and 3: any text becomes messages or problems.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tribunal_core::reply::{Author, read_messages};

fuzz_target!(|text: &str| {
    let sender = Author {
        reviewer: "ann".to_owned(),
        family: String::new(),
    };
    let read = read_messages(text, &sender);
    for message in read.messages {
        // What was understood can be told.
        let _ = format!("{message:?}");
    }
});
