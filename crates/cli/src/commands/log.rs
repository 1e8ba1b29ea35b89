//! `tribunal log`.

use serde_json::json;
use tribunal_core::case::{CaseKind, CaseState, Outcome, Pause};
use tribunal_core::text::{for_terminal, truncate_chars};
use tribunal_store::CaseRecord;

use crate::commands::dispute;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report;

/// A terminal of fewer columns shows what a case is about rather than what it took.
const WIDE_ENOUGH: u16 = 110;

/// List the recorded cases, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal log\n  \
    tribunal log --recent 5 --json\n  \
    tribunal log --kind review --state inconclusive")]
pub(crate) struct Args {
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    recent: u32,
    /// Only cases of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<KindWord>,
    /// Only cases that stand so
    #[arg(long, value_name = "STATE")]
    state: Option<StateWord>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The kinds of cases as they are typed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum KindWord {
    Ask,
    Review,
    Trial,
    Task,
    Section,
    Run,
    Dispute,
}

impl KindWord {
    fn kind(self) -> CaseKind {
        match self {
            Self::Ask => CaseKind::Ask,
            Self::Review => CaseKind::Review,
            Self::Trial => CaseKind::Trial,
            Self::Task => CaseKind::Task,
            Self::Section => CaseKind::Section,
            Self::Run => CaseKind::Run,
            Self::Dispute => CaseKind::Dispute,
        }
    }
}

/// Where a case may stand, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum StateWord {
    /// Somebody works on it
    Running,
    /// Its owner is gone
    Interrupted,
    /// It waits for a person, its turn or a provider
    Parked,
    #[value(alias = "pass")]
    Completed,
    #[value(alias = "fail")]
    Failed,
    Inconclusive,
}

impl StateWord {
    fn of(case: &CaseRecord) -> Self {
        match &case.state {
            CaseState::Open if case.owned => Self::Running,
            CaseState::Open => Self::Interrupted,
            CaseState::Parked { .. } => Self::Parked,
            CaseState::Closed(Outcome::Completed) => Self::Completed,
            CaseState::Closed(Outcome::Failed { .. }) => Self::Failed,
            CaseState::Closed(Outcome::Inconclusive { .. }) => Self::Inconclusive,
        }
    }
}

/// Lists the cases.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let Some(store) = invocation.existing_store().await? else {
        return nothing(invocation, args.json);
    };
    dispute::remind_in_passing(invocation).await?;
    // One more than is shown tells whether the list was cut. A state is looked for in all cases.
    let limit = match args.state {
        Some(_) => u32::MAX,
        None => args.recent.saturating_add(1),
    };
    let mut cases = match args.kind {
        Some(kind) => store.recent_cases_of(kind.kind(), limit).await?,
        None => store.recent_cases(limit).await?,
    };
    cases.retain(|case| args.state.is_none_or(|state| StateWord::of(case) == state));
    let shown = usize::try_from(args.recent).unwrap_or(usize::MAX);
    let is_cut = cases.len() > shown;
    cases.truncate(shown);
    let now = store.now().await?;
    if args.json {
        let cases: Vec<_> = cases.iter().map(case_json).collect();
        invocation
            .print_json(&json!({ "schema": "tribunal.log.v1", "cases": cases, "cut": is_cut }))?;
        return Ok(Exit::Pass);
    }
    if cases.is_empty() && (args.kind.is_some() || args.state.is_some()) {
        invocation.say("There are no such cases.");
        return Ok(Exit::Pass);
    }
    if cases.is_empty() {
        return nothing(invocation, false);
    }
    let mut header = vec!["CASE", "KIND", "STATE", "WHEN", "RUNS", "COST", "TITLE"];
    let is_narrow = terminal_size::terminal_size_of(std::io::stdout())
        .is_some_and(|(width, _)| width.0 < WIDE_ENOUGH);
    if is_narrow {
        header.drain(4..6);
    }
    let mut table = invocation.table(&header);
    for case in &cases {
        let mut row = vec![
            case.id.to_string(),
            case.kind.to_string(),
            short_state(case),
            report::ago(now, case.opened_at),
            case.spend.runs.to_string(),
            report::spend(&case.spend),
            for_terminal(&truncate_chars(&case.title, 60)).into_owned(),
        ];
        if is_narrow {
            row.drain(4..6);
        }
        table.add_row(row);
    }
    invocation.print(&format!("{table}\n"))?;
    if is_cut {
        let more = args.recent.saturating_mul(5);
        invocation.say(&format!(
            "There are older ones: `tribunal log --recent {more}`."
        ));
    }
    Ok(Exit::Pass)
}

fn nothing(invocation: &Invocation, json: bool) -> Result<Exit, CliError> {
    if json {
        invocation.print_json(&json!({ "schema": "tribunal.log.v1", "cases": [] }))?;
    } else {
        invocation
            .say("Nothing is recorded yet. Try `tribunal review`, or `tribunal demo` for a story.");
    }
    Ok(Exit::Pass)
}

/// Returns where a case stands without the details, for a table.
fn short_state(case: &CaseRecord) -> String {
    match &case.state {
        CaseState::Parked {
            why: Pause::Human { .. },
            ..
        } => "waits for a person".to_owned(),
        CaseState::Parked {
            why: Pause::Turn, ..
        } => "waits for its turn".to_owned(),
        CaseState::Parked {
            why: Pause::Budget { cap, .. },
            ..
        } => format!("parked (budget of the {cap})"),
        CaseState::Open | CaseState::Parked { .. } | CaseState::Closed(_) => state_of(case),
    }
}

/// Returns where a case stands; an open one without an owner was interrupted.
pub(crate) fn state_of(case: &CaseRecord) -> String {
    let state = report::state(&case.state);
    match (state.as_str(), case.owned) {
        ("open", true) => "running".to_owned(),
        ("open", false) => "interrupted".to_owned(),
        _ => state,
    }
}

/// Returns a case as machine-readable output shows it.
pub(crate) fn case_json(case: &CaseRecord) -> serde_json::Value {
    json!({
        "case": case.id,
        "kind": case.kind,
        "title": case.title,
        "state": case.state,
        "running": case.owned,
        "opened_at": case.opened_at,
        "updated_at": case.updated_at,
        "events": case.last_seq,
        "spend": case.spend,
    })
}
