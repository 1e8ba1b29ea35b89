//! Runs that do not end themselves are ended, in time and without leftovers.

#[path = "supervisor_common/mod.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::time::{Duration, Instant};

use common::{Place, generous, processes};
use tokio_util::sync::CancellationToken;
use tribunal_agents::command::Ended;
use tribunal_agents::spec::Cli;
use tribunal_agents::{Agent, Limits, Progress};
use tribunal_core::agent::ErrorClass;

const LIMIT: Duration = Duration::from_millis(700);

/// Longest time beyond its limit that a run may take. Three seconds are promised for the run; the
/// machines of tests are busy.
const LATE: Duration = Duration::from_secs(4);

/// Runs a script that must be ended by `limits`, and checks how.
async fn check(script: &str, limits: Limits, ended: Ended, class: ErrorClass) -> Place {
    let place = Place::new();
    let agent = place.shell(script);
    let began = Instant::now();
    let result = agent
        .run(
            place.call(limits),
            Progress::default(),
            CancellationToken::new(),
        )
        .await;
    let took = began.elapsed();
    let error = result.expect_err("a run that is ended has no answer");
    assert_eq!(place.exit().ended, ended, "{}", error.message);
    assert_eq!(error.class, class, "{}", error.message);
    assert!(took < LIMIT + LATE, "took {took:?}");
    assert_eq!(place.exit().left, 0);
    place
}

fn first_byte() -> Limits {
    Limits {
        first_byte: LIMIT,
        ..generous()
    }
}

fn idle() -> Limits {
    Limits {
        idle: LIMIT,
        ..generous()
    }
}

fn wall() -> Limits {
    Limits {
        wall: LIMIT,
        ..generous()
    }
}

fn small_output() -> Limits {
    Limits {
        output_bytes: 100_000,
        ..generous()
    }
}

#[tokio::test]
async fn silence_from_the_start_ends_a_run() {
    check(
        "sleep 60.1",
        first_byte(),
        Ended::FirstByte,
        ErrorClass::Hung,
    )
    .await;
    assert_eq!(processes("sleep 60.1"), Vec::<String>::new());
}

#[tokio::test]
async fn blanks_for_ever_are_silence() {
    let script = "while :; do printf ' \\n'; sleep 0.05; done";
    check(script, first_byte(), Ended::FirstByte, ErrorClass::Hung).await;
}

#[tokio::test]
async fn silence_after_some_words_ends_a_run() {
    check(
        "echo hello; sleep 60.2",
        idle(),
        Ended::Idle,
        ErrorClass::Hung,
    )
    .await;
}

#[tokio::test]
async fn words_on_stderr_are_a_sign_of_life() {
    let place = Place::new();
    let agent = place.shell("for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.3; done; echo done");
    let limits = Limits {
        idle: Duration::from_millis(1500),
        ..generous()
    };
    let reply = agent
        .run(
            place.call(limits),
            Progress::default(),
            CancellationToken::new(),
        )
        .await;
    assert_eq!(reply.unwrap().text, "done");
}

#[tokio::test]
async fn talking_for_ever_ends_at_the_wall() {
    let script = "while :; do echo word; sleep 0.05; done";
    check(script, wall(), Ended::Wall, ErrorClass::Hung).await;
}

#[tokio::test]
async fn who_ignores_the_polite_signal_is_killed() {
    let script = "trap '' TERM INT HUP; while :; do sleep 0.3; done";
    let place = check(script, wall(), Ended::Wall, ErrorClass::Hung).await;
    assert_eq!(place.exit().signal, Some(9));
}

#[tokio::test]
async fn who_heeds_the_polite_signal_may_clean_up() {
    let script = "trap 'touch cleaned; exit 0' TERM; while :; do sleep 0.05; done";
    let place = check(script, wall(), Ended::Wall, ErrorClass::Hung).await;
    assert!(place.path("work/cleaned").exists());
    assert_eq!(place.exit().code, Some(0));
}

#[tokio::test]
async fn floods_end_at_the_cap_and_are_cut_to_it() {
    for script in [
        "yes 'a line of some length' | head -c 1073741824",
        "head -c 1073741824 /dev/zero | tr '\\0' x",
        "yes 'a complaint' | head -c 1073741824 >&2",
        "while :; do head -c 10000000 /dev/zero; done",
    ] {
        let place = check(script, small_output(), Ended::OutputCap, ErrorClass::Limit).await;
        for name in ["stdout", "stderr"] {
            let size = place.run_dir().join(name).metadata().unwrap().len();
            assert!(size <= 100_000, "{name} of `{script}` has {size} bytes");
        }
    }
}

#[tokio::test]
async fn orphans_in_sessions_of_their_own_are_found() {
    // One keeps the marker, the other sheds its environment; both leave group and session.
    let script = "setsid sh -c 'sleep 60.31 & sleep 60.32' & \
                  env -i setsid sh -c '(sleep 60.33 &)' & \
                  sleep 60.34";
    let place = check(script, wall(), Ended::Wall, ErrorClass::Hung).await;
    assert!(place.exit().survivors >= 3, "{:?}", place.exit());
    assert_eq!(processes("sleep 60.3"), Vec::<String>::new());
}

#[tokio::test]
async fn orphans_of_a_run_that_ended_well_are_found_too() {
    let place = Place::new();
    let agent = place.shell(
        "trap '' TERM; env -i setsid sleep 60.41 >/dev/null & \
         (setsid sleep 60.42 &) ; sleep 0.2; echo fine",
    );
    let began = Instant::now();
    let reply = agent
        .run(
            place.call(generous()),
            Progress::default(),
            CancellationToken::new(),
        )
        .await;
    assert_eq!(reply.unwrap().text, "fine");
    assert!(began.elapsed() < LATE);
    assert_eq!(place.exit().survivors, 2);
    assert_eq!(processes("sleep 60.4"), Vec::<String>::new());
}

#[tokio::test]
async fn cancelling_ends_a_run() {
    let place = Place::new();
    let agent = place.shell("echo begun; touch begun; sleep 60.5");
    let cancel = CancellationToken::new();
    let begun = place.path("work/begun");
    let stop = cancel.clone();
    tokio::spawn(async move {
        while !begun.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.cancel();
    });
    let result = agent
        .run(place.call(generous()), Progress::default(), cancel)
        .await;
    assert_eq!(result.unwrap_err().class, ErrorClass::Cancelled);
    assert_eq!(place.exit().ended, Ended::Cancelled);
    assert_eq!(processes("sleep 60.5"), Vec::<String>::new());
    // Nobody finished this run, so there is nothing to recover.
    assert_eq!(agent.recover(&place.call(generous())).await, None);
}

#[tokio::test]
async fn a_run_that_nobody_waits_for_is_ended() {
    let place = Place::new();
    let agent = place.shell("sleep 60.6");
    let run = agent.run(
        place.call(generous()),
        Progress::default(),
        CancellationToken::new(),
    );
    let dropped = tokio::time::timeout(Duration::from_millis(600), run).await;
    assert!(dropped.is_err());
    common::wait_until("the end of the run", || {
        tribunal_agents::command::Exit::read(&place.run_dir()).is_some()
    });
    assert_eq!(place.exit().ended, Ended::ParentGone);
    assert_eq!(processes("sleep 60.6"), Vec::<String>::new());
}

#[tokio::test]
async fn who_does_not_exit_after_the_result_has_answered_all_the_same() {
    let place = Place::new();
    let transcript = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/transcripts/claude/success.jsonl"
    );
    let script = place.script(&format!("#!/bin/sh\ncat '{transcript}'\nsleep 60.7\n"));
    let agent = place.agent(Cli::Claude, &[&script]);
    let limits = Limits {
        after_result: LIMIT,
        ..generous()
    };
    let began = Instant::now();
    let reply = agent
        .run(
            place.call(limits),
            Progress::default(),
            CancellationToken::new(),
        )
        .await
        .unwrap();
    assert!(reply.text.starts_with("## Review"));
    assert_eq!(place.exit().ended, Ended::AfterResult);
    assert!(began.elapsed() < LIMIT + LATE);
    assert_eq!(processes("sleep 60.7"), Vec::<String>::new());
}

#[tokio::test]
async fn a_program_that_goes_in_circles_is_stopped() {
    let place = Place::new();
    let step = r#"{"type":"step_start","sessionID":"s","part":{}}
{"type":"step_finish","sessionID":"s","part":{"reason":"unknown","tokens":{"input":10,"output":1}}}"#;
    let script = place.script(&format!(
        "#!/bin/sh\nwhile :; do cat <<'END'\n{step}\nEND\nsleep 0.1; done\n"
    ));
    let agent = place.agent(Cli::Opencode, &[&script]);
    let error = agent
        .run(
            place.call(generous()),
            Progress::default(),
            CancellationToken::new(),
        )
        .await
        .unwrap_err();
    assert_eq!(error.class, ErrorClass::Empty, "{}", error.message);
    assert!(error.usage.input >= 30, "{:?}", error.usage);
}

#[tokio::test]
async fn output_that_is_taken_back_is_no_answer() {
    let place = Place::new();
    let agent = place.shell("echo yes, certainly; sleep 0.5; : > /dev/stdout; echo no");
    let error = agent
        .run(
            place.call(generous()),
            Progress::default(),
            CancellationToken::new(),
        )
        .await
        .unwrap_err();
    assert_eq!(error.class, ErrorClass::Garbled, "{}", error.message);
}

#[tokio::test]
async fn cancelling_is_heard_in_a_flood() {
    let place = Place::new();
    let agent = place.shell("while :; do head -c 100000 /dev/zero | tr '\\0' x; sleep 0.01; done");
    let limits = Limits {
        output_bytes: 10_000_000_000,
        ..generous()
    };
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(LIMIT).await;
        stop.cancel();
    });
    let began = Instant::now();
    let result = agent
        .run(place.call(limits), Progress::default(), cancel)
        .await;
    assert_eq!(result.unwrap_err().class, ErrorClass::Cancelled);
    assert!(began.elapsed() < LIMIT + LATE);
}

#[tokio::test]
async fn a_process_without_its_first_thread_is_found() {
    let place = Place::new();
    let script = "import ctypes, threading, time\n\
                  threading.Thread(target=time.sleep, args=(60.8,)).start()\n\
                  ctypes.CDLL(None).pthread_exit(None)\n";
    std::fs::write(place.path("work/odd.py"), script).unwrap();
    let agent = place.shell(
        "command -v python3 >/dev/null || { echo skipped; exit; }; \
         setsid python3 odd.py >/dev/null 2>&1 & sleep 1; echo fine",
    );
    let reply = agent
        .run(
            place.call(generous()),
            Progress::default(),
            CancellationToken::new(),
        )
        .await
        .unwrap();
    if reply.text == "fine" {
        assert_eq!(place.exit().survivors, 1);
        assert_eq!(place.exit().left, 0);
    }
}
