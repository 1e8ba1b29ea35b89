//! Disputes: a disagreement on record with both positions, and what settles it.
//!
//! [`Dispute`] is the record, [`Dispute::apply`] the only way it changes. A change comes back with
//! its [`Effect`]s as data; the engine carries them out.

mod alert;
pub mod file;
mod machine;
pub mod panel;
mod party;
mod precedent;
mod refusal;
mod ruling;
mod terms;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{CaseId, DisputeId};
use crate::review::history::TrackedFinding;
use crate::task::Actor;
use crate::time::Timestamp;

pub use alert::Alerts;
pub use machine::{Effect, TaskChange};
pub use party::{Evidence, EvidenceCheck, EvidenceKind, Objection, Party, Position};
pub use precedent::Precedent;
pub use refusal::Refusal;
pub use ruling::{Answer, Chooser, Decision, Hearing, JudgeNamed, Recourse, Ruler, Ruling};
pub use terms::{Basis, Terms, last_day, read_expiry};
pub use words::{Gravity, Grounds, Origin, Status};

/// What a dispute is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum Subject {
    /// A finding of a review.
    Finding {
        /// The review.
        review: CaseId,
        /// The finding as it was when the dispute began.
        finding: Box<TrackedFinding>,
    },
    /// A task as a whole.
    Task {
        /// Its id.
        task: String,
        /// Its title.
        title: String,
    },
}

impl Subject {
    /// Returns what it is about, in one line.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Finding { finding, .. } => &finding.title,
            Self::Task { title, .. } => title,
        }
    }

    /// Returns the id of the task, if it is about one.
    #[must_use]
    pub fn task(&self) -> Option<&str> {
        match self {
            Self::Finding { .. } => None,
            Self::Task { task, .. } => Some(task),
        }
    }

    /// Returns the finding, if it is about one.
    #[must_use]
    pub fn finding(&self) -> Option<&TrackedFinding> {
        match self {
            Self::Finding { finding, .. } => Some(finding),
            Self::Task { .. } => None,
        }
    }

    /// Returns the name of the subject as commands take it: a task's id, a finding's short name.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::Finding { finding, .. } => finding.id(),
            Self::Task { task, .. } => task.clone(),
        }
    }
}

/// With what a dispute begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Opening {
    /// The caller's name for it; a second dispute of that name is never opened.
    pub key: String,
    /// What it is about.
    pub subject: Subject,
    /// Where it came from.
    pub origin: Origin,
    /// Whether it needs a ruling.
    pub gravity: Gravity,
    /// The kind of reason.
    pub grounds: Grounds,
    /// Why the coder objects, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objection: Option<Objection>,
    /// What the coder's side argues, if it has spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coder: Option<Position>,
    /// What the reviewer's side argues, if it has spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<Position>,
    /// What is brought forward, with what the program found when it looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Files that it concerns, from the root of the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Hash of the stored code that a judge is shown; nothing when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// What was noted when it was opened.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// Who opened it; ledgers of version 0.1.0 do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Actor>,
    /// The rule that reported the finding; empty unless a built-in rule or a linter did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
}

impl Opening {
    /// Returns who opened it. Where the record does not say, the side that began tells.
    #[must_use]
    pub fn opener(&self) -> Actor {
        if let Some(actor) = &self.created_by {
            return actor.clone();
        }
        let (party, position) = match self.origin {
            Origin::Objection => (Party::Coder, &self.coder),
            Origin::Rejection => (Party::Reviewer, &self.reviewer),
            Origin::Deadlock | Origin::SplitReview | Origin::System => return Actor::System,
            Origin::Minor => return Actor::Human { name: None },
        };
        match position {
            Some(position) if position.author != "human" => {
                Actor::named(party.as_str(), &position.author, position.model.as_deref())
            }
            Some(_) | None => Actor::Human { name: None },
        }
    }

    /// Returns what an objection lacks: it brings no evidence, or none that holds.
    #[must_use]
    pub fn lack_of_evidence(&self) -> Option<&'static str> {
        let evidence = self.evidence.iter().filter(|one| one.from == Party::Coder);
        match self.origin {
            Origin::Objection => lack_of_evidence(evidence),
            _ => None,
        }
    }
}

/// Returns what the evidence of an objection lacks; nothing when a piece of it may hold.
pub fn lack_of_evidence<'a>(
    evidence: impl IntoIterator<Item = &'a Evidence>,
) -> Option<&'static str> {
    let (mut is_empty, mut is_unrelated) = (true, false);
    for piece in evidence {
        is_empty = false;
        match piece.check {
            EvidenceCheck::Unchecked | EvidenceCheck::Confirmed => return None,
            EvidenceCheck::Unrelated { .. } => is_unrelated = true,
            EvidenceCheck::Refuted { .. } => {}
        }
    }
    Some(match (is_empty, is_unrelated) {
        (true, _) => "the objection brings no evidence",
        (false, true) => "no evidence of the objection holds and bears on the place",
        (false, false) => "the program refuted all evidence of the objection",
    })
}

/// A task that a dispute about a finding of its work holds up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Referral {
    /// The task's id.
    pub task: String,
    /// Its title.
    pub title: String,
    /// Other disputes about the same work that must be settled before the task moves, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<DisputeId>,
    /// What the coder has to do whatever this dispute comes to; empty when nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rest: String,
}

/// Where a dispute stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum DisputeState {
    /// One side has not spoken yet. It is asked for, never guessed.
    AwaitingPosition {
        /// Whose position is missing.
        from: Party,
    },
    /// Both sides have spoken; nobody has been asked to rule.
    Open,
    /// It was given to a judge, who has not ruled yet.
    BeforeJudge,
    /// A person must rule.
    AwaitingHuman {
        /// Why a person is asked.
        question: String,
    },
    /// It was ruled. Only a person can change that.
    Ruled,
    /// It was only noted: a minor dispute needs nobody.
    Noted,
}

impl DisputeState {
    /// Returns the short word for it.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::AwaitingPosition { .. }
            | Self::Open
            | Self::BeforeJudge
            | Self::AwaitingHuman { .. } => Status::Open,
            Self::Ruled => Status::Resolved,
            Self::Noted => Status::Noted,
        }
    }
}

/// A disagreement on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dispute {
    /// Its identity.
    pub id: DisputeId,
    /// With what it began.
    #[serde(flatten)]
    pub opening: Opening,
    /// Where it stands.
    #[serde(flatten)]
    pub state: DisputeState,
    /// How it is to be settled, as far as that was chosen.
    pub recourse: Option<Recourse>,
    /// What judges answered, in order.
    pub hearings: Vec<Hearing>,
    /// The rulings, in order; the last one holds.
    pub rulings: Vec<Ruling>,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// Whether its ruling serves as a precedent no more.
    pub precedent_dropped: bool,
    /// What was tried to tell that it is stale.
    pub alerts: Alerts,
    /// The task that it holds up although it is about a finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referral: Option<Referral>,
}

impl Dispute {
    /// Returns the ruling that holds.
    #[must_use]
    pub fn ruling(&self) -> Option<&Ruling> {
        self.rulings.last()
    }

    /// Returns what a side argues, if it has spoken.
    #[must_use]
    pub fn position(&self, party: Party) -> Option<&Position> {
        match party {
            Party::Coder => self.opening.coder.as_ref(),
            Party::Reviewer => self.opening.reviewer.as_ref(),
        }
    }

    /// Returns the id of the task that it holds up: its subject, or that of the finding's work.
    #[must_use]
    pub fn task(&self) -> Option<&str> {
        let referred = self.referral.as_ref().map(|one| one.task.as_str());
        self.opening.subject.task().or(referred)
    }

    /// Returns the short word for where it stands.
    #[must_use]
    pub fn status(&self) -> Status {
        self.state.status()
    }

    /// Returns for how many whole days it has been open; nothing when it is not.
    #[must_use]
    pub fn days_open(&self, now: Timestamp) -> Option<u64> {
        let open = self.status() == Status::Open;
        open.then(|| now.days_since(self.opened_at))
    }
}
