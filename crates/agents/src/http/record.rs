//! The files that tell afterwards what a run asked and got: `request.json` and `response.txt`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, SET_COOKIE};
use serde_json::{Value, json};
use tribunal_core::secret::Redactor;

/// The request, without its key.
const REQUEST: &str = "request.json";

/// Status, headers and body of the response, as they came.
pub(super) const RESPONSE: &str = "response.txt";

/// Writes `body`, which goes to `url`, into `directory`.
pub(super) fn request(
    directory: &Path,
    url: &str,
    body: &Value,
    redactor: &Redactor,
) -> io::Result<()> {
    let document = json!({"method": "POST", "url": url, "body": body});
    let text = redactor.redact(&format!("{document:#}\n"));
    private_file(&directory.join(REQUEST))?.write_all(text.as_bytes())
}

/// Writes a response into its file while it comes in.
#[derive(Debug)]
pub(super) struct Recorder<'a> {
    redactor: &'a Redactor,
    /// Nothing when the file could not be written: an answer is worth more than its copy.
    file: Option<File>,
    /// The begin of a line whose rest has not come yet. Only whole lines are redacted reliably.
    line: Vec<u8>,
}

impl<'a> Recorder<'a> {
    /// Returns a recorder for a response that begins with `status` and `headers`.
    pub(super) fn new(
        directory: &Path,
        redactor: &'a Redactor,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Self {
        let mut recorder = Self {
            redactor,
            file: None,
            line: Vec::new(),
        };
        match private_file(&directory.join(RESPONSE)) {
            Ok(file) => recorder.file = Some(file),
            Err(error) => tracing::warn!(%error, "the response cannot be recorded"),
        }
        let mut head = format!("HTTP {}\n", status.as_u16());
        for (name, value) in headers.iter().filter(|(name, _)| **name != SET_COOKIE) {
            let value = String::from_utf8_lossy(value.as_bytes());
            head.push_str(&format!("{name}: {value}\n"));
        }
        recorder.push(head.as_bytes());
        recorder.push(b"\n");
        recorder
    }

    /// Writes the next bytes of the body.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        // Only the new bytes are searched, so that a line without end costs no more than another.
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            self.line.extend_from_slice(bytes);
            return;
        };
        let (lines, rest) = bytes.split_at(end + 1);
        self.line.extend_from_slice(lines);
        let lines = std::mem::replace(&mut self.line, rest.to_vec());
        self.write(&lines);
    }

    fn write(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        // Bytes that are no text are kept readable rather than exact.
        let text = self.redactor.redact(&String::from_utf8_lossy(bytes));
        if let Err(error) = file.write_all(text.as_bytes()) {
            tracing::warn!(%error, "the response cannot be recorded any further");
            self.file = None;
        }
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        let rest = std::mem::take(&mut self.line);
        self.write(&rest);
    }
}

/// Returns the status and the body of the response recorded in `directory`.
pub(super) fn recorded(directory: &Path, most: u64) -> Option<(u16, Vec<u8>)> {
    let path = directory.join(RESPONSE);
    if std::fs::metadata(&path).ok()?.len() > most {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    let end = bytes.windows(2).position(|pair| pair == b"\n\n")?;
    let (head, body) = bytes.split_at(end + 2);
    let head = std::str::from_utf8(head).ok()?;
    let status = head.lines().next()?.strip_prefix("HTTP ")?.parse().ok()?;
    Some((status, body.to_vec()))
}

fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}
