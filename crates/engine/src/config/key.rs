//! Names of settings: `review.on_dispute.default`, `agents.ann.model`.

use super::agent::AgentSettings;
use super::error::ConfigError;
use super::layers::snake_case;
use super::node::{Mark, Node, nested};
use crate::rules::builtin_ids;

/// The path to a setting, in the spelling of the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(Vec<String>);

impl Key {
    /// Reads a dotted key; the names in `agents` tell where the name of an agent with dots ends.
    pub fn parse<'a>(
        text: &str,
        agents: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ConfigError> {
        let malformed = || ConfigError::UnknownKey {
            key: text.to_owned(),
            hint: Some("a key looks like `review.on_dispute.default`".to_owned()),
        };
        if text.is_empty() || text.split('.').any(|part| part.trim().is_empty()) {
            return Err(malformed());
        }
        if let Some(rest) = text.strip_prefix("agents.") {
            let (name, field) = split_agent(rest, agents);
            let mut path = vec!["agents".to_owned(), name.to_owned()];
            let in_env = field.is_some_and(|field| field.starts_with("env."));
            for (depth, part) in field
                .into_iter()
                .flat_map(|field| field.split('.'))
                .enumerate()
            {
                // The names of variables are the user's own.
                let own = in_env && depth > 0;
                path.push(if own {
                    part.to_owned()
                } else {
                    snake_case(part)
                });
            }
            return Ok(Self(path).with_proper_names());
        }
        if let Some(rule) = text.strip_prefix("review.rules.") {
            // The ids of rules are kept as they are; some have dots.
            return Ok(Self::of_rule(rule));
        }
        Ok(Self(text.split('.').map(snake_case).collect()))
    }

    /// Reads the key that `TRIBUNAL_…` names; agents and rules are matched with `_` for any sign.
    pub(super) fn of_variable(variable: &str, agents: &[&str]) -> Self {
        let parts: Vec<&str> = variable.split("__").collect();
        let mut path: Vec<String> = parts.iter().map(|part| part.to_ascii_lowercase()).collect();
        if let [first, name, ..] = path.as_mut_slice()
            && first == "agents"
        {
            let same = |agent: &&&str| as_variable(agent) == *name;
            if let Some(agent) = agents.iter().find(same) {
                (*agent).clone_into(name);
            }
        }
        if let (["agents", _, "env", ..], Some(last)) = (&as_strs(&path)[..], parts.get(3)) {
            (*last).clone_into(&mut path[3]);
        }
        if let ["review", "rules", rule] = as_strs(&path)[..] {
            let known = builtin_ids();
            let same = |id: &&String| as_variable(id) == rule;
            return Self::of_rule(known.iter().find(same).map_or(rule, String::as_str));
        }
        Self(path).with_proper_names()
    }

    /// Returns the key of a rule's level.
    fn of_rule(id: &str) -> Self {
        Self(["review", "rules", id].map(str::to_owned).to_vec())
    }

    /// Returns the key without the other name of an agent's provider.
    fn with_proper_names(mut self) -> Self {
        if let [agents, _, key] = self.0.as_mut_slice()
            && agents == "agents"
            && key == "kind"
        {
            "provider".clone_into(key);
        }
        self
    }

    /// Returns the parts of the key.
    #[must_use]
    pub fn parts(&self) -> Vec<&str> {
        as_strs(&self.0)
    }

    /// Returns the tree that holds `value` at this key and nothing else.
    pub(super) fn tree(&self, value: Node, mark: &Mark) -> Node {
        nested(&self.0, value, mark)
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

fn as_strs(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// Returns the form that a name takes as part of a variable.
fn as_variable(name: &str) -> String {
    let sign = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    name.chars().map(sign).collect()
}

/// Splits `gpt-5.5.model` into the agent's name and the rest.
fn split_agent<'t, 'a>(
    text: &'t str,
    agents: impl IntoIterator<Item = &'a str>,
) -> (&'t str, Option<&'t str>) {
    let of_agent = |agent: &str| {
        let rest = text.strip_prefix(agent)?;
        (rest.is_empty() || rest.starts_with('.')).then_some(agent.len())
    };
    let known = agents.into_iter().filter_map(of_agent).max();
    // A new agent's name ends before the first word that is a key of agents.
    let by_field = || {
        let mut dots = text.match_indices('.').map(|(at, _)| at);
        let is_field = |at: &usize| {
            let field = text.get(at + 1..).unwrap_or_default();
            let first = field.split('.').next().unwrap_or_default();
            AgentSettings::KEYS.contains(&snake_case(first).as_str())
        };
        dots.clone().find(is_field).or_else(|| dots.next_back())
    };
    match known.or_else(by_field) {
        Some(end) => {
            let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
            (name, rest.strip_prefix('.'))
        }
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_split_at_dots_but_not_inside_the_names_of_agents() {
        for (text, parts) in [
            (
                "review.onDispute.default",
                vec!["review", "on_dispute", "default"],
            ),
            ("agents.gpt-5.5.model", vec!["agents", "gpt-5.5", "model"]),
            (
                "agents.new.one.maxOutputTokens",
                vec!["agents", "new.one", "max_output_tokens"],
            ),
            (
                "agents.ann.env.Some_VAR",
                vec!["agents", "ann", "env", "Some_VAR"],
            ),
            ("agents.ann", vec!["agents", "ann"]),
            (
                "review.rules.no-console.log",
                vec!["review", "rules", "no-console.log"],
            ),
            ("agents.ann.modle", vec!["agents", "ann", "modle"]),
        ] {
            let key = Key::parse(text, ["gpt-5.5", "ann"]).unwrap();
            assert_eq!(key.parts(), parts);
        }
        for bad in ["", ".", "review.", "a..b"] {
            assert!(Key::parse(bad, []).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn variables_name_keys_in_capitals() {
        let key = |name| Key::of_variable(name, &["codex-reviewer"]).to_string();
        assert_eq!(
            key("REVIEW__ON_DISPUTE__DEFAULT"),
            "review.on_dispute.default"
        );
        assert_eq!(
            key("AGENTS__CODEX_REVIEWER__MODEL"),
            "agents.codex-reviewer.model"
        );
        assert_eq!(
            key("REVIEW__RULES__PYTHON_EVAL"),
            "review.rules.python-eval"
        );
        assert_eq!(key("AGENTS__ANN__ENV__FooBar"), "agents.ann.env.FooBar");
    }
}
