//! Every scenario does what its name says, in every dialect.

mod common;

use common::{DIALECTS, End, ask, plain_text, streamed_text};
use tribunal_fakes::model::{FakeModel, OK_TEXT};

/// Checks status and a word of the body in each dialect, streamed and plain.
fn check_failure(scenario: &str, expected: [(u16, &str); 4]) {
    let model = FakeModel::spawn_blocking();
    for (dialect, (status, word)) in DIALECTS.into_iter().zip(expected) {
        for stream in [true, false] {
            let answer = ask(&model.base_url(scenario, dialect), dialect, stream, "hello");
            assert_eq!(answer.status, status, "{scenario} {dialect}");
            assert!(
                answer.text().contains(word),
                "{scenario} {dialect}: {}",
                answer.text()
            );
        }
    }
}

#[test]
fn failures_speak_each_vendors_words() {
    let openai = |status, word| [(status, word), (status, word)];
    let table = [
        (
            "s400",
            (400, "invalid_request_error"),
            openai(400, "invalid_request_error"),
            (400, "INVALID_ARGUMENT"),
        ),
        (
            "s401",
            (401, "authentication_error"),
            openai(401, "invalid_api_key"),
            (401, "UNAUTHENTICATED"),
        ),
        (
            "badkey",
            (401, "authentication_error"),
            openai(401, "invalid_api_key"),
            (400, "API_KEY_INVALID"),
        ),
        (
            "s403",
            (403, "permission_error"),
            openai(403, "unsupported_country"),
            (403, "PERMISSION_DENIED"),
        ),
        (
            "s404",
            (404, "not_found_error"),
            openai(404, "model_not_found"),
            (404, "NOT_FOUND"),
        ),
        (
            "s413",
            (413, "prompt is too long"),
            openai(413, "context_length_exceeded"),
            (413, "input token count"),
        ),
        (
            "toolong",
            (400, "prompt is too long"),
            openai(400, "context_length_exceeded"),
            (400, "input token count"),
        ),
        (
            "s429",
            (429, "rate_limit_error"),
            openai(429, "rate_limit_exceeded"),
            (429, "retryDelay"),
        ),
        (
            "credit",
            (400, "credit balance is too low"),
            openai(429, "insufficient_quota"),
            (429, "QuotaFailure"),
        ),
        (
            "s500",
            (500, "api_error"),
            openai(500, "server_error"),
            (500, "INTERNAL"),
        ),
        (
            "s502html",
            (502, "<html>"),
            openai(502, "<html>"),
            (502, "<html>"),
        ),
        (
            "s503",
            (503, "overloaded_error"),
            openai(503, "overloaded"),
            (503, "UNAVAILABLE"),
        ),
        (
            "s529",
            (529, "overloaded_error"),
            openai(529, "overloaded"),
            (529, "UNAVAILABLE"),
        ),
    ];
    for (scenario, anthropic, [responses, chat], gemini) in table {
        check_failure(scenario, [anthropic, responses, chat, gemini]);
    }
}

#[test]
fn retry_after_comes_in_seconds_and_as_a_date() {
    let model = FakeModel::spawn_blocking();
    let header = |scenario: &str| {
        let answer = ask(&model.base_url(scenario, "k"), "anthropic", true, "x");
        answer.header("retry-after").map(str::to_owned)
    };
    assert_eq!(header("s429").as_deref(), Some("1"));
    assert_eq!(header("s429_long").as_deref(), Some("3600"));
    assert_eq!(header("s429_bare"), None);
    let date = httpdate::parse_http_date(&header("s429_date").unwrap()).unwrap();
    assert!(date > std::time::SystemTime::now() - std::time::Duration::from_secs(1));
}

#[test]
fn flaky_scenarios_recover_for_each_key_alone() {
    let model = FakeModel::spawn_blocking();
    let statuses = |scenario: &str, key: &str| -> Vec<u16> {
        (0..4)
            .map(|_| ask(&model.base_url(scenario, key), "chat", true, "x").status)
            .collect()
    };
    assert_eq!(statuses("flaky429", "a"), [429, 200, 200, 200]);
    assert_eq!(statuses("flaky3", "b"), [429, 429, 429, 200]);
    assert_eq!(statuses("flaky429", "c"), [429, 200, 200, 200]);
}

#[test]
fn broken_deliveries_end_as_named() {
    let model = FakeModel::spawn_blocking();
    let table = [
        ("cut", End::Cut),
        ("reset", End::Nothing),
        ("close", End::Nothing),
        ("hang", End::Stalled),
        ("hang_mid", End::Stalled),
        ("empty", End::Complete),
        ("malformed", End::Complete),
        ("badevent", End::Complete),
        ("errevent", End::Complete),
        ("clean_eof", End::Complete),
        ("bytewise", End::Complete),
    ];
    std::thread::scope(|scope| {
        for dialect in DIALECTS {
            let model = &model;
            scope.spawn(move || {
                for (scenario, end) in table {
                    for stream in [true, false] {
                        let answer = ask(&model.base_url(scenario, dialect), dialect, stream, "x");
                        assert_eq!(answer.end, end, "{scenario} {dialect} stream: {stream}");
                    }
                }
            });
        }
    });
}

#[test]
fn broken_streams_carry_what_came_before_the_fault() {
    let model = FakeModel::spawn_blocking();
    for dialect in DIALECTS {
        let streamed = |scenario: &str| ask(&model.base_url(scenario, dialect), dialect, true, "x");
        for scenario in ["cut", "hang_mid", "errevent"] {
            let text = streamed_text(dialect, &streamed(scenario));
            assert!(
                !text.is_empty() && text.len() < OK_TEXT.len(),
                "{scenario} {dialect}"
            );
            assert!(OK_TEXT.starts_with(&text), "{scenario} {dialect}");
        }
        for scenario in ["clean_eof", "no_done", "bytewise"] {
            assert_eq!(
                streamed_text(dialect, &streamed(scenario)),
                OK_TEXT,
                "{scenario} {dialect}"
            );
        }
        assert_eq!(streamed("empty").body, b"", "{dialect}");
        assert!(
            streamed("badevent").text().contains("\"broken, "),
            "{dialect}"
        );
        assert!(streamed("malformed").events().is_empty(), "{dialect}");
        let reasons = [
            "stop_reason\":\"end_turn",
            "response.completed",
            "finish_reason\":\"stop",
            "finishReason",
        ];
        assert!(
            !reasons
                .iter()
                .any(|reason| streamed("clean_eof").text().contains(reason)),
            "{dialect}"
        );
    }
}

#[test]
fn cut_once_recovers() {
    let model = FakeModel::spawn_blocking();
    let base = model.base_url("cut_once", "k");
    let ends: Vec<End> = (0..3)
        .map(|_| ask(&base, "anthropic", true, "x").end)
        .collect();
    assert_eq!(ends, [End::Cut, End::Complete, End::Complete]);
}

#[test]
fn stops_are_named_as_each_vendor_does() {
    let model = FakeModel::spawn_blocking();
    let table = [
        (
            "truncated",
            [
                "\"max_tokens\"",
                "max_output_tokens",
                "\"length\"",
                "MAX_TOKENS",
            ],
        ),
        (
            "refusal",
            ["\"refusal\"", "\"type\":\"refusal\"", "I can't", "SAFETY"],
        ),
        (
            "filtered",
            [
                "\"refusal\"",
                "content_filter",
                "content_filter",
                "blockReason",
            ],
        ),
    ];
    for (scenario, words) in table {
        for (dialect, word) in DIALECTS.into_iter().zip(words) {
            for stream in [true, false] {
                let answer = ask(&model.base_url(scenario, dialect), dialect, stream, "x");
                assert_eq!(answer.status, 200);
                assert!(
                    answer.text().contains(word),
                    "{scenario} {dialect}: {}",
                    answer.text()
                );
            }
        }
    }
}

#[test]
fn blank_answers_are_valid_but_empty() {
    let model = FakeModel::spawn_blocking();
    for dialect in DIALECTS {
        let base = model.base_url("notext", dialect);
        assert_eq!(streamed_text(dialect, &ask(&base, dialect, true, "x")), "");
        assert_eq!(
            plain_text(dialect, &ask(&base, dialect, false, "x").json()),
            ""
        );
    }
}

#[test]
fn echo_and_directives_decide_the_text() {
    let model = FakeModel::spawn_blocking();
    for dialect in DIALECTS {
        let said = |scenario: &str, prompt: &str| {
            streamed_text(
                dialect,
                &ask(&model.base_url(scenario, dialect), dialect, true, prompt),
            )
        };
        assert_eq!(
            said("echo", "häßlich 🙂 und länger als ein Stück"),
            "häßlich 🙂 und länger als ein Stück"
        );
        assert_eq!(said("ok", "please\nFAKE-REPLY: a\\nb"), "a\nb");
        assert_eq!(
            said("slow", "FAKE-REPLY-BEGIN\nx\ny\nFAKE-REPLY-END"),
            "x\ny"
        );
    }
}

#[test]
fn unknown_scenario_is_no_vendors_answer() {
    let model = FakeModel::spawn_blocking();
    assert_eq!(
        ask(&model.base_url("no-such", "k"), "chat", true, "x").status,
        501
    );
}
