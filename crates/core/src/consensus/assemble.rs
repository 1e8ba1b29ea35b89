//! Phase 7: last conditions, duplicates that remain, order of reading, and who must be asked.

use std::collections::BTreeMap;

use super::Docket;
use super::draft::Draft;
use super::order::rearrange;
use super::outcome::{Agreement, Group, Note, Verdict};
use super::terms::normalized_title;
use super::trace::Step;
use crate::finding::{Category, Grounding, Source};
use crate::scale::Severity;

/// Applies the conditions that hold whatever came before.
pub(super) fn last_conditions(draft: &mut Draft<'_>) {
    let policy = draft.docket.policy;
    let claim = draft.lead();
    if draft.severity == Severity::Critical && draft.verdict != Verdict::Disputed {
        let families = u32::try_from(draft.support()).unwrap_or(u32::MAX);
        let sure = claim.stated >= i32::from(policy.critical.confidence);
        let proven = sure && claim.evidence.is_concrete();
        let withdrawn = draft.notes.contains(&Note::Withdrawn);
        let stands = draft.verdict == Verdict::Accepted;
        if !withdrawn && (!stands || families < policy.critical.families && !proven) {
            draft.verdict = Verdict::Disputed;
            draft.notes.push(Note::CriticalUnproven);
        }
    }
    if draft.verdict != Verdict::Accepted {
        return;
    }
    let all_refuted = |draft: &Draft<'_>| {
        let mut speakers = draft.voices.iter().map(|voice| voice.speaker);
        speakers.all(|one| draft.docket.claim(one).finding.grounding == Grounding::Refuted)
    };
    if policy.appraisal.is_some() && all_refuted(draft) {
        draft.dispute(Note::Ungrounded);
    }
    let least = match draft.agreement {
        Agreement::SingleSource => policy.unique.least_confidence,
        Agreement::Unanimous | Agreement::Majority => policy.agreement.least_confidence,
        Agreement::Resolved => 0,
    };
    if draft.trace.sum() < i32::from(least) {
        draft.dispute(Note::LittleConfidence);
    }
}

/// Merges accepted groups that say the same elsewhere, or a part of the same.
///
/// Members move to the group that stays, so nothing is lost and nothing is listed twice.
pub(super) fn merge_duplicates(docket: &Docket<'_>, groups: Vec<Group>) -> Vec<Group> {
    let groups = merge_same_cause(docket, groups);
    merge_subsets(docket, groups)
}

fn merge_same_cause(docket: &Docket<'_>, mut groups: Vec<Group>) -> Vec<Group> {
    let mut hashes: Vec<(u64, Category, u32)> = Vec::with_capacity(groups.len());
    for (index, group) in (0..).zip(&groups) {
        let claim = docket.claim(group.lead());
        let (hash, several_words) = claim.title;
        // One word names no cause. Programs use the same words for each place on purpose.
        let is_told = claim.finding.source != Source::Tool;
        if group.verdict == Verdict::Accepted && several_words && is_told {
            hashes.push((hash, claim.category, index));
        }
    }
    hashes.sort_unstable();
    let mut gone = BTreeMap::new();
    let alike = hashes.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    for same in alike.filter(|same| same.len() > 1) {
        let mut by_title: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for &(_, _, index) in same {
            let lead = docket.claim(groups[index as usize].lead());
            let title = normalized_title(&lead.finding.title);
            by_title.entry(title).or_default().push(index);
        }
        for same in by_title.into_values() {
            let surest = same.iter().copied().min_by_key(|&index| {
                let group = &groups[index as usize];
                (std::cmp::Reverse(group.confidence), reading_order(group))
            });
            let others = same.iter().filter(|&&index| Some(index) != surest);
            gone.extend(others.filter_map(|&index| Some((index, surest?))));
        }
    }
    absorb(&mut groups, &gone, Note::SameRootCause);
    groups
}

/// Merges a group that lies within a member of another one of the same category.
fn merge_subsets(docket: &Docket<'_>, mut groups: Vec<Group>) -> Vec<Group> {
    let accepted = (0..)
        .zip(&groups)
        .filter(|(_, group)| group.verdict == Verdict::Accepted);
    // Spans by file, category and first line; of those that start together the longest first.
    let mut spans = Vec::new();
    for (index, group) in accepted {
        for &member in &group.members {
            let claim = docket.claim(member);
            let location = &claim.finding.location;
            if let Some((first, last)) = location.lines() {
                let whole = member == group.lead();
                spans.push((
                    (claim.file, claim.category, first, u32::MAX - last),
                    index,
                    whole,
                ));
            }
        }
    }
    spans.sort_unstable();
    let mut gone: BTreeMap<u32, u32> = BTreeMap::new();
    let mut widest: Option<(u32, Category, u32, u32)> = None;
    for ((file, category, _, flipped), index, whole) in spans {
        let last = u32::MAX - flipped;
        match widest {
            Some((same_file, same_category, end, keeper))
                if same_file == file && same_category == category && last <= end =>
            {
                let lone = groups[index as usize].members.len() == 1;
                let keeps = !gone.contains_key(&keeper) && keeper != index;
                if whole && lone && keeps && says_part_of(docket, &groups, index, keeper) {
                    gone.insert(index, keeper);
                }
            }
            _ => widest = Some((file, category, last, index)),
        }
    }
    absorb(&mut groups, &gone, Note::Subset);
    groups
}

/// Tells whether the title of a group says nothing that the other one does not say.
fn says_part_of(docket: &Docket<'_>, groups: &[Group], part: u32, whole: u32) -> bool {
    let words = |index: u32| {
        let finding = &docket.claim(groups[index as usize].lead()).finding;
        normalized_title(&finding.title)
    };
    let (part, whole) = (words(part), words(whole));
    let whole: Vec<&str> = whole.split(' ').collect();
    part.split(' ').all(|word| whole.contains(&word))
}

/// Moves the members of groups that are gone to those that keep them.
///
/// No member loses by it: the group that stays is as severe and as sure as any it takes in.
fn absorb(groups: &mut Vec<Group>, gone: &BTreeMap<u32, u32>, note: fn(u32) -> Note) {
    if gone.is_empty() {
        return;
    }
    let mut taken: BTreeMap<u32, u32> = BTreeMap::new();
    for (&index, &keeper) in gone {
        let absorbed = std::mem::take(&mut groups[index as usize].members);
        let examinations = std::mem::take(&mut groups[index as usize].examinations);
        let defenses = std::mem::take(&mut groups[index as usize].defenses);
        let (severity, confidence) = {
            let group = &groups[index as usize];
            (group.severity, group.confidence)
        };
        let keeper_group = &mut groups[keeper as usize];
        keeper_group.members.extend(absorbed);
        keeper_group.examinations.extend(examinations);
        keeper_group.defenses.extend(defenses);
        keeper_group.severity = keeper_group.severity.max(severity);
        if confidence > keeper_group.confidence {
            let lead = i32::from(confidence.get()) - i32::from(keeper_group.confidence.get());
            keeper_group.trace.push(Step::SurerPart, lead);
            keeper_group.confidence = confidence;
        }
        *taken.entry(keeper).or_default() += 1;
    }
    for (keeper, number) in taken {
        groups[keeper as usize].notes.push(note(number));
    }
    groups.retain(|group| !group.members.is_empty());
}

/// Sorts for reading, and marks what a human must look at now.
pub(super) fn finish(groups: &mut [Group]) {
    let mut order: Vec<_> = (0..)
        .zip(groups.iter())
        .map(|(index, group)| (reading_order(group), index))
        .collect();
    order.sort_unstable();
    rearrange(groups, order.into_iter().map(|(_, index)| index).collect());
    let risk = groups
        .iter()
        .filter(|group| group.verdict == Verdict::Accepted)
        .map(|group| group.severity)
        .max();
    for group in groups {
        // A dispute that could not make the outcome worse than it is decides nothing, and one
        // that its author gave up is settled among reviewers.
        group.escalate = group.verdict == Verdict::Disputed
            && group.severity >= Severity::High
            && !group.notes.contains(&Note::Conceded)
            && risk.is_none_or(|risk| group.severity > risk);
    }
}

fn reading_order(group: &Group) -> impl Ord + use<> {
    (
        group.verdict,
        std::cmp::Reverse(group.severity),
        std::cmp::Reverse(group.confidence),
        group.agreement,
        group.lead(),
    )
}
