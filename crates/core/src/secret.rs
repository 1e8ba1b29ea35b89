//! Values that must not be shown.

use std::fmt;

use serde::Deserialize;

/// A secret text, such as an API key: it cannot be printed, serialized or compared by accident.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps `value`.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value itself, for the one place that hands it to its owner's host or process.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Replaces known secret values in texts that are about to leave the process.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
}

/// Shorter values are not worth hiding: they would blank ordinary words.
const SHORTEST_SECRET: usize = 6;

impl Redactor {
    /// Returns a redactor for `secrets`, the longest first so that none hides part of another.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let mut secrets: Vec<_> = secrets
            .into_iter()
            .filter(|secret| secret.0.len() >= SHORTEST_SECRET)
            .collect();
        secrets.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        secrets.dedup_by(|a, b| a.0 == b.0);
        Self { secrets }
    }

    /// Returns `text` with every known secret replaced.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let hidden = |text: String, secret: &Secret| text.replace(secret.expose(), "[redacted]");
        self.secrets.iter().fold(text.to_owned(), hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_print() {
        assert_eq!(format!("{:?}", Secret::new("sk-canary")), "Secret(…)");
    }

    #[test]
    fn redaction_hides_the_longer_secret_whole() {
        let redactor = Redactor::new([
            Secret::new("sk-abc"),
            Secret::new("sk-abcdef"),
            Secret::new("x"),
        ]);
        assert_eq!(
            redactor.redact("sk-abcdef sk-abc x"),
            "[redacted] [redacted] x"
        );
    }
}
