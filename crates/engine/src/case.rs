//! A case at work: keyed steps that are never repeated, effects that never take hold twice.

mod error;

pub use error::CaseError;

use std::collections::BTreeSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};
use tribunal_core::case::{CaseKind, Outcome, Pause};
use tribunal_core::event::EventKind;
use tribunal_core::ids::{AgentName, CaseId, EffectKey, StepKey};
use tribunal_core::money::Spend;
use tribunal_core::time::Timestamp;
use tribunal_store::{EffectState, Holder, Lease, StoreError, crashpoint};

use crate::change::ChangeError;
use crate::ledger::{Ledger, Wait};
use crate::stopping::StopSwitch;
use crate::tally::Tally;

/// How often the owner of a case says that it is alive; the store's leases last three times longer.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// An open case, owned by this process until it is closed, parked or dropped.
pub struct Case {
    id: CaseId,
    ledger: Ledger,
    holder: Arc<LazyHolder>,
    /// Taken with the first write, and again by whoever resumes.
    lease: Mutex<Tenure>,
    /// What is to be written with the next events. Whoever writes takes all of it, so that those
    /// who come while somebody writes share the next commit.
    waiting: std::sync::Mutex<Vec<EventKind>>,
    /// What its runs have cost.
    tally: std::sync::Mutex<Tally>,
    /// The case on whose behalf others spend from the same budget.
    purse: OnceLock<CaseId>,
    /// The steps that this process has finished.
    finished: std::sync::Mutex<BTreeSet<StepKey>>,
    stop: StopSwitch,
    resumed: bool,
}

/// Whether the case stands in the ledger yet, and whether writing to it failed.
struct Tenure {
    lease: Option<(Lease, DropGuard)>,
    /// A write failed: what it took along is lost to everybody who waited for it.
    broken: Option<Broken>,
}

/// Why nothing more can be written to a case.
#[derive(Debug, Clone, Copy)]
enum Broken {
    /// Another process owns it now.
    TakenOver,
    /// The ledger failed.
    Otherwise,
}

/// This process as an owner of cases, announced to others when it first owns one that they can see.
pub(crate) struct LazyHolder {
    directory: PathBuf,
    announced: OnceLock<Holder>,
}

impl LazyHolder {
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            announced: OnceLock::new(),
        }
    }

    fn announced(&self) -> Result<Holder, StoreError> {
        if let Some(holder) = self.announced.get() {
            return Ok(holder.clone());
        }
        let holder = Holder::for_this_process(&self.directory)?;
        Ok(self.announced.get_or_init(|| holder).clone())
    }
}

/// What the caller does after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Something else: the step's end must be known to whoever comes after us before.
    GoOn,
    /// It closes the case: the step's end is stored together with that.
    End,
}

impl Case {
    /// Returns a new case. It is stored together with the first thing that happens in it.
    pub(crate) fn open(
        ledger: Ledger,
        holder: Arc<LazyHolder>,
        id: CaseId,
        kind: CaseKind,
        title: String,
        request: serde_json::Value,
        stop: StopSwitch,
    ) -> Self {
        let opened = EventKind::CaseOpened {
            kind,
            title,
            request,
        };
        let lease = Mutex::new(Tenure {
            lease: None,
            broken: None,
        });
        Self {
            id,
            ledger,
            holder,
            lease,
            waiting: std::sync::Mutex::new(vec![opened]),
            tally: std::sync::Mutex::default(),
            purse: OnceLock::new(),
            finished: std::sync::Mutex::default(),
            stop,
            resumed: false,
        }
    }

    /// Takes over a case that nobody works on.
    pub(crate) async fn resume(
        ledger: Ledger,
        holder: Arc<LazyHolder>,
        id: CaseId,
        stop: StopSwitch,
    ) -> Result<Self, CaseError> {
        let us = holder.announced()?;
        let case = Self::tend(ledger, holder, id, stop).await?;
        let generation = case.generation().await;
        case.keep([EventKind::CaseResumed {
            holder: format!("{}:{}", us.host_name(), us.pid),
            generation,
        }]);
        Ok(case)
    }

    /// Takes a case that nobody works on, to look after what belongs to it. Where it stands does not
    /// change: one that has ended stays ended.
    pub(crate) async fn tend(
        ledger: Ledger,
        holder: Arc<LazyHolder>,
        id: CaseId,
        stop: StopSwitch,
    ) -> Result<Self, CaseError> {
        let us = holder.announced()?;
        let lease = ledger.store().claim_case(&id, &us).await?;
        crashpoint!("case.claim.after");
        let guard = keep_alive(&ledger, &lease);
        let lease = Mutex::new(Tenure {
            lease: Some((lease, guard)),
            broken: None,
        });
        let tally = Tally::of(ledger.store().runs(&id).await?);
        Ok(Self {
            id,
            ledger,
            holder,
            lease,
            waiting: std::sync::Mutex::default(),
            tally: std::sync::Mutex::new(tally),
            purse: OnceLock::new(),
            finished: std::sync::Mutex::default(),
            stop,
            resumed: true,
        })
    }

    /// Returns the generation of the lease, which a case that was taken has.
    async fn generation(&self) -> u64 {
        let tenure = self.lease.lock().await;
        tenure
            .lease
            .as_ref()
            .map_or(0, |(lease, _)| lease.generation)
    }

    /// Returns the identity of the case.
    #[must_use]
    pub fn id(&self) -> &CaseId {
        &self.id
    }

    /// Returns the switch that stops the work on this case.
    #[must_use]
    pub fn stop_switch(&self) -> &StopSwitch {
        &self.stop
    }

    /// Tells whether somebody worked on the case before.
    pub(crate) fn was_resumed(&self) -> bool {
        self.resumed
    }

    /// Keeps `event` to be stored together with the next ones.
    ///
    /// For facts that matter only with what follows them, so that they cost no commit of their own.
    pub(crate) async fn note(&self, event: EventKind) {
        self.keep([event]);
    }

    /// Stores `events`, after those that were waiting. They are on disk when this returns.
    pub(crate) async fn record(
        &self,
        events: impl IntoIterator<Item = EventKind>,
    ) -> Result<(), CaseError> {
        self.store(events, Wait::Disk).await
    }

    /// Stores `events`, after those that were waiting, without waiting for the disk: for what must
    /// be known to whoever comes after us before we go on, while somebody waits for our next call.
    ///
    /// A death of this process loses nothing of it. [`Case::record`] waits for it too.
    pub(crate) async fn record_soon(
        &self,
        events: impl IntoIterator<Item = EventKind>,
    ) -> Result<(), CaseError> {
        self.store(events, Wait::Process).await
    }

    async fn store(
        &self,
        events: impl IntoIterator<Item = EventKind>,
        wait: Wait,
    ) -> Result<(), CaseError> {
        self.keep(events);
        let mut tenure = self.lease.lock().await;
        let batch = std::mem::take(&mut *self.waiting());
        match tenure.broken {
            None => {}
            Some(Broken::TakenOver) => {
                let case = self.id.clone();
                return Err(StoreError::LeaseLost { case }.into());
            }
            Some(Broken::Otherwise) => {
                return Err(CaseError::Request(
                    "the ledger could not be written to before".to_owned(),
                ));
            }
        }
        let written = match (batch.is_empty(), wait) {
            // Somebody else has stored ours together with theirs.
            (true, Wait::Process) => return Ok(()),
            (true, Wait::Disk) => self.ledger.sync().await.map_err(CaseError::from),
            (false, _) => self.write(&mut tenure, batch, wait).await,
        };
        tenure.broken = match &written {
            Ok(()) => None,
            Err(CaseError::Store(StoreError::LeaseLost { .. })) => Some(Broken::TakenOver),
            Err(_) => Some(Broken::Otherwise),
        };
        written
    }

    /// Returns what the runs of the case have cost, those under way among them.
    pub(crate) fn spend(&self) -> Spend {
        self.tally().spend()
    }

    /// Lets the case spend from one budget with `head` and all that is done on its behalf.
    pub(crate) fn share_budget_of(&self, head: &CaseId) {
        self.purse.get_or_init(|| head.clone());
    }

    /// Returns what counts against the budget of the case.
    pub(crate) async fn spend_of_budget(&self) -> Result<Spend, StoreError> {
        let others = match self.purse.get() {
            None => Spend::default(),
            Some(head) => {
                let store = self.ledger.store();
                store.relatives_spend(head, &self.id).await?
            }
        };
        // Last, so that it is no older than the answer.
        Ok(self.spend() + others)
    }

    /// Returns what the runs of one agent have cost in the case, those under way among them.
    pub(crate) fn spend_of(&self, agent: &AgentName) -> Spend {
        self.tally().spend_of(agent)
    }

    fn keep(&self, events: impl IntoIterator<Item = EventKind>) {
        let (mut tally, mut waiting) = (self.tally(), self.waiting());
        for event in events {
            tally.count(&event);
            waiting.push(event);
        }
    }

    async fn write(
        &self,
        tenure: &mut Tenure,
        batch: Vec<EventKind>,
        wait: Wait,
    ) -> Result<(), CaseError> {
        if let Some((lease, _)) = &tenure.lease {
            self.ledger.append(lease, batch, wait).await?;
            return Ok(());
        }
        // Nobody else will ever see who owned a case that ends with its first write.
        let holder = match batch.last() {
            Some(EventKind::CaseClosed { .. } | EventKind::CaseParked { .. }) => {
                Holder::unannounced()
            }
            _ => self.holder.announced()?,
        };
        let opening = self.ledger.open_case(&self.id, &holder, batch, wait);
        let lease = opening.await?;
        let guard = keep_alive(&self.ledger, &lease);
        tenure.lease = Some((lease, guard));
        Ok(())
    }

    fn tally(&self) -> std::sync::MutexGuard<'_, Tally> {
        // Adding up cannot leave the sum half-changed.
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finished_here(&self) -> std::sync::MutexGuard<'_, BTreeSet<StepKey>> {
        // Inserting cannot leave the set half-changed.
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<EventKind>> {
        // Pushing and taking cannot leave the list half-changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the result of the step `key`, doing `work` only if no earlier run of the case did.
    ///
    /// Work that ends in nothing leaves the step unfinished: whoever resumes the case tries again.
    pub(crate) async fn step_if_answered<T, W>(
        &self,
        key: &StepKey,
        then: Then,
        work: W,
    ) -> Result<Option<T>, CaseError>
    where
        T: Serialize + DeserializeOwned,
        W: Future<Output = Result<Option<T>, CaseError>>,
    {
        let unreadable = |error: serde_json::Error| CaseError::Unreadable {
            step: key.clone(),
            reason: error.to_string(),
        };
        if let Some(output) = self.finished(key).await? {
            return serde_json::from_value(output).map_err(unreadable);
        }
        self.note(EventKind::StepStarted { step: key.clone() })
            .await;
        let Some(result) = work.await? else {
            return Ok(None);
        };
        let output = serde_json::to_value(&result).map_err(unreadable)?;
        crashpoint!("case.step.finish.before");
        let finished = EventKind::StepFinished {
            step: key.clone(),
            output,
        };
        match then {
            Then::GoOn => self.record_soon([finished]).await?,
            Then::End => self.note(finished).await,
        }
        self.finished_here().insert(key.clone());
        crashpoint!("case.step.finish.after");
        Ok(Some(result))
    }

    /// Makes a change outside the ledger, once.
    ///
    /// `probe` asks the world whether the change is there and returns the evidence; `act` makes it.
    /// The intent is stored before acting; after a crash the world is asked first.
    pub(crate) async fn effect<P, A>(
        &self,
        key: &EffectKey,
        what: &str,
        probe: impl Fn() -> P,
        act: impl FnOnce() -> A,
    ) -> Result<String, CaseError>
    where
        P: Future<Output = Result<Option<String>, CaseError>>,
        A: Future<Output = Result<(), CaseError>>,
    {
        let state = self.ledger.store().effect(&self.id, key).await?;
        let evidence = match state {
            EffectState::Done { evidence } => return Ok(evidence),
            EffectState::Intended => probe().await?,
            EffectState::Unknown => {
                let what = what.to_owned();
                self.record([EventKind::EffectIntended {
                    effect: key.clone(),
                    what,
                }])
                .await?;
                crashpoint!("case.effect.intended");
                None
            }
        };
        let evidence = match evidence {
            Some(evidence) => evidence,
            None => {
                act().await?;
                crashpoint!("case.effect.acted");
                let missing = || CaseError::Request(format!("`{what}` did not take hold"));
                probe().await?.ok_or_else(missing)?
            }
        };
        let done = EventKind::EffectDone {
            effect: key.clone(),
            evidence: evidence.clone(),
        };
        self.record([done]).await?;
        crashpoint!("case.effect.done");
        Ok(evidence)
    }

    /// Ends the case; the ledger takes its lease back.
    pub(crate) async fn close(self, outcome: Outcome) -> Result<(), CaseError> {
        crashpoint!("case.close.before");
        self.record([EventKind::CaseClosed { outcome }]).await?;
        crashpoint!("case.close.after");
        Ok(())
    }

    /// Gives the lease back without a word; what was noted and not recorded is forgotten.
    pub(crate) async fn release(self) -> Result<(), CaseError> {
        if let Some((lease, _)) = &self.lease.lock().await.lease {
            self.ledger.store().release(lease).await?;
        }
        Ok(())
    }

    /// Lets the case wait, to be resumed by whoever comes; the ledger takes its lease back.
    pub(crate) async fn park(self, why: Pause, until: Option<Timestamp>) -> Result<(), CaseError> {
        self.record([EventKind::CaseParked { why, until }]).await
    }

    /// Tells whether another process has taken the case over.
    pub(crate) async fn is_taken_over(&self) -> bool {
        let tenure = self.lease.lock().await;
        let Some((lease, _)) = &tenure.lease else {
            return false;
        };
        let renewed = self.ledger.store().renew(lease).await;
        matches!(renewed, Err(StoreError::LeaseLost { .. }))
    }

    /// Tells whether a step has come to its end, here or before.
    pub(crate) async fn has_finished(&self, key: &StepKey) -> Result<bool, CaseError> {
        Ok(self.finished(key).await?.is_some())
    }

    async fn finished(&self, key: &StepKey) -> Result<Option<serde_json::Value>, CaseError> {
        // Of a case that began here, nobody else has finished anything.
        if !self.resumed && !self.finished_here().contains(key) {
            return Ok(None);
        }
        Ok(self.ledger.store().step(&self.id, key).await?)
    }
}

/// Does work that waits for git or the disk on a thread of its own, where it holds up nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
) -> Result<T, CaseError> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| CaseError::Request(format!("git work failed: {error}")))?;
    Ok(done?)
}

/// Renews `lease` until the returned guard is dropped.
fn keep_alive(ledger: &Ledger, lease: &Lease) -> DropGuard {
    let token = CancellationToken::new();
    // The task may outlive the work, and must not make this process look alive for longer.
    let holder = Holder::named(
        lease.holder.host.clone(),
        lease.holder.pid,
        &lease.holder.nonce,
    );
    let lease = Lease {
        holder,
        ..lease.clone()
    };
    let (ledger, stopped) = (ledger.clone(), token.clone());
    tokio::spawn(async move {
        while stopped
            .run_until_cancelled(tokio::time::sleep(HEARTBEAT))
            .await
            .is_some()
        {
            if let Err(error) = ledger.store().renew(&lease).await {
                // Writes will fail by their generation if the case was really taken over.
                tracing::warn!(%error, case = %lease.case, "cannot renew the lease");
            }
        }
    });
    token.drop_guard()
}
