//! Lines of bounded length from a stream that nobody vouches for.

use std::io::{self, BufRead, Write as _};
use std::path::Path;

use serde_json::json;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::explain::one_line;

/// A longer line is passed over. The findings of a large review fit several times.
const MOST_BYTES: usize = 32 << 20;

/// One line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line that can be read.
    Text(String),
    /// A line that cannot; the sentence says why.
    Unreadable(String),
}

/// Answers every line of a file, or of standard input for `-`, with the line that `work` makes of
/// it, at once. A line of which it can make nothing gives a line with `error`.
pub(crate) fn for_each_line(
    invocation: &Invocation,
    file: &Path,
    work: impl Fn(u64, &str) -> Result<String, String>,
) -> Result<Exit, CliError> {
    if file == Path::new("-") {
        return answer_all(invocation, io::stdin().lock(), work);
    }
    let path = invocation.path(file);
    let opened = std::fs::File::open(&path).map_err(|error| {
        let exit = match error.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Inconclusive,
        };
        CliError::new(exit, format!("cannot read {}", path.display())).caused_by(&error)
    })?;
    answer_all(invocation, io::BufReader::new(opened), work)
}

fn answer_all(
    invocation: &Invocation,
    input: impl BufRead,
    work: impl Fn(u64, &str) -> Result<String, String>,
) -> Result<Exit, CliError> {
    let mut out = io::stdout().lock();
    let mut exit = Exit::Pass;
    for (number, line) in (1_u64..).zip(bounded(input)) {
        let line = line.map_err(|error| {
            CliError::new(Exit::Inconclusive, "cannot read the batch").caused_by(&error)
        })?;
        let answered = match line {
            Line::Text(text) if text.trim().is_empty() => continue,
            Line::Text(text) => work(number, &text),
            Line::Unreadable(why) => Err(why),
        };
        let printed = match answered {
            Ok(answer) => answer,
            Err(why) => {
                exit = Exit::Inconclusive;
                invocation.say(&one_line(&format!("line {number}: {why}.")));
                json!({ "line": number, "error": why }).to_string()
            }
        };
        // Each line leaves at once, so that whoever waits for it can go on.
        match writeln!(out, "{printed}").and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(error) => {
                return Err(
                    CliError::new(Exit::Internal, "cannot write the result").caused_by(&error)
                );
            }
        }
    }
    Ok(exit)
}

/// Returns the lines of `input`. No line takes more memory than the bound, however long it is.
pub(crate) fn bounded(input: impl BufRead) -> impl Iterator<Item = io::Result<Line>> {
    bounded_by(input, MOST_BYTES)
}

fn bounded_by(mut input: impl BufRead, most: usize) -> impl Iterator<Item = io::Result<Line>> {
    std::iter::from_fn(move || next_line(&mut input, most).transpose())
}

fn next_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut length = 0_usize;
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            filled => filled?,
        };
        if bytes.is_empty() {
            return Ok((length > 0).then(|| readable(line, length, most)));
        }
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let taken = &bytes[..end.unwrap_or(bytes.len())];
        length = length.saturating_add(taken.len());
        if length <= most {
            line.extend_from_slice(taken);
        } else {
            line = Vec::new();
        }
        let used = taken.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(readable(line, length, most)));
        }
    }
}

fn readable(line: Vec<u8>, length: usize, most: usize) -> Line {
    if length > most {
        return Line::Unreadable(format!(
            "a line of {length} bytes was passed over; at most {most} are read"
        ));
    }
    String::from_utf8(line).map_or_else(
        |_| Line::Unreadable("a line is not UTF-8".to_owned()),
        Line::Text,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_broken_lines_are_passed_over() {
        let input = b"one\n\n123456789\ntwo\n\xff\xfe\nlast";
        let lines: Vec<Line> = bounded_by(io::BufReader::with_capacity(4, &input[..]), 8)
            .collect::<io::Result<_>>()
            .expect("a slice can be read");
        let text = |text: &str| Line::Text(text.to_owned());
        let bad = |text: &str| Line::Unreadable(text.to_owned());
        assert_eq!(
            lines,
            [
                text("one"),
                text(""),
                bad("a line of 9 bytes was passed over; at most 8 are read"),
                text("two"),
                bad("a line is not UTF-8"),
                text("last"),
            ]
        );
    }
}
