//! A scripted stand-in for agent command lines; see `tribunal_fakes::agent` for its behaviours.

use std::process::ExitCode;

fn main() -> ExitCode {
    tribunal_fakes::agent::run()
}
