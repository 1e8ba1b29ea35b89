//! The loop with agents that do anything: it ends, loses nothing and approves nothing by mistake.

use super::{add, project};
use crate::common::chaos::Story;

/// Runs the story of a seed twice, as a user would who looks at what is left.
fn tell(seed: u64) {
    let story = Story::of(seed);
    let env = project("");
    story.set(&env);
    for number in 1..=story.tasks {
        add(&env, &[&format!("task {number}")]);
    }
    let lanes = story.lanes.to_string();
    for _ in 0..2 {
        let ran = env.run(["run", "--parallel", &lanes]);
        assert!(
            matches!(ran.code, Some(0 | 1 | 5)),
            "{story:?}: {:?}\n{}",
            ran.code,
            ran.stderr
        );
    }
    story.check(&env, 2);
}

#[test]
fn whatever_agents_do_the_loop_ends_and_loses_nothing_1() {
    (1..=3).for_each(tell);
}

#[test]
fn whatever_agents_do_the_loop_ends_and_loses_nothing_2() {
    (4..=6).for_each(tell);
}
