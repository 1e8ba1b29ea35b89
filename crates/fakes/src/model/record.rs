//! What was asked, kept per key, and the scripts that tests leave for a key.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::http::Request;

/// Requests kept per key; later ones are counted, not kept.
const MAX_REQUESTS_PER_KEY: usize = 10_000;
/// Bytes of request bodies kept by one server; bodies beyond are replaced by a note.
const MAX_KEPT_BYTES: usize = 512 * 1024 * 1024;

/// One request as the fake model received it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedRequest {
    /// Position among the requests of its key, from 0.
    pub n: usize,
    /// Wall-clock time of arrival in milliseconds since 1970.
    pub time_ms: u64,
    /// Scenario named by the URL.
    pub scenario: String,
    /// HTTP method.
    pub method: String,
    /// API path with its query, without the scenario prefix.
    pub path: String,
    /// Headers in lower case; repeated ones are joined with a comma.
    pub headers: BTreeMap<String, String>,
    /// Body as JSON, or as text when it is not JSON; null when empty.
    pub body: Value,
}

/// Everything the server remembers, shared by all connections.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    kept_bytes: usize,
    keys: HashMap<String, Key>,
}

#[derive(Debug, Default)]
struct Key {
    seen: usize,
    requests: Vec<Stored>,
    turns: HashMap<String, usize>,
    script: Script,
}

/// Bodies stay bytes until somebody asks: parsed JSON is several times larger.
#[derive(Debug)]
struct Stored {
    head: RecordedRequest,
    body: Option<Vec<u8>>,
}

/// Replies that a test posted for a key.
#[derive(Debug, Default)]
struct Script {
    rules: Vec<Value>,
    queue: VecDeque<Value>,
}

impl Recorder {
    /// Records a request and returns its position among those of the key.
    pub(crate) fn record(&self, key: &str, scenario: &str, path: &str, request: &Request) -> usize {
        let mut inner = self.lock();
        let fits = inner.kept_bytes.saturating_add(request.body.len()) <= MAX_KEPT_BYTES;
        let entry = inner.keys.entry(key.to_owned()).or_default();
        let n = entry.seen;
        entry.seen += 1;
        if entry.requests.len() < MAX_REQUESTS_PER_KEY {
            entry.requests.push(Stored {
                head: RecordedRequest {
                    n,
                    time_ms: crate::now_ms(),
                    scenario: scenario.to_owned(),
                    method: request.method.clone(),
                    path: path.to_owned(),
                    headers: joined(&request.headers),
                    body: Value::Null,
                },
                body: fits.then(|| request.body.clone()),
            });
            if fits {
                inner.kept_bytes += request.body.len();
            }
        }
        n
    }

    /// Returns how many model calls the scenario has answered for the key, and counts this one.
    pub(crate) fn next_turn(&self, key: &str, scenario: &str) -> usize {
        let mut inner = self.lock();
        let turns = &mut inner.keys.entry(key.to_owned()).or_default().turns;
        let turn = turns.entry(scenario.to_owned()).or_default();
        *turn += 1;
        *turn - 1
    }

    /// Returns the requests recorded for a key, in order of arrival.
    pub(crate) fn requests(&self, key: &str) -> Vec<RecordedRequest> {
        let inner = self.lock();
        inner
            .keys
            .get(key)
            .map(|entry| entry.requests.iter().map(Stored::open).collect())
            .unwrap_or_default()
    }

    /// Sets the replies of scenario `script` for a key, in place of earlier ones.
    ///
    /// Objects with a `when` member are rules: they answer every prompt that contains the text
    /// and are never used up.
    pub(crate) fn set_script(&self, key: &str, replies: Vec<Value>) {
        let (rules, queue): (Vec<Value>, Vec<Value>) = replies
            .into_iter()
            .partition(|reply| reply.get("when").is_some());
        self.lock().keys.entry(key.to_owned()).or_default().script = Script {
            rules,
            queue: queue.into(),
        };
    }

    /// Returns the next scripted reply; the last one repeats.
    pub(crate) fn next_reply(&self, key: &str, prompt: &str) -> Option<Value> {
        let mut inner = self.lock();
        let script = &mut inner.keys.get_mut(key)?.script;
        let applies = |rule: &&Value| {
            rule["when"]
                .as_str()
                .is_some_and(|text| prompt.contains(text))
        };
        if let Some(rule) = script.rules.iter().find(applies) {
            return Some(rule.clone());
        }
        if script.queue.len() > 1 {
            script.queue.pop_front()
        } else {
            script.queue.front().cloned()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere leaves plain data behind, which is still fit to read.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stored {
    fn open(&self) -> RecordedRequest {
        let body = match &self.body {
            None => json!({"fake_note": "body not kept: the recorder is full"}),
            Some(bytes) if bytes.is_empty() => Value::Null,
            Some(bytes) => serde_json::from_slice(bytes)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned())),
        };
        RecordedRequest {
            body,
            ..self.head.clone()
        }
    }
}

fn joined(headers: &[(String, String)]) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        all.entry(name.clone())
            .and_modify(|known| {
                known.push_str(", ");
                known.push_str(value);
            })
            .or_insert_with(|| value.clone());
    }
    all
}
