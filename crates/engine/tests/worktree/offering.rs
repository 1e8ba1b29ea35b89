//! The work is offered, and the user's repository stays as it was otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use tribunal_engine::change::{AgentFiles, ChangeError, ChangeSource};
use tribunal_engine::worktree::{apply, branch_commit, is_applied, patch, publish};

use crate::desk::Desk;
use crate::world::World;

/// Returns everything in the project by path, except for objects and the one ref that may be new.
fn state(world: &World) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![world.project.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&world.project).unwrap().to_str().unwrap();
            let is_offer = name.contains("heads/tribunal") || name.starts_with(".git/objects");
            if is_offer {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else {
                found.insert(name.to_owned(), fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

#[test]
fn a_branch_is_made_and_nothing_else_changes() {
    let world = World::with(&[("a.rs", "1\n"), ("b.rs", "1\n")]);
    world.write("a.rs", "staged\n");
    world.git(["add", "a.rs"]);
    world.write("b.rs", "unstaged\n");
    world.write("c.rs", "untracked\n");
    let canary = world.canary();
    for hook in [
        "reference-transaction",
        "post-checkout",
        "pre-commit",
        "update",
    ] {
        fs::copy(&canary, world.project.join(".git/hooks").join(hook)).unwrap();
    }
    world.git(["config", "core.fsmonitor", &canary]);
    world.silence();
    let before = state(&world);
    let desk = Desk::with(&world, ChangeSource::Uncommitted, AgentFiles::LeftOut);
    desk.write("c.rs", "fixed\n");
    let collected = desk.collect();
    for _ in 0..2 {
        publish(&desk.repo, &collected.commit, "tribunal/c-1").unwrap();
    }
    let there = branch_commit(&desk.repo, "tribunal/c-1").unwrap();
    assert_eq!(there, Some(collected.commit));
    assert_eq!(state(&world), before);
    assert!(!world.sang());
    // The user's own objects do, without any of ours.
    fs::remove_dir_all(world.clones()).unwrap();
    assert_eq!(world.git(["show", "tribunal/c-1:c.rs"]), "fixed");
    world.git(["fsck", "--strict"]);
}

#[test]
fn a_branch_of_somebody_else_is_left_alone() {
    let world = World::with(&[("a.rs", "1\n")]);
    world.git(["branch", "tribunal/c-1"]);
    let desk = Desk::of(&world);
    desk.write("a.rs", "2\n");
    let commit = desk.collect().commit;
    let error = publish(&desk.repo, &commit, "tribunal/c-1").unwrap_err();
    assert!(matches!(error, ChangeError::BranchTaken { .. }), "{error}");
    let main = world.git(["rev-parse", "main"]);
    assert_eq!(world.git(["rev-parse", "tribunal/c-1"]), main);
    world.git(["branch", "-m", "tribunal/c-1", "tribunal"]);
    assert!(publish(&desk.repo, &commit, "tribunal/c-1").is_err());
}

#[test]
fn a_linked_worktree_and_other_hashes_get_their_branch_too() {
    let world = World::plain();
    world.git(["init", "-q", "-b", "main", "--object-format=sha256"]);
    world.commit(&[("a.rs", "1\n")]);
    let linked = world.root.join("linked");
    world.git(["worktree", "add", "-q", linked.to_str().unwrap()]);
    let repo = world.try_open(&linked).unwrap();
    let start = world.git(["rev-parse", "HEAD"]);
    let place = world.root.join("places/x");
    let worktree =
        tribunal_engine::worktree::Worktree::create(&repo, &place, &start, AgentFiles::LeftOut);
    let worktree = worktree.unwrap();
    fs::write(worktree.path().join("a.rs"), "2\n").unwrap();
    let signature = crate::desk::signature("fix");
    let collected = worktree.collect(signature).unwrap();
    publish(&repo, &collected.commit, "tribunal/x").unwrap();
    assert_eq!(world.git(["show", "tribunal/x:a.rs"]), "2");
}

#[test]
fn a_patch_says_the_same_and_applies() {
    let world = World::with(&[("a.rs", "1\n"), ("b.bin", "x\0y")]);
    let desk = Desk::of(&world);
    desk.write("a.rs", "2\n");
    desk.write("b.bin", "x\0z");
    let collected = desk.collect();
    let text = patch(&desk.repo, &collected.start, &collected.commit).unwrap();
    let file = world.root.join("fix.patch");
    fs::write(&file, text).unwrap();
    world.git(["apply", file.to_str().unwrap()]);
    assert_eq!(fs::read(world.project.join("b.bin")).unwrap(), b"x\0z");
    assert!(is_applied(&desk.repo, &collected.start, &collected.commit).unwrap());
}

#[test]
fn files_are_brought_to_the_coders_state_and_the_index_stays() {
    let files = [("a.rs", "1\n"), ("gone/x.rs", "2\n"), ("run", "3\n")];
    let world = World::with(&files);
    world.write("mine.rs", "unrelated\n");
    fs::set_permissions(world.project.join("run"), fs::Permissions::from_mode(0o640)).unwrap();
    let index = fs::read(world.project.join(".git/index")).unwrap();
    let desk = Desk::of(&world);
    desk.write("a.rs", "one\n");
    desk.write("new/b.rs", "4\n");
    desk.remove("gone/x.rs");
    let run = desk.worktree.path().join("run");
    fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.rs", desk.worktree.path().join("link")).unwrap();
    let collected = desk.collect();
    for _ in 0..2 {
        apply(&desk.repo, &[&collected.start], &collected.commit).unwrap();
    }
    assert!(is_applied(&desk.repo, &collected.start, &collected.commit).unwrap());
    assert_eq!(fs::read(world.project.join(".git/index")).unwrap(), index);
    assert_eq!(
        fs::read(world.project.join("mine.rs")).unwrap(),
        b"unrelated\n"
    );
    assert!(!world.project.join("gone").exists());
    let mode = fs::metadata(world.project.join("run"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o750);
}

#[test]
fn a_file_that_is_not_as_reviewed_stops_all_of_it() {
    type Disturb = fn(&Path);
    let cases: [(&str, Disturb); 5] = [
        ("edited", |root| {
            fs::write(root.join("b.rs"), "mine\n").unwrap()
        }),
        ("removed", |root| {
            fs::remove_file(root.join("b.rs")).unwrap()
        }),
        ("made", |root| {
            fs::write(root.join("new.rs"), "mine\n").unwrap()
        }),
        ("a link", |root| {
            fs::remove_file(root.join("b.rs")).unwrap();
            symlink("/etc/passwd", root.join("b.rs")).unwrap();
        }),
        ("beyond a link", |root| {
            fs::rename(root.join("d"), root.join("elsewhere")).unwrap();
            symlink("elsewhere", root.join("d")).unwrap();
        }),
    ];
    for (what, disturb) in cases {
        let world = World::with(&[("a.rs", "1\n"), ("b.rs", "1\n"), ("d/c.rs", "1\n")]);
        let desk = Desk::of(&world);
        for path in ["a.rs", "b.rs", "d/c.rs", "new.rs"] {
            desk.write(path, "2\n");
        }
        let collected = desk.collect();
        disturb(&world.project);
        let before = state(&world);
        let error = apply(&desk.repo, &[&collected.start], &collected.commit).unwrap_err();
        assert!(
            matches!(error, ChangeError::FilesDiffer { .. }),
            "{what}: {error}"
        );
        assert_eq!(state(&world), before, "{what}");
    }
}

#[test]
fn what_cannot_be_written_takes_back_what_was() {
    let world = World::with(&[("a.rs", "1\n"), ("gone.rs", "1\n")]);
    let desk = Desk::of(&world);
    desk.write("a.rs", "2\n");
    desk.remove("gone.rs");
    desk.write("z/b.rs", "2\n");
    let collected = desk.collect();
    // Since the review, the user made a file where the coder made a directory.
    world.write("z", "mine\n");
    let before = state(&world);
    let error = apply(&desk.repo, &[&collected.start], &collected.commit).unwrap_err();
    assert_eq!(error.to_string(), "cannot write `z/b.rs`");
    assert_eq!(state(&world), before);
}
