//! The contestants, the arbiter and the judges of the story's trial.

use serde_json::{Value, json};

use super::{NONCE, answering};

/// What the contestants are asked.
pub(in super::super) const CHALLENGE: &str = "How should the depot hand out pickup tokens?";

/// What each contestant answers, by its name.
const ANSWERS: [(&str, &str); 3] = [
    (
        "Long Secret",
        "Sixteen random bytes in a link. Stored as a hash, good for one pickup and for a week.",
    ),
    (
        "Short Code",
        "Six digits that a person can say aloud. Three attempts, then the desk asks for a passport.",
    ),
    (
        "Plain List",
        "No token at all: the desk looks up the name and asks for a passport, as it does today.",
    ),
];

/// What each judge gives to each answer.
const SCORES: [(&str, &str, &str, [u32; 3]); 3] = [
    (
        "Thief's Eye",
        "Who can pick up somebody else's parcel?",
        "C1 cannot be guessed, C2 can in some attempts.",
        [92, 70, 55],
    ),
    (
        "Counter Clerk",
        "How long is the queue on a Monday?",
        "C3 changes nothing for the clerk, C2 is quick.",
        [74, 86, 50],
    ),
    (
        "Bookkeeper",
        "What does it cost to build and to keep?",
        "C1 and C2 need a table, C3 needs nothing.",
        [78, 72, 66],
    ),
];

/// The arbiter designs contestants and judges, and sends finished work to the review.
pub(super) fn art() -> Vec<Value> {
    let contestants = ANSWERS.map(|(name, _)| {
        json!({"name": name, "persona": format!("You stand for the {}.", name.to_lowercase()),
            "focus": "what happens at the counter", "agent": "con", "temperature": 0.5})
    });
    let judges = SCORES.map(|(name, question, reasoning, _)| {
        json!({"name": name, "focus": question, "criteria": [question], "reasoning": reasoning})
    });
    vec![
        answering(
            &["# Who should answer this challenge"],
            json!({"reasoning": "Secrecy, convenience and habit.", "contestants": contestants}),
        ),
        answering(
            &["# Which judges these answers need"],
            json!({"reasoning": "They differ in what a thief and a clerk have to do.",
                "judges": judges}),
        ),
        answering(
            &["# Does the work go on"],
            json!({"decision": "COMPLETE", "reason": "All that the task asks for was done.",
                "summary": "The work is done."}),
        ),
    ]
}

pub(super) fn contestants() -> Vec<Value> {
    let answer = |(name, text): (&str, &str)| json!({"when": format!("the {}", name.to_lowercase()), "text": text});
    ANSWERS.map(answer).into()
}

/// Judges see the answers in an order of their own, so they have a reply for each order.
pub(super) fn judges() -> Vec<Value> {
    let mut replies = Vec::new();
    for (judge, question, _, scores) in SCORES {
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let shown = (1..).zip(order);
            let mut when = vec![format!("the judge \"{judge}\"")];
            when.extend(
                shown
                    .clone()
                    .map(|(n, which)| format!("R{n}\n{}", ANSWERS[which].1)),
            );
            let cards: Vec<Value> = shown
                .map(|(n, which)| card(n, scores[which], ANSWERS[which].0, question))
                .collect();
            let when: Vec<&str> = when.iter().map(String::as_str).collect();
            let best = ANSWERS[best(&scores)].0;
            let summary = format!("{best} does most for this question: {question}");
            replies.push(answering(
                &when,
                json!({"evaluations": cards, "summary": summary}),
            ));
        }
    }
    debug_assert!(replies.iter().all(|reply| reply["json"]["nonce"] == NONCE));
    replies
}

fn card(number: usize, score: u32, name: &str, question: &str) -> Value {
    let (strengths, weaknesses) = match score {
        75.. => (vec![format!("{name} answers it")], vec![]),
        _ => (vec![], vec![format!("{name} leaves it open")]),
    };
    json!({"id": format!("R{number}"), "score": score, "strengths": strengths,
        "weaknesses": weaknesses, "reasoning": format!("{question} {score} of 100.")})
}

fn best(scores: &[u32; 3]) -> usize {
    (0..3).max_by_key(|index| scores[*index]).unwrap_or(0)
}
