//! What an imported list changes: a task is recognised, never added twice.
//!
//! A line means the task whose id stands in its comment; else the task of the same file, section and
//! title, the second such line the second such task. A line that means none is a new task. A task
//! without a section may stand below the heading that an export writes for such tasks.

use std::collections::{BTreeMap, BTreeSet};

use super::{COMMON_HEADING, Ids, Item, List, item_text};
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
        /// What is to be stored from now on; nothing when that is as before.
        brief: Option<Brief>,
        /// Whether something else is to be done than before.
        edited: bool,
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
    let meant = meant(list, file, tasks, Purpose::Import);
    let places = places(list, &meant);
    for ((item, task), place) in list.items.iter().zip(&meant).zip(places) {
        let mut brief = item.brief(place);
        let mut line = ListLine {
            file: file.to_owned(),
            shown: item.state,
            after: Vec::new(),
            written: false,
        };
        let Some(task) = task else {
            brief.set_line(line);
            let state = item.state;
            import.changes.push(Change::Add { brief, state });
            continue;
        };
        keep_what_a_list_cannot_say(&mut brief, item, task);
        let before = task.brief.line_in(file);
        if let Some(before) = before {
            line.after.clone_from(&before.after);
            line.written = before.written;
        }
        let moves = match moves_to(item, task, before) {
            Ok(moves) => moves,
            Err(why) => {
                let (title, marker) = (&task.brief.title, item.state.marker());
                let problem = format!("`[{marker}] {title}` was not taken over: {why}");
                import.problems.push(problem);
                // As before, so that the next import looks at the marker again.
                line.shown = before.map_or(task.state, |before| before.shown);
                Vec::new()
            }
        };
        brief.set_line(line);
        import.changes.push(Change::Update {
            id: task.id.clone(),
            edited: !brief.asks_the_same_as(&task.brief),
            brief: (brief != task.brief).then_some(brief),
            moves,
        });
    }
    let is_seen = |task: &Task| meant.iter().flatten().any(|one| one.id == task.id);
    let from_here = tasks
        .iter()
        .filter(|task| task.brief.line_in(file).is_some());
    let missing = from_here.filter(|task| !is_seen(task));
    import.missing = missing.map(|task| task.id.clone()).collect();
    import
}

/// Why lines are matched with tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A line that means no task of its file becomes a task.
    Import,
    /// A task that no line means becomes a line, so one of another file is recognised as well.
    Export,
}

/// Returns for each line the task that it means. No two lines mean the same task.
pub(super) fn meant<'a>(
    list: &List,
    file: &str,
    tasks: &'a [Task],
    purpose: Purpose,
) -> Vec<Option<&'a Task>> {
    let known: BTreeMap<&CaseId, &Task> = tasks.iter().map(|task| (&task.id, task)).collect();
    let mut titled: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for task in tasks {
        titled.entry(&task.brief.title).or_default().push(task);
    }
    let mut taken: BTreeSet<&CaseId> = BTreeSet::new();
    let mut meant: Vec<Option<&Task>> = Vec::with_capacity(list.items.len());
    for item in &list.items {
        let named = item.id.as_ref().and_then(|id| known.get(id).copied());
        // The id of another ledger, or one that was copied with its line, means nothing.
        meant.push(named.filter(|task| taken.insert(&task.id)));
    }
    for (item, meant) in list.items.iter().zip(&mut meant) {
        if meant.is_some() {
            continue;
        }
        let same_title = titled.get(item.title.as_str()).into_iter().flatten();
        let free = same_title.filter(|task| !taken.contains(&task.id));
        let ranked = free.filter_map(|task| Some((distance(item, file, task, purpose)?, *task)));
        if let Some((_, task)) = ranked.min_by_key(|(distance, _)| *distance) {
            taken.insert(&task.id);
            *meant = Some(task);
        }
    }
    meant
}

/// Returns how far a line is from a task of the same title; nothing when it cannot mean it.
fn distance(item: &Item, file: &str, task: &Task, purpose: Purpose) -> Option<(u8, u8)> {
    let from_file = match (task.brief.line_in(file), purpose) {
        (Some(_), _) => 0,
        (None, _) if task.brief.list.is_none() => 1,
        (None, Purpose::Export) => 2,
        (None, Purpose::Import) => return None,
    };
    let from_section = match task.brief.section == item.section {
        true => 0,
        false if stands_under_common_heading(item, task) => 1,
        false => return None,
    };
    Some((from_file, from_section))
}

/// Tells whether the line may have been put below the heading that we write for tasks without a
/// section.
fn stands_under_common_heading(item: &Item, task: &Task) -> bool {
    task.brief.section.is_none() && item.section.as_deref() == Some(COMMON_HEADING)
}

/// Keeps of a task what its line cannot say or says in another form.
fn keep_what_a_list_cannot_say(brief: &mut Brief, item: &Item, task: &Task) {
    brief.depends_on.clone_from(&task.brief.depends_on);
    brief.list.clone_from(&task.brief.list);
    brief.more_lists.clone_from(&task.brief.more_lists);
    if stands_under_common_heading(item, task) {
        brief.section = None;
    }
    let written = List::read(&item_text(task, &BTreeMap::new(), Ids::AsTheyAre));
    if let Some(written) = written.items.first()
        && written.details == item.details
    {
        brief.details.clone_from(&task.brief.details);
    }
}

/// Returns the place of each line in its section. Tasks that stand in the order of their places
/// keep them.
fn places(list: &List, meant: &[Option<&Task>]) -> Vec<u64> {
    let mut sections: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (index, (item, task)) in list.items.iter().zip(meant).enumerate() {
        let is_common = task.is_some_and(|task| stands_under_common_heading(item, task));
        let section = item.section.as_deref().filter(|_| !is_common);
        sections.entry(section).or_default().push(index);
    }
    let mut places = vec![0; list.items.len()];
    for (section, indices) in sections {
        let tasks: Option<Vec<&Task>> = indices
            .iter()
            .map(|index| meant.get(*index).copied().flatten())
            .map(|task| task.filter(|task| task.brief.section.as_deref() == section))
            .collect();
        let kept = tasks.filter(|tasks| {
            let urgency = |task: &&Task| (task.brief.priority, task.brief.position);
            tasks.is_sorted_by_key(|task| task.brief.position) || tasks.is_sorted_by_key(urgency)
        });
        for (number, index) in (1..).zip(&indices) {
            if let Some(place) = places.get_mut(*index) {
                let kept = kept.as_ref().and_then(|tasks| tasks.get(number - 1));
                *place = kept.map_or(number as u64, |task| task.brief.position);
            }
        }
    }
    places
}

fn moves_to(item: &Item, task: &Task, line: Option<&ListLine>) -> Moves {
    let shown = line.map(|line| line.shown);
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
