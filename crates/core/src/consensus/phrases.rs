//! Looking for phrases in a text: one walk over its words, without regard to case.

/// Phrases to look for, in lower case and sorted. They match at the start of a word.
pub(super) struct Phrases {
    phrases: &'static [&'static str],
    /// Which phrases start with a byte: the first, and the one after the last.
    ranges: [(u8, u8); 256],
}

impl Phrases {
    /// Returns the phrases made ready for looking.
    pub(super) const fn new(phrases: &'static [&'static str]) -> Self {
        let mut ranges = [(0, 0); 256];
        let mut at = 0;
        while at < phrases.len() {
            let byte = phrases[at].as_bytes()[0] as usize;
            let index = at as u8;
            let begin = if ranges[byte].1 == 0 {
                index
            } else {
                ranges[byte].0
            };
            ranges[byte] = (begin, index + 1);
            at += 1;
        }
        Self { phrases, ranges }
    }

    /// Tells whether one of the phrases stands in `text`.
    pub(super) fn are_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut inside_word = false;
        for (at, &byte) in bytes.iter().enumerate() {
            if !inside_word {
                let (begin, end) = self.ranges[usize::from(byte.to_ascii_lowercase())];
                let mut phrases = self.phrases[usize::from(begin)..usize::from(end)].iter();
                if phrases.any(|phrase| starts_with(&bytes[at..], phrase)) {
                    return true;
                }
            }
            inside_word = byte.is_ascii_alphanumeric();
        }
        false
    }

    /// Tells whether the phrases are sorted, as looking for them needs.
    #[cfg(test)]
    pub(super) fn are_sorted(&self) -> bool {
        self.phrases.is_sorted()
    }
}

fn starts_with(bytes: &[u8], phrase: &str) -> bool {
    bytes
        .get(..phrase.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(phrase.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_match_at_the_start_of_a_word_in_any_case() {
        const HARM: Phrases = Phrases::new(&["fail", "race condition"]);
        for (text, found) in [
            ("A Race Condition here", true),
            ("it fails", true),
            ("(fail)", true),
            ("unfailing", false),
            ("race", false),
            ("", false),
            ("ä fail", true),
        ] {
            assert_eq!(HARM.are_in(text), found, "{text}");
        }
    }
}
