//! What to do when a run fails: try again, wait, park the provider, or give up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::ErrorClass;

/// How often and how long to try again, from config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryPolicy {
    /// Runs of one call at most, the first one included.
    pub attempts: u32,
    /// First pause before trying again, doubled each time.
    pub base_ms: u64,
    /// Longest pause that is waited out; a longer one parks the provider.
    pub patience_ms: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 3,
            base_ms: 1_000,
            patience_ms: 60_000,
        }
    }
}

/// What follows a failed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Run the same call again after a pause.
    Retry {
        /// The pause before the next run.
        after_ms: u64,
    },
    /// Nobody shall call this provider and model before the pause is over.
    Park {
        /// How long the provider rests; without it, until a human acts.
        for_ms: Option<u64>,
    },
    /// This call has failed; the provider is fine.
    GiveUp,
}

/// Decides what follows the `attempt`-th run (counted from one) of a call that ended in `class`.
///
/// `retry_after_ms` is the provider's own word and a lower bound; `jitter` in 0..=1000 spreads
/// callers: it stretches the pause by up to half.
#[must_use]
pub fn remedy(
    policy: &RetryPolicy,
    class: ErrorClass,
    attempt: u32,
    retry_after_ms: Option<u64>,
    jitter: u16,
) -> Remedy {
    match class {
        ErrorClass::RateLimited | ErrorClass::Overloaded => {
            let pause = pause_ms(policy, attempt, retry_after_ms, jitter);
            if pause > policy.patience_ms || attempt >= policy.attempts {
                Remedy::Park {
                    for_ms: Some(pause),
                }
            } else {
                Remedy::Retry { after_ms: pause }
            }
        }
        ErrorClass::Server | ErrorClass::Network => {
            let pause = pause_ms(policy, attempt, retry_after_ms, jitter);
            if attempt >= policy.attempts || pause > policy.patience_ms {
                Remedy::GiveUp
            } else {
                Remedy::Retry { after_ms: pause }
            }
        }
        ErrorClass::Crash | ErrorClass::Garbled | ErrorClass::Empty | ErrorClass::Truncated => {
            // One more run may go better; a third would only be hope.
            if attempt >= policy.attempts.min(2) {
                Remedy::GiveUp
            } else {
                Remedy::Retry {
                    after_ms: pause_ms(policy, attempt, retry_after_ms, jitter),
                }
            }
        }
        ErrorClass::Auth | ErrorClass::Credit => Remedy::Park {
            for_ms: retry_after_ms,
        },
        // The same prompt would meet the same end, or has already used its whole time.
        ErrorClass::Setup
        | ErrorClass::BadRequest
        | ErrorClass::ContextTooLong
        | ErrorClass::Refused
        | ErrorClass::Hung
        | ErrorClass::Limit
        | ErrorClass::PermissionDenied
        | ErrorClass::Tampered
        | ErrorClass::Cancelled => Remedy::GiveUp,
    }
}

fn pause_ms(policy: &RetryPolicy, attempt: u32, retry_after_ms: Option<u64>, jitter: u16) -> u64 {
    let doublings = attempt.saturating_sub(1).min(20);
    let backoff = policy.base_ms.saturating_mul(1 << doublings);
    let pause = backoff.max(retry_after_ms.unwrap_or(0));
    pause.saturating_add(pause.min(policy.patience_ms) * u64::from(jitter.min(1000)) / 2000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies() {
        use ErrorClass::*;
        let policy = RetryPolicy {
            attempts: 3,
            base_ms: 1_000,
            patience_ms: 60_000,
        };
        let retry = |after_ms| Remedy::Retry { after_ms };
        for (name, class, attempt, retry_after, expected) in [
            (
                "first overload backs off",
                Overloaded,
                1,
                None,
                retry(1_000),
            ),
            ("the pause doubles", Overloaded, 2, None, retry(2_000)),
            (
                "attempts used up park",
                Overloaded,
                3,
                None,
                Remedy::Park {
                    for_ms: Some(4_000),
                },
            ),
            (
                "retry-after is a lower bound",
                RateLimited,
                1,
                Some(5_000),
                retry(5_000),
            ),
            (
                "a short retry-after does not shorten",
                RateLimited,
                2,
                Some(1),
                retry(2_000),
            ),
            (
                "an hour parks at once",
                RateLimited,
                1,
                Some(3_600_000),
                Remedy::Park {
                    for_ms: Some(3_600_000),
                },
            ),
            (
                "no login pauses the provider",
                Auth,
                1,
                None,
                Remedy::Park { for_ms: None },
            ),
            (
                "no credit pauses the provider",
                Credit,
                1,
                None,
                Remedy::Park { for_ms: None },
            ),
            (
                "a long prompt is never repeated",
                ContextTooLong,
                1,
                None,
                Remedy::GiveUp,
            ),
            (
                "a network fault is tried again",
                Network,
                1,
                None,
                retry(1_000),
            ),
            ("a network fault ends", Network, 3, None, Remedy::GiveUp),
            ("garbled once", Garbled, 1, None, retry(1_000)),
            ("garbled twice", Garbled, 2, None, Remedy::GiveUp),
            ("hung has used its time", Hung, 1, None, Remedy::GiveUp),
        ] {
            assert_eq!(
                remedy(&policy, class, attempt, retry_after, 0),
                expected,
                "{name}"
            );
        }
    }

    #[test]
    fn jitter_only_lengthens_and_never_overflows() {
        let policy = RetryPolicy::default();
        let Remedy::Retry { after_ms } = remedy(&policy, ErrorClass::Server, 1, None, 1000) else {
            panic!("a first server error is tried again");
        };
        assert_eq!(after_ms, 1_500);
        let endless = remedy(
            &policy,
            ErrorClass::RateLimited,
            u32::MAX,
            Some(u64::MAX),
            1000,
        );
        assert_eq!(
            endless,
            Remedy::Park {
                for_ms: Some(u64::MAX)
            }
        );
    }
}
