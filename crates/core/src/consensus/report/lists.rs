//! One entry of the report for each settled group.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{
    Accepted, Details, Disputed, Member, MemberId, NamedResponse, Rejected, ReportedFinding,
    Response, Round1, Round2, Round3, Said, Trail, words,
};
use crate::consensus::outcome::{Group, Settlement};
use crate::finding::{Category, Finding, Location};
use crate::review::Plea;
use crate::scale::{Confidence, Severity};

/// What an action is called when nothing came.
const NO_ANSWER: &str = "N/A";

/// The family whose reviewers stand in a list of their own.
const CLAUDE: &str = "anthropic";

impl Settlement {
    pub(super) fn reported(&self, group: &Group) -> ReportedFinding {
        let lead = self.finding(group.lead());
        ReportedFinding {
            severity: group.severity,
            confidence: group.confidence.get(),
            file: lead.location.file.clone(),
            line: lead.location.line,
            category: lead.category.unwrap_or(Category::Other),
            title: lead.title.clone(),
            description: self.description(group),
            suggestion: self.suggestion(group).to_owned(),
            locations: self.locations(group),
            ids: self.ids(group),
            members: self.members(group),
            cross_examination_trail: self.trail(group),
            trace: group.trace.lines().to_vec(),
            validation: group.score,
            question: self.question(group),
        }
    }

    pub(super) fn accepted(&self, group: &Group, finding_index: u32) -> Accepted {
        let mut severities: BTreeMap<String, Severity> = BTreeMap::new();
        let mut confidences: BTreeMap<String, u8> = BTreeMap::new();
        let mut models: Vec<String> = Vec::new();
        for finding in group.members.iter().map(|&member| self.finding(member)) {
            let name = &finding.reviewer;
            if !models.contains(name) {
                models.push(name.clone());
            }
            if let Some(severity) = finding.severity {
                severities.entry(name.clone()).or_insert(severity);
            }
            if let Some(confidence) = finding.confidence {
                confidences.entry(name.clone()).or_insert(confidence.get());
            }
        }
        models.sort_unstable();
        Accepted {
            finding_index,
            agreement_level: group.agreement,
            contributing_models: models,
            original_severities: severities,
            original_confidences: confidences,
            resolution_notes: words::notes(self, group),
        }
    }

    pub(super) fn rejected(&self, group: &Group) -> Rejected {
        let lead = self.finding(group.lead());
        Rejected {
            original_title: lead.title.clone(),
            original_model: lead.reviewer.clone(),
            original_severity: lead.severity.unwrap_or(group.severity),
            original_confidence: self.original_confidence(group),
            rejection_reason: words::notes(self, group),
            reversal_criteria: words::reversal(self, group),
            details: self.details(group),
        }
    }

    pub(super) fn disputed(&self, group: &Group) -> Disputed {
        let lead = self.finding(group.lead());
        Disputed {
            title: lead.title.clone(),
            line: lead.location.line,
            perspectives: self.perspectives(group),
            notes: words::notes(self, group),
            unresolved_questions: words::questions(group),
            recommended_action: words::action(group, &lead.location),
            details: self.details(group),
        }
    }

    /// Returns all that each reviewer says about a group, in the order of the rounds.
    fn perspectives(&self, group: &Group) -> BTreeMap<String, String> {
        let findings = group.members.iter().map(|&member| {
            let finding = self.finding(member);
            let severity = finding.severity.map_or("no severity", Severity::as_str);
            let text = format!("{severity}: {}", words::fullest(finding));
            (&finding.reviewer, text)
        });
        let examinations = group.examinations.iter().map(|&index| {
            let one = &self.examinations[index as usize];
            (
                &one.reviewer,
                words::said(one.stance.as_str(), &one.reasoning),
            )
        });
        let defenses = group.defenses.iter().map(|&index| {
            let one = &self.defenses[index as usize];
            (
                &one.reviewer,
                words::said(one.plea.as_str(), &one.reasoning),
            )
        });
        let mut perspectives: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (who, text) in findings.chain(examinations).chain(defenses) {
            let texts = perspectives.entry(who.clone()).or_default();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let joined = perspectives.into_iter();
        joined
            .map(|(who, texts)| (who, texts.join("\n\n")))
            .collect()
    }

    fn members(&self, group: &Group) -> Vec<Member> {
        let members = group.members.iter().map(|&member| self.finding(member));
        let member = |finding: &Finding| Member {
            reviewer: finding.reviewer.clone(),
            id: finding.id.clone(),
            title: finding.title.clone(),
            description: finding.description.clone(),
            suggestion: finding.suggestion.clone(),
            severity: finding.severity,
            confidence: finding.confidence.map(Confidence::get),
        };
        members.map(member).collect()
    }

    fn details(&self, group: &Group) -> Details {
        Details {
            severity: group.severity,
            confidence: group.confidence.get(),
            locations: self.locations(group),
            ids: self.ids(group),
            members: self.members(group),
            cross_examination_trail: self.trail(group),
            trace: group.trace.lines().to_vec(),
            validation: group.score,
            question: self.question(group),
        }
    }

    pub(super) fn finding(&self, member: u32) -> &Finding {
        &self.findings[member as usize]
    }

    fn description(&self, group: &Group) -> String {
        let first = match &group.revised_description {
            Some(revised) => revised.clone(),
            None => words::fullest(self.finding(group.described_by)).to_owned(),
        };
        let notes = words::notes(self, group);
        if notes.is_empty() {
            first
        } else {
            format!("{first}\n\n{notes}")
        }
    }

    fn locations(&self, group: &Group) -> Vec<Location> {
        let mut places: Vec<Location> = Vec::new();
        for &member in &group.members {
            let place = &self.finding(member).location;
            if !places.contains(place) {
                places.push(place.clone());
            }
        }
        places
    }

    fn ids(&self, group: &Group) -> Vec<MemberId> {
        let members = group.members.iter().map(|&member| self.finding(member));
        let name = |finding: &Finding| MemberId {
            reviewer: finding.reviewer.clone(),
            id: finding.id.clone(),
        };
        members.map(name).collect()
    }

    fn trail(&self, group: &Group) -> Trail {
        let lead = self.finding(group.lead());
        let (round2, mut others) = self.round2(group, lead);
        let (round3, pleas) = self.round3(group, lead);
        others.extend(pleas);
        Trail {
            round1: Round1 {
                original_model: lead.reviewer.clone(),
                original_severity: lead.severity.unwrap_or(group.severity),
                original_confidence: self.original_confidence(group),
            },
            round2,
            round3,
            others,
            final_confidence_calculation: group.trace.to_string(),
        }
    }

    /// Returns what each reviewer said in round 2, and what a reviewer said besides.
    fn round2(&self, group: &Group, lead: &Finding) -> (Round2, Vec<Said>) {
        let mut round = Round2::default();
        let mut others = Vec::new();
        for &index in &group.examinations {
            let examination = &self.examinations[index as usize];
            let response = Response {
                action: examination.stance.to_string(),
                confidence_adjustment: examination.adjustment.get(),
                reasoning: examination.reasoning.clone(),
            };
            let reviewer = examination.reviewer.clone();
            if examination.family == CLAUDE {
                round
                    .claude_reviewers
                    .push(NamedResponse { reviewer, response });
                continue;
            }
            match round.by_reviewer.entry(reviewer) {
                Entry::Vacant(place) => {
                    place.insert(response);
                }
                Entry::Occupied(place) => others.push(Said {
                    round: 2,
                    reviewer: place.key().clone(),
                    finding_id: examination.finding_id.clone(),
                    response,
                }),
            }
        }
        let silent = self.panel.iter().filter(|one| one.name != lead.reviewer);
        for reviewer in silent.filter(|one| one.family != CLAUDE) {
            let entry = round.by_reviewer.entry(reviewer.name.clone());
            entry.or_insert_with(|| Response {
                action: NO_ANSWER.to_owned(),
                confidence_adjustment: 0,
                reasoning: String::new(),
            });
        }
        (round, others)
    }

    /// Returns the plea that stands for the group, and those of its other authors.
    fn round3(&self, group: &Group, lead: &Finding) -> (Round3, Vec<Said>) {
        let defenses = || {
            let indices = group.defenses.iter();
            indices.map(|&index| (index, &self.defenses[index as usize]))
        };
        let chosen = defenses().max_by_key(|(_, one)| {
            let rank = match one.plea {
                Plea::Defend => 2,
                Plea::Modify => 1,
                Plea::Concede => 0,
            };
            (one.reviewer == lead.reviewer, rank)
        });
        let others = defenses().filter(|(index, _)| Some(*index) != chosen.map(|one| one.0));
        let others = others.map(|(_, one)| Said {
            round: 3,
            reviewer: one.reviewer.clone(),
            finding_id: one.finding_id.clone(),
            response: Response {
                action: one.plea.as_str().to_owned(),
                confidence_adjustment: one.adjustment.get(),
                reasoning: one.reasoning.clone(),
            },
        });
        let defense = chosen.map(|(_, one)| one);
        let round = Round3 {
            defender: defense.map_or(&lead.reviewer, |one| &one.reviewer).clone(),
            action: defense
                .map_or(NO_ANSWER, |one| one.plea.as_str())
                .to_owned(),
            confidence_adjustment: defense.map_or(0, |one| one.adjustment.get()),
            reasoning: defense.map_or(String::new(), |one| one.reasoning.clone()),
        };
        (round, others.collect())
    }
}
