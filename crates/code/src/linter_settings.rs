//! Where linters keep their settings, and what a file looks like with the settings of another version.
//!
//! A change may loosen the settings of the linter that judges it. So the linter also runs with the
//! settings from before the change, and everything else as the change has it.

use serde_json::{Map, Value};

/// Files whose name tells that they hold nothing but settings of linters.
const NAMES: &[&str] = &[
    ".bandit",
    ".clang-tidy",
    ".flake8",
    ".mypy.ini",
    ".pre-commit-config.yaml",
    ".rubocop.yml",
    ".rubocop_todo.yml",
    ".ruff.toml",
    ".clippy.toml",
    "bandit.yaml",
    "bandit.yml",
    "checkstyle.xml",
    "clippy.toml",
    "detekt.yml",
    "gnumakefile",
    "justfile",
    "makefile",
    "mypy.ini",
    "phpcs.xml",
    "phpstan.neon",
    "pmd.xml",
    "psalm.xml",
    "pyrightconfig.json",
    "revive.toml",
    "ruff.toml",
    "setup.cfg",
    "sonar-project.properties",
    "staticcheck.conf",
    "tox.ini",
];

/// Beginnings of such names: the ending tells the format.
const BEGINNINGS: &[&str] = &[
    ".babelrc",
    ".eslint",
    ".golangci",
    ".oxlint",
    ".pylintrc",
    ".semgrep",
    ".stylelint",
    ".yamllint",
    "biome.json",
    "eslint.",
    "oxlint.config.",
    "pylintrc",
    "stylelint.config.",
    "tsconfig",
];

/// Parts of `pyproject.toml` that no linter reads: they build, format, release or test.
const NOT_LINTERS: &[&str] = &[
    "black",
    "bumpversion",
    "cibuildwheel",
    "commitizen",
    "flit",
    "hatch",
    "isort",
    "maturin",
    "pdm",
    "poetry",
    "scikit-build",
    "setuptools",
    "setuptools_scm",
    "towncrier",
    "uv",
];

/// Keys of `package.json` with which linters are set up or started.
const PACKAGE_KEYS: &[&str] = &[
    "eslintConfig",
    "eslintIgnore",
    "jshintConfig",
    "oxlint",
    "scripts",
    "standard",
    "stylelint",
    "workspaces",
    "xo",
];

/// What a file has to be so that linters find the settings of another version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoredSettings {
    /// What it is.
    Same,
    /// This text.
    Text(String),
    /// Not there.
    Absent,
}

/// Tells whether linters find settings in the file at `path`.
#[must_use]
pub fn holds_linter_settings(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let is_list_of_files = name.starts_with('.') && name.ends_with("ignore");
    let is_for_linters = name.starts_with('.') && name.contains("lint");
    let is_of_cargo = folders.split('/').next_back() == Some(".cargo")
        && matches!(name, "config" | "config.toml");
    let has_rules = folders.split('/').any(|folder| folder == ".semgrep");
    MIXED.iter().any(|(mixed, _)| *mixed == name)
        || NAMES.contains(&name)
        || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
        || is_list_of_files
        || is_for_linters
        || is_of_cargo
        || has_rules
}

/// Tells whether `tool` finds its settings in the file at `path`, as far as that is known. A tool
/// that nobody knows may find them in all but those that other programs read first.
#[must_use]
pub fn is_read_by(tool: &str, path: &str) -> bool {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let own: &[&str] = match tool {
        "bandit" => &[".bandit", "bandit.", "pyproject.toml", "tox.ini"],
        "biome" => &["biome.json"],
        "clippy" | "rustc" => &["clippy.toml", ".clippy.toml", "cargo.toml", "config"],
        "eslint" => &[".eslint", "eslint.", "package.json"],
        "golangci-lint" => &[".golangci"],
        "mypy" => &["mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"],
        "oxlint" => &[".oxlint", "oxlint.", ".eslintignore"],
        "pyright" => &["pyrightconfig.json", "pyproject.toml"],
        "ruff" => &["ruff.toml", ".ruff.toml", "pyproject.toml"],
        "semgrep" => {
            return name.starts_with(".semgrep") || lower.split('/').any(|one| one == ".semgrep");
        }
        _ => {
            let others = [".gitignore", "makefile", "gnumakefile", "justfile"];
            return !others.contains(&name) && !name.starts_with("tsconfig");
        }
    };
    own.iter().any(|begin| name.starts_with(begin))
}

/// Returns what the file at `path` has to be so that linters find the settings of `before` in it.
///
/// Files that also say something else, such as the dependencies in `Cargo.toml`, keep that. What
/// cannot be read is taken from `before` as a whole.
#[must_use]
pub fn with_settings_of(path: &str, now: Option<&str>, before: Option<&str>) -> RestoredSettings {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let whole = || match before {
        _ if now == before => RestoredSettings::Same,
        Some(before) => RestoredSettings::Text(before.to_owned()),
        None => RestoredSettings::Absent,
    };
    let Some((_, form)) = MIXED.iter().find(|(mixed, _)| *mixed == name) else {
        return whole();
    };
    let read = |text: &str| match form {
        MixedForm::PackageJson => serde_json::from_str::<Value>(text).ok(),
        MixedForm::CargoToml | MixedForm::PyprojectToml => {
            let table = text.parse::<toml::Table>().ok()?;
            serde_json::to_value(table).ok()
        }
    };
    let empty = || Value::Object(Map::new());
    let old = before.map_or_else(|| Some(empty()), read);
    let new = now.and_then(read);
    let (Some(Value::Object(mut new)), Some(Value::Object(old))) = (new, old) else {
        return whole();
    };
    let kept = new.clone();
    form.restore(&mut new, &old);
    if new == kept {
        return RestoredSettings::Same;
    }
    let text = match form {
        MixedForm::PackageJson => serde_json::to_string_pretty(&new).ok(),
        MixedForm::CargoToml | MixedForm::PyprojectToml => toml::to_string(&new).ok(),
    };
    text.map_or_else(whole, RestoredSettings::Text)
}

/// Files that hold settings of linters beside other things.
const MIXED: &[(&str, MixedForm)] = &[
    ("cargo.toml", MixedForm::CargoToml),
    ("package.json", MixedForm::PackageJson),
    ("pyproject.toml", MixedForm::PyprojectToml),
];

/// How a file tells the settings of linters from the rest.
#[derive(Debug, Clone, Copy)]
enum MixedForm {
    CargoToml,
    PackageJson,
    PyprojectToml,
}

impl MixedForm {
    /// Gives `new` the settings of `old`.
    fn restore(self, new: &mut Map<String, Value>, old: &Map<String, Value>) {
        match self {
            Self::PackageJson => {
                for key in PACKAGE_KEYS {
                    take_over(new, old, key);
                }
            }
            Self::CargoToml => {
                take_over(new, old, "lints");
                within(new, old, "workspace", |new, old| {
                    for key in ["lints", "members", "exclude", "default-members"] {
                        take_over(new, old, key);
                    }
                });
            }
            Self::PyprojectToml => {
                within(new, old, "project", |new, old| {
                    take_over(new, old, "requires-python");
                });
                within(new, old, "tool", |new, old| {
                    let mut keys: Vec<String> = new.keys().chain(old.keys()).cloned().collect();
                    keys.retain(|key| !NOT_LINTERS.contains(&key.as_str()));
                    for key in keys {
                        take_over(new, old, &key);
                    }
                });
            }
        }
    }
}

/// Gives `new` what `old` has under `key`, if that is anything.
fn take_over(new: &mut Map<String, Value>, old: &Map<String, Value>, key: &str) {
    match old.get(key) {
        Some(value) => {
            new.insert(key.to_owned(), value.clone());
        }
        None => {
            new.shift_remove(key);
        }
    }
}

/// Does the same in the tables under `key`.
fn within(
    new: &mut Map<String, Value>,
    old: &Map<String, Value>,
    key: &str,
    restore: impl FnOnce(&mut Map<String, Value>, &Map<String, Value>),
) {
    let empty = Map::new();
    let old = old.get(key).and_then(Value::as_object).unwrap_or(&empty);
    let mut table = match new.get(key) {
        Some(Value::Object(table)) => table.clone(),
        _ => Map::new(),
    };
    restore(&mut table, old);
    let is_there = new.contains_key(key);
    if is_there || !table.is_empty() {
        new.insert(key.to_owned(), Value::Object(table));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_settings_of_linters_are_known_by_their_names() {
        for path in [
            "ruff.toml",
            "a/b/.ruff.toml",
            "pyproject.toml",
            ".eslintrc",
            ".eslintrc.json",
            ".eslintignore",
            "web/eslint.config.mjs",
            "clippy.toml",
            ".semgrepignore",
            ".semgrep/own.yml",
            ".bandit",
            "setup.cfg",
            "tox.ini",
            ".flake8",
            "biome.json",
            "biome.jsonc",
            ".golangci.yml",
            "tsconfig.json",
            "tsconfig.build.json",
            "Cargo.toml",
            ".cargo/config.toml",
            "Makefile",
            ".gitignore",
        ] {
            assert!(holds_linter_settings(path), "{path}");
        }
        for path in ["src/ruff.py", "config.toml", "Cargo.lock", "README.md"] {
            assert!(!holds_linter_settings(path), "{path}");
        }
    }

    #[test]
    fn a_file_of_its_own_is_taken_as_a_whole() {
        let of = |now, before| with_settings_of("ruff.toml", now, before);
        assert_eq!(of(Some("a"), Some("a")), RestoredSettings::Same);
        assert_eq!(of(Some("a"), None), RestoredSettings::Absent);
        let text = RestoredSettings::Text("b".to_owned());
        assert_eq!(of(Some("a"), Some("b")), text);
        assert_eq!(of(None, Some("b")), text);
    }

    #[test]
    fn dependencies_stay_and_settings_of_linters_go_back() {
        let before = "[package]\nname = \"a\"\n\n[lints.clippy]\nunwrap_used = \"deny\"\n";
        let now = "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\n\n\
                   [lints.clippy]\nunwrap_used = \"allow\"\n";
        let RestoredSettings::Text(text) = with_settings_of("Cargo.toml", Some(now), Some(before))
        else {
            panic!("the settings differ");
        };
        let read = text.parse::<toml::Table>().unwrap();
        assert_eq!(read["dependencies"]["serde"].as_str(), Some("1"));
        assert_eq!(
            read["lints"]["clippy"]["unwrap_used"].as_str(),
            Some("deny")
        );
        let new_dependency = now.replace("allow", "deny");
        assert_eq!(
            with_settings_of("Cargo.toml", Some(&new_dependency), Some(before)),
            RestoredSettings::Same
        );
    }

    #[test]
    fn any_spelling_of_a_setting_goes_back() {
        let before = "[project]\nname = \"a\"\n";
        for now in [
            "tool.ruff.lint.ignore = [\"F821\"]\n[project]\nname = \"a\"\n",
            "[project]\nname = \"a\"\n[tool]\nruff = { exclude = [\"*.py\"] }\n",
            "[project]\nname = \"a\"\n[tool.unheard-of]\nquiet = true\n",
        ] {
            let RestoredSettings::Text(text) =
                with_settings_of("x/pyproject.toml", Some(now), Some(before))
            else {
                panic!("{now}");
            };
            assert!(!text.contains("ruff") && !text.contains("quiet"), "{text}");
        }
        let poetry = "[project]\nname = \"a\"\n[tool.poetry]\nname = \"b\"\n";
        let same = with_settings_of("pyproject.toml", Some(poetry), Some(before));
        assert_eq!(same, RestoredSettings::Same);
    }

    #[test]
    fn what_cannot_be_read_is_taken_from_before_as_a_whole() {
        let before = "{\"scripts\": {\"lint\": \"eslint .\"}}";
        let of = |now| with_settings_of("package.json", Some(now), Some(before));
        assert_eq!(of("{"), RestoredSettings::Text(before.to_owned()));
        let now = "{\"scripts\": {\"lint\": \"true\"}, \"version\": \"2\"}";
        let RestoredSettings::Text(text) = of(now) else {
            panic!("the script differs");
        };
        assert!(
            text.contains("eslint .") && text.contains("\"version\": \"2\""),
            "{text}"
        );
    }
}
