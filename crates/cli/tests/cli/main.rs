//! What users type and what they read: a few tests per command.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

#[path = "../common/mod.rs"]
mod common;

mod ask;
mod cases;
mod config;
mod consensus;
mod debate;
mod demo;
mod disks;
mod dismiss;
mod dispute;
mod doctor;
mod ledger_place;
mod mistakes;
mod parked;
mod prompts;
mod questions;
mod review;
mod rules;
mod run;
mod same_names;
mod setup;
mod stopping;
mod task;
mod team_rulings;
mod trial;
mod trust;
mod user_files;
mod verdict;
mod watch;
