//! What happens to tasks, in sentences.

use tribunal_core::event::TaskEvent;

/// Returns the sentence for an event, or nothing when it is not worth one.
pub(super) fn sentence(event: &TaskEvent) -> Option<String> {
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
            let note = note.as_ref().map(|note| format!(": {note}"));
            let note = note.unwrap_or_default();
            let count = match done {
                tribunal_core::task::transition::Move::Reject => format!(" ({rejections})"),
                _ => String::new(),
            };
            let (from, to, done) = (from.marker(), to.marker(), done.participle());
            format!("[{from}]→[{to}] {done} by {actor}{count}{note}")
        }
        TaskEvent::WorkKept { commit, files, .. } => {
            let commit = tribunal_core::text::truncate_chars(commit, 12);
            let files = files.len();
            format!("work on {files} files kept as {commit}")
        }
        TaskEvent::SectionAdded { name, .. } => format!("made section {name}"),
        TaskEvent::SectionChanged { name, .. } => format!("section {name} was changed"),
        TaskEvent::SectionRemoved { name } => format!("removed section {name}"),
    })
}
