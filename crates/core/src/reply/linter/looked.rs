//! What a tool has looked at: "nothing found" says something only about files that were read.

use std::collections::BTreeSet;

/// What a report says about the files that its tool looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// Files that it names as looked at, by path.
    pub files: BTreeSet<String>,
    /// Folders of which it compiled what belongs to the program.
    pub folders: BTreeSet<String>,
    /// Files that it did not read, or not to their end, whatever else it says about them.
    pub passed_over: BTreeSet<String>,
    /// Files of which its own report says that it failed at them.
    pub failed: BTreeSet<String>,
    /// How many files it counted, where it only counts.
    pub count: Option<u64>,
}

impl Looked {
    /// Tells whether it names files, rather than nothing or their number.
    #[must_use]
    pub fn is_list(&self) -> bool {
        !self.files.is_empty() || !self.folders.is_empty()
    }

    /// Tells whether the list has the file `path`, and nothing says that it was passed over.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let is_compiled = |folder: &String| {
            let inside = path.strip_prefix(folder.as_str());
            inside.is_some_and(|rest| folder.is_empty() || rest.starts_with('/'))
        };
        let is_listed = self.files.contains(path)
            || path.ends_with(".rs") && self.folders.iter().any(is_compiled);
        is_listed && !self.passed_over.contains(path)
    }
}

/// A tool that is known: what it reads, and a defect that it always reports.
struct Tool {
    name: &'static str,
    /// How the names of the files end that it reads.
    endings: &'static [&'static str],
    /// Code that it reports wherever it is put at the end of a file; empty where there is none.
    defect: &'static str,
}

const PYTHON: &[&str] = &[".py", ".pyi"];
const SCRIPT: &[&str] = &[".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"];
const BROKEN_PYTHON: &str = "\n\ndef tribunal_planted_defect(:\n";
const BROKEN_SCRIPT: &str = "\n\nlet tribunal planted defect = = ;\n";

/// The longer of two names that begin alike comes first.
const TOOLS: &[Tool] = &[
    tool(
        "golangci-lint",
        &[".go"],
        "\n\nfunc tribunalPlantedDefect( {\n",
    ),
    tool("ruff", PYTHON, BROKEN_PYTHON),
    tool("bandit", PYTHON, BROKEN_PYTHON),
    tool("pyright", PYTHON, BROKEN_PYTHON),
    tool(
        "mypy",
        PYTHON,
        "\n\ntribunal_planted_defect: int = \"planted\"\n",
    ),
    tool("eslint", SCRIPT, BROKEN_SCRIPT),
    tool("oxlint", SCRIPT, BROKEN_SCRIPT),
    tool("biome", SCRIPT, BROKEN_SCRIPT),
    tool("clippy", &[".rs"], "\n\nfn tribunal_planted_defect( {\n"),
    tool("rustc", &[".rs"], "\n\nfn tribunal_planted_defect( {\n"),
    // What its rules look for is the user's choice, and what it cannot parse it passes over.
    tool("semgrep", &[], ""),
    tool("codeql", &[], ""),
];

const fn tool(name: &'static str, endings: &'static [&'static str], defect: &'static str) -> Tool {
    Tool {
        name,
        endings,
        defect,
    }
}

fn known(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Returns the one name of a tool: in small letters, and without the words that makers add, so that
/// `Semgrep OSS` is `semgrep`.
#[must_use]
pub fn tool_name(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let words = || name.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-');
    let is_word = |tool: &&Tool| words().any(|word| word == tool.name);
    match TOOLS.iter().find(is_word) {
        Some(tool) => tool.name.to_owned(),
        None => name.split_whitespace().collect::<Vec<_>>().join("-"),
    }
}

/// Tells whether the tool of this name is one whose report can be proven.
#[must_use]
pub fn is_known_tool(name: &str) -> bool {
    known(name).is_some()
}

/// Tells whether the tool reads files of this name.
#[must_use]
pub fn tool_reads(name: &str, path: &str) -> bool {
    known(name).is_some_and(|tool| tool.endings.iter().any(|ending| path.ends_with(ending)))
}

/// Returns code with a defect that the tool reports when it stands at the end of any file that it
/// reads; nothing where no such code is known.
#[must_use]
pub fn planted_defect(name: &str) -> Option<&'static str> {
    known(name)
        .map(|tool| tool.defect)
        .filter(|defect| !defect.is_empty())
}

/// Returns the family of a tool. Clippy is the compiler with more lints: both are one voice.
#[must_use]
pub fn family_of_tool_named(name: &str) -> String {
    match tool_name(name).as_str() {
        "rustc" => "tool:clippy".to_owned(),
        name => format!("tool:{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_one_name_however_it_is_spelled() {
        for (given, expected) in [
            ("Semgrep OSS", "semgrep"),
            ("ruff", "ruff"),
            ("ESLint", "eslint"),
            ("golangci-lint", "golangci-lint"),
            ("cargo clippy", "clippy"),
            ("My Own Checker", "my-own-checker"),
            (" Bandit ", "bandit"),
        ] {
            assert_eq!(tool_name(given), expected, "{given}");
        }
        assert_eq!(
            family_of_tool_named("rustc"),
            family_of_tool_named("Clippy")
        );
    }

    #[test]
    fn a_compiled_folder_has_the_sources_below_it_and_nothing_else() {
        let looked = Looked {
            folders: BTreeSet::from(["crates/a/src".to_owned()]),
            ..Looked::default()
        };
        assert!(looked.has("crates/a/src/deep/x.rs"));
        for path in [
            "crates/a/src2/x.rs",
            "crates/b/src/x.rs",
            "crates/a/src/x.py",
        ] {
            assert!(!looked.has(path), "{path}");
        }
    }
}
