//! The JSON schema of the settings, and the reference page made from it.

use serde_json::Value;

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
        keys.push(key.to_owned())
    });
    keys
}

/// Returns the reference of all settings in Markdown.
#[must_use]
pub fn reference() -> String {
    String::new()
}
