//! Statistics, counted from the result.

use super::{ConfidenceChanges, Round2Statistics, Round3Statistics, Statistics};
use crate::consensus::outcome::{Group, Kind, Settlement, Verdict};
use crate::finding::Source;
use crate::review::{Plea, Stance};

pub(super) fn statistics(settlement: &Settlement) -> Statistics {
    let mut counts = Statistics {
        security_advisories_checked: settlement.advisories_checked,
        round2_cross_examination: round2(settlement),
        round3_defense: round3(settlement),
        confidence_changes: confidence_changes(settlement),
        ..Statistics::default()
    };
    for group in &settlement.groups {
        *place_of(group, &mut counts) += 1;
    }
    for reviewer in &settlement.panel {
        counts.findings_per_model.insert(reviewer.name.clone(), 0);
    }
    let first_round = settlement.findings.iter();
    for finding in first_round.filter(|finding| finding.source != Source::Round2Observation) {
        counts.total_findings_received += 1;
        let known = counts.findings_per_model.get_mut(&finding.reviewer);
        if let Some(number) = known {
            *number += 1;
        }
    }
    counts
}

/// Returns the one number in which a group is counted.
fn place_of<'a>(group: &Group, counts: &'a mut Statistics) -> &'a mut u32 {
    // One voice that falls on its own points is rejected as such, whoever contests it.
    let alone = group.score.is_some();
    match (group.verdict, group.kind) {
        (Verdict::Disputed, _) => &mut counts.disputes_unresolved,
        (Verdict::Accepted | Verdict::Rejected, Kind::Agreed) => &mut counts.agreements,
        (Verdict::Accepted, Kind::Unique) => &mut counts.unique_findings_accepted,
        (Verdict::Rejected, Kind::Unique) => &mut counts.unique_findings_rejected,
        (Verdict::Rejected, Kind::Conflicted(_)) if alone => &mut counts.unique_findings_rejected,
        (Verdict::Accepted | Verdict::Rejected, Kind::Conflicted(_)) => {
            &mut counts.conflicts_resolved
        }
    }
}

fn round2(settlement: &Settlement) -> Round2Statistics {
    let mut counts = Round2Statistics {
        new_observations_added: settlement.new_observations,
        ..Round2Statistics::default()
    };
    for examination in &settlement.examinations {
        let received = &mut counts.responses_received;
        *received.entry(examination.reviewer.clone()).or_default() += 1;
        match examination.stance {
            Stance::Agree => counts.agreements += 1,
            Stance::Partial => counts.partial_agreements += 1,
            Stance::Disagree => counts.disagreements += 1,
        }
    }
    counts
}

fn round3(settlement: &Settlement) -> Round3Statistics {
    let mut counts = Round3Statistics::default();
    for defense in &settlement.defenses {
        let received = &mut counts.defenses_received;
        *received.entry(defense.reviewer.clone()).or_default() += 1;
        match defense.plea {
            Plea::Defend => counts.defended += 1,
            Plea::Concede => counts.conceded += 1,
            Plea::Modify => counts.modified += 1,
        }
    }
    counts
}

fn confidence_changes(settlement: &Settlement) -> ConfidenceChanges {
    let mut counts = ConfidenceChanges::default();
    for group in &settlement.groups {
        match group
            .confidence
            .get()
            .cmp(&settlement.original_confidence(group))
        {
            std::cmp::Ordering::Greater => counts.increased += 1,
            std::cmp::Ordering::Less => counts.decreased += 1,
            std::cmp::Ordering::Equal => counts.unchanged += 1,
        }
    }
    counts
}
