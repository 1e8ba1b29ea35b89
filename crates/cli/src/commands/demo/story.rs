//! The story: which commands are typed, in which order, and what is said before them.

use super::stage::Stage;
use super::whereabouts::Whereabouts;
use crate::error::CliError;
use crate::exit::Exit;
use crate::report::{fill, stdout_width};

/// One command of the story.
pub(super) struct Scene {
    /// A heading and a few sentences before it, where a new part begins.
    pub(super) told: Option<(&'static str, &'static str)>,
    /// What is typed after `tribunal`; words in capitals stand for ids that are looked up.
    words: &'static [&'static str],
    /// The exit codes with which it may end.
    pub(super) ends: &'static [i32],
    /// How to go on when it was interrupted.
    pub(super) again: Again,
}

/// How to go on with a scene that was interrupted.
#[derive(Clone, Copy)]
pub(super) enum Again {
    /// By resuming the case that it opened.
    Resume,
    /// By doing it once more, which changes nothing.
    Repeat,
}

const PASS: i32 = Exit::Pass as i32;
const FAIL: i32 = Exit::Fail as i32;

/// All scenes in their order.
pub(super) const SCENES: [Scene; 8] = [
    Scene {
        told: Some((
            "1. A review, a dispute, a ruling",
            "Three new functions, not yet committed. ann, bob and eve read them, none seeing what \
             another writes, and so does a built-in reviewer that is no model. They disagree. What \
             stands is settled by arithmetic; cody, the coder, objects to one finding, and jude, who \
             belongs to neither side, rules. The mended code is offered on a branch: the files of the \
             user fail until they take it over.",
        )),
        words: &["review", "--arbitrate"],
        ends: &[FAIL],
        again: Again::Resume,
    },
    Scene {
        told: Some((
            "2. Why?",
            "eve's finding was rejected. Every number of that can be asked for.",
        )),
        words: &["explain", "FINDING"],
        ends: &[PASS],
        again: Again::Repeat,
    },
    Scene {
        told: Some((
            "3. A trial",
            "Several answers to one question. The arbiter designs the contestants, then, having seen \
             their answers, the judges. The verdict says how sure it is.",
        )),
        words: &["trial", super::cast::CHALLENGE],
        ends: &[PASS],
        again: Again::Resume,
    },
    Scene {
        told: Some((
            "4. A list of work",
            "cody works through it, each task in a place of its own; the panel reviews the work. One \
             task is sent back twice: that becomes a dispute, which is parked, and the loop goes on.",
        )),
        words: &["task", "import", "TASKS.md"],
        ends: &[PASS],
        again: Again::Repeat,
    },
    Scene {
        told: None,
        words: &["run"],
        ends: &[PASS],
        again: Again::Resume,
    },
    Scene {
        told: None,
        words: &["task", "list"],
        ends: &[PASS],
        again: Again::Repeat,
    },
    Scene {
        told: None,
        words: &["dispute", "show", "DISPUTE"],
        ends: &[PASS],
        again: Again::Repeat,
    },
    Scene {
        told: Some((
            "5. The record",
            "All of it is in one ledger: cases that can be shown, resumed and replayed.",
        )),
        words: &["log"],
        ends: &[PASS],
        again: Again::Repeat,
    },
];

impl Scene {
    /// Returns what is typed, ids looked up.
    pub(super) fn line(&self, stage: &Stage) -> Result<Vec<String>, CliError> {
        let word = |word: &&str| match *word {
            "FINDING" => rejected_finding(stage),
            "DISPUTE" => parked_dispute(stage),
            word => Ok(word.to_owned()),
        };
        self.words.iter().map(word).collect()
    }
}

/// Returns the finding that the panel rejected in the review of the story.
fn rejected_finding(stage: &Stage) -> Result<String, CliError> {
    let cases = stage.cases()?;
    let review = cases.iter().find(|case| case["kind"] == "review");
    let case = review.and_then(|case| case["case"].as_str());
    let shown = stage.asked(&["show", case.unwrap_or_default(), "--json"])?;
    let findings = shown["review"]["findings"].as_array().into_iter().flatten();
    let mut rejected = findings.filter(|one| one["verdict"] == "rejected");
    found(
        rejected.find_map(|one| one["id"].as_str()),
        "a rejected finding",
    )
}

/// Returns the dispute that the loop has parked.
fn parked_dispute(stage: &Stage) -> Result<String, CliError> {
    let list = stage.asked(&["dispute", "list", "--status", "open", "--json"])?;
    found(list["disputes"][0]["id"].as_str(), "an open dispute")
}

fn found(id: Option<&str>, what: &str) -> Result<String, CliError> {
    let missing = || CliError::new(Exit::Internal, format!("the ledger should have {what}"));
    Ok(id.ok_or_else(missing)?.to_owned())
}

/// Returns what is said before everything else.
pub(super) fn prologue(stage: &Stage) -> String {
    let mut text = String::new();
    let words = "A parcel depot, and agents that answer from files: no model is asked, nothing leaves \
                 this machine.";
    fill(&mut text, words, stdout_width(), "", "");
    text.push_str(&format!(
        "It is played in {}\n",
        stage.repository().display()
    ));
    text
}

/// Returns what is said at the end.
pub(super) fn epilogue(stage: &Stage, program: &Whereabouts) -> String {
    let bold = anstyle::AnsiColor::Cyan.on_default().bold();
    let look = stage.line(&["show".to_owned(), "CASE".to_owned()]);
    let ledger = stage.ledger();
    // The name of the ledger itself is too long for a line; it is the only one there.
    let mut above = ledger.ancestors();
    let ledgers = above
        .find(|path| path.ends_with("ledgers"))
        .unwrap_or(&ledger);
    format!(
        "\n{bold}All of this is on record{bold:#}\n  \
           Repository   {repository}\n  \
           Ledger       {ledger}\n  \
           Look around  {look}\n\
         \n{bold}Three commands for your own repository{bold:#}\n  \
           tribunal review              built-in reviewers read your work; no key\n  \
           tribunal init                find your agents, write a configuration\n  \
           tribunal review --arbitrate  your agents review, object, rule and mend\n{advice}",
        repository = stage.repository().display(),
        ledger = ledgers.display(),
        advice = program.advice(),
    )
}
