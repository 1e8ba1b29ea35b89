//! How the bytes of a Python file are to be read, where the file says so itself.

use tribunal_core::finding::Label;

use super::{Found, TextFile, TextRule, pattern};
use crate::language::Language;
use crate::nature::Nature;
use crate::rule::meta::{Domain, Scope};

pub(super) const RULES: &[TextRule] = &[TextRule {
    id: "python-odd-coding",
    domain: Domain::Security,
    label: Label::High,
    scope: Scope::Anywhere,
    message: "Python decodes this file by `{}`, so it runs another text than the one shown",
    reason: "In such a coding plain letters stand for other ones: `+AGU-val` is `eval` in UTF-7. \
             What people and tools read is not what runs.",
    suggestion: "Store the file in UTF-8 and remove the line that declares the coding.",
    find: odd_coding,
    bad: &[
        (
            "src/a.py",
            "# coding: utf-7\ndef f(x):\n    return +AGU-val(x)\n",
            &[1],
        ),
        (
            "tool",
            "#!/usr/bin/env python3\n# -*- coding: rot13 -*-\n",
            &[2],
        ),
        (
            "src/a.py",
            "# vim: set fileencoding=unicode_escape :\n",
            &[1],
        ),
    ],
    good: &[
        ("src/a.py", "# -*- coding: utf-8 -*-\n"),
        ("src/a.py", "# coding: latin-1\n"),
        ("src/a.py", "# coding: gbk\n"),
        ("src/a.py", "x = 1\ny = 2\n# coding: utf-7\n"),
        ("src/a.py", "text = 'coding: utf-7'\n"),
        ("src/a.js", "// coding: utf-7\n"),
    ],
}];

pattern!(declared_coding, r"^[ \t\x0c]*#.*?coding[:=][ \t]*([-\w.]+)");

/// Returns the coding that a Python file declares and the line, if that coding decides which
/// characters of ASCII the file holds.
fn declared(text: &str) -> Option<(usize, String)> {
    let lines = text.lines().take(2).enumerate();
    let mut found = lines.filter_map(|(row, line)| {
        let name = declared_coding().captures(line)?.get(1)?.as_str();
        Some((row, name.to_ascii_lowercase().replace('_', "-")))
    });
    found.next()
}

/// Returns the coding that a Python file declares if ASCII could mean something else in it.
#[must_use]
pub fn foreign_coding(text: &str) -> Option<String> {
    const ALIKE: [&str; 10] = [
        "utf-8",
        "utf8",
        "ascii",
        "us-ascii",
        "latin",
        "iso-8859-",
        "iso8859",
        "cp125",
        "koi8-",
        "euc-",
    ];
    let (_, name) = declared(text)?;
    let is_alike = ALIKE.iter().any(|start| name.starts_with(start));
    (!is_alike).then_some(name)
}

fn odd_coding(file: &TextFile<'_>) -> Vec<Found> {
    const ODD: [&str; 16] = [
        "utf-7",
        "utf7",
        "u7",
        "unicode-1-1-utf-7",
        "rot13",
        "rot-13",
        "unicode-escape",
        "raw-unicode-escape",
        "unicodeescape",
        "punycode",
        "idna",
        "utf-16",
        "utf-32",
        "hz",
        "iso2022",
        "iso-2022",
    ];
    if file.nature != Nature::Code(Language::Python) {
        return Vec::new();
    }
    let found = declared(file.text).filter(|(_, name)| {
        let is_odd = |odd: &&str| name == *odd || name.starts_with(&format!("{odd}-"));
        ODD.iter().any(is_odd)
    });
    let found = found.map(|(row, name)| Found::at(row, 0).named(&name));
    found.into_iter().collect()
}
