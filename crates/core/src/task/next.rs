//! Which task is next, and what is to be done with it.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Task, TaskState};
use crate::ids::CaseId;

/// What the loop does with a task that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// Its work is reviewed.
    Review,
    /// Work that was begun goes on.
    Resume,
    /// Work begins.
    Start,
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Review => "review",
            Self::Resume => "resume",
            Self::Start => "start",
        })
    }
}

/// A task as it stands on the list, with what nobody but its store knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed<'a> {
    /// The task.
    pub task: &'a Task,
    /// Whether a living process works on it.
    pub taken: bool,
}

/// A task that has to wait for another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blocked {
    /// The task.
    pub task: CaseId,
    /// The first task that it waits for.
    pub by: CaseId,
    /// Where that one stands. One that failed is waited for in vain until somebody acts.
    pub state: TaskState,
}

/// What there is to do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// The tasks that can be taken, in order, each with what is to be done.
    pub ready: Vec<(CaseId, Turn)>,
    /// Those that wait for others.
    pub blocked: Vec<Blocked>,
    /// Those that somebody works on.
    pub taken: Vec<CaseId>,
}

impl Queue {
    /// Returns the task that is next and what is to be done with it; nothing means idle.
    #[must_use]
    pub fn next(&self) -> Option<&(CaseId, Turn)> {
        self.ready.first()
    }
}

/// Returns what there is to do, in the order of `tasks`.
///
/// Settled tasks are passed over. `tasks` may leave out those that are settled without having
/// failed: nobody waits for them.
#[must_use]
pub fn queue(tasks: &[Listed<'_>]) -> Queue {
    let in_the_way: BTreeMap<&CaseId, TaskState> = tasks
        .iter()
        .filter(|listed| !listed.task.state.satisfies())
        .map(|listed| (&listed.task.id, listed.task.state))
        .collect();
    let mut queue = Queue::default();
    for Listed { task, taken } in tasks {
        let turn = match task.state {
            TaskState::Completed | TaskState::Disputed | TaskState::Failed | TaskState::Skipped => {
                continue;
            }
            TaskState::InReview => Turn::Review,
            TaskState::InProgress => Turn::Resume,
            TaskState::Pending => Turn::Start,
        };
        let waits_for = task
            .brief
            .depends_on
            .iter()
            .find_map(|id| in_the_way.get_key_value(id));
        if *taken {
            queue.taken.push(task.id.clone());
        } else if let (Turn::Start, Some((by, state))) = (turn, waits_for) {
            queue.blocked.push(Blocked {
                task: task.id.clone(),
                by: (*by).clone(),
                state: *state,
            });
        } else {
            queue.ready.push((task.id.clone(), turn));
        }
    }
    queue
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Brief;

    /// Reads `a[x] b[ ]<a,c c[-]*` as three tasks: `b` depends on `a` and `c`, `c` is taken.
    fn check(list: &str, expected: &str) {
        let id = |name: &str| CaseId::from_bits(u64::from(name.as_bytes()[0]));
        let name = |id: &CaseId| {
            let bits = u32::from_str_radix(id.as_str().trim_start_matches("c-"), 16);
            char::from_u32(bits.unwrap()).unwrap()
        };
        let read = |word: &str| {
            let word = word.replace('_', " ");
            let marker = word.chars().nth(2).unwrap();
            let depends = word.split_once('<').map_or("", |(_, depends)| depends);
            let depends = depends.trim_end_matches('*').split(',');
            let task = Task {
                id: id(&word),
                brief: Brief {
                    depends_on: depends.filter(|name| !name.is_empty()).map(id).collect(),
                    ..Brief::default()
                },
                state: TaskState::from_marker(marker).unwrap(),
                rejections: 0,
                instructions: None,
                commit: None,
            };
            (task, word.ends_with('*'))
        };
        let tasks: Vec<(Task, bool)> = list.split_whitespace().map(read).collect();
        let listed: Vec<Listed<'_>> = tasks
            .iter()
            .map(|(task, taken)| Listed {
                task,
                taken: *taken,
            })
            .collect();
        let queue = queue(&listed);
        let mut said = match queue.next() {
            Some((id, turn)) => format!("{turn} {}", name(id)),
            None => "idle".to_owned(),
        };
        for blocked in &queue.blocked {
            let (task, by) = (name(&blocked.task), name(&blocked.by));
            said += &format!(", {task} waits for {by} ({})", blocked.state);
        }
        assert_eq!(said, expected, "{list}");
    }

    #[test]
    fn the_first_task_that_is_not_settled_is_next() {
        check("", "idle");
        check("a[_] b[_]", "start a");
        check("a[x] b[_]", "start b");
        check("a[x] b[!] c[S] d[F]", "idle");
        check("a[!] b[o] c[_]", "review b");
        check("a[-] b[o]", "resume a");
        check("a[_] b[o] c[-]", "start a");
    }

    #[test]
    fn what_somebody_works_on_is_passed_over() {
        check("a[-]* b[_]", "start b");
        check("a[o]* b[-]*", "idle");
    }

    #[test]
    fn a_task_waits_for_those_it_depends_on() {
        check("a[_]<b b[_]", "start b, a waits for b (pending)");
        check("a[_]<b b[-]*", "idle, a waits for b (in_progress)");
        check("a[_]<b b[F]", "idle, a waits for b (failed)");
        check("a[_]<b b[x]", "start a");
        check("a[_]<b b[!]", "start a");
        check("a[_]<b b[S]", "start a");
        // One that was left out of the list is settled, and what was begun goes on.
        check("a[_]<z", "start a");
        check("a[-]<b b[_]", "resume a");
    }
}
