//! The numbers and thresholds of the consensus, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changes::PolicyError;
use crate::finding::Category;
use crate::scale::{Confidence, Severity};

/// Every number the consensus uses. Start from a preset and change what you must.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The preset it came from, or a name of your own.
    pub name: String,
    /// What stands in for what a reviewer did not say.
    pub defaults: Defaults,
    /// When two findings are the same.
    pub matching: Matching,
    /// What agreement is worth.
    pub agreement: AgreementRules,
    /// How contradictions are settled.
    pub conflict: ConflictRules,
    /// What a finding of one voice must bring.
    pub unique: UniqueRules,
    /// The extra look at weakly supported findings.
    pub scrutiny: ScrutinyRules,
    /// What rounds 2 and 3 are worth.
    pub rounds: RoundRules,
    /// What published advisories are worth.
    pub advisory: AdvisoryRules,
    /// What a critical finding needs to be accepted.
    pub critical: CriticalRules,
    /// How the evidence of a finding moves its confidence before anything else does; without it
    /// the stated confidence stands.
    pub appraisal: Option<AppraisalRules>,
}

/// What stands in for what a reviewer did not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// Severity of a finding without one.
    pub severity: Severity,
    /// Confidence of a finding without one.
    pub confidence: Confidence,
    /// Category of a finding without one.
    pub category: Category,
}

/// When two findings are the same: one fix would resolve both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Matching {
    /// How many lines apart two findings of one category may be.
    pub proximity: u32,
    /// How wordings are compared; without it, place and category alone decide.
    pub text: Option<TextMatching>,
}

/// How the wordings of findings are compared. Weights and thresholds are in thousandths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextMatching {
    /// Similarity from which two findings are the same, place and all counted.
    pub threshold: i32,
    /// Similarity of wording below which no place makes up for the difference.
    pub least_text: i32,
    /// Added for lines that overlap or touch.
    pub same_line: i32,
    /// Added for lines within the proximity.
    pub near_line: i32,
    /// Added for lines that overlap or touch when both know their place: they are of one stated
    /// category, and the code that they point at was found there. One shared word is then enough,
    /// or none in the same function.
    pub sure_line: i32,
    /// Added for lines within the proximity when both know their place.
    pub sure_near: i32,
    /// Added for the same file, where a line is unknown.
    pub same_file: i32,
    /// Added for lines of one file that are further apart than the proximity; negative.
    #[serde(default = "far_line")]
    pub far_line: i32,
    /// Added where one of two findings names no file, so that the wording alone must tell.
    #[serde(default = "unplaced")]
    pub unplaced: i32,
    /// Without effect, since findings of two files are never one; read from older settings.
    pub other_file: i32,
    /// Added for the same enclosing function.
    pub same_function: i32,
    /// Without effect, since two items of one reviewer are one only if the second repeats the
    /// first; read from older settings.
    pub same_reviewer: i32,
    /// Added where two findings of the same lines state two categories; negative.
    #[serde(default)]
    pub other_category: i32,
    /// How much of the similarity is that of the titles and first sentences, which say what is
    /// claimed; the rest is that of the whole texts.
    #[serde(default)]
    pub first_sentence: i32,
    /// Added for texts in which all words follow each other alike, and in proportion for less: two
    /// findings about one place share its names, two about one problem share turns of phrase.
    #[serde(default)]
    pub word_pairs: i32,
    /// Added to the similarity for each doubling of the words of either text, only to tell which
    /// pair is joined first.
    #[serde(default)]
    pub detail: i32,
    /// How far below the threshold the average over all pairs of two groups may be when a pair of
    /// them is above it.
    #[serde(default)]
    pub slack: i32,
    /// Similarity of wording, on average over all pairs, from which two groups about different
    /// places are linked as having one cause; 0 links by equal titles alone.
    #[serde(default)]
    pub same_cause: i32,
    /// Weight of a word that is an identifier of the code, against 1000 for a plain word.
    pub identifier: i32,
    /// A term in more findings than this says nothing about any of them; bounds the work.
    pub most_common: u32,
}

/// Returns what is taken off for lines that are far apart.
fn far_line() -> i32 {
    -10
}

/// Returns what is added where the wording alone must tell.
fn unplaced() -> i32 {
    70
}

/// What agreement is worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgreementRules {
    /// How many voices make an agreement.
    pub voices: u32,
    /// Confidence for each voice.
    pub per_voice: i32,
    /// The most that agreement adds.
    pub most: i32,
    /// Added for wordings that are wholly alike, and in proportion for less; without text
    /// matching it does not apply.
    pub closeness: i32,
    /// How much it counts that the other voices stand on weaker evidence than the strongest one, in
    /// percent of the distance. Agreement is never worth less than nothing for that.
    #[serde(default)]
    pub others: i32,
    /// Added when somebody else says the very same beside it, and in proportion for less: it is less
    /// certain then what was agreed; negative.
    #[serde(default)]
    pub rivals: i32,
    /// Final confidence below which even an agreement is disputed instead of accepted.
    pub least_confidence: u8,
}

/// How contradictions are settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConflictRules {
    /// From how many levels apart severities contradict each other.
    pub severity_gap: u8,
    /// Whether different categories in one place are a contradiction about the cause.
    pub root_cause: bool,
    /// How much better the evidence of the winner must be, out of 4.
    pub clear_margin: u8,
    /// Evidence from which both sides may be right, out of 4.
    pub partly_right: u8,
    /// Added to the winner's confidence; negative.
    pub winner: i32,
}

/// What a finding of one voice must bring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniqueRules {
    /// Confidence worth 3 points.
    pub strong: u8,
    /// Confidence worth 2 points.
    pub moderate: u8,
    /// Confidence worth 1 point.
    pub weak: u8,
    /// A critical finding below this confidence loses 2 points and is flagged.
    pub critical_below: u8,
    /// A low finding above this confidence gains a point.
    pub low_above: u8,
    /// Points from which it is accepted.
    pub accept: i32,
    /// Points from which it is accepted with a note.
    pub accept_noted: i32,
    /// Added to the confidence when accepted; negative.
    pub accepted: i32,
    /// Added to the confidence when accepted with a note; negative.
    pub noted: i32,
    /// Final confidence below which a finding of one voice is disputed instead of accepted.
    pub least_confidence: u8,
}

/// The extra look at weakly supported findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScrutinyRules {
    /// Findings below this confidence are looked at.
    pub below_confidence: u8,
    /// Findings of one voice below this many points are looked at.
    pub below_score: i32,
    /// With at most this many of the four criteria met, the severity drops one level.
    pub lower_at: u8,
    /// With at most this many of the four criteria met, the finding is disputed.
    pub dispute_at: u8,
}

/// What rounds 2 and 3 are worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundRules {
    /// How stances are counted against each other.
    pub ladder: Ladder,
    /// How the adjustments that reviewers ask for become one number.
    pub adjustments: Adjustments,
    /// Two or more for it.
    pub many_for: i32,
    /// One for it.
    pub one_for: i32,
    /// One against it; negative.
    pub one_against: i32,
    /// Two or more against it; negative.
    pub many_against: i32,
    /// Defended with substance.
    pub defended: i32,
    /// Conceded; negative.
    pub conceded: i32,
    /// A concession together with a cross-examination at or below this rejects the finding.
    pub reject_conceded_at: i32,
    /// Added to the confidence of what was first seen in round 2; negative.
    pub late: i32,
    /// Reasoning of fewer words has no substance.
    pub substance_words: u32,
    /// A finding that the debate pushed below this confidence is disputed.
    pub floor: u8,
}

/// How stances are counted against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ladder {
    /// The first rung that fits, support first: two for it outweigh any number against it.
    FirstRung,
    /// Those for it minus those against it.
    Net,
}

/// How the adjustments that reviewers ask for become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Adjustments {
    /// Every reviewer's is added.
    Sum,
    /// Every family's is added, which is the mean of what its reviewers ask for.
    FamilyMean,
}

/// What published advisories are worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvisoryRules {
    /// Added when an advisory confirms a security finding.
    pub confirmed: i32,
}

/// What a critical finding needs to be accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CriticalRules {
    /// So many families that stand by it,
    pub families: u32,
    /// or this stated confidence together with concrete evidence.
    pub confidence: u8,
}

/// How the evidence of a finding moves its confidence before anything else does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppraisalRules {
    /// How much of the distance between a stated confidence and the default counts, in percent.
    pub trust_stated: i32,
    /// The code it points at is there.
    pub grounded: i32,
    /// Some of it is there; negative.
    pub doubtful: i32,
    /// It is not there; negative.
    pub refuted: i32,
    /// It is about things that happen at the same time.
    pub concurrency: i32,
    /// It says that code does something other than it should.
    pub contradiction: i32,
    /// It says what will happen.
    pub consequence: i32,
    /// It names code by its identifiers.
    pub names_code: i32,
    /// It asks for tests, comments, names or speed; negative.
    pub housekeeping: i32,
    /// It has few words; negative.
    pub brief: i32,
    /// Descriptions of fewer characters are brief.
    pub brief_below: u32,
    /// It does not say where; negative.
    pub unlocated: i32,
    /// The reviewer reports few things about this change.
    pub terse_reviewer: i32,
    /// The reviewer reports many things about this change; negative.
    pub verbose_reviewer: i32,
    /// A reviewer with at most this many findings is terse.
    pub terse_at: u32,
    /// A reviewer with at least this many findings is verbose.
    pub verbose_at: u32,
    /// Taken off for each doubling of the findings of the whole review over `crowd`, and added
    /// for each halving: much is said where little is certain.
    pub crowding: i32,
    /// The number of findings at which nothing is taken off.
    pub crowd: u32,
    /// The most that crowding moves the confidence, up or down.
    pub crowding_most: i32,
    /// The most that a record of past rulings moves the confidence, up or down.
    pub record: i32,
    /// So many rulings a record needs to count as much as what is known of all reviewers.
    pub record_prior: u32,
}

impl Policy {
    /// Returns the preset of that name.
    pub fn preset(name: &str) -> Result<Self, PolicyError> {
        match name {
            "arena" => Ok(Self::arena()),
            "tribunal" => Ok(Self::tribunal()),
            _ => Err(PolicyError::UnknownPreset(name.to_owned())),
        }
    }

    /// Returns the arithmetic of the three-round debate: place and category, stated confidence.
    #[must_use]
    pub fn arena() -> Self {
        Self {
            name: "arena".to_owned(),
            defaults: Defaults {
                severity: Severity::Medium,
                confidence: Confidence::clamped(60),
                category: Category::Other,
            },
            matching: Matching {
                proximity: 5,
                text: None,
            },
            agreement: AgreementRules {
                voices: 2,
                per_voice: 5,
                most: 15,
                closeness: 0,
                others: 0,
                rivals: 0,
                least_confidence: 0,
            },
            conflict: ConflictRules {
                severity_gap: 2,
                root_cause: true,
                clear_margin: 2,
                partly_right: 3,
                winner: -10,
            },
            unique: UniqueRules {
                strong: 80,
                moderate: 60,
                weak: 40,
                critical_below: 70,
                low_above: 80,
                accept: 5,
                accept_noted: 3,
                accepted: -5,
                noted: -15,
                least_confidence: 0,
            },
            scrutiny: ScrutinyRules {
                below_confidence: 70,
                below_score: 5,
                lower_at: 1,
                dispute_at: 0,
            },
            rounds: RoundRules {
                ladder: Ladder::FirstRung,
                adjustments: Adjustments::Sum,
                many_for: 15,
                one_for: 5,
                one_against: -10,
                many_against: -20,
                defended: 10,
                conceded: -25,
                reject_conceded_at: -10,
                late: -10,
                substance_words: 5,
                floor: 40,
            },
            advisory: AdvisoryRules { confirmed: 10 },
            critical: CriticalRules {
                families: 2,
                confidence: 85,
            },
            appraisal: None,
        }
    }

    /// Returns our own reading: wording and place together, evidence measured, a symmetric ladder.
    #[must_use]
    pub fn tribunal() -> Self {
        let arena = Self::arena();
        Self {
            name: "tribunal".to_owned(),
            defaults: Defaults {
                confidence: Confidence::clamped(40),
                ..arena.defaults
            },
            agreement: AgreementRules {
                per_voice: 8,
                most: 24,
                closeness: 25,
                others: 30,
                rivals: -10,
                least_confidence: 60,
                ..arena.agreement
            },
            matching: Matching {
                proximity: 5,
                text: Some(TextMatching {
                    threshold: 245,
                    least_text: 50,
                    same_line: 25,
                    near_line: 0,
                    sure_line: 240,
                    sure_near: 130,
                    same_file: 0,
                    far_line: -20,
                    unplaced: 100,
                    other_file: -30,
                    same_function: 30,
                    same_reviewer: -200,
                    other_category: -150,
                    first_sentence: 400,
                    word_pairs: 300,
                    detail: 70,
                    slack: 50,
                    same_cause: 300,
                    identifier: 1000,
                    most_common: 32,
                }),
            },
            conflict: ConflictRules {
                root_cause: false,
                ..arena.conflict
            },
            unique: UniqueRules {
                accept: 1,
                accept_noted: 1,
                accepted: 0,
                noted: 0,
                least_confidence: 52,
                ..arena.unique
            },
            rounds: RoundRules {
                ladder: Ladder::Net,
                adjustments: Adjustments::FamilyMean,
                one_against: -5,
                many_against: -15,
                reject_conceded_at: -5,
                ..arena.rounds
            },
            appraisal: Some(AppraisalRules {
                trust_stated: 50,
                grounded: 5,
                doubtful: -10,
                refuted: -25,
                concurrency: 20,
                contradiction: 10,
                consequence: 4,
                names_code: 4,
                housekeeping: -6,
                brief: -6,
                brief_below: 120,
                unlocated: -8,
                terse_reviewer: 6,
                verbose_reviewer: -7,
                terse_at: 2,
                verbose_at: 6,
                crowding: 4,
                crowd: 8,
                crowding_most: 8,
                record: 10,
                record_prior: 20,
            }),
            ..arena
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_survive_the_trip_through_json() {
        for policy in [Policy::arena(), Policy::tribunal()] {
            let json = serde_json::to_string(&policy).expect("a policy serializes");
            assert_eq!(
                serde_json::from_str::<Policy>(&json).expect("and back"),
                policy
            );
            assert_eq!(Policy::preset(&policy.name).expect("a preset"), policy);
        }
    }
}
