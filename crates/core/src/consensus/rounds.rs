//! Rounds 2 and 3: who examined which finding, what the author made of it, and what it is worth.
//!
//! Stances are counted by family. Silence is an abstention: it neither agrees nor defends.

use std::collections::BTreeMap;
use std::ops::Deref;

use super::Docket;
use super::draft::Draft;
use super::evidence::has_substance;
use super::normalize::{Claim, without_prefix};
use super::outcome::{Note, Verdict};
use super::policy::{Adjustments, Ladder, RoundRules};
use super::trace::Step;
use crate::finding::canonical_path;
use crate::review::{Defense, Examination, Plea, Stance};
use crate::scale::Severity;

/// All that was said in rounds 2 and 3, by finding.
#[derive(Debug, Clone, Default)]
pub(super) struct Debate {
    pub(super) examinations: Vec<Examination>,
    pub(super) defenses: Vec<Defense>,
    examined: BTreeMap<u32, Vec<u32>>,
    defended: BTreeMap<u32, Vec<u32>>,
}

/// What was said about one group. About most nothing was, and that takes no room.
#[derive(Debug, Default)]
pub(super) struct Heard(Option<Box<Hearing>>);

impl Heard {
    /// Returns what was said, if anything was.
    pub(super) fn into_inner(self) -> Option<Box<Hearing>> {
        self.0
    }
}

impl Deref for Heard {
    type Target = Hearing;

    fn deref(&self) -> &Hearing {
        self.0.as_deref().unwrap_or(&SILENCE)
    }
}

static SILENCE: Hearing = Hearing {
    examinations: Vec::new(),
    defenses: Vec::new(),
    agreed: 0,
    opposed: Vec::new(),
    adjustments: Vec::new(),
    fallen: Vec::new(),
    plea: None,
    plea_amount: 0,
    revised: Vec::new(),
    revised_description: None,
};

/// What was said about a group when something was.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    /// The examinations, by index.
    pub(super) examinations: Vec<u32>,
    /// The defenses, by index.
    pub(super) defenses: Vec<u32>,
    /// Families beyond its voices that agree, at least in part.
    pub(super) agreed: usize,
    /// Families that disagree.
    pub(super) opposed: Vec<u16>,
    /// How far each counted family wants to move the confidence.
    adjustments: Vec<(u16, i32)>,
    /// Families that took their part back while others stand by theirs.
    pub(super) fallen: Vec<u16>,
    /// What the authors plead together.
    pub(super) plea: Option<Plea>,
    /// What the plea is worth.
    plea_amount: i32,
    /// Members with a severity revised by their author.
    pub(super) revised: Vec<(u32, Severity)>,
    /// The description an author put in place of the first one.
    pub(super) revised_description: Option<String>,
}

impl Debate {
    /// Files every message under its finding. What fits none is reported, not counted.
    pub(super) fn file(
        claims: &[Claim<'_>],
        mut examinations: Vec<Examination>,
        mut defenses: Vec<Defense>,
        problems: &mut Vec<String>,
    ) -> Self {
        if examinations.is_empty() && defenses.is_empty() {
            return Self::default();
        }
        examinations.sort_unstable();
        examinations.dedup();
        defenses.sort_unstable();
        defenses.dedup();
        let index = Names::of(claims);
        let mut debate = Self::default();
        debate.file_examinations(claims, &index, examinations, problems);
        debate.file_defenses(claims, &index, defenses, problems);
        debate
    }

    fn file_examinations(
        &mut self,
        claims: &[Claim<'_>],
        names: &Names<'_>,
        examinations: Vec<Examination>,
        problems: &mut Vec<String>,
    ) {
        let mut kept: Vec<(Vec<u32>, Examination)> = Vec::new();
        for examination in examinations {
            let (who, what) = (&examination.reviewer, &examination.finding_id);
            let mut targets = names.find(claims, what, examination.original_model.as_deref());
            if targets.is_empty() {
                problems.push(format!("{who} examines {what:?}, which nobody reported"));
                continue;
            }
            targets.retain(|&target| claims[target as usize].finding.reviewer != *who);
            if targets.is_empty() {
                problems.push(format!("{who} examines its own finding {what:?}"));
                continue;
            }
            kept.push((targets, examination));
        }
        drop_contradictions(
            &mut kept,
            |one| (one.reviewer.clone(), one.stance.as_str()),
            problems,
        );
        for (targets, examination) in kept {
            self.add_examination(&targets, examination);
        }
    }

    fn file_defenses(
        &mut self,
        claims: &[Claim<'_>],
        names: &Names<'_>,
        defenses: Vec<Defense>,
        problems: &mut Vec<String>,
    ) {
        let mut kept: Vec<(Vec<u32>, Defense)> = Vec::new();
        for defense in defenses {
            let (who, what) = (&defense.reviewer, &defense.finding_id);
            let targets = names.find(claims, what, Some(who));
            if targets.is_empty() {
                problems.push(format!(
                    "{who} pleads about {what:?}, which it did not report"
                ));
                continue;
            }
            kept.push((targets, defense));
        }
        drop_contradictions(
            &mut kept,
            |one| (one.reviewer.clone(), one.plea.as_str()),
            problems,
        );
        for (targets, defense) in kept {
            self.add_defense(&targets, defense);
        }
    }

    /// Files an examination of all `targets`.
    pub(super) fn add_examination(&mut self, targets: &[u32], examination: Examination) {
        let index = u32::try_from(self.examinations.len()).unwrap_or(u32::MAX);
        for &target in targets {
            self.examined.entry(target).or_default().push(index);
        }
        self.examinations.push(examination);
    }

    /// Files a defense of all `targets`.
    pub(super) fn add_defense(&mut self, targets: &[u32], defense: Defense) {
        let index = u32::try_from(self.defenses.len()).unwrap_or(u32::MAX);
        for &target in targets {
            self.defended.entry(target).or_default().push(index);
        }
        self.defenses.push(defense);
    }

    /// Returns the part of the debate that is about `members`.
    pub(super) fn about(&self, members: &[u32]) -> Self {
        let mut part = self.examined_part(members);
        for (index, targets) in by_message(&self.defended, members) {
            part.add_defense(&targets, self.defenses[index as usize].clone());
        }
        part
    }

    /// Returns the examinations of `members`, without any defense.
    pub(super) fn examined_part(&self, members: &[u32]) -> Self {
        let mut part = Self::default();
        for (index, targets) in by_message(&self.examined, members) {
            part.add_examination(&targets, self.examinations[index as usize].clone());
        }
        part
    }

    /// Returns what was said about `members`.
    pub(super) fn hear(&self, docket: &Docket<'_>, members: &[u32]) -> Heard {
        if self.examinations.is_empty() && self.defenses.is_empty() {
            return Heard::default();
        }
        let mut hearing = Box::<Hearing>::default();
        let collect = |by: &BTreeMap<u32, Vec<u32>>| {
            let found = members.iter().filter_map(|member| by.get(member));
            let mut found: Vec<u32> = found.flatten().copied().collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        hearing.examinations = collect(&self.examined);
        hearing.defenses = collect(&self.defended);
        hearing.hear_pleas(self, docket, members);
        hearing.hear_stances(self, docket, members);
        Heard(Some(hearing))
    }
}

/// Returns which of `members` each message about them is about.
fn by_message(filed: &BTreeMap<u32, Vec<u32>>, members: &[u32]) -> BTreeMap<u32, Vec<u32>> {
    let mut messages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for member in members {
        for &index in filed.get(member).map_or(&[][..], Vec::as_slice) {
            messages.entry(index).or_default().push(*member);
        }
    }
    messages
}

/// Drops all messages of a reviewer that says different things about one finding.
fn drop_contradictions<T>(
    kept: &mut Vec<(Vec<u32>, T)>,
    says: impl Fn(&T) -> (String, &'static str),
    problems: &mut Vec<String>,
) {
    let mut words: BTreeMap<(String, u32), &'static str> = BTreeMap::new();
    let mut torn: BTreeMap<(String, u32), ()> = BTreeMap::new();
    for (targets, message) in kept.iter() {
        let (who, word) = says(message);
        for &target in targets {
            let known = words.entry((who.clone(), target)).or_insert(word);
            if *known != word {
                torn.insert((who.clone(), target), ());
            }
        }
    }
    kept.retain(|(targets, message)| {
        let (who, _) = says(message);
        !targets
            .iter()
            .any(|&target| torn.contains_key(&(who.clone(), target)))
    });
    let mut tellers: Vec<String> = torn.into_keys().map(|(who, _)| who).collect();
    tellers.dedup();
    problems.extend(
        tellers
            .into_iter()
            .map(|who| format!("{who} says different things about one finding; none is counted")),
    );
}

impl Hearing {
    fn hear_stances(&mut self, debate: &Debate, docket: &Docket<'_>, members: &[u32]) {
        let authors = families(docket, members);
        let mut by_family: BTreeMap<u16, (i32, Vec<&Examination>)> = BTreeMap::new();
        for &index in &self.examinations {
            let examination = &debate.examinations[index as usize];
            let family = docket.family(&examination.family);
            let (balance, said) = by_family.entry(family).or_default();
            *balance += match examination.stance {
                Stance::Agree | Stance::Partial => 1,
                Stance::Disagree => -1,
            };
            said.push(examination);
        }
        for (family, (balance, said)) in by_family {
            // A family with a voice in the group has agreed already; it is not counted twice.
            if balance >= 0 && authors.contains(&family) {
                continue;
            }
            if balance > 0 {
                self.agreed += 1;
            } else if balance < 0 {
                self.opposed.push(family);
            }
            let amount = adjustment(&said, docket.policy.rounds.adjustments);
            self.adjustments.push((family, amount));
        }
    }

    fn hear_pleas(&mut self, debate: &Debate, docket: &Docket<'_>, members: &[u32]) {
        let mut conceding = Vec::new();
        let mut standing = Vec::new();
        for &member in members {
            let family = docket.claim(member).family;
            let pleas = debate.defended.get(&member).map_or(&[][..], Vec::as_slice);
            for &index in pleas {
                let defense = &debate.defenses[index as usize];
                match defense.plea {
                    Plea::Concede => conceding.push(family),
                    Plea::Defend => standing.push((family, index)),
                    Plea::Modify => {
                        standing.push((family, index));
                        let severity = defense.revised_severity.map(|level| (member, level));
                        self.revised.extend(severity);
                        if let Some(text) = &defense.revised_description {
                            self.revised_description = Some(text.clone());
                        }
                    }
                }
            }
        }
        conceding.sort_unstable();
        conceding.dedup();
        conceding.retain(|family| standing.iter().all(|(other, _)| other != family));
        let rules = &docket.policy.rounds;
        if conceding.is_empty() || conceding.len() < families(docket, members).len() {
            self.fallen = conceding;
            self.plead(debate, rules, &standing);
        } else {
            self.plea = Some(Plea::Concede);
            self.plea_amount = rules.conceded;
        }
    }

    /// Counts the best defense once: substance first, then the most cautious change.
    fn plead(&mut self, debate: &Debate, rules: &RoundRules, standing: &[(u16, u32)]) {
        let defense = |&(_, index): &(u16, u32)| &debate.defenses[index as usize];
        let defended = standing.iter().map(defense).any(|one| {
            one.plea == Plea::Defend && has_substance(&one.reasoning, rules.substance_words)
        });
        let changes = standing.iter().map(defense);
        let change = changes
            .filter(|one| one.plea == Plea::Modify)
            .map(|one| i32::from(one.adjustment.get()))
            .min();
        (self.plea, self.plea_amount) = match (defended, change) {
            (true, _) => (Some(Plea::Defend), rules.defended),
            (false, Some(amount)) => (Some(Plea::Modify), amount),
            (false, None) if !standing.is_empty() => (Some(Plea::Defend), 0),
            (false, None) => (None, 0),
        };
    }

    /// Returns what the stances are worth together.
    fn cross_examination(&self, rules: &RoundRules) -> i32 {
        let (agreed, opposed) = (self.agreed, self.opposed.len());
        match rules.ladder {
            Ladder::FirstRung => match (agreed, opposed) {
                (2.., _) => rules.many_for,
                (1, 0) => rules.one_for,
                (_, 2..) => rules.many_against,
                (_, 1) => rules.one_against,
                (_, 0) => 0,
            },
            Ladder::Net => match agreed.cmp(&opposed) {
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater if agreed - opposed > 1 => rules.many_for,
                std::cmp::Ordering::Greater => rules.one_for,
                std::cmp::Ordering::Less if opposed - agreed > 1 => rules.many_against,
                std::cmp::Ordering::Less => rules.one_against,
            },
        }
    }
}

/// Returns how far the reviewers of one family want to move the confidence.
fn adjustment(said: &[&Examination], rule: Adjustments) -> i32 {
    let mean = |said: &[&Examination]| {
        let sum: i32 = said.iter().map(|one| i32::from(one.adjustment.get())).sum();
        sum / i32::try_from(said.len()).unwrap_or(i32::MAX).max(1)
    };
    match rule {
        Adjustments::FamilyMean => mean(said),
        // Who speaks about several members of a group speaks once about the group. What was said
        // is sorted by reviewer.
        Adjustments::Sum => {
            let by_reviewer = said.chunk_by(|a, b| a.reviewer == b.reviewer);
            by_reviewer.map(mean).sum()
        }
    }
}

/// Counts the debate into the confidence and applies concessions.
pub(super) fn apply(draft: &mut Draft<'_>) {
    let docket = draft.docket;
    let rules = &docket.policy.rounds;
    let boost = draft.hearing.cross_examination(rules);
    let before = draft.trace.sum();
    for (family, amount) in &draft.hearing.adjustments {
        let name = docket.families[usize::from(*family)].clone();
        draft.trace.push_nonzero(Step::Adjustment(name), *amount);
    }
    draft.trace.push_nonzero(Step::CrossExamination, boost);
    draft
        .trace
        .push_nonzero(Step::Defense, draft.hearing.plea_amount);
    if draft.hearing.plea == Some(Plea::Concede) {
        if boost <= rules.reject_conceded_at {
            draft.verdict = Verdict::Rejected;
            draft.note(Note::Withdrawn);
            return;
        } else if boost > 0 {
            draft.note(Note::ConcededButSupported);
        } else {
            draft.dispute(Note::Conceded);
        }
    }
    if draft.verdict == Verdict::Rejected && boost > 0 {
        draft.verdict = Verdict::Disputed;
        draft.note(Note::SupportedInRound2);
    }
    let after = draft.trace.sum();
    if draft.verdict == Verdict::Accepted && after < before && after < i32::from(rules.floor) {
        draft.dispute(Note::PushedDown);
    }
}

fn families(docket: &Docket<'_>, members: &[u32]) -> Vec<u16> {
    let mut families: Vec<u16> = members
        .iter()
        .map(|&one| docket.claim(one).family)
        .collect();
    families.sort_unstable();
    families.dedup();
    families
}

/// Findings by what messages call them.
struct Names<'a> {
    ids: BTreeMap<&'a str, Vec<u32>>,
    spoken: BTreeMap<String, Vec<u32>>,
}

impl<'a> Names<'a> {
    fn of(claims: &'a [Claim<'_>]) -> Self {
        let mut names = Self {
            ids: BTreeMap::new(),
            spoken: BTreeMap::new(),
        };
        for (index, claim) in (0..).zip(claims) {
            names.ids.entry(&claim.finding.id).or_default().push(index);
            let spoken = names.spoken.entry(claim.finding.spoken_name());
            spoken.or_default().push(index);
        }
        names
    }

    /// Returns the findings of that name, by `author` alone when it is known by name or family.
    fn find(&self, claims: &[Claim<'_>], name: &str, author: Option<&str>) -> Vec<u32> {
        // A name by place may spell the path in another way.
        let spelled = canonical_path(name);
        let bare = || without_prefix(&spelled).and_then(|bare| self.spoken.get(bare));
        let by_id = self.ids.get(name).or_else(|| self.spoken.get(name));
        let found = by_id.or_else(|| self.spoken.get(spelled.as_ref()).or_else(bare));
        let mut found = found.cloned().unwrap_or_default();
        if let Some(author) = author {
            let by_name = |&index: &u32| claims[index as usize].finding.reviewer == author;
            let by_family = |&index: &u32| claims[index as usize].finding.family == author;
            // A name says more than a family: others of the family may use the same id.
            if found.iter().any(by_name) {
                found.retain(by_name);
            } else {
                found.retain(by_family);
            }
        }
        found
    }
}
