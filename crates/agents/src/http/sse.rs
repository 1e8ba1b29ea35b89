//! Reads server-sent events from bytes that arrive in any pieces, within bounds.

use thiserror::Error;

/// One event: its name, empty when the server gave none, and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SseEvent {
    pub(super) name: String,
    pub(super) data: String,
}

/// Why bytes are not a stream of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum SseError {
    /// An event is larger than the bound.
    #[error("an event is longer than {0} bytes")]
    TooLong(usize),
    /// A line is not UTF-8.
    #[error("a line is not UTF-8")]
    NotUtf8,
}

/// Collects bytes into events.
#[derive(Debug)]
pub(super) struct SseReader {
    /// Bound on the bytes of one event.
    most: usize,
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    at_start: bool,
}

impl SseReader {
    /// Returns a reader that accepts events of up to `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            line: Vec::new(),
            name: String::new(),
            data: None,
            after_return: false,
            at_start: true,
        }
    }

    /// Takes the next bytes and returns the events that they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<SseEvent>, SseError> {
        let mut events = Vec::new();
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = bytes.split_at(end);
            self.extend(line)?;
            events.extend(self.end_line()?);
            bytes = match rest {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
        }
        self.extend(bytes)?;
        Ok(events)
    }

    /// Returns the last event of a stream that ended without a blank line.
    ///
    /// Its lines must have been complete: what was cut in the middle of a line is dropped.
    pub(super) fn finish(mut self) -> Option<SseEvent> {
        if self.line.is_empty() {
            self.take_event()
        } else {
            None
        }
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > self.most {
            return Err(SseError::TooLong(self.most));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<SseEvent>, SseError> {
        let line = std::mem::take(&mut self.line);
        let line = std::str::from_utf8(&line).map_err(|_| SseError::NotUtf8)?;
        let line = if std::mem::take(&mut self.at_start) {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            return Ok(self.take_event());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.name),
            // Comments, ids and reconnection times mean nothing to a single request.
            _ => {}
        }
        Ok(None)
    }

    fn take_event(&mut self) -> Option<SseEvent> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take()?;
        Some(SseEvent { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: hello\r\nevent: a\r\ndata: {\"x\":\r\ndata: \"ä\"}\r\n\r\n\
                          data:one\n\n\rid: 7\rdata: two\r\r\n\nevent: none\n\ndata\n\n";

    fn read(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut reader = SseReader::new(1_000);
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(reader.push(piece).unwrap());
        }
        events.extend(reader.finish());
        events
    }

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent {
            name: name.to_owned(),
            data: data.to_owned(),
        }
    }

    #[test]
    fn events_are_read_with_every_kind_of_line_end() {
        assert_eq!(
            read(&[STREAM.as_bytes()]),
            [
                event("a", "{\"x\":\n\"ä\"}"),
                event("", "one"),
                event("", "two"),
                event("", ""),
            ]
        );
    }

    #[test]
    fn a_split_at_any_byte_changes_nothing() {
        let whole = read(&[STREAM.as_bytes()]);
        for at in 0..=STREAM.len() {
            let (head, tail) = STREAM.as_bytes().split_at(at);
            assert_eq!(read(&[head, tail]), whole, "split at {at}");
        }
        let bytes: Vec<&[u8]> = STREAM.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), whole);
    }

    #[test]
    fn an_event_cut_within_a_line_is_dropped() {
        assert_eq!(read(&[b"data: a\n"]), [event("", "a")]);
        assert_eq!(read(&[b"data: a\ndata: b"]), []);
        assert_eq!(read(&[b"data: a"]), []);
    }

    #[test]
    fn events_beyond_the_bound_are_refused() {
        let mut reader = SseReader::new(10);
        assert_eq!(reader.push(b"data: 0123456789"), Err(SseError::TooLong(10)));
        let mut reader = SseReader::new(20);
        let many = b"data: 0123456789\n".repeat(2);
        assert_eq!(reader.push(&many), Err(SseError::TooLong(20)));
        let mut reader = SseReader::new(10);
        assert_eq!(reader.push(b"data: \xff\n"), Err(SseError::NotUtf8));
    }
}
