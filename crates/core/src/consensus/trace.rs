//! The calculation behind a confidence, line by line, so that anybody can add it up again.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scale::Confidence;

/// All lines of one calculation. Their sum is the confidence.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Trace {
    lines: Vec<TraceLine>,
}

/// One line of a calculation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceLine {
    /// What moved the confidence.
    pub step: Step,
    /// How far.
    pub amount: i32,
}

/// What moves a confidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// As stated by its only voice, or by default.
    Original,
    /// The highest of those that agree.
    Highest,
    /// That of the side with the better evidence.
    Winner,
    /// The average of sides that are both partly right.
    Average,
    /// The lowest of those in an open conflict.
    Lowest,
    /// First seen in round 2.
    LateObservation,
    /// What reviewers state about themselves counts in part.
    Calibration,
    /// The code it points at was checked.
    Grounding,
    /// It is about things that happen at the same time.
    Concurrency,
    /// It says that code does something other than it should.
    Contradiction,
    /// It says what will happen.
    Consequence,
    /// It names code by its identifiers.
    NamesCode,
    /// It asks for tests, comments, names or speed.
    Housekeeping,
    /// It has few words.
    Brief,
    /// It does not say where.
    Unlocated,
    /// How many other findings its reviewer has.
    Verbosity,
    /// How many findings the review has in all.
    Crowding,
    /// Past rulings about its reviewer.
    Record,
    /// Several voices say the same.
    Agreement,
    /// The voices use the same words.
    Closeness,
    /// The other voices stand on weaker evidence than the strongest.
    OtherVoices,
    /// Somebody else says something similar beside it, so it is less certain what was agreed.
    Rivals,
    /// One voice alone says it.
    SingleSource,
    /// It was contested, whoever prevailed.
    #[serde(alias = "conflict_won")]
    Conflict,
    /// What one family of reviewers asked for in round 2.
    Adjustment(
        /// The family.
        String,
    ),
    /// The count of stances in round 2.
    CrossExamination,
    /// The author's plea in round 3.
    Defense,
    /// A published advisory confirms it.
    Advisory,
    /// A finding that was merged into it is surer.
    SurerPart,
    /// What lies beyond 0 or 100 is cut off.
    Clamp,
}

impl Step {
    /// Returns the words that stand beside the number.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Original => "original",
            Self::Highest => "highest original",
            Self::Winner => "original of the stronger side",
            Self::Average => "average original",
            Self::Lowest => "lowest original",
            Self::LateObservation => "first seen in round 2",
            Self::Calibration => "calibration",
            Self::Grounding => "grounding",
            Self::Concurrency => "about concurrency",
            Self::Contradiction => "contradicts its purpose",
            Self::Consequence => "says what will happen",
            Self::NamesCode => "names the code",
            Self::Housekeeping => "housekeeping",
            Self::Brief => "few words",
            Self::Unlocated => "no place",
            Self::Verbosity => "length of the reviewer's list",
            Self::Crowding => "findings in all",
            Self::Record => "reviewer's record",
            Self::Agreement => "agreement",
            Self::Closeness => "closeness of wording",
            Self::OtherVoices => "evidence of the other voices",
            Self::Rivals => "similar findings beside it",
            Self::SingleSource => "single source",
            Self::Conflict => "conflict",
            Self::Adjustment(family) => family,
            Self::CrossExamination => "cross-examination",
            Self::Defense => "defense",
            Self::Advisory => "advisory",
            Self::SurerPart => "surer part",
            Self::Clamp => "clamp",
        }
    }
}

impl Trace {
    /// Adds a line.
    pub fn push(&mut self, step: Step, amount: i32) {
        if self.lines.is_empty() {
            // Most have two lines, and there may be a million of them.
            self.lines.reserve_exact(2);
        }
        self.lines.push(TraceLine { step, amount });
    }

    /// Adds a line unless it would say nothing.
    pub(crate) fn push_nonzero(&mut self, step: Step, amount: i32) {
        if amount != 0 {
            self.push(step, amount);
        }
    }

    /// Returns the lines in the order in which they were counted.
    #[must_use]
    pub fn lines(&self) -> &[TraceLine] {
        &self.lines
    }

    /// Returns the sum of all lines.
    #[must_use]
    pub fn sum(&self) -> i32 {
        self.lines
            .iter()
            .fold(0, |sum, line| sum.saturating_add(line.amount))
    }

    /// Ends the calculation: a sum beyond the scale is cut off by a line of its own.
    pub fn close(&mut self) -> Confidence {
        let sum = self.sum();
        let confidence = Confidence::clamped(sum);
        self.push_nonzero(Step::Clamp, i32::from(confidence.get()) - sum);
        confidence
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.lines.iter().enumerate() {
            let words = line.step.words();
            match (index, line.amount < 0) {
                (0, _) => write!(f, "{} ({words})", line.amount)?,
                (_, true) => write!(f, " - {} ({words})", line.amount.unsigned_abs())?,
                (_, false) => write!(f, " + {} ({words})", line.amount)?,
            }
        }
        write!(f, " = {}", self.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_reads_as_a_sum_and_shows_the_clamp() {
        let mut trace = Trace::default();
        trace.push(Step::Highest, 95);
        trace.push(Step::Agreement, 15);
        trace.push_nonzero(Step::Defense, 0);
        assert_eq!(trace.close(), Confidence::FULL);
        assert_eq!(
            trace.to_string(),
            "95 (highest original) + 15 (agreement) - 10 (clamp) = 100"
        );
    }
}
