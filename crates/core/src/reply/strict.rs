//! JSON in which a key that stands twice is noticed.
//!
//! Of two different values under one key neither is the answer: the last one would be as good a
//! guess as the first. Both go, null stays in their place, and where it was is told.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::Problem;
use crate::text::truncate_chars;

/// A text with more such keys is no answer.
const MOST_DOUBLED: usize = 64;

/// A JSON value, and where in it one key had several values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Strict {
    pub(crate) value: Value,
    /// Paths such as `findings[2].severity`.
    pub(crate) doubled: BTreeSet<String>,
}

impl Strict {
    /// Reads the one value that `text` holds.
    pub(crate) fn read(text: &str) -> Result<Self, serde_json::Error> {
        let notes = Notes::default();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = Reader(&notes).deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(Self {
            value,
            doubled: notes.doubled.into_inner(),
        })
    }

    /// Returns one problem for each key with several values.
    pub(crate) fn problems(&self) -> impl Iterator<Item = Problem> {
        self.doubled.iter().map(|at| Problem {
            at: at.clone(),
            what: "the key stands there twice with different values; neither is counted".to_owned(),
        })
    }
}

/// Where the reader is, and what it noticed.
#[derive(Default)]
struct Notes {
    path: RefCell<Vec<Part>>,
    doubled: RefCell<BTreeSet<String>>,
}

enum Part {
    Key(String),
    Index(usize),
}

impl Notes {
    /// Writes down the present place, unless there are too many.
    fn note<E: de::Error>(&self) -> Result<(), E> {
        let mut at = String::new();
        for part in self.path.borrow().iter() {
            match part {
                Part::Key(key) => {
                    let dot = if at.is_empty() { "" } else { "." };
                    at.extend([dot, &truncate_chars(key, 40)]);
                }
                Part::Index(index) => at.push_str(&format!("[{index}]")),
            }
        }
        let mut doubled = self.doubled.borrow_mut();
        doubled.insert(at);
        if doubled.len() > MOST_DOUBLED {
            return Err(E::custom("too many keys stand there twice"));
        }
        Ok(())
    }
}

struct Reader<'a>(&'a Notes);

impl Reader<'_> {
    fn enter(&self, part: Part) -> Self {
        self.0.path.borrow_mut().push(part);
        Self(self.0)
    }

    fn leave(&self) {
        self.0.path.borrow_mut().pop();
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.enter(Part::Index(list.len())))? {
            list.push(item);
            self.leave();
        }
        self.leave();
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self.enter(Part::Key(key.clone())))?;
            match object.get(&key) {
                Some(known) if *known != value => {
                    self.0.note()?;
                    object.insert(key, Value::Null);
                }
                Some(_) => {}
                None => {
                    object.insert(key, value);
                }
            }
            self.leave();
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_read_as_it_stands() {
        for text in [
            "null",
            "[1, -2, 3.5, true, \"a\\u00e4\", {}]",
            r#"{"a": [{"b": 1}, {"b": 2}], "c": 18446744073709551615}"#,
        ] {
            let strict = Strict::read(text).expect("it is JSON");
            assert_eq!(
                strict.value,
                serde_json::from_str::<Value>(text).expect("it is JSON"),
            );
            assert_eq!(strict.doubled, BTreeSet::new());
        }
        for text in ["", "{", "[1] 2", "{\"a\": 1,}", "NaN"] {
            assert!(Strict::read(text).is_err(), "{text}");
        }
        assert!(Strict::read(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn of_two_values_neither_stays() {
        let text = r#"{"a": 1, "l": [{}, {"s": "low", "t": 1, "s": "high", "s": "low"}], "a": 1}"#;
        let strict = Strict::read(text).expect("it is JSON");
        let expected = r#"{"a": 1, "l": [{}, {"s": null, "t": 1}]}"#;
        let expected: Value = serde_json::from_str(expected).expect("it is JSON");
        assert_eq!(strict.value, expected);
        assert_eq!(strict.doubled, BTreeSet::from(["l[1].s".to_owned()]));
    }

    #[test]
    fn too_many_double_keys_are_no_answer() {
        let twice = |n: usize| format!("\"k{n}\": 1, \"k{n}\": 2");
        let text = |keys: usize| {
            let keys: Vec<String> = (0..keys).map(twice).collect();
            format!("{{{}}}", keys.join(", "))
        };
        assert!(Strict::read(&text(MOST_DOUBLED)).is_ok());
        assert!(Strict::read(&text(MOST_DOUBLED + 1)).is_err());
    }
}
