//! What of a ledger may go: facts about its cases in, the fate of each out.
//!
//! Events are the proof and stay for ever. Files go with age, or when there is too much of them;
//! never those of a case that is open or in which somebody ruled, nor what such a case refers to.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::event::{ArbitrationEvent, EventKind};
use crate::ids::{CaseId, DisputeId};
use crate::time::Timestamp;

/// Characters of the hash under which a text is stored.
const HASH_CHARS: usize = 64;

/// How long files are kept, and how much of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Files of cases that ended longer ago go; without it, age is no reason.
    pub age_ms: Option<u64>,
    /// When all files take up more bytes, the oldest go; without it, size is no reason.
    pub size: Option<u64>,
}

/// Why a case is not to be touched, whatever the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// Somebody works on it.
    AtWork,
    /// It has not ended.
    Open,
    /// A dispute in it waits for a ruling.
    Disputed,
    /// Somebody ruled in it.
    Ruled,
}

/// What is known of the files of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseHolding {
    /// The case.
    pub case: CaseId,
    /// Why it is not to be touched.
    pub hold: Option<HoldReason>,
    /// When its last event was stored.
    pub last_at: Timestamp,
    /// The room its files take up; none when they were collected before.
    pub bytes: u64,
    /// The cases that its events name.
    pub refers_to: BTreeSet<CaseId>,
}

/// Why the files of a case stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepReason {
    /// The case is not to be touched.
    Held(HoldReason),
    /// A case whose files stay refers to it.
    Referred(CaseId),
    /// It is neither old nor in the way.
    Allowed,
}

/// Why the files of a case go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CollectReason {
    /// It ended long ago.
    Age,
    /// All files together take up too much.
    Size,
}

/// What becomes of the files of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseFate {
    /// They stay.
    Keep(KeepReason),
    /// They go.
    Collect(CollectReason),
}

/// Decides what becomes of the files of each case. `others` is the room that everything else takes.
#[must_use]
pub fn decide_fates(
    policy: &RetentionPolicy,
    now: Timestamp,
    holdings: &[CaseHolding],
    others: u64,
) -> BTreeMap<CaseId, CaseFate> {
    let held = holdings.iter().filter(|one| one.hold.is_some());
    let protected = reach(holdings, held.map(|one| &one.case));
    let is_old = |one: &CaseHolding| {
        let age = policy.age_ms;
        age.is_some_and(|age| now.millis_since(one.last_at) > age)
    };
    let is_free = |one: &&CaseHolding| one.hold.is_none() && !protected.contains_key(&one.case);
    let young = holdings.iter().filter(|one| is_free(one) && !is_old(one));
    let wanted = reach(holdings, young.map(|one| &one.case));
    let mut fates = BTreeMap::new();
    for one in holdings {
        let fate = match one.hold {
            Some(hold) => CaseFate::Keep(KeepReason::Held(hold)),
            None => match (protected.get(&one.case), wanted.get(&one.case)) {
                (Some(Some(by)), _) => CaseFate::Keep(KeepReason::Referred(by.clone())),
                _ if !is_old(one) => CaseFate::Keep(KeepReason::Allowed),
                (_, Some(Some(by))) => CaseFate::Keep(KeepReason::Referred(by.clone())),
                _ => CaseFate::Collect(CollectReason::Age),
            },
        };
        fates.insert(one.case.clone(), fate);
    }
    make_room(policy, holdings, others, &protected, &mut fates);
    fates
}

/// Lets the oldest go until the rest fits. That a young case refers to it saves none of them.
fn make_room(
    policy: &RetentionPolicy,
    holdings: &[CaseHolding],
    others: u64,
    protected: &BTreeMap<CaseId, Option<CaseId>>,
    fates: &mut BTreeMap<CaseId, CaseFate>,
) {
    let Some(most) = policy.size else { return };
    let goes = |fates: &BTreeMap<CaseId, CaseFate>, case: &CaseId| {
        matches!(fates.get(case), Some(CaseFate::Collect(_)))
    };
    let kept = holdings.iter().filter(|one| !goes(fates, &one.case));
    let mut total = kept.fold(others, |sum, one| sum.saturating_add(one.bytes));
    let free = |one: &&CaseHolding| {
        one.hold.is_none() && one.bytes > 0 && !protected.contains_key(&one.case)
    };
    let mut candidates: Vec<_> = holdings.iter().filter(free).collect();
    candidates.sort_by_key(|one| (one.last_at, &one.case));
    for one in candidates {
        if total <= most {
            return;
        }
        if !goes(fates, &one.case) {
            total = total.saturating_sub(one.bytes);
            fates.insert(one.case.clone(), CaseFate::Collect(CollectReason::Size));
        }
    }
}

/// Returns the cases that can be reached from `roots`, each with the one that names it; a root with
/// nothing.
fn reach<'h>(
    holdings: &'h [CaseHolding],
    roots: impl Iterator<Item = &'h CaseId>,
) -> BTreeMap<CaseId, Option<CaseId>> {
    let known: BTreeMap<_, _> = holdings.iter().map(|one| (&one.case, one)).collect();
    let mut reached: BTreeMap<CaseId, Option<CaseId>> =
        roots.map(|case| (case.clone(), None)).collect();
    let mut next: Vec<CaseId> = reached.keys().cloned().collect();
    while let Some(case) = next.pop() {
        let named = known.get(&case).into_iter().flat_map(|one| &one.refers_to);
        for named in named.filter(|named| known.contains_key(named)) {
            if !reached.contains_key(named) {
                reached.insert(named.clone(), Some(case.clone()));
                next.push(named.clone());
            }
        }
    }
    reached
}

/// What a recorded text names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Hashes of stored texts, or what looks like one.
    pub texts: BTreeSet<String>,
    /// Cases, also by the disputes that they record.
    pub cases: BTreeSet<CaseId>,
}

impl Mentions {
    /// Adds what `text` names: every word that has the form of a hash or of an id.
    ///
    /// Going by the form alone keeps too much rather than too little, and needs no list of fields
    /// that somebody forgets to extend.
    pub fn add(&mut self, text: &str) {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        for word in words {
            if word.len() == HASH_CHARS && is_hex(word) {
                self.texts.insert(word.to_owned());
                continue;
            }
            // A branch may have a number behind the case.
            let end = word.get(2..).and_then(|rest| rest.find('-'));
            let id = word.get(..end.map_or(word.len(), |end| end + 2));
            self.cases.extend(id.and_then(|id| match id.get(..2) {
                Some("c-") => CaseId::new(id).ok(),
                Some("d-") => DisputeId::new(id).ok().map(|dispute| dispute.case()),
                _ => None,
            }));
        }
    }
}

fn is_hex(word: &str) -> bool {
    word.bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Tells whether an event is a ruling of a judge or a person within a case.
#[must_use]
pub fn is_ruling(kind: &EventKind) -> bool {
    let EventKind::Arbitration(ArbitrationEvent::ContestSettled { decision, .. }) = kind else {
        return false;
    };
    decision.is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: u64 = 86_400_000;

    fn case(number: u64) -> CaseId {
        CaseId::from_bits(number)
    }

    fn holding(number: u64, age_days: u32, bytes: u64) -> CaseHolding {
        CaseHolding {
            case: case(number),
            hold: None,
            last_at: now().minus_days(age_days),
            bytes,
            refers_to: BTreeSet::new(),
        }
    }

    fn now() -> Timestamp {
        Timestamp(0).plus_days(20_000)
    }

    fn policy(days: Option<u64>, size: Option<u64>) -> RetentionPolicy {
        RetentionPolicy {
            age_ms: days.map(|days| days * DAY),
            size,
        }
    }

    fn collected(policy: &RetentionPolicy, holdings: &[CaseHolding], others: u64) -> Vec<u64> {
        let fates = decide_fates(policy, now(), holdings, others);
        let goes = |one: &&u64| matches!(fates.get(&case(**one)), Some(CaseFate::Collect(_)));
        (1..=holdings.len() as u64)
            .collect::<Vec<_>>()
            .iter()
            .filter(goes)
            .copied()
            .collect()
    }

    #[test]
    fn the_old_go_and_the_young_stay() {
        let all = [
            holding(1, 100, 1),
            holding(2, 91, 1),
            holding(3, 90, 1),
            holding(4, 0, 1),
        ];
        assert_eq!(collected(&policy(Some(90), None), &all, 0), [1, 2]);
        assert_eq!(collected(&policy(None, None), &all, 0), Vec::<u64>::new());
        assert_eq!(collected(&policy(Some(0), None), &all, 0), [1, 2, 3]);
    }

    #[test]
    fn nothing_goes_that_is_open_disputed_or_ruled_about() {
        for hold in [
            HoldReason::AtWork,
            HoldReason::Open,
            HoldReason::Disputed,
            HoldReason::Ruled,
        ] {
            let held = CaseHolding {
                hold: Some(hold),
                ..holding(1, 1_000, 50)
            };
            let all = [held, holding(2, 1_000, 50)];
            assert_eq!(collected(&policy(Some(1), Some(0)), &all, 0), [2]);
            let fates = decide_fates(&policy(Some(1), Some(0)), now(), &all, 0);
            assert_eq!(
                fates.get(&case(1)),
                Some(&CaseFate::Keep(KeepReason::Held(hold)))
            );
        }
    }

    #[test]
    fn what_a_held_case_refers_to_stays_however_far_away() {
        let refer = |number, to: u64| CaseHolding {
            refers_to: [case(to)].into(),
            ..holding(number, 1_000, 10)
        };
        let open = CaseHolding {
            hold: Some(HoldReason::Open),
            ..refer(1, 2)
        };
        let all = [open, refer(2, 3), refer(3, 99), refer(4, 1)];
        assert_eq!(collected(&policy(Some(1), Some(0)), &all, 0), [4]);
    }

    #[test]
    fn what_a_young_case_refers_to_outlives_its_age_but_not_a_full_disk() {
        let young = CaseHolding {
            refers_to: [case(2)].into(),
            ..holding(1, 1, 10)
        };
        let all = [young, holding(2, 1_000, 10)];
        assert_eq!(
            collected(&policy(Some(90), None), &all, 0),
            Vec::<u64>::new()
        );
        assert_eq!(collected(&policy(Some(90), Some(10)), &all, 0), [2]);
    }

    #[test]
    fn the_oldest_make_room_and_no_more_than_is_needed() {
        let all = [
            holding(1, 3, 10),
            holding(2, 9, 10),
            holding(3, 6, 10),
            holding(4, 99, 0),
        ];
        assert_eq!(
            collected(&policy(None, Some(30)), &all, 0),
            Vec::<u64>::new()
        );
        assert_eq!(collected(&policy(None, Some(29)), &all, 0), [2]);
        assert_eq!(collected(&policy(None, Some(30)), &all, 11), [2, 3]);
        assert_eq!(collected(&policy(None, Some(0)), &all, 1), [1, 2, 3]);
    }

    #[test]
    fn hashes_cases_and_disputes_are_found_in_any_text() {
        let hash = "0123456789abcdef".repeat(4);
        let mut found = Mentions::default();
        found.add(&format!(
            r#"{{"a":"{hash}","b":"tribunal/c-0000000001-2/x","c":["d-0000000002",7],"d":"c-x"}}"#
        ));
        assert_eq!(found.texts, [hash].into());
        assert_eq!(found.cases, [case(1), case(2)].into());
    }

    fn any_holding() -> impl Strategy<Value = (u32, u64, u8, BTreeSet<u64>)> {
        let refers = proptest::collection::btree_set(1u64..12, 0..3);
        (0u32..200, 0u64..100, 0u8..8, refers)
    }

    proptest! {
        #[test]
        fn whatever_the_facts_nothing_held_or_needed_by_it_goes(
            facts in proptest::collection::vec(any_holding(), 0..12),
            days in proptest::option::of(0u64..200),
            size in proptest::option::of(0u64..600),
            others in 0u64..100,
        ) {
            let holdings: Vec<CaseHolding> = facts.iter().zip(1u64..).map(|((age, bytes, hold, refers), number)| CaseHolding {
                hold: match hold {
                    0 => Some(HoldReason::Open),
                    1 => Some(HoldReason::Ruled),
                    _ => None,
                },
                refers_to: refers.iter().map(|one| case(*one)).collect(),
                ..holding(number, *age, *bytes)
            }).collect();
            let policy = policy(days, size);
            let fates = decide_fates(&policy, now(), &holdings, others);
            prop_assert_eq!(fates.len(), holdings.len());
            let goes = |case: &CaseId| matches!(fates.get(case), Some(CaseFate::Collect(_)));
            // Follow references from whatever is held: none of it goes.
            let mut kept: Vec<&CaseHolding> = holdings.iter().filter(|one| one.hold.is_some()).collect();
            let mut seen = BTreeSet::new();
            while let Some(one) = kept.pop() {
                prop_assert!(!goes(&one.case));
                if seen.insert(one.case.clone()) {
                    kept.extend(holdings.iter().filter(|other| one.refers_to.contains(&other.case)));
                }
            }
            // What may go is gone as soon as the rest is too large.
            let left: u64 = holdings.iter().filter(|one| !goes(&one.case)).map(|one| one.bytes).sum();
            if policy.size.is_some_and(|size| left + others > size) {
                for one in &holdings {
                    prop_assert!(goes(&one.case) || seen.contains(&one.case) || one.bytes == 0);
                }
            }
            // Without a reason in the policy nothing goes.
            if policy.age_ms.is_none() && policy.size.is_none() {
                prop_assert!(holdings.iter().all(|one| !goes(&one.case)));
            }
        }
    }
}
