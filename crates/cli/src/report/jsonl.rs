//! Events as JSON lines, for programs.

use std::io::Write;

use tribunal_core::event::Event;

use super::Reporter;

/// Writes each event as one line of JSON.
pub(crate) struct JsonLines<W: Write + Send>(pub(crate) W);

impl<W: Write + Send> Reporter for JsonLines<W> {
    fn event(&mut self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            // A closed pipe is the reader's choice and no reason to stop the work.
            let _ = writeln!(self.0, "{line}").and_then(|()| self.0.flush());
        }
    }
}
