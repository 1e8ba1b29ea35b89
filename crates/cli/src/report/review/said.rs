//! What was said about a finding after the first round: by reviewers, a judge and advisories.

use tribunal_core::reply::Side;
use tribunal_core::review::report::{Dissent, ReviewedFinding, Statement, Weighed};

use super::shown::{NAME, PROSE, one_line};
use crate::report::explain;

/// One statement, as every printer shows it: `Round 2  codex (openai): disagrees (-10): …`.
pub(super) struct Said {
    /// What kind of statement it is.
    pub(super) name: &'static str,
    /// Who made it.
    pub(super) who: String,
    /// What was said.
    pub(super) says: String,
}

impl Said {
    /// Returns who said what in one line.
    pub(super) fn sentence(&self) -> String {
        format!("{}: {}", self.who, self.says)
    }
}

/// Returns all statements about a finding, in the order in which they were made.
///
/// With rounds on record the dissent is part of them, except for ratings; without, it stands for
/// itself.
pub(super) fn said_of(finding: &ReviewedFinding) -> Vec<Said> {
    let mut all: Vec<Said> = finding.rounds.iter().map(stated).collect();
    let mut dissent = finding.rated_higher();
    if all.is_empty() {
        let others = finding.dissent.iter();
        let others: Vec<Dissent> = others
            .filter(|one| !dissent.contains(one))
            .cloned()
            .collect();
        dissent.splice(0..0, others);
    }
    all.extend(dissent.iter().map(|one| Said {
        name: "Dissent",
        who: one_line(&one.reviewer, NAME),
        says: one_line(&one.says, PROSE),
    }));
    all.extend(finding.judgement.iter().map(weighed));
    all.extend(finding.advisories.iter().map(|outcome| Said {
        name: "Advisory",
        who: "OSV".to_owned(),
        says: one_line(&explain::advisory(outcome), PROSE),
    }));
    all
}

fn stated(said: &Statement) -> Said {
    let mut says = explain::spoken(
        "",
        &said.action.to_string(),
        said.adjustment.get(),
        &said.reasoning,
    );
    if let Some(severity) = said.revised_severity {
        says.push_str(&format!(" (now {severity})"));
    }
    if let Some(description) = &said.revised_description {
        says.push_str(&format!(" Now: {description}"));
    }
    if let Some(why) = &said.not_counted {
        says.push_str(&format!(" (not counted: {why})"));
    }
    Said {
        name: if said.round == 2 {
            "Round 2"
        } else {
            "Round 3"
        },
        who: one_line(&format!("{} ({})", said.reviewer, said.family), NAME),
        says: one_line(&says, PROSE),
    }
}

fn weighed(judged: &Weighed) -> Said {
    let side = match judged.side {
        Side::For => "the evidence is with those who report it",
        Side::Against => "the evidence is with those who say otherwise",
        Side::Balanced => "the evidence is balanced",
    };
    let severity = judged.severity;
    let severity = severity.map_or_else(String::new, |level| format!(", severity {level}"));
    Said {
        name: "Judge",
        who: one_line(&judged.judge, NAME),
        says: one_line(&format!("{side}{severity}: {}", judged.reason), PROSE),
    }
}
