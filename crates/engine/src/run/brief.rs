//! What a coder or a planner is told about a task.

use std::fmt::Write as _;

use tribunal_core::arbiter::ExecutionResult;
use tribunal_core::task::Task;
use tribunal_core::task::plan::Plan;
use tribunal_core::task::source::{section_of, split_source};
use tribunal_core::text::truncate_chars;

use super::progress::Progress;
use crate::change::Repository;

/// How much of a source is shown, in characters.
const LONGEST_SOURCE: usize = 20_000;

/// Returns the text of a task for the arbiter: what it is, without what happened.
pub(super) fn outline(task: &Task) -> String {
    let mut text = task.brief.title.clone();
    if !task.brief.details.is_empty() {
        let _ = write!(text, "\n\n{}", task.brief.details);
    }
    if let Some(instructions) = &task.instructions {
        let _ = write!(text, "\n\nTo be observed: {instructions}");
    }
    text
}

/// Returns the text of a task for whoever works on it.
///
/// `hint` is what the arbiter said about the last attempt.
pub(super) fn whole(
    task: &Task,
    progress: &Progress,
    source: Option<&str>,
    hint: Option<&str>,
) -> String {
    let mut text = format!("Task: {}\n", task.brief.title);
    if !task.brief.details.is_empty() {
        let _ = write!(text, "\n{}\n", task.brief.details);
    }
    let mut part = |name: &str, body: &str| {
        let _ = write!(text, "\n## {name}\n\n{}\n", body.trim());
    };
    if let (Some(name), Some(source)) = (&task.brief.source, source) {
        part(&format!("What {name} says"), source);
    }
    if let Some(plan) = &progress.plan {
        part("The plan", &plan_text(plan));
    }
    if let Some(instructions) = &task.instructions {
        part("What binds you: the last rejection or ruling", instructions);
    }
    if let Some(why) = &progress.reopened {
        part("Why it is to be done after all", why);
    }
    if let Some(guided) = progress.guidance.last() {
        part("What the arbiter advises", &guided.coder);
    }
    let last = progress.round().last();
    if let Some(last) = last.filter(|last| is_failure(&last.result)) {
        part("What came of the last attempt", &last.summary);
    }
    let mut earlier = progress.round().iter().rev().skip(1);
    let tested = earlier.find(|one| matches!(one.result, ExecutionResult::Tested { .. }));
    if let Some(tested) = tested.filter(|_| progress.tests_failed()) {
        part(
            "What the tests say about the work as it is",
            &tested.summary,
        );
    }
    let unchanged = last.filter(|last| last.result == ExecutionResult::Unchanged);
    if let Some(last) = unchanged {
        let said = format!(
            "Nothing was changed. If the task is done already, say what shows that; otherwise do it.\n\n{}",
            last.summary
        );
        part("What came of the last attempt", &said);
    }
    if let Some(hint) = hint {
        part("What is to be done differently", hint);
    }
    text
}

fn is_failure(result: &ExecutionResult) -> bool {
    matches!(
        result,
        ExecutionResult::Tested { passed: false } | ExecutionResult::Failed { .. }
    )
}

fn plan_text(plan: &Plan) -> String {
    let mut text = String::new();
    for step in &plan.steps {
        let mark = if step.done { 'x' } else { ' ' };
        let _ = writeln!(text, "- [{mark}] {}: {}", step.id, step.title);
        for criterion in &step.acceptance {
            let _ = writeln!(text, "  - {criterion}");
        }
    }
    text
}

/// Returns the part of a document that a task names, as it stands in the commit `base`.
pub(super) fn source_text(repo: &Repository, base: &str, source: &str) -> String {
    let (file, heading) = split_source(source);
    let object = format!("{base}:{file}");
    let read = repo.call().args(["cat-file", "blob", &object]).output();
    let Ok(bytes) = read else {
        return format!("`{file}` is not in the project.");
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let text = match heading {
        None => text,
        Some(heading) => match section_of(&text, heading) {
            Some(section) => section,
            None => format!("`{file}` has no heading `{heading}`; all of it:\n\n{text}"),
        },
    };
    truncate_chars(&text, LONGEST_SOURCE).into_owned()
}
