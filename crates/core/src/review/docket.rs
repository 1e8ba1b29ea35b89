//! The findings before a coder, and the rules by which an arbitration comes to its end.
//!
//! A finding is worked on so often and no oftener, a ruling locks it, a late finding binds only if
//! the last fix caused it or it is critical, and the rounds are counted: whatever reviewers and
//! coders do, there is a last round.

use crate::consensus::Verdict;
use crate::dispute::{Decision, Objection, Origin};
use crate::review::arbitration::{
    ArbitratedFinding, DisputeSummary, End, FindingState, OpenReason, RoundResponse, Verification,
};
use crate::review::gate::{GatedFinding, Obligation};
use crate::review::report::ReviewedFinding;
use crate::review::response::{Answer, Response};
use crate::scale::Severity;

/// How often a finding is worked on before it is left open.
const MOST_ATTEMPTS: u32 = 2;

/// All findings before the coder.
#[derive(Debug, Clone)]
pub struct Docket {
    items: Vec<Item>,
    /// Rounds of the coder so far.
    round: u32,
    most_rounds: u32,
}

/// One finding before the coder.
#[derive(Debug, Clone)]
pub struct Item {
    /// The finding as it was raised.
    pub finding: ReviewedFinding,
    /// What became of it so far.
    pub record: ArbitratedFinding,
    /// The ruling by which it is locked.
    pub lock: Option<Decision>,
    /// Why the last attempt did not settle it; empty at first.
    pub unsettled: String,
    attempts: u32,
}

/// Where the coder's work is when the gate looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkPlace {
    /// In what the gate speaks of: what was fixed is gone.
    Delivered,
    /// Only offered, or nowhere: what was fixed is still in the user's files.
    Elsewhere,
}

/// What becomes of a finding that a later round raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raised {
    /// It binds: the last fix caused it, or it is critical.
    Binding,
    /// It comes too late to bind, or never would.
    Logged,
    /// It had been fixed and is back: there will be no further round about it.
    Reopened,
    /// It is on the docket already.
    Known,
}

impl Docket {
    /// Returns a docket with all that a review did not reject. Each comes with whether it blocks.
    ///
    /// The coder is asked about what is in doubt, too. Only what reviewers contradict each other about
    /// waits for a ruling first.
    #[must_use]
    pub fn new(findings: impl IntoIterator<Item = (ReviewedFinding, bool)>, rounds: u32) -> Self {
        let mut items = Vec::new();
        for (finding, binds) in findings {
            let state = match finding.verdict {
                Verdict::Disputed if binds && finding.contradicted => FindingState::Contested,
                Verdict::Accepted | Verdict::Disputed => FindingState::ToDo,
                Verdict::Rejected => continue,
            };
            if finding.counts {
                items.push(Item::new(finding, binds, 0, state));
            }
        }
        Self {
            items,
            round: 0,
            most_rounds: rounds.max(1),
        }
    }

    /// Returns everything on the docket.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the number of the current round; 0 before the first.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Returns what stands like this, by position.
    #[must_use]
    pub fn standing(&self, state: FindingState) -> Vec<usize> {
        let all = self.items.iter().enumerate();
        let found = all.filter(|(_, item)| item.record.state == state);
        found.map(|(index, _)| index).collect()
    }

    /// Begins a round and returns what the coder is to work on; empty when there is nothing, or
    /// when the rounds are used up, in which case the rest is left open.
    pub fn begin_round(&mut self) -> Vec<usize> {
        let to_do = self.standing(FindingState::ToDo);
        if self.round < self.most_rounds && !to_do.is_empty() {
            self.round += 1;
            return to_do;
        }
        for index in to_do {
            self.items[index].record.state = open(OpenReason::RoundsUsedUp);
        }
        Vec::new()
    }

    /// Takes the coder's answer to a finding; nothing when none could be read, asked twice.
    ///
    /// `changed` tells whether the coder changed any file at all.
    pub fn answer(&mut self, index: usize, response: Option<Response>, changed: bool) {
        let round = self.round;
        let item = &mut self.items[index];
        let answer = response.as_ref().map(|response| response.answer.clone());
        item.record
            .responses
            .push(RoundResponse { round, response });
        item.record.state = match answer {
            None => open(OpenReason::Unanswered),
            Some(Answer::Implemented) if changed => FindingState::Claimed,
            Some(Answer::Implemented) => {
                item.try_again(OpenReason::NotBelieved, "nothing was changed")
            }
            Some(Answer::Discarded | Answer::Objected { .. }) if !item.binds() => {
                FindingState::Discarded
            }
            Some(Answer::Discarded | Answer::Objected { .. }) if item.lock.is_some() => {
                item.try_again(OpenReason::Refused, "a ruling locked it")
            }
            Some(Answer::Discarded | Answer::Objected { .. }) => FindingState::Contested,
        };
    }

    /// Takes what came of a dispute about a finding.
    pub fn rule(&mut self, index: usize, dispute: DisputeSummary) {
        let item = &mut self.items[index];
        item.record.state = match &dispute.decision {
            // An arbitration that ended is on record, not reopened.
            _ if dispute.origin == Origin::Deadlock => item.record.state,
            None => FindingState::AwaitingRuling,
            Some(Decision::Dismiss) => FindingState::Dismissed,
            Some(decision @ (Decision::Enforce | Decision::Amend { .. })) => {
                item.lock = Some(decision.clone());
                FindingState::ToDo
            }
        };
        item.record.disputes.push(dispute);
    }

    /// Takes the words of all who checked whether a finding is gone.
    ///
    /// One who says that it is still there keeps it open. So does one who cannot tell, and nobody.
    /// The word that decides is recorded last.
    pub fn check(&mut self, index: usize, mut verifications: Vec<Verification>) {
        verifications.sort_by_key(|one| match one.fixed {
            Some(true) => 0,
            None => 1,
            Some(false) => 2,
        });
        let item = &mut self.items[index];
        let decides = verifications.last();
        item.record.state = match decides.map(|one| (one.fixed, one.reason.clone())) {
            Some((Some(true), _)) => FindingState::Fixed,
            Some((Some(false), reason)) => item.try_again(OpenReason::NotFixed, &reason),
            Some((None, _)) | None => open(OpenReason::Unverified),
        };
        item.record.checks.extend(verifications);
    }

    /// Takes a finding that was raised after the coder's round.
    ///
    /// `by_fix` tells whether it lies in lines that the coder's last work changed.
    pub fn raise(&mut self, finding: ReviewedFinding, binds: bool, by_fix: bool) -> Raised {
        let same = |item: &&mut Item| item.record.fingerprint == finding.fingerprint;
        if let Some(item) = self.items.iter_mut().find(same) {
            if item.record.state != FindingState::Fixed {
                return Raised::Known;
            }
            item.record.state = open(OpenReason::Reopened);
            return Raised::Reopened;
        }
        let binds = binds && (by_fix || finding.severity == Severity::Critical);
        let state = match binds {
            true => FindingState::ToDo,
            false => FindingState::Logged,
        };
        self.items
            .push(Item::new(finding, binds, self.round, state));
        match binds {
            true => Raised::Binding,
            false => Raised::Logged,
        }
    }

    /// Returns the findings about which a non-convergence goes on record.
    #[must_use]
    pub fn deadlocked(&self) -> Vec<usize> {
        let mut all = self.standing(open(OpenReason::RoundsUsedUp));
        all.extend(self.standing(open(OpenReason::Reopened)));
        all.retain(|index| self.items[*index].binds());
        all
    }

    /// Returns why it ended.
    #[must_use]
    pub fn end(&self) -> End {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let bound = || self.items.iter().filter(|item| item.binds());
        let open_for = |why| {
            bound()
                .filter(move |item| item.record.state == open(why))
                .count()
        };
        let reopened = open_for(OpenReason::Reopened);
        let out_of_rounds = open_for(OpenReason::RoundsUsedUp);
        let left = bound().filter(|item| matches!(item.record.state, FindingState::Open { .. }));
        let left = left.count();
        let waiting = self.standing(FindingState::AwaitingRuling).len();
        if reopened > 0 {
            End::Stalled {
                findings: count(reopened),
            }
        } else if out_of_rounds > 0 {
            End::RoundsUsedUp { rounds: self.round }
        } else if left > 0 {
            End::LeftOpen {
                findings: count(left),
            }
        } else if waiting > 0 {
            End::AwaitingRuling {
                disputes: count(waiting),
            }
        } else if self.items.is_empty() {
            End::NothingToDo
        } else {
            End::Settled
        }
    }

    /// Returns what the gate looks at after the arbitration: the findings of the review as they
    /// stand now, and those that came late and bind.
    #[must_use]
    pub fn gated(&self, findings: &[ReviewedFinding], work: WorkPlace) -> Vec<GatedFinding> {
        let on_docket = |finding: &ReviewedFinding| {
            let mut items = self.items.iter();
            items.find(|item| item.record.raised_in == 0 && item.finding.id == finding.id)
        };
        let reviewed = findings.iter().map(|finding| match on_docket(finding) {
            Some(item) => item.gated(work),
            None => GatedFinding {
                verdict: finding.verdict,
                obligation: finding.obligation,
                severity: finding.weight(),
                counts: finding.counts,
                is_to_do: false,
            },
        });
        let late = self.items.iter().filter(|item| item.record.raised_in > 0);
        // Late findings are about the work itself, and a fix of one is a part of that work.
        let late = late.map(|item| item.gated(WorkPlace::Delivered));
        reviewed.chain(late).collect()
    }
}

impl Item {
    fn new(finding: ReviewedFinding, binds: bool, raised_in: u32, state: FindingState) -> Self {
        let record = ArbitratedFinding {
            id: finding.id.clone(),
            fingerprint: finding.fingerprint.clone(),
            title: finding.title.clone(),
            location: finding.location.clone(),
            label: finding.label,
            severity: finding.severity,
            category: finding.category,
            obligation: match binds {
                true => Obligation::Mandatory,
                false => Obligation::Optional,
            },
            raised_in,
            state,
            responses: Vec::new(),
            disputes: Vec::new(),
            checks: Vec::new(),
        };
        Self {
            finding,
            record,
            lock: None,
            unsettled: String::new(),
            attempts: 0,
        }
    }

    /// Tells whether the gate asks for it.
    #[must_use]
    pub fn binds(&self) -> bool {
        self.record.obligation == Obligation::Mandatory
    }

    /// Returns the last objection, with what was said for it.
    #[must_use]
    pub fn objection(&self) -> Option<(&Objection, &Response)> {
        let last = self.record.responses.last()?.response.as_ref()?;
        match &last.answer {
            Answer::Objected { objection, .. } => Some((objection, last)),
            Answer::Implemented | Answer::Discarded => None,
        }
    }

    fn try_again(&mut self, otherwise: OpenReason, unsettled: &str) -> FindingState {
        self.attempts += 1;
        unsettled.clone_into(&mut self.unsettled);
        if self.binds() && self.attempts < MOST_ATTEMPTS {
            FindingState::ToDo
        } else {
            open(otherwise)
        }
    }

    /// Tells whether the gate still asks for it.
    #[must_use]
    pub fn counts(&self, work: WorkPlace) -> bool {
        self.gated(work).counts
    }

    fn gated(&self, work: WorkPlace) -> GatedFinding {
        let counts = match self.record.state {
            FindingState::Fixed => work == WorkPlace::Elsewhere,
            FindingState::Discarded | FindingState::Dismissed | FindingState::Logged => false,
            FindingState::ToDo
            | FindingState::Claimed
            | FindingState::Contested
            | FindingState::AwaitingRuling
            | FindingState::Open { .. } => true,
        };
        let verdict = self.record.state.verdict_for_gate();
        GatedFinding {
            verdict,
            obligation: self.record.obligation,
            severity: self.finding.weight(),
            counts,
            is_to_do: self.record.state == FindingState::ToDo,
        }
    }
}

fn open(why: OpenReason) -> FindingState {
    FindingState::Open { why }
}

#[cfg(test)]
mod tests;
