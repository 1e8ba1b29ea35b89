//! Rounds 2 and 3: reviewers examine what is contested, authors answer, and a judge weighs what
//! stays open.
//!
//! Vote first, debate what is contested: a settlement of round 1 says which findings need it. An
//! answer that is missing or cannot be read is an abstention, noted and never counted as a stance.
//! What comes out is data for the consensus, which decides alone.

mod code;
mod judge;
mod round;
mod statement;
mod topics;

use std::collections::BTreeMap;

use tribunal_core::consensus::{Input, Policy, Settlement, settle};
use tribunal_core::finding::{Finding, Source as Seen};
use tribunal_core::prompt::Round;
use tribunal_core::review::contest::contested;
use tribunal_core::review::evidence::{FIRST_VOTE_STAYS, unfounded_defense, unfounded_examination};
use tribunal_core::review::report::ReviewerState;
use tribunal_core::review::{Defense, Examination};

use super::ReviewRequest;
use super::ask::Asking;
use super::ground::Ground;
use super::hear::{AgentMember, Heard};
use super::panel::Member;
use super::report::Doubts;
use crate::case::CaseError;
use crate::change::Change;
use crate::config::Rounds;
use code::ChangeCode;
pub(crate) use judge::JudgeSeat;
use round::Spoken;
use topics::{Source, families};

/// What a debate is held about, and where it is recorded.
#[derive(Clone, Copy)]
pub(super) struct Floor<'a> {
    pub(super) asking: Asking<'a>,
    pub(super) request: &'a ReviewRequest,
    pub(super) change: &'a Change,
    pub(super) policy: &'a Policy,
}

/// What came of a debate, besides what was counted.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// Examinations that were not counted, and why.
    pub(super) examinations: Vec<(Examination, String)>,
    /// Defenses that were not counted, and why.
    pub(super) defenses: Vec<(Defense, String)>,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
    /// What of the answers could not be used, by reviewer.
    pub(super) problems: BTreeMap<String, Vec<String>>,
    /// Who reported something that could not be read, and why.
    pub(super) unread: BTreeMap<String, String>,
}

impl Floor<'_> {
    /// Holds the rounds that were asked for and adds what was said to `input`.
    pub(super) async fn debate(
        self,
        heard: &[Heard],
        input: &mut Input,
        ground: &Ground<'_>,
        doubts: &mut Doubts,
    ) -> Result<Aside, CaseError> {
        let mut aside = Aside::default();
        let debaters = self.debaters(heard);
        let first = settle(input.clone(), self.policy);
        let groups = self.groups(&first, &debaters);
        if groups.is_empty() {
            return Ok(aside);
        }
        let code = ChangeCode::new(self.change);
        let source = Source {
            change: self.change,
            settlement: &first,
            examinations: &[],
        };
        let spoken = self.examine(source, &groups, &debaters).await?;
        let held = !spoken.is_empty();
        let mut counted: Vec<(usize, Examination)> = Vec::new();
        for one in spoken {
            let said = one.take(&mut aside, Round::Examine);
            for (group, mut examination) in said {
                let seen = std::mem::take(&mut examination.new_observations);
                admit(seen, &examination, &mut input.findings, ground, doubts);
                let of = &first.groups[group];
                if unfounded_examination(&first, of, &examination, &code) {
                    aside.note_first_vote(&examination.reviewer, &first, group);
                    let why = FIRST_VOTE_STAYS.to_owned();
                    aside.examinations.push((examination, why));
                } else {
                    counted.push((group, examination));
                }
            }
        }
        if matches!(self.request.rounds, Rounds::Contested | Rounds::Three) {
            let source = Source {
                examinations: &counted,
                ..source
            };
            for one in self.defend(source, &groups, &debaters).await? {
                for (group, defense) in one.take(&mut aside, Round::Defend) {
                    if unfounded_defense(&first, &first.groups[group], &defense, &code) {
                        aside.note_first_vote(&defense.reviewer, &first, group);
                        let why = FIRST_VOTE_STAYS.to_owned();
                        aside.defenses.push((defense, why));
                    } else {
                        input.defenses.push(defense);
                    }
                }
            }
        }
        let examinations = counted.into_iter().map(|(_, examination)| examination);
        input.examinations.extend(examinations);
        if held {
            aside.note_missing(heard);
        }
        Ok(aside)
    }

    /// Returns the groups that are debated.
    fn groups(self, first: &Settlement, debaters: &[AgentMember]) -> Vec<usize> {
        let families = families(debaters.iter().map(|one| one.family.as_str()));
        let enough = match self.request.rounds {
            Rounds::One => false,
            Rounds::Contested => families > 1,
            Rounds::Two | Rounds::Three => families > 0,
        };
        if !enough {
            Vec::new()
        } else if self.request.debate_all {
            (0..first.groups.len()).collect()
        } else {
            contested(first, self.policy)
        }
    }

    /// Returns the members that can be asked: agents that take questions and answered the first.
    fn debaters(self, heard: &[Heard]) -> Vec<AgentMember> {
        let answered = |name: &str| {
            heard.iter().any(|one| {
                let missing = matches!(one.state, ReviewerState::Missing { .. });
                one.name == name && (!missing || !one.findings.is_empty())
            })
        };
        let debater = |member: &Member| match member {
            Member::Agent {
                name,
                family,
                domains,
                is_tool: false,
                ..
            } if answered(name.as_str()) => Some(AgentMember {
                name: name.clone(),
                family: family.clone(),
                domains: domains.clone(),
                tool: None,
            }),
            Member::Agent { .. }
            | Member::Builtin { .. }
            | Member::Import { .. }
            | Member::Unasked { .. } => None,
        };
        self.request.members.iter().filter_map(debater).collect()
    }
}

/// Takes new observations of round 2 among the findings, every citation checked.
fn admit(
    seen: Vec<Finding>,
    by: &Examination,
    findings: &mut Vec<Finding>,
    ground: &Ground<'_>,
    doubts: &mut Doubts,
) {
    for mut finding in seen {
        finding.source = Seen::Round2Observation;
        finding.reviewer.clone_from(&by.reviewer);
        finding.family.clone_from(&by.family);
        let number = findings.iter().filter(|one| one.reviewer == by.reviewer);
        finding.id = format!("{}.round2", number.count() + 1);
        let why = ground.check(&mut finding);
        doubts.insert((finding.reviewer.clone(), finding.id.clone()), why);
        findings.push(finding);
    }
}

impl Aside {
    fn note_first_vote(&mut self, reviewer: &str, first: &Settlement, group: usize) {
        let lead = &first.findings[first.groups[group].lead() as usize];
        let place = &lead.location;
        self.notes
            .push(format!("{reviewer} on {place}: {FIRST_VOTE_STAYS}"));
    }

    /// Notes who could not take part because it is missing since round 1.
    fn note_missing(&mut self, heard: &[Heard]) {
        for one in heard {
            if matches!(one.state, ReviewerState::Missing { .. }) {
                self.note_silence(&one.name);
            }
        }
    }

    /// Notes that somebody did not respond, once.
    fn note_silence(&mut self, reviewer: &str) {
        let note = format!("Debate incomplete — {reviewer} did not respond");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl<T> Spoken<T> {
    /// Returns what was said, by group, and puts the rest aside.
    fn take(self, aside: &mut Aside, round: Round) -> Vec<(usize, T)> {
        if !self.problems.is_empty() {
            let number = round.number();
            let problems = self.problems.iter();
            let problems = problems.map(|what| format!("round {number}: {what}"));
            let of = aside.problems.entry(self.reviewer.clone()).or_default();
            of.extend(problems);
        }
        if let Some(what) = self.unread {
            let why = format!(
                "what it reported in round {} could not be read: {what}",
                round.number()
            );
            aside.unread.entry(self.reviewer.clone()).or_insert(why);
        }
        if self.silent.is_some() {
            aside.note_silence(&self.reviewer);
        }
        self.said
    }
}
