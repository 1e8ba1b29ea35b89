//! What must not stand in any text: conflict markers, hidden characters, credentials.

use tribunal_core::finding::Label;

use super::{Found, TextFile, TextRule, pattern};
use crate::nature::{Format, Nature};
use crate::rule::meta::{Domain, Scope};

pub(super) const RULES: &[TextRule] = &[
    TextRule {
        id: "text-hidden-direction",
        domain: Domain::Security,
        label: Label::High,
        scope: Scope::Anywhere,
        message: "An invisible character ({}) makes the text read differently from what it is",
        reason: "Direction overrides reorder what people see, control characters overwrite it, and \
                 tags and variation selectors are seen by programs and models only: the text under \
                 review is not the text that counts.",
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
            ("src/a.py", "x = '\u{2068}a\u{2069}'\n", &[1]),
            ("a.json", "{\"a\u{2068}\": \"b\u{2069}\"}\n", &[1]),
            ("a.json", "{\"a\": \"\u{2068}b\"}\n", &[1]),
            ("package-lock.json", "{\"a\": \"\u{202e}b\"}\n", &[1]),
            ("src/a.py", "a = 1\n# harmless\rx = eval(input())\n", &[2]),
            ("src/a.js", "// harmless\u{2028}eval(x)\n", &[1]),
            ("src/a.py", "x = 1 # safe\u{1b}[2K\u{1b}[1A\n", &[1]),
            ("run.sh", "evil\u{8}\u{8}\u{8}\u{8}ls\n", &[1]),
            ("src/a.js", "const a = 'x\u{e0110}\u{e0120}';\n", &[1]),
            ("README.md", "hello \u{1f600}\u{e0154}\u{e0155}\n", &[1]),
            ("README.md", "hello \u{1f600}\u{fe01}\u{fe04}\n", &[1]),
            ("README.md", "a \u{25b6}\u{fe0f}\u{fe0f}\u{fe0f}\n", &[1]),
        ],
        good: &[
            ("fr.json", "{\"a\": \"Bonjour \u{2068}{name}\u{2069}\"}\n"),
            (
                "fr.json",
                "{\"a\": \"\u{2066}b\u{2069} \u{2067}c\u{2069}\"}\n",
            ),
            ("fr.yml", "a: \"Bonjour \u{2068}%{name}\u{2069}\"\n"),
            ("notes.txt", "see \u{2068}a\u{2069}\n"),
            ("src/a.py", "a = 1\r\nb = 2\r\r\n"),
            (
                "README.md",
                "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202a}abc\u{202c} \u{5e9}\n",
            ),
            (
                "README.md",
                "flag \u{1f3f4}\u{e0067}\u{e0062}\u{e007f} and family \u{1f468}\u{200d}\u{1f469}\n",
            ),
            ("src/a.py", "mark = '\\u202e'\n"),
            ("src/a.py", "red = '\\x1b[31m'\n\u{c}\n"),
            ("tests/run.golden", "\u{1b}[31mred\u{1b}[0m\n"),
            ("README.md", "press \u{25b6}\u{fe0f}\u{fe0f}\n"),
            (
                "src/a.py",
                "x = '\u{2764}\u{fe0f} \u{845b}\u{e0100} \u{26a0}\u{fe0e} 1\u{fe0f}\u{20e3}'\n",
            ),
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
        scope: Scope::Anywhere,
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
            ("c.py", "<<<<<<<\na = 1\n=======\na = 2\n>>>>>>>\n", &[1]),
            (
                "c.py",
                "<<<<<<<<< HEAD\na = 1\n=========\na = 2\n>>>>>>>>> f\n",
                &[1],
            ),
            ("c.md", "<<<<<<< HEAD\nx\n", &[1]),
            (
                "c.md",
                "```python\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> topic\n```\n",
                &[2],
            ),
            (
                "c.md",
                "<<<<<<< HEAD\n```\nx\n=======\n```\ny\n>>>>>>> topic\n",
                &[1],
            ),
            (
                "c.py",
                "```\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> topic\n```\n",
                &[2],
            ),
            ("c.yml", "a: 1\n>>>>>>> feature\n", &[2]),
            ("c.py", "x = 1\n<<<<<<< Updated upstream\n", &[2]),
        ],
        good: &[
            ("README.md", "Title\n=======\n\ntext\n"),
            ("a.rst", "Title\n>>>>>>>\n\nOther\n<<<<<<<\n"),
            ("mail.txt", ">>>>>>> he wrote\n>>>>>>> this\n"),
            ("docs/git.md", "```\n<<<<<<< HEAD\n```\n"),
            (
                "docs/git.md",
                "Then:\n\n```text\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> topic\n```\n",
            ),
            (
                "run.sh",
                "cat <<EOF\n>>>>>>>>>>>> Start\n<<<<<<<<<<<< End\nEOF\n",
            ),
            ("a.cpp", "auto x = a\n    <<<<<<< b;\n"),
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
        scope: Scope::Anywhere,
        message: "A credential is in the file",
        reason: "Everyone who can read the repository, its forks and its history has it; it must \
                 be revoked, not only removed.",
        suggestion: "Revoke it, and read its successor from the environment or a secret store.",
        find: secret,
        bad: &[
            ("config.yml", "key: AKIAQWERTYUIOPASDFGH\n", &[1]),
            (
                "config.yml",
                "key: prefix_AKIAQWERTYUIOPASDFGH_suffix\n",
                &[1],
            ),
            (
                "a.sh",
                "T=my_ghp_0123456789abcdefghijABCDEFGHIJ012345_x\n",
                &[1],
            ),
            (
                "deploy.sh",
                "#!/bin/sh\nexport TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
                &[2],
            ),
            ("README.md", "token: glpat-a1B2c3D4e5F6g7H8i9J0\n", &[1]),
            (
                "config.yml",
                "fake: \"ghp_0123456789abcdefghijABCDEFGHIJ012345\" # example\n",
                &[1],
            ),
            (
                "docs/a.md",
                "AKIAIOSFODNN7EXAMPLE or AKIAQWERTYUIOPASDFGH\n",
                &[1],
            ),
            (
                "src/a.rs",
                "// ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
                &[1],
            ),
            (
                "a.toml",
                "a = \"sk-proj-a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ0123456789\"\n",
                &[1],
            ),
            (
                "a.toml",
                "a = \"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\"\n",
                &[1],
            ),
            (
                "a.sh",
                "export T=hf_a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwX\n",
                &[1],
            ),
            (
                "a.cfg",
                "password = pypi-AgEIcHlwaS5vcmcCJDY1ZTQ4YzQ2LTk4ZTQtNGQ3Ny1hYjA0LWE5ZGM0Zjk\n",
                &[1],
            ),
            (
                "a.json",
                "{\"c\": \"AccountName=x;AccountKey=a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ0123456789a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXyZ01234==\"}\n",
                &[1],
            ),
            (
                "a.ini",
                "aws_secret_access_key = a1B2c3D4e5F6/7H8i9J0kLmN+PqRsTuVwXyZ0123\n",
                &[1],
            ),
        ],
        good: &[
            (
                "a.ini",
                "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n",
            ),
            ("a.py", "key = os.environ['AWS_SECRET_ACCESS_KEY']\n"),
            (
                "README.md",
                "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx and sk-proj-...\n",
            ),
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
    if file.text.is_ascii() && !file.text.contains(['\r', '\u{1b}', '\u{8}']) {
        return Vec::new();
    }
    let rows = file.text.lines().enumerate();
    let found = rows.filter_map(|(row, line)| {
        let (column, c) = hidden_character(file.nature, line)?;
        Some(Found::at(row, column).named(&written(c)))
    });
    found.collect()
}

/// Returns the first character of a line that makes it read differently from what it is.
fn hidden_character(nature: Nature, line: &str) -> Option<(usize, char)> {
    // Languages that are written from right to left need these marks in their prose.
    let may_direct = nature.is_prose_or_data() && line.chars().any(is_right_to_left);
    let may_isolate = may_direct || isolates_are_closed(nature, line);
    let breaks = hidden_line_breaks(nature);
    // Line ends that were converted twice hide nothing.
    let end = line.trim_end_matches('\r').chars().count();
    let mut is_flag = false;
    let (mut before, mut before_that) = (' ', ' ');
    for (column, c) in line.chars().enumerate() {
        let previous = std::mem::replace(&mut before, c);
        let last_but_one = std::mem::replace(&mut before_that, previous);
        let is_hidden = match c {
            '\u{1f3f4}' => {
                is_flag = true;
                continue;
            }
            '\u{e0001}' | '\u{e0020}'..='\u{e007f}' if is_flag => {
                is_flag = c != '\u{e007f}';
                continue;
            }
            '\u{e0001}' | '\u{e0020}'..='\u{e007f}' => true,
            '\u{202a}'..='\u{202e}' => !may_direct,
            '\u{2066}'..='\u{2069}' => !may_isolate,
            // One selector chooses the form of the character before it; several are a message.
            // Editors double the one that asks for a picture.
            '\u{fe0f}' if previous == c => is_selector(last_but_one),
            '\u{fe00}'..='\u{fe0f}' => is_selector(previous),
            '\u{e0100}'..='\u{e01ef}' => !is_ideograph(previous),
            // Terminals obey these, so that what they show is not what is there.
            '\u{8}' | '\u{1b}' | '\u{9b}' => !nature.is_prose_or_data(),
            _ => column < end && breaks.contains(&c),
        };
        if is_hidden {
            return Some((column, c));
        }
        is_flag = false;
    }
    None
}

/// Tells whether a character only chooses the form of the one before it.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns the characters that end a line for the programs that read a file, and for few others:
/// what follows them looks like a part of a comment.
fn hidden_line_breaks(nature: Nature) -> &'static [char] {
    match nature {
        Nature::Prose | Nature::Data => &[],
        Nature::Code(_) => &['\r', '\u{2028}', '\u{2029}'],
        Nature::Config(_) | Nature::OtherCode => &['\r'],
    }
}

/// Tells whether isolates (U+2066 to U+2068) set apart pieces of texts for people, each closed
/// before the text around it ends. Programs write them around names in translations.
fn isolates_are_closed(nature: Nature, line: &str) -> bool {
    // What must not be inside, because it would end the text or begin a command.
    let (ends, may_reorder): (&[char], bool) = match nature {
        Nature::Prose | Nature::Data => (&[], true),
        Nature::Config(Format::Json) => (&['"'], true),
        Nature::Config(Format::Xml | Format::Html) => (&['<', '>', '"'], true),
        Nature::Config(Format::Yaml) => (&['"', '\'', '#', '$', '`', ';', '|', '&'], false),
        Nature::Code(_) | Nature::Config(_) | Nature::OtherCode => return false,
    };
    let mut depth = 0_usize;
    let mut before = ' ';
    for c in line.chars() {
        match c {
            '\u{2067}' if !may_reorder => return false,
            '\u{2066}'..='\u{2068}' => depth += 1,
            '\u{2069}' if depth == 0 => return false,
            '\u{2069}' => depth -= 1,
            _ if depth > 0 && before != '\\' && ends.contains(&c) => return false,
            _ => {}
        }
        before = c;
    }
    depth == 0
}

fn zero_width(file: &TextFile<'_>) -> Vec<Found> {
    if file.text.is_ascii() || file.nature.is_prose_or_data() {
        return Vec::new();
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut all = Vec::new();
    for (row, line) in file.text.lines().enumerate() {
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

/// Returns the sign of a marker of a conflict, how often it stands there, and what follows.
fn marker_of(line: &str) -> Option<(char, usize, &str)> {
    let sign = line
        .chars()
        .next()
        .filter(|c| matches!(c, '<' | '=' | '>'))?;
    let rest = line.trim_start_matches(sign);
    let size = line.len() - rest.len();
    let is_marker = size >= 7 && (rest.is_empty() || rest.starts_with(' '));
    is_marker.then(|| (sign, size, rest.trim()))
}

fn conflict_marker(file: &TextFile<'_>) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    // Where a conflict began, how long its markers are, and whether the middle was seen.
    let mut open: Option<(usize, usize, bool)> = None;
    let mut alone = Vec::new();
    let mut is_fenced = false;
    // Since which line a block shows plain text, as a page about git does.
    let mut shown_since: Option<usize> = None;
    for (row, line) in file.lines.iter().enumerate() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            is_fenced = !is_fenced;
            let is_shown = is_fenced && is_quoted(file, is_fenced) && shows_text(start);
            shown_since = is_shown.then_some(row);
        }
        let Some((sign, size, label)) = marker_of(line) else {
            continue;
        };
        if sign != '='
            && is_lone_marker(file.nature, sign, size, label)
            && !is_quoted(file, is_fenced)
        {
            alone.push(row);
        }
        match (sign, open) {
            ('<', _) => open = Some((row, size, false)),
            ('=', Some((start, first, _))) if size == first && label.is_empty() => {
                open = Some((start, first, true));
            }
            ('>', Some((start, first, true))) if size == first => {
                open = None;
                if shown_since.is_some_and(|since| since < start) {
                    continue;
                }
                all.push(Found {
                    end: row,
                    ..Found::at(start, 0)
                });
            }
            _ => {}
        }
    }
    alone.retain(|row| !all.iter().any(|it| (it.row..=it.end).contains(row)));
    all.extend(alone.into_iter().map(|row| Found::at(row, 0)));
    all.sort_by_key(|found| found.row);
    all
}

/// Tells whether a line is what was left of a conflict, although its other markers are gone.
///
/// Longer signs are drawn lines, and in prose `>>>>>>>` quotes mail.
fn is_lone_marker(nature: Nature, sign: char, size: usize, label: &str) -> bool {
    match nature {
        _ if size != 7 => false,
        Nature::Prose => sign == '<' && !label.is_empty(),
        Nature::Data => false,
        Nature::Code(_) | Nature::Config(_) | Nature::OtherCode => true,
    }
}

/// Tells whether a fence opens a block of text or of a terminal, and not of code in some language.
fn shows_text(fence: &str) -> bool {
    let language = fence.trim_start_matches(['`', '~']).trim();
    matches!(
        language.to_ascii_lowercase().as_str(),
        "" | "conflict" | "console" | "diff" | "git" | "plain" | "plaintext" | "text" | "txt"
    )
}

/// Tells whether a line of prose shows what a marker looks like.
fn is_quoted(file: &TextFile<'_>, is_fenced: bool) -> bool {
    file.nature == Nature::Prose && is_fenced
}

pattern!(
    key_shape,
    concat!(
        r"(?:\b|_)(?:AKIA|ASIA)[0-9A-Z]{16}(?:\b|_)",
        r"|(?:\b|_)gh[pousr]_[A-Za-z0-9]{36}(?:\b|_)|(?:\b|_)github_pat_[A-Za-z0-9_]{60,}",
        r"|(?:\b|_)glpat-[0-9A-Za-z_-]{20}",
        r"|(?:\b|_)xox[abpr]-[0-9]{10,}-[0-9A-Za-z-]{10,}",
        r"|\bhooks\.slack\.com/services/T[0-9A-Z]{7,}/B[0-9A-Z]{7,}/[0-9A-Za-z]{20,}",
        r"|(?:\b|_)[sr]k_live_[0-9A-Za-z]{20,}",
        r"|(?:\b|_)AIza[0-9A-Za-z_-]{35}(?:\b|_)",
        r"|(?:\b|_)npm_[A-Za-z0-9]{36}(?:\b|_)|\bpypi-AgE[A-Za-z0-9_-]{50,}",
        r"|\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{40,}",
        r"|\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}",
        r"|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b",
        r"|(?:\b|_)hf_[A-Za-z0-9]{34,}\b",
        r"|\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b",
        r"|\b(?i:AccountKey)=([A-Za-z0-9+/]{80,}={0,2})",
        r#"|(?i:aws.?secret.?(?:access.?)?key|secret_?access_?key)["']?\s*[:=]>?\s*["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
    )
);

fn secret(file: &TextFile<'_>) -> Vec<Found> {
    let mut all = Vec::new();
    let mut lines = file.text.lines().enumerate().peekable();
    while let Some((row, line)) = lines.next() {
        let keys = key_shape().captures_iter(line);
        let mut keys = keys.filter_map(|found| found.iter().flatten().last());
        if let Some(key) = keys.find(|key| !is_placeholder(key.as_str())) {
            all.push(Found::at(row, key.start()));
        }
        let Some((_, after)) = line
            .split_once("-----BEGIN ")
            .and_then(|(_, after)| after.split_once("PRIVATE KEY-----"))
        else {
            continue;
        };
        let next = lines.peek().map_or("", |(_, next)| *next);
        if is_body_of_key(next) || is_body_of_key(after) {
            all.push(Found::at(row, 0));
        }
    }
    all
}

/// Tells whether what follows the heading of a private key is one: in a string, its lines are
/// written in one.
fn is_body_of_key(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['"', '\'', '\\', 'r', 'n']);
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let end = text.find(|c| !is_base64(c)).unwrap_or(text.len());
    let body = text.get(..end).unwrap_or_default();
    // So begins the structure in most keys, however little of one is shown.
    let least = if body.starts_with("MII") { 12 } else { 40 };
    body.len() >= least && !is_placeholder(body)
}

/// The key that the emulator of Azure's storage has on every machine.
const EMULATOR_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Tells whether a key only shows what keys look like. Nothing around it can say so: the author of
/// a change writes that too.
fn is_placeholder(key: &str) -> bool {
    let mut letters: Vec<char> = key.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    // Chance repeats few characters so often.
    let few = (key.len() / 3).min(12);
    let lower = key.to_ascii_lowercase();
    let words = [
        "example",
        "xxxx",
        "dummy",
        "fake",
        "placeholder",
        "your_",
        "your-",
        "0000000",
    ];
    letters.len() < few || words.iter().any(|word| lower.contains(word)) || key == EMULATOR_KEY
}
