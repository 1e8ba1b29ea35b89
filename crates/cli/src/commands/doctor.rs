//! `tribunal doctor`.

use serde::Serialize;
use serde_json::json;
use tribunal_core::agent::{Access, Role};
use tribunal_core::ids::AgentName;
use tribunal_core::text::{for_terminal, headline};
use tribunal_engine::Engine;
use tribunal_engine::ask::{AskRequest, Prompt};
use tribunal_engine::config::Roster;
use tribunal_engine::doctor;

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
    tribunal doctor --ledger-only --json")]
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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One line of the examination.
#[derive(Debug, Serialize)]
struct Finding {
    part: String,
    fine: bool,
    told: String,
}

/// Examines everything and tells.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let mut findings = Vec::new();
    if !args.ledger_only {
        findings.extend(check_config(invocation)?);
        findings.extend(check_agents(invocation, &args).await?);
    }
    findings.push(check_ledger(invocation).await?);
    let fine = findings.iter().all(|finding| finding.fine);
    if args.json {
        let version = env!("CARGO_PKG_VERSION");
        let json = json!({ "schema": "tribunal.doctor.v1", "version": version, "fine": fine, "findings": findings });
        invocation.print_json(&json)?;
    } else {
        for finding in &findings {
            let mark = if finding.fine { "ok  " } else { "BAD " };
            invocation.print(&format!(
                "{mark} {}: {}\n",
                finding.part,
                for_terminal(&finding.told)
            ))?;
        }
    }
    Ok(if fine { Exit::Pass } else { Exit::Fail })
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
    Ok(vec![Finding {
        part: "config".to_owned(),
        fine: true,
        told,
    }])
}

async fn check_agents(invocation: &Invocation, args: &Args) -> Result<Vec<Finding>, CliError> {
    let loaded = invocation.settings(&[])?;
    let roster = Roster::new(&loaded.settings);
    let mut names: Vec<_> = roster
        .agents()
        .iter()
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
        let told = "none configured; the built-in `scripted` answers from a file".to_owned();
        return Ok(vec![Finding {
            part: "agents".to_owned(),
            fine: true,
            told,
        }]);
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
        findings.push(check_agent(&engine, &name, args.ping && !is_tool).await);
    }
    engine.close().await;
    Ok(findings)
}

async fn check_agent(engine: &Engine, name: &AgentName, ping: bool) -> Finding {
    let part = format!("agent {name}");
    let version = match engine.version_of(name).await {
        Err(told) => {
            return Finding {
                part,
                fine: false,
                told,
            };
        }
        Ok(version) => version.unwrap_or_else(|| "no version to ask for".to_owned()),
    };
    if !ping {
        return Finding {
            part,
            fine: true,
            told: version,
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
        part,
        fine,
        told: format!("{version}; {answer}"),
    }
}

async fn check_ledger(invocation: &Invocation) -> Result<Finding, CliError> {
    let part = "ledger".to_owned();
    let Some((store, dir)) = invocation.existing_ledger().await? else {
        return Ok(Finding {
            part,
            fine: true,
            told: "none yet".to_owned(),
        });
    };
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
    if health.violations.is_empty() {
        return Ok(Finding {
            part,
            fine: true,
            told: counts,
        });
    }
    let found: Vec<_> = health
        .violations
        .iter()
        .map(|v| format!("{}: {}", v.invariant, v.found))
        .collect();
    Ok(Finding {
        part,
        fine: false,
        told: format!("{counts}; {}", found.join("; ")),
    })
}
