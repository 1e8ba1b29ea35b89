//! What is wrong with a value, in words.

use std::fmt;

use serde::de::{self, Expected, Unexpected};
use tribunal_core::text::truncate_chars;

use super::error::ConfigError;
use super::node::{Kind, Mark, Node};

/// Returns `did you mean …` for the word of `known` that `given` is probably a slip of.
pub(super) fn did_you_mean<'k>(
    given: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<String> {
    let given = given.to_lowercase();
    let score = |word: &&str| strsim::damerau_levenshtein(&given, &word.to_lowercase());
    let nearest = known.into_iter().min_by_key(score)?;
    let slips = given.chars().count().max(nearest.chars().count()) / 3;
    let near = score(&nearest) <= slips.max(1)
        || (given.len() >= 4 && (nearest.starts_with(&given) || given.starts_with(nearest)));
    near.then(|| format!("did you mean `{nearest}`?"))
}

/// What is wrong with a value, until its place and path are known.
#[derive(Debug)]
pub(super) struct Problem {
    mark: Option<Mark>,
    /// Keys from the value outwards.
    path: Vec<String>,
    what: What,
    hint: Option<String>,
}

#[derive(Debug)]
enum What {
    /// The value must be something else: what, and what was found.
    Unfit { expected: String, found: String },
    /// A complaint that names its subject itself.
    Sentence(String),
}

impl Problem {
    fn new(what: What, hint: Option<String>) -> Self {
        Self {
            mark: None,
            path: Vec::new(),
            what,
            hint,
        }
    }

    pub(super) fn unfit(expected: &str, found: String) -> Self {
        let expected = expected.to_owned();
        Self::new(What::Unfit { expected, found }, None)
    }

    /// Notes the place, unless a more exact one is known.
    pub(super) fn at(mut self, mark: &Mark) -> Self {
        self.mark.get_or_insert_with(|| mark.clone());
        self
    }

    pub(super) fn under(mut self, key: &str) -> Self {
        self.path.push(key.to_owned());
        self
    }

    pub(super) fn into_error(mut self, fallback: &Mark) -> ConfigError {
        self.path.reverse();
        let path = self.path.join(".");
        let subject = if path.is_empty() {
            "the config".to_owned()
        } else {
            format!("`{path}`")
        };
        let message = match self.what {
            What::Unfit { expected, found } => format!("{subject} must be {expected}, not {found}"),
            What::Sentence(sentence) if path.is_empty() => sentence,
            What::Sentence(sentence) => format!("in `{path}`, {sentence}"),
        };
        self.mark
            .as_ref()
            .unwrap_or(fallback)
            .error(message, self.hint)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Unfit { expected, found } => write!(f, "must be {expected}, not {found}"),
            What::Sentence(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(What::Sentence(message.to_string()), None)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::unfit(&in_words(expected), found_in_words(&found))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::unfit(&in_words(expected), found_in_words(&found))
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        let expected = match known {
            [only] => format!("`{only}`"),
            _ => format!("one of {}", listed(known)),
        };
        let mut problem = Self::unfit(&expected, quoted(found));
        problem.hint = did_you_mean(found, known.iter().copied());
        problem
    }

    fn unknown_field(found: &str, known: &'static [&'static str]) -> Self {
        if is_secret_key(found) {
            let sentence =
                format!("there is no key `{found}`, because keys are never kept in config");
            let hint = "name the variable that holds it with `api_key_env`".to_owned();
            return Self::new(What::Sentence(sentence), Some(hint));
        }
        let guess =
            other_place(found, known).or_else(|| did_you_mean(found, known.iter().copied()));
        let hint = guess.unwrap_or_else(|| format!("known here: {}", listed(known)));
        let found = truncate_chars(found, 60);
        Self::new(
            What::Sentence(format!("there is no key `{found}`")),
            Some(hint),
        )
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(
            What::Sentence(format!("the key `{field}` is missing")),
            None,
        )
    }
}

/// Returns where a key belongs that other tools have at the top.
fn other_place(found: &str, known: &[&str]) -> Option<String> {
    (found == "provider" && known.contains(&"agents")).then(|| {
        "name the provider of each agent under `agents`, such as \
         `agents: [{name: developer, provider: openai_chat, model: gpt-4, role: coder}]`, and the arbiter's \
         with `arbiter.provider`"
            .to_owned()
    })
}

/// People try to put keys here; the answer must be better than a list of known keys.
fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace(['_', '-'], "");
    matches!(
        key.as_str(),
        "apikey" | "key" | "token" | "apitoken" | "secret" | "password"
    )
}

pub(super) fn listed(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

fn quoted(text: &str) -> String {
    let line = text.replace(['\n', '\r', '\t'], " ");
    format!("`{}`", truncate_chars(&line, 60))
}

/// Returns what a visitor expects in the words of our messages.
fn in_words(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    match expected.as_str() {
        "u32" => "a whole number from 0 to 4294967295".to_owned(),
        "u64" => "a whole number that is not negative".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a string" | "path string" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a mapping".to_owned(),
        _ => expected,
    }
}

fn found_in_words(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => quoted(text),
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(number) => format!("`{number}`"),
        Unexpected::Signed(number) => format!("`{number}`"),
        Unexpected::Float(number) => format!("`{number}`"),
        Unexpected::Unit | Unexpected::Option => "empty".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a mapping".to_owned(),
        other => other.to_string(),
    }
}

pub(super) fn kind_in_words(node: &Node) -> String {
    match &node.kind {
        Kind::Null => "empty".to_owned(),
        Kind::Bool(value) => format!("`{value}`"),
        Kind::Number(number) => format!("`{number}`"),
        Kind::Text(text) => quoted(text),
        Kind::List(_) => "a list".to_owned(),
        Kind::Map(_) => "a mapping".to_owned(),
    }
}
