//! What Landlock alone does not stop. The list is exact: each entry gets through there, none gets through
//! with bubblewrap, and the page about the sandbox names them all.

#![expect(
    clippy::print_stdout,
    reason = "what gets through is printed for whoever reads the run"
)]

use std::os::unix::fs::MetadataExt as _;

use super::places::machine;
use super::{Bystander, arrange, got_through, obey, required, script_of};

/// The one that root cannot show.
const SLOWER: &str = "Your other programs can be made slower";

/// Attempts by name, as the page tells them. `$P` is the project, `$L` the ledger, `$B` a program outside.
const LIMITS: [(&str, &str); 5] = [
    (
        "The arguments of other programs can be read",
        r#"tr '\0' ' ' < "/proc/$B/cmdline" | grep -q '[s]leep 600'"#,
    ),
    (
        "Whether a file is there, how large and how old it is",
        r#"test -s "$L/ledger.db""#,
    ),
    (
        "The mode of your files can be changed",
        r#"chmod 600 "$P/app.py""#,
    ),
    (
        "The times of your files can be changed",
        r#"touch -c -d 2001-01-01 "$P/app.py" && test "$(stat -c %Y "$P/app.py")" -lt 1000000000"#,
    ),
    (SLOWER, r#"renice -n 5 -p "$B""#),
];

#[test]
fn what_landlock_alone_does_not_stop_is_listed() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sandbox.md");
    let page = std::fs::read_to_string(page).unwrap();
    let bystander = Bystander::start();
    let env = machine();
    let opening = format!(
        "P={:?}\nL={:?}\nB={}",
        env.project(),
        env.ledger(),
        bystander.0.id()
    );
    let script = script_of(&LIMITS, &opening);
    for left in tribunal_agents::sandbox::LEFT_BY_LANDLOCK {
        assert!(page.contains(left), "the page does not tell: {left}");
    }
    let names = LIMITS.map(|(name, _)| name);
    for name in names {
        println!("Landlock alone does not stop: {name}");
        let table = tribunal_agents::sandbox::LEFT_BY_LANDLOCK;
        assert!(table.contains(&name), "the table does not tell: {name}");
    }
    arrange(&env, &required("bubblewrap"), &script);
    let answer = obey(&env);
    assert_eq!(got_through(&answer), Vec::<&str>::new(), "{answer}");
    arrange(&env, &required("landlock"), &script);
    // The changed mode is noticed, or is not: either way the program says what it did.
    let answer = obey(&env);
    let mut expected = names.to_vec();
    // The program gives up the rights of root, which the other one still has: the kernel then refuses it.
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
        expected.retain(|name| *name != SLOWER);
    }
    assert_eq!(got_through(&answer), expected, "{answer}");
}

#[test]
fn landlock_leaves_a_program_no_service_of_the_system() {
    let env = machine();
    let socket = env.root().join("world/service.sock");
    let _service = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let reach = |kind: &str| format!(r#"perl -e '{kind} or exit 1'"#);
    let path = socket.display().to_string();
    let attempts = [
        (
            "a socket that is a file",
            reach(&format!(
                r#"use IO::Socket::UNIX; IO::Socket::UNIX->new(Peer => "{path}")"#
            )),
        ),
        ("a socket of the packets", reach("socket(my $s, 17, 3, 0)")),
        ("a namespace", "unshare -r true".to_owned()),
    ];
    let attempts: Vec<(&str, &str)> = attempts
        .iter()
        .map(|(name, attempt)| (*name, attempt.as_str()))
        .collect();
    let script = script_of(&attempts, "");
    arrange(&env, "mode: off", &script);
    let answer = obey(&env);
    assert!(
        got_through(&answer).contains(&"a socket that is a file"),
        "{answer}"
    );
    arrange(&env, &required("landlock"), &script);
    let answer = obey(&env);
    assert_eq!(got_through(&answer), Vec::<&str>::new(), "{answer}");
    assert!(answer.ends_with("done"), "{answer}");
}
