//! What came of an arbitration, in the words that all printers share.

use tribunal_core::dispute::Decision;
use tribunal_core::review::arbitration::{
    ArbitratedFinding, Arbitration, DisputeSummary, Offer, RoundResponse, Verification,
};
use tribunal_core::review::report::ReviewReport;
use tribunal_core::review::response::Answer;

use super::facts;
use super::shown::{NAME, PROSE, TITLE, one_line};

/// How many files are named in a command.
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
pub(super) fn summary(arbitration: &Arbitration) -> Vec<String> {
    let mut lines = Vec::new();
    let coder = one_line(&arbitration.coder, NAME);
    let rounds = facts::count(arbitration.rounds.len(), "round");
    if !arbitration.rounds.is_empty() {
        let files: std::collections::BTreeSet<&str> = arbitration
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
        let problems = round.problems.iter();
        let unused =
            |one: &String| format!("not used of {coder}'s answer: {}", one_line(one, NAME));
        lines.extend(problems.map(unused));
    }
    let offered = arbitration.offer.as_ref();
    lines.extend(offered.map(|offered| offer(offered, arbitration)));
    let end = one_line(&arbitration.end.sentence(), NAME);
    lines.push(format!("it ended because {end}"));
    lines
}

/// Returns what a PASS rests on besides the reviewed files.
pub(super) fn condition(report: &ReviewReport) -> Option<String> {
    let offer = report.arbitration.as_ref()?.offer.as_ref()?;
    Some(match offer {
        Offer::Branch { branch, .. } => {
            format!("with the coder's work on `{}`", one_line(branch, NAME))
        }
        Offer::Patch { file } => format!("with the coder's work in `{}`", one_line(file, NAME)),
        Offer::Applied { .. } => "with the coder's work, which is in your files".to_owned(),
        Offer::Kept { .. } => "with the coder's work, which was not handed over".to_owned(),
    })
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

fn offer(offer: &Offer, arbitration: &Arbitration) -> String {
    match offer {
        Offer::Branch { branch, .. } => {
            let branch = one_line(branch, NAME);
            let rounds = arbitration.rounds.iter();
            let files: std::collections::BTreeSet<String> = rounds
                .flat_map(|round| round.files.iter())
                .map(|file| one_line(&file.path, NAME))
                .collect();
            let files: Vec<String> = files.into_iter().collect();
            // Over uncommitted work, git refuses to merge. A name that a shell would not take as
            // it stands is not put into a command that somebody may copy.
            let restore = match files.len() {
                1..=MOST_NAMED if files.iter().all(|file| is_plain(file)) => {
                    let files = files.join(" ");
                    format!(", or over uncommitted work `git restore -s {branch} -- {files}`")
                }
                _ => String::new(),
            };
            format!(
                "the work is on the branch `{branch}`; take it with `git merge {branch}`{restore}"
            )
        }
        Offer::Patch { file } => {
            let file = one_line(file, NAME);
            format!("the work is in `{file}`; take it with `git apply {file}`")
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

fn is_plain(file: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    !file.starts_with('-') && file.chars().all(plain)
}
