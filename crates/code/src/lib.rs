//! Reads source code: bytes in, facts out. No processes, no network, no database.

pub mod advisory;
pub mod code_change;
mod computing_time;
pub mod diff;
pub mod ground;
pub mod language;
pub mod lines;
pub mod linter_marker;
pub mod linter_settings;
pub mod nature;
mod outline;
pub mod place;
pub mod rule;
pub mod text;
