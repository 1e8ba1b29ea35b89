//! Reporters: readers of the event stream that speak to people or to programs.

mod board;
mod columns;
mod disputes;
pub(crate) mod explain;
mod html;
mod human;
mod jsonl;
mod progress;
pub(crate) mod review;
pub(crate) mod trial;
pub(crate) mod verdict;
mod words;
mod wrap;

pub(crate) use columns::fit;
pub(crate) use human::{Lines, stamp};
pub(crate) use jsonl::JsonLines;
pub(crate) use progress::{LiveProgress, without_progress};
pub(crate) use words::{ago, duration, pause, spend, state, tokens};
pub(crate) use wrap::{fill, stderr_width, stdout_width, wrapped};

use tokio::sync::mpsc;
use tribunal_core::event::Event;

/// Turns events into output.
pub(crate) trait Reporter: Send {
    /// Takes note of one event.
    fn event(&mut self, event: &Event);

    /// Called when no more events come.
    fn finish(&mut self) {}
}

/// Says nothing.
pub(crate) struct Silent;

impl Reporter for Silent {
    fn event(&mut self, _: &Event) {}
}

/// Feeds `reporter` with the events of `stream` until it ends or `work` is done, and returns the
/// result of `work`.
pub(crate) async fn report_while<T>(
    mut stream: mpsc::UnboundedReceiver<Event>,
    reporter: &mut dyn Reporter,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    let result = loop {
        tokio::select! {
            biased;
            Some(event) = stream.recv() => reporter.event(&event),
            result = &mut work => break result,
        }
    };
    while let Ok(event) = stream.try_recv() {
        reporter.event(&event);
    }
    reporter.finish();
    result
}
