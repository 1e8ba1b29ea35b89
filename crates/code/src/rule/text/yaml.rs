//! YAML and JSON as their readers understand them, whatever their spelling.

use serde_json::Value;

use super::TextFile;
use crate::nature::{Format, Nature};

/// The largest text that is parsed, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Returns the content of a file; nothing if it is neither YAML nor JSON, or does not parse.
pub(super) fn parse(file: &TextFile<'_>) -> Option<Value> {
    let is_known = matches!(file.nature, Nature::Config(Format::Yaml | Format::Json));
    if !is_known || file.text.len() > MAX_BYTES {
        return None;
    }
    let documents: Vec<Value> = serde_saphyr::from_multiple(file.text).ok()?;
    Some(Value::Array(documents))
}

/// Calls `look` with every key and its value, at any depth.
pub(super) fn each_entry<'a>(value: &'a Value, look: &mut impl FnMut(&'a str, &'a Value)) {
    match value {
        Value::Array(values) => {
            for value in values {
                each_entry(value, look);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                look(key, value);
                each_entry(value, look);
            }
        }
        _ => {}
    }
}
