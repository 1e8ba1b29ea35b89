//! Which packages and which advisories a text speaks of.

use std::collections::{BTreeSet, HashMap};

use super::package::{Ecosystem, Package};

/// Longer runs of letters are data, not names.
const MAX_RUN_CHARS: usize = 256;

/// Import paths have fewer parts.
const MAX_PARTS: usize = 10;

/// Packages with these names are meant only when the text marks them as names, since the words
/// come up in any finding.
const COMMON_WORDS: &str = "
    archive async auth bytes cache chain client code color colors command common config
    cookie cookies core crypto data database debug diff either error errors event events
    extend file form future glob global hash http image inflight jobs json keys lock log
    logger login map markdown memory merge mime minimal model mutex net next node number
    object once open parse parser path pattern process promise proxy query queue rand random
    redis regex request requests resolve response router safe schema select send server
    session shell sign signal socket spin sql static stdlib storage stream string strings
    syntax tar task template test tests text thread time token tokens tools traits type types
    update url user users utils validate validator vault version web xml yaml zip
";

/// Words beside which a common word is a name.
const MARKING_WORDS: &str = "crate dependency library module npm package pip version";

/// Words of findings that are about a dependency rather than about the code that uses it.
const DEPENDENCY_WORDS: &str = "
    advisories advisory bump cve dependencies dependency ghsa outdated unpatched upgrade
    upgraded version versions
";

/// The names in a text.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    /// By folded name: whether the text marks it as the name of a package.
    names: HashMap<String, bool>,
    /// In upper case: whatever has the shape of an advisory's id.
    ids: BTreeSet<String>,
    /// Whether it speaks of dependencies and their versions.
    pub(super) is_about_dependency: bool,
}

impl Mentions {
    /// Collects the names in `text`.
    pub(super) fn of(text: &str) -> Self {
        // Models like to write hyphens that do not break.
        let text = text.replace(['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}'], "-");
        let runs: Vec<Run<'_>> = runs(&text);
        let mut mentions = Self::default();
        for (at, run) in runs.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| runs[before].text);
            let after = runs.get(at + 1).map(|after| after.text);
            let is_marked = run.is_quoted
                || before.is_some_and(is_marking)
                || after.is_some_and(|after| is_marking(after) || is_version(after));
            mentions.add_names(run.text, is_marked);
            mentions.add_ids(run.text);
        }
        mentions
    }

    /// Adds a name that somebody has taken out of the text already.
    pub(super) fn add_name(&mut self, name: &str) {
        self.names.insert(fold(name.trim()), true);
    }

    /// Returns what may be ids of advisories, in upper case.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }

    /// Tells whether the text speaks of `package`.
    pub(super) fn names(&self, package: &Package) -> bool {
        names_of(package)
            .iter()
            .any(|name| match self.names.get(name) {
                Some(is_marked) => *is_marked || !is_common(name),
                None => false,
            })
    }

    fn add_names(&mut self, run: &str, is_marked: bool) {
        let lower = run.to_lowercase();
        self.is_about_dependency |= is_in(DEPENDENCY_WORDS, &lower);
        if let Some((_, installed)) = lower.rsplit_once("node_modules/") {
            return self.add_parts(&format!("{installed}/"), true);
        }
        // `lodash@4.17.20`, but `@angular/core`.
        if let Some(at) = lower.rfind('@').filter(|at| *at > 0) {
            self.insert(&lower[..at], true);
            return self.add_parts(&lower[..at], true);
        }
        self.insert(&lower, is_marked);
        self.add_parts(&lower, is_marked);
    }

    /// Adds what a longer expression starts with: the module of an import path, the crate of a
    /// Rust path, the object of a call, the group and artifact of a coordinate.
    fn add_parts(&mut self, run: &str, is_marked: bool) {
        let ends = run.match_indices(['/', '.', ':']).map(|(end, _)| end);
        for end in ends.filter(|end| *end > 0).take(MAX_PARTS) {
            self.insert(&run[..end], is_marked);
        }
    }

    fn insert(&mut self, name: &str, is_marked: bool) {
        *self.names.entry(fold(name)).or_default() |= is_marked;
    }

    fn add_ids(&mut self, run: &str) {
        for word in run.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
            let word = word.trim_matches('-');
            if word.matches('-').count() >= 2 {
                self.ids.insert(word.to_ascii_uppercase());
                self.is_about_dependency |= word.to_ascii_lowercase().starts_with("cve-");
            }
        }
    }
}

/// Letters that hang together.
#[derive(Debug, Clone, Copy)]
struct Run<'a> {
    text: &'a str,
    is_quoted: bool,
}

fn runs(text: &str) -> Vec<Run<'_>> {
    let is_letter = |c: char| c.is_alphanumeric() || "@/_-.:".contains(c);
    let is_quote = |c: Option<char>| matches!(c, Some('`' | '"' | '\''));
    let mut runs = Vec::new();
    let mut rest = text;
    let mut before = None;
    while let Some(start) = rest.find(is_letter) {
        before = rest[..start].chars().next_back().or(before);
        rest = &rest[start..];
        let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        let after = rest[end..].chars().next();
        let trimmed = rest[..end].trim_matches(['.', ':', '-', '/']);
        if !trimmed.is_empty() && trimmed.len() <= MAX_RUN_CHARS {
            runs.push(Run {
                text: trimmed,
                is_quoted: is_quote(before) || is_quote(after),
            });
        }
        rest = &rest[end..];
        before = None;
    }
    runs
}

/// Returns the names under which people speak of a package, folded.
fn names_of(package: &Package) -> Vec<String> {
    let mut names = vec![fold(&package.name)];
    match package.ecosystem {
        Ecosystem::Maven => {
            // People say `log4j-core` and leave its group out.
            names.extend(package.name.rsplit(':').next().map(fold));
        }
        Ecosystem::Go => {
            let path = without_major(&package.name);
            names.push(fold(path));
            let short = path.split_once('/').map_or("", |(_host, short)| short);
            if short.contains('/') {
                names.push(fold(short));
            }
        }
        Ecosystem::CratesIo | Ecosystem::Npm | Ecosystem::PyPi => {}
    }
    names
}

/// Returns a module path without its `/v2`.
fn without_major(path: &str) -> &str {
    match path.rsplit_once("/v") {
        Some((base, major)) if major.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => path,
    }
}

fn is_common(name: &str) -> bool {
    name.chars().count() < 3 || is_in(COMMON_WORDS, name)
}

fn is_marking(word: &str) -> bool {
    is_in(MARKING_WORDS, &word.to_lowercase())
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|listed| listed == word)
}

fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    digits.contains('.') && digits.starts_with(|c: char| c.is_ascii_digit())
}

/// One form for names that differ in case and separators only.
fn fold(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_packages() {
        use Ecosystem::{CratesIo, Go, Maven, Npm, PyPi};
        for (text, ecosystem, name, expected) in [
            ("lodash is outdated", Npm, "lodash", true),
            ("call of lodash.template(x)", Npm, "lodash", true),
            ("lodash-es is outdated", Npm, "lodash", false),
            ("uses lodash@4.17.20.", Npm, "lodash", true),
            ("import '@angular/core/testing'", Npm, "@angular/core", true),
            ("node_modules/a/node_modules/@b/c/d.js", Npm, "@b/c", true),
            ("node_modules/time", Npm, "time", true),
            (
                "smallvec::SmallVec::insert_many",
                CratesIo,
                "smallvec",
                true,
            ),
            ("serde_json panics", CratesIo, "serde-json", true),
            ("the time of the request", CratesIo, "time", false),
            ("the `time` crate", CratesIo, "time", true),
            ("the time crate", CratesIo, "time", true),
            ("time 0.1.43 segfaults", CratesIo, "time", true),
            ("PyYAML's loader", PyPi, "pyyaml", true),
            ("golang.org/x/text/language", Go, "golang.org/x/text", true),
            ("x/text is old", Go, "golang.org/x/text", true),
            ("the text is old", Go, "golang.org/x/text", false),
            (
                "log4j-core logs it",
                Maven,
                "org.apache.logging.log4j:log4j-core",
                true,
            ),
            ("org.a:lib:1.0", Maven, "org.a:lib", true),
            ("", Npm, "lodash", false),
        ] {
            let package = Package {
                ecosystem,
                name: name.to_owned(),
                version: "1".to_owned(),
                file: String::new(),
                line: None,
            };
            assert_eq!(Mentions::of(text).names(&package), expected, "{text}");
        }
    }
}
