//! `tribunal stats`.

use std::fmt::Write as _;

use serde_json::json;
use tribunal_core::stats::{Share, Statistics};
use tribunal_core::text::for_terminal;
use tribunal_engine::stats::statistics_of;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report;

/// How wide a bar is.
const WIDTH: u32 = 20;

/// Show how reviewers, judges and disputes have fared, with counts and intervals
///
/// A share stands with its count and the interval in which the true one lies nineteen times out of
/// twenty (Wilson). Few cases give wide intervals: read those, not the bars.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal stats\n  \
    tribunal stats --days 30\n  \
    tribunal stats --record > record.json && tribunal verdict --record record.json scores.json")]
pub(crate) struct Args {
    /// Only what happened in the last N days
    #[arg(long, value_name = "N")]
    days: Option<u32>,
    /// Print the counts that `consensus --record` and `verdict --record` read
    #[arg(long, conflicts_with = "json")]
    record: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the statistics.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let statistics = match invocation.existing_ledger().await? {
        None => tribunal_core::stats::statistics(&tribunal_core::stats::Observed::default()),
        Some((store, dir)) => {
            let now = store.now().await?;
            let since = args.days.map(|days| now.minus_days(days));
            statistics_of(store.as_ref(), &dir, since).await?
        }
    };
    if args.record {
        invocation.print_json(&json!(statistics.record()))?;
        return Ok(Exit::Pass);
    }
    if args.json {
        let mut value = json!(statistics);
        value["schema"] = json!("tribunal.stats.v1");
        invocation.print_json(&value)?;
        return Ok(Exit::Pass);
    }
    let text = render(invocation, &statistics);
    if text.is_empty() {
        invocation.say("Nothing is recorded yet that could be counted.");
    }
    invocation.print(&text)?;
    Ok(Exit::Pass)
}

fn render(invocation: &Invocation, statistics: &Statistics) -> String {
    let mut text = String::new();
    reviewers(invocation, statistics, &mut text);
    chart(statistics, &mut text);
    judges(invocation, statistics, &mut text);
    choices(invocation, statistics, &mut text);
    waiting(invocation, statistics, &mut text);
    convergence(statistics, &mut text);
    text
}

fn reviewers(invocation: &Invocation, statistics: &Statistics, text: &mut String) {
    if statistics.reviewers.is_empty() {
        return;
    }
    let mut table = invocation.table(&[
        "REVIEWER",
        "CATEGORY",
        "FINDINGS",
        "ACCEPTED",
        "CONTESTED",
        "UPHELD",
        "DISMISSED",
    ]);
    for row in &statistics.reviewers {
        table.add_row([
            name(&row.agent),
            row.category.to_string(),
            row.reported.to_string(),
            share(row.accepted),
            share(row.contested),
            share(row.upheld),
            share(row.dismissed),
        ]);
    }
    let _ = writeln!(text, "Findings by reviewer and category\n{table}");
}

/// Draws how much of what was ruled on was upheld, with the interval below the bar's end.
fn chart(statistics: &Statistics, text: &mut String) {
    let ruled: Vec<_> = statistics
        .reviewers
        .iter()
        .filter(|row| row.upheld.of > 0)
        .collect();
    if ruled.is_empty() {
        return;
    }
    let label =
        |row: &&tribunal_core::stats::ReviewerRow| format!("{} {}", name(&row.agent), row.category);
    let width = ruled.iter().map(|row| label(row).chars().count()).max();
    let width = width.unwrap_or(0);
    let _ = writeln!(text, "\nUpheld of what was ruled on (· is the interval)");
    for row in &ruled {
        let label = label(row);
        let _ = writeln!(
            text,
            " {label:<width$}  {}  {}",
            bar(row.upheld),
            share(row.upheld)
        );
    }
}

/// Returns a bar: filled up to the share, dotted where the true share may end.
fn bar(share: Share) -> String {
    let (Some(share_at), Some(low), Some(high)) = (share.permille, share.low, share.high) else {
        return String::new();
    };
    let cell = |index: u32| {
        let at = index * 1000 / WIDTH + 500 / WIDTH;
        match at {
            at if at < low => '█',
            at if at < share_at => '▓',
            at if at < high => '·',
            _ => ' ',
        }
    };
    (0..WIDTH).map(cell).collect()
}

fn judges(invocation: &Invocation, statistics: &Statistics, text: &mut String) {
    if statistics.judges.is_empty() {
        return;
    }
    let mut table =
        invocation.table(&["JUDGE", "ASKED", "SILENT", "ESCALATED", "AS A HUMAN RULED"]);
    for row in &statistics.judges {
        table.add_row([
            name(&row.agent),
            row.asked.to_string(),
            row.silent.to_string(),
            row.escalated.to_string(),
            share(row.with_human),
        ]);
    }
    let _ = writeln!(text, "\nJudges of disputes\n{table}");
}

fn choices(invocation: &Invocation, statistics: &Statistics, text: &mut String) {
    if statistics.choices.is_empty() {
        return;
    }
    let mut table = invocation.table(&["JUDGE", "TRIALS", "PREFERRED WHAT WAS TAKEN", "EVEN"]);
    for row in &statistics.choices {
        table.add_row([
            name(&row.agent),
            row.trials.to_string(),
            share(row.with_decree),
            row.even.to_string(),
        ]);
    }
    let _ = writeln!(text, "\nJudges of trials\n{table}");
}

fn waiting(invocation: &Invocation, statistics: &Statistics, text: &mut String) {
    if statistics.time_to_ruling.is_empty() {
        return;
    }
    let mut table =
        invocation.table(&["RULED BY", "DISPUTES", "HALF WITHIN", "NINE OF TEN WITHIN"]);
    for row in &statistics.time_to_ruling {
        table.add_row([
            row.by.clone(),
            row.count.to_string(),
            report::duration(row.median_ms),
            report::duration(row.most_ms),
        ]);
    }
    let _ = writeln!(text, "\nTime to a ruling\n{table}");
}

fn convergence(statistics: &Statistics, text: &mut String) {
    let convergence = &statistics.convergence;
    if convergence.converged.of == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "\nArbitrations that came to their end with nothing open: {}",
        share(convergence.converged)
    );
    for (rounds, count) in &convergence.rounds {
        let rounds = match rounds {
            1 => "1 round".to_owned(),
            rounds => format!("{rounds} rounds"),
        };
        let _ = writeln!(text, "  in {rounds}: {count}");
    }
}

/// Returns `80% (8 of 10, 49–94%)`, or a dash when there is nothing to share.
fn share(share: Share) -> String {
    match (share.permille, share.low, share.high) {
        (Some(permille), Some(low), Some(high)) => format!(
            "{}% ({} of {}, {}–{}%)",
            (permille + 5) / 10,
            share.count,
            share.of,
            low / 10,
            high.div_ceil(10)
        ),
        _ => "-".to_owned(),
    }
}

fn name(agent: &str) -> String {
    for_terminal(agent).replace('\n', " ")
}
