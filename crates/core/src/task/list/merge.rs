//! What an imported list changes: a task is recognised, never added twice.
//!
//! A line means the task whose id stands in its comment; else the task of the same file, section and
//! title, the second such line the second such task. A line that means none is a new task.

use std::collections::BTreeMap;

use super::{Item, List};
use crate::ids::CaseId;
use crate::task::transition::{Move, step};
use crate::task::{Brief, ListLine, Task, TaskState};

/// What a line of the list asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A new task.
    Add {
        /// What is to be done.
        brief: Brief,
        /// Where it stands.
        state: TaskState,
    },
    /// A known task, with what is to be done from now on and the moves to where its marker says.
    Update {
        /// The task.
        id: CaseId,
        /// What is to be done; nothing when that is as before.
        brief: Option<Brief>,
        /// The moves, in order.
        moves: Vec<Move>,
    },
}

/// What an import does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Import {
    /// One for each line with a task, in order.
    pub changes: Vec<Change>,
    /// Tasks that came from the file and stand there no longer. They stay as they are.
    pub missing: Vec<CaseId>,
    /// What could not be done, in sentences.
    pub problems: Vec<String>,
}

/// Moves from one state to another, or why there are none.
pub type Moves = Result<Vec<Move>, &'static str>;

/// Returns what importing `list` from `file` does to `tasks`.
///
/// A marker that was changed by hand moves its task. If the task moved as well, the ledger wins
/// and the problem is told.
#[must_use]
pub fn plan_import(list: &List, file: &str, tasks: &[Task]) -> Import {
    let mut import = Import {
        problems: list.problems.clone(),
        ..Import::default()
    };
    let mut unseen: Vec<&Task> = tasks.iter().collect();
    let mut places: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for item in &list.items {
        let place = places.entry(item.section.as_deref()).or_default();
        *place += 1;
        let mut brief = item.brief(*place);
        brief.list = Some(ListLine {
            file: file.to_owned(),
            shown: item.state,
            after: Vec::new(),
        });
        let found = unseen.iter().position(|task| is_meant(item, file, task));
        let Some(task) = found.map(|index| unseen.remove(index)) else {
            let state = item.state;
            import.changes.push(Change::Add { brief, state });
            continue;
        };
        brief.depends_on.clone_from(&task.brief.depends_on);
        if let (Some(now), Some(before)) = (&mut brief.list, &task.brief.list) {
            now.after.clone_from(&before.after);
        }
        let moves = match moves_to(item, task) {
            Ok(moves) => moves,
            Err(why) => {
                let (title, marker) = (&task.brief.title, item.state.marker());
                let problem = format!("`[{marker}] {title}` was not taken over: {why}");
                import.problems.push(problem);
                Vec::new()
            }
        };
        import.changes.push(Change::Update {
            id: task.id.clone(),
            brief: (brief != task.brief).then_some(brief),
            moves,
        });
    }
    let from_here = |task: &&Task| task.brief.list.as_ref().is_some_and(|l| l.file == file);
    let missing = unseen.into_iter().filter(from_here);
    import.missing = missing.map(|task| task.id.clone()).collect();
    import
}

/// Tells whether a line of `file` means this task. Earlier lines have taken earlier tasks.
pub(super) fn is_meant(item: &Item, file: &str, task: &Task) -> bool {
    match &item.id {
        Some(id) => task.id == *id,
        None => {
            let of_file = task.brief.list.as_ref().is_none_or(|l| l.file == file);
            of_file && task.brief.section == item.section && task.brief.title == item.title
        }
    }
}

fn moves_to(item: &Item, task: &Task) -> Moves {
    let shown = task.brief.list.as_ref().map(|list| list.shown);
    let (marked, now) = (item.state, task.state);
    if marked == now || shown == Some(marked) {
        return Ok(Vec::new());
    }
    if shown.is_some_and(|shown| shown != now) {
        return Err("the task has moved since the list was written");
    }
    path_between(now, marked)
}

/// Returns the shortest way from one state to another by what a person may do by hand.
pub(super) fn path_between(from: TaskState, to: TaskState) -> Moves {
    const BY_HAND: [Move; 7] = [
        Move::Start,
        Move::Submit,
        Move::Approve,
        Move::Reject,
        Move::Skip,
        Move::Fail,
        Move::Reopen,
    ];
    if from == TaskState::Disputed {
        return Err("the dispute about it is ended with `tribunal dispute resolve`");
    }
    if to == TaskState::Disputed {
        return Err("a dispute is opened with `tribunal dispute create`");
    }
    let mut ways: Vec<(TaskState, Vec<Move>)> = vec![(from, Vec::new())];
    let mut next = 0;
    while let Some((state, way)) = ways.get(next).cloned() {
        if state == to {
            return Ok(way);
        }
        for done in BY_HAND {
            if let Ok(after) = step(state, done)
                && ways.iter().all(|(seen, _)| *seen != after)
            {
                let mut way = way.clone();
                way.push(done);
                ways.push((after, way));
            }
        }
        next += 1;
    }
    Err("there is no way to it")
}
