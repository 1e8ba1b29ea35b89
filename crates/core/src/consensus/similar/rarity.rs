//! How much a term tells: the rarer it is in a review, the more. Logarithms of whole numbers.

/// Returns the weight of a term that occurs `times` in `all` findings: log2(1 + all / times), in
/// thousandths.
pub(super) fn rarity(all: usize, times: usize) -> i64 {
    let (all, times) = (all.max(1) as u64, times.max(1) as u64);
    log2_of_parts(((all + times) << 16) / times)
}

/// Returns the binary logarithm of a number, in thousandths; that of 0 counts as that of 1.
pub(in super::super) fn log2_thousandths(number: usize) -> i64 {
    log2_of_parts((number.max(1) as u64) << 16)
}

/// Returns the binary logarithm of a number given in 1/65536 parts, bit by bit.
fn log2_of_parts(parts: u64) -> i64 {
    let whole = parts.max(1).ilog2();
    let mut fraction = parts << (63 - whole) >> 32;
    let mut log = i64::from(whole) * 1000 - 16_000;
    let mut bit = 500;
    while bit > 0 {
        fraction = (fraction * fraction) >> 31;
        if fraction >= 1 << 32 {
            fraction >>= 1;
            log += bit;
        }
        bit /= 2;
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarity_is_a_logarithm() {
        for (all, times, expected) in [(1, 1, 1000), (3, 1, 2000), (7, 1, 3000), (10, 10, 1000)] {
            let given = rarity(all, times);
            assert!((given - expected).abs() <= 4, "{all}/{times}: {given}");
        }
        assert!((rarity(10, 4) - 1807).abs() <= 4, "{}", rarity(10, 4));
        assert!(rarity(1_000_000, 1) > rarity(1_000_000, 2));
    }
}
