//! An agent that reads its replies from a file: for demos, docs and tests.
//!
//! The file is JSON, one list of replies:
//!
//! ```json
//! {"replies": [
//!   {"when": ["Judge the dispute", "src/db.rs"],
//!    "json": {"nonce": "{{line:Nonce: }}", "ruling": "enforce"}},
//!   {"when": "overload", "error": {"class": "overloaded", "message": "busy", "retry_after_ms": 50}},
//!   {"when": "Fix", "text": "Done.", "write": {"src/db.rs": "…", "src/old.rs": null}},
//!   {"text": "You said: {{prompt}}", "delay_ms": 20, "usage": {"input": 12, "output": 4}}
//! ]}
//! ```
//!
//! The first reply whose every `when` text occurs in the prompt is given; a reply without `when`
//! fits always. The choice depends on the prompt alone, so a case that was killed and resumed in
//! another process sees the same answers again. Each reply has one of `text`, `json` and `error`.
//! In texts, `{{prompt}}` stands for the first line of the prompt and `{{line:PREFIX}}` for the
//! rest of the first prompt line that starts with `PREFIX`; anything else in braces stays as it is.

mod script;

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use tribunal_core::agent::{Access, ErrorClass};
use tribunal_core::text::truncate_chars;

use crate::{Agent, AgentError, AgentEvent, Call, Profile, Progress, Reply};
use script::{Answer, Scene, Script, ScriptedReply};

/// An agent that reads its replies from a file.
#[derive(Debug)]
pub struct ScriptedAgent {
    profile: Profile,
    script: PathBuf,
}

impl ScriptedAgent {
    /// Returns an agent that answers from the file `script`, or, when the path is empty, with one
    /// fixed friendly answer.
    #[must_use]
    pub fn new(profile: Profile, script: PathBuf) -> Self {
        Self { profile, script }
    }

    async fn script(&self) -> Result<Script, AgentError> {
        if self.script.as_os_str().is_empty() {
            return Ok(Script::built_in());
        }
        Script::load(&self.script).await
    }

    async fn answer(&self, call: &Call, progress: &Progress) -> Result<Reply, AgentError> {
        let script = self.script().await?;
        let scene = Scene::of(call);
        let scripted = script.choose(&scene)?;
        let model = self.profile.model.clone();
        progress.report(AgentEvent::Started {
            session: None,
            model: model.clone(),
        });
        wait(scripted.delay, call).await?;
        write_files(scripted, &scene, call).await?;
        let (text, structured) = match &scripted.answer {
            Answer::Text(text) => {
                let text = scene.fill(text)?;
                let structured = fitting_json(&text, call.schema.as_ref());
                (text, structured)
            }
            Answer::Json(json) => {
                let json = scene.fill_json(json)?;
                let structured = match &call.schema {
                    Some(schema) => Some(crate::http::schema::checked(json.clone(), schema)?),
                    None => None,
                };
                (format!("{json:#}"), structured)
            }
            Answer::Error(error) => return Err(error.clone()),
        };
        for piece in text.split_inclusive('\n') {
            progress.report(AgentEvent::Text(piece.to_owned()));
        }
        progress.report(AgentEvent::Usage(scripted.usage));
        if text.trim().is_empty() {
            return Err(AgentError {
                usage: scripted.usage,
                cost: scripted.cost,
                ..AgentError::new(ErrorClass::Empty, "The scripted reply is blank")
            });
        }
        Ok(Reply {
            text,
            structured,
            usage: scripted.usage,
            cost: scripted.cost,
            session: None,
            model,
            version: None,
        })
    }
}

#[async_trait]
impl Agent for ScriptedAgent {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    async fn states_a_cost(&self) -> bool {
        let script = self.script().await;
        script.is_ok_and(|script| script.states_a_cost())
    }

    async fn run(
        &self,
        call: Call,
        progress: Progress,
        cancel: CancellationToken,
    ) -> Result<Reply, AgentError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(AgentError::new(
                ErrorClass::Cancelled,
                "The run was cancelled",
            )),
            result = self.answer(&call, &progress) => result,
        }
    }
}

/// Waits for `delay`, but not longer than the limits of `call` allow a silent agent.
async fn wait(delay: Duration, call: &Call) -> Result<(), AgentError> {
    let limit = call.limits.first_byte.min(call.limits.wall);
    if delay.is_zero() {
        // Even the shortest sleep lasts until the next tick of the timer, which is a millisecond.
        return Ok(());
    }
    tokio::time::sleep(delay.min(limit)).await;
    if delay > limit {
        let message = format!("No answer within {} ms", limit.as_millis());
        return Err(AgentError::new(ErrorClass::Hung, message));
    }
    Ok(())
}

/// Returns `text` as JSON where `schema` is given and the whole text keeps to it.
fn fitting_json(text: &str, schema: Option<&serde_json::Value>) -> Option<serde_json::Value> {
    let json = serde_json::from_str(text).ok()?;
    crate::http::schema::checked(json, schema?).ok()
}

/// Writes and removes the files of `scripted`, if the run may change files at all.
async fn write_files(
    scripted: &ScriptedReply,
    scene: &Scene<'_>,
    call: &Call,
) -> Result<(), AgentError> {
    if call.access == Access::ReadOnly {
        return Ok(());
    }
    for (path, content) in &scripted.write {
        let target = place(&call.directory, path).await?;
        let done = match content {
            Some(content) => tokio::fs::write(&target, scene.fill(content)?).await,
            None => match tokio::fs::remove_file(&target).await {
                // A resumed case meets its own earlier work.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                other => other,
            },
        };
        done.map_err(|error| refused(path, &format!("it cannot be written: {error}")))?;
    }
    Ok(())
}

/// Returns where `path` lies in `directory`, its parent made, no symbolic link on the way.
async fn place(directory: &Path, path: &str) -> Result<PathBuf, AgentError> {
    let mut names = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(refused(path, "it must stay inside the working directory"));
            }
        }
    }
    if names.is_empty() {
        return Err(refused(path, "it names no file"));
    }
    let mut target = directory.to_owned();
    for (position, name) in names.iter().enumerate() {
        target.push(name);
        match tokio::fs::symlink_metadata(&target).await {
            Ok(found) if found.is_symlink() => {
                return Err(refused(path, "it leads through a symbolic link"));
            }
            Ok(_) => {}
            Err(_) if position + 1 < names.len() => {
                tokio::fs::create_dir(&target).await.map_err(|error| {
                    refused(path, &format!("its directory cannot be made: {error}"))
                })?
            }
            Err(_) => {}
        }
    }
    Ok(target)
}

fn refused(path: &str, why: &str) -> AgentError {
    let path = truncate_chars(path, 200);
    AgentError::new(
        ErrorClass::Setup,
        format!("The script may not write `{path}`: {why}"),
    )
}
