//! The sentences of the report.

use super::Lists;
use crate::consensus::evidence::Evidence;
use crate::consensus::outcome::{Agreement, Conflict, Group, Kind, Note, Settlement, Verdict};
use crate::finding::{Finding, Location};
use crate::reply::Side;
use crate::review::Stance;
use crate::scale::Severity;

/// Returns the description, or the title of a finding that has none.
pub(super) fn fullest(finding: &Finding) -> &str {
    if finding.description.is_empty() {
        &finding.title
    } else {
        &finding.description
    }
}

/// Returns what somebody did in a later round, and why.
pub(super) fn said(action: &str, reasoning: &str) -> String {
    if reasoning.is_empty() {
        action.to_owned()
    } else {
        format!("{action}: {reasoning}")
    }
}

/// Returns why a group was decided as it was.
pub(super) fn notes(settlement: &Settlement, group: &Group) -> String {
    sentences(settlement, group).join(" ")
}

/// Returns why a group was decided as it was, sentence by sentence.
pub(super) fn sentences(settlement: &Settlement, group: &Group) -> Vec<String> {
    let mut sentences = vec![match (group.kind, group.agreement) {
        (Kind::Agreed, Agreement::Unanimous) => "All families of the panel agree.".to_owned(),
        (Kind::Agreed, _) => format!("{} families agree.", group.voices),
        (Kind::Conflicted(about), _) => format!("The reviewers differ about {}.", subject(about)),
        (Kind::Unique, _) => "One family alone reports it here.".to_owned(),
    }];
    let of_notes = group.notes.iter();
    sentences.extend(of_notes.map(|note| sentence(note, settlement, group)));
    sentences
}

fn subject(about: Conflict) -> &'static str {
    match about {
        Conflict::Severity => "how bad it is",
        Conflict::Validity => "whether it is a problem",
        Conflict::RootCause => "the cause",
    }
}

fn sentence(note: &Note, settlement: &Settlement, group: &Group) -> String {
    match note {
        Note::ConflictWon { dissent, .. } => format!(
            "The evidence for it is clearly stronger. {}",
            dissenting(settlement, group, dissent)
        ),
        Note::ConflictMerged(_) => "Both sides bring evidence; it holds what both say.".to_owned(),
        Note::ConflictOpen(_) => "The evidence is balanced.".to_owned(),
        Note::ConflictLost => "The evidence against it is clearly stronger.".to_owned(),
        Note::Dissent(families) => dissenting(settlement, group, families),
        Note::Judged {
            judge,
            side,
            severity,
            reason,
        } => judged(judge, *side, *severity, reason),
        Note::TooFewPoints => format!(
            "A claim that nobody else makes needs more evidence: validation score {}.",
            group
                .score
                .map_or_else(String::new, |score| score.to_string())
        ),
        Note::ThinSingleSource => "Its evidence is thin.".to_owned(),
        Note::ExtraordinaryClaim => {
            "An extraordinary claim that requires extraordinary evidence.".to_owned()
        }
        Note::LittleConfidence => "Too little confidence is left to accept it.".to_owned(),
        Note::Lowered(criteria) => format!(
            "Scrutiny lowered its severity; it lacks {}.",
            criteria.missing().join(", ")
        ),
        Note::FailedScrutiny(criteria) => format!(
            "Scrutiny found too little; it lacks {}.",
            criteria.missing().join(", ")
        ),
        Note::Withdrawn => "Its author withdrew it after it was challenged.".to_owned(),
        Note::ConcededButSupported => "Its author conceded, others still support it.".to_owned(),
        Note::Conceded => "Its author conceded, and nobody else supports it.".to_owned(),
        Note::PartlyConceded(families) => format!("Conceded by {}.", families.join(", ")),
        Note::SupportedInRound2 => "Others supported it in round 2.".to_owned(),
        Note::PushedDown => "The debate left little confidence in it.".to_owned(),
        Note::CriticalUnproven => {
            "A critical finding needs a second family, or high confidence with concrete evidence."
                .to_owned()
        }
        Note::Ungrounded => "The code it points at was not found.".to_owned(),
        Note::AdvisoryConfirms(id) => format!("Confirmed by advisory {id}."),
        Note::AdvisoryPatched(id) => format!("The version in use has the patch of {id}."),
        Note::Outvoted(families) => format!(
            "Rated higher by {}; the median of all families counts.",
            families.join(", ")
        ),
        Note::SameRootCause(1) => {
            "One other finding has the same cause at another place.".to_owned()
        }
        Note::SameRootCause(number) => {
            format!("{number} other findings have the same cause at other places.")
        }
        Note::Subset(1) => "It covers one narrower finding.".to_owned(),
        Note::Subset(number) => format!("It covers {number} narrower findings."),
    }
}

/// Returns who thinks otherwise, each in its own words.
fn dissenting(settlement: &Settlement, group: &Group, families: &[String]) -> String {
    let examined = group.examinations.iter().filter_map(|&index| {
        let one = &settlement.examinations[index as usize];
        let against = one.stance == Stance::Disagree && families.contains(&one.family);
        against.then_some((&one.reviewer, &one.family, one.reasoning.as_str()))
    });
    let lead = settlement.finding(group.lead());
    let reported = group.members.iter().filter_map(|&member| {
        let one = settlement.finding(member);
        let against = one.family != lead.family && families.contains(&one.family);
        against.then(|| (&one.reviewer, &one.family, fullest(one)))
    });
    let mut opinions: Vec<String> = Vec::new();
    let mut heard: Vec<&str> = Vec::new();
    for (who, family, says) in examined.chain(reported) {
        heard.push(family);
        let opinion = said(who, says);
        if !opinions.contains(&opinion) {
            opinions.push(opinion);
        }
    }
    let unheard = families.iter().filter(|one| !heard.contains(&one.as_str()));
    opinions.extend(unheard.cloned());
    let opinions: Vec<&str> = opinions
        .iter()
        .map(|one| one.trim_end_matches('.'))
        .collect();
    format!("Dissent: {}.", opinions.join("; "))
}

fn judged(judge: &str, side: Side, severity: Option<Severity>, reason: &str) -> String {
    let found = match (side, severity) {
        (Side::For, Some(severity)) => format!("that the evidence bears out severity {severity}"),
        (Side::For, None) => "the evidence for it better".to_owned(),
        (Side::Against, _) => "the evidence against it better".to_owned(),
        (Side::Balanced, _) => "the evidence balanced".to_owned(),
    };
    format!("The judge {judge} finds {found}: {reason}")
}

/// Returns what would reverse a rejection: the evidence that the finding lacks.
pub(super) fn reversal(settlement: &Settlement, group: &Group) -> String {
    if group.notes.contains(&Note::Withdrawn) {
        return "A reviewer who reports it anew with evidence that answers the challenge."
            .to_owned();
    }
    let lead = settlement.finding(group.lead());
    let evidence = Evidence::of(lead, lead.severity.unwrap_or(group.severity));
    let lacking = match (evidence.cites_code, evidence.concrete_trigger) {
        (true, true) => "a reviewer who is surer of it",
        (true, false) => "an input or a situation that makes it happen",
        (false, true) => "the code that does it",
        (false, false) => "the code that does it and what makes it happen",
    };
    format!("A second family that reports the same, or {lacking}.")
}

/// Returns what a human must answer to settle a dispute.
pub(super) fn questions(group: &Group) -> Vec<String> {
    let mut questions: Vec<String> = group.notes.iter().filter_map(question).collect();
    questions.dedup();
    questions
}

fn question(note: &Note) -> Option<String> {
    let text = match note {
        Note::ConflictOpen(Conflict::Severity) => "Which severity does the impact justify?",
        Note::ConflictOpen(Conflict::RootCause) => "Which diagnosis explains the symptom?",
        Note::ConflictOpen(Conflict::Validity) | Note::ConflictLost => {
            "Is it a problem in this code, or is it prevented elsewhere?"
        }
        Note::FailedScrutiny(_) => "Where is the problem, and what makes it happen?",
        Note::CriticalUnproven | Note::ExtraordinaryClaim => {
            "Is there a concrete input that makes it happen?"
        }
        Note::Conceded => "Was the author right to take it back?",
        Note::PushedDown | Note::SupportedInRound2 => "Do the objections hold?",
        Note::Ungrounded => "Which code does it mean?",
        Note::LittleConfidence => "Does a second look confirm it?",
        Note::ConflictWon { .. }
        | Note::Judged { .. }
        | Note::ConflictMerged(_)
        | Note::TooFewPoints
        | Note::ThinSingleSource
        | Note::Lowered(_)
        | Note::Withdrawn
        | Note::ConcededButSupported
        | Note::PartlyConceded(_)
        | Note::Dissent(_)
        | Note::AdvisoryConfirms(_)
        | Note::AdvisoryPatched(_)
        | Note::Outvoted(_)
        | Note::SameRootCause(_)
        | Note::Subset(_) => return None,
    };
    Some(text.to_owned())
}

/// Returns what a human should look at.
pub(super) fn action(group: &Group, location: &Location) -> String {
    let urgency = if group.escalate {
        "Decide before merging"
    } else {
        "Look when convenient"
    };
    format!("{urgency}: read {location} and answer the open questions.")
}

/// Returns one sentence for each reviewer that did not answer.
pub(super) fn incomplete(settlement: &Settlement) -> Vec<String> {
    let silent = settlement.silent.iter();
    silent
        .map(|name| format!("Debate incomplete — {name} did not respond"))
        .collect()
}

/// Returns the outcome in a few sentences.
pub(super) fn summary(settlement: &Settlement, lists: &Lists) -> String {
    let mut sentences = Vec::new();
    let (accepted, rejected, disputed) = (
        lists.accepted.len(),
        lists.rejected.len(),
        lists.disputed.len(),
    );
    if settlement.groups.is_empty() {
        sentences.push(nothing_found(settlement));
    } else {
        sentences.push(format!(
            "Debate consensus: {accepted} confirmed, {rejected} dismissed, {disputed} disputed."
        ));
        let worst = settlement.groups.first();
        if let Some(worst) = worst.filter(|_| accepted > 0) {
            let title = &settlement.findings[worst.lead() as usize].title;
            let title = crate::text::truncate_chars(title, 120);
            sentences.push(format!("Worst: {} ({}).", title, worst.severity));
        }
        let agreed = settlement
            .groups
            .iter()
            .filter(|group| group.kind == Kind::Agreed);
        sentences.push(format!("Families agree on {}.", agreed.count()));
        sentences.extend(disagreements(settlement));
        sentences.push(risk(settlement));
        let urgent = settlement
            .groups
            .iter()
            .filter(|group| group.escalate)
            .count();
        match urgent {
            0 => {}
            1 => sentences.push("1 needs a human before merging.".to_owned()),
            _ => sentences.push(format!("{urgent} need a human before merging.")),
        }
    }
    sentences.extend(incomplete(settlement).into_iter().map(|text| text + "."));
    sentences.join(" ")
}

/// Returns how contradictions ended, if there were any.
fn disagreements(settlement: &Settlement) -> Option<String> {
    let contested = settlement.groups.iter();
    let contested = contested.filter(|group| matches!(group.kind, Kind::Conflicted(_)));
    let (open, ended): (Vec<&Group>, Vec<&Group>) =
        contested.partition(|group| group.verdict == Verdict::Disputed);
    let all = open.len() + ended.len();
    let (kept, open) = (
        ended
            .iter()
            .filter(|group| group.verdict == Verdict::Accepted)
            .count(),
        open.len(),
    );
    let fell = all - kept - open;
    (all > 0).then(|| {
        format!("Reviewers contradict each other about {all}: {kept} stand by their evidence, {fell} fall, {open} stay open.")
    })
}

/// Returns how bad it is: what stands, and what it would be if a dispute came out for the worse.
fn risk(settlement: &Settlement) -> String {
    let worst = |verdict: Verdict| {
        let groups = settlement.groups.iter();
        let of_verdict = groups.filter(|group| group.verdict == verdict);
        of_verdict.map(|group| group.severity).max()
    };
    let (stands, open) = (worst(Verdict::Accepted), worst(Verdict::Disputed));
    let word = stands.map_or("none known", Severity::as_str);
    match open.filter(|open| Some(*open) > stands) {
        Some(open) => format!("Risk: {word}; {open} if what is disputed holds."),
        None => format!("Risk: {word}."),
    }
}

/// Silence is no approval: only reviewers who answered can agree that nothing is wrong.
fn nothing_found(settlement: &Settlement) -> String {
    let answered = settlement.panel.iter();
    let answered = answered
        .filter(|one| !settlement.silent.contains(&one.name))
        .count();
    match answered {
        0 => "No reviewer answered, so nothing is known about the code.".to_owned(),
        1 if !settlement.silent.is_empty() => {
            "The one reviewer that answered reports no findings.".to_owned()
        }
        _ if !settlement.silent.is_empty() => {
            format!("The {answered} reviewers that answered report no findings.")
        }
        _ => "All models agree that the code passed review: no findings.".to_owned(),
    }
}
