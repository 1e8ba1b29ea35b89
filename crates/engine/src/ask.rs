//! `ask`: one or many prompts put to one agent, each a durable step.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde::{Deserialize, Serialize};
use tribunal_agents::{AgentError, Reply};
use tribunal_core::agent::{Access, Role};
use tribunal_core::case::{CaseKind, CaseState, Outcome};
use tribunal_core::ids::{AgentName, CaseId, EffectKey, RunId, StepKey};
use tribunal_core::text::headline;
use tribunal_store::CaseRecord;

use crate::Engine;
use crate::call::Question;
use crate::case::{Case, CaseError, Then};
use crate::files;

/// What to ask, and how.
#[derive(Debug, Clone)]
pub struct AskRequest {
    /// Who is asked.
    pub agent: AgentName,
    /// In which role.
    pub role: Role,
    /// The prompts, each with an id that is unique among them.
    pub prompts: Vec<Prompt>,
    /// Text for the system prompt.
    pub system: Option<String>,
    /// JSON schema that the answers shall follow.
    pub schema: Option<serde_json::Value>,
    /// Whether files may be changed.
    pub access: Access,
    /// Where the agent works; an empty directory of its own when absent.
    pub directory: Option<PathBuf>,
    /// Where each answer is written as a file named after its prompt.
    pub output: Option<PathBuf>,
    /// How many prompts are put at once.
    pub parallel: usize,
}

/// One prompt of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its name within the request; also the name of its answer's file.
    pub id: String,
    /// The text.
    pub text: String,
}

/// What came of a request.
#[derive(Debug)]
pub struct AskReport {
    /// The case in which it is recorded.
    pub case: CaseId,
    /// The answers and failures, in the order of the prompts; those not reached are missing.
    pub answers: Vec<AskAnswer>,
    /// Where the case stands.
    pub state: CaseState,
}

/// What came of one prompt.
#[derive(Debug)]
pub struct AskAnswer {
    /// The prompt's id.
    pub id: String,
    /// The run that answered, and its reply; or the last failure.
    pub result: Result<(RunId, Reply), AgentError>,
    /// The file into which the answer was written.
    pub file: Option<PathBuf>,
}

/// The request as the ledger keeps it: long texts by their hash.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredRequest {
    agent: AgentName,
    role: Role,
    prompts: Vec<StoredPrompt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<serde_json::Value>,
    access: Access,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<PathBuf>,
    parallel: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredPrompt {
    id: String,
    text: String,
}

/// The recorded result of a step: which run answered. The answer lies in the run's files.
#[derive(Debug, Serialize, Deserialize)]
struct StepOutput {
    run: RunId,
}

impl Engine {
    /// Puts the prompts of `request` and returns what came of them.
    pub async fn ask(&self, request: AskRequest) -> Result<AskReport, CaseError> {
        check(&request)?;
        if !self.seat(&request.agent)?.agent.takes_prompt() {
            let text = format!(
                "`{}` is a linter and takes no prompt; it takes part in reviews",
                request.agent
            );
            return Err(CaseError::Request(text));
        }
        let stored = self.store_request(&request)?;
        let json = serde_json::to_value(&stored).map_err(|e| CaseError::Request(e.to_string()))?;
        let case = self.new_case(CaseKind::Ask, title(&request), json);
        // The prompts are read again one by one: a batch may be large.
        drop(request);
        self.carry_out_ask(case, stored).await
    }

    /// Goes on with a case of [`CaseKind::Ask`].
    pub(crate) async fn resume_ask(
        &self,
        case: Case,
        request: serde_json::Value,
    ) -> Result<AskReport, CaseError> {
        let stored = read_request(request)?;
        self.carry_out_ask(case, stored).await
    }

    /// Does the recorded request again, without touching the user's files.
    pub(crate) async fn replay_ask(&self, record: &CaseRecord) -> Result<AskReport, CaseError> {
        let mut stored = read_request(record.request.clone())?;
        (stored.output, stored.directory) = (None, None);
        let case = self.new_case(CaseKind::Ask, record.title.clone(), record.request.clone());
        self.carry_out_ask(case, stored).await
    }

    async fn carry_out_ask(
        &self,
        case: Case,
        request: StoredRequest,
    ) -> Result<AskReport, CaseError> {
        let directory = match &request.directory {
            Some(directory) => directory.clone(),
            None if self.seat(&request.agent)?.agent.works_in_directory() => self
                .dir
                .make_workplace(case.id())
                .map_err(CaseError::file("make a directory for the agent"))?,
            None => self.dir.workplace(case.id()),
        };
        let id = case.id().clone();
        let mut answers = Vec::new();
        let mut waiting = request.prompts.iter().enumerate();
        let mut under_way = FuturesUnordered::new();
        let mut stopped = None;
        loop {
            while under_way.len() < request.parallel.max(1) && stopped.is_none() {
                let Some((index, prompt)) = waiting.next() else {
                    break;
                };
                let (case, request, directory) = (&case, &request, &directory);
                under_way.push(async move {
                    (index, self.ask_one(case, request, prompt, directory).await)
                });
            }
            match under_way.next().await {
                None => break,
                Some((index, Ok(answer))) => answers.push((index, answer)),
                // The others that are under way may still come to a good end.
                Some((_, Err(error))) => stopped = stopped.or(Some(error)),
            }
        }
        drop(under_way);
        answers.sort_by_key(|(index, _)| *index);
        let answers: Vec<_> = answers.into_iter().map(|(_, answer)| answer).collect();
        self.dir
            .clear_workplace(&id)
            .map_err(CaseError::file("remove the agent's directory"))?;
        let state = end(case, &answers, stopped).await?;
        Ok(AskReport {
            case: id,
            answers,
            state,
        })
    }

    async fn ask_one(
        &self,
        case: &Case,
        request: &StoredRequest,
        prompt: &StoredPrompt,
        directory: &Path,
    ) -> Result<AskAnswer, CaseError> {
        let step = step_key(&prompt.id)?;
        let text = self
            .dir
            .get_blob(&prompt.text)
            .map_err(CaseError::file(format!("read prompt `{}`", prompt.id)))?;
        let question = Question {
            agent: request.agent.clone(),
            role: request.role,
            prompt: String::from_utf8_lossy(&text).into_owned(),
            system: request.system.clone(),
            schema: request.schema.clone(),
            access: request.access,
            directory: directory.to_owned(),
        };
        // A lone answer that goes nowhere else is followed by the end of the case.
        let alone = request.prompts.len() == 1 && request.output.is_none();
        let then = if alone { Then::End } else { Then::GoOn };
        let (mut heard, mut failure) = (None, None);
        let work = async {
            match self.put(case, &step, &question).await? {
                Ok(answer) => {
                    heard = Some(answer.reply);
                    Ok(Some(StepOutput { run: answer.run }))
                }
                Err(error) => {
                    failure = Some(error);
                    Ok(None)
                }
            }
        };
        let Some(output) = case.step_if_answered(&step, then, work).await? else {
            let error = failure.unwrap_or_else(|| unanswered(&prompt.id));
            return Ok(AskAnswer {
                id: prompt.id.clone(),
                result: Err(error),
                file: None,
            });
        };
        let reply = self.reply_heard(heard, &output.run)?;
        let file = match &request.output {
            Some(output) => Some(
                self.write_answer(case, output, &prompt.id, &reply.text)
                    .await?,
            ),
            None => None,
        };
        Ok(AskAnswer {
            id: prompt.id.clone(),
            result: Ok((output.run, reply)),
            file,
        })
    }

    /// Writes an answer to the user's directory, as an effect that takes hold once.
    async fn write_answer(
        &self,
        case: &Case,
        directory: &Path,
        id: &str,
        text: &str,
    ) -> Result<PathBuf, CaseError> {
        let path = directory.join(format!("{id}.md"));
        let contents = format!("{}\n", text.trim_end());
        let hash = files::hash_of(contents.as_bytes());
        let key = EffectKey::new(format!("write {id}.md {hash}"))?;
        let probe = || async {
            let written = std::fs::read(&path).is_ok_and(|bytes| files::hash_of(&bytes) == hash);
            Ok(written.then(|| hash.clone()))
        };
        let act = || async {
            std::fs::create_dir_all(directory)
                .and_then(|()| files::write_shared(&path, contents.as_bytes()))
                .map_err(CaseError::file(format!("write {}", path.display())))
        };
        case.effect(&key, &format!("write {}", path.display()), probe, act)
            .await?;
        Ok(path)
    }

    fn store_request(&self, request: &AskRequest) -> Result<StoredRequest, CaseError> {
        let store = |prompt: &Prompt| {
            let text = self.redactor.redact(&prompt.text);
            let hash = self.dir.put_passing_blob(text.as_bytes())?;
            Ok(StoredPrompt {
                id: prompt.id.clone(),
                text: hash,
            })
        };
        let prompts = request.prompts.iter().map(store).collect::<Result<_, _>>();
        Ok(StoredRequest {
            agent: request.agent.clone(),
            role: request.role,
            prompts: prompts.map_err(CaseError::file("store the prompts"))?,
            system: request.system.clone(),
            schema: request.schema.clone(),
            access: request.access,
            directory: request.directory.clone(),
            output: request.output.clone(),
            parallel: request.parallel,
        })
    }
}

/// Closes or parks the case and returns where it stands.
async fn end(
    case: Case,
    answers: &[AskAnswer],
    stopped: Option<CaseError>,
) -> Result<CaseState, CaseError> {
    match stopped {
        Some(CaseError::Parked { why, until }) => {
            case.park(why.clone(), until).await?;
            Ok(CaseState::Parked { why, until })
        }
        Some(error) => Err(error),
        None => {
            let failed = answers
                .iter()
                .find_map(|answer| answer.result.as_ref().err());
            let outcome = match failed {
                None => Outcome::Completed,
                Some(error) => Outcome::Inconclusive {
                    class: Some(error.class),
                    cause: error.message.clone(),
                },
            };
            case.close(outcome.clone()).await?;
            Ok(CaseState::Closed(outcome))
        }
    }
}

fn read_request(request: serde_json::Value) -> Result<StoredRequest, CaseError> {
    serde_json::from_value(request).map_err(|error| {
        CaseError::Request(format!("the recorded request cannot be read: {error}"))
    })
}

fn check(request: &AskRequest) -> Result<(), CaseError> {
    let refuse = |text: String| Err(CaseError::Request(text));
    if request.prompts.is_empty() {
        return refuse("there is no prompt to ask".to_owned());
    }
    let mut seen = BTreeSet::new();
    for prompt in &request.prompts {
        step_key(&prompt.id)?;
        if !seen.insert(&prompt.id) {
            return refuse(format!("two prompts have the id `{}`", prompt.id));
        }
        if prompt.text.trim().is_empty() {
            return refuse(match request.prompts.len() {
                1 => "the prompt is empty".to_owned(),
                _ => format!("prompt `{}` is empty", prompt.id),
            });
        }
    }
    Ok(())
}

/// Returns the step of a prompt. Its id must be fit to name a file.
fn step_key(id: &str) -> Result<StepKey, CaseError> {
    let fit = AgentName::new(id).is_ok() && !id.contains(':');
    let refused = || {
        let id = tribunal_core::text::truncate_chars(id, 60);
        let rule =
            "use at most 64 letters, digits, `-`, `_`, `.`, beginning with a letter or digit";
        CaseError::Request(format!("prompt id `{id}` cannot name a file: {rule}"))
    };
    let key = StepKey::new(format!("ask {id}"));
    key.ok().filter(|_| fit).ok_or_else(refused)
}

fn title(request: &AskRequest) -> String {
    let first = request
        .prompts
        .first()
        .map_or("", |prompt| prompt.text.as_str());
    match request.prompts.len() {
        0 | 1 => format!("{}: {}", request.agent, headline(first, 60)),
        n => format!(
            "{}: {n} prompts, first: {}",
            request.agent,
            headline(first, 40)
        ),
    }
}

fn unanswered(id: &str) -> AgentError {
    let text = format!("prompt `{id}` was not answered");
    AgentError::new(tribunal_core::agent::ErrorClass::Crash, text)
}
