//! The panel looks at the coder's work: a fix can break something else.

use tribunal_core::consensus::Verdict;
use tribunal_core::event::ArbitrationEvent;
use tribunal_core::review::docket::{Docket, Raised};
use tribunal_core::review::report::{ReviewReport, ReviewedFinding};

use super::super::ask::Asking;
use super::super::panel::Member;
use super::super::{RecordedNames, ReviewRequest, report};
use super::Bench;
use super::verify::work_pinned;
use crate::case::CaseError;
use crate::change::{Change, Pinned};
use crate::config::Rounds;

/// What came of looking at the coder's work.
pub(super) struct Seen {
    /// What stands in the way of a PASS, one sentence each.
    pub(super) causes: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Bench<'_> {
    /// Lets the panel review what the coder did between two commits.
    pub(super) async fn review_work(
        &self,
        docket: &mut Docket,
        before: &str,
        commit: &str,
    ) -> Result<Seen, CaseError> {
        let round = docket.round();
        let request = self.request_for_work(round, before, commit);
        let work = self.work_between(before, commit).await?;
        let seen = self.look(&request, &work).await?;
        let (mut binding, mut logged, mut reopened) = (0, 0, 0);
        for finding in &seen.findings {
            if finding.verdict == Verdict::Rejected {
                continue;
            }
            let binds = seen.binds(finding);
            match docket.raise(finding.clone(), binds, is_caused(&work, finding)) {
                Raised::Binding => binding += 1,
                Raised::Logged => logged += 1,
                Raised::Reopened => reopened += 1,
                Raised::Known => {}
            }
        }
        self.note(ArbitrationEvent::WorkReviewed {
            round,
            binding,
            logged,
            reopened,
        })
        .await;
        Ok(Seen {
            causes: self.gaps(&seen, round),
            notes: seen.notes,
        })
    }

    /// Returns the request for one look at the work: the same panel, one vote, no debate.
    fn request_for_work(&self, round: u32, before: &str, commit: &str) -> ReviewRequest {
        let can_look_again = |member: &&Member| match member {
            Member::Builtin { .. } | Member::Agent { .. } => true,
            Member::Import { .. } | Member::Unasked { .. } => false,
        };
        let members = self.request.members.iter().filter(can_look_again);
        let members = members.cloned().collect();
        let pinned = work_pinned(self.request, before, commit);
        self.request_for_look(pinned, members, format!("work {round}: "))
    }

    /// Returns the request for a look by these members: one vote, no debate, nothing remembered.
    pub(super) fn request_for_look(
        &self,
        pinned: Pinned,
        members: Vec<Member>,
        phase: String,
    ) -> ReviewRequest {
        ReviewRequest {
            pinned,
            members,
            rounds: Rounds::One,
            judges: Vec::new(),
            advisories: None,
            arbitration: None,
            new_only: false,
            phase,
            reviewed: self.request.pinned.head.clone(),
            branch: None,
            recorded: RecordedNames::default(),
            ..self.request.clone()
        }
    }

    /// Lets the members of `request` look at a change in a checkout of its own.
    pub(super) async fn look(
        &self,
        request: &ReviewRequest,
        change: &Change,
    ) -> Result<ReviewReport, CaseError> {
        let engine = self.engine();
        let directory = engine
            .prepare_checkout(self.asking.case, self.repository, request)
            .await?;
        let asking = Asking {
            directory: &directory,
            ..self.asking
        };
        let (seen, _) = engine
            .examine(asking, self.repository, request, change, self.tracked)
            .await?;
        Ok(seen)
    }

    /// Returns what of the work nobody looked at.
    fn gaps(&self, seen: &ReviewReport, round: u32) -> Vec<String> {
        let missing = report::missing(&seen.reviewers).into_iter();
        let mut causes: Vec<String> = missing
            .map(|why| format!("after round {round} {why}"))
            .collect();
        let uncovered: Vec<_> = seen.coverage.uncovered(&self.request.may_skip).collect();
        if let Some(first) = uncovered.first() {
            let more = match uncovered.len() {
                1 => String::new(),
                n => format!(", and {} more", n - 1),
            };
            let (path, why) = (&first.path, first.why);
            causes.push(format!(
                "`{path}`, which the coder changed, was not reviewed ({why}){more}"
            ));
        }
        causes
    }
}

/// Tells whether a finding lies in what the coder changed. One without a file lies in no line, and
/// was raised about the work.
fn is_caused(work: &Change, finding: &ReviewedFinding) -> bool {
    if finding.location.file.is_empty() {
        return true;
    }
    let Some(file) = work.file(&finding.location.file) else {
        return false;
    };
    match finding.location.lines() {
        Some((first, last)) => file.diff.added().touches(first, last),
        None => true,
    }
}
