//! Phase 7: last conditions, duplicates that remain, order of reading, and who must be asked.

use std::collections::{BTreeMap, BTreeSet};

use super::Docket;
use super::draft::Draft;
use super::order::{repeated, sort_by_stretches};
use super::ordered::Ordered;
use super::outcome::{Agreement, Group, Note, Verdict};
use super::terms::{is_among, normalized_title, plain_title, words_of};
use super::trace::Step;
use crate::finding::{Category, Grounding, Source};
use crate::reply::Side;
use crate::scale::{Confidence, Severity};

/// Applies the conditions that hold whatever came before.
pub(super) fn last_conditions(draft: &mut Draft<'_>) {
    let policy = draft.docket.policy;
    let claim = draft.lead();
    let outvoted = match draft.severity_ruled {
        true => Vec::new(),
        false => draft.outvoted(draft.gravity()),
    };
    if !outvoted.is_empty() && draft.verdict == Verdict::Accepted {
        draft.note(Note::Outvoted(outvoted));
    }
    if draft.verdict != Verdict::Rejected && has_no_place(draft) {
        draft.verdict = Verdict::Rejected;
        draft.note(Note::Ungrounded);
        return;
    }
    if draft.severity == Severity::Critical && draft.verdict != Verdict::Disputed {
        let families = u32::try_from(draft.support()).unwrap_or(u32::MAX);
        let sure = claim.stated >= policy.critical.confidence;
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

/// Tells whether one voice alone points at code that does not exist: somebody looked for the file,
/// the line and the quoted code, and no other family supports it.
fn has_no_place(draft: &Draft<'_>) -> bool {
    let judged = draft.docket.judgement(&draft.members);
    let confirmed = judged.is_some_and(|(_, judgement)| judgement.side == Side::For);
    let mut members = draft.members.iter();
    draft.support() <= 1
        && !confirmed
        && members.all(|&one| {
            let finding = draft.docket.claim(one).finding;
            finding.grounding == Grounding::Refuted
        })
}

/// Where a member of an accepted group stands. Spans are sorted by file, category and first line; of
/// those that start together the longest comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    file: u32,
    category: Category,
    first: u32,
    /// The last line, counted from the greatest number there is.
    flipped: u32,
    group: u32,
    /// Whether it is that of the lead.
    is_lead: bool,
}

/// The decided groups, and what is needed to find duplicates among them. That is gathered while
/// each group is at hand, so that nobody has to walk along all of them again.
pub(super) struct Assembly<'a> {
    docket: &'a Docket<'a>,
    groups: Vec<Group>,
    /// The hashes of title and category of accepted groups that may have a cause in common.
    causes: Vec<(u64, u32)>,
    spans: Vec<Span>,
    /// Disputes that a human may have to look at now.
    urgent: Vec<u32>,
}

impl<'a> Assembly<'a> {
    /// Returns an assembly without groups, with room for so many.
    pub(super) fn new(docket: &'a Docket<'a>, groups: usize) -> Self {
        Self {
            docket,
            groups: Vec::with_capacity(groups),
            causes: Vec::with_capacity(groups),
            spans: Vec::with_capacity(docket.claims.len()),
            urgent: Vec::new(),
        }
    }

    /// Adds a decided group.
    pub(super) fn push(&mut self, group: Group) {
        let index = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        if group.verdict == Verdict::Accepted {
            let lead = self.docket.claim(group.lead());
            // One word names no cause. Programs use the same words for each place on purpose.
            if lead.several_words && lead.source != Source::Tool {
                let hash = lead.title.rotate_left(lead.category as u32);
                self.causes.push((hash, index));
            }
            let spans = group.members.iter().filter_map(|&member| {
                let claim = self.docket.claim(member);
                let (first, last) = claim.lines?;
                Some(Span {
                    file: claim.file,
                    category: claim.category,
                    first,
                    flipped: u32::MAX - last,
                    group: index,
                    is_lead: member == group.lead(),
                })
            });
            self.spans.extend(spans);
        } else if is_urgent(&group) {
            self.urgent.push(index);
        }
        self.groups.push(group);
    }

    /// Takes in accepted groups that say a part of another one, and links those that say the same
    /// about another place: those with equal titles, and pairs that are alike in their wording.
    ///
    /// Members of a part move to the group that stays, so nothing is lost and nothing is listed
    /// twice. What is linked stays as it is: each with its own text and verdict.
    pub(super) fn merge_duplicates(&mut self, alike: &[(u32, u32)]) {
        let gone = self.subsets();
        absorb(&mut self.groups, &gone);
        self.link(alike);
    }

    /// Links groups that have their cause in common.
    fn link(&mut self, alike: &[(u32, u32)]) {
        let mut linked: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for same in self.same_cause() {
            for &one in &same {
                let others = same.iter().copied().filter(|&other| other != one);
                linked.entry(one).or_default().extend(others);
            }
        }
        let stands = |index: u32| {
            let group = &self.groups[index as usize];
            !group.members.is_empty() && group.verdict != Verdict::Rejected
        };
        for &(a, b) in alike.iter().filter(|(a, b)| stands(*a) && stands(*b)) {
            linked.entry(a).or_default().insert(b);
            linked.entry(b).or_default().insert(a);
        }
        for (index, others) in linked {
            let leads = others.iter().map(|&one| self.groups[one as usize].lead());
            let leads: Vec<u32> = leads.collect();
            let group = &mut self.groups[index as usize];
            let number = u32::try_from(leads.len()).unwrap_or(u32::MAX);
            group.linked = leads;
            group.notes.push(Note::SameRootCause(number));
        }
    }

    /// Returns the groups that have their cause in common.
    fn same_cause(&mut self) -> Vec<Vec<u32>> {
        let (docket, groups) = (self.docket, &self.groups);
        let mut alike = std::mem::take(&mut self.causes);
        let again = repeated(alike.iter().map(|(hash, _)| *hash));
        alike.retain(|(hash, _)| again.contains(hash));
        alike.sort_unstable();
        let mut linked = Vec::new();
        for same in alike.chunk_by(|a, b| a.0 == b.0) {
            let mut by_title: BTreeMap<(Category, String), Vec<u32>> = BTreeMap::new();
            for &(_, index) in same {
                let group = &groups[index as usize];
                if group.members.is_empty() {
                    continue;
                }
                let lead = docket.claim(group.lead());
                let title = normalized_title(&lead.finding.title);
                let cause = by_title.entry((lead.category, title)).or_default();
                cause.push(index);
            }
            linked.extend(by_title.into_values().filter(|same| same.len() > 1));
        }
        linked
    }

    /// Returns the groups that lie within a member of another one of the same category and say no
    /// more than it, each with that other one.
    fn subsets(&mut self) -> BTreeMap<u32, u32> {
        let spans = std::mem::take(&mut self.spans);
        let spans = sort_by_stretches(spans, |span| span.file, <[_]>::sort_unstable);
        let mut gone: BTreeMap<u32, u32> = BTreeMap::new();
        let mut widest: Option<(Span, u32)> = None;
        for span in spans {
            let last = u32::MAX - span.flipped;
            match widest {
                Some((wide, end))
                    if (wide.file, wide.category) == (span.file, span.category) && last <= end =>
                {
                    let (index, keeper) = (span.group, wide.group);
                    let lone = self.groups[index as usize].members.len() == 1;
                    let keeps = !gone.contains_key(&keeper) && keeper != index;
                    let part = span.is_lead && lone && keeps;
                    if part && self.may_join(index, keeper) && self.says_part_of(index, keeper) {
                        gone.insert(index, keeper);
                    }
                }
                _ => widest = Some((span, last)),
            }
        }
        gone
    }

    /// Tells whether the one finding of a group may join another group: nobody there is its reviewer,
    /// and no other rule of its family is there. It says nothing in full that it does not say in
    /// its title.
    fn may_join(&self, part: u32, whole: u32) -> bool {
        let lead = self.groups[part as usize].lead();
        let claim = self.docket.claim(lead);
        let finding = claim.finding;
        let brief = finding.description.is_empty() || finding.description == finding.title;
        let mut others = self.groups[whole as usize].members.iter();
        brief
            && others.all(|&other| {
                let other = self.docket.claim(other);
                let rules = (&finding.rule, &other.finding.rule);
                let clash = other.family == claim.family && rules.0 != rules.1;
                other.reviewer != claim.reviewer && !clash
            })
    }

    /// Tells whether the title of a group says nothing that the other one does not say.
    fn says_part_of(&self, part: u32, whole: u32) -> bool {
        let title = |index: u32| {
            let lead = self.groups[index as usize].lead();
            plain_title(&self.docket.claim(lead).finding.title)
        };
        let (part, whole) = (title(part), title(whole));
        let whole: Vec<&[u8]> = words_of(&whole).collect();
        let mut part = words_of(&part).peekable();
        // What says nothing is a part of nothing else.
        part.peek().is_some() != whole.is_empty() && part.all(|word| is_among(word, &whole))
    }

    /// Marks what a human must look at now, and returns the groups in the order of reading.
    pub(super) fn finish(self) -> Ordered<Group> {
        let mut groups = self.groups;
        let mut order = Vec::with_capacity(groups.len());
        let mut risk: Option<Severity> = None;
        for (index, group) in (0_u32..).zip(&groups) {
            // Those that others keep the members of are in no list.
            if group.members.is_empty() {
                continue;
            }
            order.push((reading_order(group), index));
            if group.verdict == Verdict::Accepted {
                risk = risk.max(Some(group.severity));
            }
        }
        for index in self.urgent {
            // A dispute that could not make the outcome worse than it is decides nothing.
            let group = &mut groups[index as usize];
            group.escalate = risk.is_none_or(|risk| group.severity > risk);
        }
        let order = sort_by_stretches(order, |((rank, _), _)| *rank, <[_]>::sort_unstable);
        let order = order.into_iter().map(|(_, index)| index).collect();
        Ordered::new(groups, order)
    }
}

/// Moves the members of groups that are gone to those that keep them.
///
/// No member loses by it: the group that stays is as severe and as sure as any it takes in.
fn absorb(groups: &mut [Group], gone: &BTreeMap<u32, u32>) {
    let mut taken: BTreeMap<u32, u32> = BTreeMap::new();
    for (&index, &keeper) in gone {
        let absorbed = std::mem::take(&mut groups[index as usize].members);
        let examinations = std::mem::take(&mut groups[index as usize].examinations);
        let defenses = std::mem::take(&mut groups[index as usize].defenses);
        let (severity, gravity, confidence) = {
            let group = &groups[index as usize];
            (group.severity, group.gravity, group.confidence)
        };
        let keeper_group = &mut groups[keeper as usize];
        keeper_group.members.extend(absorbed);
        keeper_group.examinations.extend(examinations);
        keeper_group.defenses.extend(defenses);
        keeper_group.severity = keeper_group.severity.max(severity);
        keeper_group.gravity = keeper_group.gravity.max(gravity);
        if confidence > keeper_group.confidence {
            let lead = i32::from(confidence.get()) - i32::from(keeper_group.confidence.get());
            keeper_group.trace.push(Step::SurerPart, lead);
            keeper_group.confidence = confidence;
        }
        *taken.entry(keeper).or_default() += 1;
    }
    for (keeper, number) in taken {
        groups[keeper as usize].notes.push(Note::Subset(number));
    }
}

/// Tells whether a dispute is about something bad and was not given up by its author, which would
/// settle it among reviewers.
fn is_urgent(group: &Group) -> bool {
    group.verdict == Verdict::Disputed
        && group.severity >= Severity::High
        && !group.notes.contains(&Note::Conceded)
}

/// Returns what groups are read by: a rank by verdict, then the most severe, the surest and the best
/// supported first; and the place.
fn reading_order(group: &Group) -> (u32, u32) {
    let mildness = Severity::Critical as u32 - group.severity as u32;
    let doubt = u32::from(Confidence::FULL.get() - group.confidence.get());
    // Few ranks, with none in between that is never used: groups are counted by them.
    let rank = (group.verdict as u32 * 4 + mildness) * 101 + doubt;
    (rank * 4 + group.agreement as u32, group.lead())
}
