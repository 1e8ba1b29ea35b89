//! Settings of the loop over the tasks: rules of the arbiter, runs, the project's tests, git.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tribunal_core::arbiter::QuestionKind;
use tribunal_core::arbiter::rules::{Rule, Then, When, default_rules};

use super::command::{one_or_many, one_or_many_schema};
use super::settings::ArbiterSettings;

/// A rule by which the arbiter decides without a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSettings {
    /// Which question it answers: who works next, or whether the work goes on.
    pub on: RuleQuestion,
    /// What must hold, one condition or a list of which all must hold.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema::<When>")]
    pub when: Vec<When>,
    /// What follows: `continue`, `complete`, `retry`, or the name of an agent, or `planner`,
    /// `developer`, `tester`, `reviewer`.
    pub then: String,
}

/// Which question a rule answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleQuestion {
    /// Who works next.
    SelectAgent,
    /// Whether the work goes on.
    EvaluateProgress,
}

impl RuleQuestion {
    /// Returns the word of the config.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::SelectAgent => "select_agent",
            Self::EvaluateProgress => "evaluate_progress",
        }
    }
}

impl RuleSettings {
    /// Returns the rule as the core reads it.
    #[must_use]
    pub fn rule(&self) -> Rule {
        Rule {
            on: match self.on {
                RuleQuestion::SelectAgent => QuestionKind::SelectAgent,
                RuleQuestion::EvaluateProgress => QuestionKind::EvaluateProgress,
            },
            when: self.when.clone(),
            then: match self.then.as_str() {
                "continue" => Then::Continue,
                "complete" => Then::Complete,
                "retry" => Then::Retry,
                name => Then::Select(name.to_owned()),
            },
        }
    }
}

impl ArbiterSettings {
    /// Returns the rules in force: those of the config, then the built-in ones.
    #[must_use]
    pub(crate) fn all_rules(&self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = self.rules.iter().map(RuleSettings::rule).collect();
        if self.builtin_rules {
            rules.extend(default_rules());
        }
        rules
    }
}

/// How the loop works through the tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// Most executions for one task between two reviews, runs of the tests included; reaching it is never success.
    #[schemars(range(min = 1, max = 1000))]
    pub max_iterations: u32,
    /// Rejections after which the arbiter gives guidance to both sides.
    pub coordinate_at: Vec<u32>,
    /// Rejections after which the task becomes disputed.
    #[schemars(range(min = 1, max = 1000))]
    pub max_rejections: u32,
    /// Whether a plan is made first: `auto` does when an agent is called `planner`.
    pub plan: PlanChoice,
    /// Whether findings about the work are put to the coder before it is rejected.
    pub arbitrate: bool,
    /// Branch that collects the approved work; `tribunal/work` when absent.
    pub branch: Option<String>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            max_iterations: 20,
            coordinate_at: vec![2, 5, 9],
            max_rejections: 15,
            plan: PlanChoice::Auto,
            arbitrate: true,
            branch: None,
        }
    }
}

/// Whether a plan is made before somebody works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanChoice {
    /// When an agent is called `planner`.
    Auto,
    /// Always, by that agent or else by the coder.
    Always,
    /// Never.
    Never,
}

/// What is done with branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GitSettings {
    /// Whether work is pushed: `auto` pushes when the current branch has an upstream.
    pub push: PushChoice,
    /// Where to; with `auto` the upstream's own remote.
    pub remote: String,
    /// How often a push is tried.
    #[schemars(range(min = 1, max = 20))]
    pub push_attempts: u32,
    /// Whether work may be pushed to a repository on this machine, a path or `file://`: hooks of that
    /// repository run with your rights. Only your own config, a variable or a flag can say so; what
    /// a project says does not count.
    pub allow_local: bool,
}

impl Default for GitSettings {
    fn default() -> Self {
        Self {
            push: PushChoice::Auto,
            remote: "origin".to_owned(),
            push_attempts: 3,
            allow_local: false,
        }
    }
}

/// Whether work is pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PushChoice {
    /// When the current branch has an upstream.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
