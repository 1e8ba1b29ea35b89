//! What happens to tasks, in sentences.

use tribunal_core::event::TaskEvent;
use tribunal_core::task::transition::Move;
use tribunal_core::text::{headline, truncate_chars};

use super::{Stamps, words};

/// Returns the sentence for an event, or nothing when it is not worth one.
pub(super) fn sentence(event: &TaskEvent, stamps: Stamps) -> Option<String> {
    Some(match event {
        TaskEvent::TaskAdded { task, state, actor } => {
            format!("[{}] {} (added by {actor})", state.marker(), task.title)
        }
        TaskEvent::TaskEdited { task, actor } => {
            format!("{actor} changed the task: {}", task.title)
        }
        TaskEvent::TaskMoved {
            done,
            from,
            to,
            actor,
            note,
            rejections,
        } => {
            let is_rejected = *done == Move::Reject;
            let note = note.as_ref().map(|note| match stamps {
                // Why it was sent back has just been told when it happens.
                Stamps::Hidden if is_rejected => String::new(),
                Stamps::Hidden => format!(": {}", headline(note, 80)),
                Stamps::Shown => format!(": {note}"),
            });
            let note = note.unwrap_or_default();
            let count = match is_rejected {
                true => format!(" ({rejections})"),
                false => String::new(),
            };
            let (from, to, done) = (from.marker(), to.marker(), done.participle());
            format!("[{from}]→[{to}] {done} by {actor}{count}{note}")
        }
        TaskEvent::WorkKept { commit, files, .. } => {
            let commit = truncate_chars(commit, 12);
            let files = words::count(u32::try_from(files.len()).unwrap_or(u32::MAX), "file");
            format!("work on {files} kept as {commit}")
        }
        TaskEvent::SectionAdded { name, .. } => format!("made section {name}"),
        TaskEvent::SectionChanged { name, .. } => format!("section {name} was changed"),
        TaskEvent::SectionRemoved { name } => format!("removed section {name}"),
    })
}
