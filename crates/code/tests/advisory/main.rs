//! Advisories: lock files, versions, records, and what they say about findings.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod claims;
mod exports;
mod hostile;
mod locks;
mod locks_npm;
mod ranges;
mod versions;

use tribunal_code::advisory::{Ecosystem, Index, Package, Record, read_records};

/// Five real advisories, retold: ids, packages and ranges are theirs.
const RECORDS: [&str; 5] = [
    include_str!("osv/GHSA-35jh-r3h4-6jhm.json"),
    include_str!("osv/GHSA-jfh8-c2jp-5v3q.json"),
    include_str!("osv/GO-2022-1059.json"),
    include_str!("osv/PYSEC-2021-142.json"),
    include_str!("osv/RUSTSEC-2021-0003.json"),
];

fn records() -> Vec<Record> {
    let read = RECORDS
        .iter()
        .map(|json| read_records(json.as_bytes()).unwrap());
    read.flatten().collect()
}

fn index() -> Index {
    Index::from_records(records())
}

/// Reads `ecosystem name version`.
fn package(text: &str) -> Package {
    let words: Vec<&str> = text.split(' ').collect();
    let [ecosystem, name, version] = words[..] else {
        panic!("`{text}` is not a package");
    };
    Package {
        ecosystem: Ecosystem::from_osv(ecosystem).unwrap(),
        name: name.to_owned(),
        version: version.to_owned(),
        file: "lock".to_owned(),
        line: None,
    }
}
