//! Where the ledger of a project is: in the user's state directory, where neither `git clean` nor an
//! archive of the project reaches it.
//!
//! All working trees of a clone share one ledger. A pointer in the clone's git directory names it by a
//! random id, and the ledger's record (`identity.json`) names the clone. Only where both agree the
//! ledger is used, because an archive can bring any pointer along.

mod move_ledger;
mod old_ledger;
mod owner;
mod pointer;
mod record;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use self::old_ledger::OldLedger;
use self::owner::LedgerOwner;
use self::record::LedgerRecord;
use crate::files::{create_private_dir, open_private};

pub(crate) use self::move_ledger::name_of_places;
pub(crate) use self::record::RECORD_FILE;

/// The directory in the state directory that holds the ledgers.
const LEDGERS: &str = "ledgers";

/// What a command wants of the ledger's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacePurpose {
    /// It writes, so a missing place is made.
    Writing,
    /// It only reads, so a missing ledger stays missing.
    Reading,
}

/// The place of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerPlace {
    /// The ledger's directory.
    pub directory: PathBuf,
    /// What the user should know about it, one sentence or two each.
    pub notes: Vec<String>,
}

/// Why the place of a ledger cannot be determined.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// A file or directory does not let us use it.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A ledger that is to be moved is in use.
    #[error("another process, perhaps of an older version, uses the ledger {}", path.display())]
    InUse {
        /// The ledger's directory.
        path: PathBuf,
    },
    /// The record of a ledger cannot be understood.
    #[error("the record of the ledger {} is damaged", path.display())]
    DamagedRecord {
        /// The file.
        path: PathBuf,
    },
}

impl PlaceError {
    /// Returns a function that adds to an error of the system what was tried.
    fn of_file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }
}

/// The id of a ledger and to whom it belongs, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerIdentity {
    /// The id.
    pub id: String,
    /// The clone or directory.
    pub owner: String,
}

/// Returns what the record in the ledger's directory says, if there is one.
#[must_use]
pub fn ledger_identity(directory: &Path) -> Option<LedgerIdentity> {
    let record = LedgerRecord::read(directory).ok().flatten()?;
    Some(LedgerIdentity {
        owner: record.owner.shown(),
        id: record.id,
    })
}

/// Returns the directory with all ledgers of this user, if `ledger` is one of them.
pub(crate) fn all_ledgers(ledger: &Path) -> Option<&Path> {
    let parent = ledger.parent()?;
    let is_place = parent.file_name()? == LEDGERS && ledger.join(RECORD_FILE).exists();
    is_place.then_some(parent)
}

/// Returns the place of the ledger of `project`; nothing if there is none and `purpose` needs none.
///
/// A ledger in `.tribunal/ledger`, where it was until version 0.1.0, is moved to its place.
///
/// # Errors
///
/// A file cannot be read or written, or the ledger that is to be moved is in use.
pub fn find_ledger_place(
    state_dir: &Path,
    project: &Path,
    purpose: PlacePurpose,
) -> Result<Option<LedgerPlace>, PlaceError> {
    let search = PlaceSearch {
        ledgers: state_dir.join(LEDGERS),
        state_dir,
        owner: LedgerOwner::of(project),
        old: OldLedger::of(project),
        notes: Vec::new(),
    };
    if !search.old.may_exist() {
        if let Some(directory) = search.settled()? {
            let notes = Vec::new();
            return Ok(Some(LedgerPlace { directory, notes }));
        }
        let has_pointer = search.owner.pointer().is_some_and(|path| path.exists());
        if purpose == PlacePurpose::Reading && !has_pointer {
            return Ok(None);
        }
    }
    search.settle(purpose)
}

/// The search for one place.
struct PlaceSearch<'s> {
    state_dir: &'s Path,
    ledgers: PathBuf,
    owner: LedgerOwner,
    old: OldLedger,
    notes: Vec<String>,
}

/// What the pointer of a clone leads to.
enum Named {
    /// The ledger of this clone.
    Ours(LedgerRecord),
    /// Only ledgers of other clones.
    OfOthers(Vec<LedgerRecord>),
    /// Only ids that nobody here knows, or none.
    Unknown {
        /// How many ids there are.
        count: usize,
    },
}

impl PlaceSearch<'_> {
    /// Returns the place in the usual case: pointer and record agree, and nothing waits to be moved.
    fn settled(&self) -> Result<Option<PathBuf>, PlaceError> {
        let found = match self.named()? {
            Named::Ours(record) => Some(record),
            Named::OfOthers(_) => None,
            Named::Unknown { count: 0 } => self.by_path()?,
            Named::Unknown { .. } => None,
        };
        let found = found.filter(|record| record.moving_from.is_none());
        Ok(found.map(|record| self.directory(&record.id)))
    }

    /// Returns the place, after making, adopting or moving what needs it. One process does so at a
    /// time, so that two that come first at once end with the same ledger.
    fn settle(mut self, purpose: PlacePurpose) -> Result<Option<LedgerPlace>, PlaceError> {
        let _lock = self.lock()?;
        let movable = self.check_old()?;
        let record = match self.known()? {
            Some(record) => record,
            None if purpose == PlacePurpose::Reading && !movable && self.notes.is_empty() => {
                return Ok(None);
            }
            None => self.make()?,
        };
        let record = self.bring_old(record, movable)?;
        Ok(Some(LedgerPlace {
            directory: self.directory(&record.id),
            notes: self.notes,
        }))
    }

    fn lock(&self) -> Result<File, PlaceError> {
        let path = self.ledgers.join("places.lock");
        let doing = || PlaceError::of_file("lock", &path);
        create_private_dir(&self.ledgers).map_err(doing())?;
        let file = open_private(&path).map_err(doing())?;
        file.lock().map_err(doing())?;
        Ok(file)
    }

    fn directory(&self, id: &str) -> PathBuf {
        self.ledgers.join(id)
    }

    /// Follows the pointer of the clone.
    fn named(&self) -> Result<Named, PlaceError> {
        let ids = self.owner.pointer().map_or_else(Vec::new, pointer::read);
        let mut others = Vec::new();
        for id in &ids {
            match LedgerRecord::read(&self.directory(id))? {
                Some(record) if record.id != *id => {}
                Some(record) if record.is_of(&self.owner) => return Ok(Named::Ours(record)),
                Some(record) => others.push(record),
                None => {}
            }
        }
        match others.is_empty() {
            true => Ok(Named::Unknown { count: ids.len() }),
            false => Ok(Named::OfOthers(others)),
        }
    }

    /// Returns the ledger that is known by the path of its owner alone.
    fn by_path(&self) -> Result<Option<LedgerRecord>, PlaceError> {
        let record = LedgerRecord::read(&self.directory(&self.owner.id_by_path()))?;
        Ok(record.filter(|record| record.is_of(&self.owner)))
    }

    /// Returns the ledger of this project if it has one. A clone that was moved keeps its own.
    fn known(&mut self) -> Result<Option<LedgerRecord>, PlaceError> {
        let others = match self.named()? {
            Named::Ours(record) => return Ok(Some(record)),
            Named::OfOthers(others) => others,
            Named::Unknown { count } => {
                let found = self.by_path()?;
                if found.is_none() && count > 0 {
                    self.notes.push(
                        "This clone names a ledger that is not in your state directory, so it gets a new \
                         one. Restore a backup with `tribunal restore` if you have one."
                            .to_owned(),
                    );
                }
                return Ok(found);
            }
        };
        for mut record in others.iter().cloned() {
            if record.owner_is_gone() {
                let note = format!(
                    "This clone was moved here from {}. Its ledger stays with it.",
                    record.owner.shown()
                );
                record.owner = self.owner.clone().into();
                record.write(&self.directory(&record.id))?;
                self.notes.push(note);
                return Ok(Some(record));
            }
        }
        let found = self.by_path()?;
        if let (None, Some(other)) = (&found, others.first()) {
            self.notes.push(format!(
                "This clone names the ledger of another clone, {}. It gets a ledger of its own, and nothing \
                 of the other is used.",
                other.owner.shown()
            ));
        }
        Ok(found)
    }

    /// Makes a place and lets the clone point to it. Where the clone cannot be written, the place is
    /// known by the clone's path.
    fn make(&mut self) -> Result<LedgerRecord, PlaceError> {
        self.notes.extend(self.owner.note());
        self.note_earlier()?;
        if let Some(pointer) = self.owner.pointer() {
            let record = LedgerRecord::new(&self.owner, uuid::Uuid::new_v4().simple().to_string());
            let directory = self.directory(&record.id);
            self.furnish(&record)?;
            tribunal_store::crashpoint!("place.pointer.before");
            let is_foreign = |id: &String| self.directory(id).exists();
            let mut ids = pointer::read(pointer);
            ids.retain(|id| !is_foreign(id));
            ids.insert(0, record.id.clone());
            if pointer::write(pointer, &ids).is_ok() {
                tribunal_store::crashpoint!("place.pointer.after");
                return Ok(record);
            }
            let doing = PlaceError::of_file("remove", &directory);
            std::fs::remove_dir_all(&directory).map_err(doing)?;
        }
        let record = LedgerRecord::new(&self.owner, self.owner.id_by_path());
        self.furnish(&record)?;
        Ok(record)
    }

    /// Says so if the project had a ledger before it was in a repository.
    fn note_earlier(&mut self) -> Result<(), PlaceError> {
        let earlier = self.owner.without_repository();
        let directory = self.directory(&earlier.id_by_path());
        let record = LedgerRecord::read(&directory)?;
        if record.is_some_and(|record| record.is_of(&earlier)) {
            let shown = directory.display();
            self.notes.push(format!(
                "This directory had a ledger before it was in a repository. The repository gets a new one; look \
                 at the other with `tribunal --ledger {shown} log`."
            ));
        }
        Ok(())
    }

    fn furnish(&self, record: &LedgerRecord) -> Result<(), PlaceError> {
        let directory = self.directory(&record.id);
        create_private_dir(&directory).map_err(PlaceError::of_file("make", &directory))?;
        record.write(&directory)
    }

    /// Tells whether a ledger in the project may be moved; says so if one is there that may not.
    fn check_old(&mut self) -> Result<bool, PlaceError> {
        match self.old.refusal(&self.owner)? {
            None => Ok(self.old.is_ledger()),
            Some(reason) => {
                self.notes.push(reason);
                Ok(false)
            }
        }
    }

    /// Moves the ledger of the project into its place, or goes on where that was interrupted.
    fn bring_old(
        &mut self,
        mut record: LedgerRecord,
        movable: bool,
    ) -> Result<LedgerRecord, PlaceError> {
        let place = self.directory(&record.id);
        if record.moving_from.is_none() && movable {
            if place.join("ledger.db").exists() {
                self.notes
                    .extend(self.old.note_beside(&mut record, &place)?);
                return Ok(record);
            }
            record.moving_from = Some(self.old.path().into());
            record.write(&place)?;
            tribunal_store::crashpoint!("place.move.begin");
        }
        let Some(from) = record.moving_from.as_ref().map(|from| from.to_path()) else {
            return Ok(record);
        };
        move_ledger::move_to_place(&from, &place, self.state_dir)?;
        record.moving_from = None;
        record.write(&place)?;
        tribunal_store::crashpoint!("place.move.end");
        self.notes.push(format!(
            "The ledger was moved from {} to {}, where all working trees of this clone use it.",
            from.display(),
            place.display()
        ));
        Ok(record)
    }
}
