//! How far the story has been told: a small file beside the repository, and what the ledger knows.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tribunal_engine::files::write_shared;

use super::stage::Stage;
use crate::error::CliError;

/// How far the story has been told.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    /// How many scenes have come to their end.
    pub(super) done: usize,
    /// Whether the next one was begun, and which case was the newest before it.
    begun: Option<Before>,
}

/// What the ledger knew before a scene.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Before {
    newest: Option<String>,
}

/// What became of a scene that was begun and not ended.
pub(super) enum Begun {
    /// Its case can be resumed.
    Unfinished(String),
    /// Somebody has resumed its case since.
    Finished,
}

impl Progress {
    /// Reads the file; without one nothing was told yet.
    pub(super) fn read(stage: &Stage) -> Result<Self, CliError> {
        let file = stage.progress();
        match std::fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| stage.broken(&format!("read {}", file.display()), &error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(stage.broken(&format!("read {}", file.display()), &error)),
        }
    }

    /// Tells whether nothing was told yet.
    pub(super) fn is_new(&self) -> bool {
        self.done == 0 && self.begun.is_none()
    }

    /// Returns what became of a scene that was begun and not ended; nothing if there is none, or if
    /// it was stopped before it left a trace.
    pub(super) fn left_behind(&self, stage: &Stage) -> Result<Option<Begun>, CliError> {
        let Some(before) = &self.begun else {
            return Ok(None);
        };
        let cases = stage.cases()?;
        let newer = cases
            .iter()
            .take_while(|case| case["case"].as_str() != before.newest.as_deref());
        // A review opens further cases, such as disputes; what was typed is the oldest of them.
        let Some(case) = newer.last() else {
            return Ok(None);
        };
        let id = case["case"].as_str().unwrap_or_default().to_owned();
        Ok(Some(match case["state"]["state"].as_str() {
            Some("closed") => Begun::Finished,
            _ => Begun::Unfinished(id),
        }))
    }

    /// Takes note that the next scene begins.
    pub(super) fn begin(&mut self, stage: &Stage) -> Result<(), CliError> {
        if self.begun.is_none() {
            let newest = stage.cases()?.first().and_then(|case| text(&case["case"]));
            self.begun = Some(Before { newest });
        }
        self.write(stage)
    }

    /// Takes note that the scene has come to its end.
    pub(super) fn finish(&mut self, stage: &Stage) -> Result<(), CliError> {
        self.done += 1;
        self.begun = None;
        self.write(stage)
    }

    fn write(&self, stage: &Stage) -> Result<(), CliError> {
        let file = stage.progress();
        let failed = |error: &dyn std::error::Error| {
            stage.broken(&format!("write {}", file.display()), error)
        };
        let bytes = serde_json::to_vec(self).map_err(|error| failed(&error))?;
        write_shared(&file, &bytes).map_err(|error| failed(&error))
    }
}

fn text(value: &Value) -> Option<String> {
    Some(value.as_str()?.to_owned())
}
