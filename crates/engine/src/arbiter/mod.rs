//! The arbiter at work: rules, then a decision made before, then a model, then the fallback.
//!
//! Each decision is a durable step of its case and an event that says who decided and why.

mod tally;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tribunal_core::agent::{Access, Role};
use tribunal_core::arbiter::rules::{Rule, by_rule, fallback};
use tribunal_core::arbiter::{Decision, Question, Source};
use tribunal_core::case::Pause;
use tribunal_core::event::WorkEvent;
use tribunal_core::ids::{AgentName, RunId, StepKey};
use tribunal_core::prompt::{arbiter_prompts, arbiter_question, ask_again};
use tribunal_core::reply::read_signed_decision;

pub use self::tally::{DecisionCounts, DecisionTally};
use crate::Engine;
use crate::call;
use crate::case::{Case, CaseError, Then};
use crate::config::{Roster, Settings};

/// How often the model is asked before the fallback decides.
const ATTEMPTS: u32 = 2;

/// How the name of each step begins that puts a question to the arbiter's model.
pub const ARBITER_STEP: &str = "ask the arbiter ";

/// The arbiter as it is configured.
#[derive(Debug, Clone)]
pub struct Arbiter {
    rules: Vec<Rule>,
    agent: Option<AgentName>,
    cache: u32,
    /// All of the config that a decision depends on.
    policy: String,
    /// Who has decided so far.
    tally: Arc<DecisionTally>,
}

/// A decision with its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// What was decided.
    #[serde(flatten)]
    pub decision: Decision,
    /// Who decided.
    #[serde(flatten)]
    pub source: Source,
    /// Hash of the normalized question, the policy and the words of the prompts.
    pub key: String,
}

/// What would be decided, without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explained {
    /// A rule or an earlier decision answers.
    Decided(Decided),
    /// The model would be asked; if it fails, this happens.
    WouldAsk {
        /// The model's agent.
        agent: AgentName,
        /// What the fallback would decide.
        otherwise: Decided,
    },
    /// Nobody can be asked.
    Fallback(Decided),
}

impl Arbiter {
    /// Returns the arbiter of these settings.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let roster = Roster::new(settings);
        let own = &settings.arbiter;
        let agent = roster.arbiter(settings);
        let rules = own.all_rules();
        // Whoever is asked differently may answer differently.
        let asked = agent.as_ref().and_then(|name| {
            let agent = roster.get(name.as_str())?;
            Some(serde_json::json!({
                "provider": agent.provider().map(|provider| provider.as_str()),
                "model": agent.model,
                "instructions": agent.instructions,
                "base_url": agent.base_url,
                "command": agent.command,
            }))
        });
        let policy = serde_json::json!({
            "rules": rules,
            "agent": agent,
            "asked": asked,
            "max_tokens": own.max_tokens,
            "temperature": own.temperature.0,
            "prompts": arbiter_prompts(),
        });
        Self {
            rules,
            agent,
            cache: own.cache,
            policy: policy.to_string(),
            tally: Arc::default(),
        }
    }

    /// Returns the agent that is asked when rules are silent.
    #[must_use]
    pub fn agent(&self) -> Option<&AgentName> {
        self.agent.as_ref()
    }

    /// Returns who made the decisions so far, and what the user should know about it.
    #[must_use]
    pub fn decisions(&self) -> (DecisionCounts, Option<String>) {
        let counts = self.tally.counts();
        let agent = self.agent.as_ref();
        let warning = agent.and_then(|agent| counts.warning(agent.as_str()));
        (counts, warning)
    }

    /// Returns the hash by which the same question is recognised.
    fn key(&self, question: &Question) -> String {
        let text = format!("{}\n{}", self.policy, question.normalized());
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }
}

impl Engine {
    /// Decides `question` as the step `step` of `case`; what was decided once stays so.
    pub(crate) async fn decide(
        &self,
        case: &Case,
        arbiter: &Arbiter,
        seed: &str,
        step: &str,
        question: &Question,
    ) -> Result<Decided, CaseError> {
        let key = StepKey::new(format!("arbiter {step}"))?;
        let work = async {
            let decided = self
                .decide_anew(case, arbiter, seed, step, question)
                .await?;
            arbiter.tally.count(&decided.source);
            let event = WorkEvent::ArbiterDecided {
                question: question.kind(),
                decision: decided.decision.clone(),
                source: decided.source.clone(),
                key: decided.key.clone(),
            };
            case.note(event.into()).await;
            Ok(Some(decided))
        };
        let decided = case.step_if_answered(&key, Then::GoOn, work).await?;
        decided.ok_or_else(|| CaseError::Request("the arbiter decided nothing".to_owned()))
    }

    /// Returns what would be decided about `question`, without asking anybody.
    pub async fn explain_decision(
        &self,
        arbiter: &Arbiter,
        question: &Question,
    ) -> Result<Explained, CaseError> {
        if let Some(decided) = self.known_decision(arbiter, question).await? {
            return Ok(Explained::Decided(decided));
        }
        let decide = |because: &str| {
            let (decision, source) = fallback(question, because);
            let key = arbiter.key(question);
            Decided {
                decision,
                source,
                key,
            }
        };
        Ok(match &arbiter.agent {
            Some(agent) => Explained::WouldAsk {
                agent: agent.clone(),
                otherwise: decide("the model gave no usable answer"),
            },
            None => Explained::Fallback(decide(NO_ARBITER)),
        })
    }

    /// Returns how often each source has decided.
    pub async fn decision_counts(
        &self,
    ) -> Result<std::collections::BTreeMap<String, u64>, CaseError> {
        Ok(self.ledger.store().decision_counts().await?)
    }

    /// Returns what a rule or an earlier decision says.
    async fn known_decision(
        &self,
        arbiter: &Arbiter,
        question: &Question,
    ) -> Result<Option<Decided>, CaseError> {
        let key = arbiter.key(question);
        if let Some((decision, source)) = by_rule(&arbiter.rules, question) {
            return Ok(Some(Decided {
                decision,
                source,
                key,
            }));
        }
        let store = self.ledger.store();
        let cached = store.cached_decision(&key, arbiter.cache).await?;
        Ok(cached.map(|decision| Decided {
            decision,
            source: Source::Cache,
            key,
        }))
    }

    async fn decide_anew(
        &self,
        case: &Case,
        arbiter: &Arbiter,
        seed: &str,
        step: &str,
        question: &Question,
    ) -> Result<Decided, CaseError> {
        if let Some(decided) = self.known_decision(arbiter, question).await? {
            return Ok(decided);
        }
        let (decision, source) = match &arbiter.agent {
            None => fallback(question, NO_ARBITER),
            Some(agent) => {
                let asked = self.ask_arbiter(case, agent, seed, step, question).await?;
                asked.unwrap_or_else(|problem| fallback(question, &problem))
            }
        };
        let key = arbiter.key(question);
        Ok(Decided {
            decision,
            source,
            key,
        })
    }

    /// Asks the model, a second time when its answer cannot be used, and says why none came.
    async fn ask_arbiter(
        &self,
        case: &Case,
        agent: &AgentName,
        seed: &str,
        step: &str,
        question: &Question,
    ) -> Result<Result<(Decision, Source), String>, CaseError> {
        let mut problem = String::new();
        for attempt in 1..=ATTEMPTS {
            let name = format!("{ARBITER_STEP}{step} #{attempt}");
            let material = question.normalized();
            let nonce = crate::review::nonce(seed, &name, &material);
            let mut prompt = arbiter_question(question, &nonce);
            if attempt > 1 {
                prompt = ask_again(&prompt, &problem);
            }
            let put = self.put_to_arbiter(case, agent, &name, prompt).await?;
            let reply = match put {
                Ok(reply) => reply,
                // Who cannot answer now is not asked twice; the loop goes on without it.
                Err(why) => return Ok(Err(why)),
            };
            let structured = reply.structured.as_ref();
            match read_signed_decision(&reply.text, structured, &nonce, question) {
                Ok(decision) => return Ok(Ok((decision, Source::Model { attempt }))),
                Err(why) => problem = why,
            }
        }
        Ok(Err(format!("the arbiter gave no usable answer: {problem}")))
    }

    /// Puts one question to the arbiter's model as a durable step of its own.
    pub(crate) async fn put_to_arbiter(
        &self,
        case: &Case,
        agent: &AgentName,
        name: &str,
        prompt: String,
    ) -> Result<Result<tribunal_agents::Reply, String>, CaseError> {
        let step = StepKey::new(name)?;
        let seat = match self.seat(agent) {
            Ok(seat) => seat,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let directory = match seat.agent.works_in_directory() {
            true => self
                .dir
                .make_workplace(case.id())
                .map_err(CaseError::file("make a directory for the arbiter"))?,
            false => self.dir.workplace(case.id()),
        };
        let question = call::Question {
            agent: agent.clone(),
            role: Role::Arbiter,
            prompt,
            system: None,
            schema: None,
            access: Access::ReadOnly,
            directory,
        };
        let mut failure = None;
        let work = async {
            match self.put(case, &step, &question).await? {
                Ok(answer) => Ok(Some(Answered { run: answer.run })),
                Err(error) => {
                    failure = Some(error.message);
                    Ok(None)
                }
            }
        };
        let asked = case.step_if_answered(&step, Then::GoOn, work).await;
        // What the arbiter left there is of no use; a leftover does no harm.
        let _ = self.dir.clear_workplace(case.id());
        match asked {
            Ok(Some(answered)) => Ok(Ok(self.reply_of(&answered.run)?)),
            Ok(None) => {
                let why = failure.unwrap_or_else(|| "no answer came".to_owned());
                Ok(Err(format!("the arbiter did not answer: {why}")))
            }
            Err(CaseError::Parked {
                why: Pause::Provider { provider, class },
                ..
            }) => Ok(Err(format!(
                "the arbiter's provider {provider} cannot answer now ({class})"
            ))),
            Err(error) => Err(error),
        }
    }
}

/// Why the fallback decides when there is no model.
pub const NO_ARBITER: &str = "no rule fits and no arbiter is configured";

#[derive(Debug, Serialize, Deserialize)]
struct Answered {
    run: RunId,
}
