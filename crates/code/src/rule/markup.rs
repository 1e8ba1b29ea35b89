//! Scripts inside of markup: elements, handlers of events, and addresses that are programs.
//!
//! Each script is checked by itself, as a browser runs it: what one leaves open ends with it.

use std::ops::Range;

use super::check::{Report, Reviewer, Source};
use super::meta::Domain;
use super::text::TextSource;
use crate::language::{Language, ParseError};
use crate::lines::LineSet;
use crate::nature::{Format, Nature};
use crate::outline::line_number;

/// A script in a text.
#[derive(Debug, PartialEq, Eq)]
struct EmbeddedScript {
    /// Index of the line it begins on.
    row: usize,
    /// What runs.
    code: String,
}

impl Reviewer {
    /// Checks the scripts of a web page, a drawing or a template; other files have none.
    ///
    /// # Errors
    ///
    /// A script takes too long to parse, or this build has no grammar for it.
    pub fn check_scripts(&self, source: &TextSource<'_>) -> Result<Report, ParseError> {
        let mut all = Report::default();
        let nature = Nature::of(source.path, source.text);
        let Nature::Config(format @ (Format::Html | Format::Xml | Format::Template)) = nature
        else {
            return Ok(all);
        };
        for script in scripts(source.text, format == Format::Xml) {
            let first = line_number(script.row);
            let count = u32::try_from(script.code.lines().count()).unwrap_or(u32::MAX);
            let last = first.saturating_add(count);
            let shifted = source.changed.map(|lines| {
                let ranges = lines.ranges().iter();
                let inside = ranges.filter(|(_, end)| *end >= first);
                LineSet::from_ranges(
                    inside.map(|(start, end)| (start.saturating_sub(first - 1), end - (first - 1))),
                )
            });
            if source
                .changed
                .is_some_and(|lines| !lines.touches(first, last))
            {
                continue;
            }
            let report = self.survey(&Source {
                path: source.path,
                language: Language::JavaScript,
                text: &script.code,
                changed: shifted.as_ref(),
            })?;
            all.append_shifted(report, first - 1);
        }
        if format == Format::Template {
            // The holes of a template are no code, so that only the clear cases count.
            all.hits.retain(|hit| hit.domain == Domain::Security);
        }
        Ok(all)
    }
}

impl Report {
    /// Takes in what was found in a part of a text that begins `lines` after its beginning.
    fn append_shifted(&mut self, other: Self, lines: u32) {
        let shift = |hit: &mut super::check::Hit| {
            hit.line += lines;
            hit.end_line += lines;
        };
        self.cut_off = self.cut_off.or(other.cut_off);
        self.hits.extend(other.hits.into_iter().map(|mut hit| {
            shift(&mut hit);
            hit
        }));
        self.silenced
            .extend(other.silenced.into_iter().map(|mut one| {
                shift(&mut one.hit);
                one.marker += lines;
                one
            }));
        self.refused
            .extend(other.refused.into_iter().map(|mut one| {
                one.line += lines;
                one
            }));
    }
}

/// Elements whose content is text to a browser, so that no comment begins in it.
const RAW: [&str; 8] = [
    "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript",
];

/// Returns the scripts of a text, as they run.
fn scripts(text: &str, is_xml: bool) -> Vec<EmbeddedScript> {
    // Lowered in place: the positions stay those of the text.
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut at = 0;
    let mut raw_until = 0;
    while let Some(next) = lower.get(at..).and_then(|rest| rest.find('<')) {
        let start = at + next;
        let rest = lower.get(start..).unwrap_or_default();
        at = start + 1;
        if let Some(comment) = rest.strip_prefix("<!--") {
            if start >= raw_until {
                at = start + 4 + comment_length(comment);
            }
            continue;
        }
        if !rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let tag = Tag::read(&lower, start);
        at = tag.end;
        for (name, value) in &tag.attributes {
            let value_text = text.get(value.clone()).unwrap_or_default();
            let code = decoded(value_text);
            let code = match name.starts_with("on") {
                true => Some(code),
                false => address_script(&code),
            };
            found.extend(code.map(|code| (value.start, code)));
        }
        let close = |name: &str| {
            let rest = lower.get(tag.end..).unwrap_or_default();
            rest.find(&format!("</{name}")).map(|end| tag.end + end)
        };
        if RAW.contains(&tag.name.as_str()) && !is_xml {
            raw_until = close(&tag.name).unwrap_or(lower.len()).max(raw_until);
        }
        let is_script = tag.name == "script" || tag.name.ends_with(":script");
        let is_closed = is_xml && tag.is_self_closed;
        if is_script && !is_closed {
            let end = close(&tag.name).unwrap_or(lower.len());
            let content = text.get(tag.end..end).unwrap_or_default();
            if tag.is_javascript(&lower) {
                let content = content.replace("<![CDATA[", "").replace("]]>", "");
                let code = if is_xml { decoded(&content) } else { content };
                found.push((tag.end, code));
            }
            at = end;
        }
    }
    let mut row = 0;
    let mut counted = 0;
    found.sort_by_key(|(start, _)| *start);
    let scripts = found.into_iter().map(|(start, code)| {
        let between = text.as_bytes().get(counted..start).unwrap_or_default();
        row += between.iter().filter(|byte| **byte == b'\n').count();
        counted = start;
        EmbeddedScript { row, code }
    });
    scripts.collect()
}

/// Returns how long the rest of a comment is. Browsers end one earlier than it seems.
fn comment_length(rest: &str) -> usize {
    if rest.starts_with('>') {
        return 1;
    }
    if rest.starts_with("->") {
        return 2;
    }
    let ends = ["-->", "--!>"];
    let found = ends
        .iter()
        .filter_map(|end| rest.find(end).map(|at| at + end.len()));
    found.min().unwrap_or(rest.len())
}

/// The beginning of an element.
struct Tag {
    name: String,
    attributes: Vec<(String, Range<usize>)>,
    is_self_closed: bool,
    /// Where its content begins.
    end: usize,
}

impl Tag {
    /// Reads the tag that begins at `start`, in a text in small letters.
    fn read(lower: &str, start: usize) -> Self {
        let bytes = lower.as_bytes();
        let byte = |at: usize| bytes.get(at).copied();
        let is_space = |at: usize| byte(at).is_some_and(|byte| byte.is_ascii_whitespace());
        let is_end = |at: usize| matches!(byte(at), None | Some(b'>'));
        let until = |mut at: usize, ends: &[u8]| {
            while let Some(byte) = byte(at).filter(|byte| !ends.contains(byte)) {
                let _ = byte;
                at += 1;
            }
            at
        };
        const NAME_ENDS: &[u8] = b" \t\r\n\x0c/>";
        let mut at = until(start + 1, NAME_ENDS);
        let name = lower.get(start + 1..at).unwrap_or_default().to_owned();
        let mut attributes = Vec::new();
        let mut is_self_closed = false;
        while !is_end(at) {
            if is_space(at) || byte(at) == Some(b'/') {
                is_self_closed = byte(at) == Some(b'/');
                at += 1;
                continue;
            }
            is_self_closed = false;
            let from = at;
            at = until(at + 1, b" \t\r\n\x0c/>=");
            let attribute = lower.get(from..at).unwrap_or_default().to_owned();
            let mut value = at;
            while is_space(value) {
                value += 1;
            }
            if byte(value) != Some(b'=') {
                continue;
            }
            value += 1;
            while is_space(value) {
                value += 1;
            }
            let range = match byte(value) {
                Some(quote @ (b'"' | b'\'')) => {
                    let end = until(value + 1, &[quote]);
                    at = end + 1;
                    value + 1..end
                }
                _ => {
                    at = until(value, b" \t\r\n\x0c>");
                    value..at
                }
            };
            attributes.push((attribute, range));
        }
        Self {
            name,
            attributes,
            is_self_closed,
            end: (at + 1).min(lower.len()),
        }
    }

    /// Tells whether a browser runs the content of this element.
    fn is_javascript(&self, lower: &str) -> bool {
        let value = |name: &str| {
            let mut all = self.attributes.iter();
            let range = &all.find(|(found, _)| found == name)?.1;
            Some(decoded(lower.get(range.clone()).unwrap_or_default()))
        };
        let kind = value("type").filter(|kind| !kind.trim().is_empty());
        kind.or_else(|| value("language")).is_none_or(|kind| {
            let kind = kind.trim();
            let words = [
                "javascript",
                "ecmascript",
                "jscript",
                "livescript",
                "babel",
                "jsx",
            ];
            kind.is_empty() || kind == "module" || words.iter().any(|word| kind.contains(word))
        })
    }
}

/// Returns the program in an address such as `javascript:run()`.
fn address_script(value: &str) -> Option<String> {
    let is_ignored = |c: char| c.is_ascii_control() || c == ' ';
    let (scheme, code) = value.split_once(':')?;
    let scheme: String = scheme.chars().filter(|c| !is_ignored(*c)).collect();
    let is_script = scheme.eq_ignore_ascii_case("javascript");
    is_script.then(|| {
        code.replace("%20", " ")
            .replace("%28", "(")
            .replace("%29", ")")
    })
}

/// Returns a text with the characters that its references stand for.
fn decoded(text: &str) -> String {
    const NAMES: [(&str, char); 14] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("lpar", '('),
        ("rpar", ')'),
        ("colon", ':'),
        ("period", '.'),
        ("comma", ','),
        ("semi", ';'),
        ("tab", '\t'),
        ("newline", ' '),
        ("grave", '`'),
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let end = after
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '#'))
            .unwrap_or(after.len());
        let (name, tail) = after.split_at(end);
        let lower = name.to_ascii_lowercase();
        let number = lower.strip_prefix("#x").map_or_else(
            || lower.strip_prefix('#').and_then(|it| it.parse().ok()),
            |hex| u32::from_str_radix(hex, 16).ok(),
        );
        let named = NAMES.iter().find(|(known, _)| *known == lower);
        match number.and_then(char::from_u32).or(named.map(|it| it.1)) {
            Some(c) => {
                // A line more would move all that follow.
                out.push(if c == '\n' { ' ' } else { c });
                rest = tail.strip_prefix(';').unwrap_or(tail);
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit_lines(path: &str, text: &str) -> Vec<u32> {
        let source = TextSource {
            path,
            text,
            changed: None,
        };
        let report = Reviewer::new([Domain::Security])
            .check_scripts(&source)
            .unwrap();
        report.hits.iter().map(|hit| hit.line).collect()
    }

    #[test]
    fn scripts_that_run_are_read_on_their_lines() {
        let cases: [(&str, &str, &[u32]); 24] = [
            ("a.html", "<p>\n<script>\neval(q)\n</script>\n", &[3]),
            ("a.svg", "<svg><script>eval(q)</script></svg>", &[1]),
            (
                "a.svg",
                "<svg>\n<script><![CDATA[\neval(q)\n]]></script></svg>",
                &[3],
            ),
            ("a.svg", "<svg><script>ev&#97;l(q)</script></svg>", &[1]),
            ("a.svg", "<svg:script>eval(q)</svg:script>", &[1]),
            (
                "a.svg",
                "<svg><script href='a.js'/><a b='eval(q)'/></svg>",
                &[],
            ),
            ("a.html", "<SCRIPT type=module>eval(q)</SCRIPT>", &[1]),
            (
                "a.html",
                "<script type='text/template'>eval(q)</script>",
                &[],
            ),
            ("a.html", "<script type='application/json'>{}</script>", &[]),
            ("a.html", "<body\n onload=\"eval(q)\">", &[2]),
            ("a.html", "<body onload=eval(q)>", &[1]),
            ("a.html", "<body onload='eval&lpar;q)'>", &[1]),
            ("a.svg", "<a href=' java\tscript:eval(q)'/>", &[1]),
            ("a.html", "<a href='https://example.com/eval(q)'>", &[]),
            ("a.html", "<!-- <script>eval(q)</script> -->", &[]),
            ("a.html", "<!--><script>eval(q)</script>-->", &[1]),
            (
                "a.html",
                "<style><!-- </style><script>eval(q)</script>",
                &[1],
            ),
            (
                "a.html",
                "<script>/*</script>\n<script>eval(q)</script>",
                &[2],
            ),
            (
                "a.html",
                "<script>// a</script><script>eval(q)</script>",
                &[1],
            ),
            ("a.html", "<i title='<!--'><script>eval(q)</script>", &[1]),
            (
                "a.html",
                "<p>eval(q) 1 < 2 </p><script>run(q)</script>",
                &[],
            ),
            ("a.html.j2", "<script>eval({{ a }})</script>", &[1]),
            ("a.vue", "<script>eval(q)</script>", &[]),
            ("a.html", "<script>eval(q)", &[1]),
        ];
        for (path, text, expected) in cases {
            assert_eq!(hit_lines(path, text), expected, "{path}: {text}");
        }
    }

    #[test]
    fn only_changed_lines_of_a_script_are_reported() {
        let text = "<script>\neval(a)\neval(b)\n</script>\n<script>eval(c)</script>\n";
        for (line, expected) in [(2, &[2][..]), (3, &[3]), (5, &[5]), (4, &[]), (9, &[])] {
            let changed: LineSet = [line].into_iter().collect();
            let source = TextSource {
                path: "a.html",
                text,
                changed: Some(&changed),
            };
            let report = Reviewer::new([Domain::Security]).check_scripts(&source);
            let lines: Vec<u32> = report.unwrap().hits.iter().map(|hit| hit.line).collect();
            assert_eq!(lines, expected, "{line}");
        }
    }
}
