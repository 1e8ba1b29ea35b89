//! Scripted stand-ins for the outside world: a fake model API and a fake command-line agent.
//!
//! Tests of the other crates start a [`model::FakeModel`] in process or run the `fake-agent`
//! binary, whose path [`binary`] finds. Both let a prompt dictate the reply with a
//! `FAKE-REPLY: …` line or a block between `FAKE-REPLY-BEGIN` and `FAKE-REPLY-END`.

use std::io;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

pub mod agent;
mod directive;
pub mod model;
mod schema;

/// Returns the path of a binary of this crate (`fake-agent`, `fake-model`) beside the running test.
///
/// # Errors
///
/// Fails when the binary has not been built; the message says how to build it.
pub fn binary(name: &str) -> io::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    here.ancestors()
        .skip(1)
        .take(3)
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            let hint = format!("`{name}` is not built; run `cargo build -p tribunal-fakes`");
            io::Error::new(io::ErrorKind::NotFound, hint)
        })
}

/// Returns the 64-bit FNV-1a checksum by which fakes report what they received.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Returns the wall clock in milliseconds since 1970.
fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
