//! The settings one by one, each with its value and origin.

use serde_json::Value;

use super::error::{ConfigError, Origin};
use super::key::Key;
use super::problem::did_you_mean;
use super::{AgentSettings, Loaded, schema};

/// One setting as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Its key.
    pub key: String,
    /// Its value; what looks like a secret is hidden.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

impl Shown {
    /// Returns the value as it would be written in a config file.
    #[must_use]
    pub fn written(&self) -> String {
        super::surgery::flow(&self.value)
    }
}

impl Loaded {
    /// Returns every setting in the order of the reference.
    #[must_use]
    pub fn show(&self) -> Vec<Shown> {
        let mut shown = Vec::new();
        flatten(&self.values(), &mut String::new(), &mut |key, value| {
            shown.push(Shown {
                key: key.to_owned(),
                value: value.clone(),
                origin: self.origin(key),
            });
        });
        shown
    }

    /// Returns the value of `key`: a setting, or a section as a whole.
    pub fn get(&self, key: &str) -> Result<Value, ConfigError> {
        let agents = self.settings.agents.iter().map(|agent| agent.name.as_str());
        let parsed = Key::parse(key, agents)?;
        let parts = parsed.parts();
        let values = self.values();
        let found = parts
            .iter()
            .try_fold(&values, |value, part| value.get(part));
        match (found, parts.as_slice()) {
            (Some(value), _) => Ok(value.clone()),
            // What an agent leaves out is not listed, but it is a setting all the same.
            (None, ["agents", agent, field])
                if values
                    .pointer("/agents")
                    .is_some_and(|agents| agents.get(agent).is_some())
                    && AgentSettings::KEYS.contains(field) =>
            {
                Ok(Value::Null)
            }
            (None, _) => Err(self.unknown(key)),
        }
    }

    /// Returns where the value of `key` came from.
    #[must_use]
    pub fn origin(&self, key: &str) -> Origin {
        // A setting inside a value that was set as a whole came with it.
        let mut key = key;
        loop {
            if let Some(origin) = self.origins.get(key) {
                return origin.clone();
            }
            match key.rsplit_once('.') {
                Some((outer, _)) => key = outer,
                None => return Origin::DEFAULT,
            }
        }
    }

    /// Returns the error for a key that does not exist.
    #[must_use]
    pub(super) fn unknown(&self, key: &str) -> ConfigError {
        let shown = self.show();
        let known = schema::known_keys();
        let keys = shown.iter().map(|shown| shown.key.as_str());
        let hint = did_you_mean(key, keys.chain(known.iter().map(String::as_str)));
        ConfigError::UnknownKey {
            key: key.to_owned(),
            hint,
        }
    }

    /// Returns the settings as JSON with agents by name and secrets hidden.
    fn values(&self) -> Value {
        let mut values = serde_json::to_value(&self.settings).unwrap_or_default();
        let agents = self.settings.agents.iter().map(|agent| {
            let mut value = serde_json::to_value(agent).unwrap_or_default();
            if let Some(fields) = value.as_object_mut() {
                fields.shift_remove("name");
            }
            if let Some(env) = value.get_mut("env").and_then(Value::as_object_mut) {
                let secret = env.iter_mut().filter(|(name, _)| names_a_secret(name));
                secret.for_each(|(_, value)| *value = Value::from("(hidden)"));
            }
            (agent.name.to_string(), value)
        });
        if !self.settings.agents.is_empty() {
            values["agents"] = Value::Object(agents.collect());
        }
        values
    }
}

fn names_a_secret(variable: &str) -> bool {
    let variable = variable.to_ascii_uppercase();
    let words = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"];
    words.iter().any(|word| variable.contains(word))
}

/// Calls `visit` for every value that is not a section, with its key.
pub(super) fn flatten(value: &Value, key: &mut String, visit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let length = key.len();
                if length > 0 {
                    key.push('.');
                }
                key.push_str(name);
                flatten(value, key, visit);
                key.truncate(length);
            }
        }
        _ => visit(key, value),
    }
}
