//! An index from terms to the claims that hold them.

use super::words::Words;

/// With so many others a finding is compared, those that share its rarest terms first.
const CANDIDATES: usize = 64;

/// Which claims share which terms.
pub(super) struct Postings {
    /// Claims by term.
    claims: Vec<(u64, u32)>,
    /// For each claim and rare term, the number of its claims and where they start, the rarest
    /// first.
    rare: Vec<(u32, u32, u32)>,
    /// Where in `rare` the terms of each claim start.
    starts: Vec<usize>,
    /// For each claim the next one with the very same text, where there are many of them.
    next: Vec<u32>,
}

impl Postings {
    /// Indexes the words of each claim; one that more than `most_common` claims hold tells nothing.
    pub(super) fn of(words: &[Words], most_common: u32) -> Self {
        let mut claims: Vec<(u64, u32)> = Vec::new();
        let mut whole: Vec<(u64, u32)> = Vec::with_capacity(words.len());
        for (index, words) in (0..).zip(words) {
            claims.extend(words.list.iter().map(|word| (word.hash, index)));
            let text = words
                .list
                .iter()
                .fold(0, |sum: u64, word| sum.rotate_left(5) ^ word.hash);
            whole.push((text, index));
        }
        claims.sort_unstable();
        whole.sort_unstable();
        let mut postings = Self {
            claims,
            rare: Vec::new(),
            starts: Vec::with_capacity(words.len() + 1),
            next: vec![u32::MAX; words.len()],
        };
        let most = usize::try_from(most_common).unwrap_or(usize::MAX);
        let mut start = 0;
        for same in postings.claims.chunk_by(|a, b| a.0 == b.0) {
            // A common term tells nothing, and one of a single claim nothing about others.
            if (2..=most).contains(&same.len()) {
                let (from, length) = (start as u32, same.len() as u32);
                let rare = same.iter().map(|&(_, index)| (index, length, from));
                postings.rare.extend(rare);
            }
            start += same.len();
        }
        postings.rare.sort_unstable();
        for index in 0..=words.len() {
            let before = |entry: &(u32, u32, u32)| (entry.0 as usize) < index;
            postings.starts.push(postings.rare.partition_point(before));
        }
        for same in whole.chunk_by(|a, b| a.0 == b.0) {
            for pair in same.windows(2) {
                postings.next[pair[0].1 as usize] = pair[1].1;
            }
        }
        postings
    }

    /// Adds those that share the rarest terms with a claim, and the next one of the same text.
    pub(super) fn sharing_terms(&self, index: u32, others: &mut Vec<u32>) {
        let next = self.next[index as usize];
        others.extend((next != u32::MAX).then_some(next));
        let (start, end) = (self.starts[index as usize], self.starts[index as usize + 1]);
        for &(_, length, from) in &self.rare[start..end] {
            if others.len() >= CANDIDATES {
                break;
            }
            let all = &self.claims[from as usize..(from + length) as usize];
            let these = all.iter().map(|&(_, other)| other);
            others.extend(these.filter(|&other| other != index));
        }
    }
}
