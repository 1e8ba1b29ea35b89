//! Places for agents that write, and what becomes of their work.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "worktree/collecting.rs"]
mod collecting;
#[path = "worktree/desk.rs"]
mod desk;
#[path = "worktree/offering.rs"]
mod offering;
#[expect(dead_code, reason = "other tests use the rest of it")]
#[path = "change/world.rs"]
mod world;
