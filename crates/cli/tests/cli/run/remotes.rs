//! Remotes that a stranger's `.git/config` names: nothing of theirs runs.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::{add, git, markers, project};
use crate::common::TestEnv;

/// A project whose settings of git were written by a stranger. Whatever runs leaves `canary`.
fn hostile(config: &[(&str, &str)]) -> TestEnv {
    let mut env = project("git: {push_attempts: 1}\n");
    env.remove_env("TRIBUNAL_GIT__ALLOW_LOCAL");
    let root = env.root().display().to_string();
    let vendor = env.project().join("vendor.git");
    git(
        env.root(),
        &["init", "-q", "--bare", vendor.to_str().unwrap()],
    );
    for hook in ["pre-receive", "update", "post-receive", "post-update"] {
        let path = vendor.join("hooks").join(hook);
        std::fs::write(&path, format!("#!/bin/sh\ntouch {root}/canary\n")).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
    git(&env.project(), &["config", "remote.origin.url", "unset"]);
    for (key, value) in config {
        let value = value.replace("ROOT", &root);
        git(&env.project(), &["config", key, &value]);
    }
    add(&env, &["easy"]);
    env
}

fn has_canary(env: &TestEnv) -> bool {
    env.root().join("canary").exists()
}

#[test]
fn no_address_and_no_setting_of_a_stranger_runs_anything() {
    let url = "remote.origin.url";
    let refused = "is a repository on this machine, whose hooks would run with your rights";
    let program = "makes git run a program, which is never done";
    let unreachable = "ssh://127.0.0.1:1/x";
    let rows: &[(&[(&str, &str)], &str)] = &[
        (&[(url, "ROOT/project/vendor.git")], refused),
        (&[(url, "./vendor.git")], refused),
        (&[(url, "vendor.git")], refused),
        (&[(url, "~/vendor.git")], refused),
        (&[(url, "file://ROOT/project/vendor.git")], refused),
        (
            &[
                (url, "https://127.0.0.1:1/x"),
                ("remote.origin.pushurl", "./vendor.git"),
            ],
            refused,
        ),
        (&[(url, "ext::sh -c touch% ROOT/canary")], program),
        (&[(url, "fd::17")], program),
        (&[(url, "-oProxyCommand=touch ROOT/canary")], program),
        (
            &[(url, "ssh://-oProxyCommand=touch% ROOT/canary/x")],
            program,
        ),
        (
            &[
                (url, "https://127.0.0.1:1/x"),
                (
                    "url.ROOT/project/vendor.git.insteadOf",
                    "https://127.0.0.1:1/x",
                ),
                (
                    "url.ROOT/project/vendor.git.pushInsteadOf",
                    "https://127.0.0.1:1/x",
                ),
            ],
            "could not be pushed to origin in 1 attempt",
        ),
        (
            &[
                (url, unreachable),
                ("remote.origin.receivepack", "touch ROOT/canary;"),
                ("remote.origin.uploadpack", "touch ROOT/canary;"),
                ("core.sshCommand", "touch ROOT/canary;"),
                ("core.gitProxy", "touch ROOT/canary;"),
            ],
            "could not be pushed to origin in 1 attempt",
        ),
        (
            &[
                (url, "http://127.0.0.1:1/x"),
                ("credential.helper", "!touch ROOT/canary;"),
                ("core.askPass", "touch ROOT/canary"),
            ],
            "could not be pushed to origin in 1 attempt",
        ),
    ];
    for (config, expected) in rows {
        let env = hostile(config);
        let ran = env.run(["run"]).assert_code(5);
        assert!(ran.stderr.contains(expected), "{config:?}: {}", ran.stderr);
        assert!(!has_canary(&env), "{config:?}");
        assert_eq!(markers(&env), "[x] easy", "{config:?}");
        // Trying again is no way around it.
        let again = env.run(["run"]).assert_code(5);
        assert!(
            again.stderr.contains("could not be pushed"),
            "{}",
            again.stderr
        );
        assert!(!has_canary(&env), "{config:?}");
        env.assert_healthy();
    }
}

#[test]
fn only_the_users_own_word_opens_a_repository_on_this_machine() {
    let mut env = hostile(&[("remote.origin.url", "./vendor.git")]);
    env.write(
        ".tribunal/config.yml",
        "git: {allow_local: true, push: always}\n",
    );
    env.run(["config", "trust"]).assert_code(0);
    let ran = env.run(["run"]).assert_code(5);
    let remedy = "tribunal config set git.allow_local true --user";
    assert!(ran.stderr.contains(remedy), "{}", ran.stderr);
    assert!(!has_canary(&env));
    // What the message says to type helps.
    env.run(["config", "set", "git.allow_local", "true", "--user"])
        .assert_code(0);
    let ran = env.run(["run"]).assert_code(0);
    assert!(
        ran.stderr.contains("Pushed tribunal/work to origin."),
        "{}",
        ran.stderr
    );
    assert!(has_canary(&env));
    env.set_env("TRIBUNAL_GIT__ALLOW_LOCAL", "false");
    add(&env, &["other"]);
    env.run(["run"]).assert_code(5);
    env.assert_healthy();
}
