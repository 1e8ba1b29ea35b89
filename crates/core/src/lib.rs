//! The domain of Tribunal, pure: same input, same output.
//!
//! Time, identities and randomness arrive as arguments, collections are ordered and numbers are
//! integers. Whatever waits, spawns, stores or prints lives in the crates around this one.

pub mod agent;
pub mod arbiter;
pub mod case;
pub mod consensus;
pub mod debate;
pub mod dispute;
pub mod event;
pub mod finding;
pub mod ids;
pub mod money;
pub mod outage;
pub mod prompt;
pub mod reply;
pub mod retention;
pub mod review;
pub mod rulings;
pub mod sandbox;
pub mod scale;
pub mod secret;
pub mod stats;
pub mod task;
pub mod text;
pub mod time;
pub mod trial;
pub mod verdict;
mod word;
