//! Which moves a task can make, and what they lead to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::TaskState;

/// Something that is done with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// A coder begins.
    Start,
    /// The coder says that the work is done.
    Submit,
    /// The review approves the work.
    Approve,
    /// The review sends the work back.
    Reject,
    /// Approved work contradicts what was approved meanwhile: the coder does it again from there.
    StartOver,
    /// Coder and reviewer disagree.
    Dispute,
    /// A ruling sides with the coder: the work stands.
    RuleForCoder,
    /// A ruling sides with the reviewer or gives instructions of its own: the coder goes on.
    RuleAgainstCoder,
    /// A ruling sides with the coder, and nobody has begun: there is no work, so it is to be done.
    PutBack,
    /// It is not to be done.
    Skip,
    /// It cannot be done.
    Fail,
    /// It is to be done after all.
    Reopen,
}

impl Move {
    /// All moves.
    pub const ALL: [Self; 12] = [
        Self::Start,
        Self::Submit,
        Self::Approve,
        Self::Reject,
        Self::StartOver,
        Self::Dispute,
        Self::RuleForCoder,
        Self::RuleAgainstCoder,
        Self::PutBack,
        Self::Skip,
        Self::Fail,
        Self::Reopen,
    ];

    /// Returns what is done, as in "cannot be …".
    #[must_use]
    pub fn participle(self) -> &'static str {
        match self {
            Self::Start => "started",
            Self::Submit => "submitted",
            Self::Approve => "approved",
            Self::Reject => "rejected",
            Self::StartOver => "started over",
            Self::Dispute => "disputed",
            Self::RuleForCoder | Self::RuleAgainstCoder | Self::PutBack => "ruled on",
            Self::Skip => "skipped",
            Self::Fail => "failed",
            Self::Reopen => "reopened",
        }
    }
}

/// Why a move is not possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a task that is {from} cannot be {}: {why}", done.participle())]
pub struct Refusal {
    /// Where the task stands.
    pub from: TaskState,
    /// What was to be done.
    pub done: Move,
    /// Why not, as part of a sentence.
    pub why: &'static str,
}

/// Returns where `done` leads from `from`.
pub fn step(from: TaskState, done: Move) -> Result<TaskState, Refusal> {
    use Move::{
        Approve, Dispute, Fail, PutBack, Reject, Reopen, RuleAgainstCoder, RuleForCoder, Skip,
        Start, StartOver, Submit,
    };
    use TaskState::{Completed, Disputed, Failed, InProgress, InReview, Pending, Skipped};
    let refused = |why| Err(Refusal { from, done, why });
    match (done, from) {
        (Start, Pending) => Ok(InProgress),
        (Start, InProgress) => refused("somebody has started it"),
        (Start, InReview) => refused("its work waits for a review"),

        (Submit, InProgress) => Ok(InReview),
        (Submit, Pending) => refused("nobody has started it"),
        (Submit, InReview) => refused("its work was submitted before"),

        (Approve, InReview) => Ok(Completed),
        (Reject | StartOver, InReview) => Ok(InProgress),
        (Approve | Reject | StartOver, Pending | InProgress) => refused("no work was submitted"),

        (Dispute, Pending | InProgress | InReview) => Ok(Disputed),
        (Dispute, Disputed) => refused("a dispute about it is open"),

        (RuleForCoder, Disputed) => Ok(Completed),
        (RuleAgainstCoder, Disputed) => Ok(InProgress),
        (PutBack, Disputed) => Ok(Pending),
        (RuleForCoder | RuleAgainstCoder | PutBack, _) => refused("it is not disputed"),

        (Skip, Pending | InProgress | InReview | Failed) => Ok(Skipped),
        (Fail, Pending | InProgress | InReview) => Ok(Failed),

        (Reopen, Completed | Failed | Skipped) => Ok(Pending),
        (Reopen, Pending | InProgress | InReview) => refused("it is not settled"),

        (Start | Submit | Approve | Reject | StartOver | Skip | Fail | Reopen, Disputed) => {
            refused("the dispute about it must be resolved first")
        }
        (Start | Submit | Approve | Reject | StartOver | Dispute | Skip | Fail, Completed) => {
            refused("it is settled; reopen it first")
        }
        (Start | Submit | Approve | Reject | StartOver | Dispute | Fail, Failed)
        | (Start | Submit | Approve | Reject | StartOver | Dispute | Skip | Fail, Skipped) => {
            refused("it is settled; reopen it first")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_in_every_state() {
        let shown = |done| {
            let to = TaskState::ALL.map(|from| match step(from, done) {
                Ok(to) => format!("[{}]", to.marker()),
                Err(_) => " - ".to_owned(),
            });
            to.join(" ")
        };
        for (done, expected) in [
            //                        [ ] [-] [o] [x] [!] [F] [S]
            (Move::Start, "            [-]  -   -   -   -   -   - "),
            (Move::Submit, "            -  [o]  -   -   -   -   - "),
            (Move::Approve, "            -   -  [x]  -   -   -   - "),
            (Move::Reject, "            -   -  [-]  -   -   -   - "),
            (Move::StartOver, "            -   -  [-]  -   -   -   - "),
            (Move::Dispute, "            [!] [!] [!]  -   -   -   - "),
            (Move::RuleForCoder, "            -   -   -   -  [x]  -   - "),
            (
                Move::RuleAgainstCoder,
                "            -   -   -   -  [-]  -   - ",
            ),
            (Move::PutBack, "            -   -   -   -  [ ]  -   - "),
            (Move::Skip, "            [S] [S] [S]  -   -  [S]  - "),
            (Move::Fail, "            [F] [F] [F]  -   -   -   - "),
            (Move::Reopen, "             -   -   -  [ ]  -  [ ] [ ]"),
        ] {
            assert_eq!(shown(done).trim(), expected.trim(), "{done:?}");
        }
    }

    #[test]
    fn nothing_but_approval_and_a_ruling_completes_a_task() {
        for done in Move::ALL {
            for from in TaskState::ALL {
                if step(from, done) == Ok(TaskState::Completed) {
                    assert!(
                        matches!(done, Move::Approve | Move::RuleForCoder),
                        "{done:?} from {from}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_refusal_says_what_why_and_where_the_task_stands() {
        let refusal = step(TaskState::Pending, Move::Approve).expect_err("nothing to approve");
        assert_eq!(
            refusal.to_string(),
            "a task that is pending cannot be approved: no work was submitted"
        );
    }
}
