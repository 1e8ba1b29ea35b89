//! The gate: PASS, FAIL or INCONCLUSIVE, decided from what was found and what was seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::consensus::Verdict;
use crate::review::coverage::{Coverage, Omission};
use crate::scale::Severity;
use crate::word::shown_as_word;

/// What a review says about a change. No model ever utters it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "gate", rename_all = "snake_case")]
pub enum Gate {
    /// Everything was seen by everybody, and nothing that binds is open.
    Pass,
    /// At least one finding that binds is open.
    Fail {
        /// How many.
        open: u32,
    },
    /// Nothing that binds was found, but that is not enough to approve.
    Inconclusive {
        /// Why, one sentence each.
        causes: Vec<String>,
    },
}

impl Gate {
    /// Returns the word shown to people and scripts.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail { .. } => "FAIL",
            Self::Inconclusive { .. } => "INCONCLUSIVE",
        }
    }
}

shown_as_word!(Gate);

/// The word of a gate alone, without counts and causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateWord {
    /// Nothing that blocks is open.
    Pass,
    /// A finding that blocks is open.
    Fail,
    /// It cannot be decided.
    Inconclusive,
}

impl From<&Gate> for GateWord {
    fn from(gate: &Gate) -> Self {
        match gate {
            Gate::Pass => Self::Pass,
            Gate::Fail { .. } => Self::Fail,
            Gate::Inconclusive { .. } => Self::Inconclusive,
        }
    }
}

/// Whether a finding binds the coder.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Obligation {
    /// The coder carries it out or objects; until then the gate does not pass.
    Mandatory,
    /// The coder may discard it.
    Optional,
}

/// What the gate looks at in one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatedFinding {
    /// In which list the consensus put it.
    pub verdict: Verdict,
    /// Whether it binds.
    pub obligation: Obligation,
    /// How bad it is.
    pub severity: Severity,
    /// Whether it counts at all: not dismissed before, and new when only new ones count.
    pub counts: bool,
    /// Whether a coder was to work on it and nobody has.
    pub is_to_do: bool,
}

/// What the gate is decided from.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Every finding of the consensus.
    pub findings: &'a [GatedFinding],
    /// What was seen.
    pub coverage: &'a Coverage,
    /// Which omissions do not stand in the way of a PASS.
    pub may_skip: &'a [Omission],
    /// How many reviewers were asked.
    pub asked: usize,
    /// Those from whom no complete answer came, with the reason, as one sentence each.
    pub missing: &'a [String],
    /// Fail on findings of this severity and above, in place of obligations.
    pub fail_on: Option<Severity>,
}

/// Decides the gate.
///
/// An open finding that binds fails the gate whoever is missing; everything else that is not
/// positive evidence makes it inconclusive.
#[must_use]
pub fn decide(evidence: &Evidence<'_>) -> Gate {
    let binds = |finding: &&GatedFinding| match evidence.fail_on {
        Some(level) => finding.severity >= level,
        None => finding.obligation == Obligation::Mandatory,
    };
    let counted = || evidence.findings.iter().filter(|finding| finding.counts);
    let of = |verdict: Verdict, is_to_do: bool| {
        let found = counted().filter(|finding| finding.verdict == verdict);
        let found = found.filter(|finding| finding.is_to_do == is_to_do);
        u32::try_from(found.filter(binds).count()).unwrap_or(u32::MAX)
    };
    let open = of(Verdict::Accepted, false) + of(Verdict::Accepted, true);
    if open > 0 {
        return Gate::Fail { open };
    }
    let mut causes = Vec::new();
    match of(Verdict::Disputed, false) {
        0 => {}
        1 => causes.push("a blocking finding is disputed".to_owned()),
        n => causes.push(format!("{n} blocking findings are disputed")),
    }
    match of(Verdict::Disputed, true) {
        0 => {}
        1 => causes.push("a blocking finding is still to be worked on".to_owned()),
        n => causes.push(format!("{n} blocking findings are still to be worked on")),
    }
    let uncovered: Vec<_> = evidence.coverage.uncovered(evidence.may_skip).collect();
    // A change that needs no reviewer passes without one: it is empty, or prose, or ignored.
    let needs_nobody = evidence.coverage.reviewed.is_empty() && uncovered.is_empty();
    if evidence.asked == 0 && !needs_nobody {
        causes.push("nobody reviewed the change".to_owned());
    }
    causes.extend(evidence.missing.iter().cloned());
    if let Some(first) = uncovered.first() {
        let more = match uncovered.len() {
            1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        let (path, why) = (&first.path, first.why);
        let only_here = match (first.claimed, why) {
            (true, Omission::Submodule) => " that is new",
            (true, _) => ", which only the change itself says",
            (false, _) => "",
        };
        causes.push(format!(
            "`{path}` was not reviewed ({why}{only_here}){more}"
        ));
    }
    if causes.is_empty() {
        Gate::Pass
    } else {
        Gate::Inconclusive { causes }
    }
}
