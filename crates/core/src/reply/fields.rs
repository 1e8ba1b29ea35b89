//! Reading the fields of a JSON object under their several names.

use serde_json::{Map, Value};

use super::Problem;
use crate::scale::Confidence;

/// An object under inspection, and where it stands in the answer.
pub(super) struct Fields<'a> {
    pub(super) object: &'a Map<String, Value>,
    pub(super) at: String,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl<'a> Fields<'a> {
    /// Returns the first of `names` that is there and not null.
    pub(super) fn get(&self, names: &[&str]) -> Option<(String, &'a Value)> {
        let mut found = names.iter().filter_map(|name| {
            let value = self.object.get(*name)?;
            (!value.is_null()).then(|| (self.path(name), value))
        });
        found.next()
    }

    /// Returns the first of `names` as text; a value of another type is reported.
    pub(super) fn text(&mut self, names: &[&str]) -> String {
        self.exact_text(names).trim().to_owned()
    }

    /// Returns the same with the blanks around it: the name of a file may have some.
    pub(super) fn exact_text(&mut self, names: &[&str]) -> String {
        match self.get(names) {
            None => String::new(),
            Some((_, Value::String(text))) => text.clone(),
            Some((at, _)) => {
                self.report(at, "text was expected");
                String::new()
            }
        }
    }

    /// Returns the first of `names` as one of the words of a scale.
    pub(super) fn word<T, E: std::fmt::Display>(
        &mut self,
        names: &[&str],
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        let (at, value) = self.get(names)?;
        let Value::String(word) = value else {
            self.report(at, "a word was expected");
            return None;
        };
        match parse(word) {
            Ok(found) => Some(found),
            Err(error) => {
                self.report(at, &error.to_string());
                None
            }
        }
    }

    /// Returns the first of `names` as a whole number.
    pub(super) fn integer(&mut self, names: &[&str]) -> Option<i64> {
        let (at, value) = self.get(names)?;
        let number = whole(value);
        if number.is_none() {
            let shown = crate::text::truncate_chars(&value.to_string(), 40).into_owned();
            self.report(at, &format!("{shown} is no whole number"));
        }
        number
    }

    /// Returns the confidence, if it is on the scale.
    pub(super) fn confidence(&mut self, names: &[&str]) -> Option<Confidence> {
        let number = self.integer(names)?;
        let at = self.get(names).map_or(String::new(), |(at, _)| at);
        match Confidence::new(number) {
            Ok(confidence) => Some(confidence),
            Err(error) => {
                self.report(at, &error.to_string());
                None
            }
        }
    }

    /// Returns a line number, if it is one.
    pub(super) fn line(&mut self, names: &[&str]) -> Option<u32> {
        let number = self.integer(names)?;
        let at = self.get(names).map_or(String::new(), |(at, _)| at);
        match u32::try_from(number) {
            Ok(line @ 1..) => Some(line),
            _ => {
                self.report(at, &format!("{number} is no line number"));
                None
            }
        }
    }

    /// Adds a problem at a place of its own.
    pub(super) fn report(&mut self, at: String, what: &str) {
        self.problems.push(Problem {
            at,
            what: what.to_owned(),
        });
    }

    /// Returns where a field of this object stands.
    pub(super) fn path(&self, name: &str) -> String {
        if self.at.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.at)
        }
    }
}

/// Returns a JSON number that has no fraction. Text is no number.
fn whole(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let float = value.as_f64()?;
    if float.fract() != 0.0 || float.abs() > 1e15 {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range was checked above"
    )]
    Some(float as i64)
}

/// Returns a number from 0 to 1 as a confidence.
pub(super) fn share(value: &Value) -> Option<Confidence> {
    let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share))?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range was checked above"
    )]
    Confidence::new((share * 100.0).round() as i64).ok()
}
