//! Finds and kills processes that outlived the agent that started them.
//!
//! Two nets are cast. A supervisor adopts the orphans below it, so whatever descends from it is
//! found by parentage, even after a double fork into a new session. And every process of a run
//! inherits a marker in its environment, which finds what is left when the supervisor itself was
//! killed. What has cleared its environment then is adopted by us, who started the supervisor, and is known
//! by its session: nothing of a run can join ours. A process would have to kill us as well to escape.
//!
//! The sandbox is a third, tighter net: its PID namespace ends with its first process. It is not
//! there on every machine.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, getpid, getsid};
use tribunal_core::ids::RunId;

use super::order::MARKER;

/// Pause between two looks at processes that are about to die.
const PAUSE: Duration = Duration::from_millis(5);

/// Longest time that killing the marked processes of a run may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Kills every process marked with `run`, and returns how many there were.
///
/// For runs whose supervisor is gone; neither the caller nor its ancestors are touched. Where the
/// system has no `/proc` it finds nothing.
#[must_use]
pub fn sweep_marked(run: &RunId) -> usize {
    let spared = ancestors(&snapshot(), getpid().as_raw());
    let find = || {
        let mut found = marked(run.as_str());
        found.retain(|pid| !spared.contains(pid));
        found
    };
    sweep(find, || (), Instant::now() + PATIENCE).killed
}

/// Makes this process the parent of whatever a dead supervisor leaves behind.
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Kills what supervisors that died have left to this process, but for the processes in `spared` and what
/// is below them, and returns how many there were.
pub(super) fn sweep_orphans(spared: &BTreeSet<i32>) -> usize {
    let me = getpid().as_raw();
    let ours = getsid(None).ok();
    let find = || {
        let parents = snapshot();
        let children = parents.iter().filter(|(_, parent)| **parent == me);
        // What we start ourselves, git for example, is in our session, which nobody can join.
        let is_foreign = |pid: i32| getsid(Some(Pid::from_raw(pid))).ok() != ours;
        let mut found = BTreeSet::new();
        for (pid, _) in children.filter(|(pid, _)| !spared.contains(pid) && is_foreign(**pid)) {
            found.insert(*pid);
            found.extend(descendants(&parents, *pid));
        }
        found
    };
    // The dead are collected one by one: all at once would take our other children from those who wait.
    let found = std::cell::RefCell::new(BTreeSet::new());
    let find = || {
        let now = find();
        found.borrow_mut().extend(now.iter().copied());
        now
    };
    let reap = || {
        let collect = |pid: &i32| {
            let _ = waitpid(Pid::from_raw(*pid), Some(WaitPidFlag::WNOHANG));
        };
        found.borrow().iter().for_each(collect);
    };
    sweep(find, reap, Instant::now() + PATIENCE).killed
}

/// Returns the runs of which processes are alive, whoever started them.
#[must_use]
pub fn marked_runs() -> BTreeSet<String> {
    let prefix = format!("{MARKER}=");
    let runs_of = |pid: i32| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let run = environ.split(|byte| *byte == 0).find_map(|variable| {
            let value = variable.strip_prefix(prefix.as_bytes())?;
            Some(String::from_utf8_lossy(value).into_owned())
        })?;
        living_parent(pid).map(|_| run)
    };
    process_ids().filter_map(runs_of).collect()
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Swept {
    /// Number of processes killed.
    pub(super) killed: usize,
    /// Number of processes that were still there when time was up.
    pub(super) left: usize,
}

/// Kills all descendants of this process, and all processes marked with `run`.
///
/// `reap` collects the dead children in between, so that they no longer count.
pub(super) fn sweep_descendants(run: &str, reap: impl FnMut(), until: Instant) -> Swept {
    let me = getpid().as_raw();
    let find = || {
        let mut found = descendants(&snapshot(), me);
        found.extend(marked(run));
        found.remove(&me);
        found
    };
    sweep(find, reap, until)
}

/// Kills what `find` finds until it finds nothing, because killing and forking may race.
fn sweep(find: impl Fn() -> BTreeSet<i32>, mut reap: impl FnMut(), until: Instant) -> Swept {
    let mut killed = BTreeSet::new();
    loop {
        reap();
        let found = find();
        if found.is_empty() || Instant::now() >= until {
            // What died since the last time is collected too.
            reap();
            return Swept {
                killed: killed.len(),
                left: found.len(),
            };
        }
        for pid in found {
            // It may have gone since we looked, which is as good.
            if kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok() {
                killed.insert(pid);
            }
        }
        reap();
        std::thread::sleep(PAUSE);
    }
}

/// Returns the parent of every living process.
fn snapshot() -> BTreeMap<i32, i32> {
    process_ids()
        .filter_map(|pid| Some((pid, living_parent(pid)?)))
        .collect()
}

fn process_ids() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the parent of `pid`, or nothing when it is dead or only waits to be collected.
fn living_parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may itself hold spaces and parentheses.
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = String::from_utf8_lossy(stat.get(after_name..)?).into_owned();
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let threads: u32 = fields.get(17)?.parse().ok()?;
    // A process whose first thread has ended looks dead while its other threads live on.
    let is_dead = matches!(*fields.first()?, "Z" | "X") && threads <= 1;
    if is_dead {
        return None;
    }
    fields.get(1)?.parse().ok()
}

fn descendants(parents: &BTreeMap<i32, i32>, root: i32) -> BTreeSet<i32> {
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for (pid, _) in parents.iter().filter(|(_, other)| **other == parent) {
            if found.insert(*pid) {
                open.push(*pid);
            }
        }
    }
    found
}

/// Returns `pid` and everything above it.
fn ancestors(parents: &BTreeMap<i32, i32>, pid: i32) -> BTreeSet<i32> {
    let mut found = BTreeSet::from([pid]);
    let mut at = pid;
    while let Some(parent) = parents.get(&at) {
        if !found.insert(*parent) {
            break;
        }
        at = *parent;
    }
    found
}

/// Returns the living processes whose environment carries the marker of `run`.
fn marked(run: &str) -> BTreeSet<i32> {
    let entry = format!("{MARKER}={run}");
    let carries = |pid: &i32| {
        // Empty for zombies and kernel threads, refused for processes of other users.
        std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
            environ
                .split(|byte| *byte == 0)
                .any(|variable| variable == entry.as_bytes())
        })
    };
    process_ids()
        .filter(carries)
        .filter(|pid| living_parent(*pid).is_some())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_and_ancestors_follow_parents() {
        let parents = BTreeMap::from([(1, 0), (10, 1), (11, 10), (12, 11), (20, 1)]);
        assert_eq!(descendants(&parents, 10), BTreeSet::from([11, 12]));
        assert_eq!(ancestors(&parents, 12), BTreeSet::from([0, 1, 10, 11, 12]));
    }
}
