//! The languages that are understood: recognising them, their grammars, and bounded parsing.

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use ast_grep_core::Pattern;
use ast_grep_core::language::Language as PatternLanguage;
use ast_grep_core::matcher::{PatternBuilder, PatternError};
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tree_sitter::{ParseOptions, Parser, Tree};

use crate::computing_time::ComputingTime;

/// A programming language with a grammar of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Go.
    Go,
    /// Java.
    Java,
    /// JavaScript, with or without JSX.
    JavaScript,
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// TypeScript with JSX.
    Tsx,
    /// TypeScript.
    TypeScript,
}

/// How much work one file may cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest source that is parsed, in bytes.
    pub bytes: usize,
    /// How long the processor may work on parsing one file, and again on checking it.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 4 << 20,
            time: Duration::from_secs(20),
        }
    }
}

/// Why a source has no syntax tree.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseError {
    /// The source exceeds the limit.
    #[error("the source has {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Size of the source.
        bytes: usize,
        /// The limit in force.
        limit: usize,
    },
    /// The parser used up its time.
    #[error("parsing took longer than {limit:?}")]
    TooSlow {
        /// The limit in force.
        limit: Duration,
    },
    /// This build has no grammar for the language.
    #[error("this build has no grammar for {0}")]
    NoGrammar(Language),
}

impl Language {
    /// All languages, whether or not this build has their grammars.
    pub const ALL: [Self; 9] = [
        Self::C,
        Self::Cpp,
        Self::Go,
        Self::Java,
        Self::JavaScript,
        Self::Python,
        Self::Rust,
        Self::Tsx,
        Self::TypeScript,
    ];

    /// Returns the language of a file by the `#!` line of its source, which decides what runs it,
    /// else by its extension. JavaScript and TypeScript share their interpreters, so there the
    /// extension says more.
    ///
    /// A language whose grammar is not part of this build is not recognised.
    #[must_use]
    pub fn detect(path: &str, source: &str) -> Option<Self> {
        let by_name = Self::from_extension(path);
        let by_line = Self::from_shebang(source);
        let language = match (by_name, by_line) {
            (
                Some(Self::JavaScript | Self::Tsx | Self::TypeScript),
                Some(Self::JavaScript | Self::TypeScript),
            ) => by_name,
            (_, Some(_)) => by_line,
            (_, None) => by_name,
        }?;
        language.grammar().map(|_| language)
    }

    /// Returns the word used in rule files, reports and features.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Go => "go",
            Self::Java => "java",
            Self::JavaScript => "javascript",
            Self::Python => "python",
            Self::Rust => "rust",
            Self::Tsx => "tsx",
            Self::TypeScript => "typescript",
        }
    }

    /// Tells whether this build can parse the language.
    #[must_use]
    pub fn is_available(self) -> bool {
        self.grammar().is_some()
    }

    /// Returns the syntax tree of `source`; syntax errors still give one.
    ///
    /// # Errors
    ///
    /// The source is too large, takes too long, or the grammar is not part of this build.
    pub fn parse(self, source: &str, limits: Limits) -> Result<Tree, ParseError> {
        let grammar = self.grammar().ok_or(ParseError::NoGrammar(self))?;
        grammar.parse(source, limits)
    }

    /// Returns the grammar, if it is part of this build.
    pub(crate) fn grammar(self) -> Option<Grammar> {
        let inner: TSLanguage = match self {
            #[cfg(feature = "c")]
            Self::C => tree_sitter_c::LANGUAGE.into(),
            #[cfg(feature = "cpp")]
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            #[cfg(feature = "go")]
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            #[cfg(feature = "java")]
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            #[cfg(feature = "javascript")]
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            #[cfg(feature = "python")]
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            #[cfg(feature = "rust")]
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            #[cfg(feature = "typescript")]
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            #[cfg(feature = "typescript")]
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            #[allow(unreachable_patterns, reason = "reached when a feature is off")]
            _ => return None,
        };
        Some(Grammar {
            language: self,
            inner,
        })
    }

    pub(crate) fn from_extension(path: &str) -> Option<Self> {
        let extension = Path::new(path).extension()?.to_str()?;
        // `.C` and `.H` are C++ by old custom; every other extension ignores case.
        if matches!(extension, "C" | "H") {
            return Some(Self::Cpp);
        }
        match extension.to_ascii_lowercase().as_str() {
            "c" | "h" => Some(Self::C),
            "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "tpp" | "inl" => {
                Some(Self::Cpp)
            }
            "go" => Some(Self::Go),
            "java" => Some(Self::Java),
            "js" | "mjs" | "cjs" | "jsx" => Some(Self::JavaScript),
            "py" | "pyi" | "pyw" => Some(Self::Python),
            "rs" => Some(Self::Rust),
            "tsx" => Some(Self::Tsx),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            _ => None,
        }
    }

    pub(crate) fn from_shebang(source: &str) -> Option<Self> {
        let line = source.lines().next()?.strip_prefix("#!")?;
        let mut words = line.split_whitespace();
        let program = words.next()?;
        let program = match program.rsplit('/').next()? {
            "env" => words.find(|word| !word.starts_with('-') && !word.contains('='))?,
            other => other,
        };
        let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match name {
            "python" | "pypy" => Some(Self::Python),
            "node" | "nodejs" => Some(Self::JavaScript),
            "deno" | "bun" | "ts-node" | "tsx" => Some(Self::TypeScript),
            "rust-script" => Some(Self::Rust),
            _ => None,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no language.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown language; known are c, cpp, go, java, javascript, python, rust, tsx, typescript")]
pub struct UnknownLanguage;

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// Reads the names and short names that rule files use, in any case.
    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        match text.to_ascii_lowercase().as_str() {
            "c" => Ok(Self::C),
            "cpp" | "c++" | "cc" | "cxx" => Ok(Self::Cpp),
            "go" | "golang" => Ok(Self::Go),
            "java" => Ok(Self::Java),
            "javascript" | "js" | "jsx" => Ok(Self::JavaScript),
            "python" | "py" => Ok(Self::Python),
            "rust" | "rs" => Ok(Self::Rust),
            "tsx" => Ok(Self::Tsx),
            "typescript" | "ts" => Ok(Self::TypeScript),
            _ => Err(UnknownLanguage),
        }
    }
}

impl<'de> Deserialize<'de> for Language {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A language together with its grammar, in the form that patterns are written for.
#[derive(Clone)]
pub(crate) struct Grammar {
    language: Language,
    inner: TSLanguage,
}

impl Grammar {
    pub(crate) fn language(&self) -> Language {
        self.language
    }

    pub(crate) fn parse(&self, source: &str, limits: Limits) -> Result<Tree, ParseError> {
        if source.len() > limits.bytes {
            return Err(ParseError::TooLarge {
                bytes: source.len(),
                limit: limits.bytes,
            });
        }
        let mut parser = Parser::new();
        parser
            .set_language(&self.inner)
            .map_err(|_| ParseError::NoGrammar(self.language))?;
        let limit = ComputingTime::lasting(limits.time);
        let mut watch = |_: &tree_sitter::ParseState| {
            if limit.is_over() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let bytes = source.as_bytes();
        parser
            .parse_with_options(
                &mut |at, _| bytes.get(at..).unwrap_or_default(),
                None,
                Some(ParseOptions::new().progress_callback(&mut watch)),
            )
            .ok_or(ParseError::TooSlow { limit: limits.time })
    }
}

impl<'de> Deserialize<'de> for Grammar {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let language = Language::deserialize(deserializer)?;
        language
            .grammar()
            .ok_or_else(|| serde::de::Error::custom(ParseError::NoGrammar(language)))
    }
}

impl PatternLanguage for Grammar {
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        match self.expando_char() {
            '$' => Cow::Borrowed(query),
            stand_in => Cow::Owned(replace_sigils(query, stand_in)),
        }
    }

    /// Returns a letter to stand for `$` where the grammar takes no `$` in a name.
    fn expando_char(&self) -> char {
        match self.language {
            Language::Java | Language::JavaScript | Language::Tsx | Language::TypeScript => '$',
            Language::Go | Language::Python | Language::Rust => 'µ',
            Language::C | Language::Cpp => '\u{10000}',
        }
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.inner.id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.inner.field_id_for_name(field).map(|id| id.get())
    }

    fn build_pattern(&self, builder: &PatternBuilder) -> Result<Pattern, PatternError> {
        builder.build(|source| StrDoc::try_new(source, self.clone()))
    }
}

impl LanguageExt for Grammar {
    fn get_ts_language(&self) -> TSLanguage {
        self.inner.clone()
    }
}

/// Writes `stand_in` for every `$` that opens a meta variable: before a capital or `_`, or thrice.
fn replace_sigils(query: &str, stand_in: char) -> String {
    let mut text = String::with_capacity(query.len());
    let mut sigils = 0;
    for c in query.chars().chain(std::iter::once('\n')) {
        if c == '$' {
            sigils += 1;
            continue;
        }
        let is_variable = sigils == 3 || c.is_ascii_uppercase() || c == '_';
        let written = if is_variable { stand_in } else { '$' };
        text.extend(std::iter::repeat_n(written, sigils));
        sigils = 0;
        text.push(c);
    }
    text.pop();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extension_comes_before_the_shebang() {
        let cases = [
            ("src/main.rs", "", Some(Language::Rust)),
            ("a/b.PY", "", Some(Language::Python)),
            ("x.C", "", Some(Language::Cpp)),
            ("x.c", "", Some(Language::C)),
            ("App.tsx", "", Some(Language::Tsx)),
            (
                "bin/tool",
                "#!/usr/bin/env -S python3.12 -u\n",
                Some(Language::Python),
            ),
            (
                "bin/tool",
                "#!/usr/local/bin/node\n",
                Some(Language::JavaScript),
            ),
            ("run.c", "#!/usr/bin/env python3\n", Some(Language::Python)),
            ("run.min.js", "#!/usr/bin/python\n", Some(Language::Python)),
            (
                "run.ts",
                "#!/usr/bin/env node\n",
                Some(Language::TypeScript),
            ),
            ("run.js", "#!/usr/bin/env bun\n", Some(Language::JavaScript)),
            ("bin/tool", "#!/bin/sh\n", None),
            ("README", "", None),
            ("Makefile", "#!", None),
        ];
        for (path, source, expected) in cases {
            assert_eq!(Language::detect(path, source), expected, "{path}");
        }
    }

    #[test]
    fn every_language_parses_and_reads_its_own_name() {
        for language in Language::ALL {
            assert_eq!(language.as_str().parse(), Ok(language));
            let tree = language.parse("", Limits::default());
            assert!(tree.is_ok(), "{language}: {tree:?}");
        }
        assert_eq!("cobol".parse::<Language>(), Err(UnknownLanguage));
    }

    #[test]
    fn parsing_is_bounded_in_size_and_time() {
        let limits = Limits {
            bytes: 10,
            ..Limits::default()
        };
        let error = Language::C.parse("int main(void) {}", limits);
        assert_eq!(
            error.err(),
            Some(ParseError::TooLarge {
                bytes: 17,
                limit: 10
            })
        );
        let limits = Limits {
            bytes: usize::MAX,
            time: Duration::ZERO,
        };
        let source = "a + ".repeat(100_000);
        let error = Language::Python.parse(&source, limits);
        assert!(matches!(error, Err(ParseError::TooSlow { .. })));
    }

    #[test]
    fn only_meta_variables_lose_their_sigil() {
        assert_eq!(
            replace_sigils("f($A, $$$ARGS, $$$)", 'µ'),
            "f(µA, µµµARGS, µµµ)"
        );
        assert_eq!(replace_sigils("m!($x) $", 'µ'), "m!($x) $");
    }
}
