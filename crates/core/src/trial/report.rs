//! What a person or a program reads about a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Contestant, Decree, DesignedBy, Evaluation, Hindsight, Judge, Mode, Output, State};
use crate::ids::CaseId;
use crate::money::Spend;
use crate::verdict::{Method, Verdict};

/// The form of the report.
pub const SCHEMA: &str = "tribunal.trial.v1";

/// A trial as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialReport {
    /// The form: `tribunal.trial.v1`.
    pub schema: String,
    /// The case in which it is recorded.
    pub case: CaseId,
    /// Where it stands.
    #[serde(flatten)]
    pub state: State,
    /// The challenge.
    pub challenge: String,
    /// What contestants hand in.
    pub mode: Mode,
    /// The trial from which it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<CaseId>,
    /// Who decided about the contestants; nothing before that.
    pub designed: Option<DesignedBy>,
    /// Who takes part, with what they handed in.
    pub contestants: Vec<ContestantReport>,
    /// The judges, once there are any.
    pub panel: Option<PanelReport>,
    /// The outcome in one sentence.
    pub summary: Option<String>,
    /// The verdict with its doubt.
    pub verdict: Option<Verdict>,
    /// What the judges' scores come to, one paragraph each.
    pub reasoning: Vec<String>,
    /// What those say who put somebody else first.
    pub minority: Vec<Dissent>,
    /// What was done about it.
    pub decree: Option<DecreeReport>,
    /// What turned out afterwards, where somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindsight: Option<Hindsight>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
    /// What it cost so far.
    pub spend: Spend,
}

/// A contestant with what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContestantReport {
    /// Who.
    #[serde(flatten)]
    pub contestant: Contestant,
    /// The label by which the arbiter called it.
    pub label: String,
    /// What it handed in.
    pub output: Option<Output>,
    /// Why it handed nothing in.
    pub failed: Option<String>,
}

/// The judges with what came of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PanelReport {
    /// Why it is composed so.
    pub reasoning: String,
    /// Who designed it.
    #[serde(flatten)]
    pub by: DesignedBy,
    /// Who sits.
    pub judges: Vec<JudgeReport>,
}

/// A judge with what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeReport {
    /// Who.
    #[serde(flatten)]
    pub judge: Judge,
    /// What it said.
    pub evaluation: Option<Evaluation>,
    /// What it said when it saw the answers in reverse order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped: Option<Evaluation>,
    /// Why it does not count.
    pub failed: Option<String>,
}

/// A judge who put somebody else first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dissent {
    /// The judge's name.
    pub judge: String,
    /// Names of those it prefers.
    pub prefers: Vec<String>,
    /// Its summary.
    pub summary: String,
}

/// What was done about a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecreeReport {
    /// What.
    #[serde(flatten)]
    pub decree: Decree,
    /// A word on it.
    pub note: Option<String>,
}

impl TrialReport {
    /// Returns the name of a contestant for people.
    #[must_use]
    pub fn name_of(&self, id: &str) -> String {
        let mut found = self.contestants.iter();
        let found = found.find(|one| one.contestant.id == id);
        found.map_or_else(|| id.to_owned(), |one| one.contestant.name.clone())
    }
}

/// Returns the outcome in one sentence, as in `Ann won with an average score of 81.3/100.`
#[must_use]
pub fn summary(verdict: &Verdict, name: impl Fn(&str) -> String) -> String {
    let Some(first) = verdict.ranking.first() else {
        return "Nobody was judged.".to_owned();
    };
    let names = |ids: Vec<&str>| {
        let names: Vec<String> = ids.into_iter().map(&name).collect();
        names.join(" and ")
    };
    let number = match (verdict.weighted, verdict.method) {
        (false, Method::Mean) => format!("an average score of {}/100", first.average.tenths()),
        (true, method) => format!("a weighted {method} of {}/100", first.score.tenths()),
        (false, Method::Pairwise) => {
            format!("a pairwise strength of {}/100", first.score.tenths())
        }
        (false, method) => format!("a {method} of {}/100", first.score.tenths()),
    };
    let leaders = verdict.best_average();
    let plain = match (verdict.is_by_other_means(), leaders.first()) {
        (true, Some(best)) => {
            let ids: Vec<&str> = leaders.iter().map(|one| one.contestant.as_str()).collect();
            let average = best.average.tenths();
            match ids == verdict.leaders() {
                true => format!("; the plain average is {average}"),
                false => format!("; by plain average {} leads with {average}", names(ids)),
            }
        }
        (false, _) | (true, None) => String::new(),
    };
    match &verdict.winner {
        Some(winner) if verdict.ranking.len() == 1 => format!(
            "{} was the only contestant left, with {number}{plain}.",
            name(winner)
        ),
        Some(winner) => format!("{} won with {number}{plain}.", name(winner)),
        None => format!("{} tie with {number}{plain}.", names(verdict.leaders())),
    }
}

/// Returns the JSON schema of a report.
#[must_use]
pub fn report_schema() -> schemars::Schema {
    schemars::schema_for!(TrialReport)
}
