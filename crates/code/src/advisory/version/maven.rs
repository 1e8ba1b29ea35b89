//! Maven versions, ordered as Maven's version order specification says.
//!
//! A version is a row of tokens: numbers after a dot or a hyphen, and qualifiers. Maven compares
//! rows of different length by padding the shorter one; here the end of a row is a token of its
//! own with a fixed place in the order, and zeros that padding would make equal to nothing are
//! dropped. The order is then plainly lexical and therefore total, which the padding is not.

use super::Number;

/// A Maven version; the derived order is Maven's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MavenVersion(Vec<Token>);

/// The variants stand in their order: `1-rc < 1 < 1-sp < 1-abc < 1-1 < 1.1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Token {
    /// A qualifier of something unfinished, by its rank.
    Early(u8),
    /// Nothing follows.
    End,
    /// A service pack, which comes before all qualifiers that Maven does not know.
    ServicePack,
    /// Any other qualifier, in lower case.
    Late(String),
    /// A number after a hyphen or after a letter.
    Hyphened(Number),
    /// A number after a dot, or the first one.
    Dotted(Number),
}

/// A token as written, before anything is dropped.
struct Piece<'a> {
    text: &'a str,
    after_hyphen: bool,
    before_digit: bool,
}

impl MavenVersion {
    /// Reads any text: Maven knows no invalid version.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.to_lowercase();
        let mut tokens: Vec<Token> = Vec::new();
        for piece in pieces(&text) {
            let token = match Number::parse(piece.text) {
                Some(number) if piece.after_hyphen => {
                    drop_trailing_zeros(&mut tokens);
                    Token::Hyphened(number)
                }
                Some(number) => Token::Dotted(number),
                None if matches!(piece.text, "" | "ga" | "final" | "release") => {
                    drop_trailing_zeros(&mut tokens);
                    continue;
                }
                None => {
                    drop_trailing_zeros(&mut tokens);
                    qualifier(&piece)
                }
            };
            tokens.push(token);
        }
        drop_trailing_zeros(&mut tokens);
        tokens.push(Token::End);
        Self(tokens)
    }
}

fn qualifier(piece: &Piece<'_>) -> Token {
    match piece.text {
        "alpha" => Token::Early(0),
        "a" if piece.before_digit => Token::Early(0),
        "beta" => Token::Early(1),
        "b" if piece.before_digit => Token::Early(1),
        "milestone" => Token::Early(2),
        "m" if piece.before_digit => Token::Early(2),
        "rc" | "cr" => Token::Early(3),
        "snapshot" => Token::Early(4),
        "sp" => Token::ServicePack,
        other => Token::Late(other.to_owned()),
    }
}

fn drop_trailing_zeros(tokens: &mut Vec<Token>) {
    while let Some(Token::Dotted(number) | Token::Hyphened(number)) = tokens.last()
        && number.is_zero()
    {
        tokens.pop();
    }
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// Splits at dots, hyphens and changes between digits and other letters; the latter count as
/// hyphens, and nothing between two separators counts as zero.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut after_hyphen = false;
    let mut previous_is_digit = None;
    for (at, c) in text.char_indices() {
        let is_digit = c.is_ascii_digit();
        let is_separator = matches!(c, '.' | '-');
        let changes = !is_separator && previous_is_digit.is_some_and(|was| was != is_digit);
        if is_separator || changes {
            let written = &text[start..at];
            pieces.push(Piece {
                text: if written.is_empty() { "0" } else { written },
                after_hyphen,
                before_digit: is_digit || (c == '-' && starts_with_digit(&text[at + 1..])),
            });
            start = if is_separator { at + 1 } else { at };
            after_hyphen = c != '.';
        }
        previous_is_digit = (!is_separator).then_some(is_digit);
    }
    pieces.push(Piece {
        text: &text[start..],
        after_hyphen,
        before_digit: false,
    });
    pieces
}
