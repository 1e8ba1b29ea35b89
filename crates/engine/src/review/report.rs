//! Puts the report together: a pure function of the answers, the settlement and the ledger.

mod rounds;

use std::collections::BTreeMap;

use tribunal_code::ground::fingerprint;
use tribunal_core::consensus::{Advisory, Group, Reversal, Settlement, Verdict};
use tribunal_core::finding::{Category, Finding, Label};
use tribunal_core::ids::CaseId;
use tribunal_core::money::{Cost, MicroUsd, Usage};
use tribunal_core::review::Stance;
use tribunal_core::review::coverage::{Coverage, FileStatus};
use tribunal_core::review::gate::{self, Evidence, GatedFinding, Obligation};
use tribunal_core::review::history::{Absence, TrackedFinding, follow, short_id};
use tribunal_core::review::report::{
    ChangeSummary, Dissent, FixedFinding, FrameLine, REVIEW_SCHEMA, ReviewReport, ReviewedFinding,
    ReviewerState, ReviewerSummary, Standing, Voice,
};
use tribunal_core::rulings;
use tribunal_core::scale::Severity;
use tribunal_core::text::truncate_chars;
use tribunal_store::{FindingRecord, RunRecord};

use super::ReviewRequest;
use super::debate::Aside;
use super::ground::Ground;
use super::hear::Heard;
use crate::change::{Change, ChangedFile};

/// Lines of code around a finding in its frame.
const AROUND: u32 = 2;
/// Most lines of a frame.
const LONGEST_FRAME: u32 = 12;
/// Longest line of a frame, in characters.
const WIDEST_FRAME: usize = 400;

/// Why citations do not fully hold, by reviewer and id of the finding.
pub(super) type Doubts = BTreeMap<(String, String), Vec<String>>;

/// All that a report is made of.
pub(super) struct Parts<'a> {
    pub(super) case: &'a CaseId,
    pub(super) request: &'a ReviewRequest,
    /// What the policy is called.
    pub(super) policy: String,
    pub(super) change: &'a Change,
    pub(super) coverage: Coverage,
    pub(super) heard: &'a [Heard],
    pub(super) settlement: &'a Settlement,
    /// What would reverse each of its groups.
    pub(super) reversals: &'a [Reversal],
    pub(super) doubts: &'a Doubts,
    pub(super) aside: &'a Aside,
    pub(super) advisories: &'a [Advisory],
    pub(super) known: &'a [FindingRecord],
    pub(super) runs: &'a [RunRecord],
    pub(super) ground: &'a Ground<'a>,
}

impl Parts<'_> {
    /// Returns the report, and how findings stand after it.
    pub(super) fn assemble(self) -> (ReviewReport, Vec<TrackedFinding>) {
        let sightings: Vec<TrackedFinding> = self
            .settlement
            .groups
            .iter()
            .map(|group| self.sighting(group))
            .collect();
        let open = |(group, seen): (&Group, &TrackedFinding)| {
            (group.verdict != Verdict::Rejected).then(|| seen.clone())
        };
        let seen = self
            .settlement
            .groups
            .iter()
            .zip(&sightings)
            .filter_map(open)
            .collect();
        let known: BTreeMap<String, TrackedFinding> = self
            .known
            .iter()
            .map(|record| (record.finding.fingerprint.clone(), record.finding.clone()))
            .collect();
        let tracked = follow(&known, seen, |finding| self.absence(finding));
        let standings: BTreeMap<&str, Standing> = tracked
            .iter()
            .map(|one| (one.fingerprint.as_str(), one.standing))
            .collect();
        let mut findings: Vec<ReviewedFinding> = self
            .settlement
            .groups
            .iter()
            .zip(self.reversals)
            .zip(&sightings)
            .map(|(settled, seen)| {
                let standing = standings.get(seen.fingerprint.as_str());
                self.finding(settled, seen, standing.copied().unwrap_or(Standing::New))
            })
            .collect();
        let codes: Vec<&str> = sightings.iter().map(|seen| seen.code.as_str()).collect();
        rulings::dismiss(&mut findings, &codes, &self.request.rulings.rulings);
        let reviewers: Vec<ReviewerSummary> =
            self.heard.iter().map(|one| self.reviewer(one)).collect();
        let gate = self.gate(&findings, &reviewers);
        let (usage, cost) = total(self.runs.iter());
        let report = ReviewReport {
            schema: REVIEW_SCHEMA.to_owned(),
            case: self.case.clone(),
            change: ChangeSummary {
                title: self.change.pinned.title.clone(),
                base: self.change.pinned.base.clone(),
                head: self.change.pinned.head.clone(),
                whole_files: self.change.pinned.whole_files,
            },
            gate,
            fail_on: self.request.fail_on,
            policy: self.policy.clone(),
            reviewers,
            findings,
            arbitration: None,
            fixed: tracked.iter().filter_map(fixed).collect(),
            statistics: self.settlement.report().debate_statistics,
            usage,
            cost,
            notes: self.notes(),
            coverage: self.coverage,
        };
        (report, tracked)
    }

    fn gate(&self, findings: &[ReviewedFinding], reviewers: &[ReviewerSummary]) -> gate::Gate {
        let gated: Vec<GatedFinding> = findings
            .iter()
            .map(|finding| GatedFinding {
                verdict: finding.verdict,
                obligation: finding.obligation,
                severity: finding.severity,
                counts: finding.counts,
            })
            .collect();
        let missing = missing(reviewers);
        gate::decide(&Evidence {
            findings: &gated,
            coverage: &self.coverage,
            may_skip: &self.request.may_skip,
            asked: reviewers.len(),
            missing: &missing,
            fail_on: self.request.fail_on,
        })
    }

    fn notes(&self) -> Vec<String> {
        let elsewhere = self.heard.iter().filter(|one| one.elsewhere > 0);
        let elsewhere: Vec<String> = elsewhere
            .map(|one| {
                let count = match one.elsewhere {
                    1 => "one finding".to_owned(),
                    count => format!("{count} findings"),
                };
                format!(
                    "{} has {count} about code that is not under review",
                    one.name
                )
            })
            .collect();
        [
            &self.request.rulings.notes[..],
            &self.settlement.problems,
            &self.aside.notes,
            &elsewhere,
        ]
        .concat()
    }

    fn lead(&self, group: &Group) -> &Finding {
        &self.settlement.findings[group.lead() as usize]
    }

    fn sighting(&self, group: &Group) -> TrackedFinding {
        let lead = self.lead(group);
        let identity = self.ground.identity(lead);
        TrackedFinding {
            fingerprint: fingerprint(&identity),
            location: lead.location.clone(),
            category: identity.category,
            severity: group.severity,
            title: lead.title.clone(),
            code: identity.code,
            standing: Standing::New,
        }
    }

    /// Returns what this review can say about a finding that it does not report.
    fn absence(&self, finding: &TrackedFinding) -> Absence {
        let path = &finding.location.file;
        let Some(file) = self.change.file(path) else {
            return Absence::Unknown;
        };
        let is_covered = self
            .coverage
            .reviewed
            .iter()
            .any(|one| one.path == file.path);
        if !is_covered || finding.code.is_empty() {
            return Absence::Unknown;
        }
        let is_there =
            file.status != FileStatus::Deleted && self.ground.stands(path, &finding.code);
        if is_there {
            Absence::Unknown
        } else {
            Absence::Gone
        }
    }

    fn finding(
        &self,
        (group, reversal): (&Group, &Reversal),
        seen: &TrackedFinding,
        standing: Standing,
    ) -> ReviewedFinding {
        let settlement = self.settlement;
        let lead = self.lead(group);
        let member = |index: u32| &settlement.findings[index as usize];
        let (label, severity) = self.weight(group);
        let file = self.change.file(&lead.location.file);
        let is_new = !self.existed_before(lead);
        let counts = group.verdict != Verdict::Rejected
            && standing != Standing::Dismissed
            && (is_new || !self.request.new_only);
        let trigger = group.members.iter().map(|index| &member(*index).trigger);
        ReviewedFinding {
            id: short_id(&seen.fingerprint),
            fingerprint: seen.fingerprint.clone(),
            verdict: group.verdict,
            standing,
            counts,
            escalate: group.escalate && counts,
            obligation: self.obligation(label),
            label,
            severity,
            category: lead.category.unwrap_or(Category::Other),
            rule: lead.rule.clone(),
            confidence: group.confidence,
            agreement: group.agreement,
            location: lead.location.clone(),
            in_diff: file.is_some_and(|file| is_in_hunk(file, lead.location.lines())),
            title: lead.title.clone(),
            description: self.description(group).to_owned(),
            suggestion: settlement.suggestion(group).to_owned(),
            trigger: trigger
                .max_by_key(|text| text.len())
                .cloned()
                .unwrap_or_default(),
            frame: file.map_or_else(Vec::new, |file| frame(file, lead)),
            voices: group
                .members
                .iter()
                .map(|index| self.voice(member(*index)))
                .collect(),
            dissent: self.dissent(group),
            rounds: self.rounds(group),
            judgement: rounds::weighed(group),
            advisories: self.advised(group),
            precedents: Vec::new(),
            team_ruling: None,
            trace: group.trace.lines().to_vec(),
            score: group.score,
            question: settlement.question(group),
            reasons: settlement.reasons(group),
            reversal: settlement.reversal(group, reversal).join(" "),
        }
    }

    /// Returns what was said of it in the end, or the fullest description, or a title.
    fn description<'g>(&'g self, group: &'g Group) -> &'g str {
        if let Some(revised) = &group.revised_description {
            return revised;
        }
        let described = &self.settlement.findings[group.described_by as usize];
        match described.description.as_str() {
            "" => &described.title,
            full => full,
        }
    }

    /// Returns tag and severity of a finding: those agreed upon, or the gravest that anybody gave
    /// to what is disputed. As long as nobody has settled it, a low voice must not hide a loud one.
    fn weight(&self, group: &Group) -> (Label, Severity) {
        let members = || {
            group
                .members
                .iter()
                .map(|index| &self.settlement.findings[*index as usize])
        };
        let stated = members().filter_map(|one| one.severity.or(one.label.map(Label::severity)));
        let severity = match group.verdict {
            Verdict::Accepted | Verdict::Rejected => group.severity,
            Verdict::Disputed => stated.max().unwrap_or(group.severity).max(group.severity),
        };
        let fits = |label: &Label| label.severity() == severity;
        let own = members().filter_map(|one| one.label).find(fits);
        let label = own.unwrap_or_else(|| {
            let issues = [Label::Critical, Label::High, Label::Medium, Label::Low];
            issues.into_iter().find(fits).unwrap_or(Label::Medium)
        });
        (label, severity)
    }

    fn obligation(&self, label: Label) -> Obligation {
        if self.request.mandatory.contains(&label) {
            Obligation::Mandatory
        } else {
            Obligation::Optional
        }
    }

    /// Tells whether the same code stood there before the change, so that the finding is not new.
    ///
    /// Files reviewed whole have no before: that an earlier review saw it must not let it pass.
    fn existed_before(&self, lead: &Finding) -> bool {
        let identity = self.ground.identity(lead);
        self.ground.stood_before(&lead.location.file, &identity)
    }

    fn voice(&self, finding: &Finding) -> Voice {
        let key = (finding.reviewer.clone(), finding.id.clone());
        Voice {
            reviewer: finding.reviewer.clone(),
            family: finding.family.clone(),
            id: finding.id.clone(),
            rule: finding.rule.clone(),
            title: finding.title.clone(),
            description: finding.description.clone(),
            location: finding.location.clone(),
            category: finding.category,
            suggestion: finding.suggestion.clone(),
            trigger: finding.trigger.clone(),
            quote: finding.quote.clone(),
            severity: finding.severity,
            confidence: finding.confidence,
            grounding: finding.grounding,
            doubts: self.doubts.get(&key).cloned().unwrap_or_default(),
        }
    }

    fn dissent(&self, group: &Group) -> Vec<Dissent> {
        let examinations = group.examinations.iter();
        examinations
            .map(|index| &self.settlement.examinations[*index as usize])
            .filter(|one| one.stance != Stance::Agree)
            .map(|one| Dissent {
                reviewer: one.reviewer.clone(),
                says: match one.reasoning.as_str() {
                    "" => one.stance.to_string(),
                    reasoning => format!("{}: {reasoning}", one.stance),
                },
            })
            .collect()
    }

    fn problems(&self, heard: &Heard) -> Vec<String> {
        let later = self.aside.problems.get(&heard.name);
        let later = later.map_or(&[][..], Vec::as_slice);
        [&heard.problems[..], later].concat()
    }

    fn reviewer(&self, heard: &Heard) -> ReviewerSummary {
        let runs = || {
            self.runs
                .iter()
                .filter(|run| run.agent.as_str() == heard.name)
        };
        let (usage, cost) = total(runs());
        ReviewerSummary {
            name: heard.name.clone(),
            family: heard.family.clone(),
            state: heard.state.clone(),
            findings: u32::try_from(heard.findings.len()).unwrap_or(u32::MAX),
            problems: self.problems(heard),
            usage,
            cost,
            elapsed_ms: runs().map(|run| run.elapsed_ms).sum(),
        }
    }
}

/// Returns who gave no complete answer, one sentence each.
pub(super) fn missing(reviewers: &[ReviewerSummary]) -> Vec<String> {
    let missing = reviewers.iter().filter_map(|one| match &one.state {
        ReviewerState::Missing { why, .. } => Some(format!(
            "{} did not give a complete answer: {why}",
            one.name
        )),
        ReviewerState::Answered | ReviewerState::Idle => None,
    });
    missing.collect()
}

/// Returns what runs used and cost; unknown as soon as one of them is.
pub(super) fn total<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> (Usage, Cost) {
    let mut usage = Usage::default();
    let mut cost = Cost::Known(MicroUsd(0));
    for run in runs {
        usage.input += run.usage.input;
        usage.cache_read += run.usage.cache_read;
        usage.cache_write += run.usage.cache_write;
        usage.output += run.usage.output;
        cost = match (cost, run.cost) {
            (Cost::Known(sum), Cost::Known(one)) => Cost::Known(MicroUsd(sum.0 + one.0)),
            _ => Cost::Unknown,
        };
    }
    (usage, cost)
}

fn fixed(finding: &TrackedFinding) -> Option<FixedFinding> {
    (finding.standing == Standing::Fixed).then(|| FixedFinding {
        id: finding.id(),
        fingerprint: finding.fingerprint.clone(),
        location: finding.location.clone(),
        title: finding.title.clone(),
    })
}

/// Tells whether all of these lines lie in one hunk, so that a comment can be put there.
fn is_in_hunk(file: &ChangedFile, lines: Option<(u32, u32)>) -> bool {
    let Some((first, last)) = lines else {
        return false;
    };
    file.diff.hunks.iter().any(|hunk| {
        let end = hunk.new_start.saturating_add(hunk.new_count);
        (hunk.new_start..end).contains(&first) && (hunk.new_start..end).contains(&last)
    })
}

fn frame(file: &ChangedFile, finding: &Finding) -> Vec<FrameLine> {
    let Some((first, last)) = finding.location.lines() else {
        return Vec::new();
    };
    let from = first.saturating_sub(AROUND).max(1);
    let to = last.saturating_add(AROUND).min(from + LONGEST_FRAME - 1);
    let lines = (1_u32..).zip(file.text.lines());
    lines
        .skip(from.saturating_sub(1) as usize)
        .take_while(|(number, _)| *number <= to)
        .map(|(number, text)| FrameLine {
            number,
            text: truncate_chars(text.trim_end(), WIDEST_FRAME).into_owned(),
            marked: (first..=last).contains(&number),
        })
        .collect()
}
