//! A copy of the whole ledger as it stands at one moment.

use std::path::Path;

use super::site::{Patience, Site, is_busy};
use crate::{StoreError, private};

/// Writes the ledger into a new private file at `path`.
///
/// It is one read of one moment: nobody who writes waits for it, and the log of recent writes is part
/// of it, which a copy of the file alone would miss.
pub(super) async fn copy_to(site: &Site, path: &Path) -> Result<(), StoreError> {
    let unusable = |reason: String| StoreError::Unusable {
        doing: "copy",
        path: site.path.clone(),
        reason,
    };
    let name = path.to_str();
    let name = name.ok_or_else(|| unusable("the name of the copy is not UTF-8".to_owned()))?;
    // SQLite writes into an empty file, and takes its mode as it is.
    private::create_file(path).map_err(|error| StoreError::of_file("write", path, &error))?;
    // A connection of its own: what it reads must not wait for our writer.
    let mut conn = site.connect().await?;
    let mut patience = Patience::new(site.options.patience);
    loop {
        let copied = sqlx::query("VACUUM INTO $1").bind(name).execute(&mut conn);
        match copied.await {
            Ok(_) => return Ok(()),
            Err(error) if is_busy(&error) && patience.wait().await => {}
            Err(error) => return Err(site.explain("copy", error.into())),
        }
    }
}
