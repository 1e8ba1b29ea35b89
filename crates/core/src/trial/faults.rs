//! What cannot be true in the story of a trial: scores off the scale, a winner who did not compete.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::TrialEvent;
use crate::verdict::{Points, Verdict};

/// Returns everything that is wrong in the story of a trial, one sentence each.
#[must_use]
pub fn faults<'e>(events: impl IntoIterator<Item = &'e TrialEvent>) -> Vec<String> {
    let mut story = Story::default();
    for event in events {
        story.read(event);
    }
    story.faults
}

#[derive(Default)]
struct Story<'e> {
    /// Who handed something in.
    answered: BTreeSet<&'e str>,
    /// The names of the judges by their ids.
    names: BTreeMap<&'e str, &'e str>,
    /// The names of the judges who scored.
    scored: BTreeSet<&'e str>,
    faults: Vec<String>,
}

impl<'e> Story<'e> {
    fn read(&mut self, event: &'e TrialEvent) {
        match event {
            TrialEvent::ContestantFinished { contestant, .. } => {
                self.answered.insert(contestant);
            }
            TrialEvent::PanelDesigned { panel, .. } => {
                let judges = panel.judges.iter();
                self.names = judges
                    .map(|one| (one.id.as_str(), one.name.as_str()))
                    .collect();
            }
            TrialEvent::JudgeFinished { judge, scores, .. } => self.scores(judge, scores),
            TrialEvent::VerdictReached { verdict, .. } => self.verdict(verdict),
            TrialEvent::HindsightStated { contestant, .. } => self.hindsight(contestant.as_deref()),
            TrialEvent::TrialOpened { .. }
            | TrialEvent::ContestantsDesigned { .. }
            | TrialEvent::ContestantStarted { .. }
            | TrialEvent::ContestantFailed { .. }
            | TrialEvent::ArbiterStarted { .. }
            | TrialEvent::JudgingStarted { .. }
            | TrialEvent::JudgeStarted { .. }
            | TrialEvent::JudgeFailed { .. }
            | TrialEvent::TrialFailed { .. }
            | TrialEvent::DecreeIssued { .. } => {}
        }
    }

    fn hindsight(&mut self, best: Option<&str>) {
        if let Some(best) = best.filter(|best| !self.answered.contains(best)) {
            let fault = format!("{best}, in hindsight the best, is not among those who answered");
            self.faults.push(fault);
        }
    }

    fn scores(&mut self, judge: &'e str, scores: &'e BTreeMap<String, Points>) {
        match self.names.get(judge) {
            Some(name) => drop(self.scored.insert(name)),
            None => self
                .faults
                .push(format!("judge {judge} scores but does not sit")),
        }
        let off = scores.iter().filter(|(_, score)| !score.is_score());
        for (contestant, score) in off {
            let fault = format!("judge {judge} gives {contestant} {score}, which is no score");
            self.faults.push(fault);
        }
        if !scores
            .keys()
            .map(String::as_str)
            .eq(self.answered.iter().copied())
        {
            let fault = format!("judge {judge} did not score exactly those who answered");
            self.faults.push(fault);
        }
    }

    fn verdict(&mut self, verdict: &'e Verdict) {
        if let Some(winner) = &verdict.winner
            && !self.answered.contains(winner.as_str())
        {
            let fault = format!("the winner {winner} is not among those who answered");
            self.faults.push(fault);
        }
        let ranking = verdict.ranking.iter();
        let ranked: BTreeSet<&str> = ranking.map(|one| one.contestant.as_str()).collect();
        if ranked != self.answered {
            let fault = "the verdict does not rank exactly those who answered";
            self.faults.push(fault.to_owned());
        }
        let seated = verdict.judges.iter().map(|one| one.judge.as_str());
        for judge in seated.filter(|judge| !self.scored.contains(judge)) {
            let fault = format!("judge {judge} counts in the verdict but did not score");
            self.faults.push(fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(events: &[Value], expected: &[&str]) {
        let read = |one: &Value| serde_json::from_value(one.clone()).expect("an event");
        let events: Vec<TrialEvent> = events.iter().map(read).collect();
        assert_eq!(faults(&events), expected);
    }

    fn story(scores: &Value, winner: &str, judge: &str) -> Vec<Value> {
        let finished = |id: &str| {
            json!({"type": "contestant_finished", "contestant": id, "output": "00", "chars": 1,
                "cost": "unknown"})
        };
        let ranked = |id: &str, rank: u32| {
            json!({"contestant": id, "rank": rank, "score": 50, "average": 50, "error": null,
                "interval": null, "lowest": 50, "highest": 50})
        };
        vec![
            finished("a"),
            finished("b"),
            json!({"type": "panel_designed", "cost": null, "panel": {"reasoning": "r", "by": "rules",
                "why": "w", "judges": [{"id": "risk", "name": "Risk", "focus": "f", "criteria": [],
                    "reasoning": "r", "agent": "jim", "family": "m", "related": false}]}}),
            json!({"type": "judge_finished", "judge": "risk", "scores": scores, "evaluation": "00",
                "cost": "unknown"}),
            json!({"type": "verdict_reached", "summary": "s", "verdict": {"winner": winner,
                "method": "mean", "weighted": false, "confidence": null,
                "ranking": [ranked("a", 1), ranked("b", 2)], "margin": null, "agreement": null,
                "judges": [{"judge": judge, "weight": 100, "lean": 0, "prefers": ["a"], "flips": []}],
                "excluded": [], "doubts": []}}),
        ]
    }

    #[test]
    fn a_story_that_can_be_true_has_no_faults() {
        check(&story(&json!({"a": 80, "b": 0}), "a", "Risk"), &[]);
        check(&[], &[]);
    }

    #[test]
    fn scores_and_winners_that_cannot_be_are_named() {
        check(
            &story(&json!({"a": 101, "b": 0}), "a", "Risk"),
            &["judge risk gives a 101, which is no score"],
        );
        check(
            &story(&json!({"a": 80}), "a", "Risk"),
            &["judge risk did not score exactly those who answered"],
        );
        check(
            &story(&json!({"a": 80, "b": 0}), "c", "Ghost"),
            &[
                "the winner c is not among those who answered",
                "judge Ghost counts in the verdict but did not score",
            ],
        );
        let mut proved = story(&json!({"a": 80, "b": 0}), "a", "Risk");
        proved.push(json!({"type": "hindsight_stated", "contestant": "b"}));
        check(&proved, &[]);
        proved.push(json!({"type": "hindsight_stated", "contestant": "c"}));
        check(
            &proved,
            &["c, in hindsight the best, is not among those who answered"],
        );
    }
}
