//! A judge weighs the evidence about what stays contested: a closed answer, checked by contract.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tribunal_core::agent::Role;
use tribunal_core::consensus::{Conflict, Group, Input, Judgement, Kind, Settlement, settle};
use tribunal_core::event::EventKind;
use tribunal_core::ids::AgentName;
use tribunal_core::prompt::{ShownReport, WeighPrompt, WeighQuestion, ask_again, json_lines};
use tribunal_core::reply::{Weighing, read_signed_weighing};
use tribunal_core::review::contest::contested;
use tribunal_core::scale::Severity;

use super::super::ask::Unanswered;
use super::super::excerpt::Excerpts;
use super::super::nonce;
use super::{Aside, Floor};
use crate::case::CaseError;
use crate::stopping::finish_all;

/// No review asks a judge more often; what is left is measured by code, and said so.
const MOST_WEIGHED: usize = 40;

/// An agent that may weigh evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JudgeSeat {
    pub(crate) name: AgentName,
    pub(crate) family: String,
}

/// What is put to a judge about one group.
struct Matter {
    /// The statements under neutral names.
    statements: String,
    material: String,
    /// The neutral name of the lead.
    lead: String,
    /// The severities that were stated, when they are the question.
    severities: Vec<Severity>,
    about: Kind,
}

impl Floor<'_> {
    /// Lets a judge weigh what is still contested and adds the judgements to `input`.
    pub(in crate::review) async fn weigh(
        self,
        input: &mut Input,
        aside: &mut Aside,
    ) -> Result<(), CaseError> {
        if self.request.judges.is_empty() {
            return Ok(());
        }
        let settlement = settle(input.clone(), self.policy);
        let mut groups = contested(&settlement, self.policy);
        if groups.len() > MOST_WEIGHED {
            let left = groups.len() - MOST_WEIGHED;
            aside.notes.push(format!(
                "{left} contested findings were not put to a judge; their evidence was measured by code"
            ));
            groups.truncate(MOST_WEIGHED);
        }
        let groups = groups.iter().map(|&index| &settlement.groups[index]);
        let weighed = groups.map(|group| self.weigh_one(&settlement, group));
        for (judgement, notes) in finish_all(weighed).await? {
            input.judgements.extend(judgement);
            aside.notes.extend(notes);
        }
        Ok(())
    }

    async fn weigh_one(
        self,
        settlement: &Settlement,
        group: &Group,
    ) -> Result<(Option<Judgement>, Vec<String>), CaseError> {
        let mut notes = Vec::new();
        let lead = &settlement.findings[group.lead() as usize];
        let place = lead.location.to_string();
        let judge = self.judge_for(settlement, group);
        let involved = families_of(settlement, group);
        if involved.contains(&judge.family.as_str()) {
            notes.push(format!(
                "{} weighed the evidence about {place} although a party is of its family",
                judge.name
            ));
        }
        let matter = self.matter(settlement, group);
        match self.hear_judge(judge, &matter).await? {
            Ok(weighing) => {
                let weighed = EventKind::EvidenceWeighed {
                    judge: judge.name.to_string(),
                    finding: lead.title.clone(),
                    side: weighing.side,
                    severity: weighing.severity,
                };
                self.asking.case.note(weighed).await;
                let judgement = Judgement {
                    finding_id: lead.id.clone(),
                    reviewer: Some(lead.reviewer.clone()),
                    judge: judge.name.to_string(),
                    side: weighing.side,
                    severity: weighing.severity,
                    reason: weighing.reason,
                };
                Ok((Some(judgement), notes))
            }
            Err(why) => {
                notes.push(format!(
                    "{} gave no usable weighing of {place} ({why}); the evidence was measured by code",
                    judge.name
                ));
                Ok((None, notes))
            }
        }
    }

    /// Asks a judge, once more if the answer breaks the contract.
    async fn hear_judge(
        self,
        judge: &JudgeSeat,
        matter: &Matter,
    ) -> Result<Result<Weighing, String>, CaseError> {
        let data = format!("{}\n{}", matter.statements, matter.material);
        let digest: String = blake3::hash(data.as_bytes())
            .to_hex()
            .chars()
            .take(12)
            .collect();
        let key = format!("weigh {} {digest}", judge.name);
        let nonce = nonce(&self.request.seed, &key, &data);
        let question = match matter.about {
            Kind::Conflicted(Conflict::Severity) => WeighQuestion::Severity(&matter.severities),
            Kind::Conflicted(Conflict::RootCause) => WeighQuestion::Cause(&matter.lead),
            Kind::Conflicted(Conflict::Validity) | Kind::Agreed | Kind::Unique => {
                WeighQuestion::Validity
            }
        };
        let prompt = WeighPrompt {
            nonce: &nonce,
            title: &self.request.pinned.title,
            question,
            statements: &matter.statements,
            material: &matter.material,
        }
        .render();
        let mut why = String::new();
        for attempt in 1..=2 {
            let (key, prompt) = match attempt {
                1 => (key.clone(), prompt.clone()),
                _ => (format!("{key} again"), ask_again(&prompt, &why)),
            };
            let asked = self.asking.ask(&judge.name, Role::Judge, &key, prompt);
            let reply = match asked.await? {
                Ok(reply) => reply,
                Err(unanswered) => return Ok(Err(Unanswered::why(unanswered))),
            };
            let structured = reply.structured.as_ref();
            match read_signed_weighing(&reply.text, structured, &nonce, &matter.severities) {
                Ok(weighing) => return Ok(Ok(weighing)),
                Err(problem) => why = problem,
            }
        }
        Ok(Err(why))
    }

    /// Returns the first judge of a family that takes no part, else the first.
    fn judge_for(&self, settlement: &Settlement, group: &Group) -> &JudgeSeat {
        let involved = families_of(settlement, group);
        let judges = &self.request.judges;
        let mut apart = judges
            .iter()
            .filter(|judge| !involved.contains(&judge.family.as_str()));
        apart.next().unwrap_or(&judges[0])
    }

    /// Returns all that was said about a group, in an order that says nothing.
    fn matter(self, settlement: &Settlement, group: &Group) -> Matter {
        let finding = |member: u32| &settlement.findings[member as usize];
        let mut excerpts = Excerpts::new(self.change);
        let mut said: Vec<(bool, Value)> = Vec::new();
        for &member in &group.members {
            excerpts.add(&finding(member).location);
            let report = ShownReport::of(finding(member));
            said.push((member == group.lead(), json!({"reports": report})));
        }
        for &index in &group.examinations {
            let one = &settlement.examinations[index as usize];
            said.push((
                false,
                json!({"about_the_report": one.stance, "reasoning": one.reasoning}),
            ));
        }
        for &index in &group.defenses {
            let one = &settlement.defenses[index as usize];
            let mut answer = json!({"author_answers": one.plea, "reasoning": one.reasoning});
            if let Some(severity) = one.revised_severity {
                answer["revised_severity"] = json!(severity);
            }
            said.push((false, answer));
        }
        said.sort_by_cached_key(|(_, value)| {
            let text = format!("{}\n{value}", self.request.seed);
            *blake3::hash(text.as_bytes()).as_bytes()
        });
        let lead = said.iter().position(|(is_lead, _)| *is_lead).unwrap_or(0);
        let lines = (1..).zip(said).map(|(number, (_, value))| {
            let mut line = json!({"statement": format!("S{number}")});
            if let (Some(line), Value::Object(value)) = (line.as_object_mut(), value) {
                line.extend(value);
            }
            line
        });
        Matter {
            statements: json_lines(lines),
            material: excerpts.render(),
            lead: format!("S{}", lead + 1),
            severities: severities(settlement, group, self.policy.defaults.severity),
            about: group.kind,
        }
    }
}

/// Returns the severities among which a judge chooses, the worst first; empty when the question is
/// another.
fn severities(settlement: &Settlement, group: &Group, default: Severity) -> Vec<Severity> {
    if group.kind != Kind::Conflicted(Conflict::Severity) {
        return Vec::new();
    }
    let stated = group.members.iter().map(|&member| {
        let finding = &settlement.findings[member as usize];
        let defenses = group.defenses.iter();
        let own = defenses
            .map(|&index| &settlement.defenses[index as usize])
            .filter(|one| one.finding_id == finding.id && one.reviewer == finding.reviewer);
        let revised = own.rev().find_map(|one| one.revised_severity);
        revised.or(finding.severity).unwrap_or(default)
    });
    let mut stated: Vec<Severity> = stated.collect();
    stated.sort_unstable();
    stated.dedup();
    stated.reverse();
    stated
}

fn families_of<'a>(settlement: &'a Settlement, group: &Group) -> Vec<&'a str> {
    let members = group.members.iter();
    let mut families: Vec<&str> = members
        .map(|&member| settlement.findings[member as usize].family.as_str())
        .collect();
    let examinations = group.examinations.iter();
    families
        .extend(examinations.map(|&index| settlement.examinations[index as usize].family.as_str()));
    families.sort_unstable();
    families.dedup();
    families
}
