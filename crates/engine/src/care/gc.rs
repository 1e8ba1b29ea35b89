//! `tribunal gc`: packs the files of cases that have ended, lets go what the policy allows, and removes
//! what was left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tribunal_core::event::EventKind;
use tribunal_core::ids::{CaseId, RunId};
use tribunal_core::retention::{CaseFate, CollectReason, RetentionPolicy, decide_fates};
use tribunal_store::{StoreError, crashpoint};

use super::branches::{self, FoundBranch, Offered};
use super::facts::{self, CaseFacts};
use super::leftovers::{self, Leftover, LeftoverKind};
use super::{Share, lock, pack, room_of, texts};
use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::change::{ChangeError, Repository};
use crate::worktree::remove_tree;

/// How long packing our clone of a large repository may take.
const REPACK_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Our clone is packed when it has so many loose objects, each of which takes up a block.
const MOST_LOOSE: usize = 100;

/// Whether anything is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcMode {
    /// It is only told what would be done.
    DryRun,
    /// It is done.
    Collect,
}

/// A case whose files went, or would go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CollectedCase {
    /// The case.
    pub case: CaseId,
    /// Why.
    pub why: CollectReason,
    /// The room they took up.
    pub bytes: u64,
}

/// What was collected, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CollectionReport {
    /// The room that the ledger took up before.
    pub bytes_before: u64,
    /// The room that it takes up now; of a dry run what is left for certain.
    pub bytes_after: u64,
    /// Cases whose files were packed.
    pub packed: Vec<CaseId>,
    /// Cases whose files went.
    pub collected: Vec<CollectedCase>,
    /// How many stored texts went that nothing refers to.
    pub texts: usize,
    /// What was left behind by killed processes, and branches that nobody needs.
    pub leftovers: Vec<Leftover>,
    /// Branches that stay although they have names of ours, with the reason.
    pub kept_branches: Vec<(String, String)>,
    /// Cases that somebody worked on, which were left alone.
    pub busy: Vec<CaseId>,
}

impl Engine {
    /// Collects what `policy` lets go, and what nobody needs.
    pub async fn collect_garbage(
        &self,
        policy: &RetentionPolicy,
        mode: GcMode,
    ) -> Result<CollectionReport, CaseError> {
        let root = self.dir.root().to_owned();
        let locking = tokio::task::spawn_blocking(move || lock(&root, Share::Alone));
        let locked = locking.await.map_err(io::Error::other);
        let _lock = locked
            .and_then(|lock| lock)
            .map_err(CaseError::file("take the lock of the ledger"))?;
        let store = self.ledger.store();
        let mut facts = facts::gather(store.as_ref(), &self.dir).await?;
        let mut report = CollectionReport {
            bytes_before: room_of(self.dir.root()),
            ..CollectionReport::default()
        };
        let holdings: Vec<_> = facts.values().map(|one| one.holding.clone()).collect();
        let of_cases: u64 = holdings.iter().map(|one| one.bytes).sum();
        let others = report.bytes_before.saturating_sub(of_cases);
        let fates = decide_fates(policy, store.now().await?, &holdings, others);
        for (case, fate) in &fates {
            // What is done is done; the next one goes on.
            if self.stop.is_asked() {
                report.bytes_after = room_of(self.dir.root());
                return Ok(report);
            }
            let Some(known) = facts.get_mut(case) else {
                continue;
            };
            match fate {
                CaseFate::Collect(why) => {
                    self.collect_case(known, *why, policy, mode, &mut report)
                        .await?;
                }
                CaseFate::Keep(_) => self.tidy_case(known, mode, &mut report).await?,
            }
        }
        self.collect_texts(&facts, mode, &mut report)?;
        self.collect_leftovers(&facts, mode, &mut report).await?;
        self.collect_branches(policy, &facts, mode, &mut report)
            .await?;
        if mode == GcMode::Collect {
            self.pack_clone().await?;
            report.bytes_after = room_of(self.dir.root());
        } else {
            let gone: u64 = report.collected.iter().map(|one| one.bytes).sum();
            report.bytes_after = report.bytes_before.saturating_sub(gone);
        }
        Ok(report)
    }

    /// Lets the files of a case go. The event comes first: what is missing afterwards is not lost but
    /// collected.
    async fn collect_case(
        &self,
        known: &mut CaseFacts,
        why: CollectReason,
        policy: &RetentionPolicy,
        mode: GcMode,
        report: &mut CollectionReport,
    ) -> Result<(), CaseError> {
        let has_files = known.holding.bytes > 0;
        if !has_files && !known.goes_on {
            known.collected_at = known.collected_at.or(Some(known.holding.last_at));
            return Ok(());
        }
        let id = known.holding.case.clone();
        if mode == GcMode::Collect {
            let Some(case) = self.tend(known).await? else {
                report.busy.push(id);
                return Ok(());
            };
            if known.goes_on {
                let event = EventKind::FilesCollected {
                    runs: u32::try_from(known.runs.len()).unwrap_or(u32::MAX),
                    bytes: known.holding.bytes,
                    why: reason(why, policy),
                };
                case.record([event]).await?;
            }
            crashpoint!("gc.collect.recorded");
            self.remove_files(&case, &known.loose).await?;
            remove_if_there(&pack::path_of(&self.dir, &id))
                .map_err(CaseError::file("remove a packed file"))?;
            case.release().await?;
        }
        known.collected_at = known.collected_at.or(Some(known.holding.last_at));
        known.goes_on = false;
        let bytes = known.holding.bytes;
        report.collected.push(CollectedCase {
            case: id,
            why,
            bytes,
        });
        Ok(())
    }

    /// Packs the files of a case that has ended, and removes those that were collected before.
    async fn tidy_case(
        &self,
        known: &CaseFacts,
        mode: GcMode,
        report: &mut CollectionReport,
    ) -> Result<(), CaseError> {
        let was_collected = known.collected_at.is_some() && !known.goes_on;
        let is_due = known.has_ended && !known.loose.is_empty();
        let is_left = was_collected && known.holding.bytes > 0;
        if !is_due && !is_left {
            return Ok(());
        }
        let id = &known.holding.case;
        if mode == GcMode::DryRun {
            report.packed.push(id.clone());
            return Ok(());
        }
        let Some(case) = self.tend(known).await? else {
            report.busy.push(id.clone());
            return Ok(());
        };
        if is_left {
            self.remove_files(&case, &known.loose).await?;
            remove_if_there(&pack::path_of(&self.dir, id))
                .map_err(CaseError::file("remove a packed file"))?;
            return case.release().await;
        }
        let (dir, of_case, runs) = (self.dir.clone(), id.clone(), known.loose.clone());
        let packing = tokio::task::spawn_blocking(move || pack::write_pack(&dir, &of_case, &runs));
        let packed = packing.await.map_err(io::Error::other);
        let packed = packed
            .and_then(|packed| packed)
            .map_err(CaseError::file(format!("pack the files of case {id}")))?;
        crashpoint!("gc.pack.written");
        if packed {
            self.remove_files(&case, &known.loose).await?;
            report.packed.push(id.clone());
        }
        case.release().await
    }

    /// Returns the case in our hands, if nobody works on it and nothing has happened in it since it was
    /// looked at.
    async fn tend(&self, known: &CaseFacts) -> Result<Option<Case>, CaseError> {
        let id = known.holding.case.clone();
        let (ledger, holder) = (self.ledger.clone(), Arc::clone(&self.holder));
        let case = match Case::tend(ledger, holder, id.clone(), self.stop.clone()).await {
            Ok(case) => case,
            Err(CaseError::Store(StoreError::Busy { .. })) => return Ok(None),
            Err(error) => return Err(error),
        };
        let store = self.ledger.store();
        let events = store.events(&id, known.last_seq, 1).await?;
        if events.is_empty() {
            return Ok(Some(case));
        }
        case.release().await?;
        Ok(None)
    }

    /// Removes the directories of runs, as long as the case is ours.
    async fn remove_files(&self, case: &Case, runs: &[RunId]) -> Result<(), CaseError> {
        for run in runs {
            // Whoever took it over meanwhile needs its files.
            if case.is_taken_over().await {
                let case = case.id().clone();
                return Err(StoreError::LeaseLost { case }.into());
            }
            remove_tree(&self.dir.run(run))
                .map_err(CaseError::file(format!("remove the files of run {run}")))?;
            crashpoint!("gc.remove.run");
        }
        Ok(())
    }

    /// Removes texts that only collected cases refer to, but for those on which outcomes rest.
    fn collect_texts(
        &self,
        facts: &BTreeMap<CaseId, CaseFacts>,
        mode: GcMode,
        report: &mut CollectionReport,
    ) -> Result<(), CaseError> {
        let failed = || CaseError::file("remove stored texts that nothing refers to");
        let mut needed: BTreeSet<String> = BTreeSet::new();
        for known in facts.values() {
            let is_collected = known.collected_at.is_some() && !known.goes_on;
            needed.extend(match is_collected {
                true => known.outcome.iter().cloned(),
                false => known.texts.iter().cloned(),
            });
        }
        for (hash, _) in texts::unneeded(&self.dir, &needed).map_err(failed())? {
            let gone = match mode {
                GcMode::DryRun => true,
                GcMode::Collect => texts::remove(&self.dir, &hash).map_err(failed())?,
            };
            report.texts += usize::from(gone);
        }
        Ok(())
    }

    async fn collect_leftovers(
        &self,
        facts: &BTreeMap<CaseId, CaseFacts>,
        mode: GcMode,
        report: &mut CollectionReport,
    ) -> Result<(), CaseError> {
        let runs = facts.values().flat_map(|known| &known.runs);
        let runs: BTreeSet<String> = runs.map(ToString::to_string).collect();
        let cases: BTreeSet<String> = facts.keys().map(ToString::to_string).collect();
        let project = self.disputes.project.as_deref();
        for (leftover, path) in leftovers::find(&self.dir, project, &runs, &cases) {
            if mode == GcMode::Collect {
                let doing = format!("remove {}", path.display());
                let is_folder = fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir());
                let removed = match is_folder {
                    true => remove_tree(&path),
                    false => remove_if_there(&path),
                };
                removed.map_err(CaseError::file(doing))?;
            }
            report.leftovers.push(leftover);
        }
        let records = self.ledger.store().recent_cases(u32::MAX).await?;
        let ownerless = crate::doctor::ownerless_places(&self.dir, &records);
        let places = leftovers::places_of(&self.dir, &ownerless);
        report.leftovers.extend(places);
        match mode {
            GcMode::Collect => self.sweep_places().await,
            GcMode::DryRun => Ok(()),
        }
    }

    /// Removes branches on which work was offered that was merged, or whose case is old.
    async fn collect_branches(
        &self,
        policy: &RetentionPolicy,
        facts: &BTreeMap<CaseId, CaseFacts>,
        mode: GcMode,
        report: &mut CollectionReport,
    ) -> Result<(), CaseError> {
        let Some(repo) = self.repository_of_project().await else {
            return Ok(());
        };
        let mut offered: BTreeMap<String, Vec<&Offered>> = BTreeMap::new();
        for one in facts.values().flat_map(|known| &known.offered) {
            offered.entry(one.branch.clone()).or_default().push(one);
        }
        let (place, work_branch) = (repo.clone(), self.disputes.branch.clone());
        let found = blocking(move || branches::find(&place, &work_branch)).await?;
        let now = self.ledger.store().now().await?;
        for branch in found {
            let owner = branches::owner_of(&branch, &offered);
            let Some((owner, known)) = owner.and_then(|one| Some((one, facts.get(&one.case)?)))
            else {
                let why = "it was moved, or the ledger does not know it".to_owned();
                report.kept_branches.push((branch.name, why));
                continue;
            };
            let is_old = policy
                .age_ms
                .is_some_and(|age| now.millis_since(known.holding.last_at) > age);
            let why = match (known.has_ended, &branch.merged_into) {
                (false, _) => Some("its case has not ended"),
                (true, Some(_)) => None,
                (true, None) if is_old && known.holding.hold.is_none() => None,
                (true, None) => Some("its work was not merged"),
            };
            if let Some(why) = why {
                report.kept_branches.push((branch.name, why.to_owned()));
                continue;
            }
            let kept = match mode {
                GcMode::DryRun => None,
                GcMode::Collect => self.remove_branch(&repo, &branch, &owner.case).await?,
            };
            match kept {
                Some(why) => report.kept_branches.push((branch.name, why)),
                None => report.leftovers.push(Leftover {
                    kind: LeftoverKind::MergedBranch,
                    place: branch.name,
                }),
            }
        }
        Ok(())
    }

    /// Removes a branch under the lease of its case, and returns why it stays if it does.
    async fn remove_branch(
        &self,
        repo: &Repository,
        branch: &FoundBranch,
        owner: &CaseId,
    ) -> Result<Option<String>, CaseError> {
        let (ledger, holder) = (self.ledger.clone(), Arc::clone(&self.holder));
        let case = match Case::tend(ledger, holder, owner.clone(), self.stop.clone()).await {
            Ok(case) => case,
            Err(CaseError::Store(StoreError::Busy { .. })) => {
                return Ok(Some("somebody works on its case".to_owned()));
            }
            Err(error) => return Err(error),
        };
        let removed = branches::remove(&case, repo, &branch.name, &branch.commit).await;
        case.release().await?;
        match removed {
            Err(CaseError::Change(error)) => Ok(Some(error.to_string())),
            removed => removed,
        }
    }

    async fn repository_of_project(&self) -> Option<Repository> {
        let project = self.disputes.project.clone()?;
        let clone = self.dir.clone_of_repository();
        let opened = blocking(move || Repository::open(&project, clone)).await;
        // Without git there are no branches of ours.
        opened.ok().filter(Repository::is_versioned)
    }

    /// Packs the loose objects of our clone. Nothing in it is dropped, reachable or not: commits that were reviewed
    /// have no names.
    async fn pack_clone(&self) -> Result<(), CaseError> {
        let clone = self.dir.clone_of_repository();
        if !clone.is_dir() || loose_objects(&clone) < MOST_LOOSE {
            return Ok(());
        }
        blocking(move || {
            let git = crate::change::git::Git::find()?;
            let args = ["repack", "-a", "-d", "-l", "-q", "--keep-unreachable"];
            match git.on(&clone).args(args).limit(REPACK_LIMIT).output() {
                // It takes up more room and is as good as before.
                Err(ChangeError::GitFailed { .. }) => Ok(()),
                packed => packed.map(|_| ()),
            }
        })
        .await
    }
}

/// Returns how many loose objects a git directory has, as far as it matters.
fn loose_objects(git_dir: &std::path::Path) -> usize {
    let folders = fs::read_dir(git_dir.join("objects")).into_iter().flatten();
    let folders = folders
        .flatten()
        .filter(|folder| folder.file_name().len() == 2);
    let objects = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
    objects.take(MOST_LOOSE).count()
}

fn remove_if_there(path: &std::path::Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns why files could go, as part of a sentence.
fn reason(why: CollectReason, policy: &RetentionPolicy) -> String {
    match why {
        CollectReason::Age => {
            let days = policy.age_ms.unwrap_or(0) / 86_400_000;
            format!("the case ended more than {days} days before")
        }
        CollectReason::Size => {
            let most = super::in_words(policy.size.unwrap_or(0));
            format!("the ledger took up more than {most}")
        }
    }
}
