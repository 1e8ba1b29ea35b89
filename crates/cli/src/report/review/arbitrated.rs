//! What came of an arbitration, in the words that all printers share.

use std::collections::BTreeSet;

use tribunal_core::dispute::{Decision, lack_of_evidence};
use tribunal_core::review::arbitration::{
    ArbitratedFinding, Arbitration, DisputeSummary, End, FindingState, Offer, RoundResponse,
    Verification,
};
use tribunal_core::review::gate::{Gate, GateWord};
use tribunal_core::review::report::{ReviewReport, ReviewedFinding};
use tribunal_core::review::response::Answer;

use super::facts;
use super::shown::{NAME, PROSE, TITLE, one_line};

/// How many disputes are named with the command that rules on them.
const MOST_NAMED: usize = 5;

/// One finding with all that was said and decided about it.
pub(super) struct Story {
    /// Its short name.
    pub(super) id: String,
    /// Where it stood.
    pub(super) place: String,
    /// The finding in one line.
    pub(super) title: String,
    /// How it stands in the end.
    pub(super) state: &'static str,
    /// What happened, in order: who, and what was said.
    pub(super) steps: Vec<(String, String)>,
}

/// Returns the story of each finding that was put to the coder, or came late.
pub(super) fn stories(arbitration: &Arbitration) -> impl Iterator<Item = Story> + '_ {
    arbitration
        .findings
        .iter()
        .map(|finding| story(&arbitration.coder, finding))
}

/// Returns how one finding stands after the arbitration and what led there, as lines.
pub(crate) fn told_of(report: &ReviewReport, finding: &str) -> Vec<String> {
    let Some(arbitration) = &report.arbitration else {
        return Vec::new();
    };
    let mut findings = arbitration.findings.iter();
    let Some(found) = findings.find(|one| one.id == finding && one.raised_in == 0) else {
        return Vec::new();
    };
    let story = story(&arbitration.coder, found);
    let steps = story.steps.into_iter();
    let mut lines: Vec<String> = steps.map(|(who, says)| format!("{who}: {says}")).collect();
    lines.push(facts::sentence(story.state));
    lines
}

/// Returns the end of the arbitration, and where the work is, as sentences without a full stop.
pub(super) fn summary(report: &ReviewReport) -> Vec<String> {
    let Some(arbitration) = &report.arbitration else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    let coder = one_line(&arbitration.coder, NAME);
    let rounds = facts::count(arbitration.rounds.len(), "round");
    if !arbitration.rounds.is_empty() {
        let files: BTreeSet<&str> = arbitration
            .rounds
            .iter()
            .flat_map(|round| round.files.iter())
            .map(|file| file.path.as_str())
            .collect();
        let files = facts::count(files.len(), "file");
        lines.push(format!(
            "the coder {coder} worked for {rounds} and changed {files}"
        ));
    }
    for round in &arbitration.rounds {
        let not_taken = round.not_taken.iter();
        lines.extend(not_taken.map(|one| format!("not taken: {}", one_line(one, NAME))));
        // Where everything was answered, what else the coder wrote changed nothing.
        if arbitration
            .findings
            .iter()
            .any(|one| is_unanswered(one, round.round))
        {
            let problems: BTreeSet<&String> = round.problems.iter().collect();
            let unused =
                |one: &String| format!("not used of {coder}'s answer: {}", one_line(one, NAME));
            lines.extend(problems.into_iter().map(unused));
        }
    }
    let offered = arbitration.offer.as_ref();
    lines.extend(offered.map(|offered| offer(offered, report)));
    let end = one_line(&arbitration.end.sentence(), NAME);
    lines.push(format!("it ended because {end}"));
    lines
}

fn is_unanswered(finding: &ArbitratedFinding, round: u32) -> bool {
    let mut responses = finding.responses.iter();
    responses.any(|one| one.round == round && one.response.is_none())
}

/// Returns what a PASS rests on besides the reviewed files.
pub(super) fn condition(report: &ReviewReport) -> Option<String> {
    let offer = report.arbitration.as_ref()?.offer.as_ref()?;
    // A PASS beside an offer does not need the offered work; before 0.2 it did.
    let needs_offer = report.gate_with_offer.is_none();
    match offer {
        Offer::Branch { branch, .. } => {
            let branch = one_line(branch, NAME);
            needs_offer.then(|| format!("with the coder's work on `{branch}`"))
        }
        Offer::Patch { file } => {
            let file = one_line(file, NAME);
            needs_offer.then(|| format!("with the coder's work in `{file}`"))
        }
        Offer::Applied { .. } => Some("with the coder's work, which is in your files".to_owned()),
        Offer::Kept { why, .. } => {
            let why = one_line(why, NAME);
            Some(format!("with the coder's work, which was kept ({why})"))
        }
    }
}

/// What to do next, with the command for it.
pub(super) struct NextStep {
    /// What to do, as the beginning of a sentence.
    pub(super) says: String,
    /// What to type.
    pub(super) command: String,
}

impl NextStep {
    /// Returns it in one line.
    pub(super) fn sentence(&self) -> String {
        format!("{}: `{}`", self.says, self.command)
    }
}

/// Returns the gate with the offered work and how to take it over, where that makes a PASS of
/// something else.
fn pass_with_offer(report: &ReviewReport) -> Option<NextStep> {
    let with = report.gate_with_offer.as_ref()?;
    let place = with.branch.as_ref().or(with.patch.as_ref())?;
    let is_better = with.gate == GateWord::Pass && report.gate != Gate::Pass;
    is_better.then(|| NextStep {
        says: format!("PASS with `{}`; take the work over", one_line(place, NAME)),
        command: one_line(&with.command, NAME),
    })
}

/// Returns what to do next: take the work over, or rule.
pub(super) fn next_steps(report: &ReviewReport) -> Vec<NextStep> {
    let mut steps: Vec<NextStep> = pass_with_offer(report).into_iter().collect();
    let findings = report.arbitration.iter().flat_map(|one| &one.findings);
    let waiting: Vec<(&ArbitratedFinding, &DisputeSummary)> = findings
        .filter_map(|finding| Some((finding, waits_for(finding)?)))
        .collect();
    if report.gate == Gate::Pass {
        return steps;
    }
    let end = report.arbitration.as_ref().map(|one| &one.end);
    if matches!(end, Some(End::CoderMissing { .. })) && report.can_go_on() {
        steps.push(NextStep {
            says: "As soon as the coder can answer, go on".to_owned(),
            command: format!("tribunal resume {}", report.case),
        });
    }
    if waiting.is_empty() {
        return steps;
    }
    for (finding, dispute) in waiting.iter().take(MOST_NAMED) {
        let (id, finding) = (one_line(&dispute.id, NAME), one_line(&finding.id, NAME));
        steps.push(NextStep {
            says: format!("Dispute {id} about {finding} is open; rule on it"),
            command: format!(
                "tribunal dispute resolve {id} --decision coder|reviewer|custom --notes TEXT"
            ),
        });
    }
    steps.push(match report.can_go_on() {
        true => NextStep {
            says: "Then go on".to_owned(),
            command: format!("tribunal resume {}", report.case),
        },
        // A review that has failed is over.
        false => NextStep {
            says: "Then review again".to_owned(),
            command: "tribunal review --arbitrate".to_owned(),
        },
    });
    steps
}

/// Returns the dispute about a finding that nobody has ruled on.
fn waits_for(finding: &ArbitratedFinding) -> Option<&DisputeSummary> {
    let last = finding.disputes.last()?;
    (finding.state == FindingState::AwaitingRuling && last.decision.is_none()).then_some(last)
}

/// Returns how a finding of the review ended before the coder, where the arbitration settled it or
/// left it to a ruling.
pub(super) fn outcome(report: &ReviewReport, finding: &ReviewedFinding) -> Option<String> {
    let arbitration = report.arbitration.as_ref()?;
    let mut findings = arbitration.findings.iter();
    let found = findings.find(|one| one.id == finding.id && one.raised_in == 0)?;
    let coder = one_line(&arbitration.coder, NAME);
    let label = found.label;
    let ruled = || {
        let last = found.disputes.last()?;
        let (by, id) = (one_line(&last.by, NAME), one_line(&last.id, NAME));
        Some(format!(" by {by} (dispute {id})"))
    };
    Some(match found.state {
        FindingState::Fixed => {
            let place = match &arbitration.offer {
                Some(Offer::Branch { branch, .. }) => format!(" on `{}`", one_line(branch, NAME)),
                Some(Offer::Patch { file }) => format!(" in `{}`", one_line(file, NAME)),
                Some(Offer::Applied { .. } | Offer::Kept { .. }) | None => String::new(),
            };
            let checker = found
                .checks
                .iter()
                .rev()
                .find(|one| one.fixed == Some(true));
            let by = checker.map_or_else(String::new, |one| {
                format!(" and checked by {}", one_line(&one.by, NAME))
            });
            format!("{label}, fixed by {coder}{place}{by}")
        }
        FindingState::Discarded => format!("{label}, discarded by {coder}"),
        FindingState::Dismissed => {
            let by = ruled().unwrap_or_default();
            format!("{label}, dismissed{by}")
        }
        FindingState::AwaitingRuling => {
            let id = waits_for(found).map(|one| one_line(&one.id, NAME));
            let id = id.map_or_else(String::new, |id| format!(" in dispute {id}"));
            format!("{label}, awaits a ruling{id}")
        }
        FindingState::ToDo
        | FindingState::Claimed
        | FindingState::Contested
        | FindingState::Logged
        | FindingState::Open { .. } => return None,
    })
}

/// Returns in a word how a finding of the review ended before the coder.
pub(super) fn word(report: &ReviewReport, finding: &ReviewedFinding) -> Option<&'static str> {
    let mut findings = report.arbitration.as_ref()?.findings.iter();
    let found = findings.find(|one| one.id == finding.id && one.raised_in == 0)?;
    Some(found.state.phrase())
}

/// Returns how many findings the coder fixed.
pub(super) fn fixed(report: &ReviewReport) -> usize {
    let findings = report.arbitration.iter().flat_map(|one| &one.findings);
    let fixed = findings.filter(|one| one.state == FindingState::Fixed);
    fixed.count()
}

fn story(coder: &str, finding: &ArbitratedFinding) -> Story {
    let mut steps: Vec<(u32, u8, String, String)> = Vec::new();
    for one in &finding.responses {
        let (who, says) = response(coder, one);
        steps.push((one.round, 1, who, says));
    }
    for (index, one) in finding.disputes.iter().enumerate() {
        let (who, says) = dispute(one);
        // A dispute follows the answer that it is about; that of a split review comes first.
        let round = finding
            .responses
            .get(index)
            .map_or(u32::MAX, |one| one.round);
        let round = match finding.responses.is_empty() {
            true => 0,
            false => round,
        };
        steps.push((round, 2, who, says));
    }
    for one in &finding.checks {
        let (who, says) = check(one);
        steps.push((one.round, 3, who, says));
    }
    steps.sort_by_key(|(round, order, ..)| (*round, *order));
    let late = match finding.raised_in {
        0 => String::new(),
        round => format!(" (raised after round {round})"),
    };
    Story {
        id: one_line(&finding.id, NAME),
        place: one_line(&finding.location.to_string(), NAME),
        title: format!("{}{late}", one_line(&finding.title, TITLE)),
        state: finding.state.phrase(),
        steps: steps
            .into_iter()
            .map(|(.., who, says)| (who, says))
            .collect(),
    }
}

fn response(coder: &str, one: &RoundResponse) -> (String, String) {
    let who = format!("{} in round {}", one_line(coder, NAME), one.round);
    let Some(response) = &one.response else {
        return (who, "gave no answer that could be read".to_owned());
    };
    let mut says = match &response.answer {
        Answer::Objected {
            objection,
            evidence,
        } => {
            let mut says = format!("objected, {}", one_line(&objection.phrase(), NAME));
            for piece in evidence {
                says.push_str(&format!(
                    "; {} {} ({})",
                    piece.kind.phrase(),
                    one_line(&piece.reference, NAME),
                    one_line(&piece.check.phrase(), NAME)
                ));
            }
            if let Some(lack) = lack_of_evidence(evidence) {
                says.push_str(&format!("; {lack}"));
            }
            says
        }
        answer @ (Answer::Implemented | Answer::Discarded) => answer.to_string(),
    };
    if !response.justification.is_empty() {
        says.push_str(&format!(": {}", one_line(&response.justification, PROSE)));
    }
    (who, says)
}

fn dispute(one: &DisputeSummary) -> (String, String) {
    let who = format!("dispute {}", one_line(&one.id, NAME));
    let reason = one_line(&one.reason, PROSE);
    let says = match &one.decision {
        None => format!("waits: {reason}"),
        Some(decision) => {
            let by = one_line(&one.by, NAME);
            let mut says = format!("{decision} by {by}: {reason}");
            if let Decision::Amend { instructions } = decision {
                says.push_str(&format!(" Instead: {}", one_line(instructions, PROSE)));
            }
            says
        }
    };
    (who, says)
}

fn check(one: &Verification) -> (String, String) {
    let word = match one.fixed {
        Some(true) => "fixed",
        Some(false) => "not fixed",
        None => "not checked",
    };
    let who = format!("{} after round {}", one_line(&one.by, NAME), one.round);
    (who, format!("{word}: {}", one_line(&one.reason, PROSE)))
}

fn offer(offer: &Offer, report: &ReviewReport) -> String {
    let with = report.gate_with_offer.as_ref();
    let command = |otherwise: String| {
        let command = with.map_or(otherwise, |with| with.command.clone());
        one_line(&command, NAME)
    };
    match offer {
        Offer::Branch { branch, why, .. } => {
            let branch = one_line(branch, NAME);
            let take = command(format!("git merge {branch}"));
            let why = match one_line(why, NAME) {
                why if why.is_empty() => why,
                why => format!(" because {why}"),
            };
            format!("the work is on the branch `{branch}`{why}; take it with `{take}`")
        }
        Offer::Patch { file } => {
            let file = one_line(file, NAME);
            let take = command(format!("git apply {file}"));
            format!("the work is in `{file}`; take it with `{take}`")
        }
        Offer::Applied { files } => {
            let files: Vec<String> = files.iter().map(|one| one_line(one, NAME)).collect();
            format!("the work is in your files: {}", files.join(", "))
        }
        Offer::Kept { commit, why } => format!(
            "the work was not handed over: {}; it is the commit {} of our clone",
            one_line(why, NAME),
            one_line(commit, 12)
        ),
    }
}
