//! A limit on work that a busy machine does not change: the time that the processor spent on it.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// How much a thread may still compute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComputingTime {
    end: Duration,
}

impl ComputingTime {
    /// Returns a limit that this thread reaches after so much more work.
    pub(crate) fn lasting(limit: Duration) -> Self {
        Self {
            end: used().saturating_add(limit),
        }
    }

    /// Tells whether this thread has done more work than that.
    pub(crate) fn is_over(self) -> bool {
        used() > self.end
    }
}

/// Returns how long the processor has worked for this thread; for ever where nobody can tell.
fn used() -> Duration {
    let clock = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    clock.map_or(Duration::MAX, Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_not_working() {
        let limit = ComputingTime::lasting(Duration::from_millis(50));
        std::thread::sleep(Duration::from_millis(200));
        assert!(!limit.is_over());
        let mut sum = 0_u64;
        while !limit.is_over() {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(sum > 0);
    }
}
