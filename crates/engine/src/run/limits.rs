//! What ends a run before the list is done: money, time, and a person who has had enough.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tribunal_core::ids::CaseId;
use tribunal_core::money::{MicroUsd, Spend};

use crate::Engine;
use crate::case::CaseError;

/// The limits of one run, and what it has used of them.
pub(super) struct Limits {
    max_cost: Option<MicroUsd>,
    until: Option<Instant>,
    /// The tasks that the run took, with what they had cost before.
    taken: Mutex<BTreeMap<CaseId, MicroUsd>>,
    warnings: Mutex<Vec<String>>,
    reached: Mutex<Option<String>>,
}

impl Limits {
    pub(super) fn new(max_cost: Option<MicroUsd>, until: Option<Instant>) -> Self {
        Self {
            max_cost,
            until,
            taken: Mutex::default(),
            warnings: Mutex::default(),
            reached: Mutex::default(),
        }
    }

    /// Keeps something that the user should know at the end.
    pub(super) fn warn(&self, text: &str) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.push(text.to_owned());
    }

    /// Returns what the user should know.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.clone()
    }

    /// Returns which limit ended the run, if one did.
    pub(super) fn reason(&self) -> Option<String> {
        let reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.clone()
    }

    /// Returns why nothing more is to be begun, if that is so.
    pub(super) async fn reached(&self, engine: &Engine) -> Result<Option<String>, CaseError> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Ok(Some(self.end("the time of this run is over".to_owned())));
        }
        if engine.stop.is_cancelled() {
            return Ok(Some("stopped as asked".to_owned()));
        }
        let Some(cap) = self.max_cost else {
            return Ok(None);
        };
        let spent = self.spent(engine).await?;
        Ok((spent >= cap).then(|| self.end(format!("{spent} of {cap} of this run are spent"))))
    }

    fn end(&self, why: String) -> String {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.get_or_insert_with(|| why.clone());
        why
    }

    /// Returns what this run has cost so far.
    async fn spent(&self, engine: &Engine) -> Result<MicroUsd, CaseError> {
        let taken = {
            let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            taken.clone()
        };
        let mut total = 0_u64;
        for (task, before) in taken {
            let spend = engine.ledger.store().family_spend(&task).await?;
            let now = amount(&spend, engine.caps.assumed);
            total = total.saturating_add(now.0.saturating_sub(before.0));
        }
        Ok(MicroUsd(total))
    }

    /// Takes note of what a task had cost before this run took it.
    pub(super) async fn begin(&self, engine: &Engine, task: &CaseId) -> Result<(), CaseError> {
        if self.max_cost.is_none() {
            return Ok(());
        }
        let spend = engine.ledger.store().family_spend(task).await?;
        let before = amount(&spend, engine.caps.assumed);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.entry(task.clone()).or_insert(before);
        Ok(())
    }
}

/// Returns what was spent, runs of unknown cost counted as assumed.
fn amount(spend: &Spend, assumed: MicroUsd) -> MicroUsd {
    let unknown = assumed.0.saturating_mul(spend.unknown_runs);
    MicroUsd(spend.known.0.saturating_add(unknown))
}
