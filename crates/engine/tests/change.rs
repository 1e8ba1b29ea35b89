//! What is under review, read from real repositories, friendly and hostile.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "change/checkout.rs"]
mod checkout;
#[path = "change/hostile.rs"]
mod hostile;
#[path = "change/names.rs"]
mod names;
#[path = "change/omissions.rs"]
mod omissions;
#[path = "change/patches.rs"]
mod patches;
#[path = "change/size.rs"]
mod size;
#[path = "change/sources.rs"]
mod sources;
#[path = "change/states.rs"]
mod states;
#[path = "change/unseen.rs"]
mod unseen;
#[path = "change/untouched.rs"]
mod untouched;
#[path = "change/world.rs"]
mod world;
