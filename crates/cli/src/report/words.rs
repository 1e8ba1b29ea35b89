//! Numbers and states in words.

use tribunal_core::case::{CaseState, Outcome, Pause};
use tribunal_core::money::{Cost, Spend, Usage};
use tribunal_core::time::Timestamp;

/// Returns a duration as people say it: `0.3 s`, `12 s`, `3 min 20 s`, `2 h 5 min`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..=9 => format!("{}.{} s", seconds, ms % 1000 / 100),
        10..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..=86_399 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// Returns how long ago `then` was.
pub(crate) fn ago(now: Timestamp, then: Timestamp) -> String {
    match now.millis_since(then) {
        0..=1_499 => "now".to_owned(),
        ms => format!("{} ago", duration(ms)),
    }
}

/// Returns a number of tokens: `1,285 tokens`.
pub(crate) fn tokens(usage: Usage) -> String {
    format!("{} tokens", grouped(usage.total()))
}

/// Returns a cost; what nobody knows is said to be unknown.
pub(crate) fn cost(cost: Cost) -> String {
    match cost {
        Cost::Known(amount) => amount.to_string(),
        Cost::Unknown => "cost unknown".to_owned(),
    }
}

/// Returns what was spent: the known part, and how many runs hide their cost.
pub(crate) fn spend(spend: &Spend) -> String {
    match (spend.runs, spend.unknown_runs) {
        (0, _) => "nothing".to_owned(),
        (_, 0) => spend.known.to_string(),
        (runs, unknown) if runs == unknown => "unknown".to_owned(),
        (_, unknown) => format!("{} + {unknown} unknown", spend.known),
    }
}

/// Returns where a case stands, in a few words.
pub(crate) fn state(state: &CaseState) -> String {
    match state {
        CaseState::Open => "open".to_owned(),
        CaseState::Parked { why, .. } => format!("parked ({})", pause(why)),
        CaseState::Closed(Outcome::Completed) => "completed".to_owned(),
        CaseState::Closed(Outcome::Inconclusive {
            class: Some(class), ..
        }) => format!("inconclusive ({class})"),
        CaseState::Closed(Outcome::Inconclusive { .. }) => "inconclusive".to_owned(),
        CaseState::Closed(Outcome::Failed { open }) => {
            format!("failed, {}", open_findings(*open))
        }
    }
}

/// Returns why a case waits, in a few words.
pub(crate) fn pause(why: &Pause) -> String {
    match why {
        Pause::Provider { provider, class } => format!("{provider}: {class}"),
        Pause::Budget { cap, detail } => format!("budget of the {cap}: {detail}"),
        Pause::Human { question } => format!("waits for a person: {question}"),
        Pause::Interrupted => "interrupted".to_owned(),
        Pause::Turn => "waits for its turn".to_owned(),
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with its noun.
pub(super) fn count(number: u32, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

/// Returns how many findings stand in the way of a PASS.
pub(in crate::report) fn open_findings(open: u32) -> String {
    match open {
        1 => "1 blocking finding".to_owned(),
        n => format!("{n} blocking findings"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_as_people_say_them() {
        for (ms, text) in [
            (0, "0.0 s"),
            (340, "0.3 s"),
            (12_999, "12 s"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
            (90_000_000, "1 d 1 h"),
        ] {
            assert_eq!(duration(ms), text);
        }
    }

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_285, "1,285"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
