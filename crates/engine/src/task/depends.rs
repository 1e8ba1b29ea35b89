//! Which task waits for which: read once, and asked for each task whose dependencies change.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_core::ids::CaseId;
use tribunal_store::{StoreError, TaskRecord};

use super::TaskError;

/// The dependencies of all tasks.
#[derive(Debug, Default)]
pub(super) struct DependencyIndex {
    tasks: BTreeMap<CaseId, Listed>,
    /// How many tasks wait for a task.
    dependents: BTreeMap<CaseId, usize>,
}

#[derive(Debug)]
struct Listed {
    title: String,
    depends_on: Vec<CaseId>,
}

impl DependencyIndex {
    pub(super) fn of(records: &[TaskRecord]) -> Self {
        let mut index = Self::default();
        for record in records {
            let task = &record.task;
            index.set(&task.id, &task.brief.title, &task.brief.depends_on);
        }
        index
    }

    /// Takes note of what a task waits for from now on.
    pub(super) fn set(&mut self, id: &CaseId, title: &str, depends_on: &[CaseId]) {
        let listed = Listed {
            title: title.to_owned(),
            depends_on: depends_on.to_vec(),
        };
        let before = self.tasks.insert(id.clone(), listed);
        for old in before.iter().flat_map(|listed| &listed.depends_on) {
            if let Some(count) = self.dependents.get_mut(old) {
                *count -= 1;
            }
        }
        for new in depends_on {
            *self.dependents.entry(new.clone()).or_default() += 1;
        }
    }

    /// Checks that the `wanted` dependencies exist and that none of them waits for `of`.
    pub(super) fn check(&self, wanted: &[CaseId], of: Option<&CaseId>) -> Result<(), TaskError> {
        self.walk(wanted, of).map(|_| ())
    }

    /// Does the check and returns how many tasks were looked at.
    fn walk(&self, wanted: &[CaseId], of: Option<&CaseId>) -> Result<usize, TaskError> {
        let itself = |id: &CaseId| {
            let title = self.tasks.get(id).map_or("", |listed| &listed.title);
            TaskError::Unfit(format!("task {id} ({title}) would depend on itself"))
        };
        for id in wanted {
            if of == Some(id) {
                return Err(itself(id));
            }
            if !self.tasks.contains_key(id) {
                let text = id.to_string();
                return Err(StoreError::NoSuchTask { text }.into());
            }
        }
        // Whom nobody waits for is in no circle.
        let Some(of) = of.filter(|of| self.dependents.get(*of).is_some_and(|count| *count > 0))
        else {
            return Ok(0);
        };
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<&CaseId> = wanted.iter().collect();
        while let Some(id) = waiting.pop() {
            if id == of {
                return Err(itself(id));
            }
            if seen.insert(id)
                && let Some(listed) = self.tasks.get(id)
            {
                waiting.extend(&listed.depends_on);
            }
        }
        Ok(seen.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> CaseId {
        CaseId::from_bits(number << 24)
    }

    /// Tasks of which each waits for the one before, ordered one after the other.
    fn chain(length: u64) -> (DependencyIndex, usize) {
        let mut index = DependencyIndex::default();
        for number in 0..length {
            index.set(&id(number), "t", &[]);
        }
        let mut looked_at = 0;
        for number in 1..length {
            let before = [id(number - 1)];
            looked_at += index.walk(&before, Some(&id(number))).unwrap();
            index.set(&id(number), "t", &before);
        }
        (index, looked_at)
    }

    #[test]
    fn a_long_chain_is_ordered_without_walking_it_again_for_each_task() {
        let (_, looked_at) = chain(4_000);
        assert_eq!(looked_at, 0);
    }

    #[test]
    fn a_circle_and_a_task_that_is_not_there_are_refused() {
        let (mut index, _) = chain(5);
        let circle = index.check(&[id(4)], Some(&id(0))).unwrap_err();
        assert!(
            circle.to_string().contains("would depend on itself"),
            "{circle}"
        );
        assert!(index.check(&[id(2)], Some(&id(2))).is_err());
        assert!(index.check(&[id(9)], None).is_err());
        // The chain is cut in two: no circle is left to be made.
        index.set(&id(3), "t", &[]);
        assert!(index.check(&[id(4)], Some(&id(0))).is_ok());
    }
}
