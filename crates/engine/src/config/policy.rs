//! The policy of reviews: the name of a preset, or the numbers to change.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tribunal_core::consensus::Policy;

/// The numbers by which findings are settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct ReviewPolicy {
    written: Written,
    policy: Policy,
}

impl ReviewPolicy {
    /// Returns the policy itself.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }
}

impl Default for ReviewPolicy {
    fn default() -> Self {
        let policy = Policy::tribunal();
        Self {
            written: Written::Name(policy.name.clone()),
            policy,
        }
    }
}

/// How a policy is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    /// The name of a preset.
    Name(String),
    /// Some of its keys; `name` says of which preset.
    Changes(Map<String, Value>),
}

impl TryFrom<Written> for ReviewPolicy {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let policy = match &written {
            Written::Name(name) => Policy::preset(name),
            Written::Changes(changes) => Policy::from_changes(&Value::Object(changes.clone())),
        };
        let policy = policy.map_err(|error| error.to_string())?;
        Ok(Self { written, policy })
    }
}

impl From<ReviewPolicy> for Written {
    fn from(policy: ReviewPolicy) -> Self {
        policy.written
    }
}

impl JsonSchema for ReviewPolicy {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReviewPolicy".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The name of a policy, or some of its numbers: `name` says whose.",
            "anyOf": [
                { "type": "string", "enum": ["tribunal", "arena"] },
                { "type": "object" },
            ],
        })
    }
}
