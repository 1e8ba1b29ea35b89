//! Input that means harm: it costs time and memory in proportion, and never a panic.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tribunal_code::advisory::{
    Claim, Ecosystem, IndexBuilder, Packages, Version, consult, read_packages, read_records,
};

use super::{index, package};

const FILES: [&str; 12] = [
    "Cargo.lock",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "requirements.txt",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "go.mod",
    "go.sum",
    "pom.xml",
    "gradle.lockfile",
];

/// Generous for an unoptimised build on a busy machine; anything quadratic takes hours.
const PATIENCE: Duration = Duration::from_secs(30);

const TEN_MEGABYTES: usize = 10 << 20;

#[track_caller]
fn check_bounded(file: &str, text: &str) -> Packages {
    let start = Instant::now();
    let found = read_packages(file, text.as_bytes());
    assert!(start.elapsed() < PATIENCE, "{file} {text:.20}");
    assert!(found.packages.len() <= 200_000, "{file}");
    assert!(found.problems.len() <= 102, "{file}");
    found
}

fn repeated(unit: &str) -> String {
    unit.repeat(TEN_MEGABYTES / unit.len())
}

#[test]
fn repetitions_are_bounded() {
    for unit in [
        "\n",
        "x\n",
        " (\n",
        "[[package]]\n",
        "a@",
        "= \"",
        "[",
        "{\"a\":",
        "<a>",
    ] {
        for file in FILES {
            check_bounded(file, &unit.repeat(20_000));
        }
    }
}

#[test]
fn ten_megabytes_on_one_line_are_bounded() {
    for file in FILES {
        check_bounded(file, &repeated("a"));
    }
    check_bounded("pom.xml", &repeated("<a>"));
    check_bounded("package-lock.json", &repeated("{\"a\":"));
}

#[test]
fn ten_megabytes_of_entries_are_bounded() {
    for (file, unit) in [
        (
            "Cargo.lock",
            "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"x\"\n",
        ),
        ("yarn.lock", "a@^1:\n  version \"1.0.0\"\n"),
        ("go.mod", "require a v1.0.0\n"),
    ] {
        let found = check_bounded(file, &repeated(unit));
        assert!(!found.packages.is_empty(), "{file}");
    }
    let found = check_bounded("gradle.lockfile", &repeated("a:b:1=x\n"));
    let left_out = "1110720 more packages than can be listed";
    assert_eq!(found.problems.last().unwrap().what, left_out);
}

#[test]
fn many_keys_that_cannot_be_found_are_not_searched_for() {
    let mut text = String::from("{\"packages\": {");
    for at in 0..100_000 {
        text.push_str(&format!(
            "\"node_modules\\/p{at}\": {{\"version\": \"1.0.0\"}},"
        ));
    }
    text.push_str("\"\": {}}}");
    let found = check_bounded("package-lock.json", &text);
    assert_eq!(found.packages.len(), 100_000);
}

#[test]
fn deep_nesting_is_refused() {
    let deep = "{\"dependencies\": {\"a\": ".repeat(100_000);
    let found = check_bounded("package-lock.json", &deep);
    assert_eq!((found.packages.len(), found.problems.len()), (0, 1));
    assert!(read_records("[".repeat(1_000_000).as_bytes()).is_err());
    let record = format!(
        "{{\"id\": \"X\", \"database_specific\": {}",
        "[".repeat(1_000_000)
    );
    assert!(read_records(record.as_bytes()).is_err());
}

#[test]
fn properties_that_go_in_circles_or_explode_are_left_alone() {
    let mut text = String::from("<project><properties>");
    text.push_str("<a>${b}</a><b>${a}</b><p0>x</p0>");
    for at in 1..64 {
        let reference = format!("${{p{}}}", at - 1);
        text.push_str(&format!("<p{at}>{}</p{at}>", reference.repeat(20)));
    }
    text.push_str("</properties><dependencies>");
    for version in ["${a}", "${p63}", "${p1}", "${p0}", "${", "${nobody}"] {
        text.push_str(&format!(
            "<dependency><groupId>g</groupId><artifactId>a</artifactId><version>{version}</version></dependency>"
        ));
    }
    text.push_str("</dependencies></project>");
    let found = check_bounded("pom.xml", &text);
    let versions: Vec<&str> = found
        .packages
        .iter()
        .map(|it| it.version.as_str())
        .collect();
    assert_eq!(versions, ["xxxxxxxxxxxxxxxxxxxx", "x"]);
    assert_eq!(found.problems.len(), 4);
}

#[test]
fn entities_of_a_document_are_not_expanded() {
    let text = "<!DOCTYPE p [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><project><dependencies>\
        <dependency><groupId>g&b;</groupId><artifactId>a</artifactId><version>1</version></dependency>\
        </dependencies></project>";
    let found = check_bounded("pom.xml", text);
    assert_eq!(found.packages[0].name, "g:a");
}

#[test]
fn a_long_finding_costs_no_more_than_its_beginning() {
    let index = index();
    let used = [package("npm lodash 4.17.20")];
    for unit in ["a/", "CVE-", "`", "@", "x.y:z ", "\u{2011}é"] {
        let description = repeated(unit);
        let claim = Claim {
            title: "",
            description: &description,
            packages: &[],
        };
        let start = Instant::now();
        let _ = consult(&index, &claim, &used);
        assert!(start.elapsed() < PATIENCE, "{unit}");
    }
}

#[test]
fn an_export_of_nonsense_is_reported() {
    let mut builder = IndexBuilder::new();
    for at in 0..1_000 {
        builder.add_json(&format!("{at}.json"), b"{\"id\": [");
    }
    let (index, problems) = builder.finish();
    assert!(index.is_empty());
    assert_eq!(problems.len(), 101);
    assert_eq!(problems[100].what, "900 more problems");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for file in FILES {
            let _ = read_packages(file, &bytes);
        }
        let _ = read_records(&bytes);
    }

    #[test]
    fn no_lines_make_a_reader_panic(
        lines in prop::collection::vec("[ \\[\\]{}<>/@:.=_()\"'a1é\\\\$-]{0,24}", 0..20),
    ) {
        let text = lines.join("\n");
        for file in FILES {
            let _ = read_packages(file, text.as_bytes());
            let _ = read_packages(file, format!("packages:\n  {text}").as_bytes());
        }
        for ecosystem in Ecosystem::ALL {
            let _ = Version::parse(ecosystem, &text);
        }
        let used = [package("npm lodash 4.17.20")];
        let claim = Claim { title: &text, description: &text, packages: std::slice::from_ref(&text) };
        let _ = consult(&index(), &claim, &used);
    }
}
