//! Who made the decisions of one run, so that its end can say when the arbiter made none.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tribunal_core::arbiter::Source;

/// Counts the decisions of one run by their sources.
#[derive(Debug, Default)]
pub struct DecisionTally(Mutex<DecisionCounts>);

/// How often each source has decided.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DecisionCounts {
    /// By rule, cache, model and fallback.
    #[serde(flatten)]
    pub by_source: BTreeMap<&'static str, u64>,
    /// Why the fallback decided last.
    #[serde(skip)]
    last_because: Option<String>,
}

impl DecisionTally {
    /// Counts one decision.
    pub(super) fn count(&self, source: &Source) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let word = match source {
            Source::Rule { .. } => "rule",
            Source::Cache => "cache",
            Source::Model { .. } => "model",
            Source::Fallback { because } => {
                counts.last_because = Some(because.clone());
                "fallback"
            }
        };
        *counts.by_source.entry(word).or_default() += 1;
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> DecisionCounts {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.clone()
    }
}

impl DecisionCounts {
    /// Says that the arbiter `agent` was asked and never gave a usable answer, if that is so.
    #[must_use]
    pub fn warning(&self, agent: &str) -> Option<String> {
        let count = |word: &str| self.by_source.get(word).copied().unwrap_or_default();
        let because = self.last_because.as_ref()?;
        let fell_back = count("fallback");
        (count("model") == 0 && fell_back > 0).then(|| {
            let decisions = match fell_back {
                1 => "the one decision that it was asked for".to_owned(),
                more => format!("all {more} decisions that it was asked for"),
            };
            let because = because.trim_end_matches('.');
            format!("the arbiter `{agent}` decided nothing: fixed rules made {decisions}, because {because}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_arbiter_that_never_decided_is_warned_of() {
        let fallback = Source::Fallback {
            because: "the arbiter did not answer: no key".to_owned(),
        };
        let tally = DecisionTally::default();
        assert_eq!(tally.counts().warning("judy"), None);
        tally.count(&fallback);
        tally.count(&fallback);
        assert_eq!(
            tally.counts().warning("judy").as_deref(),
            Some(
                "the arbiter `judy` decided nothing: fixed rules made all 2 decisions that it was \
                 asked for, because the arbiter did not answer: no key"
            )
        );
        tally.count(&Source::Model { attempt: 1 });
        assert_eq!(tally.counts().warning("judy"), None);
    }
}
