//! The page allows its own style and nothing else.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::html::STYLE_HASH;

#[test]
fn the_hash_in_the_page_is_that_of_its_style() {
    let mut child = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let style = include_str!("style.css");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(style.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let hex = String::from_utf8(output.stdout).unwrap();
    let bytes: Vec<u8> = (0..32)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    assert_eq!(STYLE_HASH, format!("sha256-{}", base64(&bytes)));
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let mut bits = 0_u32;
        for at in 0..3 {
            bits = bits << 8 | u32::from(three.get(at).copied().unwrap_or(0));
        }
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= three.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    out
}
