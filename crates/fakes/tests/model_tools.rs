//! Tool scenarios find the tools of each client and end once the result has come back.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{call, post};
use serde_json::{Value, json};
use tribunal_fakes::model::FakeModel;

/// Asks with some tools on offer and returns the name and the input of the call made.
fn tool_call(scenario: &str, dialect: &str, tools: &Value, prompt: &str) -> (String, Value) {
    let model = FakeModel::spawn_blocking();
    let (path, mut body) = call(dialect, false, prompt);
    body["tools"] = tools.clone();
    let answer = post(&format!("{}{path}", model.base_url(scenario, "k")), &body).json();
    let parsed = |text: &Value| serde_json::from_str(text.as_str().unwrap()).unwrap();
    let (name, input) = match dialect {
        "anthropic" => (
            &answer["content"][0]["name"],
            answer["content"][0]["input"].clone(),
        ),
        "responses" if answer["output"][0]["type"] == "custom_tool_call" => (
            &answer["output"][0]["name"],
            answer["output"][0]["input"].clone(),
        ),
        "responses" => (
            &answer["output"][0]["name"],
            parsed(&answer["output"][0]["arguments"]),
        ),
        "chat" => {
            let function = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
            (&function["name"], parsed(&function["arguments"]))
        }
        _ => {
            let function = &answer["candidates"][0]["content"]["parts"][0]["functionCall"];
            (&function["name"], function["args"].clone())
        }
    };
    (name.as_str().unwrap().to_owned(), input)
}

fn schema(names: &[(&str, &str)]) -> Value {
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), json!({"type": kind})))
        .collect();
    let required: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

#[test]
fn claude_tools_are_called() {
    let tools = json!([
        {"name": "Bash", "input_schema": schema(&[("command", "string")])},
        {"name": "Write", "input_schema": schema(&[("file_path", "string"), ("content", "string")])},
        {"name": "mcp__probe__echo", "input_schema": schema(&[("text", "string")])}
    ]);
    let prompt = "Working directory: /tmp/w\nFAKE-FILE: a.txt\nFAKE-CONTENT: hi";
    let written = json!({"file_path": "/tmp/w/a.txt", "content": "hi"});
    assert_eq!(
        tool_call("write_tool", "anthropic", &tools, prompt),
        ("Write".to_owned(), written)
    );
    let (name, input) = tool_call("shell_tool", "anthropic", &tools, "x");
    assert_eq!(
        (name.as_str(), &input["command"]),
        ("Bash", &json!("sh -c 'setsid sleep 1000 & sleep 1000'"))
    );
    let echoed = json!({"text": "ping-4711"});
    assert_eq!(
        tool_call("echo_tool", "anthropic", &tools, "x"),
        ("mcp__probe__echo".to_owned(), echoed)
    );
}

#[test]
fn codex_tools_are_called() {
    let tools = json!([
        {"type": "function", "name": "exec_command", "parameters": schema(&[("cmd", "string")])},
        {"type": "custom", "name": "apply_patch", "format": {}},
        {"type": "namespace", "name": "mcp__probe", "tools": [
            {"type": "function", "name": "echo", "parameters": schema(&[("text", "string")])}
        ]}
    ]);
    let (name, patch) = tool_call("write_tool", "responses", &tools, "FAKE-CONTENT: one");
    assert_eq!(name, "apply_patch");
    let expected = "*** Begin Patch\n*** Add File: fake-model-wrote.txt\n+one\n*** End Patch\n";
    assert_eq!(patch, expected);
    let (name, input) = tool_call("shell_quick", "responses", &tools, "FAKE-COMMAND: true");
    assert_eq!(
        (name.as_str(), input),
        ("exec_command", json!({"cmd": "true"}))
    );
    let (name, input) = tool_call("echo_tool", "responses", &tools, "x");
    assert_eq!(
        (name.as_str(), input),
        ("echo", json!({"text": "ping-4711"}))
    );
}

#[test]
fn old_codex_shell_takes_a_list() {
    let parameters = json!({"type": "object", "properties": {"command": {"type": "array"}}});
    let tools = json!([{"type": "function", "name": "shell", "parameters": parameters}]);
    let (_, input) = tool_call("shell_quick", "responses", &tools, "FAKE-COMMAND: true");
    assert_eq!(input, json!({"command": ["bash", "-lc", "true"]}));
}

#[test]
fn gemini_tools_are_called() {
    let tools = json!([{"functionDeclarations": [
        {"name": "run_shell_command", "parametersJsonSchema": schema(&[("command", "string")])},
        {"name": "write_file", "parameters": schema(&[("file_path", "STRING"), ("content", "STRING")])}
    ]}]);
    let (name, input) = tool_call(
        "write_tool",
        "gemini",
        &tools,
        "FAKE-FILE: /tmp/g\nFAKE-CONTENT: c",
    );
    assert_eq!(
        (name.as_str(), input),
        ("write_file", json!({"file_path": "/tmp/g", "content": "c"}))
    );
    assert_eq!(
        tool_call("shell_tool", "gemini", &tools, "x").0,
        "run_shell_command"
    );
}

#[test]
fn opencode_tools_are_called_with_all_that_is_required() {
    let bash = schema(&[("command", "string"), ("description", "string")]);
    let tools = json!([{"type": "function", "function": {"name": "bash", "parameters": bash}}]);
    let (name, input) = tool_call("shell_quick", "chat", &tools, "FAKE-COMMAND: true");
    assert_eq!(
        (name.as_str(), input),
        ("bash", json!({"command": "true", "description": "fake"}))
    );
    // Without a file tool the file is written with the shell.
    let (_, input) = tool_call("write_tool", "chat", &tools, "FAKE-CONTENT: it's");
    assert_eq!(
        input["command"],
        r"printf '%s' 'it'\''s' > 'fake-model-wrote.txt'"
    );
}

#[test]
fn structured_output_tool_is_called_once() {
    let tools =
        json!([{"name": "StructuredOutput", "input_schema": schema(&[("score", "integer")])}]);
    let (name, input) = tool_call("json", "anthropic", &tools, "x");
    assert_eq!(
        (name.as_str(), input),
        ("StructuredOutput", json!({"score": 1}))
    );
    let (_, input) = tool_call("json", "anthropic", &tools, "FAKE-REPLY: {\"score\": 7}");
    assert_eq!(input, json!({"score": 7}));
    let (_, input) = tool_call("badjson", "anthropic", &tools, "x");
    assert!(input.get("score").is_none());
}

/// Checks that a conversation which ends in a tool result gets a text.
fn check_final_text(dialect: &str, history: &Value, member: &str) {
    let model = FakeModel::spawn_blocking();
    let (path, mut body) = call(dialect, false, "");
    body[member] = history.clone();
    let answer = post(
        &format!("{}{path}", model.base_url("echo_tool", "k")),
        &body,
    )
    .json();
    let text = common::plain_text(dialect, &answer);
    assert!(text.contains("ECHO:pong"), "{dialect}: {answer}");
}

#[test]
fn result_of_a_tool_ends_the_turn() {
    let user = json!({"role": "user", "content": "call it"});
    let result = json!({"type": "tool_result", "tool_use_id": "t",
        "content": [{"type": "text", "text": "ECHO:pong"}]});
    let tool_use = json!({"type": "tool_use", "id": "t", "name": "e", "input": {}});
    let anthropic = json!([user, {"role": "assistant", "content": [tool_use]},
        {"role": "user", "content": [result]}]);
    check_final_text("anthropic", &anthropic, "messages");
    let chat = json!([user, {"role": "assistant", "content": null, "tool_calls": []},
        {"role": "tool", "tool_call_id": "t", "content": "ECHO:pong"}]);
    check_final_text("chat", &chat, "messages");
    let responses = json!([user, {"type": "function_call", "call_id": "t", "name": "e", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "t", "output": "ECHO:pong"}]);
    check_final_text("responses", &responses, "input");
    let gemini = json!([{"role": "user", "parts": [{"text": "call it"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "e", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {
            "name": "e", "response": {"output": "ECHO:pong"}}}]}]);
    check_final_text("gemini", &gemini, "contents");
}
