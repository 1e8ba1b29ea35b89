//! Tables of what each program's complaints mean.

use super::*;

#[test]
fn messages_and_statuses_have_a_class() {
    use ErrorClass::*;
    for (status, message, class) in [
        (Some(401), "Invalid API key", Some(Auth)),
        (Some(429), "slow down", Some(RateLimited)),
        (
            Some(429),
            "You exceeded your current quota, please check your plan and billing details.",
            Some(Credit),
        ),
        (
            Some(429),
            "You exceeded your current quota. Please retry in 12.5s.",
            Some(RateLimited),
        ),
        (
            Some(400),
            "Your credit balance is too low to access the API",
            Some(Credit),
        ),
        (
            Some(400),
            "API key not valid. Please pass a valid API key.",
            Some(Auth),
        ),
        (Some(400), "prompt is too long", Some(ContextTooLong)),
        (Some(400), "odd", Some(BadRequest)),
        (Some(413), "", Some(ContextTooLong)),
        (Some(502), "<html>", Some(Server)),
        (Some(503), "", Some(Overloaded)),
        (Some(529), "", Some(Overloaded)),
        (
            None,
            "unexpected status 401 Unauthorized: Incorrect API key provided",
            Some(Auth),
        ),
        (
            None,
            "exceeded retry limit, last status: 429 Too Many Requests",
            Some(RateLimited),
        ),
        (None, "unexpected status 529 <unknown>: ", Some(Overloaded)),
        (None, "502 Bad Gateway: <html>", Some(Server)),
        (
            None,
            "We\u{2019}re currently experiencing high demand",
            Some(Overloaded),
        ),
        (
            None,
            "stream disconnected before completion: error sending request",
            Some(Network),
        ),
        (
            None,
            "Incomplete response returned, reason: max_output_tokens",
            Some(Truncated),
        ),
        (
            None,
            "Missing environment variable: `OPENAI_API_KEY`.",
            Some(Auth),
        ),
        (
            None,
            "You've hit your usage limit. Visit the site to purchase more credits or try again in 3 days 4 hours",
            Some(RateLimited),
        ),
        (
            None,
            r#"[API Error: {"error":{"message":"Resource has been exhausted","code":429}}]"#,
            Some(RateLimited),
        ),
        (None, "something odd", None),
    ] {
        assert_eq!(class_of(status, message), class, "{status:?} {message}");
    }
}

#[test]
fn of_a_json_body_only_the_message_is_shown() {
    assert_eq!(
        said(r#"API Error: 400 {"type":"error","error":{"type":"x","message":"Field required"}}"#),
        "Field required"
    );
    assert_eq!(
        said(r#"[API Error: {"error":{"code":400,"message":"Bad payload"}}]"#),
        "Bad payload"
    );
    assert_eq!(said("[API Error: The model is gone]"), "The model is gone");
    assert_eq!(said("plain [sic]\nmore"), "plain [sic]");
}
