//! What is under review, read from real repositories, friendly and hostile.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "change/sources.rs"]
mod sources;
#[path = "change/world.rs"]
mod world;
