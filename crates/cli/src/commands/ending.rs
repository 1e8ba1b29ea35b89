//! How a command ends whose case did not: the sentence, the hints and the exit code.

use tribunal_core::agent::ErrorClass;
use tribunal_core::case::Pause;
use tribunal_core::ids::CaseId;
use tribunal_core::time::Timestamp;

use crate::error::CliError;
use crate::exit::Exit;
use crate::report;

/// Returns the error for a case that waits.
pub(super) fn parked(case: &CaseId, why: &Pause, until: Option<Timestamp>) -> CliError {
    if *why == Pause::Interrupted {
        return CliError::new(Exit::Interrupted, "stopped as you asked").hint(resume(case));
    }
    let until = until.map(|until| format!(" until {} UTC", report::stamp(until)));
    let text = format!(
        "parked{}, {}",
        until.unwrap_or_default(),
        report::pause(why)
    );
    let told = CliError::new(Exit::Quota, text);
    let told = what_helps(case, why).into_iter().fold(told, CliError::hint);
    match why {
        // Without more money it would end at once, in the same way.
        Pause::Budget { cap, .. } if cap == "run" => told,
        _ => told.hint(resume(case)),
    }
}

/// Returns the error for a case that was left open, which nothing should do.
pub(super) fn left_open(case: &CaseId) -> CliError {
    CliError::new(Exit::Internal, "the case was left open").hint(resume(case))
}

fn resume(case: &CaseId) -> String {
    format!("Go on with `tribunal resume {case}`")
}

/// Returns what a person can do about a pause that does not end by itself.
fn what_helps(case: &CaseId, why: &Pause) -> Vec<String> {
    let free = |provider: &str| {
        format!("Then let it be called again with `tribunal agents --free {provider}`")
    };
    match why {
        Pause::Provider {
            provider,
            class: ErrorClass::Auth,
        } => vec![
            format!("Log in with {provider} itself, or set its key"),
            free(provider),
        ],
        Pause::Provider {
            provider,
            class: ErrorClass::Credit,
        } => vec![
            format!("Add credit to the account behind {provider}, or ask another agent"),
            free(provider),
        ],
        Pause::Budget { cap, .. } if cap == "run" => vec![format!(
            "Allow it more with `tribunal resume {case} --max-cost USD`; what it has cost counts"
        )],
        Pause::Budget { cap, .. } if cap == "run's time" => {
            vec!["Its time begins anew when it goes on".to_owned()]
        }
        Pause::Budget { cap, .. } if cap.starts_with("case") => {
            vec!["Allow more with `--set budget.per_case=USD` or in the config".to_owned()]
        }
        Pause::Budget { cap, .. } if cap.starts_with("agent") => {
            vec!["Allow more with `budget.max_cost` of that agent in the config".to_owned()]
        }
        Pause::Budget { .. } => {
            vec!["Allow more with `--set budget.per_day=USD` or in the config".to_owned()]
        }
        Pause::Provider { .. } | Pause::Human { .. } | Pause::Interrupted | Pause::Turn => {
            Vec::new()
        }
    }
}
