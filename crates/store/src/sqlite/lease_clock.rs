//! The clocks by which leases end.
//!
//! The wall clock is all that two machines share, but anybody can set it. On one machine the clock
//! that begins with its start decides: it goes on while the machine sleeps, and nobody can set it.

use tribunal_core::time::Timestamp;

use super::clock;
use crate::{ClockSkew, Options};

/// The time of one moment by both clocks, and how long a lease lasts.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeaseClock {
    /// By the wall clock.
    pub(super) wall: Timestamp,
    /// Since this machine was started, where that is known.
    boot_ms: Option<i64>,
    ttl_ms: u64,
}

impl LeaseClock {
    /// Returns the time now.
    pub(super) fn now(options: &Options) -> Self {
        let ClockSkew { wall_ms, boot_ms } = options.skew;
        let ttl_ms = u64::try_from(options.lease_ttl.as_millis()).unwrap_or(u64::MAX);
        Self {
            wall: Timestamp(clock().0.saturating_add(wall_ms)),
            boot_ms: since_boot_ms().map(|now| now.saturating_add(boot_ms)),
            ttl_ms,
        }
    }

    /// Returns when a lease ends that is granted now: by the wall clock, and since the start.
    pub(super) fn ends(&self) -> (Timestamp, Option<i64>) {
        let ttl = i64::try_from(self.ttl_ms).unwrap_or(i64::MAX);
        let boot = self.boot_ms.map(|now| now.saturating_add(ttl));
        (self.wall.plus_millis(self.ttl_ms), boot)
    }

    /// Tells whether a lease with these ends runs. `boot_end` is for a holder on this machine since
    /// the same start.
    pub(super) fn runs(&self, wall_end: Timestamp, boot_end: Option<i64>) -> bool {
        let left = match (self.boot_ms, boot_end) {
            (Some(now), Some(end)) => u64::try_from(end.saturating_sub(now)).unwrap_or(0),
            (Some(_) | None, _) => wall_end.millis_since(self.wall),
        };
        // More than we ever grant means that the clock was set back; the lease would not end.
        left > 0 && left <= self.ttl_ms.saturating_mul(2)
    }
}

/// Returns the milliseconds since this machine was started, with those that it slept.
#[cfg(target_os = "linux")]
fn since_boot_ms() -> Option<i64> {
    use nix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME).ok()?;
    let seconds = now.tv_sec().checked_mul(1000)?;
    seconds.checked_add(now.tv_nsec() / 1_000_000)
}

#[cfg(not(target_os = "linux"))]
fn since_boot_ms() -> Option<i64> {
    None
}
