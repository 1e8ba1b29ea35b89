//! What the answers of judges come to: plain arithmetic, and escalation whenever it does not add up.

use std::collections::BTreeSet;

use super::{Answer, Decision, Hearing, Opening, Ruler};

/// What the judges' answers come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// They carry a ruling.
    Ruling {
        /// What was decided.
        decision: Decision,
        /// Why, in the words of the first judge who decided so.
        reason: String,
        /// What would reverse it.
        reversal: String,
        /// By whom.
        ruler: Ruler,
    },
    /// A human must rule.
    Escalation {
        /// Why.
        question: String,
    },
}

/// Returns what the answers of all judges who sat come to.
///
/// One judge's word counts alone; of several, more than half must agree.
#[must_use]
pub fn conclude(hearings: &[Hearing]) -> Finding {
    for answer in [Answer::Enforce, Answer::Dismiss] {
        let mut agreeing = hearings.iter().filter(|one| one.answer == Some(answer));
        let votes = agreeing.clone().count();
        let (Some(first), Some(decision)) = (agreeing.next(), answer.decision()) else {
            continue;
        };
        if votes * 2 <= hearings.len() {
            continue;
        }
        let ruler = match hearings {
            [only] => Ruler::Judge {
                judge: only.judge.clone(),
            },
            several => Ruler::Jury {
                votes: u32::try_from(votes).unwrap_or(u32::MAX),
                seats: u32::try_from(several.len()).unwrap_or(u32::MAX),
            },
        };
        return Finding::Ruling {
            decision,
            reason: first.reason.clone(),
            reversal: first.reversal.clone(),
            ruler,
        };
    }
    Finding::Escalation {
        question: question(hearings),
    }
}

/// Returns what the answers of the judges come to in a dispute.
///
/// An objection must bring evidence. Judges of one family alone do not dismiss what a rule found
/// when the objection has nothing that holds; a person decides then.
#[must_use]
pub fn conclude_on(opening: &Opening, hearings: &[Hearing]) -> Finding {
    let concluded = conclude(hearings);
    let (
        Finding::Ruling {
            decision, reason, ..
        },
        Some(lack),
    ) = (&concluded, opening.lack_of_evidence())
    else {
        return concluded;
    };
    if *decision != Decision::Dismiss || opening.rule.is_empty() {
        return concluded;
    }
    let dismissing = hearings
        .iter()
        .filter(|one| one.answer == Some(Answer::Dismiss));
    let families: BTreeSet<&str> = dismissing.map(|one| one.judge.family.as_str()).collect();
    if families.len() > 1 {
        return concluded;
    }
    let rule = &opening.rule;
    Finding::Escalation {
        question: format!(
            "the rule {rule} found it and {lack}, so judges of one family do not dismiss it alone; \
             they would, because: {reason}"
        ),
    }
}

fn question(hearings: &[Hearing]) -> String {
    match hearings {
        [] => "no judge was heard".to_owned(),
        [only] => match only.answer {
            Some(_) => format!("the judge escalates: {}", only.reason),
            None => format!("the judge gave no answer that counts: {}", only.reason),
        },
        several => {
            let count = |answer| several.iter().filter(|one| one.answer == answer).count();
            let said: Vec<String> = Answer::ALL
                .into_iter()
                .map(|answer| (answer.as_str(), count(Some(answer))))
                .chain([("no answer", count(None))])
                .filter(|(_, count)| *count > 0)
                .map(|(word, count)| format!("{count} {word}"))
                .collect();
            format!("the judges have no majority: {}", said.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispute::JudgeNamed;

    fn hearing(answer: Option<Answer>) -> Hearing {
        Hearing {
            judge: JudgeNamed {
                agent: "judy".to_owned(),
                model: None,
                family: "j".to_owned(),
                kin: false,
            },
            answer,
            reason: "why".to_owned(),
            reversal: "what".to_owned(),
        }
    }

    #[test]
    fn answers_come_to_a_ruling_or_to_an_escalation() {
        let (e, d, u, n) = (
            Some(Answer::Enforce),
            Some(Answer::Dismiss),
            Some(Answer::Escalate),
            None,
        );
        for (answers, expected) in [
            (vec![e], "ENFORCE by judge judy"),
            (vec![d], "DISMISS by judge judy"),
            (vec![u], "the judge escalates: why"),
            (vec![n], "the judge gave no answer that counts: why"),
            (vec![], "no judge was heard"),
            (vec![d, d, e], "DISMISS by 2 of 3 judges"),
            (vec![e, n, e], "ENFORCE by 2 of 3 judges"),
            (vec![d, d, d], "DISMISS by 3 of 3 judges"),
            (
                vec![d, e, n],
                "the judges have no majority: 1 ENFORCE, 1 DISMISS, 1 no answer",
            ),
            (
                vec![d, n, n],
                "the judges have no majority: 1 DISMISS, 2 no answer",
            ),
            (
                vec![d, e],
                "the judges have no majority: 1 ENFORCE, 1 DISMISS",
            ),
            (
                vec![d, d, e, e],
                "the judges have no majority: 2 ENFORCE, 2 DISMISS",
            ),
            (
                vec![u, u, d],
                "the judges have no majority: 1 DISMISS, 2 ESCALATE",
            ),
        ] {
            let hearings: Vec<_> = answers.into_iter().map(hearing).collect();
            let told = match conclude(&hearings) {
                Finding::Ruling {
                    decision, ruler, ..
                } => format!("{decision} by {}", ruler.phrase()),
                Finding::Escalation { question } => question,
            };
            assert_eq!(told, expected);
        }
    }
}
