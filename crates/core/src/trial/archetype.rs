//! What we ship for trials: archetypes of contestants, and the panel that sits when no arbiter
//! designs one.

/// A character that an agent can be asked to answer as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Archetype {
    /// Its word on the command line.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Who it is.
    pub persona: &'static str,
    /// What it cares about most.
    pub focus: &'static str,
}

/// The archetypes, in the order in which they are taken.
pub const ARCHETYPES: [Archetype; 6] = [
    Archetype {
        id: "pragmatist",
        name: "Pragmatist",
        persona: "You have shipped and maintained systems like this one for years. You like what a small team can build, test and run next week.",
        focus: "what works with the least that can go wrong",
    },
    Archetype {
        id: "guardian",
        name: "Guardian",
        persona: "You are called when things have failed. You ask first what happens at the worst moment, under attack, and halfway through.",
        focus: "safety: failure, abuse, recovery, what can never be undone",
    },
    Archetype {
        id: "optimizer",
        name: "Optimizer",
        persona: "You count what every step costs in time, memory, money and attention, and look for the step that need not happen.",
        focus: "efficiency, with numbers",
    },
    Archetype {
        id: "purist",
        name: "Purist",
        persona: "You look for the few rules that must always hold and derive the rest from them. What breaks an invariant is wrong, however handy.",
        focus: "invariants and a design that follows from them",
    },
    Archetype {
        id: "explorer",
        name: "Explorer",
        persona: "You distrust the first idea and the usual one. You look at how quite different fields solve the same problem.",
        focus: "an approach that the others will not think of",
    },
    Archetype {
        id: "advocate",
        name: "Advocate",
        persona: "You speak for those who will use it and for those who will read it in a year.",
        focus: "the people concerned: clarity, migration, surprise",
    },
];

/// A judge as it is designed, before an agent is found for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// Its name for people.
    pub name: String,
    /// What it looks at.
    pub focus: String,
    /// By what it scores.
    pub criteria: Vec<String>,
    /// Why these answers need it.
    pub reasoning: String,
}

/// Judges of the default panel, unless more were named.
const USUAL_JUDGES: usize = 3;

/// Returns the panel that sits when no arbiter designs one: three judges, more if as many agents were
/// `named` to judge, and at most `most`.
#[must_use]
pub fn default_panel(most: usize, named: usize) -> Vec<Design> {
    let design = |name: &str, focus: &str, criteria: &[&str]| Design {
        name: name.to_owned(),
        focus: focus.to_owned(),
        criteria: criteria.iter().map(|one| (*one).to_owned()).collect(),
        reasoning: "It sits on every default panel, whatever was answered.".to_owned(),
    };
    let all = [
        design(
            "Correctness",
            "Is it right?",
            &[
                "It answers what was asked, all of it",
                "Its claims hold, and those that can be checked are shown",
                "It works in the cases at the edge, not only in the usual one",
            ],
        ),
        design(
            "Risk",
            "What can go wrong with it?",
            &[
                "Failure, abuse and recovery are dealt with",
                "What cannot be undone is named",
                "It does not break what works today",
            ],
        ),
        design(
            "Practicality",
            "Can it be built, understood and kept?",
            &[
                "It can be carried out as described, step by step",
                "It is no more complicated than its purpose needs",
                "It is explained so that another person could go on with it",
            ],
        ),
        design(
            "Completeness",
            "Does anything obvious lack?",
            &[
                "Every part of the challenge is dealt with",
                "What others would ask next is answered or named as open",
                "What it leaves out, it leaves out for a reason",
            ],
        ),
        design(
            "Clarity",
            "Can one act on it?",
            &[
                "It says what to do, not only what to think about",
                "Its words are plain and its order helps the reader",
                "What is certain and what is guessed can be told apart",
            ],
        ),
    ];
    let seats = named.max(USUAL_JUDGES).min(most.max(1));
    all.into_iter().take(seats).collect()
}
