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
    /// Which three bytes may start a phrase, by the last five bits of each: capitals and small
    /// letters share them.
    starts: [u64; 1 << 9],
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

/// Returns the place of three bytes in the table of starts: a word of it, and a bit.
const fn start(first: u8, second: u8, third: u8) -> (usize, u64) {
    let number = (first as usize & 31) << 10 | (second as usize & 31) << 5 | third as usize & 31;
    (number >> 6, 1 << (number & 63))
}

/// Tells for up to 64 bytes which of them are letters or digits, the first in the lowest bit.
pub(super) fn in_words(bytes: &[u8]) -> u64 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let mut all = 0;
    for (at, &eight) in eights.iter().enumerate() {
        all |= letters_and_digits(u64::from_le_bytes(eight)) << (8 * at);
    }
    if rest.is_empty() {
        return all;
    }
    let last = rest.iter().rev();
    let last = last.fold(0, |number, &byte| number << 8 | u64::from(byte));
    all | letters_and_digits(last) << (8 * eights.len())
}

/// Tells which of eight bytes are letters or digits, all at once and without a branch.
fn letters_and_digits(bytes: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    // Without their highest bits, bytes have room to be added to without touching each other.
    let low = bytes & !HIGH;
    let at_least = |bytes: u64, least: u64| bytes + (0x80 - least) * EACH;
    let within = |bytes: u64, first: u8, last: u8| {
        at_least(bytes, u64::from(first)) & !at_least(bytes, u64::from(last) + 1)
    };
    let letters = within(low | (0x20 * EACH), b'a', b'z');
    let digits = within(low, b'0', b'9');
    let marked = (letters | digits) & !bytes & HIGH;
    // Gathers the marks of the eight bytes in one.
    (marked >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Returns four bytes with capitals as small letters, and some marks as others.
const fn folded(bytes: u32) -> u32 {
    bytes | 0x2020_2020
}

impl<const N: usize> Lexicon<N> {
    /// Returns the sets made ready for looking. There are at most eight, of 254 phrases in all,
    /// and no phrase is shorter than three
    /// bytes or starts with anything but a letter or a digit.
    pub(super) const fn new(sets: &[&[&'static str]]) -> Self {
        let mut lexicon = Self {
            entries: [Entry::NONE; N],
            whole: 0,
            starts: [0; 1 << 9],
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
                let bytes = phrase.as_bytes();
                let byte = bytes[0];
                assert!(byte.is_ascii_alphanumeric(), "a phrase starts like a word");
                let (word, start) = start(byte, bytes[1], bytes[2]);
                lexicon.entries[index] = Entry::new(phrase, bit);
                lexicon.next[index] = lexicon.first[byte as usize];
                lexicon.first[byte as usize] = index as u8 + 1;
                lexicon.starts[word] |= start;
                index += 1;
                at += 1;
            }
            set += 1;
        }
        assert!(index == N, "N is the number of all phrases");
        lexicon
    }

    /// Returns the bits of the sets of which a phrase stands in `text`.
    ///
    /// Few words start like a phrase, so most of the work is to find where words start.
    pub(super) fn sets_in(&self, text: &str) -> u8 {
        let bytes = text.as_bytes();
        let mut found = 0;
        let mut inside_word = 0;
        for (block, piece) in bytes.chunks(64).enumerate() {
            let words = in_words(piece);
            let mut heads = words & !(words << 1 | inside_word);
            inside_word = words >> 63;
            while heads != 0 {
                let at = block * 64 + heads.trailing_zeros() as usize;
                heads &= heads - 1;
                let Some(&[first, second, third]) = bytes[at..].first_chunk() else {
                    continue;
                };
                let (word, start) = start(first, second, third);
                if self.starts[word] & start != 0 {
                    found |= self.sets_at(&bytes[at..]);
                }
            }
            if found == self.whole {
                break;
            }
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
            ("9fail", 0),
            ("\u{e9}fail", 0b01),
            ("[fail", 0b01),
            ("{fail", 0b01),
            ("@fail", 0b01),
            ("/fail", 0b01),
            (":fail", 0b01),
            ("fai", 0),
        ] {
            assert_eq!(WORDS.sets_in(text), found, "{text}");
            // Wherever it stands in a longer text.
            for before in 0..130 {
                let text = format!("{}{text} or not", " ".repeat(before));
                assert_eq!(WORDS.sets_in(&text), found, "{text}");
            }
        }
    }

    #[test]
    fn letters_and_digits_are_what_the_standard_library_says() {
        for byte in 0..=255_u8 {
            let expected = if byte.is_ascii_alphanumeric() {
                u64::MAX
            } else {
                0
            };
            assert_eq!(in_words(&[byte; 64]), expected, "{byte}");
            assert_eq!(in_words(&[byte; 3]), expected & 7, "{byte}");
        }
    }
}
