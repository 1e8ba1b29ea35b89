//! The file format of scripted replies, the choice among them, and the filling of placeholders.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tribunal_core::agent::ErrorClass;
use tribunal_core::money::{Cost, MicroUsd, Usage};
use tribunal_core::text::{headline, truncate_chars};

use crate::{AgentError, Call};

/// Larger files are refused: a script is written by hand.
const LARGEST_SCRIPT: u64 = 16 * 1024 * 1024;

/// A script: where it came from and its replies.
#[derive(Debug)]
pub(super) struct Script {
    name: String,
    replies: Vec<ScriptedReply>,
}

/// One reply of a script.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RawReply")]
pub(super) struct ScriptedReply {
    when: Vec<String>,
    pub(super) answer: Answer,
    pub(super) delay: Duration,
    pub(super) usage: Usage,
    pub(super) cost: Cost,
    /// File contents by path; nothing removes the file.
    pub(super) write: BTreeMap<String, Option<String>>,
}

/// What a reply says.
#[derive(Debug)]
pub(super) enum Answer {
    Text(String),
    Json(Value),
    Error(AgentError),
}

/// What a script gets to see of a call.
pub(super) struct Scene<'a> {
    prompt: &'a str,
    system: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    replies: Vec<ScriptedReply>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReply {
    #[serde(default)]
    when: Option<OneOrMany>,
    text: Option<String>,
    json: Option<Value>,
    error: Option<RawError>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    usage: RawUsage,
    cost_usd: Option<f64>,
    #[serde(default)]
    write: BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`when` must be a text or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawError {
    class: ErrorClass,
    message: String,
    retry_after_ms: Option<u64>,
}

/// Usage whose parts may be left out.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawUsage {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
}

impl TryFrom<RawReply> for ScriptedReply {
    type Error = String;

    fn try_from(raw: RawReply) -> Result<Self, String> {
        let usage = Usage {
            input: raw.usage.input,
            cache_read: raw.usage.cache_read,
            cache_write: raw.usage.cache_write,
            output: raw.usage.output,
        };
        // A script asks no model: unless it says otherwise, its cost is known to be nothing.
        let cost = MicroUsd::from_dollars(raw.cost_usd.unwrap_or(0.0))
            .ok_or("`cost_usd` must be an amount of dollars, zero or more")?;
        let cost = Cost::Known(cost);
        let answer = match (raw.text, raw.json, raw.error) {
            (Some(text), None, None) => Answer::Text(text),
            (None, Some(json), None) => Answer::Json(json),
            (None, None, Some(error)) => Answer::Error(AgentError {
                class: error.class,
                message: error.message,
                retry_after: error.retry_after_ms.map(Duration::from_millis),
                usage,
                cost,
            }),
            _ => return Err("a reply needs one of `text`, `json` and `error`".to_owned()),
        };
        let when = match raw.when {
            None => Vec::new(),
            Some(OneOrMany::One(text)) => vec![text],
            Some(OneOrMany::Many(texts)) => texts,
        };
        Ok(Self {
            when,
            answer,
            delay: Duration::from_millis(raw.delay_ms),
            usage,
            cost,
            write: raw.write,
        })
    }
}

impl Script {
    /// Tells whether any reply costs something.
    pub(super) fn states_a_cost(&self) -> bool {
        let free = Cost::Known(MicroUsd(0));
        self.replies.iter().any(|reply| reply.cost != free)
    }

    /// Returns the script that needs no file.
    pub(super) fn built_in() -> Self {
        let text = "Hello from the scripted agent. I ask no model: I answer from a file, or, as \
                    now, with this one sentence. You said: {{prompt}}";
        Self {
            name: "the built-in script".to_owned(),
            replies: vec![ScriptedReply {
                when: Vec::new(),
                answer: Answer::Text(text.to_owned()),
                delay: Duration::ZERO,
                usage: Usage::default(),
                cost: Cost::Known(MicroUsd(0)),
                write: BTreeMap::new(),
            }],
        }
    }

    /// Reads the script at `path`.
    pub(super) async fn load(path: &Path) -> Result<Self, AgentError> {
        let name = path.display().to_string();
        let unreadable = |why: String| {
            let message = format!("The script `{name}` cannot be read: {why}");
            AgentError::new(ErrorClass::Setup, message)
        };
        let size = tokio::fs::metadata(path)
            .await
            .map_err(|error| unreadable(error.to_string()))?
            .len();
        if size > LARGEST_SCRIPT {
            return Err(unreadable(format!("{size} bytes are too many")));
        }
        let text = tokio::fs::read_to_string(path)
            .await
            .map_err(|error| unreadable(error.to_string()))?;
        Self::parse(&name, &text)
    }

    /// Reads the script `text`, which came from the file `name`.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, AgentError> {
        let parsed: RawScript = serde_json::from_str(text).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            // serde_json repeats the place at the end of its sentence.
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or(&what).to_owned();
            let message = format!("The script `{name}` is not valid at {place}: {what}");
            AgentError::new(ErrorClass::Setup, message)
        })?;
        Ok(Self {
            name: name.to_owned(),
            replies: parsed.replies,
        })
    }

    /// Returns the first reply that fits `scene`.
    pub(super) fn choose(&self, scene: &Scene<'_>) -> Result<&ScriptedReply, AgentError> {
        let fits = |reply: &&ScriptedReply| reply.when.iter().all(|text| scene.contains(text));
        self.replies
            .iter()
            .find(fits)
            .ok_or_else(|| self.nothing_fits(scene))
    }

    fn nothing_fits(&self, scene: &Scene<'_>) -> AgentError {
        let asked = headline(scene.prompt, 120);
        let nearest = self
            .replies
            .iter()
            .enumerate()
            .map(|(index, reply)| (nearness(reply, scene), index, reply))
            // The earlier of two equally near replies is named.
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let hint = match nearest {
            None => "it has no replies".to_owned(),
            Some((_, index, reply)) => {
                let missing = reply.when.iter().find(|text| !scene.contains(text));
                let missing = truncate_chars(missing.map_or("", |text| text), 120).into_owned();
                format!("the nearest, reply {}, wants {missing:?}", index + 1)
            }
        };
        let message = format!(
            "No reply in {} fits the prompt {asked:?}: {hint}",
            self.name
        );
        AgentError::new(ErrorClass::Setup, message)
    }
}

/// Returns how near `reply` comes to fitting: one for each text that occurs, and a part of one for
/// the best likeness of a missing text to a line of the prompt.
fn nearness(reply: &ScriptedReply, scene: &Scene<'_>) -> f64 {
    // Enough to find a slip of the pen; the bound keeps hopeless prompts cheap.
    const LINES: usize = 100;
    const CHARS: usize = 120;
    let likeness = |text: &String| -> f64 {
        if scene.contains(text) {
            return 1.0;
        }
        let text = truncate_chars(text, CHARS);
        scene
            .prompt
            .lines()
            .take(LINES)
            .map(|line| strsim::normalized_levenshtein(&text, &truncate_chars(line, CHARS)))
            .fold(0.0, f64::max)
    };
    reply.when.iter().map(likeness).sum()
}

impl<'a> Scene<'a> {
    /// Returns what of `call` a script gets to see.
    pub(super) fn of(call: &'a Call) -> Self {
        Self {
            prompt: &call.prompt,
            system: call.system.as_deref().unwrap_or(""),
        }
    }

    fn contains(&self, text: &str) -> bool {
        self.prompt.contains(text) || self.system.contains(text)
    }

    /// Returns `text` with its placeholders filled.
    ///
    /// One pass from left to right: what was filled in is never looked at again.
    pub(super) fn fill(&self, text: &str) -> Result<String, AgentError> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            filled.push_str(before);
            match after.split_once("}}") {
                Some((name, tail)) if !name.contains("{{") => {
                    match self.value(name)? {
                        Some(value) => filled.push_str(&value),
                        None => {
                            filled.push_str("{{");
                            filled.push_str(name);
                            filled.push_str("}}");
                        }
                    }
                    rest = tail;
                }
                _ => {
                    filled.push_str("{{");
                    rest = after;
                }
            }
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// Returns `json` with the placeholders in its texts filled.
    pub(super) fn fill_json(&self, json: &Value) -> Result<Value, AgentError> {
        Ok(match json {
            Value::String(text) => Value::String(self.fill(text)?),
            Value::Array(items) => Value::Array(
                items
                    .iter()
                    .map(|item| self.fill_json(item))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.fill_json(value)?)))
                    .collect::<Result<_, AgentError>>()?,
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => json.clone(),
        })
    }

    /// Returns what stands for the placeholder `name`, or nothing when it is none of ours.
    fn value(&self, name: &str) -> Result<Option<Cow<'a, str>>, AgentError> {
        if name == "prompt" {
            return Ok(Some(headline(self.prompt, 500)));
        }
        let Some(prefix) = name.strip_prefix("line:") else {
            return Ok(None);
        };
        let mut lines = self.prompt.lines().chain(self.system.lines());
        match lines.find_map(|line| line.strip_prefix(prefix)) {
            Some(found) => Ok(Some(Cow::Borrowed(found))),
            None => {
                let prefix = truncate_chars(prefix, 120);
                let message =
                    format!("The scripted reply wants a prompt line that starts with {prefix:?}");
                Err(AgentError::new(ErrorClass::Setup, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: Scene<'static> = Scene {
        prompt: "Judge this\nNonce: {{prompt}}\nlast",
        system: "Be brief\nKey: 7",
    };

    #[test]
    fn placeholders_are_filled_in_one_pass() {
        for (text, filled) in [
            ("plain", "plain"),
            ("<{{prompt}}>", "<Judge this>"),
            ("{{line:Nonce: }} {{prompt}}", "{{prompt}} Judge this"),
            ("{{line:Key: }}", "7"),
            ("{{ user }} {{", "{{ user }} {{"),
            ("{{{{prompt}}", "{{Judge this"),
        ] {
            assert_eq!(SCENE.fill(text).unwrap(), filled, "{text}");
        }
        let missing = SCENE.fill("{{line:None: }}").unwrap_err();
        assert_eq!(
            missing.message,
            "The scripted reply wants a prompt line that starts with \"None: \""
        );
    }

    #[test]
    fn a_bad_script_is_told_with_its_place() {
        for (text, message) in [
            (
                "{\"replies\": [\n  {\"txt\": \"x\"}]}",
                "The script `s.json` is not valid at line 2, column 8: unknown field `txt`, \
                 expected one of `when`, `text`, `json`, `error`, `delay_ms`, `usage`, `cost_usd`, \
                 `write`",
            ),
            (
                "{\"replies\": [\n  {\"when\": \"x\"}]}",
                "The script `s.json` is not valid at line 2, column 16: a reply needs one of \
                 `text`, `json` and `error`",
            ),
            (
                "{",
                "The script `s.json` is not valid at line 1, column 1: EOF while parsing an object",
            ),
        ] {
            let error = Script::parse("s.json", text).unwrap_err();
            assert_eq!(
                (error.class, error.message.as_str()),
                (ErrorClass::Setup, message)
            );
        }
    }

    #[test]
    fn a_prompt_without_reply_is_told_the_nearest() {
        let script = Script::parse(
            "s.json",
            r#"{"replies": [{"when": "Weather", "text": "x"}, {"when": ["Judge", "Nonse:"], "text": "y"}]}"#,
        )
        .unwrap();
        assert_eq!(
            script.choose(&SCENE).unwrap_err().message,
            "No reply in s.json fits the prompt \"Judge this\": the nearest, reply 2, wants \
             \"Nonse:\""
        );
    }
}
