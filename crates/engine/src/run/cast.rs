//! Who can be chosen for a task, and what the arbiter is asked about them.

use tribunal_core::agent::Role;
use tribunal_core::arbiter::{
    Candidate, EvaluateInput, Execution, ExecutionResult, Question, SelectInput, Work,
};
use tribunal_core::ids::AgentName;
use tribunal_core::task::Task;

use super::brief;
use super::progress::Progress;
use crate::Engine;
use crate::config::{AgentSettings, PlanChoice, Roster, Settings};

/// Who can be chosen, and which agent that is.
pub(super) struct Cast {
    pub(super) candidates: Vec<Candidate>,
    agents: Vec<(String, AgentName)>,
}

impl Cast {
    pub(super) fn agent(&self, name: &str) -> Option<&AgentName> {
        let mut agents = self.agents.iter();
        agents
            .find(|(known, _)| known == name)
            .map(|(_, agent)| agent)
    }

    pub(super) fn does(&self, name: &str) -> Option<Work> {
        let mut candidates = self.candidates.iter();
        candidates.find(|one| one.name == name).map(|one| one.does)
    }
}

pub(super) fn select_question(
    task: &Task,
    progress: &Progress,
    candidates: &[Candidate],
) -> Question {
    let last = progress.round().last();
    let failed = last.filter(|last| matches!(last.result, ExecutionResult::Failed { .. }));
    Question::SelectAgent(SelectInput {
        task: brief::outline(task),
        plan: progress.plan.clone(),
        history: progress.history.clone(),
        last_error: failed.map(|last| last.summary.clone()),
        agents: candidates.to_vec(),
    })
}

pub(super) fn evaluate_question(task: &Task, progress: &Progress, last: &Execution) -> Question {
    Question::EvaluateProgress(EvaluateInput {
        task: brief::outline(task),
        plan: progress.plan.clone(),
        history: progress.history.clone(),
        last_execution: last.clone(),
    })
}

/// Returns who worked last, else the developer.
pub(super) fn last_mode(progress: &Progress, cast: &Cast) -> String {
    let worked = progress
        .round()
        .iter()
        .rev()
        // The program runs the tests, whatever an agent may be called.
        .filter(|execution| !matches!(execution.result, ExecutionResult::Tested { .. }))
        .map(|execution| execution.mode.as_str())
        .find(|mode| matches!(cast.does(mode), Some(Work::Develop | Work::Plan)));
    worked.unwrap_or("developer").to_owned()
}

/// Returns the agent whose work is looked at.
pub(super) fn last_coder<'a>(progress: &Progress, cast: &'a Cast) -> Option<&'a AgentName> {
    let worked = progress
        .history
        .iter()
        .rev()
        .find(|execution| matches!(execution.result, ExecutionResult::Worked { .. }));
    cast.agent(&worked?.mode)
}

/// Returns who can be chosen for this task, everybody once. Nobody is made up.
pub(super) fn cast(engine: &Engine, settings: &Settings, domain: Option<&str>) -> Cast {
    let roster = Roster::new(settings);
    let coders: Vec<_> = roster.with_role(Role::Coder).collect();
    let by_name = |name: &str| coders.iter().find(|agent| agent.name.as_str() == name);
    let coder = roster
        .coder_for(domain)
        .filter(|one| one.name.as_str() != "planner");
    let coder = coder.or_else(|| {
        let mut others = coders.iter().copied();
        others.find(|agent| agent.name.as_str() != "planner")
    });
    let mut cast = Cast {
        candidates: Vec::new(),
        agents: Vec::new(),
    };
    let mut add = |name: &str, does: Work, agent: Option<&AgentName>, when: &str| {
        cast.candidates.push(Candidate {
            name: name.to_owned(),
            does,
            when_to_use: when.to_owned(),
        });
        cast.agents
            .extend(agent.map(|agent| (name.to_owned(), agent.clone())));
    };
    let planner = match settings.run.plan {
        PlanChoice::Never => None,
        PlanChoice::Auto => by_name("planner").copied(),
        PlanChoice::Always => by_name("planner").copied().or(coder),
    };
    const WRITES: &str = "When something is to be written or changed.";
    if let Some(planner) = planner {
        let when = planner.recommendation();
        let when = when.unwrap_or("When there is no plan, or it no longer fits.");
        add("planner", Work::Plan, Some(&planner.name), when);
    }
    if let Some(coder) = coder.filter(|_| by_name("developer").is_none()) {
        let when = coder.recommendation().unwrap_or(WRITES);
        add("developer", Work::Develop, Some(&coder.name), when);
    }
    let has_a_part = |agent: &AgentSettings| match agent.name.as_str() {
        "planner" => true,
        "reviewer" => agent.has_role(Role::Reviewer),
        _ => false,
    };
    for agent in coders.iter().filter(|agent| !has_a_part(agent)) {
        let when = agent.recommendation().unwrap_or(WRITES);
        add(agent.name.as_str(), Work::Develop, Some(&agent.name), when);
    }
    // An agent of that name works on tests, and the test command runs after it as after everybody.
    if engine.tests.is_some() && by_name("tester").is_none() {
        let when = "When it is unknown whether the work holds.";
        add("tester", Work::Test, None, when);
    }
    let reviewer = roster.get("reviewer");
    let reviewer = reviewer.filter(|agent| agent.has_role(Role::Reviewer));
    let when = reviewer.and_then(AgentSettings::recommendation);
    let when = when.unwrap_or("When the work is whole as far as can be seen.");
    if reviewer.is_some() || by_name("reviewer").is_none() {
        add("reviewer", Work::Review, None, when);
    }
    cast
}
