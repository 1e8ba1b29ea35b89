//! A JSON service behind a base URL, under the same rules as model APIs: http or https, addresses
//! checked after the lookup, no redirects, no credentials, bounds on time and size.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::Value;
use tribunal_core::agent::ErrorClass;

use super::endpoint::Endpoint;
use super::failure;
use crate::AgentError;

/// Longest time for one exchange.
const PATIENCE: Duration = Duration::from_secs(30);

/// Longest time until a message is acknowledged.
const DELIVERY: Duration = Duration::from_secs(10);

/// Largest answer that is read.
const LARGEST: usize = 64 << 20;

/// A JSON service. Nothing is contacted before the first question.
#[derive(Debug, Clone)]
pub struct JsonService {
    endpoint: Endpoint,
}

impl JsonService {
    /// Returns the service below `base`, or what is wrong with the URL.
    pub fn new(base: &str) -> Result<Self, AgentError> {
        let endpoint = Endpoint::plain(base)?;
        Ok(Self { endpoint })
    }

    /// Returns the answer to a GET below the base; nothing when there is no such document.
    pub async fn get(&self, path: &[&str]) -> Result<Option<Vec<u8>>, AgentError> {
        let endpoint = self.endpoint.below(path)?;
        self.exchange(endpoint.client()?.get(endpoint.url)).await
    }

    /// Returns the answer to a POST of `body` below the base; nothing when there is no such place.
    pub async fn post(&self, path: &[&str], body: &Value) -> Result<Option<Vec<u8>>, AgentError> {
        let endpoint = self.endpoint.below(path)?;
        let request = endpoint.client()?.post(endpoint.url);
        let request = request.header(CONTENT_TYPE, "application/json");
        self.exchange(request.body(body.to_string())).await
    }

    /// Sends `body` to the base itself and returns the status of the answer, which is not read.
    pub async fn deliver(
        &self,
        body: &Value,
        headers: &[(&'static str, &str)],
    ) -> Result<u16, AgentError> {
        let host = &self.endpoint.host;
        let request = self.endpoint.client()?.post(self.endpoint.url.clone());
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        let sent = request.body(body.to_string()).send();
        let answered = tokio::time::timeout(DELIVERY, sent).await.map_err(|_| {
            let message = format!("{host} did not answer within {} s", DELIVERY.as_secs());
            AgentError::new(ErrorClass::Hung, message)
        })?;
        let response = answered.map_err(|error| failure::from_transport(host, error))?;
        Ok(response.status().as_u16())
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<Option<Vec<u8>>, AgentError> {
        let host = &self.endpoint.host;
        let request = request.header(ACCEPT, "application/json");
        let read = async {
            let transport = |error| failure::from_transport(host, error);
            let mut response = request.send().await.map_err(transport)?;
            let status = response.status();
            if status == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            if !status.is_success() {
                let message = format!("{host} answers with status {}", status.as_u16());
                return Err(AgentError::new(ErrorClass::Network, message));
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(transport)? {
                body.extend_from_slice(&chunk);
                if body.len() > LARGEST {
                    let message = format!("{host} answers with more than {LARGEST} bytes");
                    return Err(AgentError::new(ErrorClass::Limit, message));
                }
            }
            Ok(Some(body))
        };
        tokio::time::timeout(PATIENCE, read).await.map_err(|_| {
            let message = format!("{host} did not answer within {} s", PATIENCE.as_secs());
            AgentError::new(ErrorClass::Hung, message)
        })?
    }
}
