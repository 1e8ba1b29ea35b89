//! Finds quoted code and names in a text, whatever the whitespace.

/// Less than this, in bytes, stands anywhere.
const SHORTEST_BARE: usize = 3;

/// What people put around code that they quote.
const QUOTATION_MARKS: [char; 11] = [
    '`', '"', '\'', '\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '\u{201a}',
    '\u{ab}', '\u{bb}',
];

/// A text without its whitespace, which still knows its lines.
pub(super) struct Compact {
    text: String,
    /// Where each line begins in `text`.
    starts: Vec<usize>,
}

impl Compact {
    pub(super) fn new(source: &str) -> Self {
        let mut text = String::with_capacity(source.len());
        let mut starts = Vec::new();
        for line in source.lines() {
            starts.push(text.len());
            text.extend(line.chars().filter(|c| !c.is_whitespace()));
        }
        Self { text, starts }
    }

    pub(super) fn line_count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    /// Returns first and last line of a quote that begins within `lines`.
    ///
    /// An ellipsis stands for anything: the pieces around it must follow each other. What is not
    /// there as it is written is looked for once more without what people put around code.
    pub(super) fn find(&self, quote: &str, lines: (u32, u32)) -> Option<(u32, u32)> {
        let written = self.find_pieces(&pieces(quote), lines);
        written.or_else(|| {
            let bare = pieces(&unwrapped(quote));
            let length: usize = bare.iter().map(String::len).sum();
            (length >= SHORTEST_BARE).then(|| self.find_pieces(&bare, lines))?
        })
    }

    fn find_pieces(&self, pieces: &[String], lines: (u32, u32)) -> Option<(u32, u32)> {
        let from = self.offset(lines.0);
        let to = self.offset(lines.1.saturating_add(1));
        let mut first = None;
        let mut at = from;
        for piece in pieces {
            let found = at + self.text.get(at..)?.find(piece.as_str())?;
            let is_late = first.is_none() && found >= to;
            if is_late {
                return None;
            }
            first.get_or_insert(found);
            at = found + piece.len();
        }
        let first = first?;
        Some((self.line_at(first), self.line_at(at.saturating_sub(1))))
    }

    fn offset(&self, line: u32) -> usize {
        let index = usize::try_from(line.max(1) - 1).unwrap_or(usize::MAX);
        self.starts.get(index).copied().unwrap_or(self.text.len())
    }

    fn line_at(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(line.max(1)).unwrap_or(u32::MAX)
    }
}

/// Splits a quote at its ellipses and takes whitespace and the marks of a diff away.
fn pieces(quote: &str) -> Vec<String> {
    let lines: Vec<&str> = quote
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let is_diff = lines.len() > 1
        && lines.iter().all(|line| line.starts_with(['+', ' ']))
        && lines.iter().any(|line| line.starts_with('+'));
    let mut text = String::with_capacity(quote.len());
    for line in lines {
        let line = if is_diff {
            line.get(1..).unwrap_or_default()
        } else {
            line
        };
        let is_gap = matches!(
            line.trim(),
            "..." | "…" | "// ..." | "# ..." | "// …" | "# …"
        );
        text.push_str(if is_gap { "…" } else { line });
        text.push('\n');
    }
    text.split('…')
        .map(|piece| piece.chars().filter(|c| !c.is_whitespace()).collect())
        .filter(|piece: &String| !piece.is_empty())
        .collect()
}

/// Takes away what stands around quoted code and is not part of it: fences, quotation marks, the
/// place, the number and the sign of a line, a semicolon at its end, ellipses.
fn unwrapped(quote: &str) -> String {
    let is_fence = |line: &&str| {
        let line = line.trim();
        line.starts_with("```") || line.starts_with("~~~")
    };
    let lines = quote.lines().filter(|line| !is_fence(line));
    let bare: Vec<&str> = lines.map(bare_line).collect();
    bare.join("\n").replace("...", "\u{2026}")
}

/// Returns a line of code without number, sign and marks. What is taken from the ends of the code
/// itself does no harm: the rest of it still stands in the file.
fn bare_line(line: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || QUOTATION_MARKS.contains(&c);
    let line = without_place(line.trim_matches(marks)).trim_start_matches(marks);
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = &line[digits..];
    let is_number = digits > 0 && after.starts_with([' ', '\t', ':', '|', '\u{2502}', '+', '-']);
    let line = match is_number {
        true => after.trim_start_matches([' ', '\t', ':', '|', '\u{2502}']),
        false => line,
    };
    let line = line.strip_prefix(['+', '-', '>']).unwrap_or(line);
    let end = |c: char| marks(c) || matches!(c, ';' | ',');
    line.trim_start_matches(marks).trim_end_matches(end)
}

/// Cuts `path:3:` off the beginning of a line.
fn without_place(line: &str) -> &str {
    let Some((first, rest)) = line.split_once(char::is_whitespace) else {
        return line;
    };
    let place = first.trim_end_matches(':').rsplit_once(':');
    let is_place = place
        .is_some_and(|(path, number)| path.contains(['.', '/']) && number.parse::<u32>().is_ok());
    if is_place { rest } else { line }
}

/// Tells whether a name occurs as a word of its own, in the whole text or within some lines.
pub(super) fn occurs(text: &str, name: &str, lines: Option<(u32, u32)>) -> bool {
    // Of a qualified name or a call the last part is what the code must contain.
    let name = name.trim().trim_end_matches("()").trim_end_matches('!');
    let name = name.rsplit(['.', ':', '#', '>']).next().unwrap_or(name);
    if name.is_empty() {
        return true;
    }
    let (first, last) = lines.unwrap_or((1, u32::MAX));
    (1u32..)
        .zip(text.lines())
        .skip_while(|(number, _)| *number < first)
        .take_while(|(number, _)| *number <= last)
        .any(|(_, line)| has_word(line, name))
}

/// Tells whether at least half of the words of a quote stand within some lines.
pub(super) fn resembles(text: &str, quote: &str, lines: (u32, u32)) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words = quote.split(|c: char| !is_part(c));
    let mut words: Vec<&str> = words.filter(|word| word.len() > 1).collect();
    words.sort_unstable();
    words.dedup();
    let found = words
        .iter()
        .filter(|word| occurs(text, word, Some(lines)))
        .count();
    !words.is_empty() && found * 2 >= words.len()
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, found)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line
            .get(at + found.len()..)
            .and_then(|text| text.chars().next());
        !is_part(before) && !is_part(after)
    })
}

/// Returns the names that a description puts into backticks, in order and each once.
#[must_use]
pub fn named_in(description: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (index, part) in description.split('`').enumerate() {
        let name = part.trim();
        let is_name = index % 2 == 1
            && name.len() <= 80
            && name.chars().any(char::is_alphabetic)
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '(' | ')' | '!'));
        if is_name && !names.contains(&name) {
            names.push(name);
        }
        if names.len() >= 32 {
            break;
        }
    }
    names
}
