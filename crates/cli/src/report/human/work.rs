//! What the loop does, in sentences.

use tribunal_core::arbiter::{Execution, ExecutionResult, Source};
use tribunal_core::event::WorkEvent;
use tribunal_core::text::truncate_chars;
use tribunal_engine::arbiter::NO_ARBITER;

use super::words;

/// Returns the sentence for an event, or nothing when it is not worth one.
pub(super) fn sentence(event: &WorkEvent) -> Option<String> {
    Some(match event {
        WorkEvent::ArbiterDecided {
            question,
            decision,
            source,
            ..
        } => {
            let by = source_words(source);
            // Who decided is said before.
            let reason = decision.reason().trim_end_matches(" (fallback)");
            format!("arbiter, {question}: {decision} ({by}): {reason}")
        }
        WorkEvent::WorkBased { base } => {
            format!("work starts from {}", truncate_chars(base, 12))
        }
        WorkEvent::PlanMade { plan } => {
            let steps: Vec<&str> = plan.steps.iter().map(|step| step.title.as_str()).collect();
            format!("plan {}: {}", plan.version, steps.join("; "))
        }
        WorkEvent::PlanAdvanced { plan } => {
            let done = plan.steps.iter().filter(|step| step.done).count();
            format!("{done} of {} steps of the plan are done", plan.steps.len())
        }
        WorkEvent::ExecutionDone { execution } => execution_words(execution),
        WorkEvent::TaskReviewed { review, gate, .. } => format!("review {review}: {gate}"),
        WorkEvent::GuidanceGiven {
            rejections,
            coder,
            source,
            ..
        } => {
            let by = source_words(source);
            let rejections = words::count(*rejections, "rejection");
            format!("guidance after {rejections} ({by}): {coder}")
        }
        WorkEvent::TaskTaken {
            task, title, turn, ..
        } => format!("{turn} {task}: {title}"),
        WorkEvent::TaskLeft {
            task,
            title,
            state,
            why,
            ..
        } => {
            let why = why.as_ref().map(|why| format!(": {why}"));
            let marker = state.marker();
            format!("[{marker}] {task}, {title}{}", why.unwrap_or_default())
        }
        WorkEvent::CameLate { task, run, .. } => format!(
            "run {run} answered after another runner had taken {task}; it counts for nothing"
        ),
        WorkEvent::CapSet { max_cost } => format!("it may cost {max_cost} in all"),
        WorkEvent::LoopEnded { why, settled } => {
            format!("{} settled; {why}", words::count(*settled, "task"))
        }
    })
}

fn execution_words(execution: &Execution) -> String {
    let Execution {
        iteration,
        mode,
        result,
        summary,
    } = execution;
    let what = match result {
        ExecutionResult::Planned { steps } => format!("planned {}", words::count(*steps, "step")),
        ExecutionResult::Worked { files } => format!("changed {}", files.join(", ")),
        ExecutionResult::Unchanged => "changed nothing".to_owned(),
        ExecutionResult::Tested { passed: true } => "the tests passed".to_owned(),
        ExecutionResult::Tested { passed: false } => "the tests failed".to_owned(),
        ExecutionResult::Rejected { open } => {
            format!("rejected, {}", words::open_findings(*open))
        }
        ExecutionResult::Failed { class } => format!("failed ({class})"),
    };
    let summary = truncate_chars(summary, 200);
    format!("{iteration}. {mode}: {what}. {summary}")
}

fn source_words(source: &Source) -> String {
    match source {
        Source::Rule { rule, .. } => format!("rule {rule}"),
        Source::Cache => "as before".to_owned(),
        Source::Model { .. } => "model".to_owned(),
        Source::Fallback { because } if because == NO_ARBITER => "by default".to_owned(),
        Source::Fallback { because } => format!("fallback, {because}"),
    }
}
