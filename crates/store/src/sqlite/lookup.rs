//! What a person calls something by: its id, or the beginning or end of it.

use sqlx::SqliteConnection;

use super::from_column;
use crate::StoreError;

/// Where something is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Table {
    Cases,
    Tasks,
    Disputes,
}

/// What a text may mean.
pub(super) enum Meant {
    /// The one with this id.
    One(String),
    /// One of so many.
    Several(u64),
    /// Nothing.
    Nothing,
}

/// The statements for one table: the exact id, which an index finds, and a part of it.
macro_rules! statements {
    ($table:literal) => {
        (
            concat!("SELECT id FROM ", $table, " WHERE id = $1"),
            concat!(
                "SELECT MIN(id), COUNT(*) FROM ",
                $table,
                " WHERE $1 <> ''
                    AND (substr(id, 1, length($1)) = $1
                         OR substr(id, 3, length($1)) = $1
                         OR substr(id, -length($1)) = $1)"
            ),
        )
    };
}

/// Returns what `text` means: the one with exactly this id, or the only one whose id starts or ends
/// with it.
pub(super) async fn look_up(
    conn: &mut SqliteConnection,
    table: Table,
    text: &str,
) -> Result<Meant, StoreError> {
    let (exact, part) = match table {
        Table::Cases => statements!("cases"),
        Table::Tasks => statements!("tasks"),
        Table::Disputes => statements!("disputes"),
    };
    let wanted = text.trim().to_ascii_lowercase();
    // As people copy it out of a sentence.
    let wanted = wanted.trim_end_matches(['.', '…', '-']);
    let found: Option<(String,)> = sqlx::query_as(exact)
        .bind(wanted)
        .fetch_optional(&mut *conn)
        .await?;
    if let Some((id,)) = found {
        return Ok(Meant::One(id));
    }
    let (id, fits): (Option<String>, i64) =
        sqlx::query_as(part).bind(wanted).fetch_one(conn).await?;
    Ok(match (id, fits) {
        (Some(id), 1) => Meant::One(id),
        (Some(_), fits) => Meant::Several(from_column("a count", fits)?),
        (None, _) => Meant::Nothing,
    })
}
