//! What a finding claims, for comparison: is it the same claim, put in other words?

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sentences::{sentence_hashes, without_articles};
use super::terms::{hash, normalized_title, terms};

/// From how alike two texts are, in thousandths, one may be the other in different words.
const RESTATED: u32 = 700;

/// From how alike two texts are, in thousandths, they may be about the same.
const LIKE: u32 = 450;

/// From how alike two texts are, in thousandths, one repeats the other.
const REPEATED: u32 = 900;

/// Words that turn a claim into its opposite. Two claims of which one has any and the other has none
/// are two claims.
const NEGATIONS: [&str; 9] = [
    "cannot", "lacks", "missing", "neither", "never", "no", "none", "not", "without",
];

/// The words of a claim: what it says in one line, and in full. All but the title is kept as hashes:
/// enough to know it again, and nothing that must not be stored.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct ClaimText {
    /// The title without case and marks.
    title: String,
    /// The description; nothing when it says no more than the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<u32>,
    /// The terms of the title, sorted.
    title_terms: Vec<u32>,
    /// The terms of title and description, sorted.
    all_terms: Vec<u32>,
    /// Identifiers, literals and numbers that it names.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    names: BTreeSet<u32>,
    /// Every sentence of it: of the title, the description and further parts. Claims that were recorded
    /// before sentences were compared have none.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    sentences: BTreeSet<u64>,
    /// Whether nothing but the title is known.
    #[serde(skip)]
    #[schemars(skip)]
    title_only: bool,
    /// Whether it says that something is not so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    negated: bool,
}

impl ClaimText {
    /// Reads a claim. An empty description says no more than the title.
    #[must_use]
    pub fn new(title: &str, description: &str) -> Self {
        let whole = format!("{title}\n{description}");
        let hashes = |text: &str| {
            let found = terms(text, 1000).into_iter();
            let mut found: Vec<u32> = found.map(|term| short(term.hash)).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let normal = normalized_title(&whole);
        let has_not = normal.split(' ').any(|word| NEGATIONS.contains(&word));
        let normal_title = normalized_title(title);
        let normal_description = normalized_title(description);
        let says_more = !normal_description.is_empty() && normal_description != normal_title;
        Self {
            title: normal_title,
            description: says_more.then(|| short(hash("", &normal_description))),
            title_only: false,
            title_terms: hashes(title),
            all_terms: hashes(&whole),
            names: names(&whole)
                .iter()
                .map(|name| short(hash("", name)))
                .collect(),
            sentences: [title, description]
                .into_iter()
                .flat_map(sentence_hashes)
                .collect(),
            negated: has_not || whole.contains("n't"),
        }
    }

    /// Adds parts that are shown beside the description, such as a trigger and a suggestion. They do not
    /// make it another finding, but they may claim something that nobody was shown before.
    #[must_use]
    pub fn with_details(mut self, details: &[&str]) -> Self {
        let added = details.iter().flat_map(|text| sentence_hashes(text));
        self.sentences.extend(added);
        self
    }

    /// Reads a claim from one text: the title, then paragraphs of all else that was shown.
    #[must_use]
    pub fn of_shown_text(text: &str) -> Self {
        let (title, below) = text.split_once("\n\n").unwrap_or((text, ""));
        Self::new(title, below)
    }

    /// Reads the title of a claim of which nothing else is known, as of those that version 0.1.0
    /// recorded.
    #[must_use]
    pub fn of_title(title: &str) -> Self {
        Self {
            title_only: true,
            ..Self::new(title, "")
        }
    }

    /// Returns the claim in one line, without case and marks.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Tells whether nothing but the title is known.
    #[must_use]
    pub fn is_title_only(&self) -> bool {
        self.title_only
    }

    /// Returns how alike two claims are, in thousandths.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> u32 {
        alike(&self.all_terms, &other.all_terms).max(alike(&self.title_terms, &other.title_terms))
    }

    /// Tells whether two claims have the same title, and descriptions that do not speak of two
    /// different things.
    #[must_use]
    pub fn has_title_of(&self, other: &Self) -> bool {
        let both_described = self.description.is_some() && other.description.is_some();
        let told_apart = both_described && alike(&self.all_terms, &other.all_terms) < RESTATED / 2;
        self.title == other.title && !self.title.is_empty() && !told_apart
    }

    /// Tells whether a claim was shown as `known`: under the same title, and with no sentence that was
    /// not shown. It may say less, and never more. A sentence in other words is another sentence, because
    /// one word can make it another claim; see [`Self::is_same_finding_as`] for what keeps its identity.
    #[must_use]
    pub fn is_as_shown(&self, known: &Self) -> bool {
        if self.title.is_empty() || without_articles(&self.title) != without_articles(&known.title)
        {
            return false;
        }
        if known.title_only {
            return self.title == known.title;
        }
        if known.sentences.is_empty() {
            // Recorded before sentences were: only the very same text is known to have been shown.
            let is_described_so =
                self.description.is_none() || self.description == known.description;
            return self.title == known.title
                && is_described_so
                && self.names.is_subset(&known.names);
        }
        self.says_no_more_than(known)
    }

    /// Tells whether the other claim has every sentence of this one.
    #[must_use]
    pub fn says_no_more_than(&self, other: &Self) -> bool {
        self.sentences.is_subset(&other.sentences)
    }

    /// Tells whether two claims have the same title and the same sentences, so that whoever rates one
    /// rates the other.
    #[must_use]
    pub fn has_same_text_as(&self, other: &Self) -> bool {
        without_articles(&self.title) == without_articles(&other.title)
            && self.sentences == other.sentences
    }

    /// Tells whether two claims about one place are one finding, perhaps in other words.
    ///
    /// Two titles of which each has a term that the other lacks are two claims, however alike the
    /// descriptions are, unless the descriptions explain these terms. So are two like titles over
    /// descriptions of two different things.
    #[must_use]
    pub fn is_same_finding_as(&self, other: &Self) -> bool {
        let both_described = self.description.is_some() && other.description.is_some();
        let told_apart = both_described && alike(&self.all_terms, &other.all_terms) < RESTATED / 2;
        self.is_like(other) && self.title_fits(other) && !told_apart
    }

    /// Tells whether two claims resemble each other, so that a reader of one wants to know of the other.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.likeness(other) >= LIKE || self.has_title_of(other)
    }

    fn title_fits(&self, other: &Self) -> bool {
        let holds =
            |terms: &[u32], all: &[u32]| terms.iter().all(|term| all.binary_search(term).is_ok());
        let (own, others) = (&self.title_terms, &other.title_terms);
        let is_explained = holds(own, &other.all_terms) && holds(others, &self.all_terms);
        self.title == other.title || holds(own, others) || holds(others, own) || is_explained
    }

    /// Tells whether a claim is the other one in different words: neither has a term in its title
    /// that the other lacks, nor names any code, text or number that the other does not.
    #[must_use]
    pub fn restates(&self, other: &Self) -> bool {
        let holds =
            |terms: &[u32], all: &[u32]| terms.iter().all(|term| all.binary_search(term).is_ok());
        !self.title_terms.is_empty()
            && !other.title_terms.is_empty()
            && holds(&self.title_terms, &other.all_terms)
            && holds(&other.title_terms, &self.all_terms)
            && self.names == other.names
            && self.negated == other.negated
            && alike(&self.all_terms, &other.all_terms) >= RESTATED
    }

    /// Tells whether a claim says practically what the other one says.
    #[must_use]
    pub fn repeats(&self, other: &Self) -> bool {
        if (&self.title, &self.description) == (&other.title, &other.description) {
            return self.names == other.names;
        }
        self.restates(other) && alike(&self.all_terms, &other.all_terms) >= REPEATED
    }
}

/// Returns the half of a hash that is enough to tell a few hundred words apart.
fn short(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// Returns the share of terms that two sorted lists have in common, in thousandths.
fn alike(one: &[u32], other: &[u32]) -> u32 {
    let shared = one
        .iter()
        .filter(|term| other.binary_search(term).is_ok())
        .count();
    let norm = (one.len() * other.len()).isqrt();
    u32::try_from(shared * 1000 / norm.max(1)).unwrap_or(1000)
}

/// Returns what a text names: what stands in backticks or quotation marks, and words that no prose
/// has, such as `max_size`, `getUser`, `load()` and 404.
fn names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for mark in ['`', '"'] {
        let quoted = text.split(mark).skip(1).step_by(2);
        names.extend(quoted.map(plain).filter(|name| !name.is_empty()));
    }
    let marks = |c: char| matches!(c, '`' | '"' | ',' | ';' | '\'' | '[' | ']' | '{' | '}');
    let mut counts_lines = false;
    for word in text.split(|c: char| c.is_whitespace() || marks(c)) {
        let word = word.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?'));
        // Where a line is changes with every edit above it; the place of the claim is known anyway.
        let is_line_number = counts_lines && word.starts_with(|c: char| c.is_ascii_digit());
        if is_name(word) && !is_line_number {
            names.insert(plain(word));
        }
        counts_lines = matches!(word.to_lowercase().as_str(), "line" | "lines");
    }
    names.remove("");
    names
}

fn plain(name: &str) -> String {
    let name = name.trim().trim_end_matches("()");
    let name = name.trim_matches(|c: char| matches!(c, '(' | ')' | '.' | ',' | ':' | '!' | '?'));
    name.to_owned()
}

fn is_name(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| matches!(c, '(' | ')'));
    let mut before = None;
    let mut turns = false;
    for c in inner.chars() {
        turns |= c.is_uppercase() && before.is_some_and(char::is_lowercase);
        before = Some(c);
    }
    turns
        || word.ends_with("()")
        || inner.contains(['_', '(', '=', '<', '>', '*', '+', '&', '|', '$', '%', '\\'])
        || inner.contains("::")
        || inner.chars().any(|c| c.is_numeric())
        || inner.contains('.') && inner.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_other_code_texts_or_numbers_is_not_what_was_shown() {
        let title = "The answer is wrong";
        let shown = ClaimText::new(
            title,
            "At line 41 `answer` has to be 42 because the caller in main divides by it.",
        );
        for (told, same) in [
            (
                "At line 41 `answer` has to be 42 because the caller in main divides by it.",
                true,
            ),
            (
                "At line 44 `answer` has to be 42, because the caller in main divides by it!",
                true,
            ),
            (
                "`answer` has to be 42 because the caller in main divides by it.",
                true,
            ),
            (
                "At line 41 `answer` has to be 43 because the caller in main divides by it.",
                false,
            ),
            (
                "At line 41 `result` has to be 42 because the caller in main divides by it.",
                false,
            ),
            (
                "At line 41 `answer` has not to be 42: the caller in main divides by it.",
                false,
            ),
            (
                "At line 41 `answer` has to be 42 because check_all() in main divides by it.",
                false,
            ),
        ] {
            let again = ClaimText::new(title, told);
            assert_eq!(again.is_as_shown(&shown), same, "{told}");
        }
    }

    #[test]
    fn other_words_for_the_same_claim_are_told_from_another_claim() {
        for (one, other, same) in [
            ("Division by zero", "division by Zero!", true),
            ("The lock is never released", "Lock never released", true),
            (
                "Orders are counted twice",
                "An order is counted twice",
                true,
            ),
            (
                "The read lock is held too long",
                "The write lock is held too long",
                false,
            ),
            ("Division by zero", "Money is rounded as a float", false),
            ("`load` fails on 404", "`save` fails on 404", false),
            ("Retries 3 times", "Retries 5 times", false),
            (
                "The session is checked",
                "The session is not checked",
                false,
            ),
            (
                "Buffer overflow in parse()",
                "Buffer overflow in parse_all()",
                false,
            ),
            ("", "", false),
        ] {
            let (a, b) = (ClaimText::new(one, ""), ClaimText::new(other, ""));
            let found = a.has_title_of(&b) || a.restates(&b);
            assert_eq!(found, same, "{one} / {other}");
            assert_eq!(
                b.has_title_of(&a) || b.restates(&a),
                same,
                "{other} / {one}"
            );
        }
    }

    #[test]
    fn one_title_over_two_different_descriptions_is_two_claims() {
        let zero = ClaimText::new("Bug", "An order without items divides the total by zero.");
        let float = ClaimText::new(
            "Bug",
            "Amounts of money lose cents because they are floats.",
        );
        let again = ClaimText::new(
            "Bug",
            "The total is divided by zero for an order without items.",
        );
        assert!(!zero.has_title_of(&float));
        assert!(zero.has_title_of(&again));
        assert!(zero.has_title_of(&ClaimText::new("bug", "")));
    }

    #[test]
    fn a_rating_counts_for_the_same_title_and_the_same_sentences() {
        let title = "Missing check";
        let grave = "Anyone can read the balance. Authorisation is gone.";
        for (other_title, description, same) in [
            (title, grave, true),
            (
                "The missing check",
                "anyone can read a balance! Authorisation\n is gone",
                true,
            ),
            (
                title,
                "Authorisation is gone. Anyone can read the balance.",
                true,
            ),
            ("Naming of the check", grave, false),
            (title, "Anyone can read the balance.", false),
            (title, "A type check for strings would be nice.", false),
            (title, "", false),
        ] {
            let one = ClaimText::new(title, grave);
            let other = ClaimText::new(other_title, description);
            assert_eq!(one.has_same_text_as(&other), same, "{description}");
            assert_eq!(other.has_same_text_as(&one), same, "{description}");
        }
    }

    #[test]
    fn a_ruling_on_a_common_title_covers_what_was_told_below_it_and_no_more() {
        let title = "Missing validation";
        let shown = ClaimText::new(
            title,
            "The amount is taken as it comes, so it may be negative.",
        );
        for (description, covered) in [
            (
                "The amount is taken as it comes, so it may be negative.",
                true,
            ),
            (
                "the amount is taken as it comes so it may be negative!",
                true,
            ),
            ("", true),
            // Other words may be another claim, so they are only similar.
            ("A negative amount may come: it is taken as it is.", false),
            (
                "The signature is never verified, so anyone can log in as admin.",
                false,
            ),
            ("Passwords are compared in plain text.", false),
        ] {
            let found = ClaimText::new(title, description);
            assert_eq!(found.is_as_shown(&shown), covered, "{description}");
        }
        // Nothing was shown below the title, so nothing below it is covered.
        let bare = ClaimText::new(title, "");
        assert!(!shown.is_as_shown(&bare));
        assert!(shown.is_as_shown(&ClaimText::of_title(title)));
        assert!(!ClaimText::new("", "").is_as_shown(&ClaimText::new("", "")));
    }

    #[test]
    fn a_ruling_covers_no_sentence_that_was_not_shown() {
        let title = "Division by zero when y is 0";
        let text =
            "The caller passes 0, so `ratio` raises an error. The request of the user fails.";
        let (trigger, suggestion) = ("y = 0", "Return 0 for an empty list.");
        let read = |title: &str, text: &str, trigger: &str, suggestion: &str| {
            ClaimText::new(title, text).with_details(&[trigger, suggestion])
        };
        let shown = read(title, text, trigger, suggestion);
        let with = |from: &str, to: &str| text.replace(from, to);
        let longer_title = format!("{title} and lets anybody in");
        for (what, again, covered) in [
            ("the same", read(title, text, trigger, suggestion), true),
            ("without details", read(title, text, "", ""), true),
            (
                "one sentence less",
                read(title, "The request of the user fails.", trigger, ""),
                true,
            ),
            (
                "in another order",
                read(
                    title,
                    "The request of the user fails. The caller passes 0, so `ratio` raises an error.",
                    "",
                    "",
                ),
                true,
            ),
            (
                "articles, case, marks and white space",
                read(
                    "division by zero, when y is 0!",
                    "Caller passes 0  so ratio raises error!\nThe request of the User fails",
                    "Y = 0.",
                    "return 0 for the empty list",
                ),
                true,
            ),
            (
                "a sentence behind",
                read(title, &format!("{text} Also leaks the password."), "", ""),
                false,
            ),
            (
                "a sentence in front",
                read(
                    title,
                    &format!("Attackers delete the database. {text}"),
                    "",
                    "",
                ),
                false,
            ),
            (
                "a sentence in a list",
                read(title, &format!("{text}\n- Also leaks the password"), "", ""),
                false,
            ),
            (
                "a longer sentence",
                read(
                    title,
                    &with("user fails", "user fails for everybody"),
                    "",
                    "",
                ),
                false,
            ),
            (
                "another trigger",
                read(title, text, "Any visitor sends -1", suggestion),
                false,
            ),
            (
                "another suggestion",
                read(title, text, trigger, "Stop the login without a password."),
                false,
            ),
            (
                "another verb",
                read(title, &with("raises", "swallows"), "", ""),
                false,
            ),
            (
                "the opposite",
                read(title, &with("fails", "succeeds"), "", ""),
                false,
            ),
            (
                "another person",
                read(title, &with("user", "admin"), "", ""),
                false,
            ),
            (
                "another number",
                read(title, &with("passes 0", "passes 1"), "", ""),
                false,
            ),
            ("a longer title", read(&longer_title, text, "", ""), false),
        ] {
            assert_eq!(again.is_as_shown(&shown), covered, "{what}");
        }
    }

    #[test]
    fn what_was_recorded_without_sentences_covers_the_very_same_text() {
        let title = "Division by zero";
        let mut old = ClaimText::new(title, "The request of the user fails.");
        old.sentences.clear();
        for (description, covered) in [
            ("The request of the user fails.", true),
            ("the request of the user fails", true),
            ("", true),
            ("The request of the admin fails.", false),
            (
                "The request of the user fails. Also leaks the password.",
                false,
            ),
        ] {
            let again = ClaimText::new(title, description);
            assert_eq!(again.is_as_shown(&old), covered, "{description}");
        }
    }

    #[test]
    fn two_different_claims_are_two_findings_whatever_they_share() {
        let text = "The division by y raises an error when y is zero.";
        for (one, other, same) in [
            (("Division by zero", text), ("Division by zero", text), true),
            (
                ("Division by zero", text),
                (
                    "Division by zero when y is 0",
                    "When y is zero the division raises.",
                ),
                true,
            ),
            (("Division by zero", text), ("Zero division", text), true),
            (
                ("Division by zero", text),
                ("Error when y is zero", text),
                true,
            ),
            (
                ("Division by zero", ""),
                ("A division by zero is possible", ""),
                true,
            ),
            (
                ("Division by zero", text),
                ("Authentication can be bypassed", text),
                false,
            ),
            (("Division by zero", text), ("Rest by zero", text), false),
            (("Division by zero", ""), ("Rest by zero", ""), false),
            (("Division by zero", text), ("Naming of total", text), false),
            (
                (
                    "Missing validation",
                    "The amount may be negative, so a refund is paid out.",
                ),
                (
                    "Missing validation of the signature",
                    "Anyone can log in as somebody else with a forged token.",
                ),
                false,
            ),
        ] {
            let read = |(title, text): (&str, &str)| ClaimText::new(title, text);
            let (a, b) = (read(one), read(other));
            assert_eq!(a.is_same_finding_as(&b), same, "{one:?} / {other:?}");
            assert_eq!(b.is_same_finding_as(&a), same, "{other:?} / {one:?}");
        }
    }

    #[test]
    fn only_practically_the_same_text_is_a_repetition() {
        let one = ClaimText::new("Input is evaluated", "`eval` runs what a visitor types.");
        let same = ClaimText::new("Input is evaluated.", "`eval` runs what a visitor types");
        let more = ClaimText::new(
            "Input is evaluated",
            "`eval` runs text; a visitor reads the keys.",
        );
        assert!(one.repeats(&same));
        assert!(!one.repeats(&more));
    }
}
