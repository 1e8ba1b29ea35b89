//! What the consensus says: every group of findings with its verdict, reasons and calculation.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ordered::Ordered;
use super::trace::Trace;
use crate::finding::Finding;
use crate::reply::Side;
use crate::review::{Defense, Examination};
use crate::scale::{Confidence, Severity};

/// The settled review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// All findings once, in their canonical order; groups refer to them by index.
    pub findings: Ordered<Finding>,
    /// Every group, sorted for reading: by verdict, severity, confidence, agreement, place.
    pub groups: Ordered<Group>,
    /// Who sat on the panel, sorted by name.
    pub panel: Vec<Reviewer>,
    /// Members of the panel from whom nothing came.
    pub silent: Vec<String>,
    /// The examinations that were counted.
    pub examinations: Vec<Examination>,
    /// The defenses that were counted.
    pub defenses: Vec<Defense>,
    /// What could not be used, and why.
    pub problems: Vec<String>,
    /// How many security findings were checked against advisories.
    pub advisories_checked: u32,
    /// How many findings were first reported in round 2.
    pub new_observations: u32,
}

/// A member of the panel.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Reviewer {
    /// Its name.
    pub name: String,
    /// Its model family; empty when nobody said.
    #[serde(default)]
    pub family: String,
}

/// Findings that one fix would resolve, and what was decided about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its findings by index, the lead first.
    pub members: Vec<u32>,
    /// In which list it ends.
    pub verdict: Verdict,
    /// How the voices relate.
    pub kind: Kind,
    /// How much agreement carries it.
    pub agreement: Agreement,
    /// The severity agreed upon.
    pub severity: Severity,
    /// The severity that decides whether it blocks: that of its gravest voice, unless a judge, an
    /// advisory or the median of three families says less. Thin evidence never lowers it.
    pub gravity: Severity,
    /// The final confidence; equal to the sum of the trace.
    pub confidence: Confidence,
    /// How the confidence came about.
    pub trace: Trace,
    /// Why it was decided so, in the order of the phases.
    pub notes: Vec<Note>,
    /// The validation score of a finding with one voice.
    pub score: Option<Score>,
    /// How many families stand by it.
    pub voices: u32,
    /// The member whose description is the most detailed.
    pub described_by: u32,
    /// The member whose suggestion is the most actionable.
    pub suggested_by: u32,
    /// The description that an author put in place of the first one.
    pub revised_description: Option<String>,
    /// The counted examinations of its members, by index.
    pub examinations: Vec<u32>,
    /// The counted defenses of its members, by index.
    pub defenses: Vec<u32>,
    /// Whether a human must look at it now.
    pub escalate: bool,
    /// The leads of the other groups with the same root cause elsewhere. A link is not agreement.
    pub linked: Vec<u32>,
}

impl Group {
    /// Returns the index of the lead.
    #[must_use]
    pub fn lead(&self) -> u32 {
        self.members.first().copied().unwrap_or_default()
    }
}

/// The points by which a finding of one voice is validated, part by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Score {
    /// For how sure its reviewer is: 0 to 3.
    pub confidence: i8,
    /// For what it cites and names: 1 to 3.
    pub evidence: i8,
    /// Severity against confidence: -2 for a critical claim of little, 1 for a low one of much.
    pub severity: i8,
    /// For a known pattern, 2, and against bad advice, -1.
    pub practice: i8,
}

impl Score {
    /// Returns the sum.
    #[must_use]
    pub fn total(self) -> i32 {
        let parts = [self.confidence, self.evidence, self.severity, self.practice];
        parts.into_iter().map(i32::from).sum()
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (confidence, evidence) = (self.confidence, self.evidence);
        write!(
            f,
            "{} = confidence {confidence} + evidence {evidence}",
            self.total()
        )?;
        for (words, part) in [
            ("severity against confidence", self.severity),
            ("known practice", self.practice),
        ] {
            match part {
                0 => {}
                1.. => write!(f, " + {words} {part}")?,
                _ => write!(f, " - {words} {}", part.unsigned_abs())?,
            }
        }
        Ok(())
    }
}

/// What scrutiny asks about a weakly supported finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Criteria {
    /// It names code and problem.
    pub specific: bool,
    /// It names what makes it happen.
    pub reproducible: bool,
    /// It would matter to users.
    pub consequential: bool,
    /// It says what to do about the cause.
    pub actionable: bool,
}

impl Criteria {
    /// Returns how many of the four are met.
    #[must_use]
    pub fn met(self) -> u8 {
        let met = [
            self.specific,
            self.reproducible,
            self.consequential,
            self.actionable,
        ];
        met.into_iter().map(u8::from).sum()
    }

    /// Returns what is missing, a few words each.
    #[must_use]
    pub fn missing(self) -> Vec<&'static str> {
        let asked = [
            (self.specific, "specificity (code and problem)"),
            (self.reproducible, "reproducibility (a trigger)"),
            (self.consequential, "impact (on users)"),
            (self.actionable, "actionability (a fix of the cause)"),
        ];
        let missing = asked.into_iter().filter(|(met, _)| !met);
        missing.map(|(_, words)| words).collect()
    }
}

/// In which list a finding ends.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It stands.
    Accepted,
    /// Nobody could settle it.
    Disputed,
    /// It falls.
    Rejected,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accepted => "accepted",
            Self::Disputed => "disputed",
            Self::Rejected => "rejected",
        })
    }
}

/// How the voices of a group relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Two or more say the same.
    Agreed,
    /// They contradict each other.
    Conflicted(Conflict),
    /// One voice alone.
    Unique,
}

/// What voices contradict each other about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conflict {
    /// The same problem, severities far apart.
    Severity,
    /// One says it is a problem, another that it is none.
    Validity,
    /// The same place, different diagnoses.
    RootCause,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Severity => "severity",
            Self::Validity => "validity",
            Self::RootCause => "root cause",
        })
    }
}

/// How much agreement carries a finding, the strongest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Every family of the panel.
    Unanimous,
    /// Two or more families, not all.
    Majority,
    /// One side of a conflict.
    #[serde(rename = "conflict-resolved")]
    Resolved,
    /// One family.
    #[serde(rename = "single-source-validated")]
    SingleSource,
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unanimous => "unanimous",
            Self::Majority => "majority",
            Self::Resolved => "conflict-resolved",
            Self::SingleSource => "single-source-validated",
        })
    }
}

/// Why something was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The voices contradict each other and one side has clearly better evidence.
    ConflictWon {
        /// What about.
        about: Conflict,
        /// The families that said otherwise.
        dissent: Vec<String>,
    },
    /// Both sides may be partly right; their findings were put together.
    ConflictMerged(Conflict),
    /// The evidence is balanced.
    ConflictOpen(Conflict),
    /// Those who say that it is no problem have clearly better evidence.
    ConflictLost,
    /// The families that call it no problem while it stays open.
    Dissent(Vec<String>),
    /// A judge weighed the evidence.
    Judged {
        /// Who.
        judge: String,
        /// Which side has the better evidence.
        side: Side,
        /// The severity that it bears out, where that was the question.
        severity: Option<Severity>,
        /// Why.
        reason: String,
    },
    /// Too few points for a claim that nobody else makes.
    TooFewPoints,
    /// Accepted although only one voice says so and its evidence is thin.
    ThinSingleSource,
    /// A critical claim of little confidence.
    ExtraordinaryClaim,
    /// Too little confidence is left to accept it.
    LittleConfidence,
    /// Scrutiny found it weak, and the severity dropped.
    Lowered(Criteria),
    /// Scrutiny found too little to hold on to.
    FailedScrutiny(Criteria),
    /// The author took it back and the examination speaks against it.
    Withdrawn,
    /// The author took it back, others still support it.
    ConcededButSupported,
    /// The author took it back, nobody else spoke.
    Conceded,
    /// Some of its authors took it back, others stand by it.
    PartlyConceded(Vec<String>),
    /// Rejected on its points, but others support it.
    SupportedInRound2,
    /// The debate left little confidence.
    PushedDown,
    /// A critical finding of one family without the evidence that this takes.
    CriticalUnproven,
    /// The code that it points at does not exist.
    Ungrounded,
    /// An advisory confirms it.
    AdvisoryConfirms(String),
    /// An advisory says that the version in use is patched.
    AdvisoryPatched(String),
    /// Three families or more rated it, and their median is lower than what these say.
    Outvoted(Vec<String>),
    /// Other findings, as many as this, have the same root cause. Each keeps its own verdict.
    SameRootCause(u32),
    /// A finding that says a part of the same was merged into it.
    Subset(u32),
}
