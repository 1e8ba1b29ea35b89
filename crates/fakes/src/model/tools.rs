//! Picks one of the tools a client offers and fills its arguments from its schema.

use serde_json::{Map, Value, json};

use super::call::{Call, Dialect};
use super::reply::{ToolCall, ToolKind};
use crate::{directive, schema};

/// File that `write_tool` writes when the prompt names none.
pub(crate) const DEFAULT_FILE: &str = "fake-model-wrote.txt";

const SHELL_NAMES: [&str; 8] = [
    "bash",
    "shell",
    "exec_command",
    "shell_command",
    "run_shell_command",
    "local_shell",
    "container.exec",
    "terminal",
];
const WRITE_NAMES: [&str; 4] = ["write", "write_file", "create_file", "apply_patch"];

/// A tool in a request.
#[derive(Debug, Clone)]
struct Offered {
    name: String,
    namespace: Option<String>,
    kind: ToolKind,
    schema: Value,
}

/// Returns a call of the client's shell tool.
pub(crate) fn shell(call: &Call, command: &str) -> Option<ToolCall> {
    let tool = pick(&offered(call), &SHELL_NAMES)?;
    let input = match tool.kind {
        ToolKind::LocalShell => json!({"command": ["bash", "-lc", command]}),
        ToolKind::Custom => json!(command),
        ToolKind::Function => fill(&tool.schema, &[(&["command", "cmd", "script"], command)]),
    };
    Some(tool.call(call, input))
}

/// Returns a call that writes a file: with the file tool, or else with the shell.
pub(crate) fn write(call: &Call, content: &str) -> Option<ToolCall> {
    let path = target_path(call);
    let Some(tool) = pick(&offered(call), &WRITE_NAMES) else {
        return shell(
            call,
            &format!("printf '%s' {} > {}", quoted(content), quoted(&path)),
        );
    };
    let patch = add_file_patch(&path, content);
    let input = match tool.kind {
        ToolKind::Custom | ToolKind::LocalShell => json!(patch),
        ToolKind::Function => fill(
            &tool.schema,
            &[
                (
                    &["file_path", "filePath", "path", "absolute_path", "filename"],
                    path.as_str(),
                ),
                (&["content", "contents", "text", "file_text"], content),
                (&["input", "patch", "patchText"], patch.as_str()),
            ],
        ),
    };
    Some(tool.call(call, input))
}

/// Returns a call of a tool whose name ends in `echo`.
pub(crate) fn echo(call: &Call, text: &str) -> Option<ToolCall> {
    let tool = offered(call)
        .into_iter()
        .find(|tool| tool.name.to_ascii_lowercase().ends_with("echo"))?;
    let named: Vec<String> = properties(&tool.schema)
        .map(|(name, _)| name.clone())
        .collect();
    let first: Vec<&str> = named.iter().map(String::as_str).take(1).collect();
    let input = fill(&tool.schema, &[(&first, text)]);
    Some(tool.call(call, input))
}

/// Returns a call of the tool that the client wants its structured answer from, if there is one.
pub(crate) fn structured(call: &Call, value: impl FnOnce(&Value) -> Value) -> Option<ToolCall> {
    let choice = &call.body["tool_choice"];
    let forced = choice["name"]
        .as_str()
        .or(choice["function"]["name"].as_str());
    let wanted = forced.unwrap_or("StructuredOutput");
    let tool = offered(call).into_iter().find(|tool| tool.name == wanted)?;
    let input = value(&tool.schema);
    Some(tool.call(call, input))
}

impl Offered {
    fn function(name: &Value, schema: &Value) -> Option<Self> {
        let name = name.as_str()?.to_owned();
        Some(Self {
            name,
            namespace: None,
            kind: ToolKind::Function,
            schema: schema.clone(),
        })
    }

    fn call(self, call: &Call, input: Value) -> ToolCall {
        let prefix = if call.dialect == Dialect::Anthropic {
            "toolu"
        } else {
            "call"
        };
        let id = format!("{prefix}_fake_{}", call.n);
        ToolCall {
            id,
            name: self.name,
            namespace: self.namespace,
            kind: self.kind,
            input,
        }
    }
}

fn offered(call: &Call) -> Vec<Offered> {
    let tools = call.body["tools"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    match call.dialect {
        Dialect::Anthropic => tools
            .iter()
            .filter_map(|tool| Offered::function(&tool["name"], &tool["input_schema"]))
            .collect(),
        Dialect::Chat => tools
            .iter()
            .filter_map(|tool| {
                Offered::function(&tool["function"]["name"], &tool["function"]["parameters"])
            })
            .collect(),
        Dialect::Responses => tools
            .iter()
            .flat_map(|tool| responses_tools(tool, None))
            .collect(),
        Dialect::Gemini => tools.iter().flat_map(gemini_tools).collect(),
    }
}

/// Reads one entry of a Responses tool list; a namespace holds a list of its own.
fn responses_tools(tool: &Value, namespace: Option<&str>) -> Vec<Offered> {
    let kind = match tool["type"].as_str() {
        Some("namespace") => {
            let inner = tool["tools"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            return inner
                .iter()
                .flat_map(|inner| responses_tools(inner, tool["name"].as_str()))
                .collect();
        }
        Some("custom") => ToolKind::Custom,
        Some("local_shell") => ToolKind::LocalShell,
        _ => ToolKind::Function,
    };
    let name = if kind == ToolKind::LocalShell {
        &tool["type"]
    } else {
        &tool["name"]
    };
    let read = Offered::function(name, &tool["parameters"]);
    read.map(|tool| Offered {
        kind,
        namespace: namespace.map(str::to_owned),
        ..tool
    })
    .into_iter()
    .collect()
}

fn gemini_tools(tool: &Value) -> Vec<Offered> {
    let declared = tool["functionDeclarations"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let schema_of = |one: &Value| match one.get("parametersJsonSchema") {
        Some(schema) => schema.clone(),
        None => one["parameters"].clone(),
    };
    declared
        .iter()
        .filter_map(|one| Offered::function(&one["name"], &schema_of(one)))
        .collect()
}

fn pick(tools: &[Offered], names: &[&str]) -> Option<Offered> {
    names
        .iter()
        .find_map(|name| {
            tools
                .iter()
                .find(|tool| tool.name.eq_ignore_ascii_case(name))
        })
        .cloned()
}

/// Fills the arguments whose names are known and those that are required.
fn fill(schema: &Value, known: &[(&[&str], &str)]) -> Value {
    let mut filled = Map::new();
    for (name, property) in properties(schema) {
        if let Some((_, value)) = known
            .iter()
            .find(|(names, _)| names.contains(&name.as_str()))
        {
            let value = match schema::type_name(property).as_str() {
                "array" => json!(["bash", "-lc", value]),
                _ => json!(value),
            };
            filled.insert(name.clone(), value);
        } else if schema::required(schema).contains(&name.as_str()) {
            filled.insert(name.clone(), schema::instance(property));
        }
    }
    Value::Object(filled)
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// Returns where to write: the file named by `FAKE-FILE:`, under the directory the client named.
fn target_path(call: &Call) -> String {
    let named = directive::value(&call.user_text(), "FAKE-FILE");
    let file = named.unwrap_or_else(|| DEFAULT_FILE.to_owned());
    match working_directory(&call.body) {
        Some(folder) if !file.starts_with('/') => format!("{folder}/{file}"),
        _ => file,
    }
}

/// Finds the working directory that agent clients put somewhere into their prompts.
fn working_directory(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => directory_in(text),
        Value::Array(items) => items.iter().find_map(working_directory),
        Value::Object(members) => members.values().find_map(working_directory),
        _ => None,
    }
}

fn directory_in(text: &str) -> Option<String> {
    const MARKS: [&str; 4] = [
        "<cwd>",
        "orking directory: ",
        "orking in the directory: ",
        "<directory>",
    ];
    MARKS.iter().find_map(|mark| {
        let rest = text.split(mark).nth(1)?;
        let path = rest
            .split(['\n', '<', '\r'])
            .next()?
            .trim()
            .trim_end_matches('/');
        path.starts_with('/').then(|| path.to_owned())
    })
}

fn add_file_patch(path: &str, content: &str) -> String {
    let added: Vec<String> = content.lines().map(|line| format!("+{line}")).collect();
    format!(
        "*** Begin Patch\n*** Add File: {path}\n{}\n*** End Patch\n",
        added.join("\n")
    )
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
