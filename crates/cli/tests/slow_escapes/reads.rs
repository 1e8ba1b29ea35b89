//! Attempts to read what is not the program's own.

use super::places::{SECRET, SECRETS_AT_HOME, machine};
use super::{Bystander, RUNGS, arrange, got_through, obey, required, script_of};

/// Attempts by name; each ends well if it got through. `$H` is the user's home, `$P` the project, `$L` the ledger, `$W` another
/// directory, `$S` what a secret holds.
const READS: [(&str, &str); 15] = [
    ("a key of the project", r#"grep -q "$S" "$P/.env""#),
    ("another project", r#"grep -q "$S" "$H/other/project/.env""#),
    ("another directory", r#"grep -q "$S" "$W/notes.txt""#),
    (
        "the home through a link",
        r#"ln -sfn "$H" home && grep -qr "$S" home/.ssh/"#,
    ),
    (
        "the home through the root of a process",
        r#"cat /proc/*/root"$H"/.ssh/id_ed25519 | grep -q "$S""#,
    ),
    (
        "the home through a working directory",
        r#"cat /proc/*/cwd/../home/.ssh/id_ed25519 | grep -q "$S""#,
    ),
    (
        "the login of another agent",
        r#"grep -q "$S" "$L/homes/other/token""#,
    ),
    ("the ledger", r#"test -s "$L/ledger.db""#),
    (
        "prompts of other runs",
        r#"test "$(ls "$L/runs" | wc -l)" -gt 1"#,
    ),
    (
        "the settings of the user",
        r#"grep -q mole "$H/.config/tribunal/config.yml""#,
    ),
    (
        "keys in the environment of others",
        r#"cat /proc/[0-9]*/environ | grep -qa "$S""#,
    ),
    (
        "arguments of others",
        r#"cat /proc/[0-9]*/cmdline | tr '\0' ' ' | grep -q '[s]leep 600'"#,
    ),
    (
        "everything by a search",
        r#"timeout 20 grep -rqs "$S" "$H" "$W""#,
    ),
    (
        "sockets of the system",
        r#"find /run /var/run -type s | grep -q ."#,
    ),
    (
        "the names of the machine",
        r#"test "$(ls "$H" | wc -l)" -gt 3"#,
    ),
];

fn opening(env: &super::common::TestEnv) -> String {
    format!(
        "S={SECRET:?}\nH={:?}\nP={:?}\nL={:?}\nW={:?}",
        env.home(),
        env.project(),
        env.ledger(),
        env.root().join("world")
    )
}

#[test]
fn nothing_of_the_user_can_be_read() {
    let _bystander = Bystander::start();
    let env = machine();
    let at_home: Vec<(String, String)> = SECRETS_AT_HOME
        .iter()
        .map(|place| ((*place).to_owned(), format!(r#"grep -q "$S" "$H/{place}""#)))
        .collect();
    let mut attempts: Vec<(&str, &str)> = READS.to_vec();
    attempts.extend(
        at_home
            .iter()
            .map(|(name, attempt)| (name.as_str(), attempt.as_str())),
    );
    let script = script_of(&attempts, &opening(&env));

    arrange(&env, "mode: off", &script);
    let answer = obey(&env);
    let through = got_through(&answer);
    for name in SECRETS_AT_HOME {
        assert!(through.contains(&name), "{name} is no attempt: {answer}");
    }
    assert!(through.len() >= SECRETS_AT_HOME.len() + 10, "{answer}");

    for rung in RUNGS {
        arrange(&env, &required(rung), &script);
        let answer = obey(&env);
        // What Landlock lets through is tried on its own.
        let expected: &[&str] = match rung {
            "landlock" => &["the ledger", "arguments of others"],
            _ => &[],
        };
        assert_eq!(got_through(&answer), expected, "{rung}: {answer}");
        assert!(answer.ends_with("done"), "{rung}: {answer}");
    }
    env.assert_healthy();
}

#[test]
fn without_a_network_no_address_answers() {
    let env = machine();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let reach = |address: &str| format!("timeout 5 bash -c 'exec 3<>/dev/tcp/{address}'");
    let attempts = [
        ("this machine", reach(&format!("127.0.0.1/{port}"))),
        ("this machine by name", reach(&format!("localhost/{port}"))),
        ("metadata of a cloud", reach("169.254.169.254/80")),
        ("a private address", reach("10.0.0.1/80")),
        (
            "a name server",
            "timeout 5 bash -c 'exec 3<>/dev/udp/127.0.0.53/53; echo x >&3; read -t 2 -u 3 _'"
                .to_owned(),
        ),
    ];
    let attempts: Vec<(&str, &str)> = attempts
        .iter()
        .map(|(name, attempt)| (*name, attempt.as_str()))
        .collect();
    let script = script_of(&attempts, "");
    arrange(&env, "mode: off", &script);
    let answer = obey(&env);
    assert!(got_through(&answer).contains(&"this machine"), "{answer}");
    for rung in RUNGS {
        let settings = format!("{}, network: none", required(rung));
        arrange(&env, &settings, &script);
        let answer = obey(&env);
        assert_eq!(got_through(&answer), Vec::<&str>::new(), "{rung}: {answer}");
    }
}
