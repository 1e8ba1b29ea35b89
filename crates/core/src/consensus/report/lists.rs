//! One entry of the report for each settled group.

use std::collections::BTreeMap;

use super::{
    Accepted, Details, Disputed, MemberId, NamedResponse, Rejected, ReportedFinding, Response,
    Round1, Round2, Round3, Trail, words,
};
use crate::consensus::outcome::{Group, Settlement};
use crate::finding::{Category, Finding, Location};
use crate::review::Plea;
use crate::scale::Severity;

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
            suggestion: self.finding(group.suggested_by).suggestion.clone(),
            locations: self.locations(group),
            ids: self.ids(group),
            cross_examination_trail: self.trail(group),
            trace: group.trace.lines().to_vec(),
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
            resolution_notes: words::notes(group),
        }
    }

    pub(super) fn rejected(&self, group: &Group) -> Rejected {
        let lead = self.finding(group.lead());
        Rejected {
            original_title: lead.title.clone(),
            original_model: lead.reviewer.clone(),
            original_severity: lead.severity.unwrap_or(group.severity),
            original_confidence: self.original_confidence(group),
            rejection_reason: words::notes(group),
            reversal_criteria: words::reversal(group),
            details: self.details(group),
        }
    }

    pub(super) fn disputed(&self, group: &Group) -> Disputed {
        let lead = self.finding(group.lead());
        let mut perspectives: BTreeMap<String, String> = BTreeMap::new();
        for finding in group.members.iter().map(|&member| self.finding(member)) {
            let severity = finding.severity.map_or("no severity", Severity::as_str);
            let text = format!("{severity}: {}", words::fullest(finding));
            perspectives.entry(finding.reviewer.clone()).or_insert(text);
        }
        for &index in &group.examinations {
            let examination = &self.examinations[index as usize];
            let text = format!("{}: {}", examination.stance, examination.reasoning);
            let known = perspectives.entry(examination.reviewer.clone());
            known.or_insert(text);
        }
        Disputed {
            title: lead.title.clone(),
            line: lead.location.line,
            perspectives,
            notes: words::notes(group),
            unresolved_questions: words::questions(group),
            recommended_action: words::action(group, &lead.location),
            details: self.details(group),
        }
    }

    fn details(&self, group: &Group) -> Details {
        Details {
            severity: group.severity,
            confidence: group.confidence.get(),
            locations: self.locations(group),
            ids: self.ids(group),
            cross_examination_trail: self.trail(group),
            trace: group.trace.lines().to_vec(),
        }
    }

    fn finding(&self, member: u32) -> &Finding {
        &self.findings[member as usize]
    }

    fn description(&self, group: &Group) -> String {
        let first = match &group.revised_description {
            Some(revised) => revised.clone(),
            None => words::fullest(self.finding(group.described_by)).to_owned(),
        };
        let notes = words::notes(group);
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
        let defenses = group
            .defenses
            .iter()
            .map(|&index| &self.defenses[index as usize]);
        let defense = defenses.max_by_key(|one| {
            let rank = match one.plea {
                Plea::Defend => 2,
                Plea::Modify => 1,
                Plea::Concede => 0,
            };
            (one.reviewer == lead.reviewer, rank)
        });
        Trail {
            round1: Round1 {
                original_model: lead.reviewer.clone(),
                original_severity: lead.severity.unwrap_or(group.severity),
                original_confidence: self.original_confidence(group),
            },
            round2: self.round2(group, lead),
            round3: Round3 {
                defender: defense.map_or(&lead.reviewer, |one| &one.reviewer).clone(),
                action: defense
                    .map_or(NO_ANSWER, |one| one.plea.as_str())
                    .to_owned(),
                confidence_adjustment: defense.map_or(0, |one| one.adjustment.get()),
                reasoning: defense.map_or(String::new(), |one| one.reasoning.clone()),
            },
            final_confidence_calculation: group.trace.to_string(),
        }
    }

    fn round2(&self, group: &Group, lead: &Finding) -> Round2 {
        let mut round = Round2::default();
        let others = self.panel.iter().filter(|one| one.name != lead.reviewer);
        for reviewer in others.filter(|one| one.family != CLAUDE) {
            let silence = Response {
                action: NO_ANSWER.to_owned(),
                confidence_adjustment: 0,
                reasoning: String::new(),
            };
            round.by_reviewer.insert(reviewer.name.clone(), silence);
        }
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
            } else {
                round.by_reviewer.insert(reviewer, response);
            }
        }
        round
    }
}
