//! Repositories in every state git knows.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tribunal_engine::change::{ChangeError, ChangeSource, Repository, pin, read};

use super::world::{World, lines};

#[test]
fn before_the_first_commit_everything_is_new() {
    let world = World::empty();
    world.check_empty(ChangeSource::Default, "the repository has no commits yet");
    world.write("a", "1\n");
    world.write("b", "2\n");
    world.git(["add", "a"]);
    world.check(ChangeSource::Default, &["A a +1 -0", "A b +1 -0"]);
    world.check(ChangeSource::Staged, &["A a +1 -0"]);
    world.check(ChangeSource::Files, &["W a +1 -0", "W b +1 -0"]);
    let base = ChangeSource::Base("main".to_owned());
    world.check_error(base, "the repository has no commits yet");
    let head = ChangeSource::Commit("HEAD".to_owned());
    world.check_error(head, "no commit is called `HEAD`");
}

#[test]
fn a_detached_head_is_compared_with_the_default_branch() {
    let world = World::with(&[("a", "1\n")]);
    world.git(["switch", "-q", "--detach"]);
    world.commit(&[("b", "2\n")]);
    world.check(ChangeSource::Default, &["A b +1 -0"]);
    assert_eq!(world.pin(ChangeSource::Default).title, "HEAD against main");
    world.write("c", "3\n");
    assert_eq!(world.pin(ChangeSource::Default).title, "uncommitted work");
}

#[test]
fn a_bare_repository_has_commits_and_files_but_no_working_tree() {
    let world = World::with(&[("a", "1\n")]);
    world.commit(&[("src/b", "2\n")]);
    let bare = world.root.join("bare.git");
    world.git(["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let ask = |source, paths: &[&str]| {
        let mut request = world.request(source, paths);
        request.directory = bare.clone();
        request
    };
    let commit = ask(ChangeSource::Commit("main".to_owned()), &[]);
    assert_eq!(lines(&world.asked(&commit)), ["A src/b +1 -0"]);
    let files = ask(ChangeSource::Files, &["src"]);
    assert_eq!(lines(&world.asked(&files)), ["W src/b +1 -0"]);
    let repo = world.try_open(&bare).unwrap();
    let error = pin(&repo, &ask(ChangeSource::Uncommitted, &[])).unwrap_err();
    assert!(matches!(error, ChangeError::NoWorkingTree), "{error}");
}

#[test]
fn a_linked_working_tree_has_a_head_and_an_index_of_its_own() {
    let world = World::with(&[("a", "1\n")]);
    let linked = world.root.join("linked");
    world.git([
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        linked.to_str().unwrap(),
    ]);
    fs::write(linked.join("a"), "2\n").unwrap();
    fs::create_dir(linked.join("sub")).unwrap();
    world.write("only-here", "x\n");
    let mut request = world.request(ChangeSource::Default, &[]);
    request.directory = linked.join("sub");
    let change = world.asked(&request);
    assert_eq!(lines(&change), ["M a +1 -1"]);
    assert_eq!(change.pinned.title, "uncommitted work on side");
    world.check(ChangeSource::Default, &["A only-here +1 -0"]);
}

#[test]
fn a_git_file_that_leads_nowhere_is_an_error() {
    let world = World::plain();
    world.write(".git", "gitdir: ../gone\n");
    let error = world.try_open(&world.project).unwrap_err();
    assert!(
        matches!(error, ChangeError::BrokenRepository { .. }),
        "{error}"
    );
}

#[test]
fn submodules_are_named_and_not_entered() {
    let world = World::with(&[("a", "1\n")]);
    let other = World::with(&[("inside", "1\n")]);
    let url = other.project.to_str().unwrap();
    world.git(["submodule", "--quiet", "add", url, "sub"]);
    let staged = ["A .gitmodules +3 -0", "not sub: submodule"];
    world.check(ChangeSource::Staged, &staged);
    world.check(ChangeSource::Default, &staged);
    world.commit(&[]);
    other.commit(&[("inside", "2\n")]);
    let sub = world.project.join("sub");
    world.git_in(&sub, ["pull", "-q"]);
    fs::write(sub.join("untracked"), "x\n").unwrap();
    world.check(ChangeSource::Default, &["not sub: submodule"]);

    // From inside, it is a repository like any other.
    let mut request = world.request(ChangeSource::Default, &[]);
    request.directory = sub;
    assert_eq!(lines(&world.asked(&request)), ["A untracked +1 -0"]);

    let error = world
        .try_pin(ChangeSource::Files, &["sub/inside"])
        .unwrap_err();
    let hint = "`sub` is a repository of its own; review it from there";
    assert_eq!(error.hints(), [hint]);
}

#[test]
fn repositories_that_happen_to_lie_there_are_named() {
    let world = World::with(&[("a", "1\n")]);
    world.write("nested/x", "x\n");
    world.git_in(&world.project.join("nested"), ["init", "-q"]);
    world.write("b", "1\n");
    let expected = [
        "A b +1 -0",
        "not nested/: cannot be read, a repository that git does not track here; name it to review its files",
    ];
    world.check(ChangeSource::Default, &expected);
}

#[test]
fn a_shallow_clone_knows_where_its_history_ends() {
    let world = World::with(&[("a", "1\n")]);
    world.commit(&[("b", "2\n")]);
    world.commit(&[("c", "3\n")]);
    let shallow = world.root.join("shallow");
    let url = format!("file://{}", world.project.display());
    let target = shallow.to_str().unwrap();
    world.git(["clone", "-q", "--depth", "2", &url, target]);
    let ask = |source| {
        let mut request = world.request(source, &[]);
        request.directory = shallow.clone();
        request
    };
    let commit = |revision: &str| ask(ChangeSource::Commit(revision.to_owned()));
    assert_eq!(lines(&world.asked(&commit("HEAD"))), ["A c +1 -0"]);
    let oldest = lines(&world.asked(&commit("HEAD~1")));
    assert_eq!(oldest, ["A a +1 -0", "A b +1 -0"]);
    world.git_in(&shallow, ["switch", "-q", "--orphan", "other"]);
    world.git_in(&shallow, ["commit", "-q", "--allow-empty", "-m", "x"]);
    let repo = world.try_open(&shallow).unwrap();
    let error = pin(&repo, &ask(ChangeSource::Base("main".to_owned()))).unwrap_err();
    assert_eq!(error.hints().len(), 1, "{error}");
}

#[test]
fn files_outside_of_a_sparse_checkout_are_not_deleted() {
    for options in [
        &["--cone"][..],
        &["--cone", "--sparse-index"],
        &["--no-cone"],
    ] {
        let world = World::with(&[("in/a", "1\n"), ("out/b", "2\n"), ("out/c/d", "3\n")]);
        let args = [&["sparse-checkout", "set"], options, &["in"]].concat();
        world.git(args);
        assert!(!world.project.join("out/b").exists());
        world.write("in/a", "changed\n");
        world.check(ChangeSource::Default, &["M in/a +1 -1"]);
        assert_eq!(world.change(ChangeSource::Files).files.len(), 3);
        world.git(["add", "in/a"]);
        world.check(ChangeSource::Staged, &["M in/a +1 -1"]);
    }
}

#[test]
fn objects_may_be_named_by_sha256() {
    let world = World::plain();
    world.git(["init", "-q", "-b", "main", "--object-format=sha256"]);
    world.write("a", "1\n");
    world.check(ChangeSource::Default, &["A a +1 -0"]);
    world.commit(&[]);
    world.write("a", "2\n");
    world.check(ChangeSource::Default, &["M a +1 -1"]);
    let pinned = world.pin(ChangeSource::Default);
    assert_eq!(pinned.base.map(|id| id.len()), Some(64));
}

#[test]
fn a_split_index_and_every_version_of_it_are_read() {
    for setting in [
        "core.splitIndex=true",
        "index.version=4",
        "feature.manyFiles=true",
    ] {
        let world = World::with(&[("a", "1\n"), ("b", "2\n")]);
        let (key, value) = setting.split_once('=').unwrap();
        world.git(["config", key, value]);
        world.git(["update-index", "--force-write-index"]);
        world.write("a", "changed\n");
        world.git(["add", "a"]);
        world.write("b", "changed\n");
        world.check(ChangeSource::Default, &["M a +1 -1", "M b +1 -1"]);
        world.check(ChangeSource::Staged, &["M a +1 -1"]);
    }
}

#[test]
fn an_unreadable_index_costs_time_and_not_the_review() {
    let world = World::with(&[("a", "1\n"), ("b", "2\n")]);
    world.write("a", "changed\n");
    fs::write(world.project.join(".git/index"), "nonsense").unwrap();
    world.check(ChangeSource::Default, &["M a +1 -1"]);
    fs::remove_file(world.project.join(".git/index")).unwrap();
    world.check(ChangeSource::Default, &["M a +1 -1"]);
}

#[test]
fn a_change_in_the_moment_of_the_index_is_seen() {
    let world = World::with(&[("a", "1\n")]);
    // Same size, same second: only the times tell git to look again.
    for text in ["2\n", "3\n", "4\n", "5\n"] {
        world.write("a", "1\n");
        world.git(["add", "a"]);
        world.write("a", text);
        world.check(ChangeSource::Default, &["M a +1 -1"]);
    }
}

#[test]
fn conflicts_are_part_of_uncommitted_work() {
    let world = World::with(&[("a", "1\n")]);
    world.git(["switch", "-q", "-c", "side"]);
    world.commit(&[("a", "side\n")]);
    world.git(["switch", "-q", "main"]);
    world.commit(&[("a", "main\n")]);
    world.try_git(&world.project, ["merge", "side"]);
    world.check(ChangeSource::Default, &["M a +4 -0"]);
    world.check_error(ChangeSource::Staged, "the index has unresolved conflicts");
}

#[test]
fn every_kind_of_change_has_its_word() {
    let world = World::with(&[
        ("deleted", "x\n"),
        ("staged-away", "x\n"),
        ("script.sh", "echo\n"),
        ("becomes-link", "x\n"),
        ("becomes-folder", "x\n"),
        ("folder/becomes-file", "x\n"),
        ("linked/a", "x\n"),
        ("moved.rs", "fn one() {}\nfn two() {}\nfn three() {}\n"),
    ]);
    symlink("moved.rs", world.project.join("link")).unwrap();
    world.commit(&[]);
    world.remove("deleted");
    world.git(["rm", "-q", "staged-away"]);
    let script = world.project.join("script.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    world.remove("becomes-link");
    symlink("moved.rs", world.project.join("becomes-link")).unwrap();
    world.remove("becomes-folder");
    world.write("becomes-folder/x", "y\n");
    fs::remove_dir_all(world.project.join("folder")).unwrap();
    world.write("folder", "file\n");
    fs::remove_dir_all(world.project.join("linked")).unwrap();
    fs::create_dir(world.root.join("elsewhere")).unwrap();
    fs::write(world.root.join("elsewhere/a"), "outside\n").unwrap();
    symlink("../elsewhere", world.project.join("linked")).unwrap();
    world.remove("link");
    world.write("link", "now a file\n");
    world.write("intended", "new\n");
    world.git(["add", "-N", "intended"]);
    fs::rename(
        world.project.join("moved.rs"),
        world.project.join("target.rs"),
    )
    .unwrap();
    let expected = [
        "D becomes-folder +0 -1",
        "A becomes-folder/x +1 -0",
        "D deleted +0 -1",
        "A folder +1 -0",
        "D folder/becomes-file +0 -1",
        "A intended +1 -0",
        "A link +1 -0",
        "D linked/a +0 -1",
        "M script.sh +0 -0",
        "D staged-away +0 -1",
        "R target.rs from moved.rs +0 -0",
        "not becomes-link: symbolic link, leads to nothing that the repository holds",
        "not linked: symbolic link, leads out of the repository",
    ];
    world.check(ChangeSource::Default, &expected);
    let change = world.change(ChangeSource::Default);
    let script = change.file("script.sh").unwrap();
    assert!(
        script.patch.ends_with("old mode 100644\nnew mode 100755\n"),
        "{}",
        script.patch
    );
    let deleted = change.file("deleted").unwrap();
    assert_eq!(
        (&*deleted.text, deleted.base_text.as_deref()),
        ("x\n", Some("x\n"))
    );
    assert_eq!(
        change.file("moved.rs").map(|file| file.path.as_str()),
        Some("target.rs")
    );
    let staged = ["D staged-away +0 -1"];
    world.check(ChangeSource::Staged, &staged);
}

#[test]
fn the_index_of_a_hook_counts_when_it_is_of_this_repository() {
    let world = World::with(&[("a", "1\n"), ("b", "1\n")]);
    world.write("a", "2\n");
    world.write("b", "2\n");
    world.git(["add", "a"]);
    let index = world.project.join(".git/index");
    let next = world.project.join(".git/next-index-1.lock");
    let strange = world.root.join("index");
    for copy in [&next, &strange] {
        fs::copy(&index, copy).unwrap();
    }
    world.git(["add", "b"]);
    for (given, expected) in [
        (next, &["M a +1 -1"][..]),
        (strange, &["M a +1 -1", "M b +1 -1"]),
    ] {
        let repo: Repository = world.open().with_index(given);
        let pinned = pin(&repo, &world.request(ChangeSource::Staged, &[])).unwrap();
        assert_eq!(lines(&read(&repo, &pinned).unwrap()), expected);
    }
}

#[test]
fn line_endings_and_ignored_files_follow_the_users_settings() {
    let world = World::with(&[("a", "1\n2\n")]);
    world.git(["config", "core.autocrlf", "true"]);
    world.write("a", "1\r\n2\r\n");
    world.write("editor.swp", "x\n");
    world.write("local.tmp", "x\n");
    let home = world.root.join("home");
    fs::write(
        home.join(".gitconfig"),
        "[core]\n\texcludesFile = ~/ignored\n",
    )
    .unwrap();
    fs::write(home.join("ignored"), "*.swp\n").unwrap();
    fs::write(world.project.join(".git/info/exclude"), "*.tmp\n").unwrap();
    world.check_empty(ChangeSource::Uncommitted, "no uncommitted work");
    fs::remove_file(home.join(".gitconfig")).unwrap();
    fs::create_dir_all(home.join(".config/git")).unwrap();
    fs::write(home.join(".config/git/ignore"), "*.swp\n").unwrap();
    world.git(["config", "core.autocrlf", "false"]);
    world.check(ChangeSource::Uncommitted, &["M a +2 -2"]);
}

#[test]
fn a_partial_history_is_an_error_that_names_the_object() {
    let world = World::with(&[("a", "1\n")]);
    world.commit(&[("a", "2\n"), ("b", "other\n")]);
    let blob = world.git(["rev-parse", "HEAD:a"]);
    let object = |id: &str| {
        world
            .project
            .join(format!(".git/objects/{}/{}", &id[..2], &id[2..]))
    };
    fs::remove_file(object(&blob)).unwrap();
    let head = || ChangeSource::Commit("HEAD".to_owned());
    let expected = [
        "A b +1 -0",
        "not a: cannot be read, its content is missing from the repository",
    ];
    world.check(head(), &expected);
    let pinned = world.pin(head());
    let commit = pinned.base.clone().unwrap();
    fs::remove_file(object(&commit)).unwrap();
    let error = read(&world.open(), &pinned).unwrap_err();
    let message = format!("the object {commit} is missing from the repository");
    assert_eq!(error.to_string(), message);
}
