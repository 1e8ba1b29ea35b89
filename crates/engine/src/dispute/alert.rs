//! Telling about disputes that have been open for too long.

use std::time::Duration;

use futures_util::future::join_all;
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

/// How long a command waits for the receiver.
const PATIENCE: Duration = Duration::from_secs(2);

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

/// A message that is about to be sent.
struct Notice {
    case: Case,
    key: EffectKey,
    attempt: u32,
    days_open: u64,
    delivery: String,
    message: Value,
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

    /// Tells the configured address about `stale` disputes, once for each, all at the same time.
    ///
    /// A command makes one attempt and waits for a moment only. What cannot be delivered is on
    /// record, is tried again by later commands, ever more rarely, and is returned as a sentence.
    pub async fn alert_about(&self, stale: &[Dispute]) -> Result<Option<String>, CaseError> {
        let Alert::Webhook(url) = &self.disputes.alert else {
            return Ok(None);
        };
        let now = self.ledger.store().now().await?;
        let due = stale.iter().filter(|one| one.alerts.due(now) > 0);
        let mut taken = Vec::new();
        for dispute in due.take(AT_ONCE) {
            // Otherwise whoever works on it tells, or somebody does later.
            if let Some(case) = self.take_if_free(&dispute.id.case()).await? {
                taken.extend(self.announce(case, now).await?);
            }
        }
        crashpoint!("dispute.alert.before");
        let sent = taken
            .iter()
            .map(|notice| send(url, &notice.message, &notice.delivery));
        let answers = join_all(sent).await;
        crashpoint!("dispute.alert.sent");
        let mut problems = Vec::new();
        for (notice, (delivered, answer)) in taken.into_iter().zip(answers) {
            if !delivered {
                problems.push(self.redactor.redact(&answer));
            }
            self.note_sent(notice, delivered, answer).await?;
        }
        let Some(first) = problems.first() else {
            return Ok(None);
        };
        let about = match problems.len() {
            1 => "1 stale dispute".to_owned(),
            n => format!("{n} stale disputes"),
        };
        Ok(Some(format!(
            "the webhook did not take the message about {about} ({first}); a later command tries \
             again"
        )))
    }

    /// Announces a message on record; nothing when another process has sent it meanwhile.
    async fn announce(&self, case: Case, now: Timestamp) -> Result<Option<Notice>, CaseError> {
        // Read again under the lease.
        let (dispute, _) = self.story(case.id()).await?;
        if dispute.alerts.due(now) == 0 {
            self.settle(case).await?;
            return Ok(None);
        }
        let days_open = dispute.days_open(now).unwrap_or(0);
        let delivery = format!("{}-stale", dispute.id);
        let message = self.message(&dispute, days_open, &delivery);
        let key = EffectKey::new(format!("webhook {delivery}"))?;
        if self.ledger.store().effect(case.id(), &key).await? == EffectState::Unknown {
            let (effect, what) = (key.clone(), format!("tell that {} is stale", dispute.id));
            case.record([EventKind::EffectIntended { effect, what }])
                .await?;
        }
        Ok(Some(Notice {
            case,
            key,
            attempt: dispute.alerts.attempts + 1,
            days_open,
            delivery,
            message,
        }))
    }

    /// Puts on record what came of sending a message.
    async fn note_sent(
        &self,
        notice: Notice,
        delivered: bool,
        answer: String,
    ) -> Result<(), CaseError> {
        let attempted = DisputeEvent::AlertAttempted {
            delivery: notice.delivery,
            attempt: notice.attempt,
            days_open: notice.days_open,
            delivered,
            answer: self.redactor.redact(&answer),
        };
        let done = delivered.then_some(EventKind::EffectDone {
            effect: notice.key,
            evidence: answer,
        });
        let events = [attempted.into()].into_iter().chain(done);
        notice.case.record(events).await?;
        self.settle(notice.case).await.map(|_| ())
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
    match tokio::time::timeout(PATIENCE, sent).await {
        Ok(Ok(status)) => ((200..300).contains(&status), format!("HTTP {status}")),
        Ok(Err(error)) => (false, error.message),
        Err(_) => (false, format!("no answer within {} s", PATIENCE.as_secs())),
    }
}
