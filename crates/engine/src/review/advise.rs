//! Phase 6 of the consensus: security findings are held against published advisories.
//!
//! What was looked up is a durable step, so that a resumed or replayed review sees the same answers
//! whatever was published since.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tribunal_code::advisory::Index;
use tribunal_core::consensus::Advisory;
use tribunal_core::finding::Finding;
use tribunal_core::ids::StepKey;

use super::ReviewRequest;
use crate::Engine;
use crate::advisories::{self, InUse};
use crate::case::{Case, CaseError, Then, blocking};
use crate::change::{self, Repository};
use crate::config::{AdvisorySettings, AdvisorySource};

/// First word of the step; the rest tells what was asked.
pub(crate) const STEP: &str = "advisories";

/// So many problems of lock files and records are told.
const MOST_PROBLEMS: usize = 5;

/// Where advisories are looked up, as the request keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shelf {
    /// A local export.
    Export(PathBuf),
    /// An OSV-compatible server.
    Server(String),
    /// What was looked up when the review was recorded.
    #[serde(skip)]
    Recorded(Option<Advice>),
}

impl Shelf {
    /// Returns where `settings` say that advisories are; nothing when they are not consulted.
    pub(super) fn of(settings: &AdvisorySettings) -> Option<Self> {
        match settings.source {
            AdvisorySource::Off => None,
            AdvisorySource::Directory => settings.path.clone().map(Self::Export),
            AdvisorySource::Server => settings.url.clone().map(Self::Server),
        }
    }
}

/// What came of looking things up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Advice {
    pub(crate) advisories: Vec<Advisory>,
    pub(crate) notes: Vec<String>,
}

impl Engine {
    /// Returns what advisories say about the security findings.
    pub(super) async fn advise(
        &self,
        case: &Case,
        repository: &Repository,
        request: &ReviewRequest,
        findings: &[Finding],
    ) -> Result<Advice, CaseError> {
        let Some(shelf) = &request.advisories else {
            return Ok(Advice::default());
        };
        if let Shelf::Recorded(recorded) = shelf {
            return Ok(recorded.clone().unwrap_or_default());
        }
        let security: Vec<Finding> = findings
            .iter()
            .filter(|one| advisories::is_security(one))
            .cloned()
            .collect();
        if security.is_empty() {
            return Ok(Advice::default());
        }
        // Other findings are another question.
        let asked = format!("{security:?}");
        let digest = blake3::hash(asked.as_bytes()).to_hex();
        let key = StepKey::new(format!("{STEP} {}", &digest.as_str()[..12]))?;
        let mut failure = String::new();
        let work = async {
            match self.look_up(repository, request, shelf, security).await? {
                Ok(advice) => Ok(Some(advice)),
                Err(why) => {
                    failure = why;
                    Ok(None)
                }
            }
        };
        let found = case.step_if_answered(&key, Then::GoOn, work).await?;
        Ok(found.unwrap_or_else(|| Advice {
            advisories: Vec::new(),
            notes: vec![format!("advisories could not be consulted: {failure}")],
        }))
    }

    async fn look_up(
        &self,
        repository: &Repository,
        request: &ReviewRequest,
        shelf: &Shelf,
        findings: Vec<Finding>,
    ) -> Result<Result<Advice, String>, CaseError> {
        let (repository, pinned) = (repository.clone(), request.pinned.clone());
        let locks = blocking(move || change::lock_files(&repository, &pinned)).await?;
        let files = locks
            .iter()
            .map(|lock| (lock.path.as_str(), lock.bytes.as_slice()));
        let in_use = InUse::of(files);
        let mut notes = in_use.problems.clone();
        let index = match shelf {
            Shelf::Recorded(_) => Ok((Index::default(), Vec::new())),
            Shelf::Export(path) => {
                let (path, packages) = (path.clone(), in_use.packages.clone());
                let shown = path.display().to_string();
                let read =
                    tokio::task::spawn_blocking(move || advisories::from_export(&path, &packages));
                match read.await {
                    Ok(read) => read.map_err(|error| format!("{shown}: {error}")),
                    Err(error) => Err(error.to_string()),
                }
            }
            Shelf::Server(url) => {
                let subjects = advisories::subjects_of(&findings, &in_use.packages);
                let asked = advisories::from_server(url, &subjects).await;
                asked.map_err(|error| error.message)
            }
        };
        let (index, problems) = match index {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        notes.extend(problems);
        if notes.len() > MOST_PROBLEMS {
            let more = notes.len() - MOST_PROBLEMS;
            notes.truncate(MOST_PROBLEMS);
            notes.push(format!(
                "{more} more problems with lock files or advisories"
            ));
        }
        Ok(Ok(Advice {
            advisories: advisories::consult(&findings, &index, &in_use.packages),
            notes,
        }))
    }
}
