//! Phase 3: voices that contradict each other, settled by the quality of their evidence.

use super::draft::{Draft, Voice};
use super::evidence::quality_of_reasoning;
use super::outcome::{Agreement, Conflict, Kind, Note, Verdict};
use super::terms::{is_among, plain_title, words_of};
use super::trace::Step;
use super::{judgement, unique};
use crate::finding::Source;
use crate::reply::Side;
use crate::review::Plea;

/// Returns what the voices of a group contradict each other about, if they do.
pub(super) fn detect(draft: &Draft<'_>) -> Option<Conflict> {
    let rules = &draft.docket.policy.conflict;
    let voices = &draft.voices;
    if voices.len() > 1 {
        let near = |a: &Voice, b: &Voice| {
            let (one, other) = (draft.severity_of(a.speaker), draft.severity_of(b.speaker));
            one.distance(other) < rules.severity_gap || supports(draft, a, b)
        };
        if !any_pair(voices, near) {
            return Some(Conflict::Severity);
        }
        let same_cause =
            |a: &Voice, b: &Voice| same_diagnosis(draft, a, b) || supports(draft, a, b);
        if rules.root_cause && !any_pair(voices, same_cause) {
            return Some(Conflict::RootCause);
        }
    }
    let conceded = draft.hearing.plea == Some(Plea::Concede);
    (!draft.hearing.opposed.is_empty() && !conceded).then_some(Conflict::Validity)
}

/// Settles the conflict: a clear winner, both partly right, or open.
pub(super) fn apply(draft: &mut Draft<'_>, about: Conflict) {
    draft.kind = Kind::Conflicted(about);
    match about {
        Conflict::Severity | Conflict::RootCause => between_voices(draft, about),
        Conflict::Validity => about_validity(draft),
    }
}

fn between_voices(draft: &mut Draft<'_>, about: Conflict) {
    if judgement::between_voices(draft, about) {
        return;
    }
    let docket = draft.docket;
    let rules = &docket.policy.conflict;
    let quality = |voice: &Voice| docket.claim(voice.speaker).evidence.quality();
    let mut sides: Vec<(u8, Voice)> = draft.voices.iter().map(|v| (quality(v), *v)).collect();
    // The sort is stable, so of equal sides the stronger voice stays in front.
    sides.sort_by_key(|(quality, _)| std::cmp::Reverse(*quality));
    let (best, second) = (sides[0].0, sides[1].0);
    if best >= second.saturating_add(rules.clear_margin) {
        draft.voices = sides.iter().map(|(_, voice)| *voice).collect();
        award(draft, about, sides[0].1);
    } else if about == Conflict::RootCause && second >= rules.partly_right {
        draft.note(Note::ConflictMerged(about));
        draft.agreement = Agreement::Resolved;
        draft.severity = draft.gravity();
        let standings = draft
            .voices
            .iter()
            .map(|v| docket.claim(v.speaker).standing);
        let voices = i32::try_from(draft.voices.len()).unwrap_or(i32::MAX);
        draft
            .trace
            .push(Step::Average, standings.sum::<i32>() / voices);
    } else {
        leave_open(draft, Note::ConflictOpen(about));
    }
}

/// Lets one voice win: it stands in front, and the others are its dissent.
pub(super) fn award(draft: &mut Draft<'_>, about: Conflict, winner: Voice) {
    let docket = draft.docket;
    draft.voices.retain(|voice| *voice != winner);
    let dissent = draft.voices.iter();
    let dissent = dissent.map(|voice| docket.families[usize::from(voice.family)].clone());
    draft.note(Note::ConflictWon {
        about,
        dissent: dissent.collect(),
    });
    draft.voices.insert(0, winner);
    draft.agreement = Agreement::Resolved;
    draft.severity = draft.gravity();
    draft.open_trace(Step::Winner, winner.speaker);
    draft
        .trace
        .push(Step::Conflict, docket.policy.conflict.winner);
}

/// Leaves a conflict between voices to a human, at the confidence of the weakest.
pub(super) fn leave_open(draft: &mut Draft<'_>, why: Note) {
    // What nobody settled weighs as much as its gravest voice says.
    draft.severity = draft.gravest();
    draft.open_trace(Step::Lowest, weakest(draft));
    draft.dispute(why);
}

/// Weighs those who report a problem against those who say that there is none. Each further
/// family on a side counts as one more piece of evidence.
fn about_validity(draft: &mut Draft<'_>) {
    let docket = draft.docket;
    let rules = &docket.policy.conflict;
    let count = |number: usize| u8::try_from(number.saturating_sub(1)).unwrap_or(u8::MAX);
    let best = draft.voices.iter();
    let best = best.map(|voice| docket.claim(voice.speaker).evidence.quality());
    let pro = best
        .max()
        .unwrap_or(0)
        .saturating_add(count(draft.support()));
    let reasons = draft.hearing.examinations.iter().filter_map(|&index| {
        let examination = &docket.debate.examinations[index as usize];
        let counted = draft
            .hearing
            .opposed
            .contains(&docket.family(&examination.family));
        let words = docket.policy.rounds.substance_words;
        counted.then(|| quality_of_reasoning(&examination.reasoning, words))
    });
    let contra = reasons.max().unwrap_or(0);
    let contra = contra.saturating_add(count(draft.hearing.opposed.len()));
    let judged = judgement::on_validity(draft);
    let (won, lost) = match judged {
        Some(side) => (side == Side::For, side == Side::Against),
        None => (
            pro >= contra.saturating_add(rules.clear_margin),
            contra >= pro.saturating_add(rules.clear_margin),
        ),
    };

    if draft.voices.len() > 1 {
        draft.severity = draft.gravity();
        let (step, member) = if won {
            (Step::Highest, draft.voices[0].speaker)
        } else {
            (Step::Lowest, weakest(draft))
        };
        draft.open_trace(step, member);
        draft.trace.push(Step::Conflict, rules.winner);
    } else {
        unique::apply(draft, Some(rules.winner));
    }
    let dissent = draft.hearing.opposed.iter();
    let dissent = dissent.map(|&one| docket.families[usize::from(one)].clone());
    let dissent = dissent.collect();
    if draft.verdict == Verdict::Rejected {
        // It fell on its own points; who disagrees adds nothing.
    } else if won {
        draft.note(Note::ConflictWon {
            about: Conflict::Validity,
            dissent,
        });
        draft.agreement = Agreement::Resolved;
    } else if lost {
        draft.dispute(Note::ConflictLost);
        draft.note(Note::Dissent(dissent));
    } else {
        draft.dispute(Note::ConflictOpen(Conflict::Validity));
        draft.note(Note::Dissent(dissent));
    }
    draft.kind = Kind::Conflicted(Conflict::Validity);
}

/// Returns the voice with the least confidence.
fn weakest(draft: &Draft<'_>) -> u32 {
    let speakers = draft.voices.iter().map(|voice| voice.speaker);
    speakers
        .min_by_key(|&one| (draft.docket.claim(one).standing, one))
        .unwrap_or(draft.voices[0].speaker)
}

fn any_pair(voices: &[Voice], holds: impl Fn(&Voice, &Voice) -> bool) -> bool {
    let mut pairs = (1..voices.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    pairs.any(|(a, b)| holds(&voices[a], &voices[b]))
}

/// Tells whether one of two voices is a program that reports the place at a lower level: that
/// supports the other one and contradicts nobody.
fn supports(draft: &Draft<'_>, a: &Voice, b: &Voice) -> bool {
    let is_tool = |voice: &Voice| draft.docket.claim(voice.speaker).source == Source::Tool;
    let level = |voice: &Voice| draft.severity_of(voice.speaker);
    is_tool(a) && level(a) <= level(b) || is_tool(b) && level(b) <= level(a)
}

/// Tells whether two voices see the same cause: the same category, or titles that share words.
fn same_diagnosis(draft: &Draft<'_>, a: &Voice, b: &Voice) -> bool {
    let (a, b) = (draft.docket.claim(a.speaker), draft.docket.claim(b.speaker));
    if a.category == b.category {
        return true;
    }
    let (title, other) = (plain_title(&a.finding.title), plain_title(&b.finding.title));
    let words: Vec<&[u8]> = words_of(&title).filter(|word| word.len() > 3).collect();
    let others: Vec<&[u8]> = words_of(&other).filter(|word| word.len() > 3).collect();
    let shared = words.iter().filter(|word| is_among(word, &others)).count();
    shared * 3 >= words.len().min(others.len()).max(1)
}
