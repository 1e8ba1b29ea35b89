//! `tribunal explain`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tribunal_core::case::CaseKind;
use tribunal_core::consensus::{AdvisoryOutcome, Verdict};
use tribunal_core::dispute::{Precedent, Subject};
use tribunal_core::finding::Grounding;
use tribunal_core::review::arbitration::ArbitratedFinding;
use tribunal_core::review::report::{ReviewReport, ReviewedFinding, Statement, Voice};
use tribunal_engine::export::Exported;
use tribunal_engine::files::LedgerDir;
use tribunal_store::{CaseRecord, Store};

use crate::commands::dispute::typed_id;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::explain::{advisory, listed, one_line, spoken, write_confidence};
use crate::report::review::{labelled_severity, plain_frame, rule_of, told_of};
use crate::report::{stdout_width, wrapped};

/// So many cases are searched, the newest first.
const MOST_CASES: u32 = 1_000;

/// Explain a finding: why it was accepted, rejected or disputed
///
/// Tells who reported it and whether the code that they cite exists, who examined it and what its
/// author answered, what a judge and advisories say, what the coder answered and who ruled, every
/// number of its confidence, and what would reverse the decision.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal explain f-3c19a27e\n  \
    tribunal explain c-1a2b3c4d5e/f-3c19 --json")]
pub(crate) struct Args {
    /// The finding: its id or the beginning of it, of the newest review that has it, or CASE/ID
    finding: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Finds and explains.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    explain(invocation, args.finding, args.json).await
}

/// Explains the finding that `named` names.
pub(crate) async fn explain(
    invocation: &Invocation,
    named: String,
    as_object: bool,
) -> Result<Exit, CliError> {
    let (report, index) = find_finding(invocation, named).await?;
    let finding = &report.findings[index];
    if as_object {
        invocation.print_json(&as_json(&report, finding)?)?;
    } else {
        invocation.print(&wrapped(&as_text(&report, finding), stdout_width()))?;
    }
    Ok(Exit::Pass)
}

/// Returns the report with the finding that a person means by `named`, an id or `CASE/ID`, and where
/// in it the finding stands.
pub(super) async fn find_finding(
    invocation: &Invocation,
    named: String,
) -> Result<(ReviewReport, usize), CliError> {
    let named = finding_meant(invocation, named).await?;
    let (case, id) = match named.rsplit_once('/') {
        Some((case, id)) => (Some(case), id),
        None => (None, named.as_str()),
    };
    let (store, dir) = match (case, invocation.existing_ledger().await?) {
        (_, Some(ledger)) => ledger,
        (Some(case), None) => invocation.required_store(case).await?,
        (None, None) => return Err(unknown(id, &[])),
    };
    let cases = match case {
        Some(case) => vec![store.find_case(case).await?],
        None => store.recent_cases(MOST_CASES).await?,
    };
    find(store.as_ref(), &dir, &cases, id).await
}

/// Returns the finding that another id stands for: that of a dispute about it. Other ids are told for
/// what they are.
async fn finding_meant(invocation: &Invocation, named: String) -> Result<String, CliError> {
    let Some(store) = invocation.existing_store().await? else {
        return Ok(named);
    };
    let id = typed_id(&named);
    if id.starts_with("d-") {
        let dispute = store.find_dispute(id).await?;
        return match &dispute.opening.subject {
            Subject::Finding { review, finding } => Ok(format!("{review}/{}", finding.id())),
            Subject::Task { task, .. } => {
                let text = format!(
                    "{} is a dispute about task {task}, not about a finding",
                    dispute.id
                );
                Err(CliError::new(Exit::Usage, text)
                    .hint(format!("See `tribunal dispute show {}`", dispute.id)))
            }
        };
    }
    if id.starts_with("c-") && !id.contains('/') {
        let case = store.find_case(id).await?;
        let text = format!("{} is a {}, not a finding", case.id, case.kind);
        let hint = match case.kind {
            CaseKind::Task => format!("See `tribunal task show {}`", case.id),
            _ => format!("`tribunal show {}` lists what was found", case.id),
        };
        return Err(CliError::new(Exit::Usage, text).hint(hint));
    }
    Ok(named)
}

/// Returns the newest report with a finding of that name, and where in it the finding stands.
async fn find(
    store: &dyn Store,
    dir: &LedgerDir,
    cases: &[CaseRecord],
    id: &str,
) -> Result<(ReviewReport, usize), CliError> {
    let mut newest: Vec<String> = Vec::new();
    for case in cases.iter().filter(|case| case.kind == CaseKind::Review) {
        let Some(report) = Exported::read(store, dir, case).await?.review(dir)? else {
            continue;
        };
        let is_meant = |finding: &ReviewedFinding| {
            let bare = finding.id.strip_prefix("f-").unwrap_or(&finding.id);
            !id.is_empty() && (finding.id.starts_with(id) || bare.starts_with(id))
        };
        let found: Vec<usize> = (0..report.findings.len())
            .filter(|index| is_meant(&report.findings[*index]))
            .collect();
        let ids = |found: &[usize]| -> BTreeSet<String> {
            let ids = found.iter().map(|index| report.findings[*index].id.clone());
            ids.collect()
        };
        match (found.as_slice(), ids(&found).len()) {
            ([first, ..], 1) => return Ok((report, *first)),
            ([_, ..], _) => return Err(ambiguous(id, &ids(&found))),
            ([], _) if newest.is_empty() => {
                newest = report.findings.iter().map(|one| one.id.clone()).collect();
            }
            ([], _) => {}
        }
    }
    newest.truncate(10);
    Err(unknown(id, &newest))
}

/// Returns the error for a finding that nobody knows; `newest` are some that there are.
fn unknown(id: &str, newest: &[String]) -> CliError {
    let text = format!("no review has a finding `{id}`");
    let error = CliError::new(Exit::NotFound, text);
    match newest {
        [] => error.hint("Findings are listed by `tribunal review` and `tribunal show CASE`"),
        some => error.hint(format!("The newest review has {}", some.join(", "))),
    }
}

fn ambiguous(id: &str, ids: &BTreeSet<String>) -> CliError {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let text = format!("`{id}` may mean {}", listed(&ids));
    CliError::new(Exit::Usage, text)
}

fn as_json(report: &ReviewReport, finding: &ReviewedFinding) -> Result<Value, CliError> {
    let unfit = |error: serde_json::Error| {
        CliError::new(Exit::Internal, "cannot write JSON").caused_by(&error)
    };
    Ok(json!({
        "schema": "tribunal.explain_finding.v1",
        "case": report.case,
        "change": report.change.title,
        "policy": report.policy,
        "finding": serde_json::to_value(finding).map_err(unfit)?,
        "reversal": finding.reversal,
        "arbitration": arbitrated(report, finding),
        "notes": report.notes,
    }))
}

/// Returns what came of putting the finding to a coder; nothing when nobody did.
fn arbitrated<'a>(
    report: &'a ReviewReport,
    finding: &ReviewedFinding,
) -> Option<&'a ArbitratedFinding> {
    let mut findings = report.arbitration.as_ref()?.findings.iter();
    findings.find(|one| one.id == finding.id && one.raised_in == 0)
}

fn as_text(report: &ReviewReport, finding: &ReviewedFinding) -> String {
    let agreement = match finding.verdict {
        Verdict::Accepted => format!(", {}", finding.agreement),
        Verdict::Disputed | Verdict::Rejected => String::new(),
    };
    let mut text = format!(
        "{}  {}\n{}: {}, confidence {}{agreement}\nat {} in case {}, {}, policy {}\n",
        finding.id,
        one_line(&finding.title),
        finding.verdict,
        labelled_severity(finding),
        finding.confidence,
        one_line(&finding.location.to_string()),
        report.case,
        one_line(&report.change.title),
        one_line(&report.policy),
    );
    match rule_of(finding) {
        "" => {}
        rule => {
            let _ = writeln!(text, "found by the rule {}", one_line(rule));
        }
    }
    if !finding.frame.is_empty() {
        text.push_str("\nCode\n");
        for line in plain_frame(&finding.frame).lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    let families: BTreeSet<&str> = finding
        .voices
        .iter()
        .map(|one| one.family.as_str())
        .collect();
    let families: Vec<&str> = families.into_iter().collect();
    let _ = writeln!(
        text,
        "\nWhy\n  Reported by {}.",
        one_line(&listed(&families))
    );
    for reason in &finding.reasons {
        let _ = writeln!(text, "  {}", one_line(reason));
    }
    text.push_str("\nMembers\n");
    for voice in &finding.voices {
        member(&mut text, voice);
    }
    if !finding.rounds.is_empty() {
        text.push_str("\nRounds 2 and 3\n");
        for said in &finding.rounds {
            statement(&mut text, said);
        }
    }
    if let Some(weighed) = &finding.judgement {
        let severity = weighed.severity;
        let severity = severity.map_or_else(String::new, |level| format!(", {level}"));
        let _ = writeln!(
            text,
            "\nJudge\n  {}: {}{severity}: {}",
            one_line(&weighed.judge),
            weighed.side,
            one_line(&weighed.reason)
        );
    }
    advisories(&mut text, &finding.advisories);
    let arbitration = told_of(report, &finding.id);
    if !arbitration.is_empty() {
        text.push_str("\nArbitration\n");
        for line in arbitration {
            let _ = writeln!(text, "  {}", one_line(&line));
        }
    }
    let ruled = finding.precedents.iter().map(Precedent::phrase);
    let team = finding.team_ruling.iter().map(|team| team.phrase());
    let ruled: Vec<String> = ruled.chain(team).collect();
    if !ruled.is_empty() {
        text.push_str("\nRulings\n");
        for ruling in ruled {
            let _ = writeln!(text, "  {}", one_line(&ruling));
        }
    }
    if !finding.question.is_empty() {
        let _ = writeln!(text, "\nQuestion\n  {}", one_line(&finding.question));
    }
    write_confidence(&mut text, &finding.trace);
    if let Some(score) = finding.score {
        let _ = writeln!(text, "\nValidation score\n  {score}");
    }
    let _ = write!(
        text,
        "\nWhat would reverse it\n  {}\n",
        one_line(&finding.reversal)
    );
    text
}

fn member(text: &mut String, voice: &Voice) {
    let stated = |word: Option<String>| word.unwrap_or_else(|| "not stated".to_owned());
    let grounding = match voice.grounding {
        Grounding::Unchecked => "was not checked",
        Grounding::Confirmed => "stands there",
        Grounding::Doubtful => "stands there in part",
        Grounding::Refuted => "does not stand there",
    };
    let _ = writeln!(
        text,
        "  {} ({}) calls it {}\n    at {}; severity {}, confidence {}; the code it cites {grounding}",
        one_line(&voice.reviewer),
        one_line(&voice.family),
        one_line(&voice.id),
        one_line(&voice.location.to_string()),
        stated(voice.severity.map(|one| one.to_string())),
        stated(voice.confidence.map(|one| one.to_string())),
    );
    for doubt in &voice.doubts {
        let _ = writeln!(text, "    doubt: {}", one_line(doubt));
    }
    for (name, value) in [("title", &voice.title), ("says", &voice.description)] {
        if !value.is_empty() {
            let _ = writeln!(text, "    {name}: {}", one_line(value));
        }
    }
}

fn statement(text: &mut String, said: &Statement) {
    let who = format!("{} ({})", said.reviewer, said.family);
    let action = said.action.to_string();
    let sentence = spoken(&who, &action, said.adjustment.get(), &said.reasoning);
    let _ = writeln!(text, "  Round {}: {}", said.round, one_line(&sentence));
    if let Some(severity) = said.revised_severity {
        let _ = writeln!(text, "    revised severity: {severity}");
    }
    if let Some(description) = &said.revised_description {
        let _ = writeln!(text, "    revised: {}", one_line(description));
    }
    if let Some(why) = &said.not_counted {
        let _ = writeln!(text, "    not counted: {}", one_line(why));
    }
}

fn advisories(text: &mut String, outcomes: &[AdvisoryOutcome]) {
    if outcomes.is_empty() {
        return;
    }
    text.push_str("\nAdvisories\n");
    for outcome in outcomes {
        let _ = writeln!(text, "  {}", one_line(&advisory(outcome)));
    }
}
