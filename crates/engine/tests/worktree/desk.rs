//! A coder at its desk: a worktree of a world, and short words for what happens there.

use std::fs;
use std::path::{Path, PathBuf};

use tribunal_core::time::Timestamp;
use tribunal_engine::change::{AgentFiles, ChangeSource, Repository};
use tribunal_engine::worktree::{Collected, Signature, Worktree, start_of};

use crate::world::World;

/// A worktree made from what lies in the project of a world.
pub(crate) struct Desk {
    pub(crate) repo: Repository,
    pub(crate) worktree: Worktree,
}

pub(crate) fn signature(message: &str) -> Signature<'_> {
    Signature {
        author: "cody",
        message,
        at: Timestamp(1_700_000_000_000),
    }
}

pub(crate) fn place(world: &World) -> PathBuf {
    world.root.join("places/one")
}

impl Desk {
    /// Returns a worktree of the whole project as it is now, uncommitted work included.
    pub(crate) fn of(world: &World) -> Self {
        Self::with(world, ChangeSource::Files, AgentFiles::LeftOut)
    }

    pub(crate) fn with(world: &World, source: ChangeSource, agent_files: AgentFiles) -> Self {
        let repo = world.open();
        let pinned = world.pin(source);
        let start = start_of(&repo, &pinned, signature("work in progress")).unwrap();
        let worktree = Worktree::create(&repo, &place(world), &start, agent_files).unwrap();
        Self { repo, worktree }
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.worktree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.worktree.path().join(path)).unwrap();
    }

    pub(crate) fn collect(&self) -> Collected {
        self.worktree.collect(signature("fix it")).unwrap()
    }

    /// Returns what was collected, one line for each file.
    pub(crate) fn lines(&self) -> Vec<String> {
        let collected = self.collect();
        let files = collected
            .files
            .iter()
            .map(|file| format!("{:?} {}", file.status, file.path));
        let left = collected
            .left_out
            .iter()
            .map(|left| format!("not {}: {}, {}", left.path, left.why, left.detail));
        files.chain(left).collect()
    }
}
