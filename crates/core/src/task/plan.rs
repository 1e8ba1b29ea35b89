//! A plan: the steps by which a task is done. A new plan leaves the old one in the record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a task is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Which plan of the task it is, from 1.
    pub version: u32,
    /// Its steps, in order.
    pub steps: Vec<PlanStep>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// Its name within the plan.
    pub id: String,
    /// What is done.
    pub title: String,
    /// The steps that come before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// How one sees that it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    /// Whether the coder says that it is done.
    #[serde(default)]
    pub done: bool,
}

impl Plan {
    /// Tells whether all steps are done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.steps.iter().all(|step| step.done)
    }

    /// Returns the plan with these steps done. A step before which another is open stays open.
    #[must_use]
    pub fn with_done(&self, ids: &[String]) -> Self {
        let mut plan = self.clone();
        loop {
            let done = |plan: &Self, id: &String| {
                let mut steps = plan.steps.iter();
                steps.find(|step| step.id == *id).is_some_and(|s| s.done)
            };
            let next = plan.steps.iter().position(|step| {
                let ready = step.depends_on.iter().all(|id| done(&plan, id));
                !step.done && ids.contains(&step.id) && ready
            });
            match next.and_then(|index| plan.steps.get_mut(index)) {
                Some(step) => step.done = true,
                None => return plan,
            }
        }
    }

    /// Returns why the steps make no plan, if they do not.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let ids: Vec<&str> = self.steps.iter().map(|step| step.id.as_str()).collect();
        if ids.is_empty() {
            return Some("the plan has no steps".to_owned());
        }
        for (index, step) in self.steps.iter().enumerate() {
            if ids[..index].contains(&step.id.as_str()) {
                return Some(format!("two steps have the id `{}`", step.id));
            }
            for other in &step.depends_on {
                if !ids.contains(&other.as_str()) {
                    let id = &step.id;
                    return Some(format!("step `{id}` depends on `{other}`, which is none"));
                }
            }
        }
        let all: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let open = self.with_done(&all).steps.into_iter().find(|s| !s.done);
        open.map(|step| format!("step `{}` depends on itself", step.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `1 2<1 3<1,2` as three steps.
    fn plan(text: &str) -> Plan {
        let step = |word: &str| {
            let (id, depends) = word.split_once('<').unwrap_or((word, ""));
            let depends = depends.split(',').filter(|id| !id.is_empty());
            PlanStep {
                id: id.to_owned(),
                title: id.to_owned(),
                depends_on: depends.map(str::to_owned).collect(),
                acceptance: Vec::new(),
                done: false,
            }
        };
        Plan {
            version: 1,
            steps: text.split_whitespace().map(step).collect(),
        }
    }

    #[test]
    fn steps_make_a_plan_or_it_is_said_why_not() {
        for (text, problem) in [
            ("1 2<1 3<1,2", None),
            ("1<2 2", None),
            ("", Some("the plan has no steps")),
            ("1 1", Some("two steps have the id `1`")),
            ("1<9", Some("step `1` depends on `9`, which is none")),
            ("1<2 2<1", Some("step `1` depends on itself")),
        ] {
            assert_eq!(plan(text).problem().as_deref(), problem, "{text}");
        }
    }

    #[test]
    fn a_step_is_done_after_those_before_it() {
        let ids = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let done = |text: &str| {
            let plan = plan("1 2<1 3<2").with_done(&ids(text));
            let done = plan.steps.iter().filter(|step| step.done);
            done.map(|step| step.id.clone())
                .collect::<Vec<_>>()
                .join(" ")
        };
        for (claimed, counted) in [("1", "1"), ("3 1 2", "1 2 3"), ("2 3", ""), ("9", "")] {
            assert_eq!(done(claimed), counted, "{claimed}");
        }
        assert!(plan("1 2<1").with_done(&ids("1 2")).is_done());
    }
}
