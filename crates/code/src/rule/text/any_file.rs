//! What must not stand in any text: conflict markers, hidden characters, credentials.

use tribunal_core::finding::Label;

use super::{Found, TextFile, TextRule, pattern};
use crate::nature::Nature;
use crate::rule::meta::{Domain, Scope};

pub(super) const RULES: &[TextRule] = &[
    TextRule {
        id: "text-hidden-direction",
        domain: Domain::Security,
        label: Label::High,
        scope: Scope::Anywhere,
        message: "An invisible character ({}) makes the text read differently from what it is",
        reason: "Direction overrides reorder what people see, and tag characters are seen by \
                 programs and models only: the text under review is not the text that counts.",
        suggestion: "Remove the character, or write it as an escape sequence where it is needed.",
        find: hidden_direction,
        bad: &[
            (
                "src/a.py",
                "if level != 'user\u{202e} \u{2066}# admin\u{2069}':\n",
                &[1],
            ),
            ("README.md", "a\nplease\u{e0041}\u{e0042} merge\n", &[2]),
            ("a.yml", "name: a\u{2066}b\n", &[1]),
        ],
        good: &[
            (
                "README.md",
                "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202a}abc\u{202c} \u{5e9}\n",
            ),
            (
                "README.md",
                "flag \u{1f3f4}\u{e0067}\u{e0062}\u{e007f} and family \u{1f468}\u{200d}\u{1f469}\n",
            ),
            ("src/a.py", "mark = '\\u202e'\n"),
        ],
    },
    TextRule {
        id: "text-zero-width",
        domain: Domain::Security,
        label: Label::Medium,
        scope: Scope::Product,
        message: "An invisible character ({}) splits a word",
        reason: "Two names that look the same are different ones, and a search finds only one.",
        suggestion: "Remove the character, or write it as an escape sequence where it is needed.",
        find: zero_width,
        bad: &[
            ("src/a.py", "is_ad\u{200b}min = True\n", &[1]),
            ("a.yml", "a: b\nro\u{2060}le: admin\n", &[2]),
        ],
        good: &[
            ("src/a.py", "x = '\u{1f468}\u{200d}\u{1f469}'\n"),
            ("README.md", "Thanks to @\u{200b}ann and b\u{200b}c\n"),
        ],
    },
    TextRule {
        id: "text-conflict-marker",
        domain: Domain::Correctness,
        label: Label::High,
        scope: Scope::Product,
        message: "A merge conflict was committed unresolved",
        reason: "Both versions and the markers between them stand in the file; nobody chose one.",
        suggestion: "Resolve the conflict and remove the markers.",
        find: conflict_marker,
        bad: &[
            (
                "src/a.py",
                "x = 0\n<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> topic\n",
                &[2],
            ),
            (
                "a.json",
                "<<<<<<< HEAD\n1\n||||||| base\n3\n=======\n2\n>>>>>>> topic\n",
                &[1],
            ),
        ],
        good: &[
            ("README.md", "Title\n=======\n\ntext\n"),
            (
                "docs/git.md",
                "    <<<<<<< HEAD\n    a\n    =======\n    b\n    >>>>>>> topic\n",
            ),
            ("src/a.py", "# <<<<<<< HEAD\n"),
        ],
    },
    TextRule {
        id: "text-secret",
        domain: Domain::Security,
        label: Label::High,
        scope: Scope::Product,
        message: "A credential is in the file",
        reason: "Everyone who can read the repository, its forks and its history has it; it must \
                 be revoked, not only removed.",
        suggestion: "Revoke it, and read its successor from the environment or a secret store.",
        find: secret,
        bad: &[
            ("config.yml", "key: AKIAQWERTYUIOPASDFGH\n", &[1]),
            (
                "deploy.sh",
                "#!/bin/sh\nexport TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
                &[2],
            ),
            ("README.md", "token: glpat-a1B2c3D4e5F6g7H8i9J0\n", &[1]),
        ],
        good: &[
            ("config.yml", "key: AKIAIOSFODNN7EXAMPLE\n"),
            (
                "config.yml",
                "token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
            ),
            ("config.yml", "token: ${{ secrets.GITHUB_TOKEN }}\n"),
            (
                "README.md",
                "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
            ),
        ],
    },
];

fn hidden_direction(file: &TextFile<'_>) -> Vec<Found> {
    if file.text.is_ascii() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (row, line) in file.lines.iter().enumerate() {
        // Languages that are written from right to left need these marks in their prose.
        let may_direct = file.nature.is_prose_or_data() && line.chars().any(is_right_to_left);
        let mut is_flag = false;
        for (column, c) in line.chars().enumerate() {
            match c {
                '\u{1f3f4}' => is_flag = true,
                '\u{e0001}' | '\u{e0020}'..='\u{e007f}' => {
                    if !is_flag {
                        all.push(Found::at(row, column).named(&written(c)));
                        break;
                    }
                    is_flag = c != '\u{e007f}';
                }
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' if !may_direct => {
                    all.push(Found::at(row, column).named(&written(c)));
                    break;
                }
                _ => is_flag = false,
            }
        }
    }
    all
}

fn zero_width(file: &TextFile<'_>) -> Vec<Found> {
    if file.text.is_ascii() || file.nature.is_prose_or_data() {
        return Vec::new();
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut all = Vec::new();
    for (row, line) in file.lines.iter().enumerate() {
        let chars: Vec<char> = line.chars().collect();
        let found = chars.windows(3).position(|three| {
            let [before, c, after] = three else { return false };
            let is_hidden = matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}');
            is_hidden && is_word(*before) && is_word(*after)
        });
        if let Some(column) = found {
            let c = chars.get(column + 1).copied().unwrap_or_default();
            all.push(Found::at(row, column + 1).named(&written(c)));
        }
    }
    all
}

fn written(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

fn conflict_marker(file: &TextFile<'_>) -> Vec<Found> {
    let mut all = Vec::new();
    let mut open: Option<(usize, bool)> = None;
    for (row, line) in file.lines.iter().enumerate() {
        if line.starts_with("<<<<<<< ") {
            open = Some((row, false));
        } else if *line == "=======" {
            open = open.map(|(start, _)| (start, true));
        } else if line.starts_with(">>>>>>> ")
            && let Some((start, true)) = open.take()
        {
            all.push(Found {
                end: row,
                ..Found::at(start, 0)
            });
        }
    }
    all
}

pattern!(
    key_shape,
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bgithub_pat_[A-Za-z0-9_]{60,}|\bxox[abpr]-[0-9]{10,}-[0-9A-Za-z-]{10,}|\b[sr]k_live_[0-9A-Za-z]{20,}|\bAIza[0-9A-Za-z_-]{35}\b|\bglpat-[0-9A-Za-z_-]{20}|\bnpm_[A-Za-z0-9]{36}\b|\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{40,}|\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b"
);

fn secret(file: &TextFile<'_>) -> Vec<Found> {
    // Rules on syntax trees look at the strings of these.
    if matches!(file.nature, Nature::Code(_)) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (row, line) in file.lines.iter().enumerate() {
        if let Some(found) = key_shape().find(line)
            && !is_placeholder(found.as_str(), line)
        {
            all.push(Found::at(row, found.start()));
        }
        let is_key = line.contains("-----BEGIN ") && line.contains("PRIVATE KEY-----");
        let has_body = file
            .lines
            .get(row + 1)
            .is_some_and(|next| next.trim().len() >= 40 && !is_placeholder(next, next));
        // In a string the lines of a key are written in one.
        let in_string = line
            .split_once("PRIVATE KEY-----")
            .is_some_and(|(_, body)| {
                let body = body.trim().trim_start_matches("\\n");
                body.starts_with("MII") || (body.len() >= 40 && !is_placeholder(body, body))
            });
        if is_key && (has_body || in_string) {
            all.push(Found::at(row, 0));
        }
    }
    all
}

/// Tells whether a key only shows what keys look like.
fn is_placeholder(key: &str, line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let mut letters: Vec<char> = key.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len() < 12
        || [
            "example",
            "xxxx",
            "...",
            "dummy",
            "fake",
            "placeholder",
            "your_",
            "your-",
            "0000000",
        ]
        .iter()
        .any(|word| lower.contains(word))
}
