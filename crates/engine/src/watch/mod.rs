//! What of the user's repository changes while programs run.
//!
//! Programs run with the rights of the user, and only a sandbox keeps them from writing elsewhere. So
//! the repository is looked at before and after. Who changed something cannot be told: the user works
//! on meanwhile, and several agents run at once. Therefore every run is held to account during which
//! it happened. A change of what git would run or believe (settings, hooks, refs) spoils them; a
//! change of files or of the index, which is what users do all day, is told.

mod footprint;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use tokio::sync::Mutex;
use tribunal_agents::{AgentError, Reply};
use tribunal_core::agent::ErrorClass;
use tribunal_core::event::EventKind;
use tribunal_core::ids::RunId;

use crate::Engine;
use crate::case::{Case, CaseError};
use footprint::{Footprint, WatchedPlace};

/// Most places that are named.
const NAMED: usize = 20;

/// Looks after the user's repository while programs run.
pub(crate) struct TreeWatch {
    project: Option<PathBuf>,
    clone_dir: PathBuf,
    running: Arc<AtomicUsize>,
    state: Mutex<WatchState>,
    /// What was told since somebody asked last.
    told: std::sync::Mutex<BTreeSet<String>>,
}

#[derive(Default)]
struct WatchState {
    place: Option<Arc<WatchedPlace>>,
    /// The newest look, and when it began.
    last: Option<(Instant, Arc<Footprint>)>,
    /// What was noticed, in order.
    noticed: Vec<Disturbance>,
}

/// What changed between two looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Disturbance {
    /// Places whose change spoils a run.
    pub(crate) grave: BTreeSet<String>,
    /// Files of the user.
    pub(crate) files: BTreeSet<String>,
}

impl Disturbance {
    fn is_nothing(&self) -> bool {
        self.grave.is_empty() && self.files.is_empty()
    }
}

/// A run that is under way.
pub(crate) struct Attendance {
    /// How much was noticed before it began.
    from: usize,
    running: Arc<AtomicUsize>,
}

impl Drop for Attendance {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl TreeWatch {
    /// Looks after the repository around `project`; our own clones lie in `clone_dir`.
    pub(crate) fn new(project: Option<PathBuf>, clone_dir: PathBuf) -> Self {
        Self {
            project,
            clone_dir,
            running: Arc::default(),
            state: Mutex::default(),
            told: std::sync::Mutex::default(),
        }
    }

    /// Tells whether a directory is part of the project.
    pub(crate) fn is_around(&self, directory: &Path) -> bool {
        let project = self
            .project
            .as_ref()
            .and_then(|path| path.canonicalize().ok());
        let directory = directory.canonicalize().ok();
        let within = directory.zip(project);
        within.is_some_and(|(directory, project)| directory.starts_with(project))
    }

    /// Notes that a program is about to run. Those who begin while others run share their look.
    pub(crate) async fn begin(&self) -> Attendance {
        let mut state = self.state.lock().await;
        let others = self.running.fetch_add(1, Ordering::SeqCst);
        if others == 0 {
            // What happened while nobody ran is nobody's doing.
            self.look(&mut state).await;
        }
        Attendance {
            from: state.noticed.len(),
            running: Arc::clone(&self.running),
        }
    }

    /// Returns what changed while a run was under way. Runs that end together share a look.
    pub(crate) async fn end(&self, attendance: Attendance) -> Disturbance {
        let ended = Instant::now();
        let mut state = self.state.lock().await;
        let is_seen = |(at, _): &(Instant, Arc<Footprint>)| *at >= ended;
        if !state.last.as_ref().is_some_and(is_seen) {
            let before = state.last.as_ref().map(|(_, look)| Arc::clone(look));
            self.look(&mut state).await;
            let after = state.last.as_ref().map(|(_, look)| Arc::clone(look));
            if let (Some(before), Some(after), Some(place)) = (before, after, &state.place) {
                let noticed = before.changes(&after, place);
                if !noticed.is_nothing() {
                    state.noticed.push(noticed);
                }
            }
        }
        let mut all = Disturbance::default();
        for one in state.noticed.iter().skip(attendance.from) {
            all.grave.extend(one.grave.iter().cloned());
            all.files.extend(one.files.iter().cloned());
        }
        all
    }

    /// Returns what was put on record since this was asked last, one sentence each.
    pub(crate) fn take_told(&self) -> BTreeSet<String> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *told)
    }

    async fn look(&self, state: &mut WatchState) {
        let Some(project) = &self.project else {
            return;
        };
        if state.place.is_none() {
            let place = WatchedPlace::find(project, self.clone_dir.clone());
            state.place = place.map(Arc::new);
        }
        let Some(place) = state.place.clone() else {
            return;
        };
        let before = state.last.as_ref().map(|(_, look)| Arc::clone(look));
        let at = Instant::now();
        let look = move || Footprint::take(&place, before.as_deref());
        if let Ok(look) = tokio::task::spawn_blocking(look).await {
            state.last = Some((at, Arc::new(look)));
        }
    }
}

impl Engine {
    /// Puts on record what changed while a program ran, and takes away the answer of one during whose
    /// run something grave did.
    pub(crate) async fn hold_to_account(
        &self,
        case: &Case,
        run: &RunId,
        who: &str,
        attendance: Attendance,
        result: Result<Reply, AgentError>,
    ) -> Result<Result<Reply, AgentError>, CaseError> {
        let noticed = self.watch.end(attendance).await;
        self.note_disturbance(case, run, who, &noticed).await?;
        if noticed.grave.is_empty() {
            return Ok(result);
        }
        let (cost, usage) = match &result {
            Ok(reply) => (reply.cost, reply.usage),
            Err(error) => (error.cost, error.usage),
        };
        Ok(Err(AgentError {
            cost,
            usage,
            ..AgentError::new(ErrorClass::Tampered, spoiled(&noticed))
        }))
    }

    /// Puts on record what changed while a program ran.
    pub(crate) async fn note_disturbance(
        &self,
        case: &Case,
        run: &RunId,
        who: &str,
        noticed: &Disturbance,
    ) -> Result<(), CaseError> {
        for (places, spoils) in [(&noticed.grave, true), (&noticed.files, false)] {
            if places.is_empty() {
                continue;
            }
            let disturbed = EventKind::RepositoryDisturbed {
                run: run.clone(),
                who: who.to_owned(),
                places: places.iter().take(NAMED).cloned().collect(),
                more: u32::try_from(places.len().saturating_sub(NAMED)).unwrap_or(u32::MAX),
                spoils,
            };
            {
                let told = self.watch.told.lock();
                let mut told = told.unwrap_or_else(PoisonError::into_inner);
                told.extend(disturbed.disturbance());
            }
            case.record([disturbed]).await?;
        }
        Ok(())
    }

    /// Returns what the events of a case tell about the user's repository, one sentence each.
    pub(crate) async fn disturbances(&self, case: &Case) -> Result<Vec<String>, CaseError> {
        let store = self.ledger.store();
        let events = crate::task::all_events(store.as_ref(), case.id()).await?;
        let mut told: Vec<String> = events
            .iter()
            .filter_map(|event| event.kind.disturbance())
            .collect();
        told.dedup();
        told.extend(crate::loose_holds::loose_holds(&events));
        Ok(told)
    }
}

/// Says why an answer does not count.
pub(crate) fn spoiled(noticed: &Disturbance) -> String {
    let places: Vec<&str> = noticed.grave.iter().take(5).map(String::as_str).collect();
    format!(
        "`{}` of your repository changed while it ran, so its answer does not count",
        places.join("`, `")
    )
}
