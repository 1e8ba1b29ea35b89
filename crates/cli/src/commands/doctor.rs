//! `tribunal doctor`.

use serde::Serialize;
use serde_json::json;
use tribunal_agents::sandbox::{LEFT_BY_LANDLOCK, SandboxAbility};
use tribunal_core::agent::{Access, Role};
use tribunal_core::ids::AgentName;
use tribunal_core::sandbox::{SandboxChoice, SandboxDemand};
use tribunal_core::text::{for_terminal, headline};
use tribunal_engine::ask::{AskRequest, Prompt};
use tribunal_engine::care::{in_words, room_of};
use tribunal_engine::config::{Roster, SandboxSettings};
use tribunal_engine::doctor;
use tribunal_engine::place::{LedgerIdentity, ledger_identity};
use tribunal_engine::{Engine, LoginState};

use crate::commands::gc;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Check the configuration, the agents and the ledger
///
/// Ends with exit code 1 when something is wrong, and says what is missing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal doctor\n  \
    tribunal doctor claude-reviewer --ping\n  \
    tribunal doctor --ledger-only --json\n  \
    tribunal doctor --ledger-only --repair")]
pub(crate) struct Args {
    /// Check only these agents
    agents: Vec<String>,
    /// Also put a one-line prompt to each agent; this may cost money, and frees a parked provider that
    /// answers
    #[arg(long)]
    ping: bool,
    /// Check nothing but the ledger
    #[arg(long, conflicts_with_all = ["agents", "ping"])]
    ledger_only: bool,
    /// Make the tables that are derived from events anew before they are checked
    #[arg(long)]
    repair: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One line of the examination.
#[derive(Debug, Serialize)]
struct Finding {
    part: String,
    fine: bool,
    /// The invariant of the ledger that does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    invariant: Option<&'static str>,
    told: String,
    /// What the user does about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Finding {
    fn fine(part: impl Into<String>, told: impl Into<String>) -> Self {
        Self {
            part: part.into(),
            fine: true,
            invariant: None,
            told: told.into(),
            remedy: None,
        }
    }

    fn bad(part: impl Into<String>, told: impl Into<String>) -> Self {
        Self {
            fine: false,
            ..Self::fine(part, told)
        }
    }
}

/// Examines everything and tells.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let mut findings = Vec::new();
    if !args.ledger_only {
        findings.extend(tell(invocation, &args, check_config(invocation)?)?);
        findings.extend(check_agents(invocation, &args).await?);
    }
    let ledger = check_ledger(invocation, args.repair).await?;
    findings.extend(tell(invocation, &args, ledger)?);
    let fine = findings.iter().all(|finding| finding.fine);
    if args.json {
        let version = env!("CARGO_PKG_VERSION");
        let json = json!({ "schema": "tribunal.doctor.v1", "version": version, "fine": fine, "findings": findings });
        invocation.print_json(&json)?;
    }
    Ok(if fine { Exit::Pass } else { Exit::Fail })
}

/// Prints findings as soon as they are known, because an agent can take a while.
fn tell(
    invocation: &Invocation,
    args: &Args,
    findings: Vec<Finding>,
) -> Result<Vec<Finding>, CliError> {
    if args.json {
        return Ok(findings);
    }
    for finding in &findings {
        let mark = if finding.fine { "ok  " } else { "BAD " };
        let which = finding.invariant.map(|name| format!(" {name}"));
        invocation.print(&format!(
            "{mark} {}{}: {}\n",
            finding.part,
            which.unwrap_or_default(),
            for_terminal(&finding.told)
        ))?;
        if let Some(remedy) = &finding.remedy {
            invocation.print(&format!("     to do: {}\n", for_terminal(remedy)))?;
        }
    }
    Ok(findings)
}

fn check_config(invocation: &Invocation) -> Result<Vec<Finding>, CliError> {
    let loaded = invocation.settings(&[])?;
    let told = match loaded.files.as_slice() {
        [] => "no file, defaults only; `tribunal init` makes one".to_owned(),
        files => files
            .iter()
            .map(|file| file.path.display().to_string())
            .collect::<Vec<_>>()
            .join(", "),
    };
    let sandbox = &loaded.settings.sandbox;
    Ok(vec![Finding::fine("config", told), check_sandbox(sandbox)])
}

/// Checks whether programs can be confined as the settings say.
fn check_sandbox(settings: &SandboxSettings) -> Finding {
    let part = "sandbox";
    let remedy = "install bubblewrap from your system's packages, or see docs/sandbox.md";
    let ability = SandboxAbility::of_this_machine;
    let chosen = ability(settings.means);
    match (settings.strictest(), chosen) {
        (SandboxDemand::Off, _) => Finding::fine(part, "off; programs run with your rights"),
        (
            _,
            SandboxAbility::Bubblewrap {
                network_failure, ..
            },
        ) => {
            let second = match ability(SandboxChoice::Landlock) {
                SandboxAbility::Landlock { .. } | SandboxAbility::Bubblewrap { .. } => {
                    "Landlock would work too".to_owned()
                }
                SandboxAbility::Nothing { reason } => format!("Landlock would not: {reason}"),
            };
            let open = network_failure.map(|why| format!("; it cannot limit the network: {why}"));
            let open = open.unwrap_or_default();
            Finding::fine(part, format!("bubblewrap works; {second}{open}"))
        }
        (_, SandboxAbility::Landlock { .. }) => {
            let first = match ability(SandboxChoice::Bubblewrap) {
                SandboxAbility::Nothing { reason } => reason,
                SandboxAbility::Bubblewrap { .. } | SandboxAbility::Landlock { .. } => {
                    "`sandbox.means` says so".to_owned()
                }
            };
            Finding {
                remedy: Some(remedy.to_owned()),
                ..Finding::fine(part, landlock_alone(&first))
            }
        }
        (demand, SandboxAbility::Nothing { reason }) => {
            let told = format!("nothing confines programs: {reason}");
            Finding {
                fine: demand == SandboxDemand::Best,
                remedy: Some(remedy.to_owned()),
                ..Finding::fine(part, told)
            }
        }
    }
}

/// Tells what the second means is, and what it leaves.
fn landlock_alone(why: &str) -> String {
    let left = LEFT_BY_LANDLOCK.join("; ");
    format!(
        "Landlock works, which holds less than bubblewrap: {why}. It does not stop this: {left}"
    )
}

async fn check_agents(invocation: &Invocation, args: &Args) -> Result<Vec<Finding>, CliError> {
    let loaded = invocation.settings(&[])?;
    let roster = Roster::new(&loaded.settings);
    let mut names: Vec<_> = roster
        .with_arbiter()
        .map(|agent| agent.name.clone())
        .collect();
    if !args.agents.is_empty() {
        names = args
            .agents
            .iter()
            .map(|name| match roster.get(name) {
                Some(agent) => Ok(agent.name.clone()),
                None => Err(
                    CliError::new(Exit::NotFound, format!("no agent is called `{name}`"))
                        .hint("`tribunal agents` lists them"),
                ),
            })
            .collect::<Result<_, _>>()?;
    }
    if names.is_empty() {
        let told = "none configured; `tribunal init` or `tribunal connect` sets one up";
        return tell(invocation, args, vec![Finding::fine("agents", told)]);
    }
    // A check tells what it meets first; trying again would only take longer.
    let once = ["retry.attempts=1".to_owned()];
    let engine = invocation.engine_with(&once).await?.trying_parked();
    let mut findings = Vec::new();
    for name in names {
        // A linter has no answer to a prompt; that it tells its version is all there is to ask.
        let is_tool = roster
            .get(name.as_str())
            .is_some_and(tribunal_engine::config::AgentSettings::is_tool);
        let ping = args.ping && !is_tool;
        let doing = if ping { "Asking" } else { "Checking" };
        invocation.say(&format!("{doing} {name} …"));
        let finding = check_agent(&engine, &name, ping).await;
        findings.extend(tell(invocation, args, vec![finding])?);
    }
    engine.close().await;
    Ok(findings)
}

async fn check_agent(engine: &Engine, name: &AgentName, ping: bool) -> Finding {
    let part = format!("agent {name}");
    let version = match engine.version_of(name).await {
        Err(told) => {
            return Finding {
                remedy: remedy_for_start(&told),
                ..Finding::bad(part, told)
            };
        }
        Ok(version) => version.unwrap_or_else(|| "it tells no version".to_owned()),
    };
    let login = match engine.login_state_of(name).await {
        Err(told) => return Finding::bad(part, told),
        Ok(login) => login,
    };
    let (login, remedy) = match login {
        LoginState::NotNeeded => (String::new(), None),
        LoginState::Found(how) => (format!("; login: {how}"), None),
        LoginState::Unknown(why) => (format!("; login not known: {why}"), None),
        LoginState::Missing { remedy } => ("; nobody is logged in".to_owned(), Some(remedy)),
    };
    let told = format!("{version}{login}");
    if remedy.is_some() || !ping {
        // A model that nobody is logged in to cannot answer, so it is not asked.
        return Finding {
            fine: remedy.is_none(),
            remedy,
            ..Finding::fine(part, told)
        };
    }
    let request = AskRequest {
        agent: name.clone(),
        role: Role::Reviewer,
        prompts: vec![Prompt {
            id: "ping".to_owned(),
            text: "Answer with the one word: ready".to_owned(),
        }],
        system: None,
        schema: None,
        access: Access::ReadOnly,
        directory: None,
        output: None,
        parallel: 1,
    };
    let (fine, answer) = match engine.ask(request).await {
        Err(error) => (false, error.to_string()),
        Ok(report) => match report.answers.first().map(|answer| &answer.result) {
            Some(Ok((_, reply))) => (true, format!("answers: {}", headline(&reply.text, 60))),
            Some(Err(error)) => (false, format!("{}: {}", error.class, error.message)),
            None => (false, crate::report::state(&report.state)),
        },
    };
    Finding {
        fine,
        ..Finding::fine(part, format!("{told}; {answer}"))
    }
}

/// Returns what the user does when a program cannot be started.
fn remedy_for_start(told: &str) -> Option<String> {
    told.contains("was not found").then(|| {
        "install the program, or remove the agent with `enabled: false` in the config".to_owned()
    })
}

/// Checks the ledger: one finding about the whole, and one for each invariant that does not hold.
async fn check_ledger(invocation: &Invocation, repair: bool) -> Result<Vec<Finding>, CliError> {
    let Some((store, dir)) = invocation.existing_ledger().await? else {
        return Ok(vec![Finding::fine("ledger", "none yet")]);
    };
    let mut findings = Vec::new();
    findings.extend(ledger_identity(dir.root()).map(|identity| {
        let LedgerIdentity { id, owner } = identity;
        let room = in_words(room_of(dir.root()));
        Finding::fine("place", format!("ledger {id} of {owner}, {room}"))
    }));
    if repair {
        store.rebuild().await?;
        let told = "the tables derived from its events were made anew";
        findings.push(Finding::fine("ledger", told));
    }
    let loaded = invocation.settings(&[])?;
    let subject = doctor::Subject {
        store: store.as_ref(),
        dir: &dir,
        project: loaded.project.as_deref(),
        settings: &loaded.settings,
        env: &invocation.env,
    };
    let health = doctor::examine(&subject).await?;
    store.close().await;
    let counts = format!(
        "{} cases, {} runs in {}",
        health.cases,
        health.runs,
        dir.root().display()
    );
    findings.push(Finding {
        fine: health.violations.is_empty(),
        ..Finding::fine("ledger", counts)
    });
    findings.extend(health.violations.into_iter().map(|violation| Finding {
        invariant: Some(violation.invariant),
        ..Finding::bad("ledger", violation.found)
    }));
    findings.extend(health.leftovers.into_iter().map(|left| Finding {
        remedy: Some("tribunal gc".to_owned()),
        ..Finding::fine("leftover", gc::told(&left))
    }));
    // It is over, so nothing is wrong now; but programs do not kill what watches them by accident.
    findings.extend(health.unsupervised.into_iter().map(|one| {
        let told = format!(
            "the supervisor of run {} died before the run did; processes killed after it: {}",
            one.run, one.killed
        );
        Finding::fine("supervisor", told)
    }));
    Ok(findings)
}
