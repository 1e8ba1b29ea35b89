//! The questions put to agents: templates that are filled in one pass.
//!
//! Each question has a file below `prompts/`, a typed context here, and a reader in
//! [`crate::reply`]. What is filled in is never scanned for placeholders, so that text under
//! review cannot become part of a question.

mod arbitration;
mod loop_questions;
mod rounds;
mod rule;
mod trial;

use std::fmt::Write as _;

use crate::finding::Label;

pub use arbitration::{ArbitrationPrompt, AssignedFinding};
pub use loop_questions::{
    GuidePrompt, arbiter_prompts, arbiter_question, plan_question, work_question,
};
pub use rounds::{
    Round, RoundPrompt, ShownExamination, ShownFinding, ShownReport, WeighPrompt, WeighQuestion,
    json_lines,
};
pub use rule::RulePrompt;
pub use trial::{ContestantPrompt, ContestantsPrompt, PanelPrompt, ScorePrompt, ShownAnswer};

/// A question as it is shipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Its name: the role that is asked, and the question.
    pub name: &'static str,
    /// What it is for, in one line.
    pub purpose: &'static str,
    /// Its text, with `{{name}}` where something is filled in.
    pub text: &'static str,
}

macro_rules! templates {
    ($($name:ident = $path:literal, $purpose:literal;)*) => {
        $(pub(crate) const $name: Template = Template {
            name: $path,
            purpose: $purpose,
            text: include_str!(concat!("../prompts/", $path, ".md")),
        };)*

        /// All questions.
        pub const TEMPLATES: &[Template] = &[$($name),*];
    };
}

templates! {
    FIND = "reviewer/find", "Round 1: a reviewer reports what is wrong with a change";
    NOTE = "reviewer/note", "Part of round 1: what the arbiter advises after repeated rejections";
    EXAMINE = "reviewer/examine", "Round 2: a reviewer examines the findings of others";
    DEFEND = "reviewer/defend", "Round 3: a reviewer answers what others say about its findings";
    AGAIN = "reviewer/again", "A reviewer whose answer could not be read is asked once more";
    RULE = "judge/rule", "A judge rules on a dispute between coder and reviewer";
    RESPOND = "coder/respond", "The coder works on the findings of a review and answers each";
    VERIFY = "reviewer/verify", "A reviewer says whether the coder's work fixed what it reported";
    ANSWER = "contestant/answer", "A contestant of a trial answers the challenge";
    CODE = "contestant/code", "A contestant of a trial carries the challenge out in code";
    CONTESTANTS = "arbiter/contestants", "The arbiter designs the contestants of a trial";
    PANEL = "arbiter/panel", "The arbiter designs the judges of a trial for the answers at hand";
    SCORE = "judge/score", "A judge of a trial scores every answer";
    WEIGH = "judge/weigh", "A judge weighs the evidence about a finding that stays contested";
    SELECT = "arbiter/select", "The arbiter chooses who works next on a task";
    EVALUATE = "arbiter/evaluate", "The arbiter says whether the work on a task goes on";
    GUIDE = "arbiter/guide", "The arbiter helps both sides after repeated rejections";
    PLAN = "coder/plan", "A planner says by which steps a task is done";
    WORK = "coder/work", "A coder carries out a task";
}

/// Fills a template. Every placeholder must have its value.
pub(crate) fn fill(template: &Template, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.text.len());
    let mut rest = template.text;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        let value = values.iter().find(|(known, _)| *known == name);
        debug_assert!(
            value.is_some(),
            "`{name}` of {} has no value",
            template.name
        );
        filled.push_str(value.map_or("", |(_, value)| value));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// Round 1: a reviewer reports what is wrong with one part of a change.
#[derive(Debug, Clone, Copy)]
pub struct FindPrompt<'a> {
    /// Random text that is nowhere in the material.
    pub nonce: &'a str,
    /// The change in one line.
    pub title: &'a str,
    /// What the reviewer is to look at; empty for everything.
    pub domains: &'a [String],
    /// The labels that bind the author.
    pub mandatory: &'a [Label],
    /// What the arbiter advises the panel after repeated rejections; empty for nothing.
    pub guidance: &'a str,
    /// Which part of the change this is, from 1.
    pub part: usize,
    /// How many parts there are.
    pub parts: usize,
    /// The code under review.
    pub material: &'a str,
}

impl FindPrompt<'_> {
    /// Returns the question.
    #[must_use]
    pub fn render(&self) -> String {
        let focus = if self.domains.is_empty() {
            "Look at all of it.".to_owned()
        } else {
            let domains = self.domains.join(", ");
            format!("Your field is: {domains}. Others look at the rest; stay within your field.")
        };
        let guidance = match self.guidance.trim() {
            "" => String::new(),
            text => fill(&NOTE, &[("nonce", self.nonce), ("guidance", text)]),
        };
        let mut mandatory = String::new();
        for (index, label) in self.mandatory.iter().enumerate() {
            let gap = if index == 0 { "" } else { ", " };
            let _ = write!(mandatory, "{gap}`{label}`");
        }
        if mandatory.is_empty() {
            mandatory.push_str("No labels");
        }
        fill(
            &FIND,
            &[
                ("focus", &focus),
                ("guidance", &guidance),
                ("mandatory", &mandatory),
                ("nonce", self.nonce),
                ("title", self.title),
                ("part", &self.part.to_string()),
                ("parts", &self.parts.to_string()),
                ("material", self.material),
            ],
        )
    }
}

/// Asks a reviewer once more whose answer could not be read.
#[must_use]
pub fn ask_again(question: &str, problem: &str) -> String {
    fill(&AGAIN, &[("problem", problem), ("question", question)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in_one_pass() {
        let prompt = FindPrompt {
            nonce: "n-1",
            title: "{{nonce}}",
            domains: &["security".to_owned()],
            mandatory: &[Label::Must, Label::High],
            guidance: "",
            part: 1,
            parts: 2,
            material: "let {{material}} = {{nonce}};",
        };
        let text = prompt.render();
        assert!(text.contains("let {{material}} = {{nonce}};"));
        assert!(text.contains("The change: {{nonce}}. This is part 1 of 2."));
        assert!(text.contains("`MUST`, `HIGH` are blocking"));
        assert_eq!(text.matches("n-1").count(), 5);
    }

    #[test]
    fn advice_for_the_panel_stands_between_marks_of_its_own() {
        let prompt = FindPrompt {
            nonce: "n-1",
            title: "a change",
            domains: &[],
            mandatory: &[],
            guidance: "Look at {{nonce}} first.",
            part: 1,
            parts: 1,
            material: "x",
        };
        let text = prompt.render();
        let note = "BEGIN NOTE n-1\nLook at {{nonce}} first.\nEND NOTE n-1\n";
        assert!(text.contains(note), "{text}");
    }

    #[test]
    fn every_template_has_a_purpose_and_a_name_of_its_own() {
        let mut names: Vec<_> = TEMPLATES.iter().map(|template| template.name).collect();
        names.dedup();
        assert_eq!(names.len(), TEMPLATES.len());
        assert!(
            TEMPLATES
                .iter()
                .all(|template| !template.purpose.is_empty())
        );
    }
}
