//! Wording: the words and identifiers of a text, stemmed, without those that everybody uses.

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

/// Returns the hash of a normalized title without building it, and whether it has two words.
pub(super) fn title_hash(title: &str) -> (u64, bool) {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let (mut begun, mut gap, mut several) = (false, false, false);
    for c in title.chars() {
        if !c.is_alphanumeric() {
            gap = begun;
            continue;
        }
        if gap {
            hash = (hash ^ u64::from(b' ')).wrapping_mul(0x0100_0000_01b3);
            several = true;
        }
        for lower in c.to_lowercase() {
            hash = (hash ^ u64::from(u32::from(lower))).wrapping_mul(0x0100_0000_01b3);
        }
        (begun, gap) = (true, false);
    }
    (hash, several)
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
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for word in text
        .split(|c: char| !is_word(c))
        .filter(|word| !word.is_empty())
    {
        let parts = parts(word);
        if parts.len() > 1 {
            let whole = word.trim_matches('_').to_lowercase();
            found.push(Term {
                hash: hash("#", &whole),
                units: identifier,
            });
        }
        for part in parts {
            let part = part.to_lowercase();
            if part.len() > 1 && COMMON.binary_search(&part.as_str()).is_err() {
                found.push(Term {
                    hash: hash("", stem(&part)),
                    units: 1000,
                });
            }
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|term| term.hash);
    found
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
    fn titles_are_compared_without_case_and_marks() {
        assert_eq!(normalized_title(" The `Name`, again! "), "the name again");
        assert_eq!(normalized_title("…"), "");
    }
}
