//! Values written in two ways: command lines, and one thing or a list of them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A program with its leading arguments, written as one text or as a list. No shell is involved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine(Vec<String>);

/// What a command must look like, as part of a sentence.
const COMMAND_RULE: &str = "a program with arguments, as text or as a list of texts";

impl CommandLine {
    /// Returns the command line of `argv`; nothing when no program is named.
    #[must_use]
    pub fn new(argv: Vec<String>) -> Option<Self> {
        let named = argv.first().is_some_and(|program| !program.is_empty());
        // A NUL cannot be passed to a program.
        (named && !argv.iter().any(|word| word.contains('\0'))).then_some(Self(argv))
    }

    /// Splits `text` at spaces; quotes keep words together, nothing else is special.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        for c in text.chars() {
            match quote {
                Some(open) if c == open => quote = None,
                Some(_) => word.get_or_insert_default().push(c),
                None if c == '"' || c == '\'' => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                None if c.is_whitespace() => words.extend(word.take()),
                None => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        if quote.is_some() {
            return None;
        }
        Self::new(words)
    }

    /// Returns the program and its arguments; never empty.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        &self.0
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }
}

impl Serialize for CommandLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            // One plain word reads back as itself.
            [program]
                if !program.contains(['"', '\'']) && !program.contains(char::is_whitespace) =>
            {
                serializer.serialize_str(program)
            }
            argv => argv.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for CommandLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CommandVisitor;
        impl<'de> Visitor<'de> for CommandVisitor {
            type Value = CommandLine;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(COMMAND_RULE)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<CommandLine, E> {
                CommandLine::parse(text)
                    .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<CommandLine, A::Error> {
                let mut argv = Vec::new();
                while let Some(word) = list.next_element::<String>()? {
                    argv.push(word);
                }
                CommandLine::new(argv).ok_or_else(|| {
                    de::Error::invalid_value(Unexpected::Other("an empty one"), &self)
                })
            }
        }
        deserializer.deserialize_any(CommandVisitor)
    }
}

/// Deserializes one value or a list of them into a list, each at most once.
pub(super) fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + PartialEq,
{
    struct OneOrMany<T>(std::marker::PhantomData<T>);
    impl<'de, T: Deserialize<'de> + PartialEq> Visitor<'de> for OneOrMany<T> {
        type Value = Vec<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one value or a list of them")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<T>, E> {
            let one = de::value::StrDeserializer::new(text);
            T::deserialize(one).map(|value| vec![value])
        }
        fn visit_unit<E: de::Error>(self) -> Result<Vec<T>, E> {
            Ok(Vec::new())
        }
        fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut values = Vec::new();
            while let Some(value) = list.next_element()? {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            Ok(values)
        }
    }
    deserializer.deserialize_any(OneOrMany(std::marker::PhantomData))
}

impl JsonSchema for CommandLine {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "CommandLine".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "array"],
            "items": { "type": "string" },
            "minItems": 1
        })
    }
}

/// Returns the schema of one `T` or a list of them.
pub(super) fn one_or_many_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let one = generator.subschema_for::<T>();
    json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_at_spaces_outside_quotes() {
        let words = |text: &str| CommandLine::parse(text).map(|line| line.argv().to_vec());
        assert_eq!(words("claude"), Some(vec!["claude".to_owned()]));
        assert_eq!(
            words(r#"run 'a b' --x="1 2" $HOME"#),
            Some(
                ["run", "a b", "--x=1 2", "$HOME"]
                    .map(str::to_owned)
                    .to_vec()
            )
        );
        for bad in ["", "  ", "'open", "''"] {
            assert_eq!(words(bad), None, "{bad}");
        }
    }
}
