//! Diffs as tools write them, and as an attacker might.

use super::*;

fn summary(diff: &Diff) -> Vec<String> {
    diff.files
        .iter()
        .map(|file| {
            let old = file.old_path.as_deref().unwrap_or("-");
            let binary = if file.is_binary { " binary" } else { "" };
            format!(
                "{:?} {old} -> {}{binary} +{:?} -{:?}",
                file.change,
                file.path,
                file.added.ranges(),
                file.removed.ranges()
            )
        })
        .collect()
}

#[test]
fn git_output_with_every_kind_of_change() {
    let text = "\
commit 1234
diff --git a/src/a.rs b/src/a.rs
index 111..222 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,4 +1,5 @@ fn main() {
 one
-two
+zwei
+drei
 four

@@ -10 +11,0 @@
-gone
diff --git a/new file.txt b/new file.txt
new file mode 100644
index 000..111
--- /dev/null
+++ b/new file.txt
@@ -0,0 +1,2 @@
+a
+b
\\ No newline at end of file
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/from.c b/to.c
similarity index 100%
rename from from.c
rename to to.c
diff --git a/x.png b/x.png
index 1..2 100644
Binary files a/x.png and b/x.png differ
diff --git \"a/\\303\\244.py\" \"b/\\303\\244.py\"
--- \"a/\\303\\244.py\"
+++ \"b/\\303\\244.py\"
@@ -1 +1 @@
-a
+b
";
    let diff = Diff::parse(text);
    assert_eq!(
        summary(&diff),
        [
            "Modified src/a.rs -> src/a.rs +[(2, 3)] -[(2, 2), (10, 10)]",
            "Added - -> new file.txt +[(1, 2)] -[]",
            "Deleted old.txt -> old.txt +[] -[(1, 1)]",
            "Renamed from.c -> to.c +[] -[]",
            "Modified x.png -> x.png binary +[] -[]",
            "Modified ä.py -> ä.py +[(1, 1)] -[(1, 1)]",
        ]
    );
    assert_eq!(diff.unread_lines, 0);
    assert_eq!(diff.file("from.c").map(|file| &*file.path), Some("to.c"));
    assert_eq!(diff.file("nowhere"), None);
}

#[test]
fn plain_unified_diff_of_two_files() {
    let text = "\
--- lib/a.py\t2024-01-01 00:00:00
+++ lib/a.py\t2024-01-02 00:00:00
@@ -1,2 +1,2 @@
-- a
+++ b
 c
--- lib/b.py
+++ lib/b.py
@@ -5 +5,2 @@
 x
+y
";
    let diff = Diff::parse(&text.replace('\n', "\r\n"));
    assert_eq!(
        summary(&diff),
        [
            "Modified lib/a.py -> lib/a.py +[(1, 1)] -[(1, 1)]",
            "Modified lib/b.py -> lib/b.py +[(6, 6)] -[]",
        ]
    );
}

#[test]
fn lines_are_changed_or_near() {
    let diff = Diff::parse("--- a\n+++ a\n@@ -10,3 +10,2 @@\n x\n-y\n z\n@@ -30 +29 @@\n-p\n+q\n");
    let file = &diff.files[0];
    let changed: Vec<u32> = (0..40).filter(|line| file.is_changed(*line)).collect();
    assert_eq!(changed, [29]);
    let near: Vec<u32> = (0..40).filter(|line| file.near(*line, 1)).collect();
    assert_eq!(near, [9, 10, 11, 12, 27, 28, 29, 30]);
    assert_eq!(file.distance(20), Some(8));
    assert!(!FileDiff::default().near(1, u32::MAX));
}

#[test]
fn hostile_input_is_survived() {
    let cases = [
        "@@ -1 +1 @@\n+a\n",
        "--- a\n+++ a\n@@ -4294967295,4294967295 +4294967295,4294967295 @@\n+a\n-b\n c\n",
        "--- a\n+++ a\n@@ -1,99999 +1,99999 @@\n",
        "--- a\n+++ a\n@@ -99999999999999999999 +1 @@\n+a\n",
        "diff --git \n",
        "diff --git a b c d e f\n--- \n+++ \n",
        "rename to x\nBinary files  differ\n",
        "--- a\n+++ a\n@@ -1,2 +1,2 @@\nnonsense\n+a\n",
        "\"\\",
    ];
    for case in cases {
        let diff = Diff::read(case.as_bytes());
        assert!(diff.files.len() <= 1, "{case}: {diff:?}");
    }
    let diff = Diff::read(b"--- a\n+++ a\n@@ -1 +1 @@\n-\xff\n+\xfe\n");
    assert_eq!(summary(&diff), ["Modified a -> a +[(1, 1)] -[(1, 1)]"]);
    let spaces = format!("diff --git {}\n", "a ".repeat(200_000));
    assert!(Diff::parse(&spaces).files.len() <= 1);
    let many = "--- a\n+++ b\n".repeat(60_000);
    let diff = Diff::parse(&many);
    assert!(diff.is_cut_off && diff.files.len() == 50_000);
}
