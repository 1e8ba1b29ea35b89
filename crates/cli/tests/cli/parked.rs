//! Providers that refuse us: nobody asks them again until a person says so.

use insta::assert_snapshot;
use tribunal_fakes::model::FakeModel;

use crate::common::TestEnv;

/// A project with many files, and one reviewer behind an API.
struct Scene {
    env: TestEnv,
    model: FakeModel,
}

impl Scene {
    fn new(scenario: &str) -> Self {
        let mut env = TestEnv::with_repository();
        env.set_env("SUBJECT_KEY", "key-canary-4711");
        let model = FakeModel::spawn_blocking();
        let scene = Self { env, model };
        scene.behave(scenario);
        scene
    }

    /// Sends everything from now on to a server that behaves like this.
    fn behave(&self, scenario: &str) {
        let base = self.model.base_url(scenario, "k");
        self.env.write_user_config(&format!(
            "agents:\n  - {{name: ann, provider: anthropic, model: m, base_url: {base:?}, api_key_env: SUBJECT_KEY, role: [reviewer, judge]}}\nreview: {{part_chars: 1000}}\nproviders: {{anthropic: {{concurrency: 2}}}}\n"
        ));
    }

    fn requests(&self) -> usize {
        self.model.requests("k").len()
    }
}

#[test]
fn a_refused_key_ends_the_requests_of_a_review_and_of_all_that_follow() {
    for scenario in ["s401", "credit"] {
        let scene = Scene::new(scenario);
        for number in 0..60 {
            let lines: String = (0..40)
                .map(|line| format!("value_{line} = {number}\n"))
                .collect();
            scene.env.write(&format!("src/part_{number}.py"), lines);
        }
        let ran = scene
            .env
            .run(["review", "--reviewer", "ann"])
            .assert_code(5);
        let asked = scene.requests();
        assert!(
            (1..=2).contains(&asked),
            "{scenario}: {asked} requests: {ran:?}"
        );
        for args in [
            &["ask", "ann", "Hello"][..],
            &["resume"],
            &["review", "--reviewer", "ann"],
        ] {
            let ran = scene.env.run(args);
            assert!(
                matches!(ran.code, Some(5 | 7)),
                "{scenario} {args:?}: {ran:?}"
            );
            assert_eq!(scene.requests(), asked, "{scenario} {args:?}: {ran:?}");
        }
        scene.env.assert_healthy();
    }
}

#[test]
fn a_parked_provider_is_asked_again_once_a_person_frees_it() {
    let scene = Scene::new("s401");
    let ran = scene.env.run(["ask", "ann", "Hello"]).assert_code(7);
    assert_snapshot!(scene.env.tidy(&ran.stderr), @"
    opened a case of `ask`: ann: Hello
    ann was asked as reviewer: ask answer (anthropic, m)
    ann failed, auth: anthropic answered 401: invalid x-api-key (0.0 s, 0 tokens, cost unknown)
    anthropic m is parked: auth
    parked: anthropic: auth
    Error: Parked, anthropic: auth
    Hint: Log in with anthropic itself, or set its key
    Hint: Then let it be called again with `tribunal agents --free anthropic`
    Hint: Go on with `tribunal resume [CASE]`
    ");
    let ran = scene.env.run(["ask", "ann", "Hello"]).assert_code(7);
    assert_snapshot!(scene.env.tidy(&ran.stderr), @"
    opened a case of `ask`: ann: Hello
    parked: anthropic: auth
    Error: Parked, anthropic: auth
    Hint: Log in with anthropic itself, or set its key
    Hint: Then let it be called again with `tribunal agents --free anthropic`
    Hint: Go on with `tribunal resume [CASE]`
    ");
    assert_eq!(scene.requests(), 1);
    // The key is good by now, but nobody has said so.
    scene.behave("ok");
    scene.env.run(["resume"]).assert_code(7);
    assert_eq!(scene.requests(), 1);
    scene
        .env
        .run(["agents", "--free", "anthropic"])
        .assert_code(0);
    scene.env.run(["resume"]).assert_code(0);
    assert_eq!(scene.requests(), 2);
    scene.env.assert_healthy();
}

#[test]
fn a_ping_asks_a_parked_provider_once_and_frees_it_when_it_answers() {
    let scene = Scene::new("s401");
    scene.env.run(["ask", "ann", "Hello"]).assert_code(7);
    scene.env.run(["doctor", "ann", "--ping"]).assert_code(1);
    assert_eq!(scene.requests(), 2);
    scene.env.run(["ask", "ann", "Hello"]).assert_code(7);
    assert_eq!(scene.requests(), 2);
    scene.behave("ok");
    scene.env.run(["doctor", "ann", "--ping"]).assert_code(0);
    scene.env.run(["ask", "ann", "Hello"]).assert_code(0);
    assert_eq!(scene.requests(), 4);
    scene.env.assert_healthy();
}

#[test]
fn a_program_of_ones_own_is_parked_for_itself_alone() {
    let env = TestEnv::new();
    let (asked, refuse) = (env.root().join("asked"), env.root().join("refuse.sh"));
    let script = format!(
        "echo once >> '{}'\necho '{{\"type\": \"result\", \"is_error\": true, \"result\": \"Invalid API key\"}}'\n",
        asked.display()
    );
    std::fs::write(&refuse, script).unwrap();
    env.write_user_config(&format!(
        "agents:\n  - {{name: bad, command: [sh, {:?}], role: judge}}\n  - {{name: good, command: [sh, -c, 'cat; echo heard'], role: judge}}\n",
        refuse.display().to_string()
    ));
    for _ in 0..2 {
        env.run(["ask", "bad", "Hello"]).assert_code(7);
    }
    assert_eq!(std::fs::read_to_string(&asked).unwrap(), "once\n");
    env.run(["ask", "good", "Hello"]).assert_code(0);
    let agents = env.run(["agents", "--json"]).json();
    let parked = |index: usize| agents["agents"][index]["parked"]["class"].clone();
    assert_eq!(
        (parked(0), parked(1)),
        ("auth".into(), serde_json::Value::Null)
    );
    env.run(["agents", "--free", "custom:bad"]).assert_code(0);
    env.run(["ask", "bad", "Hello"]).assert_code(7);
    assert_eq!(std::fs::read_to_string(&asked).unwrap(), "once\nonce\n");
    env.assert_healthy();
}
