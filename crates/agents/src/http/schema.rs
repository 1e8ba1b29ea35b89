//! Answers that shall follow a JSON schema: the forms the APIs take, and our own check.

use std::cell::Cell;

use serde_json::{Map, Value, json};
use tribunal_core::agent::ErrorClass;
use tribunal_core::text::truncate_chars;

use crate::AgentError;

/// Problems named in one message.
const SHOWN: usize = 3;

/// Returns `value` if it keeps to `schema`.
///
/// What an API promises about structured output is never trusted: some servers ignore the schema
/// without a word.
pub(crate) fn checked(value: Value, schema: &Value) -> Result<Value, AgentError> {
    let validator = jsonschema::validator_for(schema).map_err(|error| {
        let message = format!("The schema for the answer is not valid: {error}");
        AgentError::new(ErrorClass::Setup, truncate_chars(&message, 500))
    })?;
    let problems: Vec<String> = validator
        .iter_errors(&value)
        .take(SHOWN)
        .map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() {
                "/".to_owned()
            } else {
                place
            };
            format!("{} at {place}", truncate_chars(&error.to_string(), 200))
        })
        .collect();
    if problems.is_empty() {
        return Ok(value);
    }
    let message = format!(
        "The answer does not follow its schema: {}",
        problems.join("; ")
    );
    Err(AgentError::new(ErrorClass::Garbled, message))
}

/// Returns the JSON in `text` if it keeps to `schema`. One code fence around it is accepted.
pub(super) fn read(text: &str, schema: &Value) -> Result<Value, AgentError> {
    let value = serde_json::from_str(without_fence(text)).map_err(|error| {
        let message = format!("The answer is not the JSON that was asked for: {error}");
        AgentError::new(ErrorClass::Garbled, message)
    })?;
    checked(value, schema)
}

fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let fenced = || {
        let inner = text.strip_prefix("```")?.strip_suffix("```")?;
        let (language, body) = inner.split_once('\n')?;
        matches!(language.trim(), "" | "json").then_some(body)
    };
    fenced().unwrap_or(text)
}

/// Returns `schema` as Anthropic takes it: closed objects, and none of the keywords it refuses.
///
/// Loosening does no harm, since [`checked`] uses the schema as it was given. Objects with free
/// keys cannot be told to the API at all: then there is none, and the prompt must do.
pub(super) fn for_anthropic(schema: &Value) -> Option<Value> {
    const REFUSED: [&str; 15] = [
        "$schema",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "format",
    ];
    let free_keys = Cell::new(false);
    let schema = rewrite(schema, &|node| {
        let open = node
            .get("additionalProperties")
            .is_some_and(|open| open != false);
        if is_object(node) && (open || !node.contains_key("properties")) {
            free_keys.set(true);
        }
        node.retain(|key, _| !REFUSED.contains(&key.as_str()));
        any_for_one(node);
        if is_object(node) {
            node.insert("additionalProperties".to_owned(), json!(false));
        }
    });
    (!free_keys.get()).then_some(schema)
}

/// Returns `schema` as Gemini takes it.
pub(super) fn for_gemini(schema: &Value) -> Value {
    rewrite(schema, &|node| {
        node.remove("$schema");
        // Only a few formats are known, and the others are refused.
        node.remove("format");
        any_for_one(node);
    })
}

/// Returns `schema` as OpenAI takes it, and whether it meets the rules of the strict mode.
pub(super) fn for_openai(schema: &Value) -> (Value, bool) {
    let schema = rewrite(schema, &|node| {
        node.remove("$schema");
        node.remove("format");
        any_for_one(node);
    });
    let strict = is_strict(&schema);
    (schema, strict)
}

/// Puts `anyOf`, which every API knows, in the place of `oneOf`.
fn any_for_one(node: &mut Map<String, Value>) {
    if !node.contains_key("anyOf")
        && let Some(choices) = node.remove("oneOf")
    {
        node.insert("anyOf".to_owned(), choices);
    }
}

/// Tells whether every object in `schema` is closed and requires all of its properties, and no
/// keyword is one that the strict mode refuses.
fn is_strict(schema: &Value) -> bool {
    const REFUSED: [&str; 10] = [
        "allOf",
        "not",
        "if",
        "default",
        "patternProperties",
        "dependentRequired",
        "dependentSchemas",
        "uniqueItems",
        "minProperties",
        "maxProperties",
    ];
    match schema {
        Value::Array(items) => items.iter().all(is_strict),
        Value::Object(node) => {
            let required = |name: &String| {
                let names = node.get("required").and_then(Value::as_array);
                names.is_some_and(|names| names.iter().any(|other| other == name))
            };
            let closed = node.get("additionalProperties") == Some(&json!(false));
            let properties = node.get("properties").and_then(Value::as_object);
            let all_required = properties.is_none_or(|properties| properties.keys().all(required));
            (!is_object(node) || closed && all_required)
                && !REFUSED.iter().any(|keyword| node.contains_key(*keyword))
                && node.values().all(is_strict)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn is_object(node: &Map<String, Value>) -> bool {
    node.get("type") == Some(&json!("object"))
        || node.get("properties").is_some_and(Value::is_object)
}

/// Returns `schema` with `change` made to each of the schemas inside it.
fn rewrite(schema: &Value, change: &dyn Fn(&mut Map<String, Value>)) -> Value {
    // Under these keys lie names that the author chose, not keywords.
    const NAMED: [&str; 5] = [
        "properties",
        "$defs",
        "definitions",
        "patternProperties",
        "dependentSchemas",
    ];
    const DATA: [&str; 4] = ["enum", "const", "default", "examples"];
    match schema {
        Value::Array(items) => items.iter().map(|item| rewrite(item, change)).collect(),
        Value::Object(node) => {
            let mut node = node.clone();
            change(&mut node);
            for (key, value) in &mut node {
                if DATA.contains(&key.as_str()) {
                    continue;
                }
                match value {
                    Value::Object(named) if NAMED.contains(&key.as_str()) => {
                        for schema in named.values_mut() {
                            *schema = rewrite(schema, change);
                        }
                    }
                    other => *other = rewrite(other, change),
                }
            }
            Value::Object(node)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "score": {"type": "integer", "minimum": 0, "maximum": 100},
                "format": {"enum": [{"type": "object", "minimum": 1}]},
            },
            "required": ["score", "format"],
        })
    }

    #[test]
    fn answers_are_checked_against_the_whole_schema() {
        let good = r#"{"score": 7, "format": {"type": "object", "minimum": 1}}"#;
        assert!(read(good, &schema()).is_ok());
        assert!(read(&format!("```json\n{good}\n```\n"), &schema()).is_ok());
        let error = read(r#"{"score": 101}"#, &schema()).unwrap_err();
        assert_eq!(error.class, ErrorClass::Garbled);
        assert!(
            error
                .message
                .contains("101 is greater than the maximum of 100 at /score"),
            "{}",
            error.message
        );
        assert!(
            error
                .message
                .contains("\"format\" is a required property at /"),
            "{}",
            error.message
        );
        assert_eq!(
            read("Sure! {}", &schema()).unwrap_err().class,
            ErrorClass::Garbled
        );
    }

    #[test]
    fn a_broken_schema_is_our_own_mistake() {
        let error = checked(json!(1), &json!({"type": "nonsense"})).unwrap_err();
        assert_eq!(error.class, ErrorClass::Setup);
    }

    #[test]
    fn keywords_are_dropped_but_names_and_values_stay() {
        assert_eq!(
            for_anthropic(&schema()),
            Some(json!({
                "type": "object",
                "properties": {
                    "score": {"type": "integer"},
                    "format": {"enum": [{"type": "object", "minimum": 1}]},
                },
                "required": ["score", "format"],
                "additionalProperties": false,
            }))
        );
        assert_eq!(for_gemini(&schema())["properties"], schema()["properties"]);
        let choice = json!({"oneOf": [{"const": 1}, {"type": "integer", "format": "uint8"}]});
        let expected = json!({"anyOf": [{"const": 1}, {"type": "integer"}]});
        assert_eq!(for_gemini(&choice), expected);
        assert_eq!(for_openai(&choice), (expected.clone(), true));
        assert_eq!(for_anthropic(&choice), Some(expected));
    }

    #[test]
    fn objects_with_free_keys_are_not_told_to_anthropic() {
        for free in [
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object"}),
            json!({"type": "array", "items": {"type": "object"}}),
        ] {
            assert_eq!(for_anthropic(&free), None, "{free}");
        }
    }

    #[test]
    fn strict_mode_is_asked_for_only_where_its_rules_hold() {
        assert!(!for_openai(&schema()).1);
        let mut closed = schema();
        closed["additionalProperties"] = json!(false);
        closed["properties"]["format"] = json!({"type": "string"});
        assert!(for_openai(&closed).1);
        let mut defaulted = closed.clone();
        defaulted["properties"]["score"]["default"] = json!(1);
        assert!(!for_openai(&defaulted).1);
        closed["required"] = json!(["score"]);
        assert!(!for_openai(&closed).1);
    }
}
