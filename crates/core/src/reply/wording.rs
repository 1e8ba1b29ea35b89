//! What the free text of an answer says, as far as a program can tell.
//!
//! Words in free text have no end, so they never decide for anything: they only make a program ask
//! again. What decides are the closed words of the answer.

/// A text with fewer different words is no sentence.
const FEWEST_WORDS: usize = 3;

/// A text with fewer letters and digits is no sentence in any writing.
const FEWEST_LETTERS: usize = 6;

/// Words that deny what follows them.
const NEGATIONS: [&str; 10] = [
    "not", "never", "nothing", "neither", "nor", "hardly", "cannot", "nicht", "nie", "kaum",
];

/// Words for a problem that is gone.
const OUTCOMES: [&str; 20] = [
    "fixed",
    "resolved",
    "solved",
    "gone",
    "addressed",
    "corrected",
    "repaired",
    "removed",
    "remedied",
    "mended",
    "cured",
    "closed",
    "eliminated",
    "handled",
    "done",
    "changed",
    "complete",
    "behoben",
    "gelöst",
    "weg",
];

/// Words by which a clause tells that what it calls wrong is over.
const OVERCOMES: [&str; 14] = [
    "no",
    "not",
    "never",
    "nothing",
    "longer",
    "cannot",
    "instead",
    "was",
    "were",
    "used",
    "before",
    "once",
    "formerly",
    "previously",
];

/// A denied word stands at most so many words after what denies it.
const REACH: usize = 3;

/// Tells whether a text is at least a short sentence, not one word or one word again and again.
pub(super) fn is_sentence(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    if letters < FEWEST_LETTERS {
        return false;
    }
    // Not all languages put blanks between words.
    if !text.is_ascii() {
        return true;
    }
    let small = text.to_lowercase();
    let words = small
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty());
    words.collect::<std::collections::BTreeSet<_>>().len() >= FEWEST_WORDS
}

/// Returns a text in small letters with plain apostrophes, single blanks and no marks of emphasis.
pub(super) fn normalized(text: &str) -> String {
    let small = text.to_lowercase();
    let plain = small.replace(
        ['\u{2019}', '\u{2018}', '\u{02bc}', '\u{00b4}', '\u{ff07}'],
        "'",
    );
    let bare = plain.replace(['*', '`'], "");
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the clause of a normalized text that says that a problem is not gone.
pub(super) fn denial_of_outcome(normalized: &str) -> Option<&str> {
    let mut clauses = normalized
        .split([',', ';', '!', '?', '(', ')', '\u{2014}'])
        .flat_map(|part| part.split(". "))
        .map(|clause| clause.trim().trim_end_matches('.'));
    clauses.find(|clause| {
        let words = clause.split(|c: char| !c.is_alphanumeric() && c != '\'');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        matches!(words[..], ["no" | "not" | "nein" | "nope"])
            || is_outcome_denied(&words)
            || is_wrong_now(&words)
    })
}

fn is_outcome_denied(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(index, word)| {
        let denies = NEGATIONS.contains(word) || word.ends_with("n't");
        let after = words[index + 1..].iter().take(REACH);
        denies && after.into_iter().any(|word| OUTCOMES.contains(word))
    })
}

fn is_wrong_now(words: &[&str]) -> bool {
    let says = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let is_over = says(&OVERCOMES) || words.iter().any(|word| word.ends_with("n't"));
    says(&["wrong", "broken", "falsch", "kaputt"]) && !is_over
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_several_words_that_differ() {
        for (text, expected) in [
            ("app.py:2 adds one now.", true),
            ("a.rs:3 shows it.", true),
            ("\u{691c}\u{67fb}\u{306f}\u{4e09}\u{884c}\u{76ee}", true),
            ("yes", false),
            ("n/a", false),
            (".", false),
            ("app.py:2", false),
            ("ok ok ok", false),
            ("Ok, ok. OK!", false),
            ("- - fixed - -", false),
            ("\u{691c}", false),
        ] {
            assert_eq!(is_sentence(text), expected, "{text}");
        }
    }

    #[test]
    fn a_denial_is_known_in_whatever_words_stand_between() {
        for (text, expected) in [
            ("The issue has NOT been resolved", true),
            ("It isn't gone.", true),
            ("It hasn\u{2019}t been fixed", true),
            ("It is **not** really *fixed*.", true),
            ("fixed? no", true),
            ("Nothing was done about it.", true),
            ("alpha(1) gives 43, so callers see a wrong sum.", true),
            ("Das ist nicht behoben.", true),
            ("app.py:2 adds one now.", false),
            ("It is fixed, not hidden.", false),
            ("alpha no longer returns a wrong sum.", false),
            ("The wrong sum was the constant at app.py:2.", false),
            ("x cannot be zero at a.rs:3, which is checked.", false),
        ] {
            let denial = normalized(text);
            assert_eq!(denial_of_outcome(&denial).is_some(), expected, "{text}");
        }
    }
}
