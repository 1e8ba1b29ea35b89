//! Settings of trials, and of the project whose tests are their evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tribunal_core::verdict::Method;

use super::command::CommandLine;
use super::values::Span;

/// How trials are held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrialSettings {
    /// How many contestants are designed when nobody is named.
    #[schemars(range(min = 2, max = 6))]
    pub contestants: u32,
    /// Most judges that the arbiter may design.
    #[schemars(range(min = 1, max = 5))]
    pub judges: u32,
    /// How judges' scores become one: `mean`, `median`, `trimmed`, `z-mean` or `pairwise`.
    pub method: Method,
    /// What judges' words weigh: the same, or by how often they were right before.
    pub weights: Weighing,
    /// Whether every judge is asked again with the answers in reverse order, at twice the cost.
    pub swap: bool,
    /// Characters of one answer, or of one diff, that judges see, and a third of it of what is said
    /// about changes; what is longer is shortened, and the verdict says so.
    #[schemars(range(min = 1000))]
    pub answer_chars: u32,
    /// Longest time of one contestant, when not as for every agent.
    pub contestant_wall: Option<Span>,
}

impl Default for TrialSettings {
    fn default() -> Self {
        Self {
            contestants: 3,
            judges: 5,
            method: Method::Mean,
            weights: Weighing::Equal,
            swap: false,
            answer_chars: 60_000,
            contestant_wall: None,
        }
    }
}

/// What words of judges or reviewers weigh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weighing {
    /// All the same.
    Equal,
    /// By the record that this ledger has of them, as `stats --record` prints it; where it does not
    /// tell them apart, all the same.
    Record,
}

/// What is known about the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectSettings {
    /// Command that runs the tests, as one line or a list; it runs code that agents wrote.
    pub test_command: Option<CommandLine>,
    /// Longest time that it may take.
    pub test_timeout: Span,
}

impl Default for ProjectSettings {
    fn default() -> Self {
        Self {
            test_command: None,
            test_timeout: Span(std::time::Duration::from_secs(600)),
        }
    }
}
