//! The report of a review: everything that a printer needs, and nothing that it must look up.

mod rounds;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::agent::ErrorClass;
use crate::consensus::{AdvisoryOutcome, Agreement, Score, Statistics, TraceLine, Verdict};
use crate::dispute::Precedent;
use crate::finding::{Category, Grounding, Label, Location};
use crate::ids::CaseId;
use crate::money::{Cost, Usage};
use crate::review::Plea;
use crate::review::arbitration::{Arbitration, GateWithOffer};
use crate::review::coverage::{Coverage, Omission};
use crate::review::gate::{Gate, GateWord, Obligation};
use crate::review::identity::SimilarDismissal;
use crate::review::rule_level::RuleLevels;
use crate::rulings::TeamRuling;
use crate::scale::{Confidence, Severity};

pub use rounds::{Action, Statement, Weighed};

/// The name and version of the JSON form. It changes when a field changes its meaning or goes.
pub const REVIEW_SCHEMA: &str = "tribunal.review.v1";

/// A finished review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewReport {
    /// Always [`REVIEW_SCHEMA`].
    pub schema: String,
    /// The case in which everything is recorded.
    pub case: CaseId,
    /// What was reviewed.
    pub change: ChangeSummary,
    /// What it means for a script.
    #[serde(flatten)]
    pub gate: Gate,
    /// What it would mean if the user took over what the coder offers on a branch or in a patch.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub gate_with_offer: Option<GateWithOffer>,
    /// Why it does not speak of the user's files of now; such a review does not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// Fail on findings of this severity and above, in place of obligations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<Severity>,
    /// Name of the policy by which findings were settled.
    pub policy: String,
    /// The panel, in the order of the config.
    pub reviewers: Vec<ReviewerSummary>,
    /// Every finding with its verdict: accepted, disputed, rejected; the worst first in each.
    pub findings: Vec<ReviewedFinding>,
    /// What came of putting the findings to a coder, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<Arbitration>,
    /// Findings of earlier reviews that this one found to be fixed.
    pub fixed: Vec<FixedFinding>,
    /// Findings of rules that a comment in the code suppresses; they do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<SuppressedFinding>,
    /// What was seen and what was not.
    pub coverage: Coverage,
    /// Why files were not reviewed that forbid a PASS, each reason once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread_because: Vec<Omission>,
    /// Rules of the built-in reviewers whose level the settings change; those that are `off` did
    /// not run.
    #[serde(default, skip_serializing_if = "RuleLevels::is_empty")]
    pub rule_levels: RuleLevels,
    /// What was counted on the way.
    pub statistics: Statistics,
    /// What everybody together used.
    pub usage: Usage,
    /// What everybody together cost; unknown if that of anybody is.
    pub cost: Cost,
    /// What the reader should know besides.
    pub notes: Vec<String>,
}

impl ReviewReport {
    /// Takes a PASS back from a review that does not speak of the user's files of now.
    pub fn mark_outdated(&mut self, why: &str) {
        self.outdated = Some(why.to_owned());
        match &mut self.gate {
            Gate::Pass => {
                self.gate = Gate::Inconclusive {
                    causes: vec![why.to_owned()],
                };
            }
            Gate::Inconclusive { causes } => causes.push(why.to_owned()),
            Gate::Fail { .. } => self.notes.push(why.to_owned()),
        }
        if let Some(with_offer) = &mut self.gate_with_offer
            && with_offer.gate == GateWord::Pass
        {
            with_offer.gate = GateWord::Inconclusive;
        }
    }

    /// Returns why a change that passed needed no reviewer; nothing when somebody read it.
    #[must_use]
    pub fn needed_nobody(&self) -> Option<String> {
        // What was found and dismissed has been judged by somebody.
        if self.gate != Gate::Pass
            || !self.coverage.reviewed.is_empty()
            || !self.findings.is_empty()
        {
            return None;
        }
        let why = match (&self.change.empty, self.coverage.left_out_in_words()) {
            (Some(why), words) if words.is_empty() => why.clone(),
            (Some(why), words) => format!("{why}; {words}"),
            (None, words) if words.is_empty() => "no file changed".to_owned(),
            (None, words) => words,
        };
        Some(format!("nothing in this change needed a reviewer ({why})"))
    }

    /// Tells whether the gate asks for `finding`: it fails while such a finding is accepted, and
    /// does not pass while one is disputed.
    #[must_use]
    pub fn binds(&self, finding: &ReviewedFinding) -> bool {
        let binding = match self.fail_on {
            Some(level) => finding.weight() >= level,
            None => finding.obligation == Obligation::Mandatory,
        };
        binding && finding.counts && finding.verdict != Verdict::Rejected
    }

    /// Returns in which list the gate sees `finding`: where the consensus put it, until a coder
    /// answered.
    #[must_use]
    pub fn verdict_for_gate(&self, finding: &ReviewedFinding) -> Verdict {
        let answered = self.arbitration.iter().flat_map(|one| &one.findings);
        let mut answered = answered.filter(|one| one.raised_in == 0 && one.id == finding.id);
        match answered.next() {
            Some(answered) => answered.state.verdict_for_gate(),
            None => finding.verdict,
        }
    }

    /// Tells whether a later word can still change the gate of this very review: a ruling, or an
    /// answer that is missing.
    #[must_use]
    pub fn can_go_on(&self) -> bool {
        let offered = self.gate_with_offer.as_ref().map(|offered| offered.gate);
        matches!(self.gate, Gate::Inconclusive { .. }) || offered == Some(GateWord::Inconclusive)
    }
}

/// Returns the JSON schema of a [`ReviewReport`].
#[must_use]
pub fn review_schema() -> Schema {
    schemars::schema_for!(ReviewReport)
}

/// What was reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeSummary {
    /// The change in one line, such as `uncommitted work` or `main..topic`.
    pub title: String,
    /// Commit id before the change; none when whole files are reviewed or there is no repository.
    pub base: Option<String>,
    /// Commit id of what was reviewed, which for uncommitted work is a snapshot in our own clone.
    pub head: Option<String>,
    /// Whether whole files were reviewed rather than changed lines.
    pub whole_files: bool,
    /// Why there is nothing to review, when the change is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<String>,
    /// The words after `tribunal review` that choose this change, such as `--commit` and `HEAD`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selector: Vec<String>,
}

/// A finding that a comment in the code suppresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuppressedFinding {
    /// The rule that the comment names.
    pub rule: String,
    /// Who would have reported it.
    pub reviewer: String,
    /// Where.
    pub location: Location,
    /// The finding in one line.
    pub title: String,
    /// How grave it would have been.
    pub label: Label,
    /// Why it does not count, in the words of the comment.
    pub reason: String,
}

/// One member of the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerSummary {
    /// Its name.
    pub name: String,
    /// Its model family.
    pub family: String,
    /// What came from it.
    #[serde(flatten)]
    pub state: ReviewerState,
    /// How many findings it reported.
    pub findings: u32,
    /// What of its answers could not be used, one sentence each.
    pub problems: Vec<String>,
    /// Tokens it used.
    pub usage: Usage,
    /// What it cost.
    pub cost: Cost,
    /// How long it took, its runs added up.
    pub elapsed_ms: u64,
}

/// What came from a reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ReviewerState {
    /// A complete answer to everything it was asked.
    Answered,
    /// At least one question has no complete answer.
    Missing {
        /// Why, as far as a run failed; nothing when an answer could not be read.
        class: Option<ErrorClass>,
        /// What happened, in one sentence.
        why: String,
    },
    /// There was nothing that it reads.
    Idle,
}

/// Why a reviewer was not asked whose settings nobody has trusted.
const LACKS_TRUST: &str = "it was not asked, because its settings are not trusted";

impl ReviewerState {
    /// Returns the state of a reviewer that was not asked, because its settings are not trusted.
    #[must_use]
    pub fn not_trusted() -> Self {
        Self::Missing {
            class: None,
            why: LACKS_TRUST.to_owned(),
        }
    }

    /// Tells whether the reviewer was not asked for lack of trust, so that asking again cannot help.
    #[must_use]
    pub fn lacks_trust(&self) -> bool {
        matches!(self, Self::Missing { why, .. } if why == LACKS_TRUST)
    }
}

/// What happened to a finding over several reviews.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It was never seen before.
    New,
    /// An earlier review reported it too.
    Open,
    /// The coder answered it.
    Answered,
    /// It is before a judge or a human.
    Contested,
    /// A ruling upheld it; later rounds cannot weaken it.
    Upheld,
    /// A ruling dismissed it; it is shown, and does not count.
    Dismissed,
    /// It was there and is gone.
    Fixed,
    /// It was fixed and is back.
    Regressed,
}

/// One finding of the consensus: a group of what reviewers said, and what was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewedFinding {
    /// Short name by which commands call it, such as `f-3c19a27e`.
    pub id: String,
    /// Identity that survives moved lines and other words.
    pub fingerprint: String,
    /// In which list it ended.
    pub verdict: Verdict,
    /// How it stands over several reviews.
    pub standing: Standing,
    /// Whether it counts for the gate: accepted or disputed, not dismissed, new if only new do.
    pub counts: bool,
    /// Whether reviewers contradict each other about it and nobody settled that. It waits for a
    /// ruling before a coder is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contradicted: bool,
    /// Whether a human must decide it before the change goes in: it is high or critical, nobody
    /// could settle it, and it is worse than anything that was accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalate: bool,
    /// Whether it binds the coder.
    pub obligation: Obligation,
    /// The tag of the gravest voice, or the one that its severity stands for.
    pub label: Label,
    /// The severity agreed upon.
    pub severity: Severity,
    /// What kind of problem it is.
    pub category: Category,
    /// The id of the rule that was broken; empty unless a rule or a linter reported it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// The final confidence.
    pub confidence: Confidence,
    /// How much agreement carries it.
    pub agreement: Agreement,
    /// Where the lead says it is, corrected to where its quote stands.
    pub location: Location,
    /// Whether all of its lines lie in one hunk of the diff, so that a comment can be put there.
    pub in_diff: bool,
    /// The finding in one line.
    pub title: String,
    /// The finding in full.
    pub description: String,
    /// What to do about it; empty when nobody said.
    pub suggestion: String,
    /// Input or situation that makes it happen; empty when nobody named one.
    pub trigger: String,
    /// The code around the line.
    pub frame: Vec<FrameLine>,
    /// What each reviewer said, the lead first.
    pub voices: Vec<Voice>,
    /// Who thinks otherwise, and why.
    pub dissent: Vec<Dissent>,
    /// What was said in rounds 2 and 3, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Statement>,
    /// What a judge made of it, where one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Weighed>,
    /// What advisory databases say about it, where they were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<AdvisoryOutcome>,
    /// Rulings about it from earlier disputes that still hold, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precedents: Vec<Precedent>,
    /// A dismissed finding that it resembles. That ruling does not cover it, and it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<SimilarDismissal>,
    /// Other findings of this review that have the same cause elsewhere, by id. Each has a text and
    /// a verdict of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<String>,
    /// The entry of the team's file by which it does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_ruling: Option<Box<TeamRuling>>,
    /// How the confidence came about; the amounts add up to it.
    pub trace: Vec<TraceLine>,
    /// The points of a finding that one voice alone reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// The question that it raises: who claims what on which evidence, or what its weakest side is,
    /// and what would confirm or deny it; empty when it raises none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// Why it was decided so, one sentence each.
    pub reasons: Vec<String>,
    /// What would reverse the decision, in sentences.
    pub reversal: String,
}

impl ReviewedFinding {
    /// Returns what others of the panel say about it in words of their own, after the lead.
    pub fn other_voices(&self) -> impl Iterator<Item = &Voice> {
        let said = |voice: &Voice| (voice.title.clone(), voice.description.clone());
        let lead = self.voices.first().map(said);
        let others = self.voices.iter().skip(1);
        others.filter(move |voice| Some(said(voice)) != lead)
    }

    /// Returns who rated it higher than it counts, and still does.
    #[must_use]
    pub fn rated_higher(&self) -> Vec<Dissent> {
        let changed = |voice: &Voice| {
            let mut own = self
                .rounds
                .iter()
                .filter(|one| one.reviewer == voice.reviewer);
            own.any(|one| {
                one.revised_severity.is_some() || one.action == Action::Pleaded(Plea::Concede)
            })
        };
        let higher = self.voices.iter().filter_map(|voice| {
            let label = voice.label.filter(|label| label.severity() > self.weight());
            let severity = voice.severity.filter(|severity| *severity > self.weight());
            let rating = match (label, severity) {
                (Some(label), _) => label.as_str().to_owned(),
                (None, Some(severity)) => severity.as_str().to_uppercase(),
                (None, None) => return None,
            };
            (!changed(voice)).then(|| Dissent {
                reviewer: voice.reviewer.clone(),
                says: format!("rated it {rating}"),
            })
        });
        let mut all: Vec<Dissent> = Vec::new();
        for one in higher {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all
    }

    /// Returns how bad it is for the gate: as its tag says, or as was agreed if that is more.
    #[must_use]
    pub fn weight(&self) -> Severity {
        self.severity.max(self.label.severity())
    }
}

/// A line of source code around a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FrameLine {
    /// Its number.
    pub number: u32,
    /// Its text, shortened if very long.
    pub text: String,
    /// Whether the finding is about this line.
    pub marked: bool,
}

/// What one reviewer said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Voice {
    /// Who said it.
    pub reviewer: String,
    /// Of which family.
    pub family: String,
    /// The reviewer's name for the finding.
    pub id: String,
    /// The id of the rule that was broken; empty unless this is a rule or a linter.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// In one line.
    pub title: String,
    /// In full.
    pub description: String,
    /// Where.
    pub location: Location,
    /// The name of that place in the structure of the code, which survives moved lines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The names of the code around that place, joined by dots.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// What tells that code apart from other code with these names, such as parameters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// What kind of problem it is, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// What to do about it; empty when it did not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub suggestion: String,
    /// What makes it happen; empty when it did not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trigger: String,
    /// The code that it quotes; empty when it quotes none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// The tag as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// How bad, where it said so.
    pub severity: Option<Severity>,
    /// How sure, where it said so.
    pub confidence: Option<Confidence>,
    /// Whether the code that it cites exists.
    pub grounding: Grounding,
    /// Why the citation does not fully hold, one phrase each.
    pub doubts: Vec<String>,
}

/// Who thinks otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dissent {
    /// Who.
    pub reviewer: String,
    /// What it says instead.
    pub says: String,
}

/// A finding of an earlier review that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FixedFinding {
    /// Short name by which commands call it.
    pub id: String,
    /// Its identity.
    pub fingerprint: String,
    /// Where it was.
    pub location: Location,
    /// The finding in one line.
    pub title: String,
}
