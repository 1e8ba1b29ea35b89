//! The JSON schema of the settings, and the reference page made from it.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::settings::Settings;
use super::show::flatten;

/// Returns the JSON schema of a config file, for editors.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(Settings).to_value()
}

/// Returns the keys that exist without any agent or provider.
pub(super) fn known_keys() -> Vec<String> {
    let defaults = serde_json::to_value(Settings::default()).unwrap_or_default();
    let mut keys = Vec::new();
    flatten(&defaults, &mut String::new(), &mut |key, _| {
        keys.push(key.to_owned());
    });
    keys
}

/// How the reference begins.
const REFERENCE_OPENING: &str = "\
# Settings

Every setting with its type, default and meaning, made from the program's own types. The commented
defaults are printed by `tribunal config show --defaults`.

Later layers win: the built-in defaults, your own file (`$XDG_CONFIG_HOME/tribunal/config.yml`), the
project's file (`.tribunal/config.yml`, found from the current directory upwards but not beyond the
repository), `TRIBUNAL_*` variables with `__` between the levels
(`TRIBUNAL_REVIEW__ON_DISPUTE__DEFAULT=human`), and `--set key=value`. Mappings are merged key by
key and agents by name; lists are replaced; `null` removes an optional value. `tribunal config show`
says where each value came from. Keys may also be written in camelCase.

A project's file comes with the repository, so it is not believed blindly. It counts as a whole once
you have trusted exactly its content: `init`, `connect`, `config set` and `config edit` trust what
they write, and `tribunal config trust` trusts what others wrote. While it is not trusted, a review
takes the file of the commit before the change in its place (the defaults when there is none), because
a change must not judge itself; of the untrusted file only `disputes.shown_resolved` counts and what
makes the gate stricter: more labels in `mandatory`, fewer reasons in `review.may_skip`, a higher level
in `review.rules` for a rule that runs, lower caps in `budget`, `review.on_dispute.default: human`,
`git.push: never`. The report says what did not count.

What the file of that commit starts or where it sends data needs trust, too: in that very content, or
in whoever may commit there (`review --trust-base`, or `TRIBUNAL_TRUST=base`; see [ci.md](ci.md)).
Reviewers who may not be asked are missing, and the gate does not pass. Commands that act, such as
`run` and `ask`, refuse an untrusted file that says more than the last commit (exit code 3). Commands
that only read, and `review --reviewer builtin`, need no trust.

How agents are connected is told in [agents.md](agents.md), how a linter becomes a reviewer in
[linters.md](linters.md).

";

/// Returns the reference of all settings in Markdown.
#[must_use]
pub fn reference() -> String {
    let schema = schema();
    let defaults = serde_json::to_value(Settings::default()).unwrap_or_default();
    let mut page = REFERENCE_OPENING.to_owned();
    let root = Section {
        schema: &schema,
        definitions: schema.get("$defs").and_then(Value::as_object),
    };
    for (name, property) in root.properties() {
        let _ = write!(page, "## `{name}`\n\n{}\n\n", description(property));
        page += "| Key | Type | Default | Meaning |\n| --- | --- | --- | --- |\n";
        let prefix = match name.as_str() {
            "agents" => "agents[].",
            "providers" => "providers.NAME.",
            _ => "",
        };
        let prefix = if prefix.is_empty() {
            format!("{name}.")
        } else {
            prefix.to_owned()
        };
        root.rows(property, &prefix, defaults.get(name), &mut page);
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

/// A schema with the definitions that its references lead to.
#[derive(Clone, Copy)]
struct Section<'s> {
    schema: &'s Value,
    definitions: Option<&'s Map<String, Value>>,
}

impl<'s> Section<'s> {
    fn properties(self) -> impl Iterator<Item = (&'s String, &'s Value)> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten()
    }

    /// Follows references and wrappers to the schema that says what a value is.
    fn resolve(self, schema: &'s Value) -> &'s Value {
        let named = schema.get("$ref").and_then(Value::as_str);
        if let Some(name) = named.and_then(|path| path.strip_prefix("#/$defs/")) {
            let target = self
                .definitions
                .and_then(|definitions| definitions.get(name));
            return target.unwrap_or(schema);
        }
        let choices = schema.get("anyOf").and_then(Value::as_array);
        match choices.map(Vec::as_slice) {
            // An optional value is that value or null.
            Some([one, null]) if null.get("type") == Some(&Value::from("null")) => {
                self.resolve(one)
            }
            _ => schema,
        }
    }

    /// Writes one row per setting below `schema`.
    fn rows(self, schema: &'s Value, prefix: &str, default: Option<&Value>, page: &mut String) {
        let mut target = self.resolve(schema);
        for inner in ["items", "additionalProperties"] {
            if let Some(item) = target.get(inner).filter(|item| item.is_object()) {
                target = self.resolve(item);
            }
        }
        let section = Section {
            schema: target,
            ..self
        };
        for (name, property) in section.properties() {
            let key = format!("{prefix}{name}");
            let default = default.and_then(|values| values.get(name));
            let inner = self.resolve(property);
            if inner.get("properties").is_some() {
                self.rows(inner, &format!("{key}."), default, page);
                continue;
            }
            let shown = match default {
                Some(Value::Null) | None => String::new(),
                Some(value) => format!("`{}`", super::surgery::flow(value)),
            };
            let kind = self.kind(property).replace('|', "\\|");
            let meaning = description(property).replace('\n', " ").replace('|', "\\|");
            let _ = writeln!(page, "| `{key}` | {kind} | {shown} | {meaning} |");
        }
    }

    /// Returns the type of a setting in words.
    fn kind(self, schema: &'s Value) -> String {
        let target = self.resolve(schema);
        let words = constants(target);
        if !words.is_empty() {
            return words
                .iter()
                .map(|word| format!("`{word}`"))
                .collect::<Vec<_>>()
                .join(", ");
        }
        let choices = target.get("anyOf").and_then(Value::as_array);
        match choices.map(Vec::as_slice) {
            Some([one, many]) if many.get("type") == Some(&Value::from("array")) => {
                return format!("one or a list of: {}", self.kind(one));
            }
            Some([one, other]) => return format!("{} or {}", self.kind(one), self.kind(other)),
            _ => {}
        }
        if let Some(title) = target.get("title").and_then(Value::as_str) {
            return title.to_owned();
        }
        let types = target.get("type");
        let one = types.and_then(Value::as_str).map(|word| vec![word]);
        let many = types.and_then(Value::as_array);
        let many = many.map(|types| types.iter().filter_map(Value::as_str).collect());
        let types: Vec<&str> = one.or(many).unwrap_or_default();
        let words = types
            .into_iter()
            .filter(|word| *word != "null")
            .map(|word| match word {
                "string" => "text",
                "integer" => "whole number",
                "boolean" => "`true` or `false`",
                "array" => "list",
                "object" => "mapping",
                other => other,
            });
        words.collect::<Vec<_>>().join(" or ")
    }
}

/// Returns the words that an enumeration allows.
fn constants(schema: &Value) -> Vec<String> {
    let listed = schema.get("enum").and_then(Value::as_array);
    let described = schema.get("oneOf").and_then(Value::as_array);
    let listed = listed.into_iter().flatten();
    let described = described
        .into_iter()
        .flatten()
        .filter_map(|one| one.get("const"));
    let word = |value: &Value| match value {
        Value::String(word) => Some(word.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    listed.chain(described).filter_map(word).collect()
}

fn description(schema: &Value) -> &str {
    schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
