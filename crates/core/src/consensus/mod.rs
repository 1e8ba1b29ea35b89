//! Consensus: which findings stand, which fall, and which stay open, decided by arithmetic.
//!
//! [`settle`] is a pure function of the findings, the later rounds and a [`Policy`]. The phases are
//! modules in the order in which they run: normalize, group, agreement, conflict, unique,
//! scrutiny, rounds, advisory, assemble; `judgement` stands in for our own measure of evidence. Every finding ends in exactly one list, and every
//! confidence carries the calculation that led to it. Nothing depends on the order of arrival.

mod advisory;
mod agreement;
mod appraise;
mod assemble;
mod batch;
mod changes;
mod claim_text;
mod company;
mod conflict;
mod draft;
mod evidence;
mod group;
mod judgement;
mod normalize;
mod order;
mod ordered;
mod outcome;
mod phrases;
mod policy;
mod reading;
mod record;
mod report;
mod reversal;
mod rounds;
mod scrutiny;
mod sentences;
mod similar;
mod terms;
mod trace;
mod unique;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use advisory::{Advisory, AdvisoryOutcome};
pub use batch::{BatchError, BatchFinding, BatchLine, settle_line};
pub use changes::PolicyError;
pub use claim_text::ClaimText;
pub use judgement::Judgement;
pub use ordered::{Iter, Ordered};
pub use outcome::{
    Agreement, Conflict, Criteria, Group, Kind, Note, Reviewer, Score, Settlement, Verdict,
};
pub use policy::{
    Adjustments, AdvisoryRules, AgreementRules, AppraisalRules, ConflictRules, CriticalRules,
    Defaults, Ladder, Matching, Policy, RoundRules, ScrutinyRules, TextMatching, UniqueRules,
};
pub use record::{Preferences, Record, Rulings};
pub use report::{
    Accepted, ConfidenceChanges, Details, Disputed, Lists, Member, MemberId, NamedResponse,
    Rejected, Report, ReportedFinding, Response, Round1, Round2, Round2Statistics, Round3,
    Round3Statistics, SCHEMA_VERSION, Said, Statistics, Trail,
};
pub use reversal::{Reversal, Stances, reversals};
pub use trace::{Step, Trace, TraceLine};

use crate::finding::Finding;
use crate::review::{Defense, Examination};
use appraise::Signals;
use assemble::Assembly;
use draft::Draft;
use normalize::{Claim, Normalized};
use rounds::Debate;
use similar::Closeness;

/// All that a consensus is made from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Input {
    /// The findings of round 1, in any order.
    pub findings: Vec<Finding>,
    /// The examinations of round 2.
    pub examinations: Vec<Examination>,
    /// The defenses of round 3.
    pub defenses: Vec<Defense>,
    /// What advisory databases say about security findings.
    pub advisories: Vec<Advisory>,
    /// What judges made of contested findings.
    pub judgements: Vec<Judgement>,
    /// Who reviewed, those without findings included. Reviewers of findings are added.
    pub panel: Vec<Reviewer>,
    /// Who was asked and did not answer.
    pub silent: Vec<String>,
    /// What past rulings say about the reviewers.
    pub record: Option<Record>,
}

/// Settles a review: puts every finding into one group and every group into one list.
#[must_use]
pub fn settle(mut input: Input, policy: &Policy) -> Settlement {
    let record = input.record.take();
    settle_with(input, policy, record.as_ref())
}

/// Settles a review with a record that several reviews share.
fn settle_with(mut input: Input, policy: &Policy, record: Option<&Record>) -> Settlement {
    let Normalized {
        findings,
        readings,
        families,
        panel,
        silent,
        mut problems,
    } = normalize::normalize(&mut input, policy);
    let new_observations = readings.new_observations;
    let (mut claims, order) = normalize::claims(&findings, readings, &families, policy);
    let signals = appraise::appraise(&mut claims, policy, record);
    let debate = Debate::file(&claims, input.examinations, input.defenses, &mut problems);
    let advisories = file_advisories(&claims, input.advisories, &mut problems);
    let judgements = judgement::file(&claims, input.judgements, &mut problems);
    let panel_families = count_families(&panel);
    let docket = Docket {
        policy,
        claims,
        signals,
        families,
        panel_families,
        debate,
        advisories,
        judgements,
    };
    let grouped = group(&docket.claims, policy);
    let mut assembly = decide_all(&docket, grouped.members, &grouped.closeness);
    assembly.merge_duplicates(&grouped.same_cause);
    let groups = assembly.finish();
    let Docket {
        debate, advisories, ..
    } = docket;
    Settlement {
        findings: Ordered::new(findings, order),
        groups,
        panel,
        silent,
        examinations: debate.examinations,
        defenses: debate.defenses,
        problems,
        advisories_checked: u32::try_from(advisories.len()).unwrap_or(u32::MAX),
        new_observations,
    }
}

/// Which findings are one, and what is known about that.
struct Grouped {
    members: Vec<Vec<u32>>,
    /// How alike the wordings are in each group, and to those beside it.
    closeness: Vec<Closeness>,
    /// Pairs of groups whose wordings say that they have one cause at different places.
    same_cause: Vec<(u32, u32)>,
}

/// Puts all claims into groups.
fn group(claims: &[Claim<'_>], policy: &Policy) -> Grouped {
    let rules = &policy.matching;
    let Some(text) = &rules.text else {
        let members = group::by_place(claims, rules.proximity);
        return Grouped {
            closeness: vec![Closeness::default(); members.len()],
            same_cause: Vec::new(),
            members,
        };
    };
    let wording = similar::Wording::of(claims, rules, text);
    let (members, closeness) = similar::by_wording(&wording);
    Grouped {
        closeness,
        same_cause: similar::same_cause(&wording, &members, text.same_cause, text.most_common),
        members,
    }
}

/// Takes all groups through the phases.
fn decide_all<'a>(
    docket: &'a Docket<'a>,
    mut members: Vec<Vec<u32>>,
    closeness: &[Closeness],
) -> Assembly<'a> {
    const AT_ONCE: usize = 16;
    let mut assembly = Assembly::new(docket, members.len());
    for (some, closeness) in members.chunks_mut(AT_ONCE).zip(closeness.chunks(AT_ONCE)) {
        fetch_titles(docket, some);
        for (members, &closeness) in some.iter_mut().zip(closeness) {
            assembly.push(decide(docket, std::mem::take(members), closeness));
        }
    }
    assembly
}

/// Looks at the titles that will be compared, so that memory is asked for all of them at once. Those
/// of one category have their cause in common, whatever their titles say.
fn fetch_titles(docket: &Docket<'_>, groups: &[Vec<u32>]) {
    if !docket.policy.conflict.root_cause {
        return;
    }
    let mut seen = 0;
    for members in groups.iter().filter(|members| members.len() > 1) {
        let some = || members.iter().take(4).map(|&one| docket.claim(one));
        let mut categories = some().map(|claim| claim.category);
        let first = categories.next();
        if categories.any(|category| Some(category) != first) {
            for title in some().map(|claim| claim.finding.title.as_bytes()) {
                seen ^= title.first().copied().unwrap_or(0);
            }
        }
    }
    std::hint::black_box(seen);
}

/// Takes one group through the phases.
fn decide(docket: &Docket<'_>, members: Vec<u32>, closeness: Closeness) -> Group {
    let mut draft = Draft::new(docket, members, closeness);
    let least = docket.policy.agreement.voices;
    match conflict::detect(&draft) {
        Some(about) => conflict::apply(&mut draft, about),
        None if draft.voices.len() >= usize::try_from(least).unwrap_or(usize::MAX) => {
            agreement::apply(&mut draft);
        }
        None => unique::apply(&mut draft, None),
    }
    if !judgement::in_place_of_scrutiny(&mut draft) {
        scrutiny::apply(&mut draft);
    }
    rounds::apply(&mut draft);
    advisory::apply(&mut draft);
    assemble::last_conditions(&mut draft);
    draft.close()
}

/// What all groups are decided from.
struct Docket<'a> {
    policy: &'a Policy,
    claims: Vec<Claim<'a>>,
    /// What moved the standing of each claim; nothing when the policy does not appraise.
    signals: Vec<Signals>,
    families: Vec<String>,
    panel_families: usize,
    debate: Debate,
    advisories: BTreeMap<u32, Vec<AdvisoryOutcome>>,
    judgements: BTreeMap<u32, Judgement>,
}

impl<'a> Docket<'a> {
    fn claim(&self, member: u32) -> &Claim<'a> {
        &self.claims[member as usize]
    }

    fn family(&self, name: &str) -> u16 {
        let found = self.families.binary_search_by(|one| one.as_str().cmp(name));
        found.map_or(u16::MAX, |index| u16::try_from(index).unwrap_or(u16::MAX))
    }
}

fn count_families(panel: &[Reviewer]) -> usize {
    let mut families: Vec<&str> = panel.iter().map(|one| one.family.as_str()).collect();
    families.sort_unstable();
    families.dedup();
    families.len()
}

fn file_advisories(
    claims: &[Claim<'_>],
    advisories: Vec<Advisory>,
    problems: &mut Vec<String>,
) -> BTreeMap<u32, Vec<AdvisoryOutcome>> {
    let mut filed: BTreeMap<u32, Vec<AdvisoryOutcome>> = BTreeMap::new();
    if advisories.is_empty() {
        return filed;
    }
    let mut ids: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (index, claim) in (0..).zip(claims) {
        ids.entry(&claim.finding.id).or_default().push(index);
    }
    for advisory in advisories {
        let named = ids
            .get(advisory.finding_id.as_str())
            .map_or(&[][..], Vec::as_slice);
        let by = |index: &&u32| {
            let reviewer = &claims[**index as usize].finding.reviewer;
            advisory.reviewer.as_ref().is_none_or(|by| by == reviewer)
        };
        let found: Vec<u32> = named.iter().filter(by).copied().collect();
        if found.is_empty() {
            problems.push(format!(
                "an advisory is about {:?}, which nobody reported",
                advisory.finding_id
            ));
        }
        for index in found {
            filed
                .entry(index)
                .or_default()
                .push(advisory.outcome.clone());
        }
    }
    filed
}
