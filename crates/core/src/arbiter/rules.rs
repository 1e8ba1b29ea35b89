//! Rules by which the arbiter decides without a model, and what it does when nothing else helps.

use std::fmt::{self, Write as _};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidate, Decision, ExecutionResult, Question, QuestionKind, Source, Work};

/// A condition over plan, history and last result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// There is no plan.
    NoPlan,
    /// A step of the plan is open.
    PlanOpen,
    /// All steps of the plan are done.
    PlanDone,
    /// Nothing was done yet.
    NoHistory,
    /// A plan was made last.
    Planned,
    /// Files were changed last.
    Worked,
    /// Nothing was changed by the last execution.
    Unchanged,
    /// The project's tests were run last and failed.
    TestsFailed,
    /// The project's tests were run last and passed.
    TestsPassed,
    /// A review sent the work back last.
    Rejected,
    /// No usable answer came last.
    Failed,
}

impl When {
    /// All conditions.
    pub const ALL: [Self; 11] = [
        Self::NoPlan,
        Self::PlanOpen,
        Self::PlanDone,
        Self::NoHistory,
        Self::Planned,
        Self::Worked,
        Self::Unchanged,
        Self::TestsFailed,
        Self::TestsPassed,
        Self::Rejected,
        Self::Failed,
    ];

    /// Returns the condition in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NoPlan => "there is no plan",
            Self::PlanOpen => "a step of the plan is open",
            Self::PlanDone => "all steps of the plan are done",
            Self::NoHistory => "nothing was done yet",
            Self::Planned => "a plan was made last",
            Self::Worked => "files were changed last",
            Self::Unchanged => "nothing was changed last",
            Self::TestsFailed => "the tests failed",
            Self::TestsPassed => "the tests passed",
            Self::Rejected => "a review sent the work back",
            Self::Failed => "the last run failed",
        }
    }

    fn holds(self, question: &Question) -> bool {
        let last = question.last().map(|last| &last.result);
        match self {
            Self::NoPlan => question.plan().is_none(),
            Self::PlanOpen => question.plan().is_some_and(|plan| !plan.is_done()),
            Self::PlanDone => question.plan().is_some_and(|plan| plan.is_done()),
            Self::NoHistory => last.is_none(),
            Self::Planned => matches!(last, Some(ExecutionResult::Planned { .. })),
            Self::Worked => matches!(last, Some(ExecutionResult::Worked { .. })),
            Self::Unchanged => matches!(last, Some(ExecutionResult::Unchanged)),
            Self::TestsFailed => matches!(last, Some(ExecutionResult::Tested { passed: false })),
            Self::TestsPassed => matches!(last, Some(ExecutionResult::Tested { passed: true })),
            Self::Rejected => matches!(last, Some(ExecutionResult::Rejected { .. })),
            Self::Failed => {
                matches!(last, Some(ExecutionResult::Failed { .. })) || has_error(question)
            }
        }
    }
}

fn has_error(question: &Question) -> bool {
    match question {
        Question::SelectAgent(input) => input.last_error.is_some(),
        Question::EvaluateProgress(_) => false,
    }
}

/// What a rule decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The candidate of this name works next.
    Select(String),
    /// The work goes on.
    Continue,
    /// The work is complete.
    Complete,
    /// The last one tries again.
    Retry,
}

/// A rule: the first one whose conditions all hold decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    /// To which question it is an answer.
    pub on: QuestionKind,
    /// What must hold, all of it.
    pub when: Vec<When>,
    /// What follows.
    pub then: Then,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, when) in self.when.iter().enumerate() {
            let and = if index == 0 { "" } else { " and " };
            write!(f, "{and}{}", when.words())?;
        }
        let always = if self.when.is_empty() { "always" } else { "" };
        match &self.then {
            Then::Select(name) => write!(f, "{always}: {name}"),
            Then::Continue => write!(f, "{always}: continue"),
            Then::Complete => write!(f, "{always}: complete"),
            Then::Retry => write!(f, "{always}: retry"),
        }
    }
}

/// Returns the rules that hold when the config says nothing.
#[must_use]
pub fn default_rules() -> Vec<Rule> {
    use QuestionKind::{EvaluateProgress, SelectAgent};
    let rule = |on, when: &[When], then| Rule {
        on,
        when: when.to_vec(),
        then,
    };
    let select = |name: &str| Then::Select(name.to_owned());
    vec![
        rule(SelectAgent, &[When::Failed], Then::Retry),
        rule(SelectAgent, &[When::NoPlan], select("planner")),
        rule(SelectAgent, &[When::TestsFailed], select("developer")),
        rule(SelectAgent, &[When::Rejected], select("developer")),
        rule(SelectAgent, &[When::Planned], select("developer")),
        rule(SelectAgent, &[When::NoHistory], select("developer")),
        rule(EvaluateProgress, &[When::Failed], Then::Retry),
        rule(EvaluateProgress, &[When::Unchanged], Then::Retry),
        rule(EvaluateProgress, &[When::TestsFailed], Then::Continue),
        rule(EvaluateProgress, &[When::Planned], Then::Continue),
        rule(
            EvaluateProgress,
            &[When::PlanDone, When::Worked],
            Then::Complete,
        ),
        rule(
            EvaluateProgress,
            &[When::PlanDone, When::TestsPassed],
            Then::Complete,
        ),
    ]
}

/// Returns what the rules decide, if they do.
///
/// A rule that selects somebody who is not among the candidates is passed over.
#[must_use]
pub fn by_rule(rules: &[Rule], question: &Question) -> Option<(Decision, Source)> {
    let numbered = rules.iter().zip(1_u32..);
    for (rule, number) in numbered.filter(|(rule, _)| rule.on == question.kind()) {
        if !rule.when.iter().all(|when| when.holds(question)) {
            continue;
        }
        let mut reason = String::new();
        for (index, when) in rule.when.iter().enumerate() {
            let and = if index == 0 { "" } else { " and " };
            let _ = write!(reason, "{and}{}", when.words());
        }
        let decision = match &rule.then {
            Then::Select(name) => match find(question, name) {
                Some(candidate) => Decision::SelectMode {
                    mode: candidate.name.clone(),
                    reason,
                },
                None => continue,
            },
            Then::Continue => Decision::Continue { reason },
            Then::Complete => Decision::Complete { summary: reason },
            Then::Retry => Decision::Retry { reason },
        };
        let says = rule.to_string();
        return Some((decision, Source::Rule { rule: number, says }));
    }
    None
}

/// Returns what is decided when rules are silent and no model gave a usable answer.
#[must_use]
pub fn fallback(question: &Question, because: &str) -> (Decision, Source) {
    let source = Source::Fallback {
        because: because.to_owned(),
    };
    let decision = match question {
        Question::SelectAgent(input) => {
            let planner = find(question, "planner").filter(|_| input.plan.is_none());
            let developer = find(question, "developer").or_else(|| {
                let mut developers = input.agents.iter();
                developers.find(|agent| agent.does == Work::Develop)
            });
            match (planner, &input.last_error, developer) {
                (Some(planner), ..) => Decision::SelectMode {
                    mode: planner.name.clone(),
                    reason: "No plan exists (fallback)".to_owned(),
                },
                (None, None, Some(developer)) => Decision::SelectMode {
                    mode: developer.name.clone(),
                    reason: "Default to developer (fallback)".to_owned(),
                },
                (None, Some(_), _) | (None, None, None) => Decision::Retry {
                    reason: "Error occurred (fallback)".to_owned(),
                },
            }
        }
        Question::EvaluateProgress(input) => {
            evaluate_anyway(&input.last_execution.result, question)
        }
    };
    (decision, source)
}

/// A result that speaks for itself needs no model; what is complete still goes to the review.
fn evaluate_anyway(last: &ExecutionResult, question: &Question) -> Decision {
    let open = question.plan().is_some_and(|plan| !plan.is_done());
    let goes_on = |reason: &str| Decision::Continue {
        reason: reason.to_owned(),
    };
    match last {
        ExecutionResult::Failed { .. } | ExecutionResult::Unchanged => Decision::Retry {
            reason: "Nothing came of the last execution (fallback)".to_owned(),
        },
        ExecutionResult::Planned { .. } => goes_on("The plan is to be carried out (fallback)"),
        ExecutionResult::Tested { passed: false } => goes_on("The tests failed (fallback)"),
        ExecutionResult::Rejected { .. } => goes_on("The review sent it back (fallback)"),
        ExecutionResult::Worked { .. } | ExecutionResult::Tested { passed: true } if open => {
            goes_on("A step of the plan is open (fallback)")
        }
        ExecutionResult::Worked { .. } | ExecutionResult::Tested { passed: true } => {
            Decision::Complete {
                summary: "Work was done and can be reviewed (fallback)".to_owned(),
            }
        }
    }
}

fn find<'q>(question: &'q Question, name: &str) -> Option<&'q Candidate> {
    let mut candidates = question.candidates().iter();
    candidates.find(|candidate| candidate.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::ErrorClass;
    use crate::arbiter::{EvaluateInput, Execution, SelectInput};
    use crate::task::plan::{Plan, PlanStep};

    fn plan(done: bool) -> Plan {
        Plan {
            version: 1,
            steps: vec![PlanStep {
                id: "1".into(),
                title: "do it".into(),
                depends_on: Vec::new(),
                acceptance: Vec::new(),
                done,
            }],
        }
    }

    fn candidates(names: &str) -> Vec<Candidate> {
        let candidate = |name: &str| Candidate {
            name: name.to_owned(),
            does: match name {
                "planner" => Work::Plan,
                "tester" => Work::Test,
                "reviewer" => Work::Review,
                _ => Work::Develop,
            },
            when_to_use: String::new(),
        };
        names.split(' ').map(candidate).collect()
    }

    fn execution(result: ExecutionResult) -> Execution {
        Execution {
            iteration: 1,
            mode: "developer".into(),
            result,
            summary: String::new(),
        }
    }

    fn select(plan: Option<Plan>, last: Option<ExecutionResult>, agents: &str) -> Question {
        Question::SelectAgent(SelectInput {
            task: "t".into(),
            plan,
            history: last.into_iter().map(execution).collect(),
            last_error: None,
            agents: candidates(agents),
        })
    }

    fn evaluate(plan: Option<Plan>, last: ExecutionResult) -> Question {
        Question::EvaluateProgress(EvaluateInput {
            task: "t".into(),
            plan,
            history: Vec::new(),
            last_execution: execution(last),
        })
    }

    fn worked() -> ExecutionResult {
        ExecutionResult::Worked {
            files: vec!["a.rs".into()],
        }
    }

    fn failed() -> ExecutionResult {
        ExecutionResult::Failed {
            class: ErrorClass::Crash,
        }
    }

    fn check(question: &Question, rule: &str, otherwise: &str) {
        let decided = by_rule(&default_rules(), question);
        let decided = decided.map_or_else(|| "silent".to_owned(), |(d, _)| d.to_string());
        assert_eq!(decided, rule, "{question:?}");
        let (decision, source) = fallback(question, "no arbiter");
        assert_eq!(decision.to_string(), otherwise, "{question:?}");
        assert!(decision.reason().ends_with("(fallback)"));
        assert_eq!(source.as_str(), "fallback");
    }

    #[test]
    fn rules_and_fallback_select_who_works_next() {
        let all = "planner developer tester reviewer";
        let tested = |passed| Some(ExecutionResult::Tested { passed });
        let rejected = Some(ExecutionResult::Rejected { open: 2 });
        for (question, rule, otherwise) in [
            (
                select(None, None, all),
                "SELECT_MODE planner",
                "SELECT_MODE planner",
            ),
            (
                select(None, None, "developer"),
                "SELECT_MODE developer",
                "SELECT_MODE developer",
            ),
            (
                select(Some(plan(false)), tested(false), all),
                "SELECT_MODE developer",
                "SELECT_MODE developer",
            ),
            (
                select(Some(plan(false)), rejected, all),
                "SELECT_MODE developer",
                "SELECT_MODE developer",
            ),
            (
                select(Some(plan(false)), tested(true), all),
                "silent",
                "SELECT_MODE developer",
            ),
            (
                select(Some(plan(false)), Some(failed()), all),
                "RETRY",
                "SELECT_MODE developer",
            ),
            // Nobody is made up: without a developer there is nothing but trying again.
            (
                select(Some(plan(false)), None, "reviewer"),
                "silent",
                "RETRY",
            ),
            (
                select(Some(plan(false)), None, "ann"),
                "silent",
                "SELECT_MODE ann",
            ),
        ] {
            check(&question, rule, otherwise);
        }
    }

    #[test]
    fn an_error_is_tried_again() {
        let Question::SelectAgent(input) = select(Some(plan(false)), None, "developer") else {
            panic!("it is a selection");
        };
        let question = Question::SelectAgent(SelectInput {
            last_error: Some("it crashed".into()),
            ..input
        });
        check(&question, "RETRY", "RETRY");
    }

    #[test]
    fn rules_and_fallback_evaluate_progress() {
        let tested = |passed| ExecutionResult::Tested { passed };
        for (question, rule, otherwise) in [
            (evaluate(None, failed()), "RETRY", "RETRY"),
            (evaluate(None, ExecutionResult::Unchanged), "RETRY", "RETRY"),
            (evaluate(None, tested(false)), "CONTINUE", "CONTINUE"),
            (
                evaluate(Some(plan(false)), ExecutionResult::Planned { steps: 1 }),
                "CONTINUE",
                "CONTINUE",
            ),
            (evaluate(Some(plan(false)), worked()), "silent", "CONTINUE"),
            (evaluate(Some(plan(true)), worked()), "COMPLETE", "COMPLETE"),
            (evaluate(None, tested(true)), "silent", "COMPLETE"),
        ] {
            check(&question, rule, otherwise);
        }
    }

    #[test]
    fn a_rule_names_itself() {
        let (_, source) =
            by_rule(&default_rules(), &select(None, None, "planner")).expect("a rule");
        let Source::Rule { rule, says } = source else {
            panic!("a rule decided");
        };
        assert_eq!((rule, says.as_str()), (2, "there is no plan: planner"));
    }

    #[test]
    fn the_same_question_is_recognised_whatever_its_blanks_and_order() {
        let given = |task: &str, agents: &str| match select(None, None, agents) {
            Question::SelectAgent(input) => Question::SelectAgent(SelectInput {
                task: task.into(),
                ..input
            })
            .normalized(),
            Question::EvaluateProgress(_) => String::new(),
        };
        let one = given("fix it \nnow", "planner developer");
        assert_eq!(one, given("\nfix it\nnow  ", "developer planner"));
        assert_ne!(one, given("fix  it\nnow", "developer planner"));
        assert_ne!(one, given("fix it\nnow", "developer"));
    }
}
