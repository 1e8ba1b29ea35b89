//! Where ledgers are: outside of the project, one for all working trees of a clone, believed only where
//! the clone and the ledger name each other.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ran, TestEnv};

/// A clone, and others beside it, used as people use them: without `--ledger`.
struct Clones {
    env: TestEnv,
}

impl Clones {
    fn new() -> Self {
        Self {
            env: TestEnv::with_repository(),
        }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.env.root().join(name)
    }

    fn command(&self, place: &Path, args: &[&str]) -> Command {
        let mut command = self.env.command(args);
        command.env_remove("TRIBUNAL_LEDGER").current_dir(place);
        command
    }

    fn run_in(&self, place: &Path, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(place, args))
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_in(&self.env.project(), args)
    }

    /// Records one case in the ledger of `place`.
    fn ask_in(&self, place: &Path, words: &str) -> Ran {
        self.run_in(place, &["ask", "scripted", words])
            .assert_code(0)
    }

    /// Returns the number of cases in the ledger of `place`.
    fn cases_in(&self, place: &Path) -> usize {
        let ran = self.run_in(place, &["log", "--json"]).assert_code(0);
        ran.json()["cases"].as_array().unwrap().len()
    }

    fn ledgers(&self) -> Vec<PathBuf> {
        let all = self.env.home().join(".local/state/tribunal/ledgers");
        let entries = std::fs::read_dir(all).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut found: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
        found.sort();
        found
    }

    fn sh(&self, script: &str) {
        let ran = Command::new("sh")
            .args(["-ec", script])
            .current_dir(self.env.root())
            .status();
        assert!(ran.unwrap().success(), "{script}");
    }

    /// Lets the clone have the ledger of an older version in the project, with one case.
    fn with_old_ledger(place: &Path, clones: &Self) {
        let old = ["--ledger", ".tribunal/ledger", "ask", "scripted", "old"];
        clones.run_in(place, &old).assert_code(0);
    }
}

#[test]
fn a_new_ledger_is_private_and_outside_of_the_project() {
    use std::os::unix::fs::PermissionsExt as _;
    let clones = Clones::new();
    clones.ask_in(&clones.env.project(), "one");
    let ledgers = clones.ledgers();
    assert_eq!(ledgers.len(), 1, "{ledgers:?}");
    let mode = ledgers[0].metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(!clones.env.project().join(".tribunal").exists());
    clones.env.git(&["clean", "-fdxq"]);
    clones.env.git(&["stash", "-aq"]);
    assert_eq!(clones.cases_in(&clones.env.project()), 1);
    let doctor = clones.run(&["doctor", "--ledger-only"]).assert_code(0);
    let id = ledgers[0].file_name().unwrap().to_string_lossy();
    let told = format!("place: ledger {id} of {}, ", clones.env.project().display());
    assert!(doctor.stdout.contains(&told), "{doctor:?}");
}

#[test]
fn reading_commands_make_no_ledger() {
    let clones = Clones::new();
    assert_eq!(clones.run(&["doctor", "--ledger-only"]).code, Some(0));
    clones.run(&["log"]).assert_code(0);
    assert_eq!(clones.ledgers(), Vec::<PathBuf>::new());
    assert!(!clones.env.project().join(".git/tribunal-ledger").exists());
}

#[test]
fn all_working_trees_of_a_clone_share_one_list_of_cases_and_tasks() {
    let clones = Clones::new();
    let (first, second) = (clones.env.project(), clones.place("second"));
    clones.env.git(&["worktree", "add", "-q", "../second"]);
    clones.ask_in(&first, "one");
    clones.ask_in(&second, "two");
    clones
        .run_in(&second, &["task", "add", "Write the page"])
        .assert_code(0);
    let tasks = |place: &Path| {
        clones
            .run_in(place, &["task", "list"])
            .assert_code(0)
            .stdout
    };
    assert_eq!(tasks(&first), tasks(&second));
    assert!(tasks(&first).contains("Write the page"));
    assert_eq!(clones.cases_in(&first), clones.cases_in(&second));
    assert_eq!(clones.ledgers().len(), 1);
}

#[test]
fn projects_in_folders_of_one_repository_have_ledgers_of_their_own() {
    let clones = Clones::new();
    let inner = clones.env.project().join("inner");
    std::fs::create_dir_all(inner.join(".tribunal")).unwrap();
    clones.ask_in(&clones.env.project(), "one");
    assert_eq!(clones.cases_in(&inner), 0);
    clones.ask_in(&inner, "two");
    assert_eq!(clones.ledgers().len(), 2);
}

#[test]
fn a_directory_without_git_has_a_ledger_by_its_path() {
    let clones = Clones::new();
    let plain = clones.place("plain");
    std::fs::create_dir_all(plain.join(".tribunal")).unwrap();
    clones.ask_in(&plain, "one");
    assert_eq!(clones.cases_in(&plain), 1);
    assert_eq!(clones.cases_in(&clones.env.project()), 0);
    assert!(!plain.join(".tribunal/ledger").exists());
}

#[test]
fn a_clone_that_moves_keeps_its_ledger() {
    let clones = Clones::new();
    clones.ask_in(&clones.env.project(), "one");
    clones.sh("mv project moved");
    let moved = clones.place("moved");
    let ran = clones.run_in(&moved, &["log"]).assert_code(0);
    assert!(ran.stderr.contains("was moved here from"), "{ran:?}");
    assert_eq!(clones.cases_in(&moved), 1);
    let again = clones.run_in(&moved, &["log"]).assert_code(0);
    assert_eq!(again.stderr, "", "it is told once");
}

#[test]
fn a_copy_of_a_clone_gets_a_ledger_of_its_own() {
    let clones = Clones::new();
    let original = clones.env.project();
    clones.ask_in(&original, "one");
    clones.sh("cp -a project copy");
    let copy = clones.place("copy");
    let ran = clones.run_in(&copy, &["log"]).assert_code(0);
    assert!(ran.stderr.contains("ledger of another clone"), "{ran:?}");
    assert_eq!(clones.cases_in(&copy), 0);
    clones.ask_in(&copy, "two");
    clones.ask_in(&copy, "three");
    assert_eq!(clones.cases_in(&copy), 2);
    assert_eq!(clones.cases_in(&original), 1);
}

#[test]
fn a_pointer_that_an_archive_brings_is_not_believed() {
    let clones = Clones::new();
    clones.ask_in(&clones.env.project(), "one");
    let pointer = clones.env.project().join(".git/tribunal-ledger");
    let id = std::fs::read_to_string(&pointer).unwrap();
    for brought in [
        id.as_str(),
        "0123456789abcdef0123456789abcdef\n",
        "../../../../project\n",
        "",
    ] {
        clones.sh("rm -rf hostile && git init -q hostile");
        let hostile = clones.place("hostile");
        std::fs::write(hostile.join(".git/tribunal-ledger"), brought).unwrap();
        assert_eq!(clones.cases_in(&hostile), 0, "{brought:?}");
        clones.ask_in(&hostile, "mine");
        assert_eq!(clones.cases_in(&hostile), 1, "{brought:?}");
        assert_eq!(clones.cases_in(&clones.env.project()), 1, "{brought:?}");
    }
    assert_eq!(std::fs::read_to_string(&pointer).unwrap(), id);
}

#[test]
fn a_working_tree_that_its_clone_does_not_list_gets_a_ledger_of_its_own() {
    let clones = Clones::new();
    let victim = clones.env.project();
    clones.ask_in(&victim, "one");
    let git_dir = victim.join(".git").display().to_string();
    clones.sh("mkdir by-file by-link by-common && cp -a project/.git by-common/.git");
    let file = clones.place("by-file/.git");
    std::fs::write(file, format!("gitdir: {git_dir}\n")).unwrap();
    std::os::unix::fs::symlink(&git_dir, clones.place("by-link/.git")).unwrap();
    std::fs::write(clones.place("by-common/.git/commondir"), &git_dir).unwrap();
    for name in ["by-file", "by-link", "by-common"] {
        let place = clones.place(name);
        assert_eq!(clones.cases_in(&place), 0, "{name}");
        clones.ask_in(&place, "mine");
        assert_eq!(clones.cases_in(&victim), 1, "{name}");
    }
}

#[test]
fn a_clone_that_cannot_be_written_has_a_ledger_by_its_path() {
    let clones = Clones::new();
    // A directory of that name cannot be replaced by a file.
    std::fs::create_dir(clones.env.project().join(".git/tribunal-ledger")).unwrap();
    clones.ask_in(&clones.env.project(), "one");
    clones.ask_in(&clones.env.project(), "two");
    assert_eq!(clones.cases_in(&clones.env.project()), 2);
    assert_eq!(clones.ledgers().len(), 1);
}

#[test]
fn processes_that_come_first_at_once_end_with_the_same_ledger() {
    let clones = Clones::new();
    let start = |number: usize| {
        let words = format!("number {number}");
        let mut command = clones.command(&clones.env.project(), &["ask", "scripted", &words]);
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let started: Vec<_> = (0..8).map(start).collect();
    for mut child in started {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(clones.cases_in(&clones.env.project()), 8);
    assert_eq!(clones.ledgers().len(), 1);
}

#[test]
fn two_state_directories_can_use_one_clone() {
    let clones = Clones::new();
    let project = clones.env.project();
    let other = clones.place("other-state").display().to_string();
    clones.ask_in(&project, "one");
    for _ in 0..2 {
        let mut command = clones.command(&project, &["ask", "scripted", "two"]);
        command.env("XDG_STATE_HOME", &other);
        Ran::of(&mut command).assert_code(0);
        assert_eq!(clones.cases_in(&project), 1);
    }
    let mut log = clones.command(&project, &["log", "--json"]);
    let log = Ran::of(log.env("XDG_STATE_HOME", &other)).assert_code(0);
    assert_eq!(log.json()["cases"].as_array().unwrap().len(), 2);
}

#[test]
fn an_older_ledger_in_the_project_is_moved_with_one_message() {
    let clones = Clones::new();
    let project = clones.env.project();
    Clones::with_old_ledger(&project, &clones);
    let ran = clones.run(&["log"]).assert_code(0);
    assert!(ran.stderr.contains("The ledger was moved from"), "{ran:?}");
    assert_eq!(clones.cases_in(&project), 1);
    assert!(!project.join(".tribunal/ledger").exists());
    assert_eq!(clones.run(&["log"]).stderr, "");
    clones.run(&["doctor", "--ledger-only"]).assert_code(0);
}

#[test]
fn a_move_that_is_killed_at_any_moment_is_completed_by_the_next_command() {
    let points = Clones::new();
    Clones::with_old_ledger(&points.env.project(), &points);
    let list = points.place("points");
    let mut log = points.command(&points.env.project(), &["log"]);
    Ran::of(log.env("TRIBUNAL_CRASH_LIST", &list)).assert_code(0);
    let listed = std::fs::read_to_string(&list).unwrap();
    let listed: Vec<&str> = listed
        .lines()
        .filter(|line| line.starts_with("place."))
        .collect();
    assert!(listed.len() > 6, "{listed:?}");
    for point in listed {
        for elsewhere in [false, true] {
            let clones = Clones::new();
            let project = clones.env.project();
            Clones::with_old_ledger(&project, &clones);
            let _other = match elsewhere {
                true => clones.env.move_elsewhere("home"),
                false => None,
            };
            let mut log = clones.command(&project, &["log"]);
            log.env("TRIBUNAL_CRASH_AT", point);
            assert_eq!(Ran::of(&mut log).code, None, "{point} is passed");
            assert_eq!(clones.cases_in(&project), 1, "{point} {elsewhere}");
            let left = std::fs::read_dir(project.join(".tribunal")).unwrap();
            assert_eq!(left.count(), 0, "{point} {elsewhere}");
            clones.run(&["doctor", "--ledger-only"]).assert_code(0);
            let log = clones.run(&["log", "--json"]).json();
            let case = log["cases"][0]["case"].as_str().unwrap();
            clones.run(&["export", case]).assert_code(0);
        }
    }
}

#[test]
fn an_older_ledger_that_is_in_use_is_not_moved() {
    let clones = Clones::new();
    let project = clones.env.project();
    Clones::with_old_ledger(&project, &clones);
    let holders = project.join(".tribunal/ledger/holders");
    std::fs::create_dir_all(&holders).unwrap();
    let holder = std::fs::File::create(holders.join("x.lock")).unwrap();
    holder.lock().unwrap();
    let ran = clones.run(&["log"]).assert_code(6);
    assert!(ran.stderr.contains("uses the ledger"), "{ran:?}");
    assert!(project.join(".tribunal/ledger/ledger.db").exists());
    drop(holder);
    assert_eq!(clones.cases_in(&project), 1);
}

#[test]
fn only_the_first_of_several_older_ledgers_is_moved() {
    let clones = Clones::new();
    let (first, second) = (clones.env.project(), clones.place("second"));
    clones.env.git(&["worktree", "add", "-q", "../second"]);
    for place in [&first, &second] {
        Clones::with_old_ledger(place, &clones);
    }
    assert_eq!(clones.cases_in(&first), 1);
    let ran = clones.run_in(&second, &["log"]).assert_code(0);
    assert!(ran.stderr.contains("--ledger"), "{ran:?}");
    assert!(ran.stderr.contains("It stays there"), "{ran:?}");
    assert!(second.join(".tribunal/ledger/ledger.db").exists());
    assert_eq!(
        clones.run_in(&second, &["log"]).stderr,
        "",
        "it is told once"
    );
}

#[test]
fn an_older_ledger_that_a_branch_brings_is_neither_moved_nor_believed() {
    let clones = Clones::new();
    let project = clones.env.project();
    Clones::with_old_ledger(&project, &clones);
    clones.sh("cp -a project/.tribunal/ledger brought");
    clones.env.git(&["add", "-f", ".tribunal/ledger/ledger.db"]);
    let refused = |why: &str| {
        let ran = clones.run(&["log"]).assert_code(0);
        assert!(ran.stderr.contains(why), "{ran:?}");
        assert_eq!(clones.cases_in(&project), 0, "{why}");
        assert!(project.join(".tribunal/ledger/ledger.db").exists());
    };
    refused("came with a commit");
    clones.env.git(&["commit", "-qm", "brought"]);
    clones
        .env
        .git(&["rm", "-rq", "--cached", ".tribunal/ledger"]);
    refused("came with a commit");
    clones.env.git(&["commit", "-qm", "gone"]);
    clones.sh("rm -r project/.tribunal/ledger && ln -s ../../brought project/.tribunal/ledger");
    refused("symbolic link");
    clones.sh("rm -r project/.tribunal && mkdir outer && mv brought outer/ledger && ln -s ../outer project/.tribunal");
    refused("symbolic link");
}

#[test]
fn a_project_that_becomes_a_repository_is_told_of_its_earlier_ledger() {
    let clones = Clones::new();
    let plain = clones.place("plain");
    std::fs::create_dir_all(plain.join(".tribunal")).unwrap();
    clones.ask_in(&plain, "one");
    clones.sh("git init -q plain");
    let ran = clones.ask_in(&plain, "two");
    assert!(
        ran.stderr.contains("before it was in a repository"),
        "{ran:?}"
    );
    assert_eq!(clones.cases_in(&plain), 1);
}

#[test]
fn the_last_command_that_leaves_folds_the_log_in() {
    let clones = Clones::new();
    clones.ask_in(&clones.env.project(), "one");
    let ledger = clones.ledgers().remove(0);
    assert!(!ledger.join("ledger.db-wal").exists());
    assert!(ledger.join("ledger.db-first").exists());
}

#[test]
fn files_that_do_not_belong_together_are_told_with_a_way_out() {
    let damage = |script: &str, told: &str| {
        let clones = Clones::new();
        let project = clones.env.project();
        clones.ask_in(&project, "one");
        clones.run(&["backup", "../backup.tar.gz"]).assert_code(0);
        let ledger = clones.ledgers().remove(0).display().to_string();
        clones.sh(&format!("cd {ledger} && {script}"));
        for args in [
            &["log"][..],
            &["doctor", "--ledger-only"],
            &["task", "list"],
        ] {
            let ran = clones.run(args).assert_code(3);
            assert!(ran.stderr.contains(told), "{script}: {ran:?}");
            assert!(ran.stderr.contains("Hint:"), "{script}: {ran:?}");
        }
        clones
            .run(&["restore", "../backup.tar.gz", "--force"])
            .assert_code(0);
        assert_eq!(clones.cases_in(&project), 1, "{script}");
        clones.run(&["doctor", "--ledger-only"]).assert_code(0);
    };
    damage("rm ledger.db", "is incomplete");
    damage(": > ledger.db", "is incomplete");
    damage(
        "printf 0123456789abcdef%048d 0 > ledger.db-first",
        "belongs to another ledger",
    );
}

#[test]
fn a_backup_is_restored_into_the_place() {
    let clones = Clones::new();
    let project = clones.env.project();
    clones.ask_in(&project, "one");
    clones.run(&["backup", "../backup.tar.gz"]).assert_code(0);
    clones.ask_in(&project, "two");
    clones
        .run(&["restore", "../backup.tar.gz", "--force"])
        .assert_code(0);
    assert_eq!(clones.cases_in(&project), 1);
    clones.run(&["gc"]).assert_code(0);
    clones.run(&["doctor", "--ledger-only"]).assert_code(0);
    clones
        .run(&["restore", "../backup.tar.gz", "--into", "../elsewhere"])
        .assert_code(0);
    let ledger = ["--ledger", "../elsewhere", "log", "--json"];
    let log = clones.run(&ledger).assert_code(0);
    assert_eq!(log.json()["cases"].as_array().unwrap().len(), 1);
}
