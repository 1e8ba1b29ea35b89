//! `tribunal dismiss`, and what `accept-risk` shares with it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tribunal_core::consensus::Verdict;
use tribunal_core::dispute::{Basis, Dispute, Precedent, Refusal, Terms, read_expiry};
use tribunal_core::review::arbitration::End;
use tribunal_core::review::history::short_id;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding};
use tribunal_core::rulings::{FILE, TeamRuling};
use tribunal_core::text::for_terminal;
use tribunal_engine::Engine;
use tribunal_engine::case::CaseError;
use tribunal_engine::dispute::{Overrule, PersonsWord};

use super::dispute::{dispute_json, settled_engine};
use super::explain::find_finding;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Dismiss a finding: your word that it is not a defect
///
/// Works on any finding of any review, without a task and without `--arbitrate`. The finding is shown
/// in later reviews with your reason and does not count for the gate. The dismissal covers this
/// claim at this place and nothing else. It is a ruling like any other: `tribunal disputes` and
/// `tribunal precedent list` show it. If the claim is true but you can live with it, use
/// `tribunal accept-risk`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal dismiss f-3c19a27e --why \"The caller escapes it, see src/web.py:9\"\n  \
    tribunal dismiss f-3c19 --why \"Test data only\" --expires 2099-12-31\n  \
    tribunal dismiss f-3c19 --why \"The mock is meant\" --team\n  \
    tribunal dismiss --undo f-3c19a27e")]
pub(crate) struct Args {
    /// The finding: its id or the beginning of it, of the newest review that has it, or CASE/ID
    finding: String,
    /// Why it is not a defect
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "undo"
    )]
    why: Option<String>,
    #[command(flatten)]
    how: How,
    /// Take a dismissal or an accepted risk back: the finding counts again
    #[arg(long, conflicts_with_all = ["expires", "overrule"])]
    undo: bool,
}

/// What a person's word about a finding can have besides.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// The last day on which it holds: a date such as `2099-12-31`, or `30d` from now
    #[arg(long, value_name = "DATE")]
    expires: Option<String>,
    /// Replace a ruling that was made about it before
    #[arg(long)]
    overrule: bool,
    /// Write it to `.tribunal/rulings.yml` as well, or remove it there; commit the file for others
    #[arg(long)]
    team: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Records a dismissal, or takes one back.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    match (args.undo, args.why) {
        (true, why) => undo(invocation, &args.finding, why, &args.how).await,
        (false, why) => {
            let why = why.unwrap_or_default();
            rule(invocation, &args.finding, why, Basis::NotADefect, &args.how).await
        }
    }
}

/// Rules on a finding as a person.
pub(super) async fn rule(
    invocation: &Invocation,
    finding: &str,
    reason: String,
    basis: Basis,
    how: &How,
) -> Result<Exit, CliError> {
    if reason.trim().is_empty() {
        let text = "a reason is needed, and `--why` is empty";
        return Err(CliError::new(Exit::Usage, text));
    }
    let (report, index) = find_finding(invocation, finding.to_owned()).await?;
    let finding = only_one(invocation, finding, &report, index).await?;
    if finding.verdict == Verdict::Rejected {
        let text = format!(
            "finding {} was rejected, so it does not count anyway",
            finding.id
        );
        return Err(
            CliError::new(Exit::Usage, text).hint(format!("See `tribunal explain {}`", finding.id))
        );
    }
    let engine = settled_engine(invocation).await?;
    // A file that cannot be changed is a reason to refuse before anything is stored.
    let team = match how.team {
        true => Some(engine.team_file(&invocation.cwd)?),
        false => None,
    };
    let now = engine.ledger().store().now().await?;
    let expires = match &how.expires {
        Some(text) => {
            let wrong = |why| CliError::new(Exit::Usage, format!("`--expires`: {why}"));
            Some(read_expiry(text, now).map_err(wrong)?)
        }
        None => None,
    };
    let word = PersonsWord {
        reason,
        terms: Terms {
            basis,
            expires,
            person: person(invocation, &engine),
        },
        overrule: match how.overrule {
            true => Overrule::Yes,
            false => Overrule::No,
        },
    };
    let ruled = engine.dismiss_finding(&report.case, finding, &word).await;
    let dispute = match ruled {
        Err(CaseError::Dispute(Refusal::AlreadyRuled { id, .. })) => {
            let before = engine.dispute(id.as_str()).await?;
            return Err(ruled_before(finding, &before));
        }
        ruled => ruled?,
    };
    let written = team.as_ref().map(|file| file.path().to_owned());
    if let Some(file) = team {
        let place = engine.cited_place(finding).await?;
        let entry = TeamRuling::of(finding, place.clone(), &word.reason, &word.terms, now);
        file.add(finding, &place, &entry)?;
    }
    if how.json {
        let told = as_json(&report, finding, &[dispute], written.as_deref());
        invocation.print_json(&told)?;
        return Ok(Exit::Pass);
    }
    invocation.print(&ruled_text(finding, &dispute, &word))?;
    if let Some(path) = written {
        let path = path.display();
        invocation.print(&format!("  Written to {path}\n"))?;
        invocation.say("Commit it: it counts for a change once the base of that change has it.");
    }
    tell_next(invocation, &report, finding);
    Ok(Exit::Pass)
}

async fn undo(
    invocation: &Invocation,
    finding: &str,
    why: Option<String>,
    how: &How,
) -> Result<Exit, CliError> {
    if why.as_ref().is_some_and(|why| why.trim().is_empty()) {
        return Err(CliError::new(Exit::Usage, "`--why` is empty"));
    }
    let (report, index) = find_finding(invocation, finding.to_owned()).await?;
    let finding = only_one(invocation, finding, &report, index).await?;
    let engine = settled_engine(invocation).await?;
    let why = why.unwrap_or_else(|| match person(invocation, &engine).as_str() {
        "" => "taken back".to_owned(),
        name => format!("taken back by {name}"),
    });
    let place = engine.cited_place(finding).await?;
    let file = match how.team {
        true => Some(engine.team_file(&invocation.cwd)?),
        // Whoever does not ask for the file is told of it if it can be read.
        false => engine.team_file(&invocation.cwd).ok(),
    };
    let file = file.filter(|file| file.has(finding, &place));
    let dropped = engine.undo_dismissal(&finding.fingerprint, &why).await?;
    let removed = match file {
        Some(file) if how.team => {
            let path = file.path().to_owned();
            file.remove(finding, &place)?;
            Some(path)
        }
        Some(_) if dropped.is_empty() => {
            let text = format!("finding {} is dismissed by `{FILE}` alone", finding.id);
            return Err(CliError::new(Exit::Usage, text).hint("Add `--team` to remove it there"));
        }
        Some(_) => {
            invocation.say(&format!(
                "`{FILE}` dismisses it as well; add `--team` to remove it there."
            ));
            None
        }
        None if dropped.is_empty() => {
            let text = format!("finding {} is not dismissed", finding.id);
            return Err(CliError::new(Exit::Usage, text)
                .hint("`tribunal precedent list` shows what is dismissed"));
        }
        None => None,
    };
    if how.json {
        let told = as_json(&report, finding, &dropped, removed.as_deref());
        invocation.print_json(&told)?;
        return Ok(Exit::Pass);
    }
    let mut text = format!(
        "Finding {} counts again: {}\n  {}\n",
        finding.id,
        one_line(&finding.title),
        one_line(&finding.location.to_string()),
    );
    for dispute in &dropped {
        let _ = writeln!(text, "  Ruling taken back: dispute {}", dispute.id);
    }
    if let Some(path) = removed {
        let _ = writeln!(text, "  Removed from {}", path.display());
    }
    invocation.print(&text)?;
    Ok(Exit::Pass)
}

/// Returns the finding if `typed` means no other one of any review. Whoever rules must not rule on
/// another finding than the one that was meant.
async fn only_one<'r>(
    invocation: &Invocation,
    typed: &str,
    report: &'r ReviewReport,
    index: usize,
) -> Result<&'r ReviewedFinding, CliError> {
    let meant = &report.findings[index];
    let start = typed.rsplit('/').next().unwrap_or(typed);
    let start = start.strip_prefix("f-").unwrap_or(start);
    let mut others: BTreeSet<String> = BTreeSet::new();
    let here = report.findings.iter();
    let mut consider = |fingerprint: &str| {
        if fingerprint != meant.fingerprint && fingerprint.starts_with(start) {
            others.insert(short_id(fingerprint));
        }
    };
    here.for_each(|one| consider(&one.fingerprint));
    if !typed.contains('/') {
        let store = invocation.existing_store().await?;
        let known = match store {
            Some(store) => store.findings().await?,
            None => Vec::new(),
        };
        known
            .iter()
            .for_each(|one| consider(&one.finding.fingerprint));
    }
    if others.is_empty() {
        return Ok(meant);
    }
    others.insert(meant.id.clone());
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let text = format!("`{typed}` may mean {}", others.join(" or "));
    Err(CliError::new(Exit::Usage, text).hint("Give more characters of the id, or CASE/ID"))
}

/// Returns the name of the person at the keyboard; empty when it is not known.
fn person(invocation: &Invocation, engine: &Engine) -> String {
    let login = ["USER", "LOGNAME", "USERNAME"];
    let mut login = login.iter().filter_map(|name| invocation.env.get(*name));
    let name = engine.name_of_person(&invocation.cwd, login.next().map(String::as_str));
    name.unwrap_or_default()
}

/// Returns the error for a finding on which somebody has ruled.
fn ruled_before(finding: &ReviewedFinding, before: &Dispute) -> CliError {
    let ruled = Precedent::of(before).map_or_else(
        || format!("see dispute {}", before.id),
        |precedent| precedent.phrase(),
    );
    let text = format!("finding {} has a ruling: {}", finding.id, one_line(&ruled));
    CliError::new(Exit::Busy, text)
        .hint("To replace that ruling by yours, add `--overrule`")
        .hint(format!("See `tribunal dispute show {}`", before.id))
}

fn ruled_text(finding: &ReviewedFinding, dispute: &Dispute, word: &PersonsWord) -> String {
    let done = match word.terms.basis {
        Basis::NotADefect => "Dismissed",
        Basis::RiskAccepted => "Risk accepted for",
    };
    let until = match word.terms.until().as_str() {
        "" => String::new(),
        until => format!("  It holds{until}. Then the finding counts again.\n"),
    };
    format!(
        "{done} {}: {}\n  {} at {}, dispute {}\n  Reason: {}\n{until}",
        finding.id,
        one_line(&finding.title),
        finding.severity,
        one_line(&finding.location.to_string()),
        dispute.id,
        one_line(&word.reason),
    )
}

/// Says what to do next.
fn tell_next(invocation: &Invocation, report: &ReviewReport, finding: &ReviewedFinding) {
    let waits = report
        .arbitration
        .as_ref()
        .is_some_and(|arbitration| matches!(arbitration.end, End::AwaitingRuling { .. }));
    if waits {
        let case = &report.case;
        invocation.say(&format!(
            "Review {case} waits for rulings: go on with `tribunal resume {case}`."
        ));
    }
    invocation.say(&format!(
        "Take it back with `tribunal dismiss --undo {}`.",
        finding.id
    ));
}

fn as_json(
    report: &ReviewReport,
    finding: &ReviewedFinding,
    disputes: &[Dispute],
    team_file: Option<&Path>,
) -> Value {
    let disputes: Vec<Value> = disputes.iter().map(dispute_json).collect();
    json!({
        "schema": "tribunal.dismissal.v1",
        "case": report.case,
        "finding": {
            "id": finding.id,
            "fingerprint": finding.fingerprint,
            "location": finding.location,
            "severity": finding.severity,
            "title": finding.title,
        },
        "disputes": disputes,
        "team_file": team_file,
    })
}

fn one_line(text: &str) -> String {
    for_terminal(&text.replace('\n', " ")).into_owned()
}
