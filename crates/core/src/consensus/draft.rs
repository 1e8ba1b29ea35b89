//! The working state of one group on its way through the phases.

use std::collections::{BTreeMap, BTreeSet};

use super::Docket;
use super::claim_text::ClaimText;
use super::normalize::Claim;
use super::outcome::{Agreement, Group, Kind, Note, Score, Verdict};
use super::rounds::Heard;
use super::similar::Closeness;
use super::trace::{Step, Trace};
use crate::finding::{Label, Source};
use crate::scale::{Confidence, Severity};

/// From so many families on that rated one claim, their median counts.
const ENOUGH_RATINGS: usize = 3;

/// One family's part in a group: all its findings there are one voice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Voice {
    /// The index of the family.
    pub(super) family: u16,
    /// The finding that speaks for it.
    pub(super) speaker: u32,
}

/// How bad one member says that its claim is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ClaimRating {
    /// File and lines; the function where no lines are known.
    place: (u32, Option<(u32, u32)>, Option<String>),
    /// Title and description.
    text: ClaimText,
    /// The same with trigger and suggestion.
    whole: ClaimText,
    family: u16,
    is_by_tool: bool,
    weight: Severity,
}

impl ClaimRating {
    /// Returns how bad the claim is: as rated, or the median if enough families rated it lower.
    ///
    /// What a program rates lower than others do supports them, and is not a rating against them.
    fn level_among(&self, ratings: &BTreeSet<Self>) -> Severity {
        let mut by_family: BTreeMap<u16, Severity> = BTreeMap::new();
        let is_mild_tool = |one: &Self| one.is_by_tool && one.weight < self.weight;
        for one in ratings {
            if one.is_for_claim_of(self) && !is_mild_tool(one) {
                let level = by_family.entry(one.family).or_insert(one.weight);
                *level = one.weight.max(*level);
            }
        }
        let mut levels: Vec<Severity> = by_family.into_values().collect();
        if levels.len() < ENOUGH_RATINGS {
            return self.weight;
        }
        let median = Severity::median(&mut levels);
        median.map_or(self.weight, |median| median.min(self.weight))
    }

    /// Tells whether it rates what another one claims. Whoever leaves out a sentence of that, or points
    /// at another place, has not rated it.
    fn is_for_claim_of(&self, other: &Self) -> bool {
        self.place == other.place
            && self.text.has_same_text_as(&other.text)
            && other.whole.says_no_more_than(&self.whole)
    }
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

    /// Returns how bad the group is: as bad as its gravest claim, and that is as bad as its gravest voice
    /// says, unless three families or more rated just this claim and their median is lower. A mild voice
    /// about another claim takes nothing away.
    pub(super) fn gravity(&self) -> Severity {
        let gravest = self.gravest();
        let is_counted = |member: &&u32| self.is_rated(**member) && self.stands(**member);
        let rated = || self.members.iter().filter(is_counted);
        let is_milder = |member: &u32| self.weight_of(*member) < gravest;
        if self.voices.len() < ENOUGH_RATINGS || !rated().any(is_milder) {
            return gravest;
        }
        let ratings: BTreeSet<ClaimRating> = rated().map(|&one| self.rating(one)).collect();
        let levels = ratings.iter().map(|one| one.level_among(&ratings));
        levels.max().unwrap_or(gravest)
    }

    fn rating(&self, member: u32) -> ClaimRating {
        let claim = self.docket.claim(member);
        let finding = claim.finding;
        let text = ClaimText::new(&finding.title, &finding.description);
        let function = match claim.lines {
            Some(_) => None,
            None => finding.location.function.clone(),
        };
        ClaimRating {
            place: (claim.file, claim.lines, function),
            whole: text
                .clone()
                .with_details(&[&finding.trigger, &finding.suggestion]),
            text,
            family: claim.family,
            is_by_tool: claim.source == Source::Tool,
            weight: self.weight_of(member),
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
