//! `init`, `connect`, `disconnect`, `agents`, `doctor`, `completions`, `man`.

use insta::assert_snapshot;

use crate::common::{TestEnv, fake};

#[test]
fn init_finds_installed_agents_and_connect_adds_more() {
    let mut env = TestEnv::new();
    let bin = env.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for name in ["claude", "codex"] {
        std::os::unix::fs::symlink(fake("fake-agent"), bin.join(name)).unwrap();
    }
    env.set_env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let ran = env.run(["init"]).assert_code(0);
    assert_snapshot!(env.tidy(&ran.stdout), @r"");
    let ran = env.run(["init"]).assert_code(2);
    assert_snapshot!(env.tidy(&ran.stderr), @r"");
    env.run([
        "connect",
        "gemini",
        "--role",
        "judge",
        "--model",
        "gemini-2.5-pro",
    ])
    .assert_code(0);
    let ran = env.run(["agents"]).assert_code(0);
    assert_snapshot!(ran.stdout, @r"");
    env.run(["disconnect", "gemini-judge"]).assert_code(0);
    env.run(["disconnect", "gemini-judge"]).assert_code(4);
    let config = std::fs::read_to_string(env.project().join(".tribunal/config.yml")).unwrap();
    assert!(
        config.starts_with("# Configuration of Tribunal"),
        "comments are kept: {config}"
    );
}

#[test]
fn doctor_tells_what_is_missing() {
    let env = TestEnv::new();
    env.write_user_config("agents:\n  - {name: gone, command: [/nowhere/claude], role: coder}\n  - {name: keyless, provider: anthropic, model: claude-sonnet-4-5, api_key_env: NO_SUCH_KEY, role: judge}\n");
    let ran = env.run(["doctor"]).assert_code(1);
    assert_snapshot!(env.tidy(&ran.stdout), @r"");
}

#[test]
fn completions_and_manual_are_printed() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            env.run(["completions", shell])
                .assert_code(0)
                .stdout
                .contains("tribunal")
        );
    }
    assert!(
        env.run(["man"])
            .assert_code(0)
            .stdout
            .contains(".TH tribunal")
    );
    env.run(["man", "--output", "pages"]).assert_code(0);
    assert!(env.project().join("pages/tribunal-ask.1").exists());
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let env = TestEnv::new();
    assert_snapshot!(env.run(["--help"]).assert_code(0).stdout, @r"");
}
