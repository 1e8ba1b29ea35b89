//! Output in quantities that no reader should keep.

use std::io::{self, Write};

const LINE: &[u8] =
    b"The quick brown fox jumps over the lazy dog, and over it again, for ever on.\n";
const BLOCK_BYTES: usize = 64 * 1024;

/// Writes this many bytes in many lines.
pub(crate) fn lines(out: impl Write, bytes: u64) -> io::Result<()> {
    let block: Vec<u8> = LINE
        .iter()
        .copied()
        .cycle()
        .take(BLOCK_BYTES / LINE.len() * LINE.len())
        .collect();
    write_blocks(out, &block, bytes)
}

/// Writes this many bytes without a line end.
pub(crate) fn one_line(out: impl Write, bytes: u64) -> io::Result<()> {
    write_blocks(out, &[b'x'; BLOCK_BYTES], bytes)
}

fn write_blocks(mut out: impl Write, block: &[u8], bytes: u64) -> io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        out.write_all(&block[..size])?;
        left -= size as u64;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_wanted_bytes_are_written() {
        let mut out = Vec::new();
        lines(&mut out, 200_001).unwrap();
        assert_eq!(out.len(), 200_001);
        assert!(
            out.split(|byte| *byte == b'\n')
                .all(|line| line.len() < 100)
        );
    }
}
