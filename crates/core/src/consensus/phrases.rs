//! Looking for phrases in a text: one walk over its words, without regard to case.

/// Phrases to look for, in lower case. They match at the start of a word.
pub(super) struct Phrases {
    phrases: &'static [&'static str],
    /// Which bytes a phrase may start with.
    starts: [bool; 256],
}

impl Phrases {
    /// Returns the phrases made ready for looking.
    pub(super) const fn new(phrases: &'static [&'static str]) -> Self {
        let mut starts = [false; 256];
        let mut at = 0;
        while at < phrases.len() {
            starts[phrases[at].as_bytes()[0] as usize] = true;
            at += 1;
        }
        Self { phrases, starts }
    }

    /// Tells whether one of the phrases stands in `text`.
    pub(super) fn are_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut inside_word = false;
        for (at, &byte) in bytes.iter().enumerate() {
            let begins = !inside_word && self.starts[usize::from(byte.to_ascii_lowercase())];
            if begins
                && self
                    .phrases
                    .iter()
                    .any(|phrase| starts_with(&bytes[at..], phrase))
            {
                return true;
            }
            inside_word = byte.is_ascii_alphanumeric();
        }
        false
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
        const HARM: Phrases = Phrases::new(&["race condition", "fail"]);
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
