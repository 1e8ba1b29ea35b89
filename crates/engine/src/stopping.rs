//! How a person stops the work: running agents may finish, or everything ends at once.

use tokio_util::sync::CancellationToken;
use tribunal_core::case::Pause;

use crate::case::CaseError;

/// A request to stop, seen by all cases of an engine.
#[derive(Debug, Clone)]
pub struct StopSwitch {
    /// Ends running agents.
    at_once: CancellationToken,
    /// Keeps new agents from starting; follows `at_once`.
    orderly: CancellationToken,
}

impl Default for StopSwitch {
    fn default() -> Self {
        let at_once = CancellationToken::new();
        let orderly = at_once.child_token();
        Self { at_once, orderly }
    }
}

impl StopSwitch {
    /// Lets running agents finish and starts no new ones. Cases stay resumable.
    pub fn stop_orderly(&self) {
        self.orderly.cancel();
    }

    /// Ends running agents and starts no new ones. Cases stay resumable.
    pub fn stop_at_once(&self) {
        self.at_once.cancel();
    }

    /// Tells whether nothing more is to be started.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.orderly.is_cancelled()
    }

    /// Tells whether running agents are to end.
    #[must_use]
    pub fn is_at_once(&self) -> bool {
        self.at_once.is_cancelled()
    }

    /// Returns the token that ends running agents.
    pub(crate) fn for_agents(&self) -> CancellationToken {
        self.at_once.clone()
    }

    /// Refuses to start anything once somebody has asked to stop.
    pub(crate) fn check(&self) -> Result<(), CaseError> {
        match self.is_asked() {
            true => Err(interrupted()),
            false => Ok(()),
        }
    }

    /// Waits for `work`, unless somebody asks to stop.
    pub(crate) async fn unless_asked<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, CaseError> {
        let done = self.orderly.run_until_cancelled(work).await;
        done.ok_or_else(interrupted)
    }
}

/// Returns the error that parks a case until somebody resumes it.
pub(crate) fn interrupted() -> CaseError {
    CaseError::Parked {
        why: Pause::Interrupted,
        until: None,
    }
}

/// Waits for all of `work`, also when one fails, and returns the results or the first failure.
///
/// What one agent ran into must not end the others: they are paid for, and their answers are kept.
pub(crate) async fn finish_all<T>(
    work: impl IntoIterator<Item = impl Future<Output = Result<T, CaseError>>>,
) -> Result<Vec<T>, CaseError> {
    let done = futures_util::future::join_all(work).await;
    done.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn stopping_at_once_stops_new_work_too_and_not_the_other_way_round() {
        let switch = StopSwitch::default();
        assert!(switch.check().is_ok());
        switch.stop_orderly();
        assert!(switch.is_asked() && !switch.is_at_once());
        assert!(matches!(switch.check(), Err(CaseError::Parked { .. })));
        let switch = StopSwitch::default();
        switch.stop_at_once();
        assert!(switch.is_asked() && switch.is_at_once());
    }

    #[tokio::test]
    async fn one_failure_does_not_end_the_others() {
        let finished = Cell::new(0);
        let work = (0..3).map(|number| {
            let finished = &finished;
            async move {
                if number == 0 {
                    return Err(interrupted());
                }
                tokio::task::yield_now().await;
                finished.set(finished.get() + 1);
                Ok(number)
            }
        });
        let done = finish_all(work).await;
        assert!(matches!(done, Err(CaseError::Parked { .. })));
        assert_eq!(finished.get(), 2);
    }
}
