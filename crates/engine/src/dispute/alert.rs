//! Telling about disputes that have been open for too long.

use std::time::Duration;

use serde_json::{Value, json};
use tribunal_agents::http::JsonService;
use tribunal_core::dispute::{Dispute, Status, Subject};
use tribunal_core::event::{DisputeEvent, EventKind};
use tribunal_core::ids::EffectKey;
use tribunal_core::time::Timestamp;
use tribunal_store::{DisputeFilter, EffectState, crashpoint};

use crate::Engine;
use crate::case::{Case, CaseError};
use crate::config::{DisputeSettings, StaleAlert};

/// At most so many messages are sent by one command; the next command sends the rest.
const AT_ONCE: usize = 20;

/// The pause after the first attempt in a row; it doubles.
const PAUSE: Duration = Duration::from_millis(250);

/// The header by which a receiver knows a repeated message.
const DELIVERY_HEADER: &str = "tribunal-delivery";

/// How to tell about stale disputes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Alert {
    /// Not at all.
    #[default]
    None,
    /// In the terminal.
    Log,
    /// By a POST to this address.
    Webhook(String),
}

impl Alert {
    pub(crate) fn new(settings: &DisputeSettings) -> Self {
        match (settings.alert_on_stale, &settings.webhook) {
            (StaleAlert::Log, _) => Self::Log,
            (StaleAlert::Webhook, Some(url)) => Self::Webhook(url.clone()),
            // The config does not allow the one without the other.
            (StaleAlert::Webhook, None) | (StaleAlert::None, _) => Self::None,
        }
    }
}

impl Engine {
    /// Returns after how many days an open dispute is called stale.
    #[must_use]
    pub fn stale_after_days(&self) -> u32 {
        self.disputes.timeout_days
    }

    /// Tells whether people are warned about stale disputes.
    #[must_use]
    pub fn warns_about_stale(&self) -> bool {
        self.disputes.alert == Alert::Log
    }

    /// Returns the disputes that have been open for too long, the oldest first.
    pub async fn stale_disputes(&self) -> Result<Vec<Dispute>, CaseError> {
        let store = self.ledger.store();
        let limit = store.now().await?.minus_days(self.disputes.timeout_days);
        let wanted = DisputeFilter {
            status: Some(Status::Open),
            opened_before: Some(limit),
            ..DisputeFilter::default()
        };
        let mut stale = store.disputes(&wanted).await?;
        stale.reverse();
        Ok(stale)
    }

    /// Tells the configured address about `stale` disputes, once for each.
    ///
    /// What cannot be delivered now is tried again by later commands, ever more rarely.
    pub async fn alert_about(&self, stale: &[Dispute]) -> Result<(), CaseError> {
        let Alert::Webhook(url) = &self.disputes.alert else {
            return Ok(());
        };
        let now = self.ledger.store().now().await?;
        let due = stale.iter().filter(|one| one.alerts.due(now) > 0);
        for dispute in due.take(AT_ONCE) {
            // Otherwise whoever works on it tells, or somebody does later.
            if let Some(case) = self.take_if_free(&dispute.id.case()).await? {
                self.alert(case, url, now).await?;
            }
        }
        Ok(())
    }

    async fn alert(&self, case: Case, url: &str, now: Timestamp) -> Result<(), CaseError> {
        // Read again under the lease: another process may have told.
        let (dispute, _) = self.story(case.id()).await?;
        let first = dispute.alerts.attempts + 1;
        let days_open = dispute.days_open(now).unwrap_or(0);
        let delivery = format!("{}-stale", dispute.id);
        let message = self.message(&dispute, days_open, &delivery);
        let key = EffectKey::new(format!("webhook {delivery}"))?;
        if dispute.alerts.due(now) > 0
            && self.ledger.store().effect(case.id(), &key).await? == EffectState::Unknown
        {
            let (effect, what) = (key.clone(), format!("tell that {} is stale", dispute.id));
            case.record([EventKind::EffectIntended { effect, what }])
                .await?;
        }
        for attempt in (first..).take(usize::try_from(dispute.alerts.due(now)).unwrap_or(0)) {
            if attempt > first {
                tokio::time::sleep(PAUSE * (1 << (attempt - first))).await;
            }
            crashpoint!("dispute.alert.before");
            let (delivered, answer) = send(url, &message, &delivery).await;
            crashpoint!("dispute.alert.sent");
            let attempted = DisputeEvent::AlertAttempted {
                delivery: delivery.clone(),
                attempt,
                days_open,
                delivered,
                answer: self.redactor.redact(&answer),
            };
            let done = delivered.then(|| EventKind::EffectDone {
                effect: key.clone(),
                evidence: answer.clone(),
            });
            case.record([attempted.into()].into_iter().chain(done))
                .await?;
            if delivered {
                break;
            }
        }
        self.settle(case).await.map(|_| ())
    }

    fn message(&self, dispute: &Dispute, days_open: u64, delivery: &str) -> Value {
        let opening = &dispute.opening;
        let subject = match &opening.subject {
            Subject::Task { task, title } => json!({"task": task, "title": title}),
            Subject::Finding { review, finding } => json!({
                "review": review, "finding": finding.id(), "title": finding.title,
                "place": finding.location.to_string(),
            }),
        };
        json!({
            "event": "dispute_stale",
            "delivery": delivery,
            "dispute": dispute.id,
            "subject": subject,
            "reason": opening.grounds,
            "opened_at": dispute.opened_at,
            "days_open": days_open,
            "timeout_days": self.disputes.timeout_days,
        })
    }
}

/// Sends a message and returns whether it was received, and what was said.
async fn send(url: &str, message: &Value, delivery: &str) -> (bool, String) {
    let sent = async {
        let service = JsonService::new(url)?;
        service
            .deliver(message, &[(DELIVERY_HEADER, delivery)])
            .await
    };
    match sent.await {
        Ok(status) => ((200..300).contains(&status), format!("HTTP {status}")),
        Err(error) => (false, error.message),
    }
}
