//! What would reverse a decision, found by deciding again with what reviewers might still say.
//!
//! Nothing here is a rule of thumb: every group is taken through the same phases once more, with
//! stances of reviewers that do not exist, until its verdict changes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::normalize::{self, Normalized};
use super::outcome::{Settlement, Verdict};
use super::policy::Policy;
use super::rounds::Debate;
use super::similar::Closeness;
use super::{Docket, Input, appraise, count_families, decide, file_advisories, group, judgement};
use crate::review::{Defense, Examination, Plea, Stance};
use crate::scale::Adjustment;

/// So many further families are tried.
const MOST_FAMILIES: u8 = 4;

/// An argument that has every quality by which arguments are measured.
const BEST_REASON: &str = "It cannot happen because `load()` has already validated the value on \
                           line 1 before this line can be reached.";

/// What reviewers could still say to reverse the verdict on a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reversal {
    /// The verdict as it is.
    pub verdict: Verdict,
    /// The least that further families would have to say in round 2, with the best of reasons:
    /// against what is accepted, for what is not. Nothing when no number that was tried would do.
    pub argued: Option<Stances>,
    /// The same without any reason.
    pub bare: Option<Stances>,
    /// What becomes of it when all of its authors concede, if that is something else.
    pub conceded: Option<Verdict>,
}

/// Stances of families that have not spoken, and what they would lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stances {
    /// So many families,
    pub families: u8,
    /// each moving the confidence by at least so many points,
    pub points: u8,
    /// would lead to this verdict.
    pub verdict: Verdict,
}

/// Returns what would reverse the verdict on each group of `settlement`, which must be what
/// `input` was settled to under `policy`.
#[must_use]
pub fn reversals(mut input: Input, policy: &Policy, settlement: &Settlement) -> Vec<Reversal> {
    let record = input.record.take();
    let Normalized {
        findings,
        readings,
        mut families,
        mut problems,
        ..
    } = normalize::normalize(&mut input, policy);
    let (mut claims, _) = normalize::claims(&findings, readings, &families, policy);
    let signals = appraise::appraise(&mut claims, policy, record.as_ref());
    let debate = Debate::file(&claims, input.examinations, input.defenses, &mut problems);
    let advisories = file_advisories(&claims, input.advisories, &mut problems);
    let judgements = judgement::file(&claims, input.judgements, &mut problems);
    let grouped = group(&claims, policy);
    let (groups, closeness) = (grouped.members, grouped.closeness);
    // Their names sort last, so those who have spoken keep their places.
    families.extend((0..MOST_FAMILIES).map(unheard));
    let mut docket = Docket {
        policy,
        claims,
        signals,
        families,
        panel_families: count_families(&settlement.panel),
        debate: Debate::default(),
        advisories,
        judgements,
    };
    let mut by_member: BTreeMap<u32, usize> = BTreeMap::new();
    for (index, members) in groups.iter().enumerate() {
        by_member.extend(members.iter().map(|&member| (member, index)));
    }
    let of_group = settlement.groups.iter().map(|settled| {
        let index = by_member.get(&settled.lead()).copied().unwrap_or_default();
        let mut retrial = Retrial {
            own: debate.about(&groups[index]),
            docket: &mut docket,
            lead: settled.lead(),
            members: &groups[index],
            closeness: closeness[index],
        };
        retrial.reversal()
    });
    of_group.collect()
}

/// Returns the name of a family that nobody belongs to.
fn unheard(number: u8) -> String {
    format!("{}{number}", char::MAX)
}

/// One group that is decided again and again.
struct Retrial<'r, 'a> {
    docket: &'r mut Docket<'a>,
    /// What was said about it.
    own: Debate,
    lead: u32,
    members: &'r [u32],
    closeness: Closeness,
}

impl Retrial<'_, '_> {
    fn reversal(&mut self) -> Reversal {
        let verdict = self.verdict(self.own.clone());
        let conceded = self.verdict(self.concession());
        Reversal {
            verdict,
            argued: self.stances(verdict, BEST_REASON),
            bare: self.stances(verdict, ""),
            conceded: (conceded != verdict).then_some(conceded),
        }
    }

    /// Returns the fewest families, and the least that each would have to say.
    fn stances(&mut self, verdict: Verdict, reason: &str) -> Option<Stances> {
        let most = Adjustment::MOST;
        let families = (1..=MOST_FAMILIES).find(|&number| {
            let after = self.verdict(self.spoken((verdict, reason), number, most));
            after != verdict
        })?;
        // What the most achieves, less may achieve: halve the doubt until one number is left.
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = i8::midpoint(low, high);
            if self.verdict(self.spoken((verdict, reason), families, middle)) == verdict {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(Stances {
            families,
            points: low.unsigned_abs(),
            verdict: self.verdict(self.spoken((verdict, reason), families, low)),
        })
    }

    fn verdict(&mut self, debate: Debate) -> Verdict {
        self.docket.debate = debate;
        decide(self.docket, self.members.to_vec(), self.closeness).verdict
    }

    /// Returns the debate with so many more families that speak against `verdict`.
    fn spoken(&self, (verdict, reason): (Verdict, &str), families: u8, points: i8) -> Debate {
        let (stance, sign) = match verdict {
            Verdict::Accepted => (Stance::Disagree, -1),
            Verdict::Disputed | Verdict::Rejected => (Stance::Agree, 1),
        };
        let lead = self.docket.claim(self.lead).finding;
        let said = (0..families).map(|number| Examination {
            reviewer: unheard(number),
            family: unheard(number),
            finding_id: lead.id.clone(),
            original_model: Some(lead.reviewer.clone()),
            stance,
            adjustment: Adjustment::new(sign * i64::from(points)).unwrap_or_default(),
            reasoning: reason.to_owned(),
            new_observations: Vec::new(),
        });
        let mut debate = self.own.clone();
        for examination in said {
            debate.add_examination(&[self.lead], examination);
        }
        debate
    }

    /// Returns the debate in which all authors concede.
    fn concession(&self) -> Debate {
        let mut debate = self.own.examined_part(self.members);
        for &member in self.members {
            let finding = self.docket.claim(member).finding;
            let plea = Defense {
                reviewer: finding.reviewer.clone(),
                finding_id: finding.id.clone(),
                plea: Plea::Concede,
                adjustment: Adjustment::NONE,
                reasoning: String::new(),
                revised_severity: None,
                revised_description: None,
            };
            debate.add_defense(&[member], plea);
        }
        debate
    }
}

impl Reversal {
    /// Returns what would reverse the verdict, one sentence each.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let (one, many) = match self.verdict {
            Verdict::Accepted => ("disagrees", "disagree"),
            Verdict::Disputed | Verdict::Rejected => ("agrees", "agree"),
        };
        let told = |stances: Option<Stances>, how: &str| match stances {
            Some(stances) => stances.sentence(one, many, how),
            None => format!(
                "{} more families that {many}{how} would not change it.",
                in_words(MOST_FAMILIES)
            ),
        };
        if self.argued == self.bare {
            sentences.push(told(self.bare, ""));
        } else {
            sentences.push(told(self.argued, " with evidence"));
            sentences.push(told(self.bare, " without evidence"));
        }
        if let Some(verdict) = self.conceded {
            sentences.push(format!(
                "A concession of all its authors would {}.",
                result(verdict)
            ));
        }
        if self.verdict == Verdict::Disputed {
            sentences.push("A human who answers the open questions settles it.".to_owned());
        }
        sentences
    }
}

impl Stances {
    fn sentence(self, one: &str, many: &str, how: &str) -> String {
        let points = match self.points {
            1 => "1 point".to_owned(),
            number => format!("{number} points"),
        };
        let who = match (self.families, self.points) {
            (1, 0) => format!("One more family that {one}{how}"),
            (1, _) => format!("One more family that {one}{how} and moves it by {points} or more"),
            (number, 0) => format!("{} more families that {many}{how}", in_words(number)),
            (number, _) => format!(
                "{} more families that {many}{how} and move it by {points} or more each",
                in_words(number)
            ),
        };
        format!("{who} would {}.", result(self.verdict))
    }
}

/// Returns a number as it stands at the beginning of a sentence.
fn in_words(number: u8) -> String {
    match number {
        2 => "Two".to_owned(),
        3 => "Three".to_owned(),
        4 => "Four".to_owned(),
        other => other.to_string(),
    }
}

fn result(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "have it accepted",
        Verdict::Disputed => "leave it disputed",
        Verdict::Rejected => "have it rejected",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::evidence::quality_of_reasoning;

    #[test]
    fn no_argument_is_better_than_the_one_that_is_tried() {
        let words = Policy::arena().rounds.substance_words;
        assert_eq!(quality_of_reasoning(BEST_REASON, words), 4);
    }
}
