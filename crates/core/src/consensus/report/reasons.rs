//! Why one group was decided as it was, for reports that tell it finding by finding.

use super::words;
use crate::consensus::outcome::{Group, Settlement, Verdict};
use crate::consensus::reversal::Reversal;

impl Settlement {
    /// Returns why a group was decided so, and what stays open, one sentence each.
    #[must_use]
    pub fn reasons(&self, group: &Group) -> Vec<String> {
        let mut reasons = words::sentences(self, group);
        if group.verdict == Verdict::Disputed {
            reasons.extend(words::questions(group));
        }
        reasons
    }

    /// Returns what would change the decision on a group, one sentence each: the evidence that a
    /// rejection lacks, and what reviewers could still say.
    #[must_use]
    pub fn reversal(&self, group: &Group, reversal: &Reversal) -> Vec<String> {
        let is_rejected = group.verdict == Verdict::Rejected;
        let evidence = is_rejected.then(|| words::reversal(self, group));
        evidence.into_iter().chain(reversal.sentences()).collect()
    }
}
