//! Settings of disputes and of the precedents that they make.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::whole_number;

/// What happens to disputes that stay open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DisputeSettings {
    /// Days after which an open dispute is called stale.
    #[schemars(range(min = 1, max = 3650))]
    #[serde(deserialize_with = "whole_number::<1, 3650, _>")]
    pub timeout_days: u32,
    /// How to tell about stale disputes.
    pub alert_on_stale: StaleAlert,
    /// What the loop does when a major dispute is opened.
    pub on_major: OnMajor,
    /// Address that gets a POST when disputes are stale and `alert_on_stale` is `webhook`.
    pub webhook: Option<String>,
    /// How many resolved disputes `dispute.md` shows; it counts those before.
    pub shown_resolved: u32,
}

impl Default for DisputeSettings {
    fn default() -> Self {
        Self {
            timeout_days: 7,
            alert_on_stale: StaleAlert::Log,
            on_major: OnMajor::Park,
            webhook: None,
            shown_resolved: 50,
        }
    }
}

/// How to tell about stale disputes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StaleAlert {
    /// A warning in the terminal.
    Log,
    /// A POST to `disputes.webhook`.
    Webhook,
    /// Nothing.
    None,
}

/// What the loop does when a major dispute is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnMajor {
    /// The task waits for a ruling and the loop goes on with the next one.
    Park,
    /// The loop stops.
    Halt,
}

/// How long rulings serve as precedents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PrecedentSettings {
    /// Days after which a ruling is shown no more when its finding comes back.
    #[schemars(range(min = 1, max = 36500))]
    pub expire_days: u32,
}

impl Default for PrecedentSettings {
    fn default() -> Self {
        Self { expire_days: 365 }
    }
}
