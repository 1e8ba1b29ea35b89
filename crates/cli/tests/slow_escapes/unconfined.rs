//! What holds where there is no sandbox: the environment of our processes tells nothing, and nothing
//! outlives a run.

use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

use super::common::{Ran, TestEnv};
use super::places::{SECRET, machine};
use super::{Bystander, arrange};

/// Prints the secrets that stand in the environment of any process.
const SPY: &str =
    r"cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -a CANARY | sort -u; echo done";

/// Somebody who is not root.
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Returns the command as somebody who is not root runs it.
fn as_nobody(command: &Command) -> Command {
    let mut wrapped = Command::new("setpriv");
    wrapped
        .args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")])
        .args(["--clear-groups", "--"])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            wrapped.env(name, value);
        }
    }
    if let Some(directory) = command.get_current_dir() {
        wrapped.current_dir(directory);
    }
    wrapped
}

/// Gives everything below a place to somebody who is not root.
fn give_away(place: &Path) {
    chown(place, Some(NOBODY), Some(NOBODY)).unwrap();
    for entry in std::fs::read_dir(place).unwrap().flatten() {
        match entry.path() {
            path if path.is_symlink() => {}
            path if path.is_dir() => give_away(&path),
            path => chown(path, Some(NOBODY), Some(NOBODY)).unwrap(),
        }
    }
}

fn ask(env: &TestEnv) -> Command {
    let desk = env.root().join("desk");
    let desk = desk.to_str().unwrap();
    env.command(["ask", "mole", "Do it", "--dir", desk, "--write", "--json"])
}

fn answer(ran: &Ran) -> String {
    let json = ran.json();
    json["answers"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn without_a_sandbox_keys_in_our_environment_cannot_be_read_by_a_program_of_the_user() {
    let env = machine();
    arrange(&env, "mode: off", SPY);
    let mut other = Command::new("sleep");
    // Another process of the user shows that the attempt is a real one.
    other
        .arg("600")
        .env_clear()
        .env("OTHERS", "CANARY-OF-OTHERS");
    if let Some(search) = std::env::var_os("PATH") {
        other.env("PATH", search);
    }
    let mut ask = ask(&env);
    if is_root() {
        give_away(env.root());
        (ask, other) = (as_nobody(&ask), as_nobody(&other));
    }
    let _bystander = Bystander(other.spawn().unwrap());
    let ran = Ran::of(&mut ask).assert_code(0);
    assert_eq!(answer(&ran), "OTHERS=CANARY-OF-OTHERS\ndone", "{ran:?}");
    assert!(!ran.stdout.contains(SECRET), "{ran:?}");
}

#[test]
fn without_a_sandbox_nothing_outlives_a_run_that_has_killed_its_supervisor() {
    for escape in [
        "(env -i setsid sleep 300 &); kill -9 $PPID; sleep 5",
        "(env -i setsid bash -c '(setsid sleep 300 &) ; (setsid sleep 300 &)'); kill -9 $PPID; sleep 5",
        "env -i setsid bash -c 'trap \"\" TERM HUP INT; (while :; do sleep 1; done) & while :; do sleep 1; done' & sleep 0.2; kill -9 $PPID; sleep 5",
    ] {
        let env = machine();
        arrange(&env, "mode: off", escape);
        let ran = Ran::of(&mut ask(&env)).assert_code(5);
        let failure = ran.json()["answers"][0]["error"]["message"].to_string();
        assert!(
            failure.contains("The supervisor of the run ended before"),
            "{failure}"
        );
        let desk = env.root().join("desk");
        let left: Vec<_> = std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|entry| {
                std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == desk)
            })
            .collect();
        assert!(left.is_empty(), "{escape}: {left:?}");
        let told = env.run(["doctor"]).assert_code(0).stdout;
        assert!(
            told.contains("ok   supervisor: the supervisor of run r-"),
            "{told}"
        );
        assert!(!told.contains("killed after it: 0"), "{told}");
    }
}
