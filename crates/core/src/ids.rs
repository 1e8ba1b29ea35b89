//! Names of things: cases, runs, agents, and the keys of steps and effects.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a text is not a valid name or identity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{given:?} is not a valid {what}: {rule}")]
pub struct InvalidId {
    /// What the text was meant to be, such as `agent name`.
    pub what: &'static str,
    /// The text as given, shortened to a bounded length.
    pub given: String,
    /// The rule it breaks, as part of a sentence.
    pub rule: &'static str,
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:expr, $rule:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String")]
        pub struct $name(String);

        impl $name {
            /// Returns the text after checking it against the rule of this kind of name.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
                let text = text.into();
                let check: fn(&str) -> bool = $check;
                if check(&text) {
                    return Ok(Self(text));
                }
                let given = crate::text::truncate_chars(&text, 60).into_owned();
                Err(InvalidId { what: $what, given, rule: $rule })
            }

            /// Returns the text of the name.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }
    };
}

fn is_slug(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphanumeric())
        && text.len() <= 64
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.len() <= 200 && text.chars().all(|c| !c.is_control())
}

fn is_case_id(text: &str) -> bool {
    has_prefix_and_hex(text, "c-")
}

fn is_dispute_id(text: &str) -> bool {
    has_prefix_and_hex(text, "d-")
}

fn is_run_id(text: &str) -> bool {
    has_prefix_and_hex(text, "r-")
}

fn has_prefix_and_hex(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        (4..=32).contains(&rest.len())
            && rest
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

text_id!(
    /// The name of a configured agent, used in config, events and file names.
    AgentName, "agent name", is_slug,
    "it must start with a letter or digit and hold at most 64 letters, digits, `-`, `_`, `.`, `:`"
);
text_id!(
    /// Identity of a case: one stream of numbered events.
    CaseId, "case id", is_case_id, "it must look like `c-1a2b3c4d`"
);
text_id!(
    /// Identity of a dispute, which shares its figures with the case that records it.
    DisputeId, "dispute id", is_dispute_id, "it must look like `d-1a2b3c4d`"
);
text_id!(
    /// Identity of a run: one invocation of one agent.
    RunId, "run id", is_run_id, "it must look like `r-1a2b3c4d`"
);
text_id!(
    /// Key of a durable step, unique within its case.
    StepKey, "step key", is_key, "it must hold 1 to 200 characters, none of them a control character"
);
text_id!(
    /// Key of an effect outside the ledger, derived from what the action is.
    EffectKey, "effect key", is_key, "it must hold 1 to 200 characters, none of them a control character"
);

impl CaseId {
    /// Returns the case id made from 40 of the given random bits: short enough to be typed.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(format!("c-{:010x}", bits & 0xff_ffff_ffff))
    }
}

impl DisputeId {
    /// Returns the dispute that `case` records.
    #[must_use]
    pub fn of_case(case: &CaseId) -> Self {
        Self(case.0.replacen("c-", "d-", 1))
    }

    /// Returns the case that records the dispute.
    #[must_use]
    pub fn case(&self) -> CaseId {
        CaseId(self.0.replacen("d-", "c-", 1))
    }
}

impl RunId {
    /// Returns the run id made from the given random bits.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(format!("r-{bits:016x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_names_are_slugs() {
        for good in ["ann", "codex-reviewer", "builtin:security", "gpt-5.5"] {
            assert!(AgentName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "-ann", "../x", "a b", "a/b", "ann\n", &"x".repeat(65)] {
            assert!(AgentName::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn ids_print_and_parse_to_themselves() {
        let case = CaseId::from_bits(0xabc);
        assert_eq!(case.as_str().parse::<CaseId>(), Ok(case));
        assert!("c-../../etc".parse::<CaseId>().is_err());
        assert!("r-1234".parse::<CaseId>().is_err());
    }
}
