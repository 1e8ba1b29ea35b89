//! The words of a claim, weighted by how rare they are in a review.
//!
//! What a finding claims is in its title and its first sentence. The rest explains it, and two
//! different problems of one place are explained with the same words; so the first sentence counts
//! once more. Code that a finding proposes says nothing about what it claims. Two findings about one
//! place share its names, and two findings about one problem share turns of phrase as well: so words that
//! follow each other in both count, too.

use super::super::normalize::Claim;
use super::super::policy::TextMatching;
use super::super::terms::{Term, terms, word_pairs};
use super::rarity::{log2_thousandths, rarity};

/// A word of a claim.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// The hash of its term.
    pub(super) hash: u64,
    /// How much it counts.
    weight: i64,
    /// Whether it is in the title or the first sentence.
    first: bool,
}

/// The words of one claim, sorted by hash, the sums of their weights, and the pairs of words that
/// follow each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    pub(super) list: Vec<Word>,
    all: i64,
    first: i64,
    pairs: Vec<u64>,
}

/// What is read from a claim before its words are weighed.
struct Terms {
    all: Vec<Term>,
    /// Those of the title and the first sentence.
    first: Vec<Term>,
    pairs: Vec<u64>,
}

/// Returns the words of all claims.
pub(super) fn words_of(claims: &[Claim<'_>], rules: &TextMatching) -> Vec<Words> {
    let read = |claim: &Claim<'_>| read(claim, rules);
    let plain: Vec<Terms> = claims.iter().map(read).collect();
    let mut hashes: Vec<u64> = plain
        .iter()
        .flat_map(|terms| terms.all.iter().map(|term| term.hash))
        .collect();
    hashes.sort_unstable();
    let known: Vec<(u64, usize)> = hashes
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0], same.len()))
        .collect();
    let weigh = |Terms { all, first, pairs }: Terms| {
        let word = |term: Term| {
            let found = known.binary_search_by_key(&term.hash, |(hash, _)| *hash);
            let times = found.map_or(1, |at| known[at].1);
            let in_first = first.binary_search_by_key(&term.hash, |term| term.hash);
            Word {
                hash: term.hash,
                weight: i64::from(term.units) * rarity(claims.len(), times) / 1000,
                first: in_first.is_ok(),
            }
        };
        let list: Vec<Word> = all.into_iter().map(word).collect();
        let firsts = list.iter().filter(|word| word.first);
        Words {
            all: list.iter().map(|word| word.weight).sum(),
            first: firsts.map(|word| word.weight).sum(),
            list,
            pairs,
        }
    };
    plain.into_iter().map(weigh).collect()
}

impl Words {
    /// Returns how alike two claims are, in thousandths: so much of it as the rules say is how alike
    /// their first sentences are, and shared pairs of words are added.
    pub(super) fn likeness(&self, other: &Self, rules: &TextMatching) -> i32 {
        let (few, many) = if self.list.len() <= other.list.len() {
            (self.list.as_slice(), other.list.as_slice())
        } else {
            (other.list.as_slice(), self.list.as_slice())
        };
        let (mut shared, mut shared_first) = (0, 0);
        visit_shared(
            few,
            many,
            |word| word.hash,
            |word, same| {
                let weight = word.weight.min(same.weight);
                shared += weight;
                shared_first += if word.first && same.first { weight } else { 0 };
            },
        );
        if shared == 0 {
            return 0;
        }
        let whole = share(shared, self.all, other.all);
        let said = if self.first == 0 || other.first == 0 {
            whole
        } else {
            let sentence = share(shared_first, self.first, other.first);
            (whole * (1000 - rules.first_sentence) + sentence * rules.first_sentence) / 1000
        };
        (said + self.phrasing(other) * rules.word_pairs / 1000).min(1000)
    }

    /// Returns how many pairs of words two claims share, in thousandths.
    fn phrasing(&self, other: &Self) -> i32 {
        let (few, many) = if self.pairs.len() <= other.pairs.len() {
            (self.pairs.as_slice(), other.pairs.as_slice())
        } else {
            (other.pairs.as_slice(), self.pairs.as_slice())
        };
        let mut shared = 0;
        visit_shared(few, many, |pair| *pair, |_, _| shared += 1);
        share(shared, few.len() as i64, many.len() as i64)
    }

    /// Returns how much a claim says: the binary logarithm of its number of words, in thousandths. Beyond
    /// `ENOUGH` more words are no more detail.
    pub(super) fn detail(&self) -> i32 {
        const ENOUGH: usize = 64;
        let detail = log2_thousandths(self.list.len().min(ENOUGH));
        i32::try_from(detail).unwrap_or(0)
    }
}

/// Visits what two lists share that are sorted by a key, and of which the first is the shorter one.
fn visit_shared<T>(
    few: &[T],
    mut many: &[T],
    key: impl Fn(&T) -> u64,
    mut visit: impl FnMut(&T, &T),
) {
    let long = many.len() / 8 > few.len();
    for one in few {
        // A word is looked up in a book, and two sentences are read side by side.
        let skip = if long {
            many.partition_point(|other| key(other) < key(one))
        } else {
            let ahead = many.iter().position(|other| key(other) >= key(one));
            ahead.unwrap_or(many.len())
        };
        many = &many[skip..];
        if let Some(same) = many.first().filter(|other| key(other) == key(one)) {
            visit(one, same);
        }
    }
}

/// Returns the part that is shared of two sums, in thousandths of their geometric mean.
fn share(shared: i64, one: i64, other: i64) -> i32 {
    let norm = one.saturating_mul(other).max(1).isqrt().max(1);
    i32::try_from((shared * 1000 / norm).min(1000)).unwrap_or(1000)
}

/// Returns the terms of all that a claim says.
fn read(claim: &Claim<'_>, rules: &TextMatching) -> Terms {
    let finding = claim.finding;
    let description = without_fences(&finding.description);
    let first = format!("{} {}", finding.title, first_sentence(&description));
    // A title is usually the start of the description; its terms count once either way.
    let whole = format!("{} {description} {}", finding.title, finding.quote);
    let told = match description.trim().is_empty() {
        true => &finding.title,
        false => &description,
    };
    let pairs = match rules.word_pairs {
        0 => Vec::new(),
        _ => word_pairs(told),
    };
    Terms {
        all: terms(&whole, rules.identifier),
        first: terms(&first, rules.identifier),
        pairs,
    }
}

/// Returns a text without the blocks of code between fences. A text of nothing else stays.
fn without_fences(text: &str) -> String {
    const FENCE: &str = "```";
    if !text.contains(FENCE) {
        return text.to_owned();
    }
    let prose: Vec<&str> = text.split(FENCE).step_by(2).collect();
    match prose.iter().all(|part| part.trim().is_empty()) {
        true => text.to_owned(),
        false => prose.join(" "),
    }
}

/// Returns a text up to the end of its first sentence or line.
fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == '\n' || c.is_whitespace() && matches!(before, '.' | '!' | '?') {
            return &text[..at];
        }
        before = c;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_at_a_mark_before_a_space_or_with_its_line() {
        for (text, expected) in [
            ("One. Two.", "One."),
            ("Is `a.b` read? Yes.", "Is `a.b` read?"),
            ("  A heading\nand more. Text", "A heading"),
            ("version 1.2 is old", "version 1.2 is old"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected);
        }
    }

    #[test]
    fn proposed_code_is_left_out() {
        for (text, expected) in [
            ("plain", "plain"),
            (
                "Before. ```rust\nlet a = 1;\n``` After.",
                "Before.   After.",
            ),
            ("Open ```let a", "Open "),
            ("```only code```", "```only code```"),
        ] {
            assert_eq!(without_fences(text), expected);
        }
    }
}
