//! One review from beginning to end: hear, check, debate, weigh, settle, decide, store.

use tribunal_core::consensus::{Input, Reviewer, Verdict, reversals, settle};
use tribunal_core::event::EventKind;
use tribunal_core::finding::Finding;
use tribunal_core::review::history::TrackedFinding;
use tribunal_core::review::report::{ReviewReport, ReviewerState};

use super::arbitrate::Bench;
use super::ask::Asking;
use super::debate::Floor;
use super::hear::Heard;
use super::panel::Member;
use super::{ReviewRequest, count, ground, read_change, receipt, report};
use crate::Engine;
use crate::case::{Case, CaseError};
use crate::change::{Change, Repository};

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
        let (mut report, mut tracked) = self.examine(asking, repository, request, &change).await?;
        if let Some(wish) = &request.arbitration {
            let bench = Bench {
                asking,
                repository,
                request,
                wish,
                tracked: &tracked,
                reviewed: change.files.iter().map(|file| file.path.clone()).collect(),
            };
            tracked = bench.arbitrate(&mut report).await?;
        }
        self.note_settled(case, &report).await?;
        if !tracked.is_empty() {
            case.note(EventKind::FindingsTracked { findings: tracked })
                .await;
        }
        Ok(report)
    }

    /// Hears the panel about a change and settles what it says.
    pub(super) async fn examine(
        &self,
        asking: Asking<'_>,
        repository: &Repository,
        request: &ReviewRequest,
        change: &Change,
    ) -> Result<(ReviewReport, Vec<TrackedFinding>), CaseError> {
        let case = asking.case;
        let heard = self.hear_all(asking, repository, request, change).await?;
        let ground = ground::Ground::new(change);
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
        let found = &input.findings;
        let advice = self.advise(case, repository, request, found).await?;
        input.advisories.clone_from(&advice.advisories);
        aside.notes.extend(advice.notes);
        floor.weigh(&mut input, &mut aside).await?;
        let settlement = settle(input.clone(), &policy);
        let reversals = reversals(input, &policy, &settlement);
        let mut known = self.ledger.store().findings().await?;
        self.forget_expired(&mut known).await?;
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
