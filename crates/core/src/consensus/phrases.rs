//! Looking for phrases in a text: one walk for all of them, without regard to case.

/// How many phrases a list of sets has; a lexicon must know at compile time.
pub(super) const fn count(sets: &[&[&str]]) -> usize {
    let (mut all, mut at) = (0, 0);
    while at < sets.len() {
        all += sets[at].len();
        at += 1;
    }
    all
}

/// Sets of phrases to look for, in lower case. They match at the start of a word.
pub(super) struct Lexicon<const N: usize> {
    entries: [Entry; N],
    /// The bits of all sets together.
    whole: u8,
    /// Which two bytes may start a phrase, by the last five bits of both: capitals and small
    /// letters share them.
    pairs: [u8; 1 << 10],
    /// For each byte, one more than the index of the first phrase that starts with it.
    first: [u8; 256],
    /// For each phrase, one more than the index of the next one that starts with the same byte.
    next: [u8; N],
}

#[derive(Clone, Copy)]
struct Entry {
    phrase: &'static str,
    /// The first four bytes as `folded` sees them, and which of them count.
    start: u32,
    mask: u32,
    /// The bit of its set.
    bit: u8,
}

impl Entry {
    const NONE: Self = Self {
        phrase: "",
        start: 0,
        mask: 0,
        bit: 0,
    };

    const fn new(phrase: &'static str, bit: u8) -> Self {
        let bytes = phrase.as_bytes();
        let (mut start, mut mask, mut at) = (0, 0, 0);
        while at < 4 && at < bytes.len() {
            start |= (bytes[at] as u32) << (8 * at);
            mask |= 0xff << (8 * at);
            at += 1;
        }
        Self {
            phrase,
            start: folded(start) & mask,
            mask,
            bit,
        }
    }
}

/// Whether a byte is no part of a word.
static OUTSIDE_WORD: [u8; 256] = {
    let mut outside = [1; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            outside[byte] = 0;
        }
        byte += 1;
    }
    outside
};

const fn pair(first: u8, second: u8) -> usize {
    (first as usize & 31) << 5 | second as usize & 31
}

/// Returns four bytes with capitals as small letters, and some marks as others.
const fn folded(bytes: u32) -> u32 {
    bytes | 0x2020_2020
}

impl<const N: usize> Lexicon<N> {
    /// Returns the sets made ready for looking. There are at most eight, of 254 phrases in all,
    /// and no phrase is shorter than two bytes.
    pub(super) const fn new(sets: &[&[&'static str]]) -> Self {
        let mut lexicon = Self {
            entries: [Entry::NONE; N],
            whole: 0,
            pairs: [0; 1 << 10],
            first: [0; 256],
            next: [0; N],
        };
        let (mut set, mut index) = (0, 0);
        while set < sets.len() {
            let bit = 1 << set;
            lexicon.whole |= bit;
            let mut at = 0;
            while at < sets[set].len() {
                let phrase = sets[set][at];
                let byte = phrase.as_bytes()[0];
                lexicon.entries[index] = Entry::new(phrase, bit);
                lexicon.next[index] = lexicon.first[byte as usize];
                lexicon.first[byte as usize] = index as u8 + 1;
                lexicon.pairs[pair(byte, phrase.as_bytes()[1])] = 1;
                index += 1;
                at += 1;
            }
            set += 1;
        }
        assert!(index == N, "N is the number of all phrases");
        lexicon
    }

    /// Returns the bits of the sets of which a phrase stands in `text`.
    pub(super) fn sets_in(&self, text: &str) -> u8 {
        let bytes = text.as_bytes();
        let mut found = 0;
        let mut outside_word = 1;
        for (at, two) in bytes.windows(2).enumerate() {
            let hit = self.pairs[pair(two[0], two[1])] & outside_word;
            if hit != 0 {
                found |= self.sets_at(&bytes[at..]);
                if found == self.whole {
                    return found;
                }
            }
            outside_word = OUTSIDE_WORD[usize::from(two[0])];
        }
        found
    }

    fn sets_at(&self, bytes: &[u8]) -> u8 {
        let mut found = 0;
        let start = match bytes {
            [a, b, c, d, ..] => [*a, *b, *c, *d],
            _ => std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0)),
        };
        let start = folded(u32::from_le_bytes(start));
        let mut link = self.first[usize::from(bytes[0].to_ascii_lowercase())];
        while let Some(index) = link.checked_sub(1) {
            let entry = &self.entries[usize::from(index)];
            if start & entry.mask == entry.start && starts_with(bytes, entry.phrase) {
                found |= entry.bit;
            }
            link = self.next[usize::from(index)];
        }
        found
    }
}

fn starts_with(bytes: &[u8], phrase: &str) -> bool {
    let start = bytes.get(..phrase.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(phrase.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_match_at_the_start_of_a_word_in_any_case() {
        const SETS: [&[&str]; 2] = [&["fail", "race condition"], &["falls", "n+1"]];
        static WORDS: Lexicon<{ count(&SETS) }> = Lexicon::new(&SETS);
        for (text, found) in [
            ("A Race Condition here", 0b01),
            ("it fails", 0b01),
            ("(fail)", 0b01),
            ("FAIL", 0b01),
            ("unfailing", 0),
            ("race", 0),
            ("f", 0),
            ("", 0),
            ("ä fail", 0b01),
            ("it FALLS", 0b10),
            ("N+1 queries", 0b10),
            ("it falls and fails", 0b11),
        ] {
            assert_eq!(WORDS.sets_in(text), found, "{text}");
        }
    }
}
