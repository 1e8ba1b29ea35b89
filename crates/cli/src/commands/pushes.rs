//! What was pushed and what could not be, as every command tells it.

use tribunal_core::text::for_terminal;
use tribunal_engine::{Engine, Push};

use crate::exit::Exit;
use crate::invocation::Invocation;

/// Says in one line which branches were not pushed because nothing says where to.
pub(super) fn tell_unpushed(invocation: &Invocation, engine: &Engine) {
    let branches = engine.take_branches_without_upstream();
    if branches.is_empty() {
        return;
    }
    let names: Vec<String> = branches
        .iter()
        .map(|name| for_terminal(name).into_owned())
        .collect();
    invocation.say(&format!(
        "Not pushed, because the current branch has no upstream: {}. `git.push: always` pushes all \
         the same.",
        names.join(", ")
    ));
}

/// Tells what became of pushes, and returns the exit code of a command that went well otherwise.
pub(super) fn tell(invocation: &Invocation, pushes: &[Push]) -> Exit {
    for push in pushes {
        match &push.problem {
            None => invocation.say(&format!(
                "Pushed {} to {}.",
                for_terminal(&push.branch),
                for_terminal(&push.remote)
            )),
            Some(problem) => invocation.say(&format!(
                "Warning: {}. The next `tribunal run` or dispute command tries again.",
                for_terminal(problem)
            )),
        }
    }
    match pushes.iter().any(|push| push.problem.is_some()) {
        true => Exit::Inconclusive,
        false => Exit::Pass,
    }
}
