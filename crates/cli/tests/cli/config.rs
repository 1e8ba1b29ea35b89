//! Bad configuration gets one sentence with its place and a suggestion, and exit code 3.

use insta::assert_snapshot;

use crate::common::TestEnv;

fn told(yaml: impl AsRef<[u8]>) -> String {
    let env = TestEnv::new();
    std::fs::create_dir_all(env.project().join(".tribunal")).unwrap();
    env.write(".tribunal/config.yml", yaml);
    let ran = env.run(["config", "validate"]).assert_code(3);
    assert_eq!(ran.stdout, "");
    env.tidy(&ran.stderr)
}

#[test]
fn bad_configuration_is_told_in_one_sentence() {
    let long = format!("# {}\n", "x".repeat(10_000_000));
    let bomb = "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e]\ng: [*f, *f, *f, *f, *f, *f, *f, *f]\n";
    let utf16: Vec<u8> = "review: {}\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let utf16 = [&[0xff, 0xfe][..], &utf16].concat();
    let mut all = String::new();
    for (name, yaml) in [
        ("unknown key", b"review:\n  on_dispute:\n    promt_user: true\n".to_vec()),
        ("wrong type", b"disputes:\n  timeout_days: soon\n".to_vec()),
        ("negative number", b"disputes:\n  timeout_days: -1\n".to_vec()),
        ("duplicate agent", b"agents:\n  - {name: a, provider: scripted, role: judge}\n  - {name: a, provider: scripted, role: coder}\n".to_vec()),
        ("unknown role", b"agents:\n  - {name: a, provider: scripted, role: revewer}\n".to_vec()),
        ("unknown word", b"review:\n  on_dispute:\n    default: jugde\n".to_vec()),
        ("ten megabytes", long.into_bytes()),
        ("alias bomb", bomb.as_bytes().to_vec()),
        ("UTF-16", utf16),
        ("invalid UTF-8", b"review: \"\xff\"\n".to_vec()),
        ("a literal key", b"agents:\n  - {name: a, provider: anthropic, role: judge, api_key: sk-123}\n".to_vec()),
        ("no YAML", b"review: [\n".to_vec()),
    ] {
        all += &format!("{name}: {}", told(yaml));
    }
    assert_snapshot!(all, @"
    unknown key: Error: .tribunal/config.yml:3:5: in `review.on_dispute`, there is no key `promt_user`; did you mean `prompt_user`?
    wrong type: Error: .tribunal/config.yml:2:17: `disputes.timeout_days` must be a whole number, not `soon`
    negative number: Error: .tribunal/config.yml:2:17: `disputes.timeout_days` must be a whole number from 1 to 3650, not `-1`
    duplicate agent: Error: .tribunal/config.yml:3:12: the agent `a` is defined twice, here and in line 2; rename or remove one of them
    unknown role: Error: .tribunal/config.yml:2:41: `agents.a.role` must be one of `coder`, `reviewer`, `judge`, `arbiter`, `contestant`, not `revewer`; did you mean `reviewer`?
    unknown word: Error: .tribunal/config.yml:3:14: `review.on_dispute.default` must be one of `judge`, `human`, `discard`, not `jugde`; did you mean `judge`?
    ten megabytes: Error: .tribunal/config.yml:1:1: the config is larger than 1 MiB; is this the right file?
    alias bomb: Error: .tribunal/config.yml:5:16: aliases or sheer number make the config larger than any sensible one; write the values out
    UTF-16: Error: .tribunal/config.yml:1:1: the config must be in UTF-8, but looks like UTF-16; save it as UTF-8
    invalid UTF-8: Error: .tribunal/config.yml:1:10: the config must be in UTF-8, but a byte here is not; save it as UTF-8
    a literal key: Error: .tribunal/config.yml:2:49: in `agents.a`, there is no key `api_key`, because keys are never kept in config; name the variable that holds it with `api_key_env`
    no YAML: Error: .tribunal/config.yml:1:9: this is not valid YAML: unclosed bracket '['; check the indentation, quotes and brackets around here
    ");
}

#[test]
fn a_byte_order_mark_is_accepted() {
    let env = TestEnv::new();
    env.write(
        ".tribunal/config.yml",
        b"\xef\xbb\xbfdisputes: {timeout_days: 3}\n",
    );
    let ran = env
        .run(["config", "get", "disputes.timeout_days"])
        .assert_code(0);
    assert_eq!(ran.stdout, "3\n");
}

#[test]
fn a_value_is_added_to_a_list_and_the_rest_of_it_stays() {
    let env = TestEnv::new();
    env.run(["config", "add", "review.may_skip", "symlink"])
        .assert_code(0);
    let ran = env.run(["config", "get", "review.may_skip"]).assert_code(0);
    assert!(ran.stdout.contains("lock_file"), "{}", ran.stdout);
    assert!(ran.stdout.contains("symlink"), "{}", ran.stdout);
    env.run(["config", "add", "review.ignore", "*.kt"])
        .assert_code(0);
    let again = env
        .run(["config", "add", "review.ignore", "*.kt"])
        .assert_code(0);
    assert!(
        again.stderr.contains("holds it already"),
        "{}",
        again.stderr
    );
    let ran = env.run(["config", "get", "review.ignore"]).assert_code(0);
    assert_eq!(ran.stdout, "[\"*.kt\"]\n");
    env.run(["config", "add", "review.rounds", "3"])
        .assert_code(2);
}

#[test]
fn a_value_that_does_not_count_is_refused_or_said_to_be_beaten() {
    let mut env = TestEnv::new();
    let ran = env
        .run(["config", "set", "git.allow_local", "true"])
        .assert_code(3);
    let remedy = "tribunal config set git.allow_local true --user";
    assert!(ran.stderr.contains(remedy), "{}", ran.stderr);
    env.run(["config", "set", "git.allow_local", "true", "--user"])
        .assert_code(0);
    let ran = env.run(["config", "get", "git.allow_local"]).assert_code(0);
    assert_eq!(ran.stdout, "true\n");
    env.set_env("TRIBUNAL_DISPUTES__TIMEOUT_DAYS", "3");
    let ran = env
        .run(["config", "set", "disputes.timeout_days", "9"])
        .assert_code(0);
    assert!(ran.stderr.contains("does not count now"), "{}", ran.stderr);
}
