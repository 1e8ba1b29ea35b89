//! `review`: a panel of reviewers on one change, from the change to the gate.
//!
//! Every question is a durable step, everything after the answers is a pure function of them and
//! of the recorded request: a resumed or replayed review comes to the same end.

mod advise;
mod arbitrate;
pub(crate) mod ask;
mod builtin;
mod cited_path;
mod conduct;
mod debate;
mod excerpt;
mod ground;
mod hear;
mod hidden_findings;
mod material;
mod moved;
mod panel;
mod receipt;
mod recorded_names;
mod report;
mod sit;
mod steer;
mod tool;
mod woken_findings;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tribunal_core::case::{CaseKind, CaseState, Outcome};
use tribunal_core::consensus::{Policy, Record};
use tribunal_core::finding::Label;
use tribunal_core::ids::{AgentName, CaseId};
use tribunal_core::review::coverage::Omission;
use tribunal_core::review::gate::Gate;
use tribunal_core::review::report::{ReviewReport, ReviewerState};
use tribunal_core::review::rule_level::RuleLevels;
use tribunal_core::scale::Severity;
use tribunal_store::{CaseRecord, StoreError};

use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::change::{
    self, Change, ChangeLimits, ChangeRequest, Pinned, Repository, withheld_from_reviewers,
};
use crate::config::{Rounds, Settings, Weighing};
use crate::export::Exported;
use crate::stats::statistics_of;
use crate::team_rulings::RulingsInForce;
use crate::worktree::remove_tree;
use advise::Shelf;
pub(crate) use advise::{Advice, STEP as ADVISORY_STEP};
use arbitrate::ArbitrationRequest;
pub use arbitrate::{ArbitrationWish, OfferWish, Prompting};
pub(crate) use arbitrate::{RecordedArbitration, grounds, reviewers_side};
use builtin::CountedMarkers;
use debate::JudgeSeat;
use moved::MovingSource;
pub use panel::Member;
pub(crate) use recorded_names::RecordedNames;
pub(crate) use report::claimed;
pub use steer::SettingsNote;
pub use tool::ToolSeat;
pub(crate) use tool::{RecordedEvidence, STEP as EVIDENCE_STEP};

/// What the user asked for.
#[derive(Debug, Clone)]
pub struct ReviewWish {
    /// Where the user stands.
    pub directory: PathBuf,
    /// What is to be reviewed.
    pub change: change::ChangeSource,
    /// The index in which the next commit lies, where git has named one to a hook.
    pub index: Option<PathBuf>,
    /// Paths that the review is restricted to.
    pub paths: Vec<String>,
    /// Names of the reviewers; all configured ones and the built-in ones when empty.
    pub reviewers: Vec<String>,
    /// Files with findings of other tools.
    pub with: Vec<PathBuf>,
    /// How far reviewers debate, when not as configured.
    pub rounds: Option<Rounds>,
    /// Debate all findings, not only what is contested; as configured when not said.
    pub debate_all: bool,
    /// Fail on findings of this severity and above, in place of obligations.
    pub fail_on: Option<Severity>,
    /// Count only findings that were not there before the change.
    pub new_only: bool,
    /// Put what is found to a coder and see it through.
    pub arbitrate: Option<ArbitrationWish>,
    /// What the panel is told besides the change; empty for nothing.
    pub guidance: String,
    /// The case on whose behalf it is done, if there is one.
    pub parent: Option<CaseId>,
    /// Reviewers of the config who may not be asked for lack of trust; they are missing from the
    /// panel unless others were named.
    pub unasked: Vec<AgentName>,
    /// Where the settings came from.
    pub settings: SettingsNote,
}

impl ReviewWish {
    /// Returns the wish for a review as the config says.
    #[must_use]
    pub fn of(directory: PathBuf) -> Self {
        Self {
            directory,
            change: change::ChangeSource::Default,
            index: None,
            paths: Vec::new(),
            reviewers: Vec::new(),
            with: Vec::new(),
            rounds: None,
            debate_all: false,
            fail_on: None,
            new_only: false,
            arbitrate: None,
            guidance: String::new(),
            parent: None,
            unasked: Vec::new(),
            settings: SettingsNote::default(),
        }
    }
}

/// Two commits, of which the second is reviewed.
#[derive(Debug, Clone)]
pub(crate) struct Commits<'a> {
    /// The change in one line.
    pub(crate) title: &'a str,
    /// The case on whose behalf it is done.
    pub(crate) parent: &'a CaseId,
    /// The commit before the change.
    pub(crate) base: &'a str,
    /// The commit after it.
    pub(crate) head: &'a str,
    /// What the panel is told besides; empty for nothing.
    pub(crate) guidance: &'a str,
    /// How what is found is put to a coder.
    pub(crate) arbitrate: Option<ArbitrationWish>,
}

/// A review as the ledger keeps it: all that decides its outcome, besides the answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReviewRequest {
    /// Where the user stood.
    directory: PathBuf,
    /// What is reviewed, by ids that do not change.
    pinned: Pinned,
    /// Random text from which the nonces of all questions are made.
    seed: String,
    members: Vec<Member>,
    /// The project's own rules.
    #[serde(default)]
    rules: Vec<String>,
    /// Rules whose level the settings change.
    #[serde(default, skip_serializing_if = "RuleLevels::is_empty")]
    rule_levels: RuleLevels,
    /// The team's rulings that count for it.
    #[serde(default, skip_serializing_if = "RulingsInForce::is_empty")]
    rulings: RulingsInForce,
    rounds: Rounds,
    /// Whether all findings are debated, not only what is contested.
    #[serde(default)]
    debate_all: bool,
    /// Who weighs the evidence about what stays contested.
    #[serde(default)]
    judges: Vec<JudgeSeat>,
    /// Where advisories are looked up; nowhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    advisories: Option<Shelf>,
    /// The numbers by which it is settled.
    policy: PinnedPolicy,
    /// What past rulings say about the reviewers, when that shall count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<Record>,
    part_chars: u32,
    mandatory: Vec<Label>,
    may_skip: Vec<Omission>,
    fail_on: Option<Severity>,
    new_only: bool,
    /// Where the files come from; earlier versions did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moving: Option<MovingSource>,
    /// The case on whose behalf it is done: the task whose work is reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<CaseId>,
    /// What the panel is told besides the change.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    guidance: String,
    /// What the reader should know about where the settings came from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What agents that look around are not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    withheld: Vec<String>,
    /// Whether comments and attributes that the change adds suppress nothing. Reviews of earlier
    /// versions were done without asking.
    #[serde(default)]
    refuse_new_suppressions: bool,
    /// Whether linters also run with their settings from before the change. Earlier versions let
    /// those of the change count.
    #[serde(default)]
    restores_linter_settings: bool,
    /// What is put to a coder, and how; nothing when findings are only reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arbitration: Option<ArbitrationRequest>,
    /// The branch by which findings are followed; empty without a repository, and nothing for a
    /// commit by itself, whose findings are neither fixed nor back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// Stands before the keys of questions about a coder's work; empty for the review itself.
    #[serde(skip)]
    phase: String,
    /// The files that were reviewed, where a coder's work on them is looked at.
    #[serde(skip)]
    reviewed: Option<String>,
    /// Why it does not speak of the user's files of now, where it goes on after a pause.
    #[serde(skip)]
    outdated: Option<String>,
    /// How findings were called, when a review is done again.
    #[serde(skip)]
    recorded: RecordedNames,
    /// What tools looked at when the review was recorded, where it is done again.
    #[serde(skip)]
    evidence: Option<RecordedEvidence>,
    /// The words of the command line that choose this change, for the advice in its report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    selector: Vec<String>,
}

impl ReviewRequest {
    /// Returns whose comments suppress findings of rules.
    fn markers(&self) -> CountedMarkers {
        match self.refuse_new_suppressions {
            true => CountedMarkers::Settled,
            false => CountedMarkers::All,
        }
    }
}

/// The policy of a review: all of its numbers, so that later versions come to the same end.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum PinnedPolicy {
    Whole(Box<Policy>),
    /// A preset by its name, as earlier versions recorded it.
    Named(String),
}

impl PinnedPolicy {
    fn policy(&self) -> Result<Policy, CaseError> {
        match self {
            Self::Whole(policy) => Ok(policy.as_ref().clone()),
            Self::Named(name) => {
                Policy::preset(name).map_err(|error| CaseError::Request(error.to_string()))
            }
        }
    }
}

/// What came of a review.
#[derive(Debug)]
pub struct Reviewed {
    /// The case in which it is recorded.
    pub case: CaseId,
    /// The report; nothing when the case waits.
    pub report: Option<ReviewReport>,
    /// Where the case stands.
    pub state: CaseState,
}

impl Engine {
    /// Reviews a change and returns what was found.
    pub async fn review(
        &self,
        settings: &Settings,
        wish: ReviewWish,
    ) -> Result<Reviewed, CaseError> {
        let mut members = panel::choose(self, settings, &wish.reviewers)?;
        members.extend(self.imports(&wish.with)?);
        if wish.reviewers.is_empty() {
            let unasked = wish.unasked.iter().cloned();
            members.extend(unasked.map(|name| Member::Unasked { name }));
        }
        let repository = self.repository(&wish.directory)?;
        let repository = match &wish.index {
            Some(index) => repository.with_index(index.clone()),
            None => repository,
        };
        let pinned = pin(&repository, settings, &wish).await?;
        let id = CaseId::from_bits(crate::random_bits());
        self.review_pinned(settings, wish, &repository, pinned, members, id)
            .await
    }

    /// Reviews what lies between two commits, as the case `id`; what was begun goes on.
    pub(crate) async fn review_commits(
        &self,
        settings: &Settings,
        id: CaseId,
        (repository, directory): (&Repository, &Path),
        commits: Commits<'_>,
    ) -> Result<Reviewed, CaseError> {
        match self.ledger.store().find_case(id.as_str()).await {
            Ok(record) => return self.review_again(record).await,
            Err(StoreError::NoSuchCase { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let wish = ReviewWish {
            guidance: commits.guidance.to_owned(),
            parent: Some(commits.parent.clone()),
            arbitrate: commits.arbitrate,
            ..ReviewWish::of(directory.to_owned())
        };
        let members = panel::choose(self, settings, &wish.reviewers)?;
        let settled = {
            let (repository, base) = (repository.clone(), commits.base.to_owned());
            blocking(move || change::settled(&repository, &base)).await?
        };
        let pinned = Pinned {
            title: commits.title.to_owned(),
            base: Some(commits.base.to_owned()),
            settled: Some(settled),
            head: Some(commits.head.to_owned()),
            whole_files: false,
            loose_patch: None,
            paths: Vec::new(),
            limits: limits(settings),
            ignore: settings.review.ignore.clone(),
            partly_left_out: Vec::new(),
            left_out: Vec::new(),
            empty: None,
            moved_is_new: false,
        };
        self.review_pinned(settings, wish, repository, pinned, members, id)
            .await
    }

    /// Returns what came of a review that has ended, or goes on with it.
    async fn review_again(&self, record: CaseRecord) -> Result<Reviewed, CaseError> {
        let ended = matches!(
            record.state,
            CaseState::Closed(Outcome::Completed | Outcome::Failed { .. })
        );
        if !ended {
            let case = self.take_over(&record.id).await?;
            return self.resume_review(case, record.request).await;
        }
        let exported = Exported::read(self.ledger.store().as_ref(), &self.dir, &record).await?;
        Ok(Reviewed {
            report: exported.review(&self.dir)?,
            case: record.id,
            state: record.state,
        })
    }

    async fn review_pinned(
        &self,
        settings: &Settings,
        wish: ReviewWish,
        repository: &Repository,
        pinned: Pinned,
        members: Vec<Member>,
        id: CaseId,
    ) -> Result<Reviewed, CaseError> {
        let arbitration = match &wish.arbitrate {
            Some(wish) => Some(ArbitrationRequest::of(self, settings, wish).await?),
            None => None,
        };
        let branch = branch_of(repository, &wish).await?;
        let steering = {
            let (repository, pinned) = (repository.clone(), pinned.clone());
            let note = wish.settings.clone();
            let looks_around = self.is_looked_around_by(&members);
            let has_named_base =
                wish.parent.is_some() || matches!(wish.change, change::ChangeSource::Base(_));
            let mut levels = settings.review.rules.clone();
            if !members
                .iter()
                .any(|one| matches!(one, Member::Builtin { .. }))
            {
                levels.clear();
            }
            tokio::task::spawn_blocking(move || {
                let rules = steer::rules(&repository, &pinned)?;
                let mut notes = steer::notes(&repository, &pinned, &note)?;
                if !has_named_base {
                    notes.extend(steer::branch_note(&repository, &pinned)?);
                }
                notes.extend(rules.notes);
                notes.extend(steer::settle_levels(&mut levels, &rules.ids));
                let withheld = match looks_around && pinned.empty.is_none() {
                    true => withheld_from_reviewers(&repository, &pinned)?,
                    false => Vec::new(),
                };
                Ok::<_, CaseError>((rules.texts, levels, notes, withheld))
            })
        };
        let failed = |error| CaseError::Request(format!("reading the rules failed: {error}"));
        let (rules, rule_levels, notes, withheld) = steering.await.map_err(failed)??;
        let request = ReviewRequest {
            arbitration,
            branch,
            recorded: RecordedNames::default(),
            phase: String::new(),
            reviewed: None,
            rules,
            rule_levels,
            notes,
            withheld,
            evidence: None,
            rulings: self.rulings_in_force(repository, &pinned).await?,
            moving: Some(MovingSource::of(&wish)),
            selector: selector_of(&wish),
            outdated: None,
            directory: wish.directory,
            seed: format!("{:016x}{:016x}", crate::random_bits(), crate::random_bits()),
            members,
            rounds: wish.rounds.unwrap_or(settings.review.rounds),
            debate_all: wish.debate_all || settings.review.debate_all,
            judges: panel::judges(self, settings),
            advisories: Shelf::of(&settings.advisories),
            policy: PinnedPolicy::Whole(Box::new(settings.review.policy.policy().clone())),
            record: self.record_of_reviewers(settings).await?,
            part_chars: settings.review.part_chars,
            mandatory: settings.review.mandatory_labels(),
            may_skip: settings.review.may_skip.clone(),
            fail_on: wish.fail_on,
            new_only: wish.new_only,
            refuse_new_suppressions: !settings.review.allow_new_suppressions,
            restores_linter_settings: true,
            guidance: wish.guidance,
            parent: wish.parent,
            pinned,
        };
        let json = serde_json::to_value(&request).map_err(|e| CaseError::Request(e.to_string()))?;
        let title = request.pinned.title.clone();
        let case = self.new_case_as(id, CaseKind::Review, title, json);
        self.carry_out_review(case, repository, request).await
    }

    /// Goes on with a case of [`CaseKind::Review`].
    pub(crate) async fn resume_review(
        &self,
        case: Case,
        request: serde_json::Value,
    ) -> Result<Reviewed, CaseError> {
        let mut request = read_request(request)?;
        let repository = self.repository(&request.directory)?;
        // Before the coder's work may be put into the files.
        request.outdated = self.why_outdated(&case, &repository, &request).await?;
        self.carry_out_review(case, &repository, request).await
    }

    /// Does the recorded review again, from the recorded answers and the clone in `clone_dir`.
    pub(crate) async fn replay_review(
        &self,
        record: &CaseRecord,
        clone_dir: PathBuf,
        advice: Option<Advice>,
        evidence: RecordedEvidence,
        arbitration: RecordedArbitration,
        names: RecordedNames,
    ) -> Result<Reviewed, CaseError> {
        let mut request = read_request(record.request.clone())?;
        request.outdated = names.outdated.clone();
        request.recorded = names;
        if let Some(request) = &mut request.arbitration {
            request.recorded = Some(arbitration);
        }
        request.advisories = Some(Shelf::Recorded(advice));
        request.evidence = Some(evidence);
        let repository = Repository::open(&request.directory, clone_dir)?;
        let (title, json) = (record.title.clone(), record.request.clone());
        let case = self.new_case(CaseKind::Review, title, json);
        self.carry_out_review(case, &repository, request).await
    }

    async fn carry_out_review(
        &self,
        case: Case,
        repository: &Repository,
        request: ReviewRequest,
    ) -> Result<Reviewed, CaseError> {
        let id = case.id().clone();
        self.sweep_places().await?;
        let done = self.conduct(&case, repository, &request).await;
        self.dir
            .clear_workplace(&id)
            .map_err(CaseError::file("remove the checkout"))?;
        if done.is_ok() {
            // A case that waits keeps what its coder has written; one that ended needs nothing.
            remove_tree(&self.dir.worktrees(&id))
                .map_err(CaseError::file("remove the coder's files"))?;
        }
        match done {
            Ok(report) => {
                let outcome = outcome_of(&report);
                case.close(outcome.clone()).await?;
                Ok(Reviewed {
                    case: id,
                    report: Some(report),
                    state: CaseState::Closed(outcome),
                })
            }
            Err(CaseError::Parked { why, until }) => {
                case.park(why.clone(), until).await?;
                Ok(Reviewed {
                    case: id,
                    report: None,
                    state: CaseState::Parked { why, until },
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns what is known about the reviewers when it shall count. It is kept with the review, so
    /// that later rulings change nothing about it.
    async fn record_of_reviewers(&self, settings: &Settings) -> Result<Option<Record>, CaseError> {
        match settings.review.weights {
            Weighing::Equal => Ok(None),
            Weighing::Record => {
                let store = self.ledger.store();
                let known = statistics_of(store.as_ref(), &self.dir, None).await?;
                Ok(Some(Record {
                    reviewers: known.record().reviewers,
                    ..Record::default()
                }))
            }
        }
    }

    pub(crate) fn repository(&self, directory: &Path) -> Result<Repository, CaseError> {
        Repository::open(directory, self.dir.clone_of_repository()).map_err(CaseError::from)
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the branch on which a change is.
async fn branch_of(
    repository: &Repository,
    wish: &ReviewWish,
) -> Result<Option<String>, CaseError> {
    if let Some(parent) = &wish.parent {
        return Ok(Some(format!("work of {parent}")));
    }
    if !repository.is_versioned() {
        return Ok(Some(String::new()));
    }
    if matches!(wish.change, change::ChangeSource::Commit(_)) {
        return Ok(None);
    }
    let repository = repository.clone();
    blocking(move || change::head_branch(&repository)).await
}

async fn pin(
    repository: &Repository,
    settings: &Settings,
    wish: &ReviewWish,
) -> Result<Pinned, CaseError> {
    let request = ChangeRequest {
        directory: wish.directory.clone(),
        source: wish.change.clone(),
        paths: wish.paths.clone(),
        limits: limits(settings),
        ignore: settings.review.ignore.clone(),
    };
    let repository = repository.clone();
    blocking(move || change::pin(&repository, &request)).await
}

/// Returns the words of the command line that choose the same change again.
fn selector_of(wish: &ReviewWish) -> Vec<String> {
    let words: &[&str] = match &wish.change {
        // The loop chooses what it reviews; nobody types that.
        _ if wish.parent.is_some() => return Vec::new(),
        change::ChangeSource::Default | change::ChangeSource::Files => &[],
        change::ChangeSource::Uncommitted => &["--diff"],
        change::ChangeSource::Staged => &["--staged"],
        change::ChangeSource::Base(revision) => &["--base", revision],
        change::ChangeSource::Commit(revision) => &["--commit", revision],
        change::ChangeSource::Patch(file) => &["--patch", &file.to_string_lossy()],
        change::ChangeSource::PatchText(_) => &["--patch", "-"],
    };
    let words = words.iter().map(ToString::to_string);
    words.chain(wish.paths.iter().cloned()).collect()
}

fn limits(settings: &Settings) -> ChangeLimits {
    ChangeLimits {
        max_file_bytes: settings.review.max_file.0,
        max_files: settings.review.max_files as usize,
        ..ChangeLimits::default()
    }
}

async fn read_change(repository: &Repository, pinned: &Pinned) -> Result<Change, CaseError> {
    let (repository, pinned) = (repository.clone(), pinned.clone());
    blocking(move || change::read(&repository, &pinned)).await
}

fn outcome_of(report: &ReviewReport) -> Outcome {
    let inconclusive = |cause: String| {
        let class = report.reviewers.iter().find_map(|one| match &one.state {
            ReviewerState::Missing { class, .. } => *class,
            ReviewerState::Answered | ReviewerState::Idle => None,
        });
        Outcome::Inconclusive { class, cause }
    };
    match &report.gate {
        Gate::Pass => Outcome::Completed,
        // The files fail, and the case still waits for somebody: it goes on after the ruling.
        Gate::Fail { .. } if report.can_go_on() => inconclusive(
            "fixes are only in the offered work, and a part is not decided yet".to_owned(),
        ),
        Gate::Fail { open } => Outcome::Failed { open: *open },
        Gate::Inconclusive { causes } => inconclusive(causes.join("; ")),
    }
}

fn read_request(request: serde_json::Value) -> Result<ReviewRequest, CaseError> {
    serde_json::from_value(request).map_err(|error| {
        CaseError::Request(format!("the recorded request cannot be read: {error}"))
    })
}

/// Returns random text that is nowhere in `material`, the same for the same question.
pub(crate) fn nonce(seed: &str, step: &str, material: &str) -> String {
    let mut attempt = 0_u32;
    loop {
        let hash = blake3::hash(format!("{seed}\n{step}\n{attempt}").as_bytes()).to_hex();
        let nonce: String = hash.chars().take(20).collect();
        if !material.contains(&nonce) {
            return nonce;
        }
        attempt += 1;
    }
}
