//! `tribunal trial list`.

use serde_json::json;
use tribunal_core::case::CaseKind;
use tribunal_core::text::for_terminal;
use tribunal_core::trial::{Decree, State, Trial};
use tribunal_engine::trial::trial_story;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report;

/// List the trials, the newest first
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// List at most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

/// Lists.
pub(super) async fn run(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    let Some(store) = invocation.existing_store().await? else {
        return nothing(invocation, args);
    };
    let trials = store.recent_cases_of(CaseKind::Trial, args.limit).await?;
    if trials.is_empty() {
        return nothing(invocation, args);
    }
    let mut stories = Vec::new();
    for case in &trials {
        stories.push(trial_story(store.as_ref(), &case.id).await?);
    }
    if args.json {
        let listed = trials.iter().zip(&stories).map(|(case, trial)| {
            json!({"case": case.id, "title": case.title, "state": case.state,
                "stands": standing(trial), "winner": winner(trial), "spend": case.spend,
                "opened_at": case.opened_at, "updated_at": case.updated_at})
        });
        let listed: Vec<_> = listed.collect();
        invocation.print_json(&json!({"schema": "tribunal.trials.v1", "trials": listed}))?;
        return Ok(Exit::Pass);
    }
    let now = store.now().await?;
    let mut table = invocation.table(&["TRIAL", "STATE", "WINNER", "WHEN", "COST", "CHALLENGE"]);
    for (case, trial) in trials.iter().zip(&stories) {
        let clean = |text: &str| for_terminal(text).replace('\n', " ");
        table.add_row([
            case.id.to_string(),
            clean(&standing(trial)),
            clean(winner(trial).as_deref().unwrap_or("-")),
            report::ago(now, case.updated_at),
            report::spend(&case.spend),
            clean(&case.title),
        ]);
    }
    invocation.print(&format!("{table}\n"))?;
    Ok(Exit::Pass)
}

fn nothing(invocation: &Invocation, args: &Args) -> Result<Exit, CliError> {
    match args.json {
        true => invocation.print_json(&json!({"schema": "tribunal.trials.v1", "trials": []}))?,
        false => invocation.say("There is no trial yet; hold one with `tribunal trial \"…\"`."),
    }
    Ok(Exit::Pass)
}

/// Returns where a trial stands, in a few words.
fn standing(trial: &Trial) -> String {
    if let Some((decree, _)) = &trial.decree {
        let whose = decree
            .contestant()
            .map(|id| format!(" {}", name_of(trial, id)));
        let whose = whose.unwrap_or_default();
        return match decree {
            Decree::Merge { .. } => format!("merged{whose}"),
            Decree::Adopt { .. } => format!("adopted{whose}"),
            Decree::Iterate { trial } => format!("goes on in {trial}"),
            Decree::Issue { .. } => "became an issue".to_owned(),
            Decree::Close => "closed".to_owned(),
        };
    }
    match &trial.state {
        State::In { phase } => phase.to_string(),
        State::Failed { phase, .. } => format!("failed in {phase}"),
    }
}

/// Returns the name of the winner, or that there is a tie; nothing before the verdict.
fn winner(trial: &Trial) -> Option<String> {
    let verdict = trial.verdict.as_ref()?;
    let winner = verdict.winner.as_deref();
    Some(winner.map_or_else(|| "tie".to_owned(), |id| name_of(trial, id)))
}

fn name_of(trial: &Trial, id: &str) -> String {
    let mut all = trial.contestants.iter();
    let found = all.find(|(one, _)| one.id == id);
    found.map_or_else(|| id.to_owned(), |(one, _)| one.name.clone())
}
