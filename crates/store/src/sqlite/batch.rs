//! Statements that go to SQLite together.
//!
//! It runs in a thread of its own, and going there and back costs more than most statements.

use futures_util::TryStreamExt as _;
use sqlx::sqlite::{Sqlite, SqliteArguments};
use sqlx::{Arguments as _, AssertSqlSafe, Either, Encode, Executor as _, SqliteConnection, Type};

use crate::StoreError;

/// How many statements go together at most: each is prepared from a copy of all that follow it.
const TOGETHER: usize = 32;

/// How many parameters statements may have that are kept prepared. Longer ones come of many events at
/// once, hardly ever in the same way again, and take much room.
const KEPT: usize = 128;

/// Statements to be executed in order, until one fails or is refused.
#[derive(Default)]
pub(super) struct Batch {
    parts: Vec<Part>,
}

/// Statements that go together.
#[derive(Default)]
struct Part {
    sql: String,
    arguments: SqliteArguments,
    /// One for each statement.
    refusals: Vec<Option<Refusal>>,
    /// The first value that cannot be bound.
    unfit: Option<sqlx::Error>,
}

/// What it means that a statement changed nothing.
pub(super) enum Refusal {
    /// Always the same.
    Plain(StoreError),
    /// It depends on whether a question has an answer.
    Depends {
        /// The question, with `$1` and so on for its keys.
        sql: &'static str,
        keys: Vec<String>,
        found: StoreError,
        missing: StoreError,
    },
}

impl Batch {
    /// Adds a statement, whose parameters are `$1` and so on.
    pub(super) fn add(&mut self, sql: &str) -> Statement<'_> {
        let part = match self.parts.pop_if(|part| part.refusals.len() < TOGETHER) {
            Some(part) => self.parts.push_mut(part),
            None => self.parts.push_mut(Part::default()),
        };
        renumber(sql, part.arguments.len(), &mut part.sql);
        part.sql.push(';');
        part.refusals.push(None);
        Statement { part }
    }

    /// Executes the statements. An error leaves it to the caller to undo those before.
    pub(super) async fn run(self, conn: &mut SqliteConnection) -> Result<(), StoreError> {
        for part in self.parts {
            part.run(conn).await?;
        }
        Ok(())
    }
}

impl Part {
    async fn run(self, conn: &mut SqliteConnection) -> Result<(), StoreError> {
        if let Some(error) = self.unfit {
            return Err(error.into());
        }
        let mut refusals = self.refusals.into_iter();
        // Whoever writes often writes the same kinds of events, and finds the text prepared.
        let kept = self.arguments.len() <= KEPT;
        let query = sqlx::query_with(AssertSqlSafe(self.sql), self.arguments).persistent(kept);
        let mut results = conn.fetch_many(query);
        let refused = loop {
            match results.try_next().await? {
                None => break None,
                Some(Either::Right(_)) => {}
                Some(Either::Left(done)) => match refusals.next().flatten() {
                    Some(refusal) if done.rows_affected() == 0 => break Some(refusal),
                    Some(_) | None => {}
                },
            }
        };
        drop(results);
        match refused {
            None => Ok(()),
            Some(refusal) => Err(refusal.explain(conn).await?),
        }
    }
}

/// The statement that was added last.
pub(super) struct Statement<'b> {
    part: &'b mut Part,
}

impl Statement<'_> {
    /// Gives the next parameter its value.
    pub(super) fn bind<'v>(self, value: impl Encode<'v, Sqlite> + Type<Sqlite>) -> Self {
        if let Err(error) = self.part.arguments.add(value) {
            self.part.unfit.get_or_insert(sqlx::Error::Encode(error));
        }
        self
    }

    /// Refuses the whole write when the statement changes nothing.
    pub(super) fn unless_changed(self, refusal: Refusal) {
        if let Some(last) = self.part.refusals.last_mut() {
            *last = Some(refusal);
        }
    }
}

impl Refusal {
    async fn explain(self, conn: &mut SqliteConnection) -> Result<StoreError, StoreError> {
        match self {
            Self::Plain(error) => Ok(error),
            Self::Depends {
                sql,
                keys,
                found,
                missing,
            } => {
                let query = keys
                    .into_iter()
                    .fold(sqlx::query(sql), |query, key| query.bind(key));
                let row = query.fetch_optional(conn).await?;
                Ok(row.map_or(missing, |_| found))
            }
        }
    }
}

/// Appends `sql` to `target` with the numbers of its parameters raised by `offset`.
fn renumber(sql: &str, offset: usize, target: &mut String) {
    let mut parts = sql.split('$');
    target.push_str(parts.next().unwrap_or_default());
    for part in parts {
        target.push('$');
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        match number.parse::<usize>() {
            Ok(number) => target.push_str(&(number + offset).to_string()),
            // Something else, such as a path in JSON.
            Err(_) => target.push_str(number),
        }
        target.push_str(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_through() {
        let mut text = String::new();
        renumber(
            "UPDATE t SET a = $2 WHERE b = $12 AND c ->> '$.d' = $1",
            7,
            &mut text,
        );
        assert_eq!(
            text,
            "UPDATE t SET a = $9 WHERE b = $19 AND c ->> '$.d' = $8"
        );
    }
}
