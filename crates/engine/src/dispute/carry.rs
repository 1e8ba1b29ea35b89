//! What follows from the events of a dispute: found in its story, done once each.

use tribunal_core::dispute::{Dispute, Effect, Referral, TaskChange};
use tribunal_core::event::{DisputeEvent, EventKind};
use tribunal_core::ids::{CaseId, DisputeId, EffectKey};
use tribunal_store::{EffectState, Store, StoreError};

use super::task::Cause;
use crate::Engine;
use crate::case::{Case, CaseError};
use crate::change::ChangeError;

/// Events are read in pages of this size.
const PAGE: u32 = 1_000;

/// An effect with the number of the event that it follows from.
pub(super) struct Due {
    seq: u64,
    effect: Effect,
}

/// Returns a dispute as its events tell it, and all that ever followed from them.
async fn story(store: &dyn Store, case: &CaseId) -> Result<(Dispute, Vec<Due>), CaseError> {
    let mut dispute: Option<Dispute> = None;
    let mut due = Vec::new();
    let mut after = 0;
    loop {
        let page = store.events(case, after, PAGE).await?;
        for event in &page {
            after = event.seq;
            let EventKind::Dispute(happened) = &event.kind else {
                continue;
            };
            let (now, effects) = match (dispute.take(), happened) {
                (None, DisputeEvent::DisputeOpened { dispute, opening }) => {
                    Dispute::open(dispute.clone(), opening.as_ref().clone(), event.at)?
                }
                (Some(before), happened) => before.apply(happened, event.at)?,
                (None, _) => return Err(untold(case)),
            };
            dispute = Some(now);
            let seq = event.seq;
            due.extend(effects.into_iter().map(|effect| Due { seq, effect }));
        }
        if page.is_empty() {
            break;
        }
    }
    Ok((dispute.ok_or_else(|| untold(case))?, due))
}

/// Returns the number of the last event after which `dispute.md` is rendered.
fn last_render(due: &[Due]) -> Option<u64> {
    let renders = due.iter().filter(|one| one.effect == Effect::RenderFile);
    renders.map(|one| one.seq).max()
}

fn render_key(seq: u64) -> Result<EffectKey, CaseError> {
    Ok(EffectKey::new(format!(
        "render dispute.md after event {seq}"
    ))?)
}

fn mark_key(task: &str, seq: u64) -> Result<EffectKey, CaseError> {
    Ok(EffectKey::new(format!(
        "mark task {task} after event {seq}"
    ))?)
}

/// Tells whether `dispute.md` was rendered for all that happened in a dispute; nothing when it never
/// stood there.
pub(super) async fn is_rendered(
    store: &dyn Store,
    case: &CaseId,
) -> Result<Option<bool>, CaseError> {
    let (_, due) = story(store, case).await?;
    let Some(seq) = last_render(&due) else {
        return Ok(None);
    };
    let state = store.effect(case, &render_key(seq)?).await?;
    Ok(Some(matches!(state, EffectState::Done { .. })))
}

impl Engine {
    /// Returns a dispute as its events tell it, and all that ever followed from them.
    pub(super) async fn story(&self, case: &CaseId) -> Result<(Dispute, Vec<Due>), CaseError> {
        story(self.ledger.store().as_ref(), case).await
    }

    /// Refuses a change of a dispute that leads to work which lies elsewhere. What followed from the
    /// dispute before counts as well, because it is gone through again.
    pub(super) async fn check_change(
        &self,
        case: &CaseId,
        more: impl IntoIterator<Item = &Effect>,
    ) -> Result<(), CaseError> {
        let (_, due) = self.story(case).await?;
        let before = due.iter().map(|one| &one.effect);
        self.check_reach(case, before).await?;
        self.check_reach(case, more).await
    }

    /// Takes a dispute's case over, unless somebody works on it or it needs work that lies elsewhere:
    /// then others will do what is left.
    pub(super) async fn take_if_free(&self, case: &CaseId) -> Result<Option<Case>, CaseError> {
        match self.check_change(case, []).await {
            Err(CaseError::Change(ChangeError::WorkElsewhere { .. })) => return Ok(None),
            checked => checked?,
        }
        match self.take_over(case).await {
            Ok(case) => Ok(Some(case)),
            Err(CaseError::Store(StoreError::Busy { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Does what is due and was not done before.
    pub(super) async fn carry_out(
        &self,
        case: &Case,
        dispute: &Dispute,
        due: &[Due],
        held: Option<&Case>,
    ) -> Result<(), CaseError> {
        let last_render = last_render(due);
        let mut undelivered = None;
        for Due { seq, effect } in due {
            match effect {
                // Stored together with the event.
                Effect::TrackFinding(_) => {}
                Effect::RenderFile => {
                    let key = render_key(*seq)?;
                    // What was announced is done; otherwise the last one is enough for all.
                    let store = self.ledger.store();
                    if last_render == Some(*seq)
                        || store.effect(case.id(), &key).await? == EffectState::Intended
                    {
                        self.render_file(case, &key).await?;
                    }
                }
                Effect::MarkTask { task, change } => {
                    let key = mark_key(task, *seq)?;
                    let seq = *seq;
                    let cause = Cause { dispute, seq, held };
                    // Work that was not delivered completes nothing.
                    let change = match (change, undelivered.take()) {
                        (TaskChange::Completed, Some(instructions)) => {
                            TaskChange::BackToCoder { instructions }
                        }
                        (change, _) => change.clone(),
                    };
                    self.mark_task(case, &key, &cause, task, &change).await?;
                }
                Effect::KeepWork { task } => self.keep_work(case, task).await?,
                Effect::ApproveWork { task } => {
                    let mark = mark_key(task, *seq)?;
                    undelivered = self.approve_work(case, dispute, task, &mark).await?;
                }
                Effect::ReferNext { dispute, referral } => {
                    let key = EffectKey::new(format!("refer {dispute} after event {seq}"))?;
                    self.refer_next(case, &key, dispute, referral).await?;
                }
            }
        }
        Ok(())
    }
}

impl Engine {
    /// Lets a task wait for another dispute, as an effect of the one that was ruled.
    async fn refer_next(
        &self,
        case: &Case,
        key: &EffectKey,
        next: &DisputeId,
        referral: &Referral,
    ) -> Result<(), CaseError> {
        let probe = || async {
            let now = self.dispute(next.as_str()).await?;
            let referred = now.referral.as_ref() == Some(referral);
            Ok(referred.then(|| format!("dispute {next}")))
        };
        let act = || async {
            // What follows there may lead to a third one.
            let referred = Box::pin(self.refer_dispute(next, referral.clone()));
            referred.await.map(|_| ())
        };
        let what = format!("let task {} wait for dispute {next}", referral.task);
        case.effect(key, &what, probe, act).await.map(|_| ())
    }
}

fn untold(case: &CaseId) -> CaseError {
    CaseError::Store(StoreError::Damaged {
        what: format!("case {case} does not tell how its dispute began"),
    })
}
