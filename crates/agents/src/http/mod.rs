//! Model APIs: one streamed HTTP request for each run, read as it comes.
//!
//! The clients are our own and thin, because what matters here lies below the level of general
//! client libraries: one request per run, the exact class of every failure, the end mark that
//! tells a whole answer from a cut one, and bounds on time and memory.

mod anthropic;
mod chat;
mod deadline;
mod dialect;
mod draft;
mod endpoint;
mod failure;
mod gemini;
mod record;
mod responses;
pub(crate) mod schema;
mod service;
mod sse;
mod wait;

use async_trait::async_trait;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tribunal_core::agent::ErrorClass;
use tribunal_core::secret::{Redactor, Secret};

use crate::spec::{Api, HttpSpec};
use crate::{Agent, AgentError, Call, LoginState, Profile, Progress, Reply};
use deadline::{Deadlines, Phase};
use dialect::Server;
use draft::Draft;
use endpoint::Endpoint;
use record::Recorder;
pub use service::JsonService;
use sse::SseReader;

/// Bytes of one event; a whole answer comes in one event at the end of a Responses stream.
const LONGEST_EVENT: usize = 16 * 1024 * 1024;

/// Bytes of the body of an error that are read.
const LONGEST_ERROR: usize = 64 * 1024;

/// An agent behind a model API.
#[derive(Debug)]
pub struct HttpAgent {
    profile: Profile,
    api: Api,
    model: String,
    endpoint: Endpoint,
    key: Option<Secret>,
    /// Another server than the vendor's, which may want no key.
    own_server: Option<String>,
    redactor: Redactor,
}

impl HttpAgent {
    /// Returns the agent that `spec` describes, or what is wrong with it. Nothing is contacted.
    pub fn new(profile: Profile, spec: HttpSpec) -> Result<Self, AgentError> {
        let model = profile.model.as_deref().unwrap_or("").trim().to_owned();
        if model.is_empty() {
            let message = format!("Agent `{}` needs a `model`", profile.name);
            return Err(AgentError::new(ErrorClass::Setup, message));
        }
        let endpoint = Endpoint::new(spec.api, spec.base_url.as_deref(), &model)?;
        // Keys read from files end in a newline, which would also hide them from the redactor.
        let key = spec.api_key.map(|key| Secret::new(key.expose().trim()));
        let key = key.filter(|key| !key.expose().is_empty());
        Ok(Self {
            profile,
            api: spec.api,
            model,
            endpoint,
            redactor: Redactor::new(key.clone()),
            key,
            own_server: spec.base_url,
        })
    }

    /// Puts `call` to the API and takes what comes back into `draft`.
    async fn exchange(
        &self,
        call: &Call,
        progress: &Progress,
        draft: &mut Draft,
    ) -> Result<(), AgentError> {
        let headers = self.headers()?;
        let client = self.endpoint.client()?;
        let body = dialect::request(self.api, self.endpoint.server, &self.model, call);
        let url = self.endpoint.url.as_str();
        record::request(&call.run_dir, url, &body, &self.redactor).map_err(|error| {
            let message = format!("The files of the run cannot be written: {error}");
            AgentError::new(ErrorClass::Setup, message)
        })?;
        let mut deadlines = Deadlines::start(call.limits);
        let sending = self.send(client, headers, &body);
        let response = deadlines.bound(sending).await??;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut recorder = Recorder::new(&call.run_dir, &self.redactor, status, &headers);
        if !status.is_success() {
            let text = self.document(response, &mut deadlines, &mut recorder).await;
            return Err(failure::from_response(self.api, status, &headers, &text));
        }
        if is_document(&headers) {
            let text = self.document(response, &mut deadlines, &mut recorder).await;
            return Err(failure::from_document(self.api, &text));
        }
        self.stream(
            response,
            call,
            &mut deadlines,
            &mut recorder,
            progress,
            draft,
        )
        .await
    }

    async fn send(
        &self,
        client: &Client,
        headers: HeaderMap,
        body: &Value,
    ) -> Result<Response, AgentError> {
        client
            .post(self.endpoint.url.clone())
            .headers(headers)
            .body(body.to_string())
            .send()
            .await
            .map_err(|error| failure::from_transport(&self.endpoint.host, error))
    }

    /// Reads the events of a successful response.
    async fn stream(
        &self,
        mut response: Response,
        call: &Call,
        deadlines: &mut Deadlines,
        recorder: &mut Recorder<'_>,
        progress: &Progress,
        draft: &mut Draft,
    ) -> Result<(), AgentError> {
        let mut reader = SseReader::new(LONGEST_EVENT);
        let mut received: u64 = 0;
        loop {
            let chunk = match deadlines.bound(response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                // What happens after the end mark takes nothing from the answer.
                _ if draft.ended => return Ok(()),
                Ok(Err(error)) => return Err(failure::from_transport(&self.endpoint.host, error)),
                Err(hung) => return Err(hung),
            };
            deadlines.enter(Phase::Flowing);
            recorder.push(&chunk);
            received = received.saturating_add(chunk.len() as u64);
            if received > call.limits.output_bytes {
                let message = format!("The response exceeds {} bytes", call.limits.output_bytes);
                return Err(AgentError::new(ErrorClass::Limit, message));
            }
            for event in reader.push(&chunk).map_err(garbled)? {
                dialect::take(self.api, &event, draft, progress)?;
            }
            if draft.ended {
                if !dialect::goes_on_after_its_end(self.api) {
                    return Ok(());
                }
                deadlines.enter(Phase::Ended);
            }
        }
        if let Some(event) = reader.finish() {
            dialect::take(self.api, &event, draft, progress)?;
        }
        if !draft.begun && received > 0 {
            return Err(AgentError::new(
                ErrorClass::Garbled,
                "The response is not a stream of events",
            ));
        }
        Ok(())
    }

    /// Reads the body of a response that is no stream, as far as it comes and fits.
    async fn document(
        &self,
        mut response: Response,
        deadlines: &mut Deadlines,
        recorder: &mut Recorder<'_>,
    ) -> String {
        let mut body = Vec::new();
        // The status is known: a body that stalls or breaks is not worth another error.
        while let Ok(Ok(Some(chunk))) = deadlines.bound(response.chunk()).await {
            deadlines.enter(Phase::Flowing);
            let room = LONGEST_ERROR - body.len();
            let chunk = chunk.get(..room).unwrap_or(&chunk);
            recorder.push(chunk);
            body.extend_from_slice(chunk);
            if body.len() >= LONGEST_ERROR {
                break;
            }
        }
        String::from_utf8_lossy(&body).into_owned()
    }

    fn headers(&self) -> Result<HeaderMap, AgentError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        for (name, value) in dialect::headers(self.api) {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        match &self.key {
            Some(key) => {
                let (name, value) = dialect::key_header(self.api, key.expose());
                let mut value = HeaderValue::from_str(&value).map_err(|_| {
                    let message = "The API key holds characters that no header may hold";
                    AgentError::new(ErrorClass::Auth, message)
                })?;
                value.set_sensitive(true);
                headers.insert(HeaderName::from_static(name), value);
            }
            None if self.endpoint.server == Server::Vendor => {
                let (agent, host) = (&self.profile.name, &self.endpoint.host);
                let message = format!("Agent `{agent}` has no API key for {host}");
                return Err(AgentError::new(ErrorClass::Auth, message));
            }
            // Servers of one's own often want no key.
            None => {}
        }
        Ok(headers)
    }

    /// Returns `error` without the key: servers like to repeat the one they were given.
    fn redacted(&self, mut error: AgentError) -> AgentError {
        error.message = self.redactor.redact(&error.message);
        error
    }
}

#[async_trait]
impl Agent for HttpAgent {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    async fn login_state(&self) -> LoginState {
        match (&self.key, &self.own_server) {
            (Some(_), _) => LoginState::Found("the key of its settings".to_owned()),
            (None, Some(url)) => LoginState::Unknown(format!("it talks to {url} without a key")),
            (None, None) => {
                let variable = match self.api {
                    Api::Anthropic => "ANTHROPIC_API_KEY",
                    Api::OpenaiResponses | Api::OpenaiChat => "OPENAI_API_KEY",
                    Api::Gemini => "GEMINI_API_KEY",
                };
                LoginState::Missing {
                    remedy: format!("set {variable}, or name another variable with `api_key_env`"),
                }
            }
        }
    }

    async fn run(
        &self,
        call: Call,
        progress: Progress,
        cancel: CancellationToken,
    ) -> Result<Reply, AgentError> {
        let mut draft = Draft::default();
        // Dropping the exchange closes its connection.
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                Err(AgentError::new(ErrorClass::Cancelled, "The run was cancelled"))
            }
            outcome = self.exchange(&call, &progress, &mut draft) => outcome,
        };
        let reply = match outcome {
            Ok(()) => draft.conclude(&call),
            Err(error) => Err(draft.charge(error)),
        };
        reply.map_err(|error| self.redacted(error))
    }

    /// Reads the recorded response again. Without its end mark nothing is recovered: the request
    /// may have been paid for, but its answer is lost.
    async fn recover(&self, call: &Call) -> Option<Result<Reply, AgentError>> {
        // The head of the response comes on top of its bytes.
        let most = call
            .limits
            .output_bytes
            .saturating_add(LONGEST_ERROR as u64);
        let (status, body) = record::recorded(&call.run_dir, most)?;
        let mut reader = SseReader::new(LONGEST_EVENT);
        let mut draft = Draft::default();
        if !(200..300).contains(&status) {
            return None;
        }
        for event in reader.push(&body).ok()? {
            dialect::take(self.api, &event, &mut draft, &Progress::default()).ok()?;
        }
        let reply = draft.ended.then(|| draft.conclude(call))?;
        Some(reply.map_err(|error| self.redacted(error)))
    }
}

fn garbled(error: sse::SseError) -> AgentError {
    let message = format!("The response is not a stream of events: {error}");
    AgentError::new(ErrorClass::Garbled, message)
}

/// Tells whether a response says that it is a document, not a stream.
fn is_document(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| {
        let kind = kind.trim_start().to_ascii_lowercase();
        kind.starts_with("application/json") || kind.starts_with("text/html")
    })
}
