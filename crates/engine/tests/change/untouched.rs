//! The user's repository is the same before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tribunal_engine::change::{ChangeSource, checkout, pin, read};

use super::world::World;

/// What can be seen of a file: its kind, times and content.
type Sight = (u32, (i64, i64), u64, Vec<u8>);

fn look(root: &Path, seen: &mut BTreeMap<PathBuf, Sight>) {
    let metadata = fs::symlink_metadata(root).unwrap();
    let content = match metadata.is_file() {
        true => fs::read(root).unwrap(),
        false => Vec::new(),
    };
    // Git renews the time of an object that it would otherwise write again, which keeps it from
    // being pruned. That is all we do to the user's repository.
    let is_object = root.parent().is_some_and(|folder| {
        folder
            .parent()
            .is_some_and(|objects| objects.ends_with(".git/objects"))
    });
    let time = match is_object {
        true => (0, 0),
        false => (metadata.mtime(), metadata.mtime_nsec()),
    };
    let sight = (metadata.mode(), time, metadata.ino(), content);
    seen.insert(root.to_owned(), sight);
    if metadata.is_dir() {
        for entry in fs::read_dir(root).unwrap() {
            look(&entry.unwrap().path(), seen);
        }
    }
}

fn sights(root: &Path) -> BTreeMap<PathBuf, Sight> {
    let mut seen = BTreeMap::new();
    look(root, &mut seen);
    seen
}

/// Returns what was changed, made or removed.
fn different(before: &BTreeMap<PathBuf, Sight>, after: &BTreeMap<PathBuf, Sight>) -> Vec<PathBuf> {
    let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    paths.into_iter().filter(differs).cloned().collect()
}

#[test]
fn nothing_in_the_project_is_written_whatever_is_asked() {
    let world = World::with(&[("a", "1\n"), ("src/b.rs", "fn b() {}\n")]);
    world.git(["tag", "v1"]);
    world.commit(&[("a", "2\n")]);
    world.write("a", "3\n");
    world.git(["add", "a"]);
    world.write("a", "4\n");
    world.write("new", "x\n");
    // A crashed git left its lock; we neither wait for it nor take it.
    fs::write(world.project.join(".git/index.lock"), "").unwrap();
    fs::write(world.project.join(".git/HEAD.lock"), "").unwrap();
    fs::write(world.project.join(".git/config.lock"), "").unwrap();
    // Stale times make git want to refresh the index.
    let b = fs::File::open(world.project.join("src/b.rs")).unwrap();
    b.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let before = sights(&world.project);

    let patch = b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-2\n+5\n".to_vec();
    let sources = [
        ChangeSource::Default,
        ChangeSource::Files,
        ChangeSource::Uncommitted,
        ChangeSource::Staged,
        ChangeSource::Base("v1".to_owned()),
        ChangeSource::Commit("HEAD".to_owned()),
        ChangeSource::PatchText(patch),
    ];
    for (number, source) in sources.into_iter().enumerate() {
        let repo = world.open();
        let pinned = pin(&repo, &world.request(source, &[])).unwrap();
        assert!(!read(&repo, &pinned).unwrap().files.is_empty());
        let target = world.root.join(format!("checkout-{number}"));
        checkout(&repo, &pinned, &target).unwrap();
    }
    assert_eq!(
        different(&before, &sights(&world.project)),
        Vec::<PathBuf>::new()
    );
}

#[test]
fn our_repository_is_private_and_leaves_nothing_temporary() {
    let world = World::with(&[("a", "1\n")]);
    world.write("a", "2\n");
    world.write("new", "x\n");
    world.change(ChangeSource::Default);
    let seen = sights(&world.clones());
    assert!(seen.len() > 10);
    for (path, (mode, ..)) in seen {
        assert_eq!(mode & 0o077, 0, "{}", path.display());
        assert!(
            !path.to_string_lossy().contains("temporary-"),
            "{}",
            path.display()
        );
    }
}

#[test]
fn sixteen_at_once_do_not_disturb_each_other() {
    let world = World::with(&[("a", "1\n")]);
    world.write("a", "2\n");
    let all: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| scope.spawn(|| world.change(ChangeSource::Default)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(all.iter().all(|change| change == &all[0]));
    assert_eq!(fs::read_dir(world.clones()).unwrap().count(), 1);
}

#[test]
fn a_project_that_moves_with_its_ledger_keeps_what_was_pinned() {
    let world = World::with(&[("a", "1\n"), (".gitignore", "/ledger\n")]);
    world.write("a", "2\n");
    let open = |root: &Path| {
        let clones = root.join("ledger/clone");
        tribunal_engine::change::Repository::open_for(&world.home(), root, clones).unwrap()
    };
    let repo = open(&world.project);
    let pinned = pin(&repo, &world.request(ChangeSource::Default, &[])).unwrap();
    let change = read(&repo, &pinned).unwrap();
    let moved = world.root.join("moved");
    fs::rename(&world.project, &moved).unwrap();
    assert_eq!(read(&open(&moved), &pinned).unwrap(), change);
}
