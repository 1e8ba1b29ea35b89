//! What a finding's own wording, its grounding and its reviewer's record say about it.
//!
//! Self-stated confidence is a poor guide. What can be checked or counted moves it here, each
//! signal by a line of its own in the trace.

use std::collections::BTreeMap;

use super::Docket;
use super::normalize::Claim;
use super::phrases::{Lexicon, count};
use super::policy::{AppraisalRules, Policy};
use super::record::{Record, Reliability};
use super::similar::log2_thousandths;
use super::trace::{Step, Trace};
use crate::finding::{Grounding, Source};

/// How many signals there are.
const SIGNALS: usize = 12;

/// The amounts of all signals, in the order of `steps`.
pub(super) type Signals = [i8; SIGNALS];

fn steps() -> [Step; SIGNALS] {
    [
        Step::Calibration,
        Step::Grounding,
        Step::Concurrency,
        Step::Contradiction,
        Step::Consequence,
        Step::NamesCode,
        Step::Housekeeping,
        Step::Brief,
        Step::Unlocated,
        Step::Verbosity,
        Step::Crowding,
        Step::Record,
    ]
}

/// Moves the standing of every claim by what its evidence says, and returns what moved each.
/// Without rules for that nothing is moved.
pub(super) fn appraise(
    claims: &mut [Claim<'_>],
    policy: &Policy,
    record: Option<&Record>,
) -> Vec<Signals> {
    let Some(rules) = &policy.appraisal else {
        return Vec::new();
    };
    let mut lengths: BTreeMap<&str, u32> = BTreeMap::new();
    for claim in claims.iter() {
        *lengths.entry(&claim.finding.reviewer).or_default() += 1;
    }
    let told = claims.iter().filter(|claim| claim.source != Source::Tool);
    let told = told.count();
    let whole = Whole {
        default: i32::from(policy.defaults.confidence.get()),
        crowding: crowding(rules, told),
        reliability: record.map(|record| Reliability::of(record, rules.record_prior)),
    };
    let all: Vec<Signals> = claims
        .iter()
        .map(|claim| {
            // What a program says is as sure on the hundredth line as on the first.
            if claim.source == Source::Tool {
                return [0; SIGNALS];
            }
            let length = lengths[claim.finding.reviewer.as_str()];
            signals(claim, rules, length, &whole)
        })
        .collect();
    for (claim, signals) in claims.iter_mut().zip(&all) {
        claim.standing += signals.iter().map(|&amount| i32::from(amount)).sum::<i32>();
    }
    all
}

/// Writes the signals of a member into the calculation of its group.
pub(super) fn explain(docket: &Docket<'_>, member: u32, trace: &mut Trace) {
    let Some(signals) = docket.signals.get(member as usize) else {
        return;
    };
    for (step, &amount) in steps().into_iter().zip(signals) {
        trace.push_nonzero(step, i32::from(amount));
    }
}

/// What is the same for all findings of a review.
struct Whole<'a> {
    default: i32,
    crowding: i32,
    reliability: Option<Reliability<'a>>,
}

/// Returns what is taken off, or added, for the number of findings in all.
fn crowding(rules: &AppraisalRules, findings: usize) -> i32 {
    let doublings = log2_thousandths(findings) - log2_thousandths(rules.crowd as usize);
    let amount = i64::from(-rules.crowding) * doublings / 1000;
    let most = i64::from(rules.crowding_most);
    i32::try_from(amount.clamp(-most, most)).unwrap_or(0)
}

fn signals(
    claim: &Claim<'_>,
    rules: &AppraisalRules,
    list_length: u32,
    review: &Whole<'_>,
) -> Signals {
    let finding = &claim.finding;
    let words = WORDS.sets_in(&finding.description) | WORDS.sets_in(&finding.title);
    let has = |set: u8| words & 1 << set != 0;
    let when = |holds: bool, amount: i32| if holds { amount } else { 0 };
    let grounding = match finding.grounding {
        Grounding::Unchecked => 0,
        Grounding::Confirmed => rules.grounded,
        Grounding::Doubtful => rules.doubtful,
        Grounding::Refuted => rules.refuted,
    };
    let verbosity = when(list_length <= rules.terse_at, rules.terse_reviewer)
        + when(list_length >= rules.verbose_at, rules.verbose_reviewer);
    let record = review.reliability.as_ref().map_or(0, |known| {
        let lead = known.lead(&finding.reviewer, claim.category);
        let most = i64::from(rules.record);
        // A lead of 300 thousandths is as good as it gets; it moves by the most.
        i32::try_from((lead * most / 300).clamp(-most, most)).unwrap_or(0)
    });
    let length = finding.description.len().max(finding.title.len());
    let brief = usize::try_from(rules.brief_below).is_ok_and(|least| length < least);
    [
        (review.default - i32::from(claim.stated)) * (100 - rules.trust_stated) / 100,
        grounding,
        when(has(0), rules.concurrency),
        when(has(1), rules.contradiction),
        when(has(2), rules.consequence),
        when(names_code(&finding.description), rules.names_code),
        when(has(3), rules.housekeeping),
        when(brief, rules.brief),
        when(finding.location.file.is_empty(), rules.unlocated),
        verbosity,
        review.crowding,
        record,
    ]
    .map(|amount| i8::try_from(amount.clamp(-100, 100)).unwrap_or(0))
}

const CONCURRENCY: &[&str] = &[
    "concurren",
    "data race",
    "deadlock",
    "not atomic",
    "race condition",
    "racy",
    "thread-safe",
];

const CONTRADICTIONS: &[&str] = &[
    "always",
    "bypass",
    "contradict",
    "incorrect",
    "instead of",
    "invert",
    "mismatch",
    "never",
    "opposite",
    "wrong",
];

const CONSEQUENCES: &[&str] = &["nil", "null", "overwrit", "undefined", "will "];

const HOUSEKEEPING: &[&str] = &[
    "comment",
    "consider ",
    "documentation",
    "ensure ",
    "inefficien",
    "magic number",
    "naming",
    "performance",
    "readab",
    "rename",
    "test",
    "typo",
];

/// The sets of words by the number of their bit.
const SETS: [&[&str]; 4] = [CONCURRENCY, CONTRADICTIONS, CONSEQUENCES, HOUSEKEEPING];
static WORDS: Lexicon<{ count(&SETS) }> = Lexicon::new(&SETS);

/// Tells whether the text names code: a call, or names joined by dots, colons or underscores.
fn names_code(text: &str) -> bool {
    text.contains('(') || text.contains("::") || text.contains('`')
}
