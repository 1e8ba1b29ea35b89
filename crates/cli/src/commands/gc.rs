//! `tribunal gc`.

use std::fmt::Write as _;

use serde_json::json;
use tribunal_core::retention::CollectReason;
use tribunal_core::text::for_terminal;
use tribunal_engine::care::{CollectionReport, GcMode, Leftover, LeftoverKind, in_words};

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Make the ledger smaller: pack what has ended, let go what is old, remove what was left behind
///
/// Events stay for ever. The files of cases that have ended are packed; `show`, `export` and `replay` read
/// them as before. Those of cases older than `ledger.retention.age`, and the oldest of a ledger that takes
/// up more than `ledger.retention.size`, are removed, and the case says so. Nothing goes of cases
/// that are open, disputed or ruled about, nor what they refer to. Branches of merged work are
/// removed while they point at the commit that was offered.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal gc --dry-run\n  \
    tribunal gc\n  \
    tribunal gc --set ledger.retention.age=30d")]
pub(crate) struct Args {
    /// Only tell what would be done
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Collects and tells.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let mode = match args.dry_run {
        true => GcMode::DryRun,
        false => GcMode::Collect,
    };
    if invocation.existing_ledger().await?.is_none() {
        let text = "there is no ledger to look after";
        return Err(CliError::new(Exit::NotFound, text));
    }
    let policy = invocation.settings_without_trust()?;
    let policy = policy.settings.ledger.retention.policy();
    let engine = invocation.engine().await?;
    let collecting = Box::pin(engine.collect_garbage(&policy, mode));
    let report = invocation.stoppable(&engine, collecting).await?;
    engine.close().await;
    match args.json {
        true => {
            let mut json = json!(report);
            json["schema"] = json!("tribunal.gc.v1");
            json["dry_run"] = json!(args.dry_run);
            invocation.print_json(&json)?;
        }
        false => invocation.print(&render(&report, mode))?,
    }
    Ok(match engine.stop_switch().is_asked() {
        true => Exit::Interrupted,
        false => Exit::Pass,
    })
}

fn render(report: &CollectionReport, mode: GcMode) -> String {
    let would = match mode {
        GcMode::DryRun => "Would have ",
        GcMode::Collect => "",
    };
    let mut text = String::new();
    let mut line = |what: String| {
        let mut letters = what.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        let what = match would.is_empty() {
            true => first.chain(letters).collect(),
            false => what,
        };
        let _ = writeln!(text, "{would}{what}");
    };
    if !report.packed.is_empty() {
        line(format!(
            "packed the files of {}",
            cases(report.packed.len())
        ));
    }
    for one in &report.collected {
        let why = match one.why {
            CollectReason::Age => "it is old",
            CollectReason::Size => "the ledger is too large",
        };
        let bytes = in_words(one.bytes);
        line(format!(
            "collected the files of case {} ({bytes}): {why}",
            one.case
        ));
    }
    if report.texts > 0 {
        line(format!(
            "removed {} stored texts that nothing refers to",
            report.texts
        ));
    }
    for left in &report.leftovers {
        line(format!("removed {}", for_terminal(&told(left))));
    }
    for (branch, why) in &report.kept_branches {
        let _ = writeln!(
            text,
            "Kept the branch {}: {}",
            for_terminal(branch),
            for_terminal(why)
        );
    }
    if !report.busy.is_empty() {
        let busy = cases(report.busy.len());
        let _ = writeln!(text, "Left {busy} alone, because somebody works on them");
    }
    let (before, after) = (in_words(report.bytes_before), in_words(report.bytes_after));
    let _ = match mode {
        GcMode::Collect => writeln!(
            text,
            "The ledger takes up {after}; before, it was {before}."
        ),
        GcMode::DryRun => writeln!(text, "The ledger takes up {before}."),
    };
    text
}

fn cases(count: usize) -> String {
    match count {
        1 => "1 case".to_owned(),
        count => format!("{count} cases"),
    }
}

/// Returns what was left, in words.
pub(crate) fn told(left: &Leftover) -> String {
    let what = match left.kind {
        LeftoverKind::TemporaryFile => "the temporary file",
        LeftoverKind::UnbegunRun => "the directory of a run that never began,",
        LeftoverKind::StrayPack => "the packed files of a case that the ledger does not know,",
        LeftoverKind::WorkPlace => "the place where an agent worked,",
        LeftoverKind::MergedBranch => "the branch",
    };
    format!("{what} {}", left.place)
}
