//! To be written.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{Agent, AgentError, Call, Profile, Progress, Reply};

/// To be written.
pub struct ReplayAgent {
    profile: Profile,
}

impl ReplayAgent {
    /// To be written.
    pub fn new(profile: Profile, _recordings: Vec<crate::spec::Recording>) -> Self {
        Self { profile }
    }
}

#[async_trait]
impl Agent for ReplayAgent {
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
