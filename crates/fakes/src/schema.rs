//! Finds the smallest honest instance of a simple JSON schema.

use serde_json::{Map, Value, json};

/// Nesting beyond this depth gets empty containers, which ends recursive schemas.
const MAX_DEPTH: usize = 12;

/// Returns a value that fits the schema, as far as the usual keywords tell.
///
/// Both JSON Schema and the upper-case type names of Gemini are understood.
pub(crate) fn instance(schema: &Value) -> Value {
    Filler { root: schema }.fill(schema, 0)
}

struct Filler<'a> {
    root: &'a Value,
}

impl Filler<'_> {
    fn fill(&self, schema: &Value, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return Value::Null;
        }
        if let Some(target) = self.referenced(schema) {
            return self.fill(target, depth + 1);
        }
        if let Some(fixed) = schema.get("const") {
            return fixed.clone();
        }
        if let Some(first) = schema.pointer("/enum/0") {
            return first.clone();
        }
        if let Some(branch) = alternative(schema) {
            return self.fill(branch, depth + 1);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.merged(schema, parts, depth);
        }
        match type_name(schema).as_str() {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" => json!(number(schema).ceil() as i64),
            "number" => json!(number(schema)),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => json!(string(schema)),
        }
    }

    fn referenced(&self, schema: &Value) -> Option<&Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    fn merged(&self, schema: &Value, parts: &[Value], depth: usize) -> Value {
        let mut whole = self.object(schema, depth);
        for part in parts {
            match (self.fill(part, depth + 1), &mut whole) {
                (Value::Object(more), Value::Object(all)) => all.extend(more),
                (other, _) => return other,
            }
        }
        whole
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let mut filled = Map::new();
        let required = required(schema);
        for (name, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            // Optional members of deep values are left out, which ends recursive types early.
            if depth < 4 || required.contains(&name.as_str()) {
                filled.insert(name.clone(), self.fill(property, depth + 1));
            }
        }
        Value::Object(filled)
    }

    fn array(&self, schema: &Value, depth: usize) -> Value {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let wanted = if depth < 4 { least.max(1) } else { least };
        let most = schema
            .get("maxItems")
            .and_then(Value::as_u64)
            .unwrap_or(u64::MAX);
        let item = schema
            .get("items")
            .cloned()
            .unwrap_or_else(|| json!({"type": "string"}));
        (0..wanted.min(most).min(100))
            .map(|_| self.fill(&item, depth + 1))
            .collect()
    }
}

/// Returns the names listed as required.
pub(crate) fn required(schema: &Value) -> Vec<&str> {
    let list = schema.get("required").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Returns the lower-case type name; the first one that is not `null` when several are allowed.
pub(crate) fn type_name(schema: &Value) -> String {
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| !name.eq_ignore_ascii_case("null")),
        _ => None,
    };
    match named {
        Some(name) => name.to_ascii_lowercase(),
        None if schema.get("properties").is_some() => "object".to_owned(),
        None if schema.get("items").is_some() => "array".to_owned(),
        None => "string".to_owned(),
    }
}

fn alternative(schema: &Value) -> Option<&Value> {
    let branches = schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))?
        .as_array()?;
    branches
        .iter()
        .find(|branch| branch.get("type") != Some(&json!("null")))
        .or(branches.first())
}

fn number(schema: &Value) -> f64 {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let above = bound("exclusiveMinimum").map(|least| least + 1.0);
    let below = bound("exclusiveMaximum").map(|most| most - 1.0);
    let least = bound("minimum").or(above).unwrap_or(f64::MIN);
    let most = bound("maximum").or(below).unwrap_or(f64::MAX);
    1f64.min(most).max(least)
}

fn string(schema: &Value) -> String {
    let known = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some("uri") => "http://localhost/fake",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => "fake",
    };
    let least = schema
        .get("minLength")
        .and_then(Value::as_u64)
        .unwrap_or(0)
        .min(10_000) as usize;
    let most = schema
        .get("maxLength")
        .and_then(Value::as_u64)
        .unwrap_or(u64::MAX) as usize;
    let mut text = known.to_owned();
    while text.len() < least {
        text.push('x');
    }
    text.truncate(most);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_simple_kind_is_filled() {
        let schema = json!({
            "type": "object",
            "properties": {
                "s": {"type": "string", "minLength": 6},
                "n": {"type": "number", "minimum": 3.5},
                "i": {"type": "integer", "maximum": -2},
                "b": {"type": "boolean"},
                "a": {"type": "array", "items": {"type": "string"}, "minItems": 2},
                "e": {"enum": ["high", "low"]},
                "o": {"type": ["object", "null"], "properties": {"x": {"const": 4}}},
                "r": {"$ref": "#/$defs/name"},
                "u": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}
            },
            "required": ["s"],
            "$defs": {"name": {"type": "string"}}
        });
        let expected = json!({
            "s": "fakexx", "n": 3.5, "i": -2, "b": true, "a": ["fake", "fake"], "e": "high",
            "o": {"x": 4}, "r": "fake", "u": true
        });
        assert_eq!(instance(&schema), expected);
    }

    #[test]
    fn gemini_type_names_are_understood() {
        let list = json!({"type": "ARRAY", "items": {"type": "INTEGER"}});
        let schema = json!({"type": "OBJECT", "properties": {"k": list}});
        assert_eq!(instance(&schema), json!({"k": [1]}));
    }

    #[test]
    fn recursive_schema_ends() {
        let schema = json!({
            "$ref": "#/$defs/node",
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}
        });
        assert!(instance(&schema).is_object());
    }
}
