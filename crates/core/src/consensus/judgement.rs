//! What a judge made of a contested finding: its weighing stands in for our own measure of
//! evidence. Who was asked is not our business; the answers arrive as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Docket;
use super::conflict::{award, leave_open};
use super::draft::{Draft, Voice};
use super::normalize::Claim;
use super::outcome::{Conflict, Kind, Note, Verdict};
use crate::reply::Side;
use crate::scale::Severity;

/// The weighing of one contested finding by a judge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// The finding, by its id.
    pub finding_id: String,
    /// Whose finding it is, when ids alone do not tell.
    #[serde(default)]
    pub reviewer: Option<String>,
    /// The name of the judge.
    pub judge: String,
    /// Which side has the better evidence. In a conflict about the cause, `for` is the side of this
    /// finding.
    pub side: Side,
    /// The severity that the evidence bears out, in a conflict about severity.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// Why.
    pub reason: String,
}

/// Files every judgement under its finding. Two that differ about one finding are none.
pub(super) fn file(
    claims: &[Claim<'_>],
    mut judgements: Vec<Judgement>,
    problems: &mut Vec<String>,
) -> BTreeMap<u32, Judgement> {
    let mut filed: BTreeMap<u32, Judgement> = BTreeMap::new();
    let mut torn = Vec::new();
    judgements.sort_unstable();
    judgements.dedup();
    for judgement in judgements {
        let is_meant = |claim: &Claim<'_>| {
            let by = judgement.reviewer.as_ref();
            claim.finding.id == judgement.finding_id
                && by.is_none_or(|by| *by == claim.finding.reviewer)
        };
        let found = (0_u32..).zip(claims).find(|(_, claim)| is_meant(claim));
        let Some((index, _)) = found else {
            problems.push(format!(
                "a judgement is about {:?}, which nobody reported",
                judgement.finding_id
            ));
            continue;
        };
        match filed.get(&index) {
            Some(known) if (known.side, known.severity) != (judgement.side, judgement.severity) => {
                problems.push(format!(
                    "judges differ about {:?}; none is counted",
                    judgement.finding_id
                ));
                torn.push(index);
            }
            Some(_) => {}
            None => {
                filed.insert(index, judgement);
            }
        }
    }
    filed.retain(|index, _| !torn.contains(index));
    filed
}

impl<'a> Docket<'a> {
    /// Returns the judgement about a group, and the member it is about.
    pub(super) fn judgement(&self, members: &[u32]) -> Option<(u32, &Judgement)> {
        if self.judgements.is_empty() {
            return None;
        }
        let mut members = members.to_vec();
        members.sort_unstable();
        let mut found = members
            .iter()
            .filter_map(|member| Some((*member, self.judgements.get(member)?)));
        let first = found.next()?;
        // Groups that were judged apart and came together since have no judgement in common.
        found.next().is_none().then_some(first)
    }
}

/// Settles a conflict between voices as judged; returns whether there was a judgement.
pub(super) fn between_voices(draft: &mut Draft<'_>, about: Conflict) -> bool {
    let docket = draft.docket;
    let Some((member, judgement)) = docket.judgement(&draft.members) else {
        return false;
    };
    draft.note(judged(judgement));
    let family = docket.claim(member).family;
    let is_winner = |voice: &&Voice| match (about, judgement.side) {
        (_, Side::Balanced) => false,
        (Conflict::Severity, Side::For) => {
            Some(draft.severity_of(voice.speaker)) == judgement.severity
        }
        (Conflict::Severity, Side::Against) => false,
        (Conflict::RootCause | Conflict::Validity, Side::For) => voice.family == family,
        (Conflict::RootCause | Conflict::Validity, Side::Against) => voice.family != family,
    };
    let winner = draft.voices.iter().find(is_winner).copied();
    match winner {
        Some(winner) => {
            award(draft, about, winner);
            if about == Conflict::Severity {
                draft.severity = draft.severity_of(winner.speaker);
                draft.severity_ruled = true;
            }
        }
        None if (about, judgement.side) == (Conflict::Severity, Side::Against) => {
            leave_open(draft, Note::ConflictLost);
        }
        None => leave_open(draft, Note::ConflictOpen(about)),
    }
    true
}

/// Returns the side that a judge found to have the better evidence on whether it is a problem.
pub(super) fn on_validity(draft: &mut Draft<'_>) -> Option<Side> {
    let (_, judgement) = draft.docket.judgement(&draft.members)?;
    draft.note(judged(judgement));
    Some(judgement.side)
}

/// Applies a judgement in place of scrutiny; returns whether it did.
pub(super) fn in_place_of_scrutiny(draft: &mut Draft<'_>) -> bool {
    let Some((_, judgement)) = draft.docket.judgement(&draft.members) else {
        return false;
    };
    let is_conflict = matches!(draft.kind, Kind::Conflicted(_));
    if !is_conflict {
        draft.note(judged(judgement));
    }
    match judgement.side {
        Side::For => {
            if draft.verdict == Verdict::Rejected {
                draft.verdict = Verdict::Disputed;
            }
            true
        }
        Side::Against => {
            if !is_conflict {
                draft.dispute(Note::ConflictLost);
            }
            true
        }
        Side::Balanced => false,
    }
}

fn judged(judgement: &Judgement) -> Note {
    Note::Judged {
        judge: judgement.judge.clone(),
        side: judgement.side,
        severity: judgement.severity,
        reason: judgement.reason.clone(),
    }
}
