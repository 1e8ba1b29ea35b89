//! The questions of the loop: to the arbiter, to the planner, to the coder.
//!
//! What happened is shown as JSON on one line: no text of an agent can begin a line of its own, so
//! none can pass for a mark or a heading.

use serde::Serialize;

use super::{EVALUATE, GUIDE, PLAN, SELECT, Template, WORK, fill};
use crate::arbiter::{Execution, Question};

/// Returns the arbiter's questions as they are shipped: a decision that was made on other words is
/// not reused.
#[must_use]
pub fn arbiter_prompts() -> [&'static str; 2] {
    [SELECT.text, EVALUATE.text]
}

/// Returns the question to the arbiter.
#[must_use]
pub fn arbiter_question(question: &Question, nonce: &str) -> String {
    let data = serde_json::to_string(question).unwrap_or_default();
    let names: Vec<String> = question
        .candidates()
        .iter()
        .map(|candidate| format!("`{}`", candidate.name))
        .collect();
    match question {
        Question::SelectAgent(_) => fill(
            &SELECT,
            &[
                ("nonce", nonce),
                ("names", &names.join(", ")),
                ("data", &data),
            ],
        ),
        Question::EvaluateProgress(_) => fill(&EVALUATE, &[("nonce", nonce), ("data", &data)]),
    }
}

/// What the arbiter gives guidance about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GuidePrompt<'a> {
    /// The task with all that the coder has to observe.
    pub task: &'a str,
    /// How often its work was rejected.
    pub rejections: u32,
    /// What was done so far, oldest first.
    pub history: &'a [Execution],
    /// Why the work was rejected, oldest first.
    pub reasons: &'a [String],
    /// What was said before, oldest first.
    pub earlier_guidance: &'a [String],
}

impl GuidePrompt<'_> {
    /// Returns the question.
    #[must_use]
    pub fn render(&self, nonce: &str) -> String {
        let data = serde_json::to_string(self).unwrap_or_default();
        let rejections = self.rejections.to_string();
        let values = [
            ("nonce", nonce),
            ("rejections", &rejections),
            ("data", &data),
        ];
        fill(&GUIDE, &values)
    }
}

/// Returns the question to a planner.
#[must_use]
pub fn plan_question(task: &str, nonce: &str) -> String {
    about_task(&PLAN, task, nonce)
}

/// Returns the question to a coder.
#[must_use]
pub fn work_question(task: &str, nonce: &str) -> String {
    about_task(&WORK, task, nonce)
}

fn about_task(template: &Template, task: &str, nonce: &str) -> String {
    fill(template, &[("nonce", nonce), ("task", task.trim())])
}
