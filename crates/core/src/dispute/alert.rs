//! When it is time to tell again that a dispute is stale.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// After so many attempts nobody is told any more.
const MOST_ATTEMPTS: u32 = 12;

/// So many attempts are made in a row.
const IN_A_ROW: u32 = 3;

/// The pause after the first row; each further one is twice as long.
const FIRST_PAUSE_MS: u64 = 60_000;

/// What was tried to tell that a dispute is stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Alerts {
    /// How often it was tried.
    pub attempts: u32,
    /// When it was tried last.
    pub last_at: Option<Timestamp>,
    /// Whether it was received.
    pub delivered: bool,
}

impl Alerts {
    /// Returns how many attempts may be made in a row now.
    #[must_use]
    pub fn due(&self, now: Timestamp) -> u32 {
        if self.delivered {
            return 0;
        }
        let row = self.attempts / IN_A_ROW;
        let left_of_row = IN_A_ROW - self.attempts % IN_A_ROW;
        let left = MOST_ATTEMPTS.saturating_sub(self.attempts).min(left_of_row);
        let begins_row = self.attempts > 0 && left_of_row == IN_A_ROW;
        let pause = FIRST_PAUSE_MS << row.saturating_sub(1).min(16);
        match self.last_at {
            Some(last) if begins_row && now.millis_since(last) < pause => 0,
            Some(_) | None => left,
        }
    }

    /// Takes note of one more attempt.
    pub(super) fn count(&mut self, at: Timestamp, delivered: bool) {
        self.attempts += 1;
        self.last_at = Some(at);
        self.delivered |= delivered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_come_in_rows_with_growing_pauses_and_end() {
        let minute = 60_000;
        for (attempts, since_last, delivered, expected) in [
            (0, 0, false, 3),
            (1, 0, false, 2),
            (2, 0, false, 1),
            (3, 0, false, 0),
            (3, minute, false, 3),
            (6, minute, false, 0),
            (6, 2 * minute, false, 3),
            (9, 4 * minute, false, 3),
            (11, 0, false, 1),
            (12, i64::MAX / 2, false, 0),
            (1, minute, true, 0),
        ] {
            let alerts = Alerts {
                attempts,
                last_at: (attempts > 0).then_some(Timestamp(0)),
                delivered,
            };
            assert_eq!(
                alerts.due(Timestamp(since_last)),
                expected,
                "{attempts} {since_last}"
            );
        }
    }
}
