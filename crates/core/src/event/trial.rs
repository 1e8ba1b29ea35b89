//! What happens in a trial.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::ErrorClass;
use crate::ids::{AgentName, CaseId};
use crate::money::Cost;
use crate::trial::{Contestant, Decree, DesignedBy, Mode, Panel, Phase};
use crate::verdict::{Method, Points, Verdict};

/// A fact about a trial, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TrialEvent {
    /// A trial began.
    TrialOpened {
        /// The challenge in one line.
        challenge: String,
        /// What contestants hand in.
        mode: Mode,
        /// How scores become a verdict.
        method: Method,
        /// The trial from which it goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<CaseId>,
    },
    /// It was decided who takes part.
    ContestantsDesigned {
        /// Who.
        contestants: Vec<Contestant>,
        /// Who decided it.
        #[serde(flatten)]
        by: DesignedBy,
        /// What deciding it cost, also in vain; nothing when nobody was asked.
        cost: Option<Cost>,
    },
    /// A contestant began to answer.
    ContestantStarted {
        /// Its id.
        contestant: String,
        /// The agent that answers.
        agent: AgentName,
    },
    /// A contestant handed in its answer.
    ContestantFinished {
        /// Its id.
        contestant: String,
        /// Hash of what it handed in.
        output: String,
        /// Characters of its text.
        chars: u64,
        /// How many files it changed, in a trial of code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<u32>,
        /// Whether the project's tests pass with its changes, where they were run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tests_passed: Option<bool>,
        /// What it cost.
        cost: Cost,
    },
    /// A contestant handed nothing in. The others go on.
    ContestantFailed {
        /// Its id.
        contestant: String,
        /// Why, in one sentence.
        why: String,
        /// The class of the failure, where a run failed.
        class: Option<ErrorClass>,
        /// What it cost all the same.
        #[serde(default)]
        cost: Cost,
    },
    /// The arbiter began to design judges for the answers.
    ArbiterStarted {
        /// The agent; nothing when fixed rules decide.
        agent: Option<AgentName>,
        /// How many answers it sees.
        outputs: u32,
        /// What it does, in one sentence.
        message: String,
    },
    /// The judges were designed.
    PanelDesigned {
        /// Who sits, and why.
        panel: Panel,
        /// What designing cost, also in vain; nothing when nobody was asked.
        cost: Option<Cost>,
    },
    /// The judges were called together.
    JudgingStarted {
        /// Their ids and names.
        judges: BTreeMap<String, String>,
        /// Whether each is asked in both orders.
        swap: bool,
    },
    /// A judge began to score.
    JudgeStarted {
        /// Its id.
        judge: String,
        /// The agent that judges.
        agent: AgentName,
    },
    /// A judge scored every contestant.
    JudgeFinished {
        /// Its id.
        judge: String,
        /// The scores by contestant; of two orders their mean.
        scores: BTreeMap<String, Points>,
        /// Hash of the evaluation with its reasons.
        evaluation: String,
        /// Hash of the evaluation in reverse order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        swapped: Option<String>,
        /// What it cost.
        cost: Cost,
    },
    /// A judge did not score every contestant, and does not count.
    JudgeFailed {
        /// Its id.
        judge: String,
        /// Why, in one sentence.
        why: String,
        /// The class of the failure, where a run failed.
        class: Option<ErrorClass>,
        /// What it cost all the same.
        #[serde(default)]
        cost: Cost,
    },
    /// The scores became a verdict.
    VerdictReached {
        /// The outcome in one sentence.
        summary: String,
        /// The verdict with its doubt.
        verdict: Verdict,
    },
    /// The trial cannot go on by itself; resuming tries the phase again.
    TrialFailed {
        /// Where it failed.
        phase: Phase,
        /// Why, in one sentence.
        cause: String,
    },
    /// A person said what is done about the verdict.
    DecreeIssued {
        /// What.
        #[serde(flatten)]
        decree: Decree,
        /// A word on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A person said what turned out after the trial; the latest word holds.
    HindsightStated {
        /// Whose answer proved the best; nothing when nobody's did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contestant: Option<String>,
        /// A word on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

impl TrialEvent {
    /// The words in `type`.
    pub const TYPES: [&'static str; 15] = [
        "trial_opened",
        "contestants_designed",
        "contestant_started",
        "contestant_finished",
        "contestant_failed",
        "arbiter_started",
        "panel_designed",
        "judging_started",
        "judge_started",
        "judge_finished",
        "judge_failed",
        "verdict_reached",
        "trial_failed",
        "decree_issued",
        "hindsight_stated",
    ];

    /// Tells whether somebody begins to be heard with it.
    pub(crate) fn hears_somebody(&self) -> bool {
        matches!(
            self,
            Self::ContestantStarted { .. } | Self::JudgingStarted { .. }
        )
    }

    /// Returns the word in `type`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        let place = match self {
            Self::TrialOpened { .. } => 0,
            Self::ContestantsDesigned { .. } => 1,
            Self::ContestantStarted { .. } => 2,
            Self::ContestantFinished { .. } => 3,
            Self::ContestantFailed { .. } => 4,
            Self::ArbiterStarted { .. } => 5,
            Self::PanelDesigned { .. } => 6,
            Self::JudgingStarted { .. } => 7,
            Self::JudgeStarted { .. } => 8,
            Self::JudgeFinished { .. } => 9,
            Self::JudgeFailed { .. } => 10,
            Self::VerdictReached { .. } => 11,
            Self::TrialFailed { .. } => 12,
            Self::DecreeIssued { .. } => 13,
            Self::HindsightStated { .. } => 14,
        };
        Self::TYPES[place]
    }
}
