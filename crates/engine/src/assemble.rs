//! Puts an engine together from settings, a directory and agents.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tribunal_agents::Agent;
use tribunal_agents::sandbox::SandboxSpec;
use tribunal_agents::spec::Recording;
use tribunal_core::agent::Role;
use tribunal_core::ids::{AgentName, CaseId};
use tribunal_core::outage::RetryPolicy;
use tribunal_core::secret::{Redactor, Secret};
use tribunal_store::{Durability, LedgerAccess, Location, Options, Store, StoreError};

use crate::Engine;
use crate::budget::Caps;
use crate::call::Seat;
use crate::case::{CaseError, LazyHolder};
use crate::config::{
    AgentSettings, BudgetSettings, Provider, RetrySettings, Roster, SCRIPTED, SandboxSettings,
    Settings, Span, SpecContext, Synchronous,
};
use crate::delivery::Pushes;
use crate::dispute::DisputeConduct;
use crate::export::Exported;
use crate::files::LedgerDir;
use crate::ledger::Ledger;
use crate::stopping::StopSwitch;
use crate::trial::TestCommand;
use crate::watch::TreeWatch;

/// What an engine is made of.
pub(crate) struct Parts {
    pub(crate) dir: LedgerDir,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) seats: BTreeMap<AgentName, Result<Seat, String>>,
    pub(crate) caps: Caps,
    pub(crate) retry: RetryPolicy,
    pub(crate) redactor: Redactor,
    /// What runs the project's tests, where that is configured.
    pub(crate) tests: Option<TestCommand>,
    pub(crate) disputes: DisputeConduct,
}

/// What the surroundings add to the settings.
pub struct Surroundings {
    /// The environment variables, for API keys.
    pub env: BTreeMap<String, String>,
    /// Our own executable, which supervises agent processes.
    pub executable: PathBuf,
    /// The root of the project, if we are in one.
    pub project: Option<PathBuf>,
    /// What to do with a ledger that cannot be written.
    pub access: LedgerAccess,
}

/// Opens the store of a ledger directory.
pub async fn open_store(
    dir: &LedgerDir,
    synchronous: Synchronous,
    access: LedgerAccess,
) -> Result<Arc<dyn Store>, StoreError> {
    let options = Options {
        access,
        durability: match synchronous {
            Synchronous::Full => Durability::PowerLoss,
            Synchronous::Normal => Durability::Crash,
        },
        ..Options::default()
    };
    tribunal_store::open_with(&Location::File(dir.database()), options).await
}

impl Engine {
    /// Returns an engine with the agents and limits of `settings`.
    pub async fn open(
        settings: &Settings,
        dir: LedgerDir,
        surroundings: Surroundings,
    ) -> Result<Self, CaseError> {
        let access = surroundings.access;
        let store = open_store(&dir, settings.ledger.synchronous, access).await?;
        let roster = Roster::new(settings);
        let context = SpecContext {
            homes: dir.homes(),
            sandbox: sandbox(settings, &dir),
            project: surroundings.project.clone(),
            supervisor: surroundings.executable,
            recordings: recordings(&roster, store.as_ref(), &dir).await?,
            env: surroundings.env,
            // The scripted agent that nobody configured answers from its built-in script.
            script: Some(PathBuf::new()),
        };
        let parts = Parts {
            tests: TestCommand::of(settings, &context),
            seats: seats(settings, &roster, &context),
            caps: caps(&settings.budget),
            retry: retry(&settings.retry),
            redactor: Redactor::new(secrets(&roster, &context)),
            disputes: DisputeConduct::new(settings, surroundings.project),
            store,
            dir,
        };
        Self::assemble(parts)
    }

    /// Returns an engine made of `parts`.
    pub(crate) fn assemble(parts: Parts) -> Result<Self, CaseError> {
        let project = parts.disputes.project.clone();
        let watch = TreeWatch::new(project, parts.dir.clone_of_repository());
        Ok(Self {
            watch,
            ledger: Ledger::new(parts.store, Arc::clone(parts.dir.unsynced())),
            holder: Arc::new(LazyHolder::new(parts.dir.root())),
            dir: parts.dir,
            seats: parts.seats,
            caps: parts.caps,
            parks: crate::call::Parks::default(),
            tries_parked: false,
            retry: parts.retry,
            redactor: parts.redactor,
            tests: parts.tests,
            disputes: parts.disputes,
            stop: StopSwitch::default(),
            pushes: Pushes::default(),
            human: None,
        })
    }

    /// Waits until everything is stored, and closes the ledger.
    pub async fn close(&self) {
        self.ledger.store().close().await;
    }
}

/// Returns what confined programs may reach. The ledger holds prompts, answers and logins of others.
fn sandbox(settings: &Settings, dir: &LedgerDir) -> SandboxSpec {
    let sandbox = &settings.sandbox;
    SandboxSpec {
        readable: sandbox.readable.clone(),
        writable: sandbox.writable.clone(),
        hidden: dir.hidden(),
        hosts: sandbox.hosts.clone(),
        means: sandbox.means,
    }
}

/// Returns a seat for every agent. One that cannot be built keeps the reason for whoever asks it.
fn seats(
    settings: &Settings,
    roster: &Roster,
    context: &SpecContext,
) -> BTreeMap<AgentName, Result<Seat, String>> {
    let mut turns: BTreeMap<String, Arc<Semaphore>> = BTreeMap::new();
    let mut seats = BTreeMap::new();
    for agent in roster.with_arbiter().chain(roster.get(SCRIPTED)) {
        let seat = agent
            .to_spec(context)
            .map_err(|error| error.to_string())
            .and_then(|spec| tribunal_agents::build(spec).map_err(|error| error.message))
            .map(|built| {
                let provider = built.profile().provider.clone();
                let places = agent
                    .concurrency
                    .unwrap_or_else(|| settings.concurrency_of(&provider));
                // An agent with a limit of its own does not share its provider's.
                let queue = agent
                    .concurrency
                    .map_or(provider, |_| format!("agent {}", agent.name));
                let new = || Arc::new(Semaphore::new(usize::try_from(places).unwrap_or(1).max(1)));
                let turns = turns.entry(queue).or_insert_with(new).clone();
                seat(settings, agent, Arc::from(built), turns)
            });
        seats.insert(agent.name.clone(), seat);
    }
    seats
}

fn seat(
    settings: &Settings,
    agent: &AgentSettings,
    built: Arc<dyn Agent>,
    turns: Arc<Semaphore>,
) -> Seat {
    // Whoever decides procedure and nothing else is kept short, as the arbiter's settings say.
    let arbiter = (agent.role == [Role::Arbiter]).then_some(&settings.arbiter);
    let temperature = agent
        .temperature
        .or(arbiter.map(|arbiter| arbiter.temperature));
    Seat {
        agent: built,
        limits: settings.limits_for(agent),
        price: agent.price(),
        instructions: agent.instructions.clone(),
        max_output_tokens: agent
            .max_output_tokens
            .or(arbiter.map(|arbiter| arbiter.max_tokens)),
        temperature_milli: temperature.map(|temperature| temperature.0),
        max_cost_of_call: settings.budget.per_call.map(|cost| cost.0),
        max_cost_in_case: agent.budget.max_cost.map(|cost| cost.0),
        sandbox: settings.sandbox.clone(),
        turns,
    }
}

/// Returns what the replaying agents of the roster answer from.
async fn recordings(
    roster: &Roster,
    store: &dyn Store,
    dir: &LedgerDir,
) -> Result<BTreeMap<CaseId, Vec<Recording>>, CaseError> {
    let mut recordings = BTreeMap::new();
    for case in roster
        .agents()
        .iter()
        .filter_map(|agent| agent.case.as_ref())
    {
        match store.find_case(case.as_str()).await {
            Ok(record) => {
                let exported = Exported::read(store, dir, &record).await?;
                recordings.insert(case.clone(), crate::replay::recordings(&exported.runs));
            }
            // The agent says so itself when it is asked.
            Err(StoreError::NoSuchCase { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(recordings)
}

/// Returns the values that must not leave the process: every key that an agent may be given.
fn secrets(roster: &Roster, context: &SpecContext) -> Vec<Secret> {
    let named = roster
        .with_arbiter()
        .filter_map(|agent| agent.api_key_env.clone());
    let usual = Provider::ALL
        .into_iter()
        .filter_map(Provider::usual_key_variable)
        .map(str::to_owned);
    let passed = roster
        .agents()
        .iter()
        .flat_map(|agent| agent.pass_env.clone());
    let looking_secret = context
        .env
        .iter()
        .filter(|(name, value)| looks_secret(name, value));
    let looking_secret = looking_secret.map(|(name, _)| name.clone());
    let names = named.chain(usual).chain(passed).chain(looking_secret);
    names
        .filter_map(|name| context.env.get(&name))
        .map(Secret::new)
        .collect()
}

/// Tells a credential by its variable's name and its own look. A plain word is never hidden: that
/// would blank it wherever it stands in prompts and answers.
fn looks_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let named = ["KEY", "TOKEN", "SECRET", "PASSWORD"]
        .iter()
        .any(|word| name.contains(word));
    let random = value.len() >= 16 && value.bytes().any(|byte| byte.is_ascii_digit());
    named && random && !value.contains([' ', '/'])
}

fn caps(budget: &BudgetSettings) -> Caps {
    Caps {
        case: budget.per_case.map(|cost| cost.0),
        day: budget.per_day.map(|cost| cost.0),
        assumed: budget.unknown_call.0,
        case_tokens: budget.max_tokens_per_case,
        case_runs: budget.max_runs_per_case,
    }
}

fn retry(retry: &RetrySettings) -> RetryPolicy {
    let millis = |span: &Span| u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX);
    RetryPolicy {
        attempts: retry.attempts,
        base_ms: millis(&retry.base),
        patience_ms: millis(&retry.patience),
    }
}

impl Seat {
    /// Returns a seat for an agent that needs no limits of its own.
    pub(crate) fn plain(agent: Arc<dyn Agent>) -> Self {
        Self {
            agent,
            limits: tribunal_agents::Limits::default(),
            price: None,
            instructions: None,
            max_output_tokens: None,
            temperature_milli: None,
            max_cost_of_call: None,
            max_cost_in_case: None,
            sandbox: SandboxSettings::default(),
            turns: Arc::new(Semaphore::new(64)),
        }
    }
}
