//! The working state of one group on its way through the phases.

use super::Docket;
use super::normalize::Claim;
use super::outcome::{Agreement, Group, Kind, Note, Score, Verdict};
use super::rounds::Heard;
use super::trace::{Step, Trace};
use crate::finding::Source;
use crate::scale::{Confidence, Severity};

/// One family's part in a group: all its findings there are one voice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Voice {
    /// The index of the family.
    pub(super) family: u16,
    /// The finding that speaks for it.
    pub(super) speaker: u32,
}

/// A group before its verdict is final.
pub(super) struct Draft<'a> {
    pub(super) docket: &'a Docket<'a>,
    pub(super) members: Vec<u32>,
    /// How alike the wordings of its families are, in thousandths.
    pub(super) closeness: i32,
    /// The voices that stand, the strongest first.
    pub(super) voices: Vec<Voice>,
    pub(super) hearing: Heard,
    pub(super) verdict: Verdict,
    pub(super) kind: Kind,
    pub(super) agreement: Agreement,
    pub(super) severity: Severity,
    pub(super) trace: Trace,
    pub(super) notes: Vec<Note>,
    pub(super) score: Option<Score>,
}

impl<'a> Draft<'a> {
    /// Returns the draft of a group in which nothing is decided yet.
    pub(super) fn new(docket: &'a Docket<'a>, members: Vec<u32>, closeness: i32) -> Self {
        let hearing = docket.debate.hear(docket, &members);
        let mut draft = Self {
            voices: voices(docket, &members, &hearing),
            docket,
            members,
            closeness,
            hearing,
            verdict: Verdict::Accepted,
            kind: Kind::Unique,
            agreement: Agreement::SingleSource,
            severity: Severity::Low,
            trace: Trace::default(),
            notes: Vec::new(),
            score: None,
        };
        draft.severity = draft.severity_of(draft.voices[0].speaker);
        if !draft.hearing.fallen.is_empty() {
            let names = draft.hearing.fallen.iter();
            let names = names.map(|&one| docket.families[usize::from(one)].clone());
            draft.note(Note::PartlyConceded(names.collect()));
        }
        draft
    }

    /// Returns the claim that speaks for the group.
    pub(super) fn lead(&self) -> &'a Claim<'a> {
        self.docket.claim(self.voices[0].speaker)
    }

    /// Returns the severity of a member, as revised by its author.
    pub(super) fn severity_of(&self, member: u32) -> Severity {
        let revised = self.hearing.revised.iter().find(|(of, _)| *of == member);
        match revised {
            Some((_, severity)) => *severity,
            None => self.docket.claim(member).severity,
        }
    }

    /// Opens the calculation with the confidence of one member and what moved it on the way in.
    pub(super) fn open_trace(&mut self, step: Step, member: u32) {
        let docket = self.docket;
        let claim = docket.claim(member);
        self.trace.push(step, i32::from(claim.stated));
        if claim.source == Source::Round2Observation {
            self.trace
                .push(Step::LateObservation, docket.policy.rounds.late);
        }
        super::appraise::explain(docket, member, &mut self.trace);
    }

    /// Returns how many families stand by it: its voices and those that agreed in round 2.
    pub(super) fn support(&self) -> usize {
        self.voices.len() + self.hearing.agreed
    }

    /// Notes why something was decided. Most groups have one note, so there is room for no more.
    pub(super) fn note(&mut self, note: Note) {
        self.notes.reserve_exact(1);
        self.notes.push(note);
    }

    /// Notes that it cannot be accepted as it is.
    pub(super) fn dispute(&mut self, why: Note) {
        if self.verdict != Verdict::Rejected {
            self.verdict = Verdict::Disputed;
        }
        self.note(why);
    }

    /// Closes the calculation and returns the group.
    pub(super) fn close(mut self) -> Group {
        let docket = self.docket;
        let lead = self.voices[0].speaker;
        let confidence: Confidence = self.trace.close();
        let standing = |member: &&u32| {
            let family = docket.claim(**member).family;
            self.voices.iter().any(|voice| voice.family == family)
        };
        let richest = |length: fn(&Claim<'_>) -> u32| {
            let best = self.members.iter().filter(standing);
            let best = best.max_by_key(|&&member| {
                (
                    length(docket.claim(member)),
                    member == lead,
                    u32::MAX - member,
                )
            });
            best.copied().unwrap_or(lead)
        };
        let described_by = richest(|claim| claim.described);
        let suggested_by = richest(|claim| claim.suggested);
        if let Some(at) = self.members.iter().position(|&member| member == lead) {
            self.members[..=at].rotate_right(1);
        }
        let hearing = self.hearing.into_inner();
        let hearing = hearing.map(|some| *some).unwrap_or_default();
        Group {
            verdict: self.verdict,
            kind: self.kind,
            agreement: self.agreement,
            severity: self.severity,
            confidence,
            trace: self.trace,
            notes: self.notes,
            score: self.score,
            voices: u32::try_from(self.voices.len()).unwrap_or(u32::MAX),
            described_by,
            suggested_by,
            revised_description: hearing.revised_description,
            examinations: hearing.examinations,
            defenses: hearing.defenses,
            escalate: false,
            members: self.members,
        }
    }
}

/// Returns one voice for each family that stands by the group, the strongest first.
///
/// A family that conceded everything has no voice while another one stands.
fn voices(docket: &Docket<'_>, members: &[u32], hearing: &Heard) -> Vec<Voice> {
    let strength = |member: u32| {
        let claim = docket.claim(member);
        let detail = u64::from(claim.described) + u64::from(claim.suggested);
        (claim.standing, detail, std::cmp::Reverse(member))
    };
    let mut voices: Vec<Voice> = members
        .iter()
        .map(|&speaker| Voice {
            family: docket.claim(speaker).family,
            speaker,
        })
        .filter(|voice| !hearing.fallen.contains(&voice.family))
        .collect();
    if voices.len() > 1 {
        let strongest = |voice: &Voice| std::cmp::Reverse(strength(voice.speaker));
        voices.sort_unstable_by_key(|voice| (voice.family, strongest(voice)));
        voices.dedup_by_key(|voice| voice.family);
        voices.sort_unstable_by_key(strongest);
    }
    voices
}
