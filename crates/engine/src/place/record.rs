//! What is recorded beside a ledger: its id and its owner.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::PlaceError;
use super::owner::LedgerOwner;
use super::pointer::is_id;
use crate::files::{Durability, write_private};

/// The name of the record in the ledger's directory.
pub(crate) const RECORD_FILE: &str = "identity.json";

/// The record of one ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LedgerRecord {
    version: u32,
    /// The name of the ledger's directory.
    pub(super) id: String,
    /// To whom the ledger belongs.
    pub(super) owner: RecordedOwner,
    /// The directory from which the ledger is being moved here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) moving_from: Option<RecordedPath>,
    /// Ledgers beside this one of which the user was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) told: Vec<RecordedPath>,
}

/// The owner as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedOwner {
    home: RecordedPath,
    folder: RecordedPath,
    /// Whether the owner is a clone that points to the ledger.
    is_clone: bool,
}

/// A path; as bytes if it is not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RecordedPath {
    /// The usual form.
    Text(String),
    /// The bytes of a path that is not UTF-8.
    Bytes(Vec<u8>),
}

impl LedgerRecord {
    /// Returns the record of a new ledger.
    pub(super) fn new(owner: &LedgerOwner, id: String) -> Self {
        let mut recorded = RecordedOwner::from(owner.clone());
        // What is found by its path has no use for a pointer, and anybody can compute its id.
        recorded.is_clone &= id != owner.id_by_path();
        Self {
            version: 1,
            id,
            owner: recorded,
            moving_from: None,
            told: Vec::new(),
        }
    }

    /// Reads the record in the ledger's directory, if there is one.
    pub(super) fn read(directory: &Path) -> Result<Option<Self>, PlaceError> {
        let path = directory.join(RECORD_FILE);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(PlaceError::of_file("read", &path)(error)),
        };
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(record) if record.version == 1 && is_id(&record.id) => Ok(Some(record)),
            Ok(_) | Err(_) => Err(PlaceError::DamagedRecord { path }),
        }
    }

    /// Writes the record so that it survives a power loss.
    pub(super) fn write(&self, directory: &Path) -> Result<(), PlaceError> {
        let path = directory.join(RECORD_FILE);
        let bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| PlaceError::of_file("write", &path)(error.into()))?;
        write_private(&path, &bytes, Durability::Machine)
            .map_err(PlaceError::of_file("write", &path))
    }

    /// Tells whether the ledger belongs to `owner`.
    pub(super) fn is_of(&self, owner: &LedgerOwner) -> bool {
        let place = |owner: &RecordedOwner| (owner.home.clone(), owner.folder.clone());
        place(&self.owner) == place(&owner.clone().into())
    }

    /// Tells whether the ledger belonged to a clone that is not there any more.
    pub(super) fn owner_is_gone(&self) -> bool {
        let found = std::fs::symlink_metadata(self.owner.home.to_path());
        let is_gone = found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        self.owner.is_clone && is_gone
    }
}

impl RecordedOwner {
    /// Returns the owner as people read it.
    pub(super) fn shown(&self) -> String {
        let home = self.home.to_path();
        // The root of the working tree says more than its `.git`.
        let shown = match home.file_name().is_some_and(|name| name == ".git") {
            true => home.parent().unwrap_or(&home),
            false => &home,
        };
        shown.display().to_string()
    }
}

impl From<LedgerOwner> for RecordedOwner {
    fn from(owner: LedgerOwner) -> Self {
        Self {
            is_clone: owner.pointer().is_some(),
            home: owner.home.as_path().into(),
            folder: owner.folder.as_path().into(),
        }
    }
}

impl RecordedPath {
    /// Returns the path.
    pub(super) fn to_path(&self) -> PathBuf {
        match self {
            Self::Text(text) => PathBuf::from(text),
            Self::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes.clone())),
        }
    }
}

impl From<&Path> for RecordedPath {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }
}
