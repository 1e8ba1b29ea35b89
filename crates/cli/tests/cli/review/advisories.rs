//! Security findings held against published advisories: a directory, a zip file, a server.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Desk, signed};

const LOCK: &str = r#"
[[package]]
name = "smallvec"
version = "0.6.13"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "time"
version = "0.3.36"
source = "registry+https://github.com/rust-lang/crates.io-index"
"#;

/// A finding about each of the packages: one is affected, the other has the patch.
const FINDINGS: &str = r#"
    {"id": "1", "file": "src/pay.py", "line": 5, "label": "HIGH", "category": "security", "confidence": 70, "title": "`smallvec` overflows its buffer", "description": "The dependency `smallvec` in the locked version can be made to write past its end.", "quote": "WHERE user = '%s'", "trigger": "insert_many"},
    {"id": "2", "file": "src/pay.py", "line": 4, "label": "HIGH", "category": "security", "confidence": 70, "title": "Segfault in `time`", "description": "See RUSTSEC-2020-0071: the dependency may crash.", "quote": "def total(rows, user):", "trigger": "two threads"}"#;

fn record(id: &str, package: &str, fixed: &str) -> Value {
    json!({"id": id, "modified": "2023-06-13T13:10:24Z", "aliases": [], "summary": "memory corruption",
        "affected": [{"package": {"ecosystem": "crates.io", "name": package},
            "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": fixed}]}]}]})
}

fn records() -> [Value; 2] {
    [
        record("RUSTSEC-2021-0003", "smallvec", "0.6.14"),
        record("RUSTSEC-2020-0071", "time", "0.2.23"),
    ]
}

/// Reviews with these settings and tells what advisories said about each finding.
fn advised(settings: &str) -> (Desk, String) {
    let mut desk = Desk::with_change();
    desk.write("Cargo.lock", LOCK);
    desk.reviewer("ann", "anthropic", &json!([{ "text": signed(FINDINGS) }]));
    let agents: String = desk.reviewers.concat();
    desk.env.write_user_config(&format!(
        "agents:\n{agents}review: {{builtin: [], rounds: 1}}\nadvisories: {settings}\n"
    ));
    let report = desk.env.run(["review", "--json"]).json();
    desk.env.assert_healthy();
    let mut lines = Vec::new();
    for finding in report["findings"].as_array().unwrap() {
        let trace = finding["trace"].as_array().unwrap().iter();
        let added = trace
            .filter(|line| line["step"] == "advisory")
            .map(|line| line["amount"].to_string())
            .collect::<String>();
        lines.push(format!(
            "{} {} {} {added}",
            finding["title"].as_str().unwrap(),
            finding["severity"].as_str().unwrap(),
            finding["advisories"],
        ));
    }
    for note in report["notes"].as_array().unwrap() {
        lines.push(format!("note: {}", note.as_str().unwrap()));
    }
    let checked = &report["statistics"]["security_advisories_checked"];
    lines.push(format!("checked: {checked}"));
    (desk, lines.join("\n"))
}

const TOLD: &str = "`smallvec` overflows its buffer high [{\"confirmed\":\"RUSTSEC-2021-0003\"}] 10
Segfault in `time` medium [{\"patched\":\"RUSTSEC-2020-0071\"}] 
checked: 2";

#[test]
fn a_directory_and_a_zip_file_say_the_same() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("export/crates.io");
    std::fs::create_dir_all(&directory).unwrap();
    let texts = records().map(|record| {
        let name = format!("{}.json", record["id"].as_str().unwrap());
        (name, record.to_string())
    });
    for (name, text) in &texts {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let (desk, told) = advised(&format!("{{source: directory, path: {:?}}}", place.path()));
    assert_eq!(told, TOLD);
    // What was published since changes nothing about a recorded review.
    std::fs::remove_dir_all(&directory).unwrap();
    let log = desk.env.run(["log", "--json"]).json();
    let case = log["cases"][0]["case"].as_str().unwrap();
    desk.env.run(["replay", case]).assert_code(0);

    let zip = place.path().join("all.zip");
    std::fs::write(&zip, stored_zip(&texts)).unwrap();
    let (_, told) = advised(&format!("{{source: directory, path: {zip:?}}}"));
    assert_eq!(told, TOLD);
    let (_, told) = advised("{source: directory, path: /nowhere}");
    assert!(
        told.contains("note: advisories could not be consulted: /nowhere: No such file"),
        "{told}"
    );
}

#[test]
fn a_server_is_told_only_what_findings_speak_of() {
    let (url, asked) = osv_server();
    let (_, told) = advised(&format!("{{source: server, url: {url:?}}}"));
    assert_eq!(told, TOLD);
    let asked = asked.lock().unwrap().clone();
    assert_eq!(
        asked,
        [
            "GET /v1/vulns/RUSTSEC-2020-0071 ",
            "POST /v1/query {\"package\":{\"ecosystem\":\"crates.io\",\"name\":\"smallvec\"}}",
            "POST /v1/query {\"package\":{\"ecosystem\":\"crates.io\",\"name\":\"time\"}}",
        ]
    );
    // A server that is away, or an address where credentials lie, is a note and no obstacle.
    let (_, told) = advised("{source: server, url: 'http://127.0.0.1:9'}");
    assert!(
        told.contains("note: advisories could not be consulted"),
        "{told}"
    );
    let (_, told) = advised("{source: server, url: 'http://169.254.169.254'}");
    assert!(told.contains("requests there are refused"), "{told}");
}

#[test]
fn findings_from_anywhere_are_checked_too() {
    let desk = Desk::new();
    desk.write("Cargo.lock", LOCK);
    desk.write("ann.json", format!("{{\"findings\": [{FINDINGS}]}}"));
    desk.write("osv.json", json!(records()).to_string());
    let args = [
        "consensus",
        "ann.json",
        "--advisories",
        "osv.json",
        "--lock",
        "Cargo.lock",
        "--json",
    ];
    let report = desk.env.run(args).json();
    assert_eq!(
        report["debate_statistics"]["security_advisories_checked"],
        2
    );
    assert!(
        report
            .to_string()
            .contains("Confirmed by advisory RUSTSEC-2021-0003."),
        "{report:#}"
    );
    desk.env
        .run(["consensus", "ann.json", "--advisories", "osv.json"])
        .assert_code(2);
    let args = [
        "consensus",
        "ann.json",
        "--advisories",
        "gone",
        "--lock",
        "Cargo.lock",
    ];
    desk.env.run(args).assert_code(4);
}

#[test]
fn settings_that_lead_nowhere_are_refused() {
    let desk = Desk::new();
    for (settings, expected) in [
        (
            "{source: server}",
            "`advisories.source` needs `advisories.url`, which is not set",
        ),
        (
            "{source: directory}",
            "`advisories.source` needs `advisories.path`, which is not set",
        ),
    ] {
        desk.env
            .write_user_config(&format!("advisories: {settings}\n"));
        let ran = desk.env.run(["review"]).assert_code(3);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

/// Serves the records as OSV does, and remembers what it was asked.
fn osv_server() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut request = String::new();
            let mut buffer = [0; 4096];
            let body = loop {
                let read = stream.read(&mut buffer).unwrap_or(0);
                request.push_str(&String::from_utf8_lossy(&buffer[..read]));
                let length = request.lines().find_map(|line| {
                    let (name, value) = line.split_once(": ")?;
                    let is_length = name.eq_ignore_ascii_case("content-length");
                    is_length.then(|| value.parse::<usize>().ok())?
                });
                if let Some((_, body)) = request.split_once("\r\n\r\n")
                    && body.len() >= length.unwrap_or(0)
                {
                    break body.to_owned();
                }
                if read == 0 {
                    break String::new();
                }
            };
            let line = request
                .lines()
                .next()
                .unwrap_or("")
                .replace(" HTTP/1.1", "");
            let fits = |record: &Value| {
                line.ends_with(record["id"].as_str().unwrap())
                    || body.contains(record["affected"][0]["package"]["name"].as_str().unwrap())
            };
            let found: Vec<Value> = records().into_iter().filter(fits).collect();
            let answer = match line.starts_with("GET") {
                true => found.first().cloned().unwrap_or_default(),
                false => json!({"vulns": found}),
            };
            log.lock().unwrap().push(format!("{line} {body}"));
            let answer = answer.to_string();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                answer.len()
            );
        }
    });
    (url, asked)
}

/// Returns a zip file that holds these files as they are.
fn stored_zip(files: &[(String, String)]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    let word = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    for (name, text) in files {
        let mut header = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        header.extend(crc32(text.as_bytes()).to_le_bytes());
        header.extend(word(text.len()));
        header.extend(word(text.len()));
        header.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        header.extend([0, 0]);
        let at = zip.len();
        zip.extend(b"PK\x03\x04");
        zip.extend(&header);
        zip.extend(name.as_bytes());
        zip.extend(text.as_bytes());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&header);
        directory.extend([0; 10]);
        directory.extend(word(at));
        directory.extend(name.as_bytes());
    }
    let (at, count) = (zip.len(), u8::try_from(files.len()).unwrap());
    zip.extend(&directory);
    zip.extend(b"PK\x05\x06\0\0\0\0");
    zip.extend([count, 0, count, 0]);
    zip.extend(word(directory.len()));
    zip.extend(word(at));
    zip.extend([0, 0]);
    zip
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}
