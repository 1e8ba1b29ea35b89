//! One review from beginning to end: hear, check, debate, weigh, settle, decide, store.

use std::collections::BTreeSet;

use tribunal_core::consensus::{Input, Reviewer, Verdict, reversals, settle};
use tribunal_core::event::EventKind;
use tribunal_core::finding::Finding;
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::identity::recognize;
use tribunal_core::review::report::{ReviewReport, ReviewerState};

use super::arbitrate::Bench;
use super::ask::Asking;
use super::debate::Floor;
use super::hear::Heard;
use super::panel::Member;
use super::{ReviewRequest, cited_path, count, ground, read_change, receipt, report};
use crate::Engine;
use crate::case::{Case, CaseError, blocking};
use crate::change::{Change, Repository, all_paths};

impl Engine {
    /// Hears everybody, settles, decides, and stores the report.
    pub(super) async fn conduct(
        &self,
        case: &Case,
        repository: &Repository,
        request: &ReviewRequest,
    ) -> Result<ReviewReport, CaseError> {
        let change = read_change(repository, &request.pinned).await?;
        let names: Vec<String> = request.members.iter().map(Member::name).collect();
        let opened = EventKind::ReviewOpened {
            change: request.pinned.title.clone(),
            head: request.pinned.head.clone(),
            files: count(change.files.len()),
            left_out: count(change.left_out.len()),
            reviewers: names,
        };
        case.record([opened]).await?;
        let directory = self.prepare_checkout(case, repository, request).await?;
        let asking = Asking {
            engine: self,
            case,
            directory: &directory,
        };
        let (mut report, mut tracked) = self
            .examine(asking, repository, request, &change, &[])
            .await?;
        if let Some(wish) = &request.arbitration {
            let bench = Bench {
                asking,
                repository,
                request,
                wish,
                tracked: &tracked,
                change: &change,
            };
            tracked = bench.arbitrate(&mut report).await?;
        }
        if let Some(why) = &request.outdated {
            report.mark_outdated(why);
        }
        for told in self.disturbances(case).await? {
            if !report.notes.contains(&told) {
                report.notes.push(told);
            }
        }
        self.note_settled(case, &report).await?;
        if !tracked.is_empty() {
            case.note(EventKind::FindingsTracked { findings: tracked })
                .await;
        }
        Ok(report)
    }

    /// Hears the panel about a change and settles what it says. `before` are findings that are not
    /// in the ledger yet.
    pub(super) async fn examine(
        &self,
        asking: Asking<'_>,
        repository: &Repository,
        request: &ReviewRequest,
        change: &Change,
        before: &[TrackedFinding],
    ) -> Result<(ReviewReport, Vec<TrackedFinding>), CaseError> {
        let case = asking.case;
        let mut heard = self.hear_all(asking, repository, request, change).await?;
        let others = other_files(repository, change, &heard).await?;
        let ground = ground::Ground::new(change).with_others(others);
        let (mut input, mut doubts) = collect(&heard, &ground);
        input.record.clone_from(&request.record);
        let policy = request.policy.policy()?;
        let floor = Floor {
            asking,
            request,
            change,
            policy: &policy,
        };
        let debated = floor.debate(&heard, &mut input, &ground, &mut doubts);
        let mut aside = debated.await?;
        for one in &mut heard {
            if let Some(why) = aside.unread.get(&one.name) {
                one.miss(None, why.clone());
            }
        }
        let found = &input.findings;
        let advice = self.advise(case, repository, request, found).await?;
        input.advisories.clone_from(&advice.advisories);
        aside.notes.extend(advice.notes);
        floor.weigh(&mut input, &mut aside).await?;
        let settlement = settle(input.clone(), &policy);
        let reversals = reversals(input, &policy, &settlement);
        let sightings = report::sightings(&settlement, &ground);
        let known = self.known_findings(case, before).await?;
        let dismissals = self.dismissals().await?;
        let mut recognized = recognize(&sightings, &known, &dismissals, report::mint);
        request.recorded.rename(&settlement, &mut recognized);
        let runs = self.ledger.store().runs(case.id()).await?;
        let parts = report::Parts {
            case: case.id(),
            request,
            policy: policy.title(),
            change,
            coverage: receipt::coverage(change, request, &heard),
            heard: &heard,
            settlement: &settlement,
            reversals: &reversals,
            doubts: &doubts,
            aside: &aside,
            advisories: &advice.advisories,
            known: &known,
            recognized: &recognized,
            runs: &runs,
            ground: &ground,
        };
        let (mut report, tracked) = parts.assemble();
        self.mark_precedents(&mut report).await?;
        Ok((report, tracked))
    }

    /// Stores the report; the event that names it goes to the ledger with the end of the case.
    async fn note_settled(&self, case: &Case, report: &ReviewReport) -> Result<(), CaseError> {
        let unfit = |error: serde_json::Error| CaseError::Request(error.to_string());
        let text = serde_json::to_string_pretty(report).map_err(unfit)?;
        let hash = self
            .dir
            .put_blob(self.redactor.redact(&text).as_bytes())
            .map_err(CaseError::file("store the report"))?;
        let of = |verdict| {
            let found = report.findings.iter().filter(|one| one.verdict == verdict);
            count(found.count())
        };
        case.note(EventKind::ReviewSettled {
            accepted: of(Verdict::Accepted),
            disputed: of(Verdict::Disputed),
            rejected: of(Verdict::Rejected),
            gate: report.gate.clone(),
            report: hash,
        })
        .await;
        Ok(())
    }
}

/// Returns the files of the repository, if anybody cites one that is not part of the change; nothing
/// where that is not asked, or nobody can tell.
async fn other_files(
    repository: &Repository,
    change: &Change,
    heard: &[Heard],
) -> Result<Option<BTreeSet<String>>, CaseError> {
    let mut cited = heard.iter().flat_map(|one| &one.findings);
    let is_other = |finding: &Finding| {
        let file = &finding.location.file;
        !file.trim().is_empty() && cited_path::known_path(change, file).is_none()
    };
    let head = change.pinned.head.clone();
    let Some(head) = head.filter(|_| repository.is_versioned() && cited.any(is_other)) else {
        return Ok(None);
    };
    let (repository, base) = (repository.clone(), change.pinned.base.clone());
    blocking(move || {
        let mut files = BTreeSet::new();
        for tree in [Some(head), base].into_iter().flatten() {
            files.extend(all_paths(&repository, &tree)?);
        }
        Ok(Some(files))
    })
    .await
}

/// Returns what the consensus is made from, every citation checked, and what is doubtful about them.
fn collect(heard: &[Heard], ground: &ground::Ground<'_>) -> (Input, report::Doubts) {
    let mut input = Input::default();
    let mut doubts = report::Doubts::new();
    for one in heard {
        input.panel.push(Reviewer {
            name: one.name.clone(),
            family: one.family.clone(),
        });
        if matches!(one.state, ReviewerState::Missing { .. }) {
            input.silent.push(one.name.clone());
        }
        for finding in &one.findings {
            let mut finding: Finding = finding.clone();
            let why = ground.check(&mut finding);
            doubts.insert((finding.reviewer.clone(), finding.id.clone()), why);
            input.findings.push(finding);
        }
    }
    (input, doubts)
}
