//! The order of versions in every ecosystem.

use std::cmp::Ordering;

use proptest::prelude::*;
use tribunal_code::advisory::{Ecosystem, Version};

fn version(ecosystem: Ecosystem, text: &str) -> Version {
    Version::parse(ecosystem, text).unwrap_or_else(|| panic!("{ecosystem} has no {text}"))
}

/// Every version stands before all that follow it.
#[track_caller]
fn check_ascending(ecosystem: Ecosystem, versions: &[&str]) {
    assert!(versions.len() >= 15, "a table has at least 15 cases");
    for (at, low) in versions.iter().enumerate() {
        for high in &versions[at + 1..] {
            let (a, b) = (version(ecosystem, low), version(ecosystem, high));
            assert_eq!(a.cmp(&b), Ordering::Less, "{low} < {high}");
            assert_eq!(b.cmp(&a), Ordering::Greater, "{high} > {low}");
        }
    }
}

#[track_caller]
fn check_equal(ecosystem: Ecosystem, pairs: &[(&str, &str)]) {
    for (one, other) in pairs {
        let (a, b) = (version(ecosystem, one), version(ecosystem, other));
        assert_eq!(a, b, "{one} = {other}");
    }
}

#[test]
fn semantic_versions_ascend() {
    let versions = [
        "0.0.0-alpha",
        "0.0.0",
        "0.0.1",
        "0.1.0",
        "0.9.0",
        "0.10.0",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1-0",
        "1.0.1",
        "1.2",
        "1.10.0",
        "2.0.0",
        "18446744073709551616.0.0",
        "99999999999999999999999999.0.0",
    ];
    check_ascending(Ecosystem::CratesIo, &versions);
    check_ascending(Ecosystem::Npm, &versions);
    check_equal(
        Ecosystem::Npm,
        &[
            ("1.0.0", "v1.0.0"),
            ("1.0.0", "1"),
            ("1.0.0", "1.0.0+build.7"),
            ("1.2.3", "=1.2.3"),
            ("1.2.0-rc.1", "1.2-rc.1"),
        ],
    );
}

#[test]
fn go_versions_ascend() {
    check_ascending(
        Ecosystem::Go,
        &[
            "v0.0.0-20180917221912-90fa682c2a6e",
            "v0.0.0-20190308221718-c2843e01d9a2",
            "v0.0.0-20210101000000-000000000000",
            "v0.0.0",
            "v0.3.7",
            "v0.3.8-0.20211004125949-5bd84dd9b33b",
            "v0.3.8-rc.1",
            "v0.3.8",
            "v0.3.9",
            "v0.4.0-pre.0.20220101000000-abcdefabcdef",
            "v0.4.0",
            "v1.0.0",
            "v1.1.0-rc.1",
            "v1.1.0",
            "v2.0.0+incompatible",
            "v2.1.0+incompatible",
            "v10.0.0",
        ],
    );
    check_equal(
        Ecosystem::Go,
        &[("v2.0.0+incompatible", "2.0.0"), ("v0.3.8", "0.3.8")],
    );
}

#[test]
fn python_versions_ascend() {
    check_ascending(
        Ecosystem::PyPi,
        &[
            "0.9",
            "1.0.dev1",
            "1.0a1.dev1",
            "1.0a1",
            "1.0a2",
            "1.0b1",
            "1.0rc1.dev4",
            "1.0rc1",
            "1.0",
            "1.0+local.1",
            "1.0.post1.dev2",
            "1.0.post1",
            "1.1.dev1",
            "1.1",
            "1.2",
            "1.10",
            "2019.3",
            "1!0.1",
        ],
    );
    check_equal(
        Ecosystem::PyPi,
        &[
            ("1.0", "1.0.0"),
            ("1.0-alpha.1", "1.0a1"),
            ("1.0-1", "1.0.post1"),
            ("v1.0", "1.0"),
            ("1.0RC1", "1.0c1"),
        ],
    );
}

#[test]
fn maven_versions_ascend() {
    check_ascending(
        Ecosystem::Maven,
        &[
            "zebra",
            "0-1",
            "0.1",
            "1-alpha2snapshot",
            "1-alpha2",
            "1-alpha-123",
            "1-beta-2",
            "1-beta123",
            "1-m2",
            "1-m11",
            "1-rc",
            "1-cr2",
            "1-rc123",
            "1-SNAPSHOT",
            "1",
            "1-sp",
            "1-sp2",
            "1-abc",
            "1-def",
            "1-pom-1",
            "1-1-snapshot",
            "1-1",
            "1-2",
            "1-123",
            "1.0.1-beta",
            "1.0.1",
            "1.0.10",
            "1.1.0",
            "1.1-a",
            "1.1b",
            "1.1-1",
            "1.1.0.1",
            "2.0-beta9",
            "2.0-rc1",
            "2.0",
            "20190126.230843",
            "1234567890.12345",
            "12345678901234567890.1H.5-beta",
        ],
    );
    check_equal(
        Ecosystem::Maven,
        &[
            ("1", "1.0.0"),
            ("1", "1-0"),
            ("1.0", "1.0-0"),
            ("1a", "1.0.0-a"),
            ("1x", "1.0-x"),
            ("1cr", "1RC"),
            ("1a1", "1-alpha-1"),
            ("1b2", "1-beta-2"),
            ("1m3", "1MileStone3"),
            ("1ga", "1"),
            ("4.1.0.Final", "4.1"),
            ("1RELEASE", "1"),
            ("2.0.x", "2-x"),
            ("0001", "1"),
        ],
    );
}

#[test]
fn maven_order_has_no_circle_where_padding_had_one() {
    // These three once compared as a < b < c < a.
    check_ascending_triple("6.1.0rc3", "6.1.0", "6.1H.5-beta");
    check_ascending_triple("1.0.alpha", "1", "1-1");
    check_ascending_triple("1-0.alpha", "1-0.beta", "1");
}

#[track_caller]
fn check_ascending_triple(a: &str, b: &str, c: &str) {
    let [a, b, c] = [a, b, c].map(|text| version(Ecosystem::Maven, text));
    assert!(a < b && b < c && a < c);
}

#[test]
fn texts_that_are_no_versions_are_refused() {
    for (ecosystem, text) in [
        (Ecosystem::CratesIo, ""),
        (Ecosystem::CratesIo, "one"),
        (Ecosystem::Npm, "1.x"),
        (Ecosystem::Npm, "1..2"),
        (Ecosystem::Npm, "1.0.0-"),
        (Ecosystem::Npm, "^1.0.0"),
        (Ecosystem::Go, "v"),
        (Ecosystem::PyPi, "2004d"),
        (Ecosystem::PyPi, "latest"),
        (Ecosystem::Maven, "  "),
    ] {
        assert_eq!(Version::parse(ecosystem, text), None, "{ecosystem} {text}");
    }
    let long = "1.".repeat(1_000_000);
    for ecosystem in Ecosystem::ALL {
        assert_eq!(Version::parse(ecosystem, &long), None, "{ecosystem}");
    }
}

/// Texts that look like versions, and texts that try to.
fn texts() -> impl Strategy<Value = (Ecosystem, String)> {
    let pieces = prop_oneof![
        "[0-9]{1,3}",
        Just(".".to_owned()),
        Just("-".to_owned()),
        Just("0".to_owned()),
        "(alpha|beta|rc|final|ga|sp|SNAPSHOT|a|b|m|x|dev|post)",
    ];
    let texts = prop::collection::vec(pieces, 1..8).prop_map(|pieces| pieces.concat());
    (prop::sample::select(Ecosystem::ALL.to_vec()), texts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn the_order_is_total((ecosystem, a) in texts(), (_, b) in texts(), (_, c) in texts()) {
        let parsed: Vec<Version> = [&a, &b, &c]
            .iter()
            .filter_map(|text| Version::parse(ecosystem, text))
            .collect();
        for a in &parsed {
            prop_assert_eq!(a.cmp(a), Ordering::Equal);
            for b in &parsed {
                prop_assert_eq!(a.cmp(b), b.cmp(a).reverse());
                prop_assert_eq!(a == b, a.cmp(b) == Ordering::Equal);
                for c in &parsed {
                    if a <= b && b <= c {
                        prop_assert!(a <= c, "{:?} {:?} {:?}", a, b, c);
                    }
                }
            }
        }
    }

    #[test]
    fn valid_semantic_versions_are_ordered_as_cargo_orders_them(
        a in "[0-3]\\.[0-3]\\.[0-3](-(alpha|rc|[0-9]|1[0-9])(\\.(beta|[0-9]))?)?(\\+b[0-9])?",
        b in "[0-3]\\.[0-3]\\.[0-3](-(alpha|rc|[0-9]|1[0-9])(\\.(beta|[0-9]))?)?(\\+b[0-9])?",
    ) {
        let ours = version(Ecosystem::CratesIo, &a).cmp(&version(Ecosystem::CratesIo, &b));
        let theirs = semver::Version::parse(&a).unwrap()
            .cmp_precedence(&semver::Version::parse(&b).unwrap());
        prop_assert_eq!(ours, theirs);
    }
}
