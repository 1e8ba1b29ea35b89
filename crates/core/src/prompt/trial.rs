//! The questions of a trial: to contestants, to the arbiter, to judges.

use super::{ANSWER, CODE, CONTESTANTS, PANEL, SCORE, fill};
use crate::trial::{Contestant, Judge};

/// An answer under a neutral label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownAnswer {
    /// The label by which it is called.
    pub label: String,
    /// All that is shown of it.
    pub text: String,
}

/// Puts a challenge to a contestant.
#[derive(Debug, Clone, Copy)]
pub struct ContestantPrompt<'a> {
    /// Who answers.
    pub contestant: &'a Contestant,
    /// The challenge.
    pub challenge: &'a str,
}

impl ContestantPrompt<'_> {
    /// Returns the question of a trial of texts.
    #[must_use]
    pub fn render(&self) -> String {
        let persona = self.persona();
        fill(
            &ANSWER,
            &[("persona", &persona), ("challenge", self.challenge)],
        )
    }

    /// Returns the question of a trial of code; `test_command` is what will be run afterwards.
    #[must_use]
    pub fn render_code(&self, test_command: Option<&str>) -> String {
        let tests = match test_command {
            Some(command) => {
                format!("Afterwards `{command}` is run in your copy, and judges see its outcome.")
            }
            None => "Nothing is run in your copy afterwards: judges read your changes.".to_owned(),
        };
        let persona = self.persona();
        let values = [
            ("persona", persona.as_str()),
            ("tests", &tests),
            ("challenge", self.challenge),
        ];
        fill(&CODE, &values)
    }

    fn persona(&self) -> String {
        let one = self.contestant;
        if one.persona.is_empty() {
            return "Answer as yourself.".to_owned();
        }
        let focus = match one.focus.is_empty() {
            true => String::new(),
            false => format!("\n\nWhat you care about most: {}", one.focus),
        };
        format!("You answer as \"{}\". {}{focus}", one.name, one.persona)
    }
}

/// Asks the arbiter to design contestants.
#[derive(Debug, Clone, Copy)]
pub struct ContestantsPrompt<'a> {
    /// Random text that is nowhere in the challenge.
    pub nonce: &'a str,
    /// How many.
    pub count: usize,
    /// Names of the agents, each with what is known about it, one to a line.
    pub agents: &'a str,
    /// The challenge.
    pub challenge: &'a str,
}

impl ContestantsPrompt<'_> {
    /// Returns the question.
    #[must_use]
    pub fn render(&self) -> String {
        let values = [
            ("nonce", self.nonce),
            ("count", &self.count.to_string()),
            ("agents", self.agents),
            ("challenge", self.challenge),
        ];
        fill(&CONTESTANTS, &values)
    }
}

/// Asks the arbiter to design judges.
#[derive(Debug, Clone, Copy)]
pub struct PanelPrompt<'a> {
    /// Random text that is nowhere in challenge and answers.
    pub nonce: &'a str,
    /// Most judges.
    pub most: usize,
    /// The challenge.
    pub challenge: &'a str,
    /// All answers.
    pub answers: &'a [ShownAnswer],
}

impl PanelPrompt<'_> {
    /// Returns the question.
    #[must_use]
    pub fn render(&self) -> String {
        let example = self.answers.first().map_or("", |one| one.label.as_str());
        let values = [
            ("nonce", self.nonce),
            ("most", &self.most.to_string()),
            ("example", example),
            ("challenge", self.challenge),
            ("answers", &fenced(self.answers, self.nonce)),
        ];
        fill(&PANEL, &values)
    }
}

/// Asks a judge to score.
#[derive(Debug, Clone, Copy)]
pub struct ScorePrompt<'a> {
    /// Random text that is nowhere in challenge and answers.
    pub nonce: &'a str,
    /// Who judges.
    pub judge: &'a Judge,
    /// The challenge.
    pub challenge: &'a str,
    /// All answers, in the order of this judge.
    pub answers: &'a [ShownAnswer],
}

impl ScorePrompt<'_> {
    /// Returns the question.
    #[must_use]
    pub fn render(&self) -> String {
        let numbered = (1..).zip(&self.judge.criteria);
        let criteria: Vec<String> = numbered
            .map(|(number, one)| format!("{number}. {one}"))
            .collect();
        let labels: Vec<&str> = self.answers.iter().map(|one| one.label.as_str()).collect();
        let values = [
            ("nonce", self.nonce),
            ("name", &self.judge.name),
            ("focus", &self.judge.focus),
            ("criteria", &criteria.join("\n")),
            ("labels", &labels.join(", ")),
            ("first", labels.first().copied().unwrap_or("")),
            ("challenge", self.challenge),
            ("answers", &fenced(self.answers, self.nonce)),
        ];
        fill(&SCORE, &values)
    }
}

/// Returns the answers between marks that nothing in them can forge.
fn fenced(answers: &[ShownAnswer], nonce: &str) -> String {
    let fenced = answers.iter().map(|ShownAnswer { label, text }| {
        format!("BEGIN ANSWER {nonce} {label}\n{text}\nEND ANSWER {nonce} {label}")
    });
    fenced.collect::<Vec<_>>().join("\n\n")
}
