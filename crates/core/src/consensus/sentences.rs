//! The sentences of a text, for the question whether each was shown before.

use super::terms::hash;

/// Words that change nothing about a sentence.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Returns the hash of each sentence: without case, articles, the marks around words and the numbers of
/// lines, which change with every edit above them.
///
/// Marks within a word and those that stand alone are kept, because `x < y` is not `x > y`.
pub(super) fn sentence_hashes(text: &str) -> Vec<u64> {
    let mut found = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut close = |words: &mut Vec<String>| {
        let kept = without_line_numbers(words);
        if !kept.is_empty() {
            found.push(hash("", &kept.join(" ")));
        }
        words.clear();
    };
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['-', '*', '•']) {
            close(&mut words);
        }
        for word in line.split_whitespace() {
            let plain = plain_word(word);
            if !plain.is_empty() && !ARTICLES.contains(&word.to_lowercase().as_str()) {
                words.push(plain);
            }
            let inner = word.trim_end_matches(is_closing_mark);
            if inner.ends_with(['.', '!', '?']) {
                close(&mut words);
            }
        }
    }
    close(&mut words);
    found
}

/// Returns a normalized title without its articles.
pub(super) fn without_articles(title: &str) -> Vec<&str> {
    let words = title.split(' ');
    words.filter(|word| !ARTICLES.contains(word)).collect()
}

fn is_closing_mark(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '"' | '\'' | '`' | '”' | '’')
}

/// Returns a word in lower case without the marks around it; nothing for a mark that only separates.
fn plain_word(word: &str) -> String {
    let is_end =
        |c: char| is_closing_mark(c) || matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…');
    let is_start = |c: char| matches!(c, '(' | '[' | '{' | '"' | '\'' | '`' | '“' | '‘');
    let inner = word.trim_end_matches(is_end).trim_start_matches(is_start);
    let is_separator = |c: char| matches!(c, '.' | ',' | ';' | ':' | '-' | '–' | '—' | '•' | '`');
    match inner.is_empty() || word.chars().all(is_separator) {
        true if word.chars().all(is_separator) => String::new(),
        true => word.to_owned(),
        false => inner.replace('`', "").to_lowercase(),
    }
}

/// Leaves out `at line 41` and `lines 3 to 7`.
fn without_line_numbers(words: &[String]) -> Vec<&str> {
    let is_number = |word: Option<&String>| {
        word.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut kept: Vec<&str> = Vec::with_capacity(words.len());
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if !matches!(word.as_str(), "line" | "lines") || !is_number(words.get(at)) {
            kept.push(word);
            continue;
        }
        kept.pop_if(|last| matches!(*last, "at" | "in" | "on"));
        at += 1;
        while let Some("and" | "or" | "to") = words.get(at).map(String::as_str)
            && is_number(words.get(at + 1))
        {
            at += 2;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_told_apart_by_words_and_operators() {
        for (one, other, same) in [
            ("The lock is kept.", "lock is kept", true),
            ("It fails, always!", "it fails always", true),
            ("`load` (again) fails", "load again fails", true),
            ("At line 4 it fails", "It fails", true),
            (
                "It fails on lines 4 and 5.",
                "It fails on lines 7 to 9.",
                true,
            ),
            ("It fails\nfor all", "It fails for all", true),
            ("It fails - for all", "It fails for all", true),
            ("Fails for x < y", "Fails for x > y", false),
            ("Fails for a == b", "Fails for a != b", false),
            ("Fails for -1", "Fails for 1", false),
            ("Fails for \"\"", "Fails for", false),
            ("Fails for `a`", "Fails for", false),
            ("Fails if valid", "Fails if !valid", false),
            ("A user deletes an admin", "An admin deletes a user", false),
            ("It fails", "It fails not", false),
            ("It fails. For all.", "It fails for all.", false),
            ("One line fails", "One fails", false),
        ] {
            assert_eq!(
                sentence_hashes(one) == sentence_hashes(other),
                same,
                "{one} / {other}"
            );
        }
        for (text, count) in [
            ("", 0),
            ("...", 0),
            ("One. Two! Three? Four", 4),
            ("He says \"one.\" Two", 2),
            ("Version 1.5 of a.py fails", 1),
            ("One:\n- two\n- three\n\nfour", 4),
        ] {
            assert_eq!(sentence_hashes(text).len(), count, "{text}");
        }
    }
}
