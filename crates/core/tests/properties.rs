//! The laws of the consensus, tried on the same reviews every time.
//!
//! A failure here is caused by the last change, never by luck. Other reviews are tried by
//! `slow_properties.rs`, or with `PROPTEST_RNG_SEED` and `PROPTEST_CASES` set to other numbers.

mod laws;

use proptest::test_runner::{Config, RngSeed};

fn config() -> Config {
    // Failures are printed, not written to a file: the seed alone repeats them.
    Config {
        cases: 1_000,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..Config::default()
    }
}
