//! Events: all that the outside can observe of a case. Stored first, then published.
//!
//! Their JSON form is part of the product: it is what `--format jsonl` prints, what the ledger
//! keeps and what a resumed case is rebuilt from. A snapshot test guards it.
//!
//! An area with many events has a family of its own, an enum in a file below `event/`. In JSON the
//! families lie side by side: the word in `type` tells which one an event belongs to.

mod arbitration;
mod dispute;
mod task;
mod trial;
mod work;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{Access, ErrorClass, Role};
use crate::case::{CaseKind, Outcome, Pause};
use crate::ids::{AgentName, CaseId, EffectKey, RunId, StepKey};
use crate::money::{Cost, Usage};
use crate::reply::Side;
use crate::review::gate::Gate;
use crate::review::history::TrackedFinding;
use crate::sandbox::{RefusedConnection, SandboxRecord};
use crate::scale::Severity;
use crate::time::Timestamp;

pub use arbitration::ArbitrationEvent;
pub use dispute::DisputeEvent;
pub use task::TaskEvent;
pub use trial::TrialEvent;
pub use work::WorkEvent;

impl EventKind {
    /// Returns what changed in the user's repository while a program ran, as a sentence without its
    /// end; nothing for other events.
    #[must_use]
    pub fn disturbance(&self) -> Option<String> {
        let Self::RepositoryDisturbed {
            who,
            places,
            more,
            spoils,
            ..
        } = self
        else {
            return None;
        };
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let places = format!("`{}`{more}", places.join("`, `"));
        Some(match spoils {
            true => format!(
                "{places} of your repository changed while {who} worked elsewhere, so what it said \
                 does not count; if that was not you, {who} wrote outside of its place"
            ),
            false => format!(
                "{places} of your own files changed while {who} worked elsewhere; if that was not \
                 you, {who} wrote outside of its place"
            ),
        })
    }
}

/// One fact about a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// The case it belongs to.
    pub case: CaseId,
    /// Its number within the case, from 1 and without gaps.
    pub seq: u64,
    /// When it was stored.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", remote = "Self")]
#[schemars(!remote)]
pub enum EventKind {
    /// A case began.
    CaseOpened {
        /// What kind of work it is.
        kind: CaseKind,
        /// One line that tells a person what it is about.
        title: String,
        /// The whole request, from which the case can be resumed.
        request: serde_json::Value,
    },
    /// A process took the case over from one that stopped.
    CaseResumed {
        /// The process, as named in its lease.
        holder: String,
        /// The generation of its lease; all its events carry it.
        generation: u64,
    },
    /// The case waits and can be resumed.
    CaseParked {
        /// Why it waits.
        why: Pause,
        /// When going on makes sense, if that is known.
        until: Option<Timestamp>,
    },
    /// The case ended.
    CaseClosed {
        /// How it ended.
        #[serde(flatten)]
        outcome: Outcome,
    },
    /// A durable step began, perhaps again after an interruption.
    StepStarted {
        /// Which step.
        step: StepKey,
    },
    /// A durable step ended; it is never run or paid for again.
    StepFinished {
        /// Which step.
        step: StepKey,
        /// Its result, given back when the case is resumed.
        output: serde_json::Value,
    },
    /// An agent was invoked. Stored before anything is spawned or sent.
    RunStarted {
        /// The identity of this invocation; its files are named after it.
        run: RunId,
        /// The step on whose behalf it runs.
        step: StepKey,
        /// Which agent.
        agent: AgentName,
        /// In which role.
        role: Role,
        /// Whose tool or API is used.
        provider: String,
        /// Which model, where it is configured.
        model: Option<String>,
        /// The model's family, by which agreement is counted.
        family: String,
        /// Whether it may change files.
        access: Access,
        /// Number of this run among the runs of its call, from 1.
        attempt: u32,
        /// Hash of the prompt file.
        prompt_hash: String,
        /// What held the program, where somebody asked for a sandbox.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<SandboxRecord>,
    },
    /// The user's repository changed while a program ran, and it was not us.
    RepositoryDisturbed {
        /// The run during which it happened.
        run: RunId,
        /// Who ran.
        who: String,
        /// What changed: files, refs, or files of the git directory.
        places: Vec<String>,
        /// How many places are not named.
        #[serde(default)]
        more: u32,
        /// Whether the run's answer does not count for it.
        spoils: bool,
    },
    /// A running agent showed a sign of life. Stored at most every few seconds per run.
    RunProgressed {
        /// Which run.
        run: RunId,
        /// What it is doing, such as `writing` or the name of a tool.
        activity: String,
        /// Characters of answer so far.
        chars: u64,
        /// Tokens so far, as far as the agent tells.
        usage: Usage,
        /// What they cost, if the agent has a price.
        #[serde(default, skip_serializing_if = "Cost::is_unknown")]
        cost: Cost,
    },
    /// An agent's invocation ended, well or not.
    RunFinished {
        /// Which run.
        run: RunId,
        /// How it went.
        #[serde(flatten)]
        result: RunResult,
        /// Tokens it used.
        usage: Usage,
        /// What it cost.
        cost: Cost,
        /// How long it took.
        elapsed_ms: u64,
        /// The agent's own session, by which a conversation could be continued.
        session: Option<String>,
        /// The model that answered, where the agent tells.
        answered_by: Option<String>,
        /// Version of the agent's program, where known.
        version: Option<String>,
        /// What its program asked the network for and did not get.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<RefusedConnection>,
    },
    /// A call failed and is run again after a pause.
    RunRetried {
        /// The run that failed.
        run: RunId,
        /// Why.
        class: ErrorClass,
        /// The pause before the next run.
        wait_ms: u64,
    },
    /// A provider's model was parked: nobody calls it before the pause is over.
    ProviderParked {
        /// Whose tool or API.
        provider: String,
        /// Which model; the provider's default when absent.
        model: Option<String>,
        /// Why.
        class: ErrorClass,
        /// When the pause is over; without it, when a run succeeds again or a human acts.
        until: Option<Timestamp>,
    },
    /// A parked provider may be called again.
    ProviderFreed {
        /// Whose tool or API.
        provider: String,
        /// Which model.
        model: Option<String>,
    },
    /// A change outside the ledger is about to be made.
    EffectIntended {
        /// What the action is; a repeat has the same key.
        effect: EffectKey,
        /// What will be done, in one line.
        what: String,
    },
    /// A change outside the ledger was made and its postcondition checked.
    EffectDone {
        /// The key of the intent.
        effect: EffectKey,
        /// What was found or made, such as a commit id or a content hash.
        evidence: String,
    },
    /// It was fixed what is under review, and by whom.
    ReviewOpened {
        /// The change in one line.
        change: String,
        /// Commit id of what is reviewed, where there is one.
        head: Option<String>,
        /// How many files reviewers see.
        files: u32,
        /// How many files are left out; the receipt says why.
        left_out: u32,
        /// Names of the panel.
        reviewers: Vec<String>,
    },
    /// A reviewer's answer to one part of the change was read.
    ReviewerHeard {
        /// Who.
        reviewer: String,
        /// Which part of the change, from 1.
        part: u32,
        /// How many parts there are.
        parts: u32,
        /// How many findings it reports there.
        findings: u32,
        /// What of the answer could not be used.
        problems: Vec<String>,
    },
    /// From a reviewer came no complete answer, and none is expected any more.
    ReviewerMissed {
        /// Who.
        reviewer: String,
        /// What happened, in one sentence.
        why: String,
    },
    /// A round of the debate began: reviewers are asked about findings that are contested.
    RoundOpened {
        /// Which round: 2 is examination, 3 is defence.
        round: u8,
        /// How many findings it is about.
        findings: u32,
        /// Names of those who are asked.
        reviewers: Vec<String>,
    },
    /// A reviewer's answer in a round of the debate was read.
    DebaterHeard {
        /// Which round.
        round: u8,
        /// Who.
        reviewer: String,
        /// How many findings it was asked about.
        asked: u32,
        /// What it says, such as two `agree` and one `concede`, with the count of each word.
        said: std::collections::BTreeMap<String, u32>,
        /// What of the answer could not be used.
        problems: Vec<String>,
    },
    /// From a reviewer came no usable answer in a round of the debate: it abstains.
    DebaterMissed {
        /// Which round.
        round: u8,
        /// Who.
        reviewer: String,
        /// What happened, in one sentence.
        why: String,
    },
    /// A judge weighed the evidence about a finding that stayed contested.
    EvidenceWeighed {
        /// Who.
        judge: String,
        /// The finding in one line.
        finding: String,
        /// Which side has the better evidence.
        side: Side,
        /// The severity that it bears out, where that was the question.
        severity: Option<Severity>,
    },
    /// The findings of a review were settled and its gate decided.
    ReviewSettled {
        /// How many findings stand.
        accepted: u32,
        /// How many nobody could settle.
        disputed: u32,
        /// How many fell.
        rejected: u32,
        /// What it means for a script.
        #[serde(flatten)]
        gate: Gate,
        /// Hash of the stored report.
        report: String,
    },
    /// How findings stand after a review.
    FindingsTracked {
        /// Those that were seen or found to be fixed.
        findings: Vec<TrackedFinding>,
    },
    /// The files of the runs before this event were collected to make room. The events stay.
    FilesCollected {
        /// How many runs lost their prompts, outputs and answers.
        runs: u32,
        /// The room they took up on disk, in bytes.
        bytes: u64,
        /// Why they could go, as part of a sentence.
        why: String,
    },
    /// Something the user should know, that changed nothing.
    Noted {
        /// The sentence shown.
        text: String,
    },
    /// Something happened in the arbitration of a review.
    #[serde(skip)]
    #[schemars(!skip, untagged)]
    Arbitration(ArbitrationEvent),
    /// Something happened to a task or a section.
    #[serde(skip)]
    #[schemars(!skip, untagged)]
    Task(TaskEvent),
    /// Something happened in the work on a task or in the loop.
    #[serde(skip)]
    #[schemars(!skip, untagged)]
    Work(WorkEvent),
    /// Something happened in a dispute.
    #[serde(skip)]
    #[schemars(!skip, untagged)]
    Dispute(DisputeEvent),
    /// Something happened in a trial.
    #[serde(skip)]
    #[schemars(!skip, untagged)]
    Trial(TrialEvent),
}

impl From<TrialEvent> for EventKind {
    fn from(event: TrialEvent) -> Self {
        Self::Trial(event)
    }
}

impl From<ArbitrationEvent> for EventKind {
    fn from(event: ArbitrationEvent) -> Self {
        Self::Arbitration(event)
    }
}

impl From<TaskEvent> for EventKind {
    fn from(event: TaskEvent) -> Self {
        Self::Task(event)
    }
}

impl From<WorkEvent> for EventKind {
    fn from(event: WorkEvent) -> Self {
        Self::Work(event)
    }
}

impl From<DisputeEvent> for EventKind {
    fn from(event: DisputeEvent) -> Self {
        Self::Dispute(event)
    }
}

impl Serialize for EventKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Arbitration(event) => event.serialize(serializer),
            Self::Task(event) => event.serialize(serializer),
            Self::Work(event) => event.serialize(serializer),
            Self::Dispute(event) => event.serialize(serializer),
            Self::Trial(event) => event.serialize(serializer),
            _ => Self::serialize(self, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EventKind {
    /// Reads an event of the family that its `type` names, so that an error is about that family.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let word = value.get("type").and_then(serde_json::Value::as_str);
        let is_of = |family: &[&str]| word.is_some_and(|word| family.contains(&word));
        let read = if is_of(&ArbitrationEvent::TYPES) {
            serde_json::from_value(value).map(Self::Arbitration)
        } else if is_of(&TaskEvent::TYPES) {
            serde_json::from_value(value).map(Self::Task)
        } else if is_of(&WorkEvent::TYPES) {
            serde_json::from_value(value).map(Self::Work)
        } else if is_of(&DisputeEvent::TYPES) {
            serde_json::from_value(value).map(Self::Dispute)
        } else if is_of(&TrialEvent::TYPES) {
            serde_json::from_value(value).map(Self::Trial)
        } else {
            Self::deserialize(value)
        };
        read.map_err(serde::de::Error::custom)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum RunResult {
    /// A usable answer came.
    Answered {
        /// Hash of the answer, which lies in the run's files.
        reply_hash: String,
        /// Characters of the answer.
        reply_chars: u64,
    },
    /// No usable answer came.
    Failed {
        /// Why.
        class: ErrorClass,
        /// What happened, in one sentence, without secrets.
        message: String,
    },
    /// The process that waited for it died; whether the agent was paid is unknown.
    Abandoned,
}
