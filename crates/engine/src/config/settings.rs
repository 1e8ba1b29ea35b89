//! All settings with their defaults. The doc comments are the descriptions in the JSON schema.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tribunal_agents::Limits;
use tribunal_core::ids::AgentName;
use tribunal_core::retention::RetentionPolicy;

use super::agent::{AgentSettings, PriceSettings, Provider};
use super::disputes::{DisputeSettings, PrecedentSettings};
use super::review::ReviewSettings;
use super::sandbox::SandboxSettings;
use super::trial::{ProjectSettings, TrialSettings};
use super::values::{Size, Span, Temperature, Usd};
use super::work::{GitSettings, RuleSettings, RunSettings};

/// The settings of Tribunal, all layers applied.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The agents that take part. Layers are merged by name; within a role the first comes first.
    pub agents: Vec<AgentSettings>,
    /// Who reviews, how findings are settled and how disputes about them are resolved.
    pub review: ReviewSettings,
    /// What happens to disputes that stay open.
    pub disputes: DisputeSettings,
    /// How long rulings serve as precedents.
    pub precedents: PrecedentSettings,
    /// How trials are held.
    pub trial: TrialSettings,
    /// What is known about the project.
    pub project: ProjectSettings,
    /// The model that decides procedure: who works next, which judges sit.
    pub arbiter: ArbiterSettings,
    /// How the loop works through the tasks.
    pub run: RunSettings,
    /// What is done with branches.
    pub git: GitSettings,
    /// What ends a run that does not end itself, for every agent that says nothing else.
    pub limits: LimitSettings,
    /// How often and how patiently a failed call is tried again.
    pub retry: RetrySettings,
    /// What may be spent before work stops and waits for you.
    pub budget: BudgetSettings,
    /// Settings by provider, such as `anthropic` or `claude`.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// How programs are confined.
    pub sandbox: SandboxSettings,
    /// Where published advisories about packages are looked up for security findings.
    pub advisories: AdvisorySettings,
    /// Where everything is recorded.
    pub ledger: LedgerSettings,
}

impl Settings {
    /// All sections.
    pub const KEYS: [&'static str; 16] = [
        "agents",
        "review",
        "disputes",
        "precedents",
        "trial",
        "project",
        "arbiter",
        "run",
        "git",
        "limits",
        "retry",
        "budget",
        "providers",
        "sandbox",
        "advisories",
        "ledger",
    ];

    /// Returns the limits of `agent`: its own over the common ones.
    #[must_use]
    pub fn limits_for(&self, agent: &AgentSettings) -> Limits {
        let (own, common) = (&agent.limits, &self.limits);
        let wall = own.wall.unwrap_or(common.wall);
        // Most linters say nothing until they are done, so silence means nothing.
        let (first_byte, idle) = match agent.is_tool() {
            true => (wall, wall),
            false => (common.first_byte, common.idle),
        };
        Limits {
            first_byte: own.first_byte.unwrap_or(first_byte).0,
            idle: own.idle.unwrap_or(idle).0,
            wall: wall.0,
            after_result: own.after_result.unwrap_or(common.after_result).0,
            output_bytes: own.output.unwrap_or(common.output).0,
        }
    }

    /// Returns how many runs of `provider` may go on at the same time.
    #[must_use]
    pub(crate) fn concurrency_of(&self, provider: &str) -> u32 {
        let own = self.providers.get(provider);
        own.map_or_else(ProviderSettings::default, Clone::clone)
            .concurrency
    }
}

/// The model that decides procedure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArbiterSettings {
    /// Tool or API to use; without it and without an agent in that role, fixed rules decide.
    pub provider: Option<Provider>,
    /// Model to ask for; a fast and cheap one will do.
    pub model: Option<String>,
    /// Where the model API of `provider` is, when not at the vendor's own address.
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the API key. The key itself never stands here.
    pub api_key_env: Option<String>,
    /// What the model of `provider` charges; without it the cost may be unknown.
    pub price: Option<PriceSettings>,
    /// Longest answer to ask for, in tokens; the designs of a trial may take more.
    #[schemars(range(min = 1))]
    pub max_tokens: u32,
    /// Sampling temperature from 0 to 2; low ones make decisions repeatable.
    pub temperature: Temperature,
    /// Name of the agent that acts as arbiter, in place of `provider`.
    pub agent: Option<AgentName>,
    /// Rules that decide before the built-in ones and before the model; the first that fits decides.
    pub rules: Vec<RuleSettings>,
    /// Whether the built-in rules hold.
    pub builtin_rules: bool,
    /// How many of the newest decisions of the model are reused for the same input.
    pub cache: u32,
}

impl Default for ArbiterSettings {
    fn default() -> Self {
        Self {
            provider: None,
            model: None,
            base_url: None,
            api_key_env: None,
            price: None,
            max_tokens: 1_024,
            temperature: Temperature(300),
            agent: None,
            rules: Vec::new(),
            builtin_rules: true,
            cache: 1_000,
        }
    }
}

/// What ends a run that does not end itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Time until the first byte of output.
    pub first_byte: Span,
    /// Longest time without output, once there was some.
    pub idle: Span,
    /// Longest time in all.
    pub wall: Span,
    /// Time to exit once the result was seen.
    pub after_result: Span,
    /// Output that is kept; more ends the run.
    pub output: Size,
}

impl Default for LimitSettings {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            first_byte: Span(limits.first_byte),
            idle: Span(limits.idle),
            wall: Span(limits.wall),
            after_result: Span(limits.after_result),
            output: Size(limits.output_bytes),
        }
    }
}

/// How often and how patiently a failed call is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetrySettings {
    /// Attempts in all, the first included.
    #[schemars(range(min = 1, max = 20))]
    pub attempts: u32,
    /// Wait before the second attempt; it doubles with each further one.
    pub base: Span,
    /// Longest wait within a run; what takes longer is parked and can be resumed.
    pub patience: Span,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self {
            attempts: 3,
            base: Span::from_secs(2),
            patience: Span::from_secs(300),
        }
    }
}

/// What may be spent before work stops and waits for you; `null` removes a cap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// Most that one call may cost, in US dollars, where the agent can be told (Claude Code).
    pub per_call: Option<Usd>,
    /// Most that one case may cost, in US dollars; a review pays for its disputes.
    pub per_case: Option<Usd>,
    /// Most that all cases of one day may cost, in US dollars.
    pub per_day: Option<Usd>,
    /// What a call of unknown cost counts against the caps, in US dollars.
    pub unknown_call: Usd,
    /// Most tokens that one case may use.
    pub max_tokens_per_case: Option<u64>,
    /// Most agent runs in one case.
    pub max_runs_per_case: Option<u64>,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self {
            per_call: None,
            per_case: Some(Usd::from_cents(2_000)),
            per_day: Some(Usd::from_cents(10_000)),
            unknown_call: Usd::from_cents(10),
            max_tokens_per_case: None,
            max_runs_per_case: Some(500),
        }
    }
}

/// Settings of one provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// Runs at the same time, over all agents of the provider.
    #[schemars(range(min = 1, max = 1000))]
    pub concurrency: u32,
}

impl Default for ProviderSettings {
    fn default() -> Self {
        Self { concurrency: 4 }
    }
}

/// Where published advisories are looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdvisorySettings {
    /// Whether and where security findings are checked against advisories.
    pub source: AdvisorySource,
    /// Directory or zip file with OSV records, when `source` is `directory`.
    pub path: Option<PathBuf>,
    /// Base URL of an OSV-compatible server, when `source` is `server`.
    pub url: Option<String>,
}

impl Default for AdvisorySettings {
    fn default() -> Self {
        Self {
            source: AdvisorySource::Off,
            path: None,
            url: None,
        }
    }
}

/// Where advisories come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdvisorySource {
    /// Nobody is asked.
    Off,
    /// A local export of OSV records.
    Directory,
    /// An OSV-compatible server, which learns the names of packages that findings speak of.
    Server,
}

/// Where everything is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LedgerSettings {
    /// The directory of the ledger; in your state directory, for all working trees, when absent.
    pub path: Option<PathBuf>,
    /// Whether what was acknowledged survives a power loss (`full`) or only a crash of the program
    /// (`normal`, faster).
    pub synchronous: Synchronous,
    /// What `tribunal gc` lets go.
    pub retention: RetentionSettings,
}

impl Default for LedgerSettings {
    fn default() -> Self {
        Self {
            path: None,
            synchronous: Synchronous::Full,
            retention: RetentionSettings::default(),
        }
    }
}

/// How long the files of ended cases are kept, and how much of them. Events are kept for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionSettings {
    /// Prompts, outputs and answers of cases that ended longer ago go; `null` keeps them.
    pub age: Option<Span>,
    /// When the ledger takes up more, the oldest of them go; `null` is no limit.
    pub size: Option<Size>,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self {
            age: Some(Span(std::time::Duration::from_secs(90 * 24 * 3_600))),
            size: Some(Size(1 << 30)),
        }
    }
}

impl RetentionSettings {
    /// Returns the policy for which these settings stand.
    #[must_use]
    pub fn policy(&self) -> RetentionPolicy {
        let millis = |age: Span| u64::try_from(age.0.as_millis()).unwrap_or(u64::MAX);
        RetentionPolicy {
            age_ms: self.age.map(millis),
            size: self.size.map(|size| size.0),
        }
    }
}

/// What an acknowledged record survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Synchronous {
    /// Power loss.
    Full,
    /// A crash of the program.
    Normal,
}
