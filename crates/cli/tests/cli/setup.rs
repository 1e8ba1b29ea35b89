//! `init`, `connect`, `disconnect`, `agents`, `doctor`, `completions`, `man`.

use insta::assert_snapshot;

use crate::common::{TestEnv, fake};

#[test]
fn no_file_is_for_everybody_to_write_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = TestEnv::with_repository();
    let program = env!("CARGO_BIN_EXE_tribunal");
    let script = format!(
        "umask 000; '{program}' init && '{program}' config set review.rounds 1 && \
         '{program}' config set review.rounds 1 --user && echo 'x = eval(y)' > a.py && \
         '{program}' review; true"
    );
    let mut command = env.command([""; 0]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(env.project());
    shell.env_clear();
    for (key, value) in command.stdin(std::process::Stdio::null()).get_envs() {
        shell.env(key, value.unwrap());
    }
    let ran = crate::common::Ran::of(&mut shell);
    assert!(ran.stdout.contains("Wrote"), "{ran:?}");
    let mut folders = vec![
        env.project().join(".tribunal"),
        env.ledger(),
        env.home().join(".config"),
        env.home().join(".local"),
    ];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let metadata = entry.metadata().unwrap();
            let mode = metadata.permissions().mode();
            seen += 1;
            // Directories above our own are as the umask makes them.
            let is_ours = entry.path().to_string_lossy().contains("tribunal");
            assert!(
                mode & 0o002 == 0 || !is_ours || metadata.is_symlink(),
                "{:o} {}",
                mode,
                entry.path().display()
            );
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(seen > 5, "{ran:?}");
}

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
    assert_snapshot!(env.tidy(&ran.stdout), @"
    Wrote [ROOT]/project/.tribunal/config.yml
    Found claude at [ROOT]/bin/claude, used with your login
    Found codex at [ROOT]/bin/codex, used with your login

    Next:
      tribunal agents              who is there
      tribunal doctor              whether they work
      tribunal review              what they and the built-in reviewers say of your work
      tribunal review --arbitrate  the same, and the coder answers and mends
    ");
    let ran = env.run(["init"]).assert_code(2);
    assert_snapshot!(env.tidy(&ran.stderr), @"
    Error: [ROOT]/project/.tribunal/config.yml exists already
    Hint: Add agents with `tribunal connect`, or replace the file with `--force`
    ");
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
    assert_snapshot!(ran.stdout, @"
    NAME            PROVIDER  MODEL           FAMILY     ROLES           DOMAIN  STATE 
    claude-coder    claude    -               anthropic  coder (writes)  -       ready 
    codex-reviewer  codex     -               openai     reviewer        -       ready 
    gemini-judge    gemini    gemini-2.5-pro  google     judge           -       ready
    ");
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
    let mut env = TestEnv::new();
    // What this machine can confine programs with is not what is told here.
    env.set_env("TRIBUNAL_SANDBOX__MODE", "off");
    env.write_user_config("agents:\n  - {name: gone, command: [/nowhere/claude], role: coder}\n  - {name: typo, command: no-such-program, role: coder}\n  - {name: keyless, provider: anthropic, model: claude-sonnet-4-5, api_key_env: NO_SUCH_KEY, role: judge}\n");
    let ran = env.run(["doctor"]).assert_code(1);
    assert_snapshot!(env.tidy(&ran.stdout), @"
    ok   config: [ROOT]/home/.config/tribunal/config.yml
    ok   sandbox: off; programs run with your rights
    BAD  agent gone: The program `/nowhere/claude` was not found.
         to do: install the program, or remove the agent with `enabled: false` in the config
    BAD  agent typo: The program `no-such-program` was not found in `PATH`.
         to do: install the program, or remove the agent with `enabled: false` in the config
    BAD  agent keyless: the agent `keyless` needs its key in the variable `NO_SUCH_KEY`, which is not set
    ok   ledger: 0 cases, 0 runs in [ROOT]/ledger
    ");
}

#[test]
fn completions_and_manual_are_printed() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = env.run(["completions", shell]).assert_code(0).stdout;
        for word in ["tribunal", "demo", "pause"] {
            assert!(script.contains(word), "{word} for {shell}");
        }
    }
    assert!(
        env.run(["man"])
            .assert_code(0)
            .stdout
            .contains(".TH tribunal")
    );
    env.run(["man", "--output", "pages"]).assert_code(0);
    for page in ["tribunal.1", "tribunal-ask.1", "tribunal-demo.1"] {
        assert!(env.project().join("pages").join(page).exists(), "{page}");
    }
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let env = TestEnv::new();
    assert_snapshot!(env.run(["--help"]).assert_code(0).stdout, @"
    One arbitration system for software written by several AI agents

    Usage: tribunal [OPTIONS] <COMMAND>

    Commands:
      demo         Play a whole story with scripted agents: review, dispute, trial, task list
      init         Look for installed agents and write a commented configuration
      review       Review a change with a panel, and say whether it may go in
      rules        List the rules of the built-in reviewers and of the project, or show one
      task         Keep a list of work: add, move, look at tasks
      section      Keep the sections of the task list in order
      run          Work through the list of tasks
      arbiter      Look at how the arbiter decides
      connect      Add an agent to the configuration
      disconnect   Take an agent out of the configuration
      agents       List the agents, or free a parked provider
      ask          Put a prompt to one agent and print its answer
      consensus    Settle findings from anywhere: which stand, which fall, which stay open
      debate       Debate a change in three rounds, or arbitrate a debate among teammates
      trial        Let several agents answer one challenge before judges, and say who won and how sure
                   that is
      verdict      Make a verdict out of judges' scores from anywhere
      dismiss      Dismiss a finding: your word that it is not a defect
      accept-risk  Accept the risk of a finding: the claim is true, and you take responsibility
      dispute      Record disagreements between coder and reviewer, and settle them
      disputes     Show the history of disputes, newest first
      precedent    Look at earlier rulings that are shown when a finding comes back
      stats        Show how reviewers, judges and disputes have fared, with counts and intervals
      log          List the recorded cases, newest first
      show         Tell a case again: what happened, what was asked and answered, what was found
      explain      Explain a finding: why it was accepted, rejected or disputed
      watch        Follow a case while another process works on it
      resume       Go on with a case that was interrupted, parked, or ended without all answers
      replay       Do a recorded case again, offline, with the recorded answers
      export       Write everything about a case into one file
      gc           Make the ledger smaller: pack what has ended, let go what is old, remove what was
                   left behind
      backup       Write the whole ledger into one file, while others work with it
      restore      Make a ledger out of a backup
      config       Show and change the settings
      doctor       Check the configuration, the agents and the ledger
      completions  Print the completion script for a shell
      man          Print the manual page, or write one page per command
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Global options:
      -C, --directory <DIR>  Work as if started in this directory
          --set <KEY=VALUE>  Set a configuration value for this invocation, such as `retry.attempts=1`
          --ledger <DIR>     Keep the ledger in this directory [env: TRIBUNAL_LEDGER]
      -q, --quiet            Say nothing but the result
          --color <WHEN>     Colour the output: auto, always, never [default: auto] [possible values:
                             auto, always, never]

    Exit codes: 0 pass, 1 fail, 2 usage, 3 config, 4 not found, 5 inconclusive, 6 busy, 7 budget or
    quota stop, 70 internal, 130 interrupted.
    ");
}
