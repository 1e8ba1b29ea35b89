//! The working state of one group on its way through the phases.

use super::Docket;
use super::claim_text::ClaimText;
use super::normalize::Claim;
use super::outcome::{Agreement, Group, Kind, Note, Score, Verdict};
use super::rounds::Heard;
use super::similar::Closeness;
use super::trace::{Step, Trace};
use crate::finding::{Label, Source};
use crate::scale::{Confidence, Severity};

/// From how alike two texts are, in thousandths, two ratings are about the same claim.
const SAME_CLAIM: u32 = 500;

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
    /// How alike the wordings of its families are, and those of others beside it.
    pub(super) closeness: Closeness,
    /// The voices that stand, the strongest first.
    pub(super) voices: Vec<Voice>,
    pub(super) hearing: Heard,
    pub(super) verdict: Verdict,
    pub(super) kind: Kind,
    pub(super) agreement: Agreement,
    pub(super) severity: Severity,
    /// Whether a judge or an advisory, and not arithmetic, set the severity.
    pub(super) severity_ruled: bool,
    pub(super) trace: Trace,
    pub(super) notes: Vec<Note>,
    pub(super) score: Option<Score>,
}

impl<'a> Draft<'a> {
    /// Returns the draft of a group in which nothing is decided yet.
    pub(super) fn new(docket: &'a Docket<'a>, members: Vec<u32>, closeness: Closeness) -> Self {
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
            severity_ruled: false,
            trace: Trace::default(),
            notes: Vec::new(),
            score: None,
        };
        draft.severity = draft.gravity();
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

    /// Returns how bad the group is: as bad as its gravest voice says, unless three families or more
    /// rated it and their median is lower. A mild voice beside a grave one takes nothing away.
    pub(super) fn gravity(&self) -> Severity {
        let gravest = self.gravest();
        match self.median_of_families() {
            Some(median) => median,
            None => gravest,
        }
    }

    /// Returns the gravest severity that any voice gives it.
    pub(super) fn gravest(&self) -> Severity {
        let standing = self.members.iter().filter(|member| self.stands(**member));
        let rated = |member: &&u32| self.is_rated(**member);
        let weight = |member: &u32| self.weight_of(*member);
        let gravest = standing.clone().filter(rated).map(weight).max();
        gravest.unwrap_or_else(|| self.severity_of(self.voices[0].speaker))
    }

    /// Returns the median of what each family says at the gravest, if three or more rated the same
    /// claim. What a program rates lower than others do supports them, and is not a rating against
    /// them. Neither is what a reviewer says about another claim at the same place.
    fn median_of_families(&self) -> Option<Severity> {
        const ENOUGH: usize = 3;
        if self.voices.len() < ENOUGH {
            return None;
        }
        let gravest = self.gravest();
        let read = |member: u32| {
            let finding = self.docket.claim(member).finding;
            ClaimText::new(&finding.title, &finding.description)
        };
        let grave: Vec<ClaimText> = self
            .members
            .iter()
            .filter(|&&member| self.is_rated(member) && self.weight_of(member) >= gravest)
            .map(|&member| read(member))
            .collect();
        let is_about_it = |member: u32| {
            let text = read(member);
            // Whoever leaves out what makes it grave has not rated that.
            let is_same = |one: &ClaimText| {
                let alike = one.has_title_of(&text) || one.likeness(&text) >= SAME_CLAIM;
                alike && text.claims_all_of(one)
            };
            grave.iter().all(is_same)
        };
        let mut levels: Vec<Severity> = Vec::new();
        for voice in &self.voices {
            let own = self.members.iter().copied().filter(|&member| {
                let claim = self.docket.claim(member);
                let mild = claim.source == Source::Tool && self.weight_of(member) < gravest;
                claim.family == voice.family
                    && self.is_rated(member)
                    && !mild
                    && (self.weight_of(member) >= gravest || is_about_it(member))
            });
            levels.extend(own.map(|member| self.weight_of(member)).max());
        }
        if levels.len() < ENOUGH {
            return None;
        }
        Severity::median(&mut levels)
    }

    /// Returns the families that rate it higher than it counts.
    pub(super) fn outvoted(&self, severity: Severity) -> Vec<String> {
        let graver = |voice: &&Voice| {
            let mut own = self.members.iter().filter(|&&member| {
                self.docket.claim(member).family == voice.family && self.is_rated(member)
            });
            own.any(|&member| self.weight_of(member) > severity)
        };
        let families = self.voices.iter().filter(graver);
        let name = |voice: &Voice| self.docket.families[usize::from(voice.family)].clone();
        let mut names: Vec<String> = families.map(name).collect();
        names.sort_unstable();
        names
    }

    /// Returns how bad a member says it is, by its severity or by its tag, whichever is graver.
    fn weight_of(&self, member: u32) -> Severity {
        let severity = self.severity_of(member);
        let is_revised = self.hearing.revised.iter().any(|(of, _)| *of == member);
        let label = self.docket.claim(member).finding.label;
        let label = label.filter(|_| !is_revised).map(Label::severity);
        label.map_or(severity, |label| label.max(severity))
    }

    /// Tells whether somebody said how bad it is.
    fn is_rated(&self, member: u32) -> bool {
        let finding = self.docket.claim(member).finding;
        finding.severity.is_some() || finding.label.is_some()
    }

    fn stands(&self, member: u32) -> bool {
        let family = self.docket.claim(member).family;
        self.voices.iter().any(|voice| voice.family == family)
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
        let gravity = match (self.severity_ruled, self.verdict) {
            (true, _) => self.severity,
            (false, Verdict::Disputed) => self.gravest().max(self.severity),
            (false, Verdict::Accepted | Verdict::Rejected) => self.gravity().max(self.severity),
        };
        let standing = |member: &&u32| self.stands(**member);
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
            gravity,
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
            linked: Vec::new(),
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
