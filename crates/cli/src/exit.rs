//! Exit codes: what a script learns from us.

use std::process::ExitCode;

use tribunal_core::case::Outcome;

/// Why the program ends. The numbers are part of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It went well; a gate passed.
    Pass = 0,
    /// A gate failed, or `doctor` found something wrong.
    Fail = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// The configuration is wrong or not trusted.
    Config = 3,
    /// What was named does not exist.
    NotFound = 4,
    /// No usable answer: neither pass nor fail.
    Inconclusive = 5,
    /// Another process works on it.
    Busy = 6,
    /// A budget, a provider's quota or a full disk stopped the work; it can be resumed.
    Quota = 7,
    /// A defect of this program, or a failing disk.
    Internal = 70,
    /// The user stopped it; it can be resumed.
    Interrupted = 130,
}

impl Exit {
    /// Returns the code for a case that came to its end.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Completed => Self::Pass,
            Outcome::Failed { .. } => Self::Fail,
            Outcome::Inconclusive { .. } => Self::Inconclusive,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
