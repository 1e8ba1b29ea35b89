//! Brings core, agents and store together; the library that others embed.
//!
//! The engine acts and the core decides. It reports through events and returned values, and never
//! prints.

pub mod advisories;
pub mod arbiter;
pub mod ask;
mod assemble;
mod budget;
pub mod call;
pub mod care;
pub mod case;
pub mod change;
pub mod config;
mod delivery;
pub mod dispute;
pub mod doctor;
mod engine;
pub mod export;
pub mod files;
mod git_dir;
pub mod human;
pub mod ledger;
mod loose_holds;
pub mod place;
pub mod replay;
pub mod review;
pub mod rules;
pub mod run;
pub mod stats;
pub mod stopping;
mod tally;
pub mod task;
pub mod team_rulings;
pub mod trial;
mod unsynced;
pub mod user_file;
mod watch;
pub mod worktree;

pub use assemble::{Surroundings, open_store};
pub use delivery::Push;
pub use engine::{Engine, Resumed};
pub use tribunal_agents::LoginState;

/// Returns random bits, for identities and for spreading retries.
pub(crate) fn random_bits() -> u64 {
    let bytes = uuid::Uuid::new_v4().into_bytes();
    bytes
        .iter()
        .fold(0, |bits: u64, byte| bits.rotate_left(8) ^ u64::from(*byte))
}

/// Returns the id of the case of this name, the same for whoever comes after a crash.
pub(crate) fn case_named(name: &str) -> tribunal_core::ids::CaseId {
    let hash = blake3::hash(name.as_bytes());
    let bits = hash.as_bytes().iter().take(8);
    let bits = bits.fold(0, |bits, byte| (bits << 8) | u64::from(*byte));
    tribunal_core::ids::CaseId::from_bits(bits)
}
