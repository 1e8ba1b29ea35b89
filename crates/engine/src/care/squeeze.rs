//! Makes texts small: what was there before is referred to, however far back, and the rest deflated.
//!
//! The prompts of a panel are nearly the same, and each is longer than the 32 KiB that deflate looks back. So
//! whole lines that stood anywhere before are replaced by where they stood, before deflate sees the
//! rest.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// A shorter repetition is left to deflate.
const SHORTEST_COPY: usize = 96;

/// How hard to try while somebody waits.
const QUICK: u32 = 3;

/// Nothing that is packed is larger than this, so nothing that is unpacked may be.
pub(super) const MOST_BYTES: usize = 512 << 20;

/// Returns `bytes` in a form that takes up less room.
pub(super) fn squeeze(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&refer_back(bytes))?;
    encoder.finish()
}

/// Returns what was squeezed.
pub(super) fn expand(squeezed: &[u8]) -> io::Result<Vec<u8>> {
    let mut references = Vec::new();
    let most = MOST_BYTES as u64 * 2;
    let mut decoder = ZlibDecoder::new(squeezed).take(most);
    decoder.read_to_end(&mut references)?;
    follow_back(&references).ok_or_else(damaged)
}

/// Returns `bytes` deflated, quickly: for what is written while somebody waits.
pub(super) fn deflate(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(QUICK));
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Returns what was deflated.
pub(super) fn inflate(deflated: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut decoder = ZlibDecoder::new(deflated).take(MOST_BYTES as u64);
    decoder.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the packed file is damaged")
}

/// Returns `bytes` as pairs: new bytes, then how many follow from where.
fn refer_back(bytes: &[u8]) -> Vec<u8> {
    let mut lines: HashMap<&[u8], usize> = HashMap::new();
    let mut out = Vec::with_capacity(bytes.len() / 2);
    let (mut fresh, mut at) = (0, 0);
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line = rest.get(..end.map_or(rest.len(), |end| end + 1));
        let line = line.unwrap_or_default();
        let earlier = lines.insert(line, at);
        let same = earlier.map_or(0, |earlier| same_bytes(bytes, earlier, at));
        match earlier {
            Some(earlier) if same >= SHORTEST_COPY => {
                put_new(&mut out, bytes.get(fresh..at).unwrap_or_default());
                put_number(&mut out, same);
                put_number(&mut out, earlier);
                at += same;
                fresh = at;
            }
            Some(_) | None => at += line.len(),
        }
    }
    put_new(&mut out, bytes.get(fresh..).unwrap_or_default());
    put_number(&mut out, 0);
    out
}

/// Returns how many bytes from `at` on are those from `earlier` on, without reaching into itself.
fn same_bytes(bytes: &[u8], earlier: usize, at: usize) -> usize {
    let then = bytes.get(earlier..at).unwrap_or_default();
    let now = bytes.get(at..).unwrap_or_default();
    then.iter().zip(now).take_while(|(a, b)| a == b).count()
}

fn put_new(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Puts a number, seven bits at a time, the lowest first.
fn put_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or(0));
}

/// Returns the bytes that were referred back; nothing if that cannot have been.
fn follow_back(mut references: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let new = take_number(&mut references)?;
        bytes.extend_from_slice(references.split_off(..new)?);
        let count = take_number(&mut references)?;
        if count == 0 {
            return references.is_empty().then_some(bytes);
        }
        let from = take_number(&mut references)?;
        let end = from.checked_add(count)?;
        if end > bytes.len() || bytes.len().checked_add(count)? > MOST_BYTES {
            return None;
        }
        bytes.extend_from_within(from..end);
    }
}

fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0_usize;
    for place in (0..usize::BITS).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= usize::from(byte & 0x7f).checked_shl(place)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(seed: u64, count: usize) -> String {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 33
        };
        let mut line = |_| {
            let words: Vec<String> = (0..8).map(|_| format!("{:x}", next())).collect();
            words.join(" ") + "\n"
        };
        (0..count).map(&mut line).collect()
    }

    #[test]
    fn whatever_is_squeezed_comes_back() {
        let text = lines(7, 300);
        let twice = format!("{text}other\n{text}");
        let cases: [&[u8]; 8] = [
            b"",
            b"\n",
            b"a",
            b"\n\n\n\n",
            &[b'x'; 5_000],
            &[b'\n'; 5_000],
            text.as_bytes(),
            twice.as_bytes(),
        ];
        for bytes in cases {
            let squeezed = squeeze(bytes).expect("it is squeezed");
            assert_eq!(expand(&squeezed).expect("it comes back"), bytes);
        }
    }

    #[test]
    fn what_was_there_before_takes_up_no_room_however_far_back() {
        // Random words hardly deflate, and 3,000 lines are far more than deflate looks back.
        let text = lines(11, 3_000);
        let once = squeeze(text.as_bytes()).expect("it is squeezed").len();
        let again = text.repeat(3);
        let thrice = squeeze(again.as_bytes()).expect("it is squeezed").len();
        assert!(thrice < once + 100, "{thrice} against {once}");
    }

    #[test]
    fn damage_is_an_error_and_never_another_text() {
        let text = lines(3, 200).repeat(2);
        let squeezed = squeeze(text.as_bytes()).expect("it is squeezed");
        for cut in 0..squeezed.len() {
            let short = squeezed.get(..cut).expect("a part");
            assert!(expand(short).is_err(), "cut at {cut}");
        }
        for references in [
            &[5, 1][..],
            &[0, 9, 0],
            &[1, b'a', 1, 1],
            &[0, 0, 7],
            &[0x80; 12],
        ] {
            assert_eq!(follow_back(references), None, "{references:?}");
        }
    }
}
