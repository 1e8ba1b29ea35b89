//! What the free text of an answer says, as far as a program can tell.
//!
//! Words in free text have no end, so they never decide for anything: they only make a program ask
//! again. What decides are the closed words of the answer.

use super::beside::is_place;

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

/// Words by which prose claims a defect, as they stand in small letters.
const CLAIMS: [&str; 34] = [
    "bug",
    "bugs",
    "critical",
    "crash",
    "crashes",
    "danger",
    "dangerous",
    "defect",
    "defects",
    "exploit",
    "exploitable",
    "flaw",
    "flaws",
    "hole",
    "holes",
    "injection",
    "insecure",
    "leak",
    "leaks",
    "overflow",
    "overflows",
    "raises",
    "security",
    "serious",
    "severe",
    "unsafe",
    "vulnerability",
    "vulnerabilities",
    "vulnerable",
    "kritisch",
    "kritische",
    "fehler",
    "sicherheitslücke",
    "lücke",
];

/// Phrases that ask for a repair.
const DEMANDS: [&str; 8] = [
    "must be fixed",
    "should be fixed",
    "needs to be fixed",
    "has to be fixed",
    "must fix",
    "must not be merged",
    "do not merge",
    "divides by zero",
];

/// Tells whether prose beside findings claims a defect that is none of them.
///
/// A sentence does so if it names a place with a line that `is_reported` does not know, and, where it
/// names no place, if it has a word for a defect or asks for a repair. One that ends in a colon
/// introduces what follows, and one that says "no bugs" claims nothing.
pub(super) fn claims_defect(prose: &str, is_reported: impl Fn(&str) -> bool) -> bool {
    let lines = prose.lines().map(str::trim);
    let sentences = lines.flat_map(|line| {
        line.split_inclusive([' ', '\n'])
            .fold(vec![String::new()], |mut sentences, word| {
                if let Some(last) = sentences.last_mut() {
                    last.push_str(word);
                }
                if word.trim_end().ends_with(['.', '!', '?', ';']) {
                    sentences.push(String::new());
                }
                sentences
            })
    });
    sentences.into_iter().any(|sentence| {
        let mut places = sentence
            .split_whitespace()
            .filter(|word| is_place(word))
            .peekable();
        if places.peek().is_some() {
            return places.any(|place| !is_reported(place));
        }
        let small = normalized(&sentence);
        if small.ends_with(':') {
            return false;
        }
        let words: Vec<&str> = small
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .filter(|word| !word.is_empty())
            .collect();
        let is_denied = |index: usize| {
            let from = index.saturating_sub(REACH);
            let before = words.get(from..index).unwrap_or_default();
            before
                .iter()
                .any(|word| ["no", "not", "any", "for"].contains(word))
        };
        let mut claims = words.iter().enumerate();
        claims.any(|(index, word)| CLAIMS.contains(word) && !is_denied(index))
            || DEMANDS.iter().any(|phrase| small.contains(phrase))
    })
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

    #[test]
    fn prose_claims_a_defect_by_a_place_or_a_word() {
        for (prose, expected) in [
            ("There is also a critical hole in gamma.", true),
            (
                "app.py:11 divides by zero on every call, this must be fixed",
                true,
            ),
            ("See app.py:11 as well.", true),
            ("gamma must be fixed.", true),
            ("SQL injection is possible in gamma.", true),
            ("", false),
            ("Here is my review:", false),
            ("I looked at all files.", false),
            ("I looked at f and at g, and found one thing.", false),
            ("I found the following bugs:", false),
            ("I checked for security bugs.", false),
            ("There are no other bugs.", false),
            ("The bug at app.py:2 is the only one.", false),
        ] {
            assert_eq!(
                claims_defect(prose, |place| place == "app.py:2"),
                expected,
                "{prose}"
            );
        }
    }
}
