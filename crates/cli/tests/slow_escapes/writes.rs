//! Attempts to change what is not the program's own. Inside the sandbox some of them seem to work,
//! because an empty directory lies in the place; so it is looked at from outside.

use std::collections::BTreeMap;
use std::path::Path;

use super::common::TestEnv;
use super::places::machine;
use super::{Bystander, RUNGS, arrange, let_work, obey, required, script_of};

/// Attempts by name. `$H` is the user's home, `$P` the project, `$L` the ledger, `$W` another directory.
const WRITES: [(&str, &str); 18] = [
    ("a file of the project", r#"echo x >> "$P/app.py""#),
    ("a new file of the project", r#"echo x > "$P/new.py""#),
    (
        "a hook",
        r#"mkdir -p "$P/.git/hooks" && echo x > "$P/.git/hooks/pre-commit""#,
    ),
    ("settings of git", r#"echo "[core]" >> "$P/.git/config""#),
    ("a ref", r#"echo x > "$P/.git/refs/heads/evil""#),
    ("the start of a shell", r#"echo x >> "$H/.bashrc""#),
    (
        "a key that may log in",
        r#"echo x > "$H/.ssh/authorized_keys""#,
    ),
    ("another directory", r#"echo x > "$W/new.txt""#),
    (
        "another directory through a link",
        r#"ln -sfn "$W" link && echo x > link/linked.txt"#,
    ),
    (
        "a file through a link",
        r#"ln -sf "$P/app.py" file && echo x >> file"#,
    ),
    (
        "a file through a hard link",
        r#"ln "$P/app.py" hard && echo x >> hard"#,
    ),
    (
        "a link in place of the own directory",
        r#"cd .. && mv desk gone; ln -s "$P" desk; echo x >> desk/app.py"#,
    ),
    (
        "settings of tribunal",
        r#"echo "sandbox: {mode: off}" > "$H/.config/tribunal/config.yml""#,
    ),
    (
        "the program of the agent",
        r#"echo "echo evil" >> "$H/../tools/agent.sh"; echo "echo evil" >> "$P/tools/agent.sh""#,
    ),
    (
        "the login of another agent",
        r#"echo x > "$L/homes/other/token""#,
    ),
    ("the ledger", r#"echo x >> "$L/ledger.db""#),
    ("deleting everything", r#"rm -rf "$P" "$W" "$H""#),
    ("the own directory", r#"cd / && echo x > "$D/mine.txt""#),
];

/// Attempts to get out of the sandbox altogether. They are made only inside it, because as root they
/// would harm the machine.
const BREAKOUTS: [(&str, &str); 20] = [
    ("mounting anew", "mount -o remount,rw /"),
    ("mounting over", "mount -t tmpfs none /usr"),
    ("unmounting", r#"umount "$H""#),
    ("a device", "mknod disk b 8 0 && cat disk | head -c 1"),
    ("the name of the machine", "hostname evil"),
    ("the clock", "date -s 2001-01-01"),
    (
        "settings of the kernel",
        "echo x > /proc/sys/kernel/hostname",
    ),
    (
        "what is run at a crash",
        "echo '|/bin/false' > /proc/sys/kernel/core_pattern",
    ),
    ("magic keys", "echo h > /proc/sysrq-trigger"),
    ("a module", "insmod /dev/null"),
    (
        "a program of the system",
        "echo x > /usr/local/bin/tribunal-escape",
    ),
    (
        "settings of the system",
        "echo x > /etc/profile.d/tribunal-escape.sh",
    ),
    (
        "a timer of the system",
        "echo x > /var/spool/cron/tribunal-escape; ls /var/spool/cron/crontabs",
    ),
    (
        "the namespaces of another",
        "nsenter -t 1 -m -- test -s /etc/shadow",
    ),
    (
        "another root",
        r#"unshare -r chroot /proc/1/root test -e "$H/.bashrc""#,
    ),
    (
        "a root below a root",
        r#"unshare -rm sh -c 'umount "$H"; test -e "$H/.bashrc"'"#,
    ),
    ("killing a bystander", r#"kill -9 "$B""#),
    ("killing all", "kill -9 -1; false"),
    ("tracing another", r#"exec 3<>"/proc/$B/mem""#),
    (
        "capabilities",
        "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status",
    ),
];

fn opening(env: &TestEnv) -> String {
    format!(
        "H={:?}\nP={:?}\nL={:?}\nW={:?}\nD={:?}\nexport H P L W D",
        env.home(),
        env.project(),
        env.ledger(),
        env.root().join("world"),
        env.root().join("desk"),
    )
}

/// Returns every file below a directory with its content, but for the ledger, which is at work.
fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            let shown = path.strip_prefix(root).unwrap().display().to_string();
            let is_others = shown == "ledger/homes" || shown.starts_with("ledger/homes/other");
            let is_ours = shown.starts_with("ledger/") && !is_others
                || shown.starts_with("home/.local/state")
                || shown.starts_with("desk");
            if is_ours {
                continue;
            }
            if path.is_symlink() {
                found.insert(
                    shown,
                    std::fs::read_link(&path)
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                );
            } else if path.is_dir() {
                open.push(path);
            } else {
                found.insert(shown, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn nothing_of_the_user_can_be_changed() {
    let both = |attempt| RUNGS.map(|rung| (rung, attempt));
    for (rung, (name, attempt)) in WRITES.into_iter().flat_map(both) {
        let env = machine();
        arrange(
            &env,
            &required(rung),
            &script_of(&[(name, attempt)], &opening(&env)),
        );
        let before = contents(env.root());
        obey(&env);
        let after = contents(env.root());
        let all = before.keys().chain(after.keys());
        let changed: Vec<&String> = all
            .filter(|path| before.get(*path) != after.get(*path))
            .collect();
        assert_eq!(changed, Vec::<&String>::new(), "{rung}: {name}");
        let can_work = env.root().join("desk/mine.txt").exists();
        assert_eq!(can_work, name == "the own directory", "{rung}: {name}");
        env.assert_healthy();
    }
}

#[test]
fn without_a_sandbox_the_attempts_would_succeed() {
    for (name, attempt) in WRITES {
        // These would take from the test what it stands on.
        if matches!(name, "deleting everything" | "the ledger") {
            continue;
        }
        let env = machine();
        arrange(
            &env,
            "mode: off",
            &script_of(&[(name, attempt)], &opening(&env)),
        );
        let before = contents(env.root());
        // The answer may not count, because what happened was noticed.
        let_work(&env);
        let has_changed = contents(env.root()) != before;
        assert!(
            has_changed || name == "the own directory",
            "{name} is no attempt"
        );
    }
}

#[test]
fn there_is_no_way_out() {
    let mut bystander = Bystander::start();
    let env = machine();
    let opening = format!("{}\nB={}\nexport B", opening(&env), bystander.0.id());
    // Killing all ends the shell that makes the attempts, so it comes last.
    let (all, others): (Vec<_>, Vec<_>) = BREAKOUTS
        .into_iter()
        .partition(|(name, _)| *name == "killing all");
    let hostname = std::fs::read("/proc/sys/kernel/hostname").unwrap();
    for rung in RUNGS {
        arrange(&env, &required(rung), &script_of(&others, &opening));
        let answer = obey(&env);
        let through = super::got_through(&answer);
        assert_eq!(through, Vec::<&str>::new(), "{rung}: {answer}");
        assert!(answer.ends_with("done"), "{rung}: {answer}");
        let script = format!("echo done\n{}", script_of(&all, &opening));
        arrange(&env, &required(rung), &script);
        // It has killed itself with all others in its sandbox.
        let_work(&env);
        assert!(bystander.is_alive(), "{rung}: a bystander was killed");
    }
    assert_eq!(
        std::fs::read("/proc/sys/kernel/hostname").unwrap(),
        hostname
    );
    for place in [
        "/usr/local/bin/tribunal-escape",
        "/etc/profile.d/tribunal-escape.sh",
        "/var/spool/cron/tribunal-escape",
    ] {
        assert!(!Path::new(place).exists(), "{place} was written");
    }
    env.assert_healthy();
}

#[test]
fn nothing_outlives_the_run() {
    let env = machine();
    let world = env.root().join("world");
    let escapes = [
        "(setsid sleep 300 &) ",
        "(setsid bash -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' &) ",
        "env -i setsid bash -c 'exec -a sshd sleep 300' & disown",
        "(env -i setsid sleep 300 &); kill -9 $PPID",
        "for i in 1 2 3 4 5 6 7 8; do (setsid sleep 300 &); done",
    ];
    let both = |escape| RUNGS.map(|rung| (rung, escape));
    for (rung, escape) in escapes.into_iter().flat_map(both) {
        let script = format!("{escape}\necho done\n");
        arrange(&env, &required(rung), &script);
        obey(&env);
        // Whatever is left would still have the directory of the run as its own.
        let desk = env.root().join("desk");
        let left: Vec<_> = std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|entry| {
                std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == desk)
            })
            .collect();
        assert!(left.is_empty(), "{rung}: {escape}: {left:?}");
    }
    assert!(world.exists());
    env.assert_healthy();
}
