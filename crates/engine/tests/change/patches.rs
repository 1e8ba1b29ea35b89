//! A patch as the thing under review.

use std::fs;

use tribunal_engine::change::{ChangeError, ChangeSource, read};

use super::world::{World, lines};

const PATCH: &str = "\
diff --git a/a.rs b/a.rs
--- a/a.rs
+++ b/a.rs
@@ -2,2 +2,3 @@
 two
-three
+3
+four
diff --git a/new.rs b/new.rs
new file mode 100644
--- /dev/null
+++ b/new.rs
@@ -0,0 +1 @@
+fn new() {}
";

fn text(patch: &str) -> ChangeSource {
    ChangeSource::PatchText(patch.as_bytes().to_vec())
}

#[test]
fn a_patch_that_applies_gives_whole_texts() {
    let world = World::with(&[("a.rs", "one\ntwo\nthree\n")]);
    // Uncommitted work is not what the patch is about.
    world.write("a.rs", "other\n");
    let expected = ["M a.rs +2 -1", "A new.rs +1 -0"];
    world.check(text(PATCH), &expected);
    let change = world.change(text(PATCH));
    assert_eq!(&*change.file("a.rs").unwrap().text, "one\ntwo\n3\nfour\n");
    assert_eq!(change.pinned.loose_patch, None);
    let file = world.root.join("some.patch");
    fs::write(&file, PATCH).unwrap();
    assert_eq!(lines(&world.change(ChangeSource::Patch(file))), expected);
    let some = world.change_of(text(PATCH), &["new.rs"]);
    assert_eq!(lines(&some), ["A new.rs +1 -0"]);
}

#[test]
fn a_patch_that_is_part_of_head_is_compared_backwards() {
    let world = World::with(&[("a.rs", "one\ntwo\nthree\n")]);
    world.commit(&[("a.rs", "one\ntwo\n3\nfour\n"), ("new.rs", "fn new() {}\n")]);
    let change = world.change(text(PATCH));
    assert_eq!(lines(&change), ["M a.rs +2 -1", "A new.rs +1 -0"]);
    assert_eq!(change.pinned.title, "a patch that is part of HEAD");
    assert_eq!(&*change.file("a.rs").unwrap().text, "one\ntwo\n3\nfour\n");
}

#[test]
fn parts_that_do_not_apply_are_read_from_the_patch_itself() {
    let world = World::with(&[("a.rs", "something else\n")]);
    let change = world.change(text(PATCH));
    let expected = [
        "M a.rs +2 -1",
        "A new.rs +1 -0",
        "not a.rs: cannot be read, the patch does not apply; only its own lines were read",
    ];
    assert_eq!(lines(&change), expected);
    let file = change.file("a.rs").unwrap();
    assert_eq!(&*file.text, "\ntwo\n3\nfour\n");
    assert_eq!(file.base_text.as_deref(), Some("\ntwo\nthree\n"));
    assert!(file.diff.is_changed(3) && file.diff.is_changed(4) && !file.diff.is_changed(2));
    let again = read(&world.open(), &change.pinned).unwrap();
    assert_eq!(again, change);
}

#[test]
fn without_a_repository_the_lines_of_the_patch_are_all_there_is() {
    let world = World::plain();
    let change = world.change(text(PATCH));
    assert_eq!(lines(&change), ["M a.rs +2 -1", "A new.rs +1 -0"]);
    assert_eq!(&*change.file("a.rs").unwrap().text, "\ntwo\n3\nfour\n");
    let restricted = world.change_of(text(PATCH), &["a.rs"]);
    assert_eq!(lines(&restricted), ["M a.rs +2 -1"]);
}

#[test]
fn patches_without_prefixes_and_with_renames_apply() {
    let world = World::with(&[("src/a.rs", "one\ntwo\nthree\n"), ("b", "1\n2\n3\n4\n5\n")]);
    let plain = "--- src/a.rs\t2024-01-01\n+++ src/a.rs\t2024-01-02\n@@ -1,3 +1,3 @@\n-one\n+1\n two\n three\n";
    world.check(text(plain), &["M src/a.rs +1 -1"]);
    let renamed = "diff --git a/b b/c d\nsimilarity index 80%\nrename from b\nrename to c d\n\
                   --- a/b\n+++ b/c d\n@@ -4,2 +4,2 @@\n 4\n-5\n+five\n";
    world.check(text(renamed), &["R c d from b +1 -1"]);
    let deleted = "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n\
                   @@ -1,5 +0,0 @@\n-1\n-2\n-3\n-4\n-5\n";
    world.check(text(deleted), &["D b +0 -5"]);
}

#[test]
fn a_patch_cannot_lead_out_of_the_tree() {
    let world = World::with(&[("a", "1\n")]);
    for path in ["../outside", "/etc/hostile", ".git/config", "x/../../y"] {
        let patch = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
        let change = world.change(text(&patch));
        // One that git refuses is still shown, as the text it is, unless its name is no name.
        assert!(change.left_out.len() == 1, "{path}: {:?}", lines(&change));
        let names = change.files.iter().map(|file| file.path.as_str());
        assert!(
            names
                .clone()
                .all(|name| !name.contains("..") && !name.starts_with('/'))
        );
    }
    assert!(!world.root.join("outside").exists());
}

#[test]
fn nonsense_is_refused_and_extremes_are_bounded() {
    let world = World::with(&[("a", "1\n")]);
    for nonsense in ["hello\n", "@@ -1 +1 @@\n-a\n+b\n"] {
        let error = world.try_pin(text(nonsense), &[]).unwrap_err();
        assert!(
            matches!(error, ChangeError::EmptyPatch),
            "{nonsense:?}: {error}"
        );
    }
    let far = "--- a/x\n+++ b/x\n@@ -4000000000,1 +4000000000,1 @@\n-a\n+b\n";
    world.check(text(far), &["not x: too large"]);
    let cut_off = "--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n-1\n+2\n";
    let change = world.change(text(cut_off));
    assert_eq!(lines(&change)[0], "M a +1 -1");
    let missing = ChangeSource::Patch("nowhere.patch".into());
    let error = world.try_pin(missing, &[]).unwrap_err();
    assert!(matches!(error, ChangeError::File { .. }), "{error}");
    let binary = "diff --git a/i.png b/i.png\nindex 1..2 100644\n\
                  Binary files a/i.png and b/i.png differ\n";
    world.check(text(binary), &["not i.png: binary"]);
}
