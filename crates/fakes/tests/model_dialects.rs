//! Good answers carry the text and the usage in every dialect.

mod common;

use common::{DIALECTS, End, ask, call, plain_text, post, streamed_text};
use serde_json::{Value, json};
use tribunal_fakes::model::{FakeModel, OK_TEXT};

/// Returns fresh input, cache read, cache write and output as a client reckons them.
fn reckoned(dialect: &str, usage: &Value) -> [u64; 4] {
    let count = |place: &str| {
        usage
            .pointer(place)
            .and_then(Value::as_u64)
            .expect("the count is there")
    };
    match dialect {
        "anthropic" => [
            count("/input_tokens"),
            count("/cache_read_input_tokens"),
            count("/cache_creation_input_tokens"),
            count("/output_tokens"),
        ],
        "responses" => {
            let cached = count("/input_tokens_details/cached_tokens");
            [
                count("/input_tokens") - cached,
                cached,
                100,
                count("/output_tokens"),
            ]
        }
        "chat" => {
            let cached = count("/prompt_tokens_details/cached_tokens");
            [
                count("/prompt_tokens") - cached,
                cached,
                100,
                count("/completion_tokens"),
            ]
        }
        _ => {
            let cached = count("/cachedContentTokenCount");
            [
                count("/promptTokenCount") - cached,
                cached,
                100,
                count("/candidatesTokenCount"),
            ]
        }
    }
}

#[test]
fn streams_carry_text_and_usage() {
    let model = FakeModel::spawn_blocking();
    for dialect in DIALECTS {
        let answer = ask(&model.base_url("ok", dialect), dialect, true, "hello");
        assert_eq!(
            (answer.status, answer.end),
            (200, End::Complete),
            "{dialect}"
        );
        assert_eq!(streamed_text(dialect, &answer), OK_TEXT, "{dialect}");
        let places = ["/usage", "/response/usage", "/usageMetadata"];
        let usages: Vec<Value> = answer
            .events()
            .iter()
            .filter_map(|event| {
                places
                    .iter()
                    .find_map(|place| event.pointer(place).cloned())
            })
            .filter(|usage| !usage.is_null())
            .collect();
        assert_eq!(
            reckoned(dialect, usages.last().unwrap()),
            [1200, 300, 100, 85],
            "{dialect}"
        );
    }
}

#[test]
fn plain_answers_carry_text_and_usage() {
    let model = FakeModel::spawn_blocking();
    for dialect in DIALECTS {
        let body = ask(&model.base_url("ok", dialect), dialect, false, "hello").json();
        assert_eq!(plain_text(dialect, &body), OK_TEXT, "{dialect}");
        let usage = body.get("usage").or(body.get("usageMetadata")).unwrap();
        assert_eq!(reckoned(dialect, usage), [1200, 300, 100, 85], "{dialect}");
    }
}

#[test]
fn every_event_of_a_messages_stream_is_in_its_place() {
    let model = FakeModel::spawn_blocking();
    let answer = ask(&model.base_url("ok", "k"), "anthropic", true, "hello");
    let mut names: Vec<String> = answer
        .events()
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    names.dedup();
    let expected = [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(names, expected);
    assert!(answer.text().starts_with("event: message_start\ndata: {"));
}

#[test]
fn responses_events_are_numbered_without_a_gap() {
    let model = FakeModel::spawn_blocking();
    let events = ask(&model.base_url("ok", "k"), "responses", true, "hello").events();
    let numbers: Vec<u64> = events
        .iter()
        .map(|event| event["sequence_number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        events.last().unwrap()["response"]["output"][0]["content"][0]["text"],
        OK_TEXT
    );
}

#[test]
fn chat_usage_comes_only_on_request() {
    let model = FakeModel::spawn_blocking();
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "x"}]});
    let url = format!("{}/v1/chat/completions", model.base_url("ok", "k"));
    let answer = post(&url, &body);
    assert!(
        answer
            .events()
            .iter()
            .all(|event| event.get("usage").is_none())
    );
    assert!(answer.text().ends_with("data: [DONE]\n\n"));
}

#[test]
fn gemini_streams_an_array_without_sse() {
    let model = FakeModel::spawn_blocking();
    let (_, body) = call("gemini", true, "hello");
    let url = format!(
        "{}/v1/models/m:streamGenerateContent",
        model.base_url("ok", "k")
    );
    let pieces = post(&url, &body).json();
    let texts = pieces.as_array().unwrap().iter();
    let text: String = texts
        .filter_map(|p| p["candidates"][0]["content"]["parts"][0]["text"].as_str())
        .collect();
    assert_eq!(text, OK_TEXT);
}

#[test]
fn thoughts_stay_apart_from_the_text() {
    let model = FakeModel::spawn_blocking();
    for dialect in DIALECTS {
        let answer = ask(&model.base_url("thinking", dialect), dialect, true, "hello");
        assert_eq!(streamed_text(dialect, &answer), OK_TEXT, "{dialect}");
        assert!(answer.text().contains("These thou"), "{dialect}");
    }
}

#[test]
fn schema_is_found_and_fitted_in_every_dialect() {
    let model = FakeModel::spawn_blocking();
    let schema = json!({
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": ["yes", "no"]}, "score": {"type": "integer"}},
        "required": ["verdict", "score"]
    });
    let requests = [
        (
            "anthropic",
            json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}}),
        ),
        (
            "anthropic",
            json!({"output_format": {"type": "json_schema", "schema": schema}}),
        ),
        (
            "responses",
            json!({"text": {"format": {"type": "json_schema", "name": "n", "schema": schema}}}),
        ),
        (
            "chat",
            json!({"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}),
        ),
        (
            "gemini",
            json!({"generationConfig": {"responseSchema": schema}}),
        ),
    ];
    for (dialect, extra) in requests {
        for (scenario, fits) in [("json", true), ("badjson", false)] {
            let (path, mut body) = call(dialect, false, "judge");
            body.as_object_mut()
                .unwrap()
                .extend(extra.as_object().unwrap().clone());
            let answer = post(&format!("{}{path}", model.base_url(scenario, "k")), &body);
            let value: Value = serde_json::from_str(&plain_text(dialect, &answer.json())).unwrap();
            assert_eq!(
                value == json!({"verdict": "yes", "score": 1}),
                fits,
                "{dialect} {scenario}"
            );
        }
    }
}
