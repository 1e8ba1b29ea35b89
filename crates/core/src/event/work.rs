//! What the loop does for a task, and what it does as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arbiter::{Decision, Execution, QuestionKind, Source};
use crate::ids::{CaseId, RunId};
use crate::money::{MicroUsd, Spend};
use crate::review::gate::Gate;
use crate::task::TaskState;
use crate::task::next::Turn;
use crate::task::plan::Plan;

/// What happened in the work on a task or in the loop, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WorkEvent {
    /// The arbiter decided about procedure.
    ArbiterDecided {
        /// What was asked.
        question: QuestionKind,
        /// What it decided, and why.
        #[serde(flatten)]
        decision: Decision,
        /// Who decided.
        #[serde(flatten)]
        source: Source,
        /// Hash of the normalized question, the policy and the words of the prompts.
        key: String,
    },
    /// It was fixed from which commit the work on a task starts.
    WorkBased {
        /// The commit.
        base: String,
    },
    /// A plan was made; an older one stays in the record.
    PlanMade {
        /// The plan.
        plan: Plan,
    },
    /// Steps of the plan were called done.
    PlanAdvanced {
        /// The plan as it stands.
        plan: Plan,
    },
    /// Something was done for a task.
    ExecutionDone {
        /// What, by whom, and what came of it.
        execution: Execution,
    },
    /// The work on a task was reviewed.
    TaskReviewed {
        /// The case of the review.
        review: CaseId,
        /// The commit that was reviewed.
        commit: String,
        /// What it came to.
        #[serde(flatten)]
        gate: Gate,
    },
    /// After repeated rejections both sides were told how to go on.
    GuidanceGiven {
        /// After how many rejections.
        rejections: u32,
        /// What the coder was told.
        coder: String,
        /// What the reviewers were told.
        reviewer: String,
        /// Who gave it.
        #[serde(flatten)]
        source: Source,
    },
    /// The loop took a task.
    TaskTaken {
        /// Which one.
        task: CaseId,
        /// Its title.
        title: String,
        /// What is to be done with it.
        turn: Turn,
        /// In which lane of the loop, from 1.
        #[serde(alias = "worker")]
        lane: u32,
        /// What the task had cost before, with its reviews and disputes.
        #[serde(default)]
        before: Spend,
    },
    /// The loop left a task.
    TaskLeft {
        /// Which one.
        task: CaseId,
        /// Its title.
        title: String,
        /// Where it stands.
        state: TaskState,
        /// Why it was left although it is not settled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        /// What the task had cost by then, with its reviews and disputes.
        #[serde(default)]
        after: Spend,
    },
    /// An agent answered after its task had gone to another runner. It counts for nothing.
    CameLate {
        /// The task.
        task: CaseId,
        /// The run that answered.
        run: RunId,
        /// Hash of its reply, which lies in the files of the run.
        reply_hash: String,
        /// The commit with what it wrote, if it was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// A person said anew what the run may cost, all that it has cost before included.
    CapSet {
        /// The most that it may cost.
        max_cost: MicroUsd,
    },
    /// The loop came to its end.
    LoopEnded {
        /// Why, in one sentence.
        why: String,
        /// How many tasks it settled.
        settled: u32,
    },
}

impl WorkEvent {
    /// The words of `type` in this family.
    pub const TYPES: [&'static str; 12] = [
        "arbiter_decided",
        "work_based",
        "plan_made",
        "plan_advanced",
        "execution_done",
        "task_reviewed",
        "guidance_given",
        "task_taken",
        "task_left",
        "came_late",
        "cap_set",
        "loop_ended",
    ];
}
