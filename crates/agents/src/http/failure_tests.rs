//! The table of failures: status, body, class.

use super::*;

fn check(api: Api, status: u16, body: &str) -> AgentError {
    let status = StatusCode::from_u16(status).unwrap();
    from_response(api, status, &HeaderMap::new(), body)
}

#[test]
fn statuses_and_vendors_words_give_classes() {
    use ErrorClass as C;
    let anthropic = |kind: &str, message: &str| {
        format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
    };
    let openai = |kind: &str, code: &str, message: &str| {
        format!(
            r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":"{code}"}}}}"#
        )
    };
    let gemini = |code: u16, status: &str, message: &str, detail: &str| {
        format!(
            r#"[{{"error":{{"code":{code},"message":"{message}","status":"{status}","details":[{detail}]}}}}]"#
        )
    };
    let rules = [
        (
            Api::Anthropic,
            400,
            anthropic("invalid_request_error", "max_tokens: required"),
            C::BadRequest,
        ),
        (
            Api::Anthropic,
            400,
            anthropic("invalid_request_error", "Your credit balance is too low"),
            C::Credit,
        ),
        (
            Api::Anthropic,
            400,
            anthropic("invalid_request_error", "prompt is too long: 2 > 1 maximum"),
            C::ContextTooLong,
        ),
        (
            Api::Anthropic,
            400,
            anthropic(
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 2 + 1",
            ),
            C::ContextTooLong,
        ),
        (
            Api::Anthropic,
            401,
            anthropic("authentication_error", "invalid x-api-key"),
            C::Auth,
        ),
        (
            Api::Anthropic,
            402,
            anthropic("billing_error", "pay"),
            C::Credit,
        ),
        (
            Api::Anthropic,
            403,
            anthropic("permission_error", "no"),
            C::Auth,
        ),
        (
            Api::Anthropic,
            404,
            anthropic("not_found_error", "model: x"),
            C::BadRequest,
        ),
        (
            Api::Anthropic,
            413,
            anthropic("request_too_large", "too many bytes"),
            C::ContextTooLong,
        ),
        (
            Api::Anthropic,
            429,
            anthropic("rate_limit_error", "slow down"),
            C::RateLimited,
        ),
        (
            Api::Anthropic,
            500,
            anthropic("api_error", "oops"),
            C::Server,
        ),
        (
            Api::Anthropic,
            529,
            anthropic("overloaded_error", "Overloaded"),
            C::Overloaded,
        ),
        (
            Api::OpenaiChat,
            401,
            openai(
                "invalid_request_error",
                "invalid_api_key",
                "Incorrect API key",
            ),
            C::Auth,
        ),
        (
            Api::OpenaiChat,
            429,
            openai("insufficient_quota", "insufficient_quota", "You exceeded"),
            C::Credit,
        ),
        (
            Api::OpenaiChat,
            429,
            openai("tokens", "rate_limit_exceeded", "Rate limit reached"),
            C::RateLimited,
        ),
        (
            Api::OpenaiChat,
            429,
            openai(
                "tokens",
                "rate_limit_exceeded",
                "Request too large for gpt-4 on tokens per min",
            ),
            C::ContextTooLong,
        ),
        (
            Api::OpenaiResponses,
            400,
            openai(
                "invalid_request_error",
                "context_length_exceeded",
                "too long",
            ),
            C::ContextTooLong,
        ),
        (
            Api::OpenaiResponses,
            400,
            openai("invalid_request_error", "content_policy_violation", "no"),
            C::Refused,
        ),
        (
            Api::OpenaiResponses,
            503,
            openai("service_unavailable_error", "server_is_overloaded", "busy"),
            C::Overloaded,
        ),
        (
            Api::OpenaiResponses,
            500,
            openai("server_error", "server_error", "oops"),
            C::Server,
        ),
        (
            Api::OpenaiChat,
            400,
            r#"{"error":"the request exceeds the available context size"}"#.to_owned(),
            C::ContextTooLong,
        ),
        (
            Api::Gemini,
            400,
            gemini(400, "INVALID_ARGUMENT", "bad", ""),
            C::BadRequest,
        ),
        (
            Api::Gemini,
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                "API key not valid.",
                r#"{"reason":"API_KEY_INVALID"}"#,
            ),
            C::Auth,
        ),
        (
            Api::Gemini,
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (8).",
                "",
            ),
            C::ContextTooLong,
        ),
        (
            Api::Gemini,
            403,
            gemini(403, "PERMISSION_DENIED", "no", ""),
            C::Auth,
        ),
        (
            Api::Gemini,
            429,
            gemini(
                429,
                "RESOURCE_EXHAUSTED",
                "Resource has been exhausted (e.g. check quota).",
                "",
            ),
            C::RateLimited,
        ),
        (
            Api::Gemini,
            429,
            gemini(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota",
                r#"{"retryDelay":"34.5s"}"#,
            ),
            C::RateLimited,
        ),
        (
            Api::Gemini,
            429,
            gemini(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota",
                "",
            ),
            C::Credit,
        ),
        (
            Api::Gemini,
            429,
            gemini(
                429,
                "RESOURCE_EXHAUSTED",
                "x",
                r#"{"violations":[{"quotaId":"RequestsPerDayPerProject"}]},{"retryDelay":"5s"}"#,
            ),
            C::Credit,
        ),
        (
            Api::Gemini,
            503,
            gemini(503, "UNAVAILABLE", "overloaded", ""),
            C::Overloaded,
        ),
        (
            Api::Gemini,
            500,
            gemini(500, "INTERNAL", "oops", ""),
            C::Server,
        ),
        (
            Api::OpenaiChat,
            502,
            "<html>Bad Gateway</html>".to_owned(),
            C::Server,
        ),
        (Api::OpenaiChat, 504, String::new(), C::Server),
        (Api::OpenaiChat, 407, String::new(), C::Setup),
        (Api::OpenaiChat, 408, String::new(), C::Network),
        (
            Api::OpenaiChat,
            418,
            "I am a teapot".to_owned(),
            C::BadRequest,
        ),
    ];
    for (api, status, body, class) in rules {
        assert_eq!(
            check(api, status, &body).class,
            class,
            "{api:?} {status} {body}"
        );
    }
}

#[test]
fn messages_are_sentences_without_pages() {
    let told = r#"{"error":{"message":"bad model","type":"x"}}"#;
    for (body, message) in [
        (told, "openai_chat answered 404: bad model"),
        ("<html><p>x", "openai_chat answered 404 without saying why"),
        ("", "openai_chat answered 404 without saying why"),
        (
            "\nno such page\nmore",
            "openai_chat answered 404: no such page",
        ),
    ] {
        assert_eq!(check(Api::OpenaiChat, 404, body).message, message);
    }
}

#[test]
fn the_longest_wait_that_was_told_counts() {
    let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow","details":[{"retryDelay":"34.5s"}]}}"#;
    let error = check(Api::Gemini, 429, body);
    assert_eq!(error.retry_after, Some(Duration::from_millis(34_500)));
}

#[test]
fn a_redirect_names_its_target_host_only() {
    let mut headers = HeaderMap::new();
    headers.insert(
        "location",
        "https://evil.example/path?key=1".parse().unwrap(),
    );
    let error = from_response(Api::Anthropic, StatusCode::FOUND, &headers, "");
    assert_eq!(error.class, ErrorClass::BadRequest);
    assert!(
        error.message.contains("points to evil.example;"),
        "{}",
        error.message
    );
}

#[test]
fn errors_in_the_stream_are_classified_by_their_words() {
    let data = serde_json::json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(
        from_event(Api::Anthropic, &data).class,
        ErrorClass::Overloaded
    );
    let data =
        serde_json::json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow"});
    assert_eq!(
        from_event(Api::OpenaiResponses, &data).class,
        ErrorClass::RateLimited
    );
    let data = serde_json::json!({"error": null});
    assert_eq!(from_event(Api::OpenaiChat, &data).class, ErrorClass::Server);
}
