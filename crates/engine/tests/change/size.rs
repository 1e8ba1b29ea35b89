//! Large changes, within seconds.

use std::time::{Duration, Instant};

use tribunal_engine::change::{ChangeSource, checkout};

use super::world::World;

/// Far more than is needed, because test machines are busy; it catches what grows too fast.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn two_thousand_files_are_read_in_seconds() {
    let world = World::empty();
    let text: String = (0..40)
        .map(|line| format!("let x{line} = {line};\n"))
        .collect();
    for number in 0..2_000 {
        world.write(format!("src/m{}/f{number}.rs", number % 50), &text);
    }
    let new = Instant::now();
    let change = world.change(ChangeSource::Default);
    assert_eq!(change.files.len(), 2_000);
    let untracked = new.elapsed();

    world.commit(&[]);
    let edited = text.replace("x7 = 7", "x7 = 8");
    for number in 0..2_000 {
        world.write(format!("src/m{}/f{number}.rs", number % 50), &edited);
    }
    world.commit(&[]);
    let start = Instant::now();
    let change = world.change(ChangeSource::Commit("HEAD".to_owned()));
    assert_eq!(change.files.len(), 2_000);
    let committed = start.elapsed();
    let start = Instant::now();
    checkout(&world.open(), &change.pinned, &world.root.join("target")).unwrap();
    let written = start.elapsed();
    assert!(
        untracked + committed + written < PATIENCE,
        "{untracked:?} {committed:?} {written:?}"
    );
}

#[test]
fn a_file_of_fifty_thousand_lines_is_compared_line_by_line() {
    let world = World::empty();
    let text: String = (0..50_000).map(|line| format!("line {line}\n")).collect();
    world.commit(&[("long.txt", &text)]);
    world.write("long.txt", text.replace("7\n", "seven\n"));
    let start = Instant::now();
    let change = world.change(ChangeSource::Default);
    let file = change.file("long.txt").unwrap();
    assert_eq!(file.diff.added().ranges().len(), 5_000);
    assert_eq!(file.diff.added().ranges().first(), Some(&(8, 8)));
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn lines_that_repeat_without_end_are_compared_in_time() {
    let world = World::empty();
    let text = |words: &str| words.repeat(100_000);
    world.commit(&[("a", &text("a\nb\n"))]);
    world.write("a", text("b\nc\na\n"));
    let start = Instant::now();
    assert_eq!(world.change(ChangeSource::Default).files.len(), 1);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}
