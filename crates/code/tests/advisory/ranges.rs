//! Whether a version lies in the ranges of a record.

use proptest::prelude::*;
use tribunal_code::advisory::{
    Affected, AffectedPackage, Event, Index, Range, RangeKind, Record, Status,
};

use super::{index, package};

/// What the five records say: `affected until …`, `patched by …`, `unaffected`, or nothing.
#[track_caller]
pub(super) fn check(index: &Index, used: &str, expected: &str) {
    let found: Vec<String> = index
        .matches(&package(used))
        .into_iter()
        .map(|advisory| {
            let status = match advisory.status {
                Status::Affected { fixed_in } => {
                    format!("affected until {}", fixed_in.as_deref().unwrap_or("?"))
                }
                Status::Patched { fixed_in } => {
                    format!("patched by {}", fixed_in.as_deref().unwrap_or("?"))
                }
                Status::Unaffected => "unaffected".to_owned(),
            };
            format!("{} {status}", advisory.id)
        })
        .collect();
    assert_eq!(found.join(", "), expected, "{used}");
}

#[test]
fn published_ranges_decide() {
    let index = index();
    for (used, expected) in [
        ("crates.io smallvec 0.6.2", "RUSTSEC-2021-0003 unaffected"),
        (
            "crates.io smallvec 0.6.3",
            "RUSTSEC-2021-0003 affected until 0.6.14",
        ),
        (
            "crates.io smallvec 0.6.13",
            "RUSTSEC-2021-0003 affected until 0.6.14",
        ),
        (
            "crates.io smallvec 0.6.14",
            "RUSTSEC-2021-0003 patched by 0.6.14",
        ),
        (
            "crates.io smallvec 1.0.0-alpha",
            "RUSTSEC-2021-0003 patched by 0.6.14",
        ),
        (
            "crates.io smallvec 1.6.0",
            "RUSTSEC-2021-0003 affected until 1.6.1",
        ),
        (
            "crates.io smallvec 1.6.1",
            "RUSTSEC-2021-0003 patched by 1.6.1",
        ),
        (
            "crates.io smallvec 1.13.2",
            "RUSTSEC-2021-0003 patched by 1.6.1",
        ),
        (
            "Maven org.apache.logging.log4j:log4j-core 2.0-beta9",
            "GHSA-jfh8-c2jp-5v3q affected until 2.3.1",
        ),
        (
            "Maven org.apache.logging.log4j:log4j-core 2.3.1",
            "GHSA-jfh8-c2jp-5v3q patched by 2.3.1",
        ),
        (
            "Maven org.apache.logging.log4j:log4j-core 2.12.1",
            "GHSA-jfh8-c2jp-5v3q affected until 2.12.2",
        ),
        (
            "Maven org.apache.logging.log4j:log4j-core 2.12.4",
            "GHSA-jfh8-c2jp-5v3q patched by 2.12.2",
        ),
        (
            "Maven org.apache.logging.log4j:log4j-core 2.14.1",
            "GHSA-jfh8-c2jp-5v3q affected until 2.15.0",
        ),
        (
            "Maven org.apache.logging.log4j:log4j-core 2.15.0-rc1",
            "GHSA-jfh8-c2jp-5v3q affected until 2.15.0",
        ),
        (
            "Maven org.apache.logging.log4j:log4j-core 2.17.1",
            "GHSA-jfh8-c2jp-5v3q patched by 2.15.0",
        ),
        ("Maven org.apache.logging.log4j:log4j-api 2.14.1", ""),
        (
            "npm lodash 4.17.20",
            "GHSA-35jh-r3h4-6jhm affected until 4.17.21",
        ),
        (
            "npm lodash 4.17.21",
            "GHSA-35jh-r3h4-6jhm patched by 4.17.21",
        ),
        (
            "npm lodash-es 4.17.15",
            "GHSA-35jh-r3h4-6jhm affected until 4.17.21",
        ),
        ("npm Lodash 4.17.15", ""),
        ("PyPI PyYAML 5.3.1", "PYSEC-2021-142 affected until 5.4"),
        ("PyPI PyYAML 5.4b2", "PYSEC-2021-142 affected until 5.4"),
        ("PyPI pyyaml 5.4", "PYSEC-2021-142 patched by 5.4"),
        ("PyPI pyyaml 6.0.1", "PYSEC-2021-142 patched by 5.4"),
        ("PyPI pyyaml unreleased", ""),
        (
            "Go golang.org/x/text v0.3.7",
            "GO-2022-1059 affected until 0.3.8",
        ),
        (
            "Go golang.org/x/text v0.3.8-0.20211004125949-5bd84dd9b33b",
            "GO-2022-1059 affected until 0.3.8",
        ),
        (
            "Go golang.org/x/text v0.3.8",
            "GO-2022-1059 patched by 0.3.8",
        ),
        ("crates.io lodash 4.17.20", ""),
    ] {
        check(&index, used, expected);
    }
}

/// Events as `introduced 1, fixed 2`, of the npm package `p`.
fn record(events: &str) -> Record {
    let events = events.split(", ").map(|event| {
        let (what, version) = event.split_once(' ').unwrap();
        let version = Some(version.to_owned());
        match what {
            "introduced" => Event {
                introduced: version,
                ..Event::default()
            },
            "fixed" => Event {
                fixed: version,
                ..Event::default()
            },
            "last_affected" => Event {
                last_affected: version,
                ..Event::default()
            },
            "limit" => Event {
                limit: version,
                ..Event::default()
            },
            _ => panic!("{what}"),
        }
    });
    Record {
        id: "R".to_owned(),
        affected: vec![Affected {
            package: AffectedPackage {
                ecosystem: "npm".to_owned(),
                name: "p".to_owned(),
                ..AffectedPackage::default()
            },
            ranges: vec![Range {
                kind: RangeKind::Semver,
                events: events.collect(),
            }],
            ..Affected::default()
        }],
        ..Record::default()
    }
}

#[test]
fn events_are_evaluated_as_the_schema_says() {
    for (events, version, expected) in [
        (
            "introduced 0, last_affected 1.5.0",
            "1.5.0",
            "R affected until ?",
        ),
        (
            "introduced 0, last_affected 1.5.0",
            "1.5.1",
            "R patched by ?",
        ),
        (
            "introduced 0, fixed 2.0.0",
            "0.0.0-alpha",
            "R affected until 2.0.0",
        ),
        (
            "fixed 2.0.0, introduced 1.0.0",
            "1.5.0",
            "R affected until 2.0.0",
        ),
        ("introduced 1.0.0", "99.0.0", "R affected until ?"),
        ("introduced 1.0.0", "0.9.0", "R unaffected"),
        (
            "introduced 1.0.0, fixed 1.0.0",
            "1.0.0",
            "R patched by 1.0.0",
        ),
        (
            "introduced 1.0.0, last_affected 1.0.0",
            "1.0.0",
            "R affected until ?",
        ),
        (
            "introduced 3.0.0, fixed 4.0.0, introduced 1.0.0, fixed 2.0.0",
            "3.5.0",
            "R affected until 4.0.0",
        ),
        (
            "introduced 3.0.0, fixed 4.0.0, introduced 1.0.0, fixed 2.0.0",
            "2.5.0",
            "R patched by 2.0.0",
        ),
        ("introduced 0, limit 2.0.0", "1.0.0", "R affected until ?"),
        ("introduced 0, limit 2.0.0", "2.0.0", "R unaffected"),
        (
            "introduced 0, limit 2.0.0, limit *",
            "2.0.0",
            "R affected until ?",
        ),
        ("introduced 0, fixed soon", "1.0.0", ""),
        ("fixed 2.0.0", "1.0.0", "R unaffected"),
    ] {
        let index = Index::from_records([record(events)]);
        check(&index, &format!("npm p {version}"), expected);
    }
}

#[test]
fn an_explicit_list_suffices() {
    let mut listed = record("introduced 9.0.0");
    listed.affected[0].versions = vec!["1.2.3".to_owned(), "odd".to_owned()];
    let index = Index::from_records([listed.clone()]);
    check(&index, "npm p 1.2.3", "R affected until ?");
    check(&index, "npm p odd", "R affected until ?");
    check(&index, "npm p 1.2.4", "R unaffected");
    listed.affected[0].ranges[0].kind = RangeKind::Other;
    let index = Index::from_records([listed]);
    check(&index, "npm p 1.2.3", "R affected until ?");
    check(&index, "npm p 9.0.0", "R unaffected");
}

#[test]
fn ranges_of_commits_say_nothing_about_versions() {
    let mut commits = record("introduced 0");
    commits.affected[0].ranges[0].kind = RangeKind::Other;
    check(&Index::from_records([commits]), "npm p 1.0.0", "");
}

#[test]
fn a_noted_upper_bound_ends_an_open_range() {
    for (note, version, expected) in [
        ("<= 1.5.0", "1.5.0", "R affected until ?"),
        ("<= 1.5.0", "1.6.0", "R patched by ?"),
        ("< 1.5.0", "1.5.0", "R patched by 1.5.0"),
        ("whenever", "1.5.0", "R affected until ?"),
    ] {
        let mut noted = record("introduced 0");
        let notes = &mut noted.affected[0].database_specific;
        notes.last_known_affected_version_range = Some(note.to_owned());
        check(
            &Index::from_records([noted]),
            &format!("npm p {version}"),
            expected,
        );
    }
}

#[test]
fn withdrawn_records_are_ignored_and_newer_ones_win() {
    let old = Record {
        modified: Some("2021-01-01T00:00:00Z".to_owned()),
        ..record("introduced 0")
    };
    let new = Record {
        modified: Some("2022-01-01T00:00:00Z".to_owned()),
        ..record("introduced 5.0.0")
    };
    let gone = Record {
        withdrawn: Some("2023-01-01T00:00:00Z".to_owned()),
        modified: Some("2023-01-01T00:00:00Z".to_owned()),
        ..record("introduced 0")
    };
    for order in [[&old, &new], [&new, &old]] {
        let index = Index::from_records(order.map(Record::clone));
        check(&index, "npm p 1.0.0", "R unaffected");
    }
    for order in [[&old, &gone], [&gone, &old]] {
        assert!(Index::from_records(order.map(Record::clone)).is_empty());
    }
}

fn is_affected(index: &Index, version: &str) -> bool {
    let advisories = index.matches(&package(&format!("npm p {version}")));
    let mut statuses = advisories.into_iter().map(|advisory| advisory.status);
    statuses.any(|status| matches!(status, Status::Affected { .. }))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn a_fixed_version_is_never_affected(
        steps in prop::collection::vec(("(introduced|fixed|last_affected)", "[0-4]\\.[0-4]\\.0(-rc)?"), 1..8),
        at in any::<prop::sample::Index>(),
    ) {
        let events: Vec<String> = steps.iter().map(|(what, version)| format!("{what} {version}")).collect();
        let index = Index::from_records([record(&events.join(", "))]);
        let (what, version) = &steps[at.index(steps.len())];
        if what == "fixed" {
            prop_assert!(!is_affected(&index, version), "{events:?} {version}");
        }
    }

    #[test]
    fn the_order_of_events_changes_nothing(
        steps in prop::collection::vec(("(introduced|fixed|last_affected)", "[0-4]\\.[0-4]\\.0"), 1..6),
        version in "[0-4]\\.[0-4]\\.0",
    ) {
        let mut events: Vec<String> = steps.iter().map(|(what, version)| format!("{what} {version}")).collect();
        let forwards = Index::from_records([record(&events.join(", "))]);
        events.reverse();
        let backwards = Index::from_records([record(&events.join(", "))]);
        let used = package(&format!("npm p {version}"));
        prop_assert_eq!(forwards.matches(&used), backwards.matches(&used));
    }
}
