//! Phase 7: last conditions, duplicates that remain, order of reading, and who must be asked.

use std::collections::BTreeMap;

use super::Docket;
use super::draft::Draft;
use super::order::{rearrange, repeated, sort_by_stretches};
use super::outcome::{Agreement, Group, Note, Verdict};
use super::terms::{is_among, normalized_title, plain_title, words_of};
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
            draft.note(Note::CriticalUnproven);
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
    // One word names no cause. Programs use the same words for each place on purpose.
    let named = (0..).zip(&groups).filter_map(|(index, group)| {
        let claim = docket.claim(group.lead());
        let (hash, several_words) = claim.title;
        let is_told = claim.source != Source::Tool;
        let counts = group.verdict == Verdict::Accepted && several_words && is_told;
        counts.then_some((hash.rotate_left(claim.category as u32), index))
    });
    let mut alike: Vec<(u64, u32)> = named.collect();
    let again = repeated(alike.iter().map(|(hash, _)| *hash).collect());
    alike.retain(|(hash, _)| again.contains(hash));
    alike.sort_unstable();
    let mut gone = BTreeMap::new();
    for same in alike.chunk_by(|a, b| a.0 == b.0) {
        let mut by_title: BTreeMap<(Category, String), Vec<u32>> = BTreeMap::new();
        for &(_, index) in same {
            let lead = docket.claim(groups[index as usize].lead());
            let title = normalized_title(&lead.finding.title);
            by_title
                .entry((lead.category, title))
                .or_default()
                .push(index);
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
    let mut spans = Vec::with_capacity(docket.claims.len());
    for (index, group) in accepted {
        for &member in &group.members {
            let claim = docket.claim(member);
            if let Some((first, last)) = claim.lines {
                let whole = member == group.lead();
                spans.push((
                    (claim.file, claim.category, first, u32::MAX - last),
                    index,
                    whole,
                ));
            }
        }
    }
    let spans = sort_by_stretches(spans, |span| span.0.0, <[_]>::sort_unstable);
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
    let title = |index: u32| {
        let finding = &docket.claim(groups[index as usize].lead()).finding;
        plain_title(&finding.title)
    };
    let (part, whole) = (title(part), title(whole));
    let whole: Vec<&[u8]> = words_of(&whole).collect();
    let mut part = words_of(&part).peekable();
    // What says nothing is a part of nothing else.
    part.peek().is_some() != whole.is_empty() && part.all(|word| is_among(word, &whole))
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
    let keys = groups.iter().map(reading_order).zip(0..);
    let mut order: Vec<(u64, u32)> = keys.collect();
    order.sort_unstable();
    let order = order.into_iter().map(|(_, index)| index).collect();
    rearrange(groups, order, |group| {
        group.members.len() ^ group.notes.len() ^ group.defenses.len() ^ group.voices as usize
    });
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

/// Returns a number by which groups are read: by verdict, then the most severe, the surest and the
/// best supported first, then by place.
fn reading_order(group: &Group) -> u64 {
    let mildness = Severity::Critical as u64 - group.severity as u64;
    let doubt = u64::from(u8::MAX - group.confidence.get());
    let rank = (group.verdict as u64) << 16 | mildness << 12 | doubt << 4 | group.agreement as u64;
    rank << 32 | u64::from(group.lead())
}
