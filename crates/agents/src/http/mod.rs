//! To be written.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{Agent, AgentError, Call, Profile, Progress, Reply};

/// To be written.
pub struct HttpAgent {
    profile: Profile,
}

impl HttpAgent {
    /// To be written.
    pub fn new(profile: Profile, _spec: crate::spec::HttpSpec) -> Result<Self, AgentError> {
        Ok(Self { profile })
    }
}

#[async_trait]
impl Agent for HttpAgent {
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
