//! A long list under fire: eight lanes, agents that do anything, and a runner that is killed every few
//! seconds; and many short stories of the same agents.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]

mod common;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::TestEnv;
use common::chaos::Story;

/// How many tasks are worked on under fire.
const TASKS: u32 = 40;

/// How long a runner lives before it is killed.
const LIFE: Duration = Duration::from_secs(5);

/// For how long runners are killed; the last one works to its end.
const FIRE: Duration = Duration::from_secs(30);

fn project() -> TestEnv {
    let env = TestEnv::with_repository();
    env.write("notes.txt", "one\n");
    env.commit_all("begin");
    env
}

fn add(env: &TestEnv, tasks: u32) {
    let list: String = (1..=tasks)
        .map(|number| format!("- [ ] task {number}\n"))
        .collect();
    let file = env.write("TASKS.md", list);
    let file = file.to_str().unwrap().to_owned();
    env.run(["task", "import", &file]).assert_code(0);
}

fn start(env: &TestEnv) -> Child {
    let mut command = env.command(["run", "--quiet", "--parallel", "8"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn a_long_list_under_fire_loses_nothing() {
    let story = Story::with_everybody(20_261_118);
    let env = project();
    story.set(&env);
    add(&env, TASKS);
    let began = Instant::now();
    let mut runs = 0;
    while began.elapsed() < FIRE {
        let mut runner = start(&env);
        runs += 1;
        let born = Instant::now();
        while born.elapsed() < LIFE && runner.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = runner.kill();
        let _ = runner.wait();
    }
    let ran = env.run(["run", "--quiet", "--parallel", "8"]);
    assert!(
        matches!(ran.code, Some(0 | 1 | 5)),
        "{:?}\n{}",
        ran.code,
        ran.stderr
    );
    story.check(&env, runs + 1);
}

fn tell(seeds: std::ops::RangeInclusive<u64>) {
    for seed in seeds {
        let story = Story::of(seed);
        let env = project();
        story.set(&env);
        add(&env, story.tasks);
        let lanes = story.lanes.to_string();
        for _ in 0..3 {
            let ran = env.run(["run", "--parallel", &lanes]);
            assert!(
                matches!(ran.code, Some(0 | 1 | 5)),
                "{story:?}: {:?}\n{}",
                ran.code,
                ran.stderr
            );
        }
        story.check(&env, 3);
    }
}

#[test]
fn many_stories_end_and_lose_nothing_1() {
    tell(101..=115);
}

#[test]
fn many_stories_end_and_lose_nothing_2() {
    tell(116..=130);
}
