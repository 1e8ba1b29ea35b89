//! What a finding's own wording, its grounding and its reviewer's record say about it.
//!
//! Self-stated confidence is a poor guide. What can be checked or counted moves it here, each
//! signal by a line of its own in the trace.

use std::collections::BTreeMap;

use super::Docket;
use super::normalize::Claim;
use super::policy::{AppraisalRules, Policy};
use super::record::{Record, Reliability};
use super::trace::{Step, Trace};
use crate::finding::Grounding;

/// How many signals there are.
const SIGNALS: usize = 7;

/// The amounts of all signals, in the order of `steps`.
pub(super) type Signals = [i8; SIGNALS];

fn steps() -> [Step; SIGNALS] {
    [
        Step::Grounding,
        Step::Consequence,
        Step::NamesCode,
        Step::Hedged,
        Step::Housekeeping,
        Step::Verbosity,
        Step::Record,
    ]
}

/// Moves the standing of every claim by what its evidence says.
pub(super) fn appraise(claims: &mut [Claim], policy: &Policy, record: Option<&Record>) {
    let Some(rules) = &policy.appraisal else {
        return;
    };
    let mut lengths: BTreeMap<&str, u32> = BTreeMap::new();
    for claim in claims.iter() {
        *lengths.entry(&claim.finding.reviewer).or_default() += 1;
    }
    let reliability = record.map(|record| Reliability::of(record, rules.record_prior));
    let all: Vec<Signals> = claims
        .iter()
        .map(|claim| {
            let length = lengths[claim.finding.reviewer.as_str()];
            signals(claim, rules, length, reliability.as_ref())
        })
        .collect();
    for (claim, signals) in claims.iter_mut().zip(all) {
        claim.standing += signals.iter().map(|&amount| i32::from(amount)).sum::<i32>();
        claim.signals = signals;
    }
}

/// Writes the signals of a member into the calculation of its group.
pub(super) fn explain(docket: &Docket<'_>, member: u32, trace: &mut Trace) {
    if docket.policy.appraisal.is_none() {
        return;
    }
    for (step, amount) in steps().into_iter().zip(docket.claim(member).signals) {
        trace.push_nonzero(step, i32::from(amount));
    }
}

fn signals(
    claim: &Claim,
    rules: &AppraisalRules,
    list_length: u32,
    reliability: Option<&Reliability<'_>>,
) -> Signals {
    let finding = &claim.finding;
    let text = format!("{} {}", finding.title, finding.description).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let when = |holds: bool, amount: i32| if holds { amount } else { 0 };
    let grounding = match finding.grounding {
        Grounding::Unchecked => 0,
        Grounding::Confirmed => rules.grounded,
        Grounding::Doubtful => rules.doubtful,
        Grounding::Refuted => rules.refuted,
    };
    let verbosity = when(list_length <= rules.terse_at, rules.terse_reviewer)
        + when(list_length >= rules.verbose_at, rules.verbose_reviewer);
    let record = reliability.map_or(0, |known| {
        let lead = known.lead(&finding.reviewer, claim.category);
        let most = i64::from(rules.record);
        // A lead of 300 thousandths is as good as it gets; it moves by the most.
        i32::try_from((lead * most / 300).clamp(-most, most)).unwrap_or(0)
    });
    [
        grounding,
        when(has(&CONSEQUENCES), rules.consequence),
        when(names_code(&finding.description), rules.names_code),
        when(has(&HEDGES), rules.hedged),
        when(has(&HOUSEKEEPING), rules.housekeeping),
        verbosity,
        record,
    ]
    .map(|amount| i8::try_from(amount.clamp(-100, 100)).unwrap_or(0))
}

const CONSEQUENCES: [&str; 20] = [
    "will ",
    "crash",
    "panic",
    "throws",
    "exception",
    "null",
    "undefined",
    "never ",
    "always ",
    "wrong",
    "incorrect",
    "inverted",
    "instead of",
    "bypass",
    "race",
    "deadlock",
    "leak",
    "breaks",
    "fails",
    "overwrit",
];

const HEDGES: [&str; 9] = [
    "may ",
    "might",
    "could",
    "potential",
    "consider",
    "possibl",
    "perhaps",
    "likely",
    "should be",
];

const HOUSEKEEPING: [&str; 18] = [
    "test",
    "comment",
    "document",
    "naming",
    "rename",
    "typo",
    "readab",
    "consisten",
    "unused",
    "duplicat",
    "style",
    "magic",
    "refactor",
    "maintain",
    "translation",
    "indent",
    "logging",
    "accessib",
];

/// Tells whether the text names code: a call, a path of names, camelCase or snake_case.
fn names_code(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !"()_".contains(c));
        word.contains("()")
            || word.contains('_')
            || word.contains("::")
            || word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase)
    })
}
