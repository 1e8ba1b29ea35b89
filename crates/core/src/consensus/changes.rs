//! A policy of one's own: changes laid over a preset, and the ranges in which numbers mean something.

use serde_json::Value;
use thiserror::Error;

use super::policy::Policy;

/// A name or a change that makes no policy.
#[derive(Debug, Error)]
pub enum PolicyError {
    /// No preset has the name.
    #[error("there is no policy {0:?}; known are arena and tribunal")]
    UnknownPreset(String),
    /// The changes name an unknown key or a value of the wrong type.
    #[error("the policy cannot be changed so: {0}")]
    BadChange(#[from] serde_json::Error),
    /// A number beyond what it can mean.
    #[error(
        "the policy cannot be changed so: `{key}` is {given}, and must be from {least} to {most}"
    )]
    OutOfRange {
        /// The key, from the top.
        key: String,
        /// What it was to be.
        given: String,
        /// The least that it can be.
        least: i64,
        /// The most that it can be.
        most: i64,
    },
}

impl Policy {
    /// Returns the preset that `changes` name, or the default, with the changes laid over it.
    ///
    /// A name that no preset has is a name of one's own.
    pub fn from_changes(changes: &Value) -> Result<Self, PolicyError> {
        let name = changes.get("name").and_then(Value::as_str);
        let base = name.and_then(|name| Self::preset(name).ok());
        base.unwrap_or_else(Self::tribunal).changed(changes)
    }

    /// Returns the policy with `changes`, an object with some of its keys, laid over it.
    pub fn changed(&self, changes: &Value) -> Result<Self, PolicyError> {
        let mut whole = serde_json::to_value(self)?;
        lay_over(&mut whole, changes);
        check_ranges(&whole, "")?;
        Ok(serde_json::from_value(whole)?)
    }

    /// Returns its name, with a word about it when its numbers are not those of the preset.
    #[must_use]
    pub fn title(&self) -> String {
        match Self::preset(&self.name) {
            Ok(preset) if preset != *self => format!("{} with changed numbers", self.name),
            Ok(_) | Err(_) => self.name.clone(),
        }
    }
}

/// Lays `changes` over `whole`: objects key by key, everything else as one.
fn lay_over(whole: &mut Value, changes: &Value) {
    match (whole, changes) {
        (Value::Object(whole), Value::Object(changes)) => {
            for (key, change) in changes {
                lay_over(whole.entry(key).or_insert(Value::Null), change);
            }
        }
        (whole, change) => *whole = change.clone(),
    }
}

/// Looks at every number, so that no sum of them can leave the scale on which it is counted.
fn check_ranges(value: &Value, key: &str) -> Result<(), PolicyError> {
    match value {
        Value::Object(entries) => entries.iter().try_for_each(|(name, value)| {
            let separator = if key.is_empty() { "" } else { "." };
            check_ranges(value, &format!("{key}{separator}{name}"))
        }),
        Value::Number(number) => {
            let (least, most) = range(key);
            let fits = number
                .as_i64()
                .is_some_and(|one| (least..=most).contains(&one));
            fits.then_some(()).ok_or_else(|| PolicyError::OutOfRange {
                key: key.to_owned(),
                given: number.to_string(),
                least,
                most,
            })
        }
        _ => Ok(()),
    }
}

/// Returns the least and the most that a number can be.
fn range(key: &str) -> (i64, i64) {
    match key {
        "agreement.voices" | "critical.families" | "appraisal.crowd" => (1, 1_000),
        "appraisal.trust_stated" | "appraisal.record" | "appraisal.crowding_most" => (0, 100),
        "matching.proximity"
        | "matching.text.most_common"
        | "rounds.substance_words"
        | "appraisal.brief_below"
        | "appraisal.terse_at"
        | "appraisal.verbose_at"
        | "appraisal.record_prior" => (0, 100_000),
        key if key.starts_with("matching.text.") => (-10_000, 10_000),
        // Points of confidence, and bounds of it.
        _ => (-100, 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(change: &Value) -> String {
        Policy::from_changes(change).map_or_else(|error| error.to_string(), |_| "taken".to_owned())
    }

    #[test]
    fn a_change_touches_only_the_keys_it_names() {
        let changed = Policy::arena()
            .changed(&json!({"agreement": {"most": 20}}))
            .expect("the key exists");
        let mut expected = Policy::arena();
        expected.agreement.most = 20;
        assert_eq!(changed, expected);
    }

    #[test]
    fn changes_are_laid_over_the_preset_they_name() {
        let title = |changes: Value| Policy::from_changes(&changes).map(|one| one.title());
        let table = [
            (json!({}), "tribunal"),
            (json!({"name": "arena"}), "arena"),
            (
                json!({"name": "arena", "rounds": {"floor": 30}}),
                "arena with changed numbers",
            ),
            (json!({"name": "ours", "rounds": {"floor": 30}}), "ours"),
        ];
        for (changes, expected) in table {
            assert_eq!(title(changes).expect("a policy"), expected);
        }
        let ours = Policy::from_changes(&json!({"name": "ours"})).expect("a policy");
        assert_eq!(ours.matching, Policy::tribunal().matching);
    }

    #[test]
    fn unknown_keys_and_presets_are_refused() {
        for change in [
            json!({"agrement": {}}),
            json!({"agreement": {"most": "x"}}),
            json!(3),
        ] {
            assert_ne!(refused(&change), "taken", "{change}");
        }
        assert!(Policy::preset("seed").is_err());
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused_by_name() {
        let table = [
            (
                json!({"agreement": {"closeness": 2_147_483_647}}),
                "`agreement.closeness` is 2147483647, and must be from -100 to 100",
            ),
            (
                json!({"unique": {"strong": 101}}),
                "`unique.strong` is 101, and must be from -100 to 100",
            ),
            (
                json!({"agreement": {"voices": 0}}),
                "`agreement.voices` is 0, and must be from 1 to 1000",
            ),
            (
                json!({"appraisal": {"record": -1}}),
                "`appraisal.record` is -1, and must be from 0 to 100",
            ),
            (
                json!({"rounds": {"floor": 40.5}}),
                "`rounds.floor` is 40.5, and must be from -100 to 100",
            ),
        ];
        for (change, why) in table {
            assert_eq!(
                refused(&change),
                format!("the policy cannot be changed so: {why}")
            );
        }
    }

    #[test]
    fn the_presets_keep_within_the_ranges() {
        for preset in [Policy::arena(), Policy::tribunal()] {
            assert_eq!(preset.changed(&json!({})).expect("in range"), preset);
        }
    }
}
