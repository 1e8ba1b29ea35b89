//! Bad configuration gets one sentence with its place and a suggestion, and exit code 3.

use insta::assert_snapshot;

use crate::common::TestEnv;

fn told(yaml: impl AsRef<[u8]>) -> String {
    let env = TestEnv::new();
    std::fs::create_dir_all(env.project().join(".tribunal")).unwrap();
    env.write(".tribunal/config.yml", yaml);
    let ran = env.run(["log"]).assert_code(3);
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
    assert_snapshot!(all, @r"");
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
