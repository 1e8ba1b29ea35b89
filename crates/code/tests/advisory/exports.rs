//! Reading records, alone and in bulk.

use std::io::{Cursor, Write};

use tribunal_code::advisory::{
    Advisory, Index, IndexBuilder, Record, RecordError, Status, read_records,
};
use tribunal_core::scale::Severity;

use super::ranges::check;
use super::{RECORDS, index, package, records};

#[test]
fn an_advisory_carries_what_a_report_needs() {
    let advisories = index().matches(&package("npm lodash 4.17.20"));
    assert_eq!(
        advisories,
        [Advisory {
            id: "GHSA-35jh-r3h4-6jhm".to_owned(),
            aliases: vec!["CVE-2021-23337".to_owned()],
            status: Status::Affected {
                fixed_in: Some("4.17.21".to_owned()),
            },
            summary: "Command injection through the template function of lodash".to_owned(),
            severity: Some(Severity::High),
        }]
    );
    let levels: Vec<Option<Severity>> = records().iter().map(Record::level).collect();
    let (high, critical) = (Some(Severity::High), Some(Severity::Critical));
    assert_eq!(levels, [high, critical, None, None, critical]);
}

#[test]
fn records_come_alone_in_lists_and_in_answers() {
    let [one, two, ..] = RECORDS;
    let ids = |bytes: &str| -> Vec<String> {
        let records = read_records(bytes.as_bytes()).unwrap();
        records.into_iter().map(|record| record.id).collect()
    };
    let both = ["GHSA-35jh-r3h4-6jhm", "GHSA-jfh8-c2jp-5v3q"];
    assert_eq!(ids(one), both[..1]);
    assert_eq!(ids(&format!(" [{one}, {two}]")), both);
    assert_eq!(ids(&format!("{{\"vulns\": [{one}, {two}]}}")), both);
    assert_eq!(ids("{\"vulns\": []}"), [""; 0]);
    assert!(matches!(read_records(b"{}"), Err(RecordError::NoId)));
    assert!(matches!(read_records(b"[{}]"), Err(RecordError::NoId)));
    assert!(matches!(read_records(b"no"), Err(RecordError::Shape(_))));
}

#[test]
fn descriptions_in_odd_shapes_do_not_spoil_a_record() {
    let json = r#"{"id": "X-1", "aliases": null, "summary": 7, "severity": {"CVSS": 3}, "withdrawn": null,
        "affected": [{"package": null, "ranges": null, "versions": null, "new_field": [[]]},
                     {"package": {"ecosystem": "Debian:11", "name": "curl"}, "ranges": [{"type": "NEW"}]},
                     {"package": {"purl": "pkg:npm/p"}, "versions": ["1.0.0"]}]}"#;
    let records = read_records(json.as_bytes()).unwrap();
    check(
        &Index::from_records(records),
        "npm p 1.0.0",
        "X-1 affected until ?",
    );
    let json = br#"{"id": "X-2", "affected": [{"ranges": [{"events": "none"}]}]}"#;
    assert!(read_records(json).is_err(), "ranges must be right");
}

fn export() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    for (at, json) in RECORDS.iter().enumerate() {
        zip.start_file(format!("{at}.json"), options).unwrap();
        zip.write_all(json.as_bytes()).unwrap();
    }
    zip.start_file("broken.json", options).unwrap();
    zip.write_all(b"{").unwrap();
    zip.start_file("readme.txt", options).unwrap();
    zip.write_all(b"not a record").unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_zip_export_is_read_and_its_broken_entries_are_reported() {
    let used = [package("npm lodash 4.17.20")];
    for (builder, records) in [
        (IndexBuilder::new(), 5),
        (IndexBuilder::for_packages(&used), 1),
    ] {
        let mut builder = builder;
        builder.add_zip("all.zip", Cursor::new(export()));
        let (index, problems) = builder.finish();
        assert_eq!(index.len(), records);
        let files: Vec<&str> = problems
            .iter()
            .map(|problem| problem.file.as_str())
            .collect();
        assert_eq!(files, ["all.zip:broken.json"]);
        check(
            &index,
            "npm lodash 4.17.20",
            "GHSA-35jh-r3h4-6jhm affected until 4.17.21",
        );
    }
    let mut builder = IndexBuilder::new();
    builder.add_zip("all.zip", Cursor::new(b"PK nonsense"));
    assert_eq!(builder.finish().1.len(), 1);
}
