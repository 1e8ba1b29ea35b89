//! Wording: the words and identifiers of a text, stemmed, without those that everybody uses.

use std::borrow::Cow;

use super::phrases::in_words;

/// Returns a title for comparison: lower case, letters and digits only, single spaces.
pub(super) fn normalized_title(title: &str) -> String {
    let mut normal = String::with_capacity(title.len());
    for c in title.chars() {
        if c.is_alphanumeric() {
            normal.extend(c.to_lowercase());
        } else if !normal.is_empty() && !normal.ends_with(' ') {
            normal.push(' ');
        }
    }
    if normal.ends_with(' ') {
        normal.pop();
    }
    normal
}

/// Returns a title whose words can be told apart by `words_of`. Most need no copy for that.
pub(super) fn plain_title(title: &str) -> Cow<'_, str> {
    if title.is_ascii() {
        Cow::Borrowed(title)
    } else {
        Cow::Owned(normalized_title(title))
    }
}

/// Returns the words of a plain title. Their letters may still differ in case.
pub(super) fn words_of(title: &str) -> impl Iterator<Item = &[u8]> {
    let words = title
        .as_bytes()
        .split(|&byte| FOLDED[usize::from(byte)] == b' ');
    words.filter(|word| !word.is_empty())
}

/// Tells whether a word is one of those.
pub(super) fn is_among(word: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|other| other.eq_ignore_ascii_case(word))
}

/// Returns the hash of a normalized title, and whether it has two words.
pub(super) fn title_hash(title: &str) -> (u64, bool) {
    let (mut mix, mut words) = (Mix::default(), 0);
    let bytes = title.as_bytes();
    if !title.is_ascii() {
        for word in normalized_title(title).split_terminator(' ') {
            mix.add_word(word.as_bytes());
            words += 1;
        }
    } else if bytes.len() > 64 {
        for word in words_of(title) {
            mix.add_word(word);
            words += 1;
        }
    } else {
        // Most titles are so short that all their words are found at once.
        let mut left = in_words(bytes);
        while left != 0 {
            let start = left.trailing_zeros();
            let end = start + (left >> start).trailing_ones();
            mix.add_word(&bytes[start as usize..end as usize]);
            left &= u64::MAX.checked_shl(end).unwrap_or(0);
            words += 1;
        }
    }
    (mix.finish(), words > 1)
}

/// What a byte counts as in a title: letters in lower case, marks as a space.
const FOLDED: [u8; 256] = {
    let mut folded = [b' '; 256];
    let mut byte = 0;
    while byte < 256 {
        if byte >= 128 || (byte as u8).is_ascii_alphanumeric() {
            folded[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    folded
};

/// Returns a hash of a number and a text, the same everywhere. It brings equals together; whoever
/// needs to know that they are equal must look.
pub(super) fn hash_of_parts(number: u32, text: &str) -> u64 {
    let mut mix = Mix::default();
    mix.add(u64::from(number));
    let (eights, rest) = text.as_bytes().as_chunks();
    for &eight in eights {
        mix.add(u64::from_le_bytes(eight));
    }
    let rest = rest.iter().rev();
    mix.add(rest.fold(text.len() as u64, |word, byte| word << 8 | u64::from(*byte)));
    mix.finish()
}

/// A hash in the making.
#[derive(Default)]
struct Mix {
    state: u64,
}

impl Mix {
    fn add(&mut self, word: u64) {
        let mixed = (self.state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.state = mixed.rotate_left(29);
    }

    /// Adds a word of a title, by eights and then the last ones with the length. Where eight do not
    /// fit, the ends of what is there overlap, which takes no loop.
    fn add_word(&mut self, word: &[u8]) {
        // Capitals and small letters differ in one bit, which all digits have.
        const SMALL: u64 = 0x2020_2020_2020_2020;
        if word.len() > 8 {
            for &eight in word.as_chunks().0 {
                self.add(u64::from_le_bytes(eight) | SMALL);
            }
        }
        let last = if let Some(eight) = word.last_chunk() {
            u64::from_le_bytes(*eight)
        } else if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        } else if let ([first, ..], [.., last]) = (word, word) {
            let middle = word[word.len() / 2];
            u64::from(u32::from_le_bytes([*first, middle, *last, 0]))
        } else {
            0
        };
        self.add((last | SMALL) ^ (word.len() as u64) << 57);
    }

    fn finish(self) -> u64 {
        self.state ^ (self.state >> 32)
    }
}

/// A term of a text: a stem, or an identifier as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Term {
    /// The hash of its text.
    pub(super) hash: u64,
    /// How much it counts, in thousandths of a plain word.
    pub(super) units: i32,
}

/// Words so common in reviews that sharing them means nothing, sorted.
const COMMON: &[&str] = &[
    "a",
    "add",
    "added",
    "adding",
    "adds",
    "after",
    "all",
    "also",
    "always",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "both",
    "but",
    "by",
    "call",
    "called",
    "calling",
    "calls",
    "can",
    "cannot",
    "case",
    "cases",
    "cause",
    "causes",
    "causing",
    "change",
    "changed",
    "changes",
    "check",
    "checking",
    "checks",
    "code",
    "could",
    "create",
    "created",
    "creates",
    "did",
    "do",
    "does",
    "doesn",
    "don",
    "each",
    "even",
    "file",
    "for",
    "from",
    "function",
    "get",
    "gets",
    "had",
    "has",
    "have",
    "how",
    "however",
    "if",
    "in",
    "instead",
    "into",
    "introduce",
    "introduced",
    "is",
    "isn",
    "issue",
    "it",
    "its",
    "just",
    "lead",
    "leading",
    "leads",
    "like",
    "likely",
    "line",
    "lines",
    "make",
    "makes",
    "making",
    "may",
    "method",
    "might",
    "more",
    "most",
    "never",
    "new",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "on",
    "one",
    "only",
    "or",
    "other",
    "per",
    "potential",
    "potentially",
    "problem",
    "rather",
    "result",
    "resulting",
    "results",
    "return",
    "returned",
    "returning",
    "returns",
    "same",
    "set",
    "sets",
    "should",
    "since",
    "so",
    "some",
    "still",
    "such",
    "than",
    "that",
    "the",
    "their",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "two",
    "use",
    "used",
    "uses",
    "using",
    "value",
    "values",
    "via",
    "was",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "will",
    "with",
    "within",
    "without",
    "won",
    "would",
];

/// Endings that are cut off, the longest first.
const ENDINGS: [&str; 11] = [
    "ations", "ation", "ings", "ing", "edly", "ed", "ies", "es", "ly", "s", "e",
];

/// Returns the terms of `text`, sorted, each once. An identifier counts as a whole, with
/// `identifier` units, and by its parts.
pub(super) fn terms(text: &str, identifier: i32) -> Vec<Term> {
    let mut found = Vec::new();
    for word in raw_words(text) {
        let parts = parts(word);
        if parts.len() > 1 {
            let whole = word.trim_matches('_').to_lowercase();
            found.push(Term {
                hash: hash("#", &whole),
                units: identifier,
            });
        }
        let stems = parts.into_iter().filter_map(stem_hash);
        found.extend(stems.map(|hash| Term { hash, units: 1000 }));
    }
    found.sort_unstable();
    found.dedup_by_key(|term| term.hash);
    found
}

/// Returns hashes of which stems follow each other in `text`, directly or with one between them,
/// sorted, each once. Common words are passed over.
pub(super) fn word_pairs(text: &str) -> Vec<u64> {
    let stems = raw_words(text).flat_map(parts).filter_map(stem_hash);
    let stems: Vec<u64> = stems.collect();
    let follow = |one: u64, other: u64| one.rotate_left(1).wrapping_mul(0x0100_0000_01b3) ^ other;
    let next = stems.windows(2).map(|two| follow(two[0], two[1]));
    let after = stems.windows(3).map(|three| follow(three[0], three[2]));
    let mut found: Vec<u64> = next.chain(after).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the words of a text as they are written, identifiers in one piece.
fn raw_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty())
}

/// Returns the hash of the stem of a word; nothing for a letter or a common word.
fn stem_hash(part: &str) -> Option<u64> {
    let part = part.to_lowercase();
    let tells = part.len() > 1 && COMMON.binary_search(&part.as_str()).is_err();
    tells.then(|| hash("", stem(&part)))
}

/// Splits a word at underscores, at changes of case and around digits.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut chars = word.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let cut = before.is_some_and(|before| {
            let case = before.is_lowercase() && c.is_uppercase();
            // `HTTPServer` is cut before its last capital.
            let acronym =
                before.is_uppercase() && c.is_uppercase() && next.is_some_and(char::is_lowercase);
            case || acronym || before.is_numeric() != c.is_numeric()
        });
        if (cut || c == '_') && start < at {
            parts.push(&word[start..at]);
            start = at;
        }
        if c == '_' {
            start = at + 1;
        }
        before = (c != '_').then_some(c);
    }
    if start < word.len() {
        parts.push(&word[start..]);
    }
    parts
}

fn stem(word: &str) -> &str {
    let cut = ENDINGS.iter().find_map(|ending| {
        let rest = word.strip_suffix(ending)?;
        (rest.chars().count() >= 3).then_some(rest)
    });
    cut.unwrap_or(word)
}

/// FNV-1a over both texts: small, and the same everywhere.
pub(super) fn hash(kind: &str, text: &str) -> u64 {
    let bytes = kind.bytes().chain(text.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_split_at_underscores_and_capitals() {
        for (word, expected) in [
            ("getUserName", &["get", "User", "Name"][..]),
            ("max_size_kb", &["max", "size", "kb"]),
            ("HTTPServer", &["HTTP", "Server"]),
            ("_private", &["private"]),
            ("utf8", &["utf", "8"]),
            ("word", &["word"]),
            ("__", &[]),
        ] {
            assert_eq!(parts(word), expected, "{word}");
        }
    }

    #[test]
    fn common_words_are_sorted_and_left_out() {
        assert!(COMMON.is_sorted());
        assert_eq!(terms("this is the code", 1000), []);
        assert_eq!(terms("Locks", 1000), terms("locked", 1000));
        assert_eq!(terms("lockTable", 1500).len(), 3);
    }

    #[test]
    fn pairs_are_words_that_follow_each_other() {
        let shared = |one: &str, other: &str| {
            let others = word_pairs(other);
            let pairs = word_pairs(one).into_iter();
            pairs.filter(|pair| others.contains(pair)).count()
        };
        // Endings and common words make no difference, and the order of words does.
        assert_eq!(shared("the lock is released", "locks never released"), 1);
        assert_eq!(shared("lock released", "released lock"), 0);
        // One word may stand between two, and identifiers count by their parts.
        assert_eq!(shared("read lock timeout", "read timeout"), 1);
        assert_eq!(shared("readTimeout", "read timeout"), 1);
        assert_eq!(word_pairs("lock").len(), 0);
        assert_eq!(word_pairs("").len(), 0);
    }

    const LONG: &str = "A title, of more than sixty-four bytes, it has to be cut in pieces!";

    #[test]
    fn titles_are_compared_without_case_and_marks() {
        assert_eq!(normalized_title(" The `Name`, again! "), "the name again");
        assert_eq!(normalized_title("…"), "");
        for (title, other) in [
            ("Query built by hand!", " the `query`"),
            ("a", ""),
            ("Größe — zu klein", "größe zu KLEIN…"),
            ("Deserialization", "deserialisation"),
            ("one — TWO", "One two"),
            ("ab cd", "abcd"),
            ("abcdefgh ij", "abcdefghij"),
            (
                LONG,
                "a `Title` of more than sixty-four bytes: it has to be cut in pieces",
            ),
        ] {
            for title in [title, other] {
                let normal = normalized_title(title);
                assert_eq!(title_hash(title), title_hash(&normal), "{title}");
                assert_eq!(title_hash(title).1, normal.contains(' '), "{title}");
            }
            assert_eq!(
                title_hash(title) == title_hash(other),
                normalized_title(title) == normalized_title(other)
            );
        }
    }
}
