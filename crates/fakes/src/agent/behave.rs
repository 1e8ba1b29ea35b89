//! The behaviours, one by one.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::options::Options;
use super::{flood, processes};

/// Stands in an answer for bytes that no text may contain.
const PLACEHOLDER: char = '\u{e000}';
const CUT_BYTES: usize = 65_536;

/// Carries out the behaviour and returns the exit code.
pub(crate) fn act(options: &Options, prompt: &str, earlier: usize) -> io::Result<u8> {
    let usual = options.exit_code.unwrap_or(0);
    let say = |text: &str| write_out(&answer(options, prompt, text)).map(|()| usual);
    let reply = || reply(options, prompt);
    match options.behave.as_str() {
        "ok" | "no-read" => say(&reply()),
        "blank" => say(""),
        "read-stdin" => {
            writeln!(io::stderr(), "fake-agent: read {} bytes", prompt.len())?;
            say(&reply())
        }
        "silent" | "ignore-term" => processes::wait_for_ever(),
        "term-exit0" => processes::wait_for_term(),
        "spaces" => spaces(),
        "no-exit" => {
            say(&reply())?;
            processes::wait_for_ever()
        }
        "empty" => Ok(usual),
        "error-flag" => {
            write_out(&joined(&options.dialect.failure(options, prompt))).map(|()| usual)
        }
        "ok-exit1" => say(&reply()).map(|_| options.exit_code.unwrap_or(1)),
        "flood" => flood::lines(io::stdout().lock(), options.bytes).map(|()| usual),
        "flood-line" => flood::one_line(io::stdout().lock(), options.bytes).map(|()| usual),
        "flood-stderr" => {
            flood::lines(io::stderr().lock(), options.bytes)?;
            say(&reply())
        }
        "cut64k" => cut(options, prompt).map(|()| usual),
        "children" => {
            processes::leave_children()?;
            say(&reply())
        }
        "orphan" => {
            processes::leave_orphan()?;
            say(&reply())
        }
        "big-prompt" => {
            let sum = format!("{:016x}", crate::checksum(prompt.as_bytes()));
            say(&json!({"prompt_bytes": prompt.len(), "checksum": sum}).to_string())
        }
        "bad-utf8" => write_spoilt(options, prompt, b"\xff\xfe\xc3\x28").map(|()| usual),
        "nul" => write_spoilt(options, prompt, b"\0").map(|()| usual),
        "utf16" => write_out(&utf16(&answer(options, prompt, &reply()))).map(|()| usual),
        "bom" => {
            write_out(b"\xef\xbb\xbf")?;
            say(&reply())
        }
        "crash" => processes::crash(),
        "exit" => parameter(options),
        "slow" => slow(options, prompt).map(|()| usual),
        "env" => say(&json!(environment()).to_string()),
        "cwd" => say(&std::env::current_dir()?.display().to_string()),
        "argv" => say(&json!(options.rest).to_string()),
        "write" => {
            let file = options.param.as_deref().unwrap_or("fake-agent-wrote.txt");
            write_file(Path::new(file), &reply())?;
            say(&format!("Wrote {file}"))
        }
        "fail-first" if earlier < usize::from(parameter(options)?) => {
            writeln!(io::stderr(), "fake-agent: failing run {}", earlier + 1)?;
            Ok(options.exit_code.unwrap_or(1))
        }
        "fail-first" => say(&reply()),
        unknown => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{unknown}` is not a behaviour"),
        )),
    }
}

/// Returns the text of the answer: what was dictated, or else the first line of the prompt.
fn reply(options: &Options, prompt: &str) -> String {
    let first_line = || prompt.lines().next().unwrap_or_default().to_owned();
    options
        .reply
        .clone()
        .or_else(|| options.dialect.wanted_instance(options))
        .unwrap_or_else(first_line)
}

fn answer(options: &Options, prompt: &str, text: &str) -> Vec<u8> {
    joined(&options.dialect.success(options, prompt, text))
}

fn joined(lines: &[String]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| [line.as_bytes(), b"\n"])
        .flatten()
        .copied()
        .collect()
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn spaces() -> io::Result<u8> {
    loop {
        write_out(b" ")?;
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn cut(options: &Options, prompt: &str) -> io::Result<()> {
    let sentence = format!("{} ", reply(options, prompt));
    let long = sentence.repeat(2 * CUT_BYTES / sentence.len() + 1);
    write_out(&answer(options, prompt, &long)[..CUT_BYTES])
}

/// Answers with a text whose middle is replaced by bytes that do not belong there.
fn write_spoilt(options: &Options, prompt: &str, bytes: &[u8]) -> io::Result<()> {
    let text = format!("{} {PLACEHOLDER} end", reply(options, prompt));
    let whole = answer(options, prompt, &text);
    let mut marker = [0; 4];
    let marker = PLACEHOLDER.encode_utf8(&mut marker).as_bytes();
    let mut rest = whole.as_slice();
    while let Some(at) = rest
        .windows(marker.len())
        .position(|window| window == marker)
    {
        write_out(&rest[..at])?;
        write_out(bytes)?;
        rest = &rest[at + marker.len()..];
    }
    write_out(rest)
}

fn utf16(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

/// Writes line by line, or word by word if there is only one line.
fn slow(options: &Options, prompt: &str) -> io::Result<()> {
    let whole = answer(options, prompt, &reply(options, prompt));
    let lines = whole.iter().filter(|byte| **byte == b'\n').count();
    let end = if lines > 1 { b'\n' } else { b' ' };
    for piece in whole.split_inclusive(|byte| *byte == end) {
        write_out(piece)?;
        std::thread::sleep(options.delay);
    }
    Ok(())
}

fn environment() -> BTreeMap<String, String> {
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    std::env::vars_os()
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

fn parameter(options: &Options) -> io::Result<u8> {
    let wanted = || {
        let message = format!("`{}` needs a number up to 255", options.behave);
        io::Error::new(io::ErrorKind::InvalidInput, message)
    };
    options
        .param
        .as_deref()
        .and_then(|text| text.parse().ok())
        .ok_or_else(wanted)
}
