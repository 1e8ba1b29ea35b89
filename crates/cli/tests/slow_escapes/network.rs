//! Attempts to get out of a network that holds the hosts of one's provider and nothing else.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use serde_json::Value;

use super::common::TestEnv;
use super::places::machine;
use super::{arrange, got_through, let_work, obey, script_of};

/// The tools of the attempts: `straight HOST PORT` connects without the proxy, `tunnel TARGET` and
/// `plain URL` ask it. All of them want an answer of a server.
const TOOLS: &str = r#"
heard() { read -t 5 -r line <&3 && [[ $line == *"$1"* ]]; }
straight() { exec 3<>"/dev/tcp/$1/$2" && printf 'GET / HTTP/1.0\r\n\r\n' >&3 && heard ' 200 served'; }
tunnel() { exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'CONNECT %s HTTP/1.1\r\n\r\n' "$1" >&3 && heard ' 200 '; }
plain() { exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'GET %s HTTP/1.1\r\nHost: %s\r\n\r\n' "$1" "$2" >&3 && heard ' 200 served'; }
export -f heard straight tunnel plain
"#;

/// A server on this machine that answers everybody; returns its port.
fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut buffer = [0; 1024];
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(b"HTTP/1.0 200 served\r\n\r\n");
        }
    });
    port
}

/// Attempts by name. `OURS` is the port that is allowed, `THEIRS` another one of this machine.
const ATTEMPTS: [(&str, &str); 27] = [
    (
        "another server of this machine",
        "straight 127.0.0.1 THEIRS",
    ),
    ("the same by name", "straight localhost THEIRS"),
    ("the same by another address", "straight 127.0.0.3 THEIRS"),
    ("the same by the newer address", "straight ::1 THEIRS"),
    (
        "metadata of a cloud",
        "timeout 5 bash -c 'straight 169.254.169.254 80'",
    ),
    (
        "a private address",
        "timeout 5 bash -c 'straight 10.0.0.1 80'",
    ),
    (
        "an address of the internet",
        "timeout 5 bash -c 'straight 1.1.1.1 80'",
    ),
    (
        "a name server",
        "timeout 5 bash -c 'exec 3<>/dev/udp/127.0.0.53/53; echo x >&3; read -t 2 -u 3 _'",
    ),
    (
        "a name of the internet",
        "timeout 20 getent ahosts example.org",
    ),
    (
        "an abstract socket",
        r#"perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack("S a*", AF_UNIX, "\0ABSTRACT")) or exit 1'"#,
    ),
    (
        "the service of containers",
        "test -S /var/run/docker.sock || test -S /run/docker.sock",
    ),
    (
        "the network of another process",
        "nsenter -t 1 -n true || nsenter --net=/proc/1/root/proc/1/ns/net true",
    ),
    (
        "packets made by hand",
        "perl -e 'socket(my $s, 17, 3, 0) or exit 1'",
    ),
    ("a tunnel to this machine", "tunnel 127.0.0.1:THEIRS"),
    (
        "a tunnel to this machine by name",
        "tunnel localhost:THEIRS",
    ),
    (
        "a tunnel to this machine by number",
        "tunnel 2130706433:THEIRS",
    ),
    ("a tunnel to the newer address", "tunnel '[::1]:THEIRS'"),
    (
        "a tunnel to an older address in disguise",
        "tunnel '[::ffff:127.0.0.1]:THEIRS'",
    ),
    ("a tunnel to metadata", "tunnel 169.254.169.254:80"),
    (
        "a tunnel to metadata in disguise",
        "tunnel '[::ffff:169.254.169.254]:80'",
    ),
    ("a tunnel to a private address", "tunnel 10.0.0.1:443"),
    (
        "a tunnel to a host of the internet",
        "tunnel example.org:443",
    ),
    (
        "a tunnel to an allowed host at another port",
        "tunnel 127.0.0.1:22",
    ),
    (
        "a tunnel with a login",
        "tunnel 127.0.0.1:OURS@127.0.0.1:THEIRS",
    ),
    (
        "a request to this machine",
        "plain http://127.0.0.1:THEIRS/ 127.0.0.1:OURS",
    ),
    (
        "a request without encryption",
        "plain http://127.0.0.1:OURS/ 127.0.0.1:OURS",
    ),
    (
        "a second tunnel behind the first",
        r#"exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT 127.0.0.1:OURS HTTP/1.1\r\n\r\nCONNECT 127.0.0.1:THEIRS HTTP/1.1\r\n\r\n' >&3; grep -q established <(sed 1,2d <&3)"#,
    ),
];

/// What goes through, because it is meant to.
const MEANT: [(&str, &str); 2] = [
    ("the allowed server", "straight 127.0.0.1 OURS"),
    ("the allowed server by the proxy", "tunnel 127.0.0.1:OURS"),
];

/// Returns the settings under which one server of this machine can be reached.
fn kept_to(port: u16) -> String {
    format!("mode: require, means: bubblewrap, network: provider, hosts: ['127.0.0.1:{port}']")
}

#[test]
fn a_program_reaches_its_provider_and_nothing_else() {
    let env = machine();
    let (ours, theirs) = (serve(), serve());
    let name = format!("tribunal-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let fill = |attempt: &str| {
        let attempt = attempt.replace("OURS", &ours.to_string());
        let attempt = attempt.replace("THEIRS", &theirs.to_string());
        attempt.replace("ABSTRACT", &name)
    };
    let filled: Vec<(&str, String)> = MEANT
        .iter()
        .chain(&ATTEMPTS)
        .map(|(name, attempt)| (*name, fill(attempt)))
        .collect();
    let attempts: Vec<(&str, &str)> = filled
        .iter()
        .map(|(name, attempt)| (*name, attempt.as_str()))
        .collect();
    let script = script_of(&attempts, TOOLS);

    arrange(&env, "mode: off", &script);
    let answer = obey(&env);
    for name in [
        "the allowed server",
        "another server of this machine",
        "an abstract socket",
    ] {
        assert!(
            got_through(&answer).contains(&name),
            "{name} is no attempt: {answer}"
        );
    }

    arrange(&env, &kept_to(ours), &script);
    let answer = obey(&env);
    let meant: Vec<&str> = MEANT.iter().map(|(name, _)| *name).collect();
    assert_eq!(got_through(&answer), meant, "{answer}");
    assert!(answer.ends_with("done"), "{answer}");
    env.assert_healthy();
}

/// Returns the event of a kind that an agent's run left.
fn event(env: &TestEnv, kind: &str) -> Value {
    let ran = env
        .run(["ask", "mole", "Do it", "--format", "jsonl"])
        .assert_code(0);
    let event = ran.stdout.lines().find(|line| line.contains(kind)).unwrap();
    serde_json::from_str(event).unwrap()
}

#[test]
fn the_event_of_a_run_tells_what_the_network_refused() {
    let env = machine();
    let script = format!("{TOOLS}\nfor i in 1 2; do ( tunnel example.org:443 ); done\necho done");
    arrange(&env, &kept_to(1), &script);
    assert_eq!(
        event(&env, "run_finished")["refused"],
        serde_json::json!([{
            "target": "example.org:443", "why": "the host is not allowed", "times": 2
        }])
    );
    let told = env.run(["ask", "mole", "Do it"]).assert_code(0).stderr;
    let line = "its network was refused: example.org:443 (the host is not allowed) 2 times";
    assert!(told.contains(line), "{told}");
}

#[test]
fn a_provider_network_that_cannot_be_had_is_told_or_nothing_starts() {
    let env = machine();
    let why = "only bubblewrap can keep programs to the hosts of their provider";
    arrange(
        &env,
        "mode: best, means: landlock, network: provider",
        "echo done",
    );
    let sandbox = &event(&env, "run_started")["sandbox"];
    assert_eq!(sandbox["network"], "open", "{sandbox}");
    assert_eq!(sandbox["network_reason"], why, "{sandbox}");
    let told = env.run(["ask", "mole", "Do it"]).assert_code(0).stderr;
    let warning = format!("warning: its network is open: {why}");
    assert!(told.contains(&warning), "{told}");

    arrange(
        &env,
        "mode: require, means: landlock, network: provider",
        "echo done",
    );
    let ran = let_work(&env).assert_code(5);
    let message = ran.json()["answers"][0]["error"]["message"].to_string();
    assert!(
        message.contains(&format!("the network cannot be limited: {why}")),
        "{message}"
    );
}

#[test]
fn one_role_can_have_another_network() {
    let env = machine();
    let settings =
        "mode: require, means: bubblewrap, network: provider, networks: {reviewer: none}";
    arrange(&env, settings, "echo done");
    assert_eq!(event(&env, "run_started")["sandbox"]["network"], "none");
}
