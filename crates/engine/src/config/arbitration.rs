//! Settings of arbitrated reviews.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the findings of a review are put to a coder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArbitrationSettings {
    /// How often the coder works on findings before what is open goes on record as not converged.
    #[schemars(range(min = 1, max = 9))]
    pub rounds: u32,
}

impl Default for ArbitrationSettings {
    fn default() -> Self {
        Self { rounds: 3 }
    }
}
