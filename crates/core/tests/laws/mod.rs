//! The laws that hold for every review, whatever it contains, and the reviews they are tried on.
//!
//! `properties.rs` tries them on the same reviews every time; `slow_properties.rs` on new ones.

use proptest::prelude::*;
use tribunal_core::consensus::{
    Input, Judgement, Note, Policy, Settlement, Verdict, reversals, settle,
};
use tribunal_core::finding::{Category, Finding, Grounding, Location};
use tribunal_core::reply::Side;
use tribunal_core::review::{Defense, Examination, Plea, Stance};
use tribunal_core::scale::{Adjustment, Confidence, Severity};

const NAMES: [&str; 5] = ["ann", "bob", "eve", "joe", "kim"];
const FAMILIES: [&str; 5] = ["anthropic", "openai", "google", "openai", "qwen"];
const TITLES: [&str; 6] = [
    "query built by hand",
    "query built from user input",
    "lock is never released after the error",
    "race condition between readers and the writer",
    "consider a better name",
    "Lock()",
];

fn finding() -> impl Strategy<Value = Finding> {
    let place = (
        0..3_usize,
        prop::option::of(1..40_u32),
        0..6_u32,
        0..3_usize,
    );
    let kind = (
        prop::option::of(prop::sample::select(Category::ALL.to_vec())),
        prop::option::of(prop::sample::select(Severity::ALL.to_vec())),
        prop::option::of(0..=100_i64),
    );
    let text = (0..TITLES.len(), any::<bool>(), any::<bool>(), 0..4_usize);
    (0..NAMES.len(), 0..6_usize, place, kind, text).prop_map(
        |(who, number, (file, line, length, function), (category, severity, sure), text)| {
            let (title, has_trigger, has_fix, ground) = text;
            Finding {
                id: ["f0", "f1", "f2", "f3", "f4", "f0#2"][number].to_owned(),
                reviewer: NAMES[who].to_owned(),
                family: FAMILIES[who].to_owned(),
                location: Location {
                    file: ["", "a.rs", "b.rs"][file].to_owned(),
                    line,
                    end_line: line.map(|line| line + length),
                    function: ["", "load", "save"]
                        .get(function)
                        .filter(|name| !name.is_empty())
                        .map(|name| (*name).to_owned()),
                },
                category,
                severity,
                confidence: sure.and_then(|number| Confidence::new(number).ok()),
                title: TITLES[title].to_owned(),
                trigger: if has_trigger { "two calls at once" } else { "" }.to_owned(),
                suggestion: if has_fix { "take the lock first" } else { "" }.to_owned(),
                grounding: [
                    Grounding::Unchecked,
                    Grounding::Confirmed,
                    Grounding::Doubtful,
                    Grounding::Refuted,
                ][ground],
                ..Finding::default()
            }
        },
    )
}

fn examination() -> impl Strategy<Value = Examination> {
    let stances = [Stance::Agree, Stance::Partial, Stance::Disagree];
    (
        0..NAMES.len(),
        0..7_u32,
        prop::sample::select(stances.to_vec()),
        -30..=30_i64,
        any::<bool>(),
    )
        .prop_map(|(who, number, stance, amount, reasoned)| Examination {
            reviewer: NAMES[who].to_owned(),
            family: FAMILIES[who].to_owned(),
            finding_id: format!("f{number}"),
            original_model: None,
            stance,
            adjustment: Adjustment::new(amount).unwrap_or_default(),
            reasoning: if reasoned {
                "it is already checked in load() on line 12"
            } else {
                "no"
            }
            .to_owned(),
            new_observations: Vec::new(),
        })
}

fn defense() -> impl Strategy<Value = Defense> {
    let pleas = [Plea::Defend, Plea::Concede, Plea::Modify];
    let severity = prop::option::of(prop::sample::select(Severity::ALL.to_vec()));
    (
        0..NAMES.len(),
        0..7_u32,
        prop::sample::select(pleas.to_vec()),
        -30..=30_i64,
        severity,
    )
        .prop_map(|(who, number, plea, amount, revised_severity)| Defense {
            reviewer: NAMES[who].to_owned(),
            finding_id: format!("f{number}"),
            plea,
            adjustment: Adjustment::new(amount).unwrap_or_default(),
            reasoning: "the check happens too late to help".to_owned(),
            revised_severity,
            revised_description: None,
        })
}

fn judgement() -> impl Strategy<Value = Judgement> {
    let sides = [Side::For, Side::Against, Side::Balanced];
    let severity = prop::option::of(prop::sample::select(Severity::ALL.to_vec()));
    (
        0..NAMES.len(),
        0..7_u32,
        prop::sample::select(sides.to_vec()),
        severity,
    )
        .prop_map(|(who, number, side, severity)| Judgement {
            finding_id: format!("f{number}"),
            reviewer: Some(NAMES[who].to_owned()),
            judge: "jim".to_owned(),
            side,
            severity,
            reason: "a.rs:3".to_owned(),
        })
}

/// Returns a review in which a judge weighed some of the findings.
fn judged_review() -> impl Strategy<Value = Input> {
    (review(), prop::collection::vec(judgement(), 0..8)).prop_map(|(input, judgements)| Input {
        judgements,
        ..input
    })
}

fn review() -> impl Strategy<Value = Input> {
    review_of(0..24)
}

fn review_of(findings: std::ops::Range<usize>) -> impl Strategy<Value = Input> {
    let findings = prop::collection::vec(finding(), findings);
    let examinations = prop::collection::vec(examination(), 0..12);
    let defenses = prop::collection::vec(defense(), 0..6);
    (findings, examinations, defenses).prop_map(|(findings, examinations, defenses)| Input {
        findings,
        examinations,
        defenses,
        ..Input::default()
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    prop::sample::select(vec![Policy::arena(), Policy::tribunal()])
}

/// Shuffles by sorting with the given keys.
fn shuffled<T>(list: Vec<T>, keys: &[u32]) -> Vec<T> {
    let mut keyed: Vec<(u32, T)> = keys.iter().copied().cycle().zip(list).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, item)| item).collect()
}

fn confidence_of(settlement: &Settlement, id: &str, reviewer: &str) -> Option<u8> {
    let is_it = |member: &u32| {
        let finding = &settlement.findings[*member as usize];
        finding.id == id && finding.reviewer == reviewer
    };
    let group = settlement
        .groups
        .iter()
        .find(|group| group.members.iter().any(is_it))?;
    Some(group.confidence.get())
}

/// An argument with every quality that is measured.
const ARGUED: &str =
    "since `save()` on line 7 is guarded, nobody can ever get here with such a value";

/// Returns the verdict on `finding` after so many families have moved it by so many points.
fn verdict_after(
    input: &Input,
    policy: &Policy,
    finding: &Finding,
    (stance, reason, families, points): (Stance, &str, u8, i64),
) -> Option<Verdict> {
    let mut more = input.clone();
    more.examinations
        .extend((0..families).map(|number| Examination {
            reviewer: format!("new{number}"),
            family: format!("unheard{number}"),
            finding_id: finding.id.clone(),
            original_model: Some(finding.reviewer.clone()),
            stance,
            adjustment: Adjustment::new(points).expect("within the scale"),
            reasoning: reason.to_owned(),
            new_observations: Vec::new(),
        }));
    verdict_of(&settle(more, policy), finding)
}

fn verdict_of(settlement: &Settlement, finding: &Finding) -> Option<Verdict> {
    let is_it = |member: &u32| {
        let other = &settlement.findings[*member as usize];
        other.id == finding.id && other.reviewer == finding.reviewer
    };
    let mut groups = settlement.groups.iter();
    let group = groups.find(|group| group.members.iter().any(is_it))?;
    Some(group.verdict)
}

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn order_of_arrival_changes_nothing(
        input in judged_review(), policy in policy(), keys in prop::collection::vec(any::<u32>(), 24),
    ) {
        let other = Input {
            findings: shuffled(input.findings.clone(), &keys),
            examinations: shuffled(input.examinations.clone(), &keys),
            defenses: shuffled(input.defenses.clone(), &keys),
            judgements: shuffled(input.judgements.clone(), &keys),
            ..input.clone()
        };
        prop_assert_eq!(settle(input, &policy), settle(other, &policy));
    }

    #[test]
    fn delivering_everything_twice_changes_nothing(input in judged_review(), policy in policy()) {
        let mut twice = input.clone();
        twice.findings.extend(input.findings.clone());
        twice.examinations.extend(input.examinations.clone());
        twice.defenses.extend(input.defenses.clone());
        twice.judgements.extend(input.judgements.clone());
        prop_assert_eq!(settle(input, &policy), settle(twice, &policy));
    }

    #[test]
    fn every_finding_ends_in_exactly_one_list(input in judged_review(), policy in policy()) {
        let settlement = settle(input, &policy);
        let mut members: Vec<u32> = settlement.groups.iter().flat_map(|group| group.members.clone()).collect();
        members.sort_unstable();
        let all: Vec<u32> = (0..settlement.findings.len() as u32).collect();
        prop_assert_eq!(members, all);
        let mut names: Vec<(&str, &str)> =
            settlement.findings.iter().map(|one| (one.reviewer.as_str(), one.id.as_str())).collect();
        names.sort_unstable();
        names.dedup();
        prop_assert_eq!(names.len(), settlement.findings.len());
        let report = settlement.report();
        let lists = &report.consensus;
        let listed = lists.accepted.len() + lists.rejected.len() + lists.disputed.len();
        prop_assert_eq!(listed, settlement.groups.len());
        prop_assert_eq!(lists.accepted.len(), report.findings.len());
        let total: u32 = report.debate_statistics.findings_per_model.values().sum();
        prop_assert_eq!(total, report.debate_statistics.total_findings_received);
    }

    #[test]
    fn the_statistics_count_every_group_once(input in judged_review(), policy in policy()) {
        let settlement = settle(input, &policy);
        let counts = settlement.report().debate_statistics;
        let counted = counts.agreements
            + counts.conflicts_resolved
            + counts.disputes_unresolved
            + counts.unique_findings_accepted
            + counts.unique_findings_rejected;
        prop_assert_eq!(counted as usize, settlement.groups.len());
    }

    #[test]
    fn the_report_loses_nothing_that_anybody_said(input in judged_review(), policy in policy()) {
        let settlement = settle(input, &policy);
        let report = settlement.report();
        let lists = &report.consensus;
        let details = lists.rejected.iter().map(|one| &one.details);
        let details = details.chain(lists.disputed.iter().map(|one| &one.details));
        let listed = details.map(|one| (&one.members, &one.cross_examination_trail));
        let accepted = report.findings.iter().map(|one| (&one.members, &one.cross_examination_trail));
        let mut members = Vec::new();
        let mut said = 0;
        for (some, trail) in accepted.chain(listed) {
            members.extend(some.iter().map(|one| {
                (one.reviewer.clone(), one.id.clone(), one.title.clone(), one.suggestion.clone())
            }));
            let round2 = trail.round2.by_reviewer.values().map(|one| &one.action);
            let actions = round2.chain([&trail.round3.action]).filter(|action| *action != "N/A");
            said += actions.count() + trail.round2.claude_reviewers.len() + trail.others.len();
        }
        members.sort_unstable();
        let mut reported: Vec<_> = settlement.findings.iter().map(|one| {
            (one.reviewer.clone(), one.id.clone(), one.title.clone(), one.suggestion.clone())
        }).collect();
        reported.sort_unstable();
        prop_assert_eq!(members, reported);
        let heard = settlement.groups.iter().map(|group| group.examinations.len() + group.defenses.len());
        prop_assert_eq!(said, heard.sum::<usize>());
        for disputed in &lists.disputed {
            for one in &disputed.details.members {
                let says = disputed.perspectives.get(&one.reviewer);
                prop_assert!(says.is_some_and(|text| text.contains(&one.title)));
            }
        }
    }

    #[test]
    fn every_confidence_is_the_sum_of_its_trace(input in judged_review(), policy in policy()) {
        for group in &settle(input, &policy).groups {
            prop_assert!(group.confidence.get() <= 100);
            prop_assert_eq!(group.trace.sum(), i32::from(group.confidence.get()));
            prop_assert!(!group.trace.lines().is_empty());
        }
    }

    #[test]
    fn one_more_agreeing_family_never_lowers_the_confidence(
        input in review_of(1..24), policy in policy(), which in any::<prop::sample::Index>(),
    ) {
        let first = settle(input.clone(), &policy);
        let finding = first.findings[which.index(first.findings.len())].clone();
        let before = confidence_of(&first, &finding.id, &finding.reviewer);
        let mut more = input;
        more.examinations.push(Examination {
            reviewer: "new".to_owned(),
            family: "unheard".to_owned(),
            finding_id: finding.id.clone(),
            original_model: Some(finding.reviewer.clone()),
            stance: Stance::Agree,
            adjustment: Adjustment::NONE,
            reasoning: String::new(),
            new_observations: Vec::new(),
        });
        let after = confidence_of(&settle(more, &policy), &finding.id, &finding.reviewer);
        prop_assert!(after >= before, "{before:?} became {after:?}");
    }

    #[test]
    fn one_more_family_that_reports_the_same_never_lowers_the_confidence(
        finding in finding(), policy in policy(),
    ) {
        let alone = Input { findings: vec![finding.clone()], ..Input::default() };
        let second = Finding {
            reviewer: "new".to_owned(),
            family: "unheard".to_owned(),
            ..finding.clone()
        };
        let together = Input { findings: vec![finding.clone(), second], ..Input::default() };
        let before = confidence_of(&settle(alone, &policy), &finding.id, &finding.reviewer);
        let after = confidence_of(&settle(together, &policy), &finding.id, &finding.reviewer);
        prop_assert!(after >= before, "{before:?} became {after:?}");
    }

    #[test]
    fn a_stated_reversal_reverses_and_one_point_less_does_not(
        input in review_of(1..24), policy in policy(), judgements in prop::collection::vec(judgement(), 0..8),
        which in any::<prop::sample::Index>(),
    ) {
        let input = Input { judgements, ..input };
        let settlement = settle(input.clone(), &policy);
        let reversals = reversals(input.clone(), &policy, &settlement);
        prop_assert_eq!(reversals.len(), settlement.groups.len());
        let index = which.index(settlement.groups.len());
        let (group, reversal) = (&settlement.groups[index], reversals[index]);
        prop_assert_eq!(reversal.verdict, group.verdict);
        let lead = &settlement.findings[group.lead() as usize];
        let (stance, sign) = match group.verdict {
            Verdict::Accepted => (Stance::Disagree, -1),
            Verdict::Disputed | Verdict::Rejected => (Stance::Agree, 1),
        };
        for (stated, reason) in [(reversal.bare, ""), (reversal.argued, ARGUED)] {
            let after = |families: u8, points: i64| {
                let said = (stance, reason, families, sign * points);
                verdict_after(&input, &policy, lead, said)
            };
            let Some(stated) = stated else {
                prop_assert_eq!(after(4, 30), Some(group.verdict));
                continue;
            };
            let points = i64::from(stated.points);
            prop_assert_eq!(after(stated.families, points), Some(stated.verdict));
            prop_assert_ne!(stated.verdict, group.verdict);
            if points > 0 {
                prop_assert_eq!(after(stated.families, points - 1), Some(group.verdict));
            }
            if stated.families > 1 {
                prop_assert_eq!(after(stated.families - 1, 30), Some(group.verdict));
            }
        }
    }

    #[test]
    fn nothing_critical_is_rejected_unless_its_author_withdrew_it_or_its_code_does_not_exist(input in judged_review()) {
        let withdrawn = !input.defenses.is_empty();
        let settlement = settle(input, &Policy::arena());
        let fallen = settlement.groups.iter().any(|group| {
            group.verdict == Verdict::Rejected
                && group.severity == Severity::Critical
                && !group.notes.contains(&Note::Ungrounded)
        });
        prop_assert!(!fallen || withdrawn);
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in ".{0,300}", tags in "(\\[(MUST|HIGH|X)\\] [a-z.:0-9 ]{0,20}\n){0,4}") {
        let author = tribunal_core::reply::Author::default();
        let _ = tribunal_core::reply::read_findings(&text, &author);
        let _ = tribunal_core::reply::read_messages(&text, &author);
        let read = tribunal_core::reply::read_findings(&tags, &author);
        prop_assert!(read.findings.len() + read.problems.len() >= usize::from(!tags.is_empty()));
    }
}
