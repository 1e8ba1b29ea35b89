//! Stored texts that no event refers to any more.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::Duration;

use crate::files::LedgerDir;

/// A text is stored before the event that names it. After so long the event is there, or never will
/// be.
const NAMED_WITHIN: Duration = Duration::from_secs(60 * 60);

/// Returns the texts that are not among `needed`, with the room they take up.
pub(super) fn unneeded(
    dir: &LedgerDir,
    needed: &BTreeSet<String>,
) -> io::Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for entry in super::pack::list(&dir.root().join("blobs"))? {
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
            continue;
        };
        let is_text = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_text && !needed.contains(&name) && is_old(&entry.metadata()?) {
            found.push((name, super::room_of(&entry.path())));
        }
    }
    found.sort();
    Ok(found)
}

/// Removes a text unless somebody has stored it again meanwhile, and tells whether it did.
pub(super) fn remove(dir: &LedgerDir, hash: &str) -> io::Result<bool> {
    // Whoever stores a text that is there already says so under the same lock.
    let _lock = dir.lock_texts_alone()?;
    let path = dir.root().join("blobs").join(hash);
    match fs::metadata(&path) {
        Ok(data) if is_old(&data) => fs::remove_file(&path).map(|()| true),
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_old(data: &fs::Metadata) -> bool {
    let age = data
        .modified()
        .map(|stored| stored.elapsed().unwrap_or_default());
    age.is_ok_and(|age| age > NAMED_WITHIN)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_text_that_is_stored_again_is_not_removed() {
        let temp = tempfile::tempdir().expect("a folder");
        let dir = LedgerDir::create(temp.path().to_owned()).expect("a ledger");
        let hash = dir.put_blob(b"text").expect("stored");
        let path = temp.path().join("blobs").join(&hash);
        let age = |hours: u64| {
            let then = SystemTime::now() - Duration::from_secs(hours * 3_600);
            let file = fs::File::options().write(true).open(&path).expect("a file");
            file.set_modified(then).expect("its time");
        };
        assert_eq!(
            unneeded(&dir, &BTreeSet::new()).expect("a list"),
            [],
            "it is new"
        );
        age(2);
        assert_eq!(
            unneeded(&dir, &BTreeSet::from([hash.clone()])).expect("a list"),
            []
        );
        assert_eq!(unneeded(&dir, &BTreeSet::new()).expect("a list").len(), 1);
        dir.put_blob(b"text").expect("stored again");
        assert!(!remove(&dir, &hash).expect("asked"));
        age(2);
        assert!(remove(&dir, &hash).expect("asked"));
        assert!(!path.exists());
        assert!(!remove(&dir, &hash).expect("asked"));
    }
}
