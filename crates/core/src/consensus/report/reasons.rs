//! Why one group was decided as it was, for reports that tell it finding by finding.

use super::words;
use crate::consensus::outcome::{Group, Verdict};

impl Group {
    /// Returns why it was decided so, and what stays open, one sentence each.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons = words::sentences(self);
        if self.verdict == Verdict::Disputed {
            reasons.extend(words::questions(self));
        }
        reasons
    }

    /// Returns what evidence would reverse a rejection; empty for what was not rejected.
    #[must_use]
    pub fn reversal(&self) -> String {
        match self.verdict {
            Verdict::Rejected => words::reversal(self),
            Verdict::Accepted | Verdict::Disputed => String::new(),
        }
    }
}
