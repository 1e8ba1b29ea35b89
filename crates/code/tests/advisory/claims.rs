//! What advisories say about findings.

use tribunal_code::advisory::{Answer, Claim, Index, Package, consult};
use tribunal_core::consensus::AdvisoryOutcome;

use super::{index, package};

/// A project with some packages that are affected and some that are not.
const PROJECT: [&str; 7] = [
    "npm lodash 4.17.20",
    "npm lodash-es 4.17.21",
    "crates.io smallvec 1.6.1",
    "PyPI PyYAML 6.0",
    "Go golang.org/x/text v0.3.7",
    "Maven org.apache.logging.log4j:log4j-core 2.14.1",
    "npm left-pad 1.3.0",
];

fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Confirmed {
            id,
            package,
            version,
        } => format!("confirmed {id} {package} {version}"),
        Answer::PatchedInUsedVersion {
            id,
            package,
            version,
        } => {
            format!("patched {id} {package} {version}")
        }
        Answer::Nothing => "nothing".to_owned(),
    }
}

#[track_caller]
fn check(index: &Index, used: &[&str], title: &str, description: &str, expected: &str) {
    let used: Vec<Package> = used.iter().map(|text| package(text)).collect();
    let claim = Claim {
        title,
        description,
        packages: &[],
    };
    let answer = consult(index, &claim, &used);
    assert_eq!(shown(&answer), expected, "{title} / {description}");
    // The order of the lock file changes nothing.
    let reversed: Vec<Package> = used.into_iter().rev().collect();
    assert_eq!(consult(index, &claim, &reversed), answer);
}

#[test]
fn findings_are_held_against_advisories() {
    let index = index();
    let lodash = "confirmed GHSA-35jh-r3h4-6jhm lodash 4.17.20";
    for (title, description, expected) in [
        ("Vulnerable dependency", "lodash is outdated", lodash),
        (
            "Template injection",
            "`_.template` of lodash runs user input",
            lodash,
        ),
        ("See ghsa-35JH-r3h4-6jhm", "", lodash),
        (
            "CVE-2021-23337",
            "in a dependency",
            "confirmed CVE-2021-23337 lodash 4.17.20",
        ),
        (
            "CVE\u{2011}2021\u{2011}23337!",
            "",
            "confirmed CVE-2021-23337 lodash 4.17.20",
        ),
        (
            "https://osv.dev/vulnerability/CVE-2021-44228.",
            "",
            "confirmed CVE-2021-44228 org.apache.logging.log4j:log4j-core 2.14.1",
        ),
        (
            "Log4Shell",
            "log4j-core logs headers",
            "confirmed GHSA-jfh8-c2jp-5v3q org.apache.logging.log4j:log4j-core 2.14.1",
        ),
        (
            "Slow header",
            "golang.org/x/text/language.ParseAcceptLanguage takes any length",
            "confirmed GO-2022-1059 golang.org/x/text v0.3.7",
        ),
        (
            "RUSTSEC-2021-0003",
            "insert_many may overflow",
            "patched RUSTSEC-2021-0003 smallvec 1.6.1",
        ),
        (
            "Old smallvec",
            "upgrade smallvec",
            "patched RUSTSEC-2021-0003 smallvec 1.6.1",
        ),
        (
            "Unsafe load",
            "PyYAML is vulnerable: CVE-2020-14343",
            "patched CVE-2020-14343 PyYAML 6.0",
        ),
        ("Unsafe load", "PyYAML.load on user input", "nothing"),
        ("Path traversal", "left-pad is outdated", "nothing"),
        ("SQL injection", "the query is built by hand", "nothing"),
        ("CVE-1999-0001", "unknown to the database", "nothing"),
        ("CVE-1999-0001", "unknown, but lodash is named", lodash),
        (
            "RUSTSEC-2021-0003 and CVE-2021-23337",
            "",
            "confirmed CVE-2021-23337 lodash 4.17.20",
        ),
        (
            "CVE-2020-14343",
            "while lodash is only named",
            "patched CVE-2020-14343 PyYAML 6.0",
        ),
        ("", "", "nothing"),
    ] {
        check(&index, &PROJECT, title, description, expected);
    }
}

#[test]
fn packages_that_are_not_used_confirm_nothing() {
    check(&index(), &[], "CVE-2021-23337", "lodash", "nothing");
    check(
        &index(),
        &["npm express 4.0.0"],
        "CVE-2021-23337",
        "lodash",
        "nothing",
    );
    check(
        &Index::default(),
        &PROJECT,
        "CVE-2021-23337",
        "lodash",
        "nothing",
    );
}

#[test]
fn one_affected_copy_of_a_package_is_enough() {
    let used = ["npm lodash 4.17.21", "npm lodash 4.17.4"];
    let expected = "confirmed CVE-2021-23337 lodash 4.17.4";
    check(&index(), &used, "CVE-2021-23337", "", expected);
}

#[test]
fn a_version_older_than_the_problem_does_not_have_it() {
    let used = ["crates.io smallvec 0.6.2"];
    check(
        &index(),
        &used,
        "CVE-2021-25900",
        "",
        "patched CVE-2021-25900 smallvec 0.6.2",
    );
    check(&index(), &used, "Old smallvec", "upgrade it", "nothing");
}

#[test]
fn collected_names_count_like_words_of_the_text() {
    let used = [package("Maven org.apache.logging.log4j:log4j-core 2.14.1")];
    for name in [
        "log4j-core",
        "org.apache.logging.log4j:log4j-core",
        " Log4J_Core",
    ] {
        let names = [name.to_owned()];
        let claim = Claim {
            title: "RCE",
            description: "",
            packages: &names,
        };
        let answer = consult(&index(), &claim, &used);
        assert_eq!(
            AdvisoryOutcome::from(answer),
            AdvisoryOutcome::Confirmed("GHSA-jfh8-c2jp-5v3q".to_owned()),
            "{name}"
        );
    }
}
