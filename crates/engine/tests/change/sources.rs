//! Where a change comes from.

use tribunal_engine::change::{ChangeError, ChangeSource, read};

use super::world::{World, lines};

fn base() -> World {
    World::with(&[("src/a.rs", "one\ntwo\nthree\n"), ("b.txt", "b\n")])
}

#[test]
fn uncommitted_work_is_all_that_differs_from_the_last_commit() {
    let world = base();
    world.write("src/a.rs", "one\n2\nthree\n");
    world.git(["add", "src/a.rs"]);
    world.write("b.txt", "b\nmore\n");
    world.write("new.py", "x = 1\n");
    world.write(".gitignore", "*.log\n");
    world.write("noise.log", "ignored\n");
    let expected = [
        "A .gitignore +1 -0",
        "M b.txt +1 -0",
        "A new.py +1 -0",
        "M src/a.rs +1 -1",
    ];
    world.check(ChangeSource::Uncommitted, &expected);
    world.check(ChangeSource::Default, &expected);
    world.check(ChangeSource::Staged, &["M src/a.rs +1 -1"]);
    let pinned = world.pin(ChangeSource::Default);
    assert_eq!(pinned.title, "uncommitted work on main");
}

#[test]
fn a_patch_and_its_facts_agree_with_the_texts() {
    let world = base();
    world.write("src/a.rs", "zero\none\nthree\nfour");
    let change = world.change(ChangeSource::Default);
    let file = change.file("src/a.rs").unwrap();
    assert_eq!(&*file.text, "zero\none\nthree\nfour");
    assert_eq!(file.base_text.as_deref(), Some("one\ntwo\nthree\n"));
    assert_eq!(
        file.patch,
        "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,4 @@\n\
         +zero\n one\n-two\n three\n+four\n\\ No newline at end of file\n"
    );
    assert_eq!(file.diff.added().ranges(), [(1, 1), (4, 4)]);
    assert_eq!(change.diff().file("src/a.rs"), Some(&file.diff));
    assert_eq!(
        file.language.map(|language| language.as_str()),
        Some("rust")
    );
}

#[test]
fn our_patches_are_ones_that_git_applies() {
    let world = base();
    let numbered: String = (0..60).map(|number| format!("line {number}\n")).collect();
    world.commit(&[
        ("n.txt", &numbered),
        ("old name.txt", &numbered),
        ("gone", "x"),
    ]);
    let edited = numbered
        .replace("line 7\n", "")
        .replace("line 40\n", "forty\nand more\n");
    world.write("n.txt", &edited);
    world.write("new name.txt", edited.replace("line 59\n", "line 59"));
    world.remove("old name.txt");
    world.remove("gone");
    world.write("empty", "");
    let change = world.change(ChangeSource::Default);
    let patch: String = change
        .files
        .iter()
        .map(|file| file.patch.as_str())
        .collect();
    let path = world.root.join("all.patch");
    std::fs::write(&path, patch).unwrap();

    world.git(["add", "-A"]);
    let wanted = world.git(["write-tree"]);
    world.git(["reset", "-q", "--hard"]);
    world.git(["apply", "--index", path.to_str().unwrap()]);
    assert_eq!(world.git(["write-tree"]), wanted);
}

#[test]
fn a_clean_branch_is_compared_with_its_upstream_then_with_the_default_branch() {
    let world = base();
    world.check_empty(
        ChangeSource::Default,
        "no uncommitted work, and the branch has nothing of its own",
    );
    world.git(["switch", "-q", "-c", "feature"]);
    world.commit(&[("one", "1\n")]);
    world.check(ChangeSource::Default, &["A one +1 -0"]);
    assert_eq!(
        world.pin(ChangeSource::Default).title,
        "feature against main"
    );

    // What came to `main` in the meantime is not part of the branch.
    world.git(["switch", "-q", "main"]);
    world.commit(&[("elsewhere", "x\n")]);
    world.git(["switch", "-q", "feature"]);
    world.check(ChangeSource::Default, &["A one +1 -0"]);

    world.git(["update-ref", "refs/remotes/origin/feature", "HEAD"]);
    world.git(["config", "branch.feature.remote", "origin"]);
    world.git(["config", "branch.feature.merge", "refs/heads/feature"]);
    world.git(["config", "remote.origin.url", "/nowhere"]);
    world.git([
        "config",
        "remote.origin.fetch",
        "+refs/heads/*:refs/remotes/origin/*",
    ]);
    world.check(ChangeSource::Default, &["A one +1 -0"]);
    world.commit(&[("two", "2\n")]);
    world.check(ChangeSource::Default, &["A two +1 -0"]);
    let pinned = world.pin(ChangeSource::Default);
    assert_eq!(pinned.title, "feature against origin/feature");

    // Uncommitted work comes first.
    world.write("three", "3\n");
    world.check(ChangeSource::Default, &["A three +1 -0"]);
}

#[test]
fn origin_head_names_the_default_branch() {
    let world = base();
    world.git(["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    world.git([
        "symbolic-ref",
        "refs/remotes/origin/HEAD",
        "refs/remotes/origin/trunk",
    ]);
    world.git(["branch", "-m", "work"]);
    world.commit(&[("one", "1\n")]);
    let pinned = world.pin(ChangeSource::Default);
    assert_eq!(pinned.title, "work against origin/trunk");
}

#[test]
fn a_base_takes_commits_only_and_says_so() {
    let world = base();
    world.git(["tag", "v1"]);
    world.commit(&[("one", "1\n")]);
    let source = || ChangeSource::Base("v1".to_owned());
    world.check(source(), &["A one +1 -0"]);
    assert_eq!(world.pin(source()).title, "main against v1");
    world.write("two", "2\n");
    world.check(source(), &["A one +1 -0"]);
    assert_eq!(
        world.pin(source()).title,
        "main against v1, without uncommitted work"
    );
    world.check_empty(
        ChangeSource::Base("HEAD".to_owned()),
        "no commit of the branch came after `HEAD`",
    );
}

#[test]
fn a_commit_is_compared_with_its_first_parent() {
    let world = base();
    let root = world.git(["rev-parse", "HEAD"]);
    world.git(["switch", "-q", "-c", "side"]);
    world.commit(&[("side", "s\n")]);
    world.git(["switch", "-q", "main"]);
    world.commit(&[("main", "m\n")]);
    world.git(["merge", "-q", "--no-edit", "side"]);
    world.check(ChangeSource::Commit("HEAD".to_owned()), &["A side +1 -0"]);
    world.check(ChangeSource::Commit("HEAD~1".to_owned()), &["A main +1 -0"]);
    let short = root[..7].to_owned();
    let expected = ["A b.txt +1 -0", "A src/a.rs +3 -0"];
    world.check(ChangeSource::Commit(short), &expected);
    world.git(["commit", "-q", "--allow-empty", "-m", "nothing"]);
    let pinned = world.pin(ChangeSource::Commit("HEAD".to_owned()));
    assert!(pinned.empty.is_some());
}

#[test]
fn unknown_revisions_are_answered_with_a_suggestion() {
    let world = base();
    world.git(["branch", "feature/login"]);
    let cases = [
        ("feature/logn", Some("feature/login")),
        ("login", Some("feature/login")),
        ("zzz", None),
        ("--all", None),
        ("-h", None),
        ("", None),
        ("HEAD:b.txt", None),
        ("$(touch x)", None),
    ];
    for (revision, suggested) in cases {
        for source in [ChangeSource::Base, ChangeSource::Commit] {
            let error = world.try_pin(source(revision.to_owned()), &[]).unwrap_err();
            let ChangeError::UnknownRevision { suggestion, .. } = &error else {
                panic!("{revision}: {error}");
            };
            assert_eq!(suggestion.as_deref(), suggested, "{revision}");
            assert_eq!(
                error.to_string(),
                format!("no commit is called `{revision}`")
            );
        }
    }
}

#[test]
fn a_tag_does_not_take_the_place_of_a_branch_of_its_name() {
    let world = base();
    world.git(["branch", "release"]);
    world.git(["tag", "release"]);
    // Both lead to the same commit, so that nothing can be mixed up.
    world.pin(ChangeSource::Base("release".to_owned()));
    world.commit(&[("a.txt", "more\n")]);
    world.git(["tag", "--force", "-a", "-m", "x", "release"]);
    for revision in ["release", "release^{commit}"] {
        for source in [ChangeSource::Base, ChangeSource::Commit] {
            let error = world.try_pin(source(revision.to_owned()), &[]).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "`{revision}` names several commits: refs/heads/release, refs/tags/release"
                )
            );
        }
    }
    world.pin(ChangeSource::Base("refs/heads/release".to_owned()));
}

#[test]
fn unrelated_histories_have_no_base() {
    let world = base();
    world.git(["switch", "-q", "--orphan", "other"]);
    world.commit(&[("o", "o\n")]);
    world.check_error(
        ChangeSource::Base("main".to_owned()),
        "`main` and `HEAD` have no common history",
    );
}

#[test]
fn files_are_whole_and_as_they_are_now() {
    let world = base();
    world.write("src/a.rs", "changed\n");
    world.write("src/new.rs", "fn main() {}\n");
    let change = world.change_of(ChangeSource::Files, &["src"]);
    assert_eq!(lines(&change), ["W src/a.rs +1 -0", "W src/new.rs +1 -0"]);
    let file = change.file("src/a.rs").unwrap();
    assert_eq!((&*file.text, file.patch.as_str()), ("changed\n", ""));
    assert_eq!(file.base_text, None);
    assert!(file.diff.is_changed(1) && change.pinned.whole_files);
    let all = world.change(ChangeSource::Files);
    assert_eq!(lines(&all).len(), 3);
}

#[test]
fn paths_restrict_every_source_from_where_the_user_stands() {
    let world = base();
    world.commit(&[("src/a.rs", "x\n"), ("b.txt", "x\n")]);
    world.write("src/a.rs", "y\n");
    world.write("b.txt", "y\n");
    let mut request = world.request(ChangeSource::Default, &["a.rs"]);
    request.directory = world.project.join("src");
    assert_eq!(lines(&world.asked(&request)), ["M src/a.rs +1 -1"]);
    request.paths = vec!["../b.txt".to_owned()];
    assert_eq!(lines(&world.asked(&request)), ["M b.txt +1 -1"]);
    request.source = ChangeSource::Commit("HEAD".to_owned());
    assert_eq!(lines(&world.asked(&request)), ["M b.txt +1 -1"]);
    request.paths.clear();
    assert_eq!(world.asked(&request).files.len(), 2);
}

#[test]
fn paths_that_match_nothing_say_why() {
    let world = base();
    world.write(".gitignore", "out/\n");
    world.write("out/x.rs", "x\n");
    let cases = [
        ("nope.rs", "`nope.rs` matches no file", 0),
        ("out", "`out` matches no file", 1),
        ("src/*.rs", "`src/*.rs` matches no file", 0),
        (":(glob)**", "`:(glob)**` matches no file", 0),
    ];
    for (path, expected, hints) in cases {
        let error = world.try_pin(ChangeSource::Files, &[path]).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.hints().len(), hints, "{path}");
    }
    let error = world
        .try_pin(ChangeSource::Files, &["../home"])
        .unwrap_err();
    let root = world.project.display();
    assert_eq!(
        error.to_string(),
        format!("`../home` is outside of `{root}`")
    );
    let pinned = world.try_pin(ChangeSource::Default, &["b.txt"]).unwrap();
    let expected =
        "no uncommitted work, and the branch has nothing of its own below the given paths";
    assert_eq!(pinned.empty.unwrap().reason, expected);
    let error = world.try_pin(ChangeSource::Default, &["nowhere"]);
    assert_eq!(error.unwrap_err().to_string(), "`nowhere` matches no file");
    // A file that is named counts even if git ignores it.
    let change = world.change_of(ChangeSource::Files, &["out/x.rs"]);
    assert_eq!(lines(&change), ["W out/x.rs +1 -0"]);
}

#[test]
fn what_was_pinned_is_read_again_after_everything_changed() {
    let world = base();
    world.write("src/a.rs", "pinned\n");
    world.write("new", "pinned\n");
    let pinned = world.pin(ChangeSource::Default);
    let first = read(&world.open(), &pinned).unwrap();
    world.remove("new");
    world.commit(&[("src/a.rs", "later\n")]);
    world.git(["gc", "-q", "--prune=now"]);
    let second = read(&world.open(), &pinned).unwrap();
    assert_eq!(first, second);
    assert_eq!(lines(&second), ["A new +1 -0", "M src/a.rs +1 -3"]);
}

#[test]
fn a_plain_directory_has_files_and_nothing_else() {
    let world = World::plain();
    world.write("a.py", "x = 1\n");
    world.write("sub/b.py", "y = 2\n");
    world.write(".gitignore", "*.tmp\n");
    world.write("c.tmp", "no\n");
    let change = world.change_of(ChangeSource::Files, &["a.py", "sub"]);
    assert_eq!(lines(&change), ["W a.py +1 -0", "W sub/b.py +1 -0"]);
    world.write("a.py", "changed\n");
    assert_eq!(read(&world.open(), &change.pinned).unwrap(), change);
    assert!(!world.project.join(".git").exists());
    // What was not asked for is not even stored: the directory may be somebody's home.
    let alone = world.change_of(ChangeSource::Files, &["sub"]);
    let head = alone.pinned.head.clone();
    let whole = world.change(ChangeSource::Files).pinned.head;
    assert!(head != whole && lines(&alone) == ["W sub/b.py +1 -0"]);
    let sources = [
        ChangeSource::Default,
        ChangeSource::Uncommitted,
        ChangeSource::Staged,
        ChangeSource::Base("main".to_owned()),
        ChangeSource::Commit("HEAD".to_owned()),
    ];
    let expected = format!("`{}` is not in a git repository", world.project.display());
    for source in sources {
        world.check_error(source, &expected);
    }
}
