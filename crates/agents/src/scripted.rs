//! To be written.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{Agent, AgentError, Call, Profile, Progress, Reply};

/// To be written.
pub struct ScriptedAgent {
    profile: Profile,
}

impl ScriptedAgent {
    /// To be written.
    pub fn new(profile: Profile, _script: std::path::PathBuf) -> Self {
        Self { profile }
    }
}

#[async_trait]
impl Agent for ScriptedAgent {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    async fn run(&self, _: Call, _: Progress, _: CancellationToken) -> Result<Reply, AgentError> {
        Err(AgentError::new(
            tribunal_core::agent::ErrorClass::Setup,
            "to be written",
        ))
    }
}
