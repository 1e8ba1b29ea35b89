//! The hidden commands behind every agent process; see `tribunal_agents::command`.

use std::process::ExitCode;

/// Becomes a supervisor, or the agent itself, when the program was started as one.
///
/// Comes before everything else in `main`: a supervisor must have no threads yet.
pub(crate) fn if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let code = match arguments.next()?.to_str()? {
        "supervise" => tribunal_agents::command::supervise_main(),
        "supervise-exec" => tribunal_agents::command::exec_main(arguments),
        "supervise-net" => tribunal_agents::command::carrier_main(arguments),
        _ => return None,
    };
    Some(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}
