//! Whatever is merged and whatever was ruled before, nothing grave disappears: properties over random
//! panels, groups and rulings, the same ones every time.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tribunal_core::consensus::{ClaimText, Group, Input, Policy, Settlement, Verdict, settle};
use tribunal_core::finding::{Category, Finding, Grounding, Label, Location, Source};
use tribunal_core::ids::DisputeId;
use tribunal_core::review::coverage::{Coverage, CoveredFile, FileStatus};
use tribunal_core::review::gate::{Evidence, Gate, GatedFinding, Obligation, decide};
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::identity::{
    Claimed, Dismissal, Recognized, SightedClaim, Sighting, recognize,
};
use tribunal_core::review::report::Standing;
use tribunal_core::scale::{Confidence, Severity};
use tribunal_core::time::Timestamp;

const NAMES: [&str; 6] = ["ann", "bob", "eve", "joe", "builtin:tests", "clippy"];
const FAMILIES: [&str; 6] = [
    "anthropic",
    "openai",
    "google",
    "qwen",
    "builtin",
    "tool:clippy",
];
const RULES: [&str; 3] = ["", "no-eval", "no-skip"];
/// No two of them say the same.
const TITLES: [&str; 5] = [
    "Query built by hand from the owner",
    "Anybody may read the parcels of others",
    "Lock is never released after the error",
    "Division by zero for an empty order",
    "Money is rounded as a float",
];
const TEXTS: [&str; 3] = [
    "",
    "The owner of the parcel is pasted into the statement, so a visitor reads all of them.",
    "Amounts are cents, and a float loses some of them in every share.",
];

fn config() -> Config {
    Config {
        cases: 500,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..Config::default()
    }
}

fn finding() -> impl Strategy<Value = Finding> {
    let place = (0..3_usize, prop::option::of(1..12_u32), 0..4_u32);
    let weight = (
        prop::option::of(prop::sample::select(Severity::ALL.to_vec())),
        prop::option::of(prop::sample::select(Label::ALL.to_vec())),
        prop::option::of(0..=100_i64),
    );
    let text = (0..TITLES.len(), 0..TEXTS.len(), 0..RULES.len(), 0..4_usize);
    (0..NAMES.len(), 0..40_u32, place, weight, text).prop_map(
        |(who, number, (file, line, length), (severity, label, sure), text)| {
            let (title, description, rule, ground) = text;
            let is_tool = who >= 4;
            Finding {
                id: format!("i{number}"),
                reviewer: NAMES[who].to_owned(),
                family: FAMILIES[who].to_owned(),
                rule: if is_tool { RULES[rule] } else { "" }.to_owned(),
                location: Location {
                    file: ["", "a.rs", "b.rs"][file].to_owned(),
                    line,
                    end_line: line.map(|line| line + length),
                    function: None,
                },
                category: Some([Category::Bug, Category::Security][number as usize % 2]),
                severity,
                label: label.filter(|_| !is_tool),
                confidence: sure.and_then(|number| Confidence::new(number).ok()),
                title: TITLES[title].to_owned(),
                description: TEXTS[description].to_owned(),
                grounding: [
                    Grounding::Unchecked,
                    Grounding::Confirmed,
                    Grounding::Doubtful,
                    Grounding::Refuted,
                ][ground],
                source: if is_tool {
                    Source::Tool
                } else {
                    Source::Round1
                },
                ..Finding::default()
            }
        },
    )
}

fn settled() -> impl Strategy<Value = Settlement> {
    let findings = prop::collection::vec(finding(), 0..20);
    let policies = prop::sample::select(vec![Policy::arena(), Policy::tribunal()]);
    (findings, policies).prop_map(|(findings, policy)| {
        let input = Input {
            findings,
            ..Input::default()
        };
        settle(input, &policy)
    })
}

/// Returns how bad a reviewer says it is, by severity or by tag; nothing if it does not say.
fn stated(finding: &Finding) -> Option<Severity> {
    finding.severity.max(finding.label.map(Label::severity))
}

/// Returns whether three families or more rated just what a member of a group claims, programs that rate
/// it lower apart, and their median is below high.
fn is_outweighed(settlement: &Settlement, group: &Group, grave: &Finding) -> bool {
    let all = group.members.iter();
    let members = all.map(|&one| &settlement.findings[one as usize]);
    let claim = |one: &Finding| {
        let place = (one.location.file.clone(), one.location.lines());
        (place, one.title.clone(), one.description.clone())
    };
    let mut by_family: BTreeMap<&str, Severity> = BTreeMap::new();
    for member in members.filter(|one| claim(one) == claim(grave)) {
        let Some(level) = stated(member) else {
            continue;
        };
        if member.source == Source::Tool && Some(level) < stated(grave) {
            continue;
        }
        let known = by_family.entry(&member.family).or_insert(level);
        *known = level.max(*known);
    }
    let mut levels: Vec<Severity> = by_family.into_values().collect();
    levels.len() >= 3 && Severity::median(&mut levels) < Some(Severity::High)
}

/// Decides the gate over the groups of a settlement as a review does.
fn gate(settlement: &Settlement, dismissed: &BTreeSet<usize>) -> Gate {
    let gated = settlement
        .groups
        .iter()
        .enumerate()
        .map(|(index, group)| GatedFinding {
            verdict: group.verdict,
            obligation: match group.gravity >= Severity::High {
                true => Obligation::Mandatory,
                false => Obligation::Optional,
            },
            severity: group.gravity,
            counts: group.verdict != Verdict::Rejected && !dismissed.contains(&index),
            is_to_do: false,
        });
    let coverage = Coverage {
        reviewed: vec![CoveredFile {
            path: "a.rs".to_owned(),
            old_path: None,
            status: FileStatus::Modified,
            changed_lines: 1,
        }],
        ..Coverage::default()
    };
    decide(&Evidence {
        findings: &gated.collect::<Vec<_>>(),
        coverage: &coverage,
        may_skip: &[],
        asked: 1,
        missing: &[],
        fail_on: None,
    })
}

fn sightings(settlement: &Settlement) -> Vec<Sighting> {
    let claim = |&member: &u32| {
        let finding = &settlement.findings[member as usize];
        let place = |category: Category| {
            let location = &finding.location;
            format!("{} {:?} {category}", location.file, location.line)
        };
        let category = finding.category.unwrap_or(Category::Other);
        SightedClaim {
            claimed: Claimed {
                place: place(category),
                category,
                rule: finding.rule.clone(),
                text: ClaimText::new(&finding.title, &finding.description),
                scope: String::new(),
                signature: String::new(),
            },
            file: finding.location.file.clone(),
            places: Category::ALL.map(place).to_vec(),
            earlier_places: Vec::new(),
            is_only: true,
            has_code: finding.location.line.is_some(),
        }
    };
    let groups = settlement.groups.iter();
    groups
        .map(|group| Sighting {
            claims: group.members.iter().map(claim).collect(),
        })
        .collect()
}

fn mint(sighting: &Sighting, number: u32) -> String {
    let lead = &sighting.claims[0].claimed;
    format!(
        "{} {} {} {number}",
        lead.place,
        lead.rule,
        lead.text.title()
    )
}

/// Returns the finding that a dispute was about, and its ruling.
fn dismissal(sighting: &Sighting, name: &str) -> Dismissal {
    Dismissal {
        finding: TrackedFinding {
            fingerprint: name.to_owned(),
            location: Location::default(),
            category: sighting.claims[0].claimed.category,
            severity: Severity::High,
            label: None,
            title: sighting.claims[0].claimed.text.title().to_owned(),
            code: String::new(),
            standing: Standing::Dismissed,
            claimed: sighting
                .claims
                .iter()
                .map(|one| one.claimed.clone())
                .collect(),
            branches: BTreeMap::new(),
        },
        dispute: DisputeId::new("d-1a2b3c4d5e").expect("an id"),
        at: Timestamp(0),
    }
}

proptest! {
    #![proptest_config(config())]

    /// If any member of a group that was not rejected would block alone, and no median of three
    /// families for the same claim outweighs it, the gate is not PASS.
    #[test]
    fn a_grave_member_of_any_group_keeps_the_gate_from_passing(settlement in settled()) {
        let grave = |group: &&Group| {
            let mut members = group.members.iter().map(|&one| &settlement.findings[one as usize]);
            group.verdict != Verdict::Rejected
                && members.any(|one| {
                    stated(one) >= Some(Severity::High) && !is_outweighed(&settlement, group, one)
                })
        };
        let expected = settlement.groups.iter().any(|group| grave(&group));
        if expected {
            prop_assert_ne!(gate(&settlement, &BTreeSet::new()), Gate::Pass);
        }
        for group in settlement.groups.iter().filter(grave) {
            prop_assert!(group.gravity >= Severity::High);
        }
    }

    /// What was ruled on one review never lets another one pass whose grave claims nobody ruled on.
    #[test]
    fn a_ruling_lets_nothing_pass_that_was_not_shown(
        before in settled(), now in settled(), which in prop::collection::vec(any::<bool>(), 20),
    ) {
        let shown = sightings(&before);
        let names = recognize(&shown, &[], &[], mint);
        let ruled = shown.iter().zip(&names).zip(&which).filter(|(_, ruled)| **ruled);
        let ruled: Vec<Dismissal> =
            ruled.map(|((one, name), _)| dismissal(one, &name.fingerprint)).collect();
        let known: Vec<TrackedFinding> = ruled.iter().map(|one| one.finding.clone()).collect();
        let sightings = sightings(&now);
        let recognized: Vec<Recognized> = recognize(&sightings, &known, &ruled, mint);
        let was_shown = |claim: &Claimed| {
            let mut all = ruled.iter().flat_map(|one| &one.finding.claimed);
            all.any(|one| {
                // The category is a part of a place's name, and not of a rule.
                let bare = |place: &str| place.rsplit_once(' ').map(|(bare, _)| bare.to_owned());
                let here = bare(&one.place) == bare(&claim.place);
                let by_rule = !claim.rule.is_empty() && one.rule == claim.rule;
                let by_text = one.place == claim.place
                    && one.text.title() == claim.text.title()
                    && claim.text.says_no_more_than(&one.text);
                here && one.rule == claim.rule && (by_rule || by_text)
            })
        };
        let mut dismissed = BTreeSet::new();
        for (index, (one, sighting)) in recognized.iter().zip(&sightings).enumerate() {
            if one.dismissed {
                dismissed.insert(index);
                for claim in &sighting.claims {
                    prop_assert!(was_shown(&claim.claimed));
                }
            }
        }
        let grave = now.groups.iter().enumerate().any(|(index, group)| {
            let open = group.verdict != Verdict::Rejected && group.gravity >= Severity::High;
            open && !dismissed.contains(&index)
        });
        prop_assert_eq!(grave && gate(&now, &dismissed) == Gate::Pass, false);
        let different: BTreeSet<&str> =
            recognized.iter().map(|one| one.fingerprint.as_str()).collect();
        prop_assert_eq!(different.len(), sightings.len());
    }

    /// Every reported item is found again in the report, with its text and id.
    #[test]
    fn every_reported_item_is_in_the_report(settlement in settled()) {
        let report = settlement.report();
        let lists = &report.consensus;
        let details = lists.rejected.iter().map(|one| &one.details.members);
        let details = details.chain(lists.disputed.iter().map(|one| &one.details.members));
        let accepted = report.findings.iter().map(|one| &one.members);
        let mut listed: Vec<_> = accepted.chain(details).flatten().map(|one| {
            (one.reviewer.clone(), one.id.clone(), one.title.clone(), one.description.clone())
        }).collect();
        listed.sort_unstable();
        let mut reported: Vec<_> = settlement.findings.iter().map(|one| {
            (one.reviewer.clone(), one.id.clone(), one.title.clone(), one.description.clone())
        }).collect();
        reported.sort_unstable();
        prop_assert_eq!(listed, reported);
    }

    /// A group is about one file and one rule of each family, and holds one finding of each reviewer;
    /// what else it holds of a reviewer repeats that.
    #[test]
    fn a_group_holds_one_finding_of_each_reviewer(settlement in settled()) {
        for group in &settlement.groups {
            let members: Vec<&Finding> =
                group.members.iter().map(|&one| &settlement.findings[one as usize]).collect();
            let files = members.iter().map(|one| one.location.file.as_str());
            let files: BTreeSet<&str> = files.filter(|file| !file.is_empty()).collect();
            prop_assert!(files.len() <= 1);
            for (at, one) in members.iter().enumerate() {
                for other in &members[..at] {
                    if one.reviewer == other.reviewer {
                        prop_assert_eq!(&one.title, &other.title);
                        prop_assert_eq!(&one.rule, &other.rule);
                    }
                    if one.family == other.family && !one.rule.is_empty() && !other.rule.is_empty() {
                        prop_assert_eq!(&one.rule, &other.rule);
                    }
                }
            }
        }
    }
}
