//! What the way a run ended means, where its output does not decide.

use tribunal_core::agent::ErrorClass;
use tribunal_core::text::truncate_chars;

use super::exit::Ended;
use super::reader::{Ending, LONGEST_MESSAGE};
use super::{classify, wait};
use crate::AgentError;

/// Returns the error of a run that we ended for a reason that no answer can outweigh.
pub(super) fn forced_end(name: &str, end: &Ending<'_>) -> Option<AgentError> {
    let (class, message) = match &end.exit.ended {
        Ended::SpawnFailed { reason } => (
            ErrorClass::Setup,
            format!("{name} could not be started: {reason}."),
        ),
        Ended::OutputCap => (
            ErrorClass::Limit,
            format!("{name} wrote more output than is allowed and was ended."),
        ),
        Ended::Cancelled => (ErrorClass::Cancelled, format!("{name} was stopped.")),
        Ended::Exited
        | Ended::FirstByte
        | Ended::Idle
        | Ended::Wall
        | Ended::AfterResult
        | Ended::ParentGone => return None,
    };
    Some(AgentError::new(class, message))
}

/// Returns the error of a run that we ended before it had given its result.
pub(super) fn time_out(name: &str, end: &Ending<'_>) -> Option<AgentError> {
    let after = seconds(end.exit.wall_ms);
    let (class, message) = match &end.exit.ended {
        Ended::FirstByte => (
            ErrorClass::Hung,
            format!("{name} gave no sign of life and was ended after {after}."),
        ),
        Ended::Idle => (
            ErrorClass::Hung,
            format!("{name} fell silent and was ended after {after}."),
        ),
        Ended::Wall | Ended::AfterResult => (
            ErrorClass::Hung,
            format!("{name} did not finish in time and was ended after {after}."),
        ),
        Ended::ParentGone => (
            ErrorClass::Cancelled,
            format!("{name} was stopped because nobody waited for it any more."),
        ),
        Ended::Exited | Ended::OutputCap | Ended::Cancelled | Ended::SpawnFailed { .. } => {
            return None;
        }
    };
    Some(AgentError::new(class, message))
}

fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

/// Returns the error of a run whose answer is complete but whose exit says otherwise.
pub(super) fn spoiled_by_exit(name: &str, end: &Ending<'_>) -> Option<AgentError> {
    if end.exit.ended != Ended::Exited || end.exit.code == Some(0) {
        return None;
    }
    let message = format!("{name} gave an answer but then {}.", how_it_exited(end));
    Some(AgentError::new(ErrorClass::Crash, message))
}

/// Returns the error of a run that ended by itself and badly, without a report of its own.
///
/// `complaint` is the last thing the agent said on stdout about a failure; stderr stands in for it.
pub(super) fn broken_run(name: &str, end: &Ending<'_>, complaint: Option<&str>) -> AgentError {
    let message = complaint.unwrap_or(end.stderr);
    let class = classify::class_of(None, message).unwrap_or(ErrorClass::Crash);
    let how = how_it_exited(end);
    let said = match complaint {
        Some(complaint) => classify::said(complaint),
        None => telling_line(end.stderr),
    };
    let text = if said.is_empty() {
        format!("{name} {how} without saying why.")
    } else {
        format!("{name} {how}: {said}")
    };
    AgentError {
        retry_after: wait::retry_after(message).filter(|_| classify::may_wait(class)),
        ..AgentError::new(class, text)
    }
}

fn how_it_exited(end: &Ending<'_>) -> String {
    match (end.exit.code, end.exit.signal) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("died of signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

/// Returns the line of stderr that most likely tells what went wrong.
pub(super) fn telling_line(stderr: &str) -> String {
    let lines = || {
        stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let line = lines()
        .find(|line| line.to_ascii_lowercase().contains("error"))
        .or_else(|| lines().next_back())
        .unwrap_or_default();
    truncate_chars(line, LONGEST_MESSAGE).into_owned()
}
