//! The consensus as people read it: what stands, what is open, what fell, who said so and why.

use std::fmt::Write as _;

use tribunal_core::consensus::{Group, Report, Settlement, Trail, Verdict};
use tribunal_core::text::headline;

use crate::report::explain::{listed, one_line, spoken};

/// Returns the whole consensus.
pub(super) fn render(settlement: &Settlement, report: &Report) -> String {
    let bold = anstyle::Style::new().bold();
    let names: Vec<&str> = settlement
        .panel
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    let mut text = format!(
        "{bold}Consensus{bold:#} of {}: {} accepted, {} disputed, {} rejected.\n",
        one_line(&listed(&names)),
        report.consensus.accepted.len(),
        report.consensus.disputed.len(),
        report.consensus.rejected.len(),
    );
    let mut places = Places::default();
    let mut last = None;
    for (number, group) in (1..).zip(&settlement.groups) {
        if last != Some(group.verdict) {
            last = Some(group.verdict);
            let heading = match group.verdict {
                Verdict::Accepted => "Accepted",
                Verdict::Disputed => "Disputed",
                Verdict::Rejected => "Rejected",
            };
            let _ = write!(text, "\n{bold}{heading}{bold:#}\n");
        }
        text.push('\n');
        entry(&mut text, number, settlement, group, report, &mut places);
    }
    if settlement.groups.is_empty() {
        let _ = write!(text, "\n{}\n", one_line(&report.summary));
    } else {
        for sentence in &report.incomplete {
            let _ = write!(text, "\n{}.\n", one_line(sentence));
        }
    }
    text
}

/// Where the next group of each verdict stands in the report.
#[derive(Debug, Default)]
pub(super) struct Places {
    accepted: usize,
    disputed: usize,
    rejected: usize,
}

impl Places {
    /// Returns the place of the next group in the list of its verdict.
    pub(super) fn next(&mut self, verdict: Verdict) -> usize {
        let place = match verdict {
            Verdict::Accepted => &mut self.accepted,
            Verdict::Disputed => &mut self.disputed,
            Verdict::Rejected => &mut self.rejected,
        };
        *place += 1;
        *place - 1
    }
}

fn entry(
    text: &mut String,
    number: usize,
    settlement: &Settlement,
    group: &Group,
    report: &Report,
    places: &mut Places,
) {
    let lead = &settlement.findings[group.lead() as usize];
    let _ = writeln!(
        text,
        "{number:>3}. {} {}  {}  {}",
        group.severity,
        group.confidence,
        one_line(&lead.location.to_string()),
        one_line(&headline(&lead.title, 120))
    );
    let mut line = |words: &str| {
        if !words.trim().is_empty() {
            let _ = writeln!(text, "     {}", one_line(words));
        }
    };
    line(&format!("By {}.", authors(settlement, group)));
    let place = places.next(group.verdict);
    match group.verdict {
        Verdict::Accepted => {
            let accepted = &report.consensus.accepted[place];
            let finding = &report.findings[place];
            line(&accepted.resolution_notes);
            statements(&finding.cross_examination_trail).for_each(|said| line(&said));
            line(&confidence(&finding.cross_examination_trail));
            let described = &settlement.findings[group.described_by as usize].description;
            line(group.revised_description.as_ref().unwrap_or(described));
            if !finding.suggestion.is_empty() {
                line(&format!("Fix: {}", finding.suggestion));
            }
        }
        Verdict::Disputed => {
            let disputed = &report.consensus.disputed[place];
            for (who, says) in &disputed.perspectives {
                line(&format!("{who} says {says}"));
            }
            let trail = &disputed.details.cross_examination_trail;
            line(&plea(trail).unwrap_or_default());
            line(&confidence(trail));
            line(&format!(
                "Open: {}",
                disputed.unresolved_questions.join(" ")
            ));
            line(&disputed.details.question);
            line(&disputed.recommended_action);
        }
        Verdict::Rejected => {
            let rejected = &report.consensus.rejected[place];
            line(&rejected.rejection_reason);
            let trail = &rejected.details.cross_examination_trail;
            statements(trail).for_each(|said| line(&said));
            line(&confidence(trail));
            line(&format!(
                "Would be reversed by: {}",
                rejected.reversal_criteria
            ));
        }
    }
}

/// Returns who reported a group, with what each of them stated.
fn authors(settlement: &Settlement, group: &Group) -> String {
    let mut stated = Vec::new();
    for &member in &group.members {
        let finding = &settlement.findings[member as usize];
        let severity = finding.severity.map(|severity| severity.to_string());
        let confidence = finding.confidence.map(|confidence| confidence.to_string());
        let words: Vec<String> = [severity, confidence].into_iter().flatten().collect();
        let words = if words.is_empty() {
            finding.reviewer.clone()
        } else {
            format!("{} ({})", finding.reviewer, words.join(" "))
        };
        if !stated.contains(&words) {
            stated.push(words);
        }
    }
    let stated: Vec<&str> = stated.iter().map(String::as_str).collect();
    listed(&stated)
}

fn confidence(trail: &Trail) -> String {
    format!("Confidence: {}", trail.final_confidence_calculation)
}

/// Returns what was said in rounds 2 and 3, one sentence each.
pub(super) fn statements(trail: &Trail) -> impl Iterator<Item = String> {
    let named = trail.round2.by_reviewer.iter();
    let listed = trail.round2.claude_reviewers.iter();
    let listed = listed.map(|one| (&one.reviewer, &one.response));
    let mut said: Vec<String> = named
        .chain(listed)
        .filter(|(_, response)| response.action != "N/A")
        .map(|(name, response)| {
            spoken(
                name,
                &response.action,
                response.confidence_adjustment,
                &response.reasoning,
            )
        })
        .collect();
    said.extend(plea(trail));
    said.into_iter()
}

/// Returns what the author said in round 3.
fn plea(trail: &Trail) -> Option<String> {
    let said = &trail.round3;
    (said.action != "N/A").then(|| {
        spoken(
            &said.defender,
            &said.action,
            said.confidence_adjustment,
            &said.reasoning,
        )
    })
}
