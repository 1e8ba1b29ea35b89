//! Signs of life of a running agent.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tribunal_agents::AgentEvent;
use tribunal_core::event::EventKind;
use tribunal_core::ids::RunId;
use tribunal_core::money::{Cost, Price, Usage};

use super::priced;
use crate::case::{Case, CaseError};

/// How often a sign of life is stored.
const EVERY: Duration = Duration::from_secs(2);

/// Stores signs of life of a run until the agent stops reporting. `price` is what it charges, where
/// that is known before the end.
pub(super) async fn watch(
    case: &Case,
    run: RunId,
    price: Option<Price>,
    mut events: mpsc::Receiver<AgentEvent>,
) -> Result<(), CaseError> {
    let mut last = Instant::now();
    let (mut activity, mut chars, mut usage) = ("waiting".to_owned(), 0, Usage::default());
    while let Some(event) = events.recv().await {
        match event {
            AgentEvent::Started { .. } => "thinking".clone_into(&mut activity),
            AgentEvent::Text(text) => {
                "writing".clone_into(&mut activity);
                chars += text.chars().count() as u64;
            }
            AgentEvent::ToolCall { name } => {
                activity = tribunal_core::text::truncate_chars(&name, 40).into_owned();
            }
            AgentEvent::ClientRetry { class } => activity = format!("retrying ({class})"),
            AgentEvent::Usage(so_far) => usage = so_far,
        }
        if last.elapsed() >= EVERY {
            last = Instant::now();
            let progressed = EventKind::RunProgressed {
                run: run.clone(),
                activity: activity.clone(),
                chars,
                usage,
                cost: priced(Cost::Unknown, usage, price),
            };
            case.record([progressed]).await?;
        }
    }
    Ok(())
}
