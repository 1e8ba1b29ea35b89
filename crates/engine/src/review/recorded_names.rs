//! How the findings of a recorded review are called.
//!
//! An identity depends on what the ledger knew. A review that is done again in an empty ledger takes
//! the names from its report.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_core::consensus::Settlement;
use tribunal_core::review::identity::Recognized;
use tribunal_core::review::report::{ReviewReport, Standing};

/// What was known of each finding of a report, by reviewer and id of each voice.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedNames {
    by_voice: BTreeMap<(String, String), Recognized>,
    /// Why the review did not speak of the user's files when it ended.
    pub(super) outdated: Option<String>,
    /// The steps in which somebody was asked.
    asked: BTreeSet<String>,
}

impl RecordedNames {
    /// Returns the names in a report.
    pub(crate) fn of(report: &ReviewReport) -> Self {
        let mut names = Self {
            outdated: report.outdated.clone(),
            ..Self::default()
        };
        let heard = |id: &str| {
            let arbitration = report.arbitration.iter();
            let mut items = arbitration.flat_map(|one| &one.findings);
            items.any(|item| item.id == id)
        };
        for finding in &report.findings {
            let was_dismissed = finding.standing == Standing::Dismissed && !finding.counts;
            let recognized = Recognized {
                fingerprint: finding.fingerprint.clone(),
                // What was dismissed in the course of the review was not before it.
                dismissed: was_dismissed && !heard(&finding.id),
                similar: finding.similar.clone(),
            };
            for voice in &finding.voices {
                let key = (voice.reviewer.clone(), voice.id.clone());
                names.by_voice.insert(key, recognized.clone());
            }
        }
        names
    }

    /// Takes note of the steps in which somebody was asked.
    pub(crate) fn with_asked(mut self, steps: impl Iterator<Item = String>) -> Self {
        self.asked.extend(steps);
        self
    }

    /// Tells whether somebody was asked in this step.
    pub(super) fn was_asked(&self, step: &str) -> bool {
        self.asked.contains(step)
    }

    /// Puts the recorded names in place of those that were found anew.
    pub(super) fn rename(&self, settlement: &Settlement, recognized: &mut [Recognized]) {
        if self.by_voice.is_empty() {
            return;
        }
        for (group, one) in settlement.groups.iter().zip(recognized) {
            let lead = &settlement.findings[group.lead() as usize];
            let key = (lead.reviewer.clone(), lead.id.clone());
            if let Some(recorded) = self.by_voice.get(&key) {
                one.clone_from(recorded);
            }
        }
    }
}
