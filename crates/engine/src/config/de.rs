//! Turns a located tree into typed settings; every complaint names the key and its place.

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::error::ConfigError;
use super::node::{Entry, Kind, Node};
use super::problem::{Problem, kind_in_words, listed};

/// Reads `T` from `node`.
pub(super) fn from_node<'de, T: Deserialize<'de>>(node: &'de Node) -> Result<T, ConfigError> {
    T::deserialize(NodeReader(node)).map_err(|problem| problem.into_error(&node.mark))
}

#[derive(Clone, Copy)]
struct NodeReader<'de>(&'de Node);

impl<'de> NodeReader<'de> {
    fn unfit(self, expected: &str) -> Problem {
        Problem::unfit(expected, kind_in_words(self.0)).at(&self.0.mark)
    }

    /// Returns the value as text: the text itself, or a number or word as it was written.
    fn as_text(self) -> Option<&'de str> {
        match &self.0.kind {
            Kind::Text(text) => Some(text),
            _ => self.0.written.as_deref(),
        }
    }
}

macro_rules! numbers {
    ($expected:literal: $($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            match &self.0.kind {
                Kind::Number(_) => self.deserialize_any(visitor),
                _ => Err(self.unfit($expected)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for NodeReader<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let result = match &self.0.kind {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(value) => visitor.visit_bool(*value),
            Kind::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Kind::Text(text) => visitor.visit_borrowed_str(text),
            Kind::List(items) => visitor.visit_seq(ListReader(items.iter())),
            Kind::Map(entries) => visitor.visit_map(MapReader::new(entries)),
        };
        result.map_err(|problem| problem.at(&self.0.mark))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.0.kind {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match &self.0.kind {
            Kind::Bool(value) => visitor.visit_bool(*value),
            _ => Err(self.unfit("`true` or `false`")),
        }
    }

    numbers!("a whole number":
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128);
    numbers!("a number": deserialize_f32 deserialize_f64);

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let text = self.as_text().ok_or_else(|| self.unfit("a text"))?;
        visitor
            .visit_borrowed_str(text)
            .map_err(|problem: Problem| problem.at(&self.0.mark))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_str(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match &self.0.kind {
            Kind::List(items) => visitor.visit_seq(ListReader(items.iter())),
            // A key with nothing but comments below it says nothing.
            Kind::Null => visitor.visit_seq(ListReader([].iter())),
            _ => Err(self.unfit("a list")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match &self.0.kind {
            Kind::Map(entries) => visitor.visit_map(MapReader::new(entries)),
            Kind::Null => visitor.visit_map(MapReader::new(&[])),
            _ => Err(self.unfit("a mapping")),
        }
        .map_err(|problem| problem.at(&self.0.mark))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let Some(text) = self.as_text() else {
            return Err(self.unfit(&format!("one of {}", listed(words))));
        };
        visitor
            .visit_enum(WordReader(one_of(text, words)))
            .map_err(|problem: Problem| problem.at(&self.0.mark))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// Returns the word of `words` that `text` is in another case, or else `text`.
fn one_of<'de>(text: &'de str, words: &'static [&'static str]) -> &'de str {
    let same = words.iter().find(|word| word.eq_ignore_ascii_case(text));
    same.copied().unwrap_or(text)
}

struct WordReader<'de>(&'de str);

impl<'de> EnumAccess<'de> for WordReader<'de> {
    type Error = Problem;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Problem> {
        let word = seed.deserialize(BorrowedStrDeserializer::<Problem>::new(self.0))?;
        Ok((word, self))
    }
}

impl<'de> VariantAccess<'de> for WordReader<'de> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, Problem> {
        Err(de::Error::custom("this word takes no value"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Problem> {
        Err(de::Error::custom("this word takes no value"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Problem> {
        Err(de::Error::custom("this word takes no value"))
    }
}

struct ListReader<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for ListReader<'de> {
    type Error = Problem;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Problem> {
        let Some(item) = self.0.next() else {
            return Ok(None);
        };
        let value = seed.deserialize(NodeReader(item)).map_err(|problem| {
            let problem = problem.at(&item.mark);
            // Agents are the one list whose items have names to speak of.
            match item.get("name").map(|name| &name.kind) {
                Some(Kind::Text(name)) => problem.under(name),
                _ => problem,
            }
        })?;
        Ok(Some(value))
    }
}

struct MapReader<'de> {
    entries: std::slice::Iter<'de, Entry>,
    current: Option<&'de Entry>,
}

impl<'de> MapReader<'de> {
    fn new(entries: &'de [Entry]) -> Self {
        Self {
            entries: entries.iter(),
            current: None,
        }
    }
}

impl<'de> MapAccess<'de> for MapReader<'de> {
    type Error = Problem;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Problem> {
        self.current = self.entries.next();
        let Some(entry) = self.current else {
            return Ok(None);
        };
        let key = seed
            .deserialize(StrDeserializer::<Problem>::new(&entry.key))
            .map_err(|problem| problem.at(&entry.mark))?;
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Problem> {
        let Some(entry) = self.current else {
            return Err(de::Error::custom("a value was read before its key"));
        };
        seed.deserialize(NodeReader(&entry.value))
            .map_err(|problem| problem.at(&entry.value.mark).under(&entry.key))
    }
}
