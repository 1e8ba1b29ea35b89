//! The question that a contested or weakly supported finding raises, put together from what was said.

use super::words;
use crate::consensus::evidence::{Evidence, is_exact};
use crate::consensus::outcome::{Conflict, Group, Kind, Note, Settlement};
use crate::finding::Finding;
use crate::review::Stance;
use crate::scale::Severity;

/// Longest piece of what somebody said.
const MOST_CHARS: usize = 300;

impl Settlement {
    /// Returns what is asked about a group; empty when nothing is.
    #[must_use]
    pub fn question(&self, group: &Group) -> String {
        match group.kind {
            Kind::Conflicted(about) => self.contradiction(group, about),
            Kind::Agreed | Kind::Unique if is_weak(group) => self.doubt(group),
            Kind::Agreed | Kind::Unique => String::new(),
        }
    }

    /// Returns the suggestion that one can act on best: it names code, it does not hedge, and only
    /// then is it long.
    #[must_use]
    pub fn suggestion(&self, group: &Group) -> &str {
        let withdrawn = group.notes.iter().find_map(|note| match note {
            Note::PartlyConceded(families) => Some(families.as_slice()),
            _ => None,
        });
        let stands = |finding: &&Finding| {
            withdrawn.is_none_or(|families| !families.contains(&finding.family))
        };
        let findings = group.members.iter().map(|&member| self.finding(member));
        let suggestions = findings.filter(stands).map(|one| one.suggestion.as_str());
        let longest = self.finding(group.suggested_by).suggestion.as_str();
        // Of equals the last one wins, so the longest stands last.
        let best = suggestions
            .chain([longest])
            .max_by_key(|text| usefulness(text));
        best.unwrap_or_default()
    }

    /// Returns who claims what on which evidence, and what would decide it.
    fn contradiction(&self, group: &Group, about: Conflict) -> String {
        let lead = self.finding(group.lead());
        let claim = |one: &Finding| {
            let severity = one.severity.unwrap_or(group.severity);
            let title = short(&one.title);
            format!(
                "{} claims {title:?} at {} with severity {severity}",
                one.reviewer, one.location
            )
        };
        let (counter, evidence) = match about {
            Conflict::Validity => self.objection(group),
            Conflict::Severity | Conflict::RootCause => {
                let others = group.members.iter().map(|&member| self.finding(member));
                let other = others
                    .filter(|one| one.family != lead.family)
                    .max_by_key(|one| {
                        let gap = one.severity.map_or(0, |severity| {
                            severity.distance(lead.severity.unwrap_or(group.severity))
                        });
                        (gap, one.description.len())
                    });
                other.map_or_else(Default::default, |one| (claim(one), cited(one)))
            }
        };
        let criteria = match about {
            Conflict::Severity => "what a user or an attacker can make of it decides how bad it is",
            Conflict::Validity => {
                "an input that makes it happen confirms it, code that prevents it denies it"
            }
            Conflict::RootCause => "the cause is the one whose removal makes the symptom go away",
        };
        let mut question = format!("{}, but {counter}.", claim(lead));
        for evidence in [cited(lead), evidence] {
            question.push(' ');
            question.push_str(&evidence);
        }
        format!("{question} Resolution criteria: {criteria}.")
    }

    /// Returns what those who see no problem say, and on which evidence.
    fn objection(&self, group: &Group) -> (String, String) {
        let said = group.examinations.iter();
        let said = said.map(|&index| &self.examinations[index as usize]);
        let against = said.filter(|one| one.stance == Stance::Disagree);
        let Some(best) = against.max_by_key(|one| one.reasoning.len()) else {
            return Default::default();
        };
        let who = &best.reviewer;
        let evidence = match best.reasoning.trim() {
            "" => format!("Evidence from {who}: none."),
            reason => format!("Evidence from {who}: {}.", short(reason)),
        };
        (format!("{who} claims that it is no problem"), evidence)
    }

    /// Returns the weakest side of a finding, and the check that would confirm or deny it.
    fn doubt(&self, group: &Group) -> String {
        let lead = self.finding(group.lead());
        let evidence = Evidence::of(lead, lead.severity.unwrap_or(group.severity));
        let place = &lead.location;
        let (weakest, check) = if !evidence.cites_code {
            (
                "it points at no code".to_owned(),
                "find the line that does it, or show that there is none".to_owned(),
            )
        } else if !evidence.concrete_trigger {
            (
                "nothing says what makes it happen".to_owned(),
                format!(
                    "find an input or a sequence of calls that leads to {place}, or what prevents it"
                ),
            )
        } else if !evidence.justifies_severity {
            (
                format!("nothing says why it is {}", group.severity),
                format!(
                    "let {} happen and look at what a user notices",
                    short(&lead.trigger)
                ),
            )
        } else if !evidence.meets_cause {
            (
                "nothing says what to do about it".to_owned(),
                "write the fix, and a test that fails without it".to_owned(),
            )
        } else {
            (
                "nobody else reports it".to_owned(),
                format!("write a test for it at {place}"),
            )
        };
        let act = if evidence.is_concrete() && group.severity > Severity::Low {
            "A senior engineer would act on it if the check confirms it"
        } else {
            "As it stands a senior engineer would not act on it"
        };
        format!(
            "Claimed: {}. Weakest: {weakest}. To confirm or deny it, {check}. {act}.",
            short(&lead.title)
        )
    }
}

/// Tells whether a group was found to be weakly supported.
fn is_weak(group: &Group) -> bool {
    group.notes.iter().any(|note| {
        matches!(
            note,
            Note::TooFewPoints
                | Note::ThinSingleSource
                | Note::ExtraordinaryClaim
                | Note::LittleConfidence
                | Note::Lowered(_)
                | Note::FailedScrutiny(_)
                | Note::CriticalUnproven
                | Note::PushedDown
        )
    })
}

/// Returns what a finding brings along, as a sentence.
fn cited(finding: &Finding) -> String {
    let parts = [
        ("", words::fullest(finding)),
        ("quotes ", finding.quote.as_str()),
        ("trigger: ", finding.trigger.as_str()),
    ];
    let parts = parts
        .into_iter()
        .filter(|(_, text)| !text.trim().is_empty());
    let parts: Vec<String> = parts
        .map(|(name, text)| format!("{name}{}", short(text)))
        .collect();
    format!("Evidence from {}: {}.", finding.reviewer, parts.join("; "))
}

/// Returns how well one can act on a suggestion.
fn usefulness(suggestion: &str) -> (bool, bool, usize) {
    let hedges = [
        "consider ",
        "maybe ",
        "perhaps ",
        "it may be ",
        "you might ",
    ];
    let text = suggestion.to_ascii_lowercase();
    let firm = !hedges.iter().any(|word| text.contains(word));
    (
        is_exact(suggestion),
        firm && !text.is_empty(),
        suggestion.len(),
    )
}

/// Returns text as a part of a sentence.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let text = text.trim_end_matches('.');
    crate::text::truncate_chars(text, MOST_CHARS).into_owned()
}
