//! Puts the report together: a pure function of the answers, the settlement and the ledger.

mod rounds;

use std::collections::BTreeMap;

use tribunal_code::ground::{Identity, fingerprint};
use tribunal_code::nature::Nature;
use tribunal_core::consensus::{
    Advisory, ClaimText, Group, Kind, Note, Reversal, Settlement, Verdict,
};
use tribunal_core::finding::{Category, Finding, Label};
use tribunal_core::ids::CaseId;
use tribunal_core::money::{Cost, MicroUsd, Usage};
use tribunal_core::review::Stance;
use tribunal_core::review::coverage::{Coverage, FileStatus, Omission};
use tribunal_core::review::gate::{self, Evidence, GatedFinding, Obligation};
use tribunal_core::review::history::{Absence, Seen, TrackedFinding, follow, short_id};
use tribunal_core::review::identity::{Claimed, Recognized, Sighting};
use tribunal_core::review::report::{
    ChangeSummary, Dissent, FixedFinding, FrameLine, REVIEW_SCHEMA, ReviewReport, ReviewedFinding,
    ReviewerState, ReviewerSummary, Standing, SuppressedFinding, Voice,
};
use tribunal_core::rulings::{self, CitedPlace};
use tribunal_core::scale::Severity;
use tribunal_core::text::truncate_chars;
use tribunal_store::RunRecord;

use super::ReviewRequest;
use super::debate::Aside;
use super::ground::Ground;
use super::hear::Heard;
use crate::change::agent_names::speaks_to_agents;
use crate::change::{Change, ChangedFile};

/// Lines of code around a finding in its frame.
const AROUND: u32 = 2;
/// Most lines of a frame.
const LONGEST_FRAME: u32 = 12;
/// Longest line of a frame, in characters.
const WIDEST_FRAME: usize = 400;

/// Most names in a note.
const NAMED: usize = 6;

/// Says that a change alters what agents are told, if it does: whoever merges it instructs theirs.
fn note_on_agent_files(change: &Change) -> Option<String> {
    let files = change.files.iter().map(|file| file.path.as_str());
    let files: Vec<&str> = files.filter(|path| speaks_to_agents(path)).collect();
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown: Vec<&str> = files.iter().copied().take(NAMED).collect();
    (!files.is_empty()).then(|| {
        format!(
            "the change alters what instructs or configures agents: `{}`{more}; reviewers \
             saw it as text only",
            shown.join("`, `")
        )
    })
}

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
    /// Findings of earlier reviews.
    pub(super) known: &'a [TrackedFinding],
    /// What of this review was recognized among them, group by group.
    pub(super) recognized: &'a [Recognized],
    pub(super) runs: &'a [RunRecord],
    pub(super) ground: &'a Ground<'a>,
}

impl Parts<'_> {
    /// Returns the report, and how findings stand after it.
    pub(super) fn assemble(self) -> (ReviewReport, Vec<TrackedFinding>) {
        let groups = || self.settlement.groups.iter().zip(self.recognized);
        let seen = groups().filter(|(group, _)| group.verdict != Verdict::Rejected);
        let seen = seen.map(|(group, recognized)| Seen {
            finding: self.tracked(group, recognized),
            dismissed: recognized.dismissed,
        });
        let known: BTreeMap<String, TrackedFinding> = self
            .known
            .iter()
            .map(|finding| (finding.fingerprint.clone(), finding.clone()))
            .collect();
        let branch = self.request.branch.as_deref();
        let tracked = follow(&known, seen.collect(), branch, |finding| {
            self.absence(finding)
        });
        let standings: BTreeMap<&str, Standing> = tracked
            .iter()
            .map(|one| (one.fingerprint.as_str(), one.standing))
            .collect();
        let names: BTreeMap<u32, String> = groups()
            .map(|(group, one)| (group.lead(), short_id(&one.fingerprint)))
            .collect();
        let mut findings: Vec<ReviewedFinding> = groups()
            .zip(self.reversals)
            .map(|((group, recognized), reversal)| {
                let standing = standings.get(recognized.fingerprint.as_str());
                let mut finding = self.finding(
                    (group, reversal),
                    recognized,
                    standing.copied().unwrap_or(Standing::New),
                );
                let linked = group.linked.iter().filter_map(|lead| names.get(lead));
                finding.linked = linked.cloned().collect();
                finding
            })
            .collect();
        let places: Vec<CitedPlace> = groups()
            .map(|(group, _)| cited_place(self.ground.identity(self.lead(group))))
            .collect();
        rulings::dismiss(&mut findings, &places, &self.request.rulings.rulings);
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
                selector: self.request.selector.clone(),
                empty: self
                    .change
                    .pinned
                    .empty
                    .as_ref()
                    .map(|it| it.reason.clone()),
            },
            gate,
            gate_with_offer: None,
            outdated: None,
            unread_because: self.unread_because(),
            fail_on: self.request.fail_on,
            policy: self.policy.clone(),
            reviewers,
            findings,
            arbitration: None,
            fixed: tracked.iter().filter_map(fixed).collect(),
            suppressed: self.suppressed(),
            statistics: self.settlement.report().debate_statistics,
            usage,
            cost,
            notes: self.notes(),
            rule_levels: self.request.rule_levels.clone(),
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
                severity: finding.weight(),
                counts: finding.counts,
                is_to_do: false,
            })
            .collect();
        let missing = missing_for_gate(self.request, self.change, reviewers);
        gate::decide(&Evidence {
            findings: &gated,
            coverage: &self.coverage,
            may_skip: &self.request.may_skip,
            asked: reviewers.len(),
            missing: &missing,
            fail_on: self.request.fail_on,
        })
    }

    /// Returns why files were not reviewed that forbid a PASS.
    fn unread_because(&self) -> Vec<Omission> {
        let uncovered = self.coverage.uncovered(&self.request.may_skip);
        let mut reasons: Vec<Omission> = uncovered.map(|file| file.why).collect();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }

    fn suppressed(&self) -> Vec<SuppressedFinding> {
        let heard = self.heard.iter();
        let mut all: Vec<_> = heard.flat_map(|one| one.suppressed.clone()).collect();
        let place = |one: &SuppressedFinding| (one.location.file.clone(), one.location.line);
        all.sort_by_key(|one| (place(one), one.rule.clone()));
        all.dedup();
        all
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
        let of_reviewers: Vec<String> = self
            .heard
            .iter()
            .flat_map(|one| one.notes.iter().cloned())
            .collect();
        let to_agents: Vec<String> = note_on_agent_files(self.change).into_iter().collect();
        let empty = self.change.pinned.empty.as_ref();
        let hints = empty.map_or(&[][..], |empty| empty.hints.as_slice());
        [
            &self.request.notes[..],
            &self.request.rulings.notes,
            &to_agents,
            &of_reviewers,
            &self.settlement.problems,
            &self.aside.notes,
            &elsewhere,
            hints,
        ]
        .concat()
    }

    fn lead(&self, group: &Group) -> &Finding {
        &self.settlement.findings[shown_order(self.settlement, group)[0] as usize]
    }

    fn tracked(&self, group: &Group, recognized: &Recognized) -> TrackedFinding {
        let lead = self.lead(group);
        let identity = self.ground.identity(lead);
        let members = shown_order(self.settlement, group);
        let claims = members.iter().map(|&member| {
            let claim = self
                .ground
                .claim(&self.settlement.findings[member as usize]);
            claim.claimed
        });
        TrackedFinding {
            fingerprint: recognized.fingerprint.clone(),
            location: lead.location.clone(),
            category: identity.category,
            severity: group.severity,
            label: lead.label,
            title: lead.title.clone(),
            code: identity.code,
            standing: Standing::New,
            claimed: claims.collect(),
            branches: BTreeMap::new(),
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
        recognized: &Recognized,
        standing: Standing,
    ) -> ReviewedFinding {
        let settlement = self.settlement;
        let members = shown_order(settlement, group);
        let member = |index: u32| &settlement.findings[index as usize];
        let lead = member(members[0]);
        let (label, severity) = self.weight(group);
        let file = self.change.file(&lead.location.file);
        let is_new = !self.existed_before(lead);
        let counts = group.verdict != Verdict::Rejected
            && standing != Standing::Dismissed
            && (is_new || !self.request.new_only);
        let is_conflict = matches!(group.kind, Kind::Conflicted(_));
        let mut finding = ReviewedFinding {
            id: short_id(&recognized.fingerprint),
            fingerprint: recognized.fingerprint.clone(),
            verdict: group.verdict,
            standing,
            counts,
            contradicted: is_conflict && group.verdict == Verdict::Disputed,
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
            description: self.description(group, lead).to_owned(),
            suggestion: lead.suggestion.clone(),
            trigger: lead.trigger.clone(),
            frame: file.map_or_else(Vec::new, |file| frame(file, lead)),
            voices: members
                .iter()
                .map(|index| self.voice(member(*index)))
                .collect(),
            dissent: self.dissent(group),
            rounds: self.rounds(group),
            judgement: rounds::weighed(group),
            advisories: self.advised(group),
            precedents: Vec::new(),
            similar: recognized.similar.clone(),
            linked: Vec::new(),
            team_ruling: None,
            trace: group.trace.lines().to_vec(),
            score: group.score,
            question: settlement.question(group),
            reasons: settlement.reasons(group),
            reversal: settlement.reversal(group, reversal).join(" "),
        };
        let higher = finding.rated_higher();
        finding.dissent.extend(higher);
        finding
    }

    /// Returns what the lead says: as its author put it in the end, in full, or its title. All texts
    /// of a finding come from one member; what the others say stands beside it.
    fn description<'g>(&'g self, group: &'g Group, lead: &'g Finding) -> &'g str {
        let defenses = group.defenses.iter();
        let mut defenses = defenses.map(|index| &self.settlement.defenses[*index as usize]);
        let own =
            defenses.find(|one| one.reviewer == lead.reviewer && one.revised_description.is_some());
        let revised = own.and_then(|one| one.revised_description.as_deref());
        revised.unwrap_or(match lead.description.as_str() {
            "" => &lead.title,
            full => full,
        })
    }

    /// Returns tag and severity of a finding: those agreed upon, or the gravest that anybody gave
    /// to what is disputed. As long as nobody has settled it, a low voice must not hide a loud one,
    /// and thin evidence does not turn a tag into a milder one.
    fn weight(&self, group: &Group) -> (Label, Severity) {
        let severity = match group.verdict {
            Verdict::Accepted | Verdict::Rejected => group.severity,
            Verdict::Disputed => group.gravity,
        };
        let fits = |label: &Label| label.severity() == group.gravity;
        let members = shown_order(self.settlement, group);
        let findings = members
            .iter()
            .map(|index| &self.settlement.findings[*index as usize]);
        let own = findings.filter_map(|one| one.label).find(fits);
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
        let claimed = self.ground.claim(finding).claimed;
        Voice {
            reviewer: finding.reviewer.clone(),
            family: finding.family.clone(),
            id: finding.id.clone(),
            rule: finding.rule.clone(),
            title: finding.title.clone(),
            description: finding.description.clone(),
            location: finding.location.clone(),
            place: claimed.place,
            scope: claimed.scope,
            signature: claimed.signature,
            category: finding.category,
            suggestion: finding.suggestion.clone(),
            trigger: finding.trigger.clone(),
            quote: finding.quote.clone(),
            label: finding.label,
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

/// Returns the members of a group as they are shown: first the one that carries its weight, which
/// lends the finding its texts, then the others.
fn shown_order(settlement: &Settlement, group: &Group) -> Vec<u32> {
    let conceded = group.notes.iter().find_map(|note| match note {
        Note::PartlyConceded(families) => Some(families.as_slice()),
        _ => None,
    });
    let carries = |member: &u32| {
        let finding = &settlement.findings[*member as usize];
        let label = finding.label.map(Label::severity);
        let stands = conceded.is_none_or(|families| !families.contains(&finding.family));
        stands && finding.severity.max(label) == Some(group.gravity)
    };
    let mut members = group.members.clone();
    if let Some(at) = members.iter().position(carries) {
        members[..=at].rotate_right(1);
    }
    members
}

/// Returns the place of a finding as the team's rulings tell places apart.
fn cited_place(identity: Identity) -> CitedPlace {
    CitedPlace {
        code: identity.code,
        scope: identity.scope,
        signature: identity.signature,
        is_only: identity.is_only,
    }
}

/// Returns what the findings of a settlement claim, group by group.
pub(super) fn sightings(settlement: &Settlement, ground: &Ground<'_>) -> Vec<Sighting> {
    let sighting = |group: &Group| {
        let members = shown_order(settlement, group);
        let claim = |member: &u32| ground.claim(&settlement.findings[*member as usize]);
        Sighting {
            claims: members.iter().map(claim).collect(),
        }
    };
    settlement.groups.iter().map(sighting).collect()
}

/// Returns a name for a finding that no earlier review reported: by the place of its lead, and by the
/// rule or the title.
pub(super) fn mint(sighting: &Sighting, number: u32) -> String {
    let Some(lead) = sighting.claims.first() else {
        return fingerprint("", "", number);
    };
    let claimed = &lead.claimed;
    let claim = match claimed.rule.as_str() {
        "" => claimed.text.title(),
        rule => rule,
    };
    fingerprint(&claimed.place, claim, number)
}

/// Returns what the voices of a finding claim, the lead first.
pub(crate) fn claimed(finding: &ReviewedFinding) -> Vec<Claimed> {
    let voices = finding.voices.iter();
    let claimed = voices.map(|voice| Claimed {
        place: voice.place.clone(),
        category: voice.category.unwrap_or(Category::Other),
        rule: voice.rule.clone(),
        text: ClaimText::new(&voice.title, &voice.description)
            .with_details(&[&voice.trigger, &voice.suggestion]),
        scope: voice.scope.clone(),
        signature: voice.signature.clone(),
    });
    claimed.collect()
}

/// Returns who gave no complete answer about a change that needs one, one sentence each.
///
/// Prose and data pass unread, so a reviewer who did not read them stops nothing. The built-in
/// reviewers search any file for what must not be in it.
pub(super) fn missing_for_gate(
    request: &ReviewRequest,
    change: &Change,
    reviewers: &[ReviewerSummary],
) -> Vec<String> {
    let needs_nobody = |file: &ChangedFile| Nature::of(&file.path, &file.text).is_prose_or_data();
    let may_pass_unread =
        request.may_skip.contains(&Omission::NotCode) && change.files.iter().all(needs_nobody);
    if !may_pass_unread {
        return missing(reviewers);
    }
    let is_builtin = |one: &&ReviewerSummary| one.family == super::builtin::FAMILY;
    let own: Vec<ReviewerSummary> = reviewers.iter().filter(is_builtin).cloned().collect();
    missing(&own)
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
