//! From bytes to text: byte order marks, UTF-16, UTF-32, and bytes that are no text at all.

use std::borrow::Cow;

/// The text of a file, and how it was had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<'a> {
    /// The text, without a byte order mark.
    pub text: Cow<'a, str>,
    /// Whether bytes had to be replaced, so that columns and quotes may be off.
    pub is_lossy: bool,
}

/// Returns the text of a file, or nothing if it is binary.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Text<'_>> {
    // The mark of UTF-16 is how that of UTF-32 begins.
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe\0\0") {
        return utf32(rest, u32::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\0\0\xfe\xff") {
        return utf32(rest, u32::from_be_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Some(utf16(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return Some(utf16(rest, u16::from_be_bytes));
    }
    let rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // No source code has a zero byte; every common binary format has one early.
    if rest.iter().take(8_000).any(|byte| *byte == 0) {
        return None;
    }
    let text = String::from_utf8_lossy(rest);
    let is_lossy = matches!(text, Cow::Owned(_));
    Some(Text { text, is_lossy })
}

/// Returns the text in UTF-32; one bad character makes it something else, which is no text.
fn utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> Option<Text<'static>> {
    let (fours, rest) = bytes.as_chunks::<4>();
    let text: Option<String> = fours
        .iter()
        .map(|four| char::from_u32(unit(*four)))
        .collect();
    let text = text.filter(|_| rest.is_empty())?;
    Some(Text {
        text: Cow::Owned(text),
        is_lossy: false,
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Text<'static> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut is_lossy = !rest.is_empty();
    let text: String = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .map(|c| {
            c.unwrap_or_else(|_| {
                is_lossy = true;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    Text {
        text: Cow::Owned(text),
        is_lossy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_utf16_bad_bytes_and_binaries() {
        let cases = [
            (&b"a"[..], Some(("a", false))),
            (b"\xef\xbb\xbfa", Some(("a", false))),
            (b"\xff\xfea\0b\0", Some(("ab", false))),
            (b"\xfe\xff\0a\0b", Some(("ab", false))),
            (b"\xff\xfe\x00\xd8a", Some(("\u{fffd}", true))),
            (b"a\xffb", Some(("a\u{fffd}b", true))),
            (b"\x7fELF\0", None),
            (b"\xff\xfe\0\0a\0\0\0b\0\0\0", Some(("ab", false))),
            (b"\0\0\xfe\xff\0\0\0a", Some(("a", false))),
            (b"\xff\xfe\0\0a\0\0", None),
            (b"\xff\xfe\0\0\0\0\x11\0", None),
        ];
        for (bytes, expected) in cases {
            let decoded = decode(bytes);
            let shown = decoded.as_ref().map(|text| (&*text.text, text.is_lossy));
            assert_eq!(shown, expected, "{bytes:?}");
        }
    }
}
