//! What the review of its work means for a task: approved, rejected, disputed, or left for later.

use crate::consensus::Verdict;
use crate::ids::DisputeId;
use crate::review::arbitration::{ArbitratedFinding, Arbitration, End, FindingState, Offer};
use crate::review::gate::{Gate, Obligation};
use crate::review::report::{ReviewReport, ReviewedFinding, ReviewerState, Voice};
use crate::text::truncate_chars;

/// How many findings of a review are told to the coder.
const MOST_FINDINGS: usize = 30;

/// What follows from a review for the task whose work it looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sequel {
    /// The work is approved.
    Approve,
    /// The coder works on it again.
    Reject {
        /// How many findings are open.
        open: u32,
        /// Every finding that binds, in words.
        note: String,
    },
    /// Somebody has to rule before the task can end.
    Dispute {
        /// The disputes about findings that nobody has ruled on, in the order of the report.
        disputes: Vec<DisputeId>,
        /// What the coder has to do whatever the rulings say; empty when nothing.
        rest: String,
    },
    /// It says too little to decide.
    Leave {
        /// Why.
        why: String,
    },
}

/// Returns what a review means for its task.
///
/// Only a PASS approves. What is contested goes to a dispute, unless something else is missing
/// too: then the review is taken up again first, so that no ruling approves what nobody saw.
#[must_use]
pub fn sequel(report: &ReviewReport) -> Sequel {
    let contested = contested(report);
    let leave = |causes: &[String]| Sequel::Leave {
        why: format!(
            "its review {} is inconclusive: {}",
            report.case,
            causes.join("; ")
        ),
    };
    let unheard = matches!(
        report.arbitration.as_ref().map(|one| &one.end),
        Some(End::CoderMissing { .. })
    );
    let open = open_findings(report, &contested);
    match &report.gate {
        Gate::Pass => Sequel::Approve,
        // What was found stands, whether or not the coder could be heard about it.
        Gate::Inconclusive { .. } if unheard && !open.is_empty() => reject(report, &open),
        Gate::Inconclusive { causes } if contested.is_empty() || causes.len() > 1 => leave(causes),
        Gate::Fail { .. } if contested.is_empty() => reject(report, &open),
        Gate::Fail { .. } | Gate::Inconclusive { .. } => Sequel::Dispute {
            disputes: contested.into_iter().map(|(_, dispute)| dispute).collect(),
            rest: rest(report, &open),
        },
    }
}

/// Returns the commit with what a coder did about the findings, if it did anything.
#[must_use]
pub fn arbitrated_commit(arbitration: &Arbitration) -> Option<&str> {
    match arbitration.offer.as_ref()? {
        Offer::Branch { commit, .. } | Offer::Kept { commit, .. } => Some(commit),
        Offer::Patch { .. } | Offer::Applied { .. } => None,
    }
}

/// Returns the findings that wait for a ruling, each with its dispute.
fn contested(report: &ReviewReport) -> Vec<(&ArbitratedFinding, DisputeId)> {
    let findings = report.arbitration.iter().flat_map(|one| &one.findings);
    let waiting = findings.filter_map(|finding| {
        let last = finding.disputes.last()?;
        let unsettled = matches!(
            finding.state,
            FindingState::AwaitingRuling | FindingState::Contested | FindingState::Open { .. }
        );
        let binds = finding.obligation == Obligation::Mandatory;
        let waits = unsettled && binds && last.decision.is_none();
        let dispute = DisputeId::new(&last.id).ok()?;
        waits.then_some((finding, dispute))
    });
    waiting.collect()
}

/// Returns the findings that bind and that no dispute is about.
fn open_findings<'a>(
    report: &'a ReviewReport,
    contested: &[(&ArbitratedFinding, DisputeId)],
) -> Vec<&'a ReviewedFinding> {
    let is_contested =
        |finding: &ReviewedFinding| contested.iter().any(|(one, _)| one.id == finding.id);
    let findings = report.findings.iter();
    findings
        .filter(|finding| report.binds(finding) && !is_contested(finding))
        .collect()
}

fn reject(report: &ReviewReport, open: &[&ReviewedFinding]) -> Sequel {
    Sequel::Reject {
        open: u32::try_from(open.len()).unwrap_or(u32::MAX),
        note: told(report, open),
    }
}

/// Returns what no ruling about the contested findings can make good.
fn rest(report: &ReviewReport, open: &[&ReviewedFinding]) -> String {
    let mut parts = Vec::new();
    if !open.is_empty() {
        parts.push(told(report, open));
    }
    let missing = report
        .reviewers
        .iter()
        .filter(|one| matches!(one.state, ReviewerState::Missing { .. }));
    parts.extend(missing.map(|one| {
        format!(
            "{} could not be heard; the work is to be reviewed again.",
            one.name
        )
    }));
    parts.join("\n")
}

/// Returns what a failed review tells the coder: every finding that binds.
fn told(report: &ReviewReport, open: &[&ReviewedFinding]) -> String {
    let mut lines = vec![format!(
        "The review {} found {} that must be dealt with:",
        report.case,
        match open.len() {
            1 => "1 finding".to_owned(),
            n => format!("{n} findings"),
        }
    )];
    for finding in open.iter().take(MOST_FINDINGS) {
        let place = match finding.location.line {
            Some(line) => format!("{}:{line}", finding.location.file),
            None => finding.location.file.clone(),
        };
        let stands = match (finding.verdict, arbitrated(report, finding)) {
            (Verdict::Disputed, _) => " (the reviewers do not agree)".to_owned(),
            (_, Some(one)) => format!(" ({})", one.state.phrase()),
            (Verdict::Accepted | Verdict::Rejected, None) => String::new(),
        };
        let (id, label, title) = (&finding.id, finding.label, &finding.title);
        lines.push(format!("- {id} [{label}] {place}: {title}{stands}"));
        for more in [&finding.description, &finding.suggestion] {
            if !more.trim().is_empty() && more != title {
                let more = truncate_chars(more.trim(), 600).replace('\n', " ");
                lines.push(format!("  {more}"));
            }
        }
        lines.extend(finding.other_voices().map(also_said));
    }
    lines.join("\n")
}

/// Returns what another member of the panel says about the same finding, in its own words.
fn also_said(voice: &Voice) -> String {
    let mut parts = vec![voice.title.trim()];
    for more in [&voice.description, &voice.trigger, &voice.suggestion] {
        let more = more.trim();
        if !more.is_empty() && !parts.contains(&more) {
            parts.push(more);
        }
    }
    let said = parts.join(" ");
    let said = truncate_chars(&said, 600).replace('\n', " ");
    format!("  Another reviewer says at {}: {said}", voice.location)
}

fn arbitrated<'a>(
    report: &'a ReviewReport,
    finding: &ReviewedFinding,
) -> Option<&'a ArbitratedFinding> {
    let mut findings = report.arbitration.iter().flat_map(|one| &one.findings);
    findings.find(|one| one.id == finding.id)
}

#[cfg(test)]
mod tests;
