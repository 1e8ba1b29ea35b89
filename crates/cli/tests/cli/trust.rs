//! A repository's own config may not start or contact anything before the user trusts it.

use insta::assert_snapshot;

use crate::common::{TestEnv, fake};

#[test]
fn a_foreign_command_runs_only_after_trust_in_this_very_content() {
    let env = TestEnv::new();
    let log = env.root().join("world.log");
    let config = |extra: &str| {
        format!(
            "agents:\n  - name: theirs\n    command: [{:?}, --behave, ok, --log, {:?}]\n    role: reviewer\n{extra}",
            fake("fake-agent").display().to_string(),
            log.display().to_string()
        )
    };
    env.write(".tribunal/config.yml", config(""));
    let ran = env.run(["ask", "theirs", "Hello"]).assert_code(3);
    assert!(ran.stderr.contains("is not trusted"), "{ran:?}");
    assert!(ran.stderr.contains("tribunal config trust"), "{ran:?}");
    assert!(!log.exists(), "nothing was started");

    env.run(["config", "trust"]).assert_code(0);
    env.run(["ask", "theirs", "Hello"]).assert_code(0);

    // Another content needs another word.
    env.write(".tribunal/config.yml", config("    model: other\n"));
    env.run(["ask", "theirs", "Hello"]).assert_code(3);
    // What sets nothing of the kind needs none.
    env.write(".tribunal/config.yml", "disputes: {timeout_days: 3}\n");
    let ran = env
        .run(["config", "get", "disputes.timeout_days"])
        .assert_code(0);
    assert_snapshot!(ran.stdout, @"3");
}
