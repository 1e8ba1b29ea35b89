//! Rules about the repository itself that no compiler checks.
//!
//! Every check collects all offenders before it fails, so that one run shows the whole list.

#![expect(
    clippy::print_stdout,
    reason = "soft limits are reported, not enforced"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

/// Which of our crates each crate may depend on, outside of its tests.
///
/// A crate that is missing here needs an invariant of its own in `docs/architecture.md` first.
const ARROWS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("code", &["core"]),
    ("agents", &["core"]),
    ("store", &["core"]),
    ("engine", &["core", "code", "agents", "store"]),
    ("server", &["core", "engine"]),
    (
        "cli",
        &["core", "code", "agents", "store", "engine", "server"],
    ),
    ("fakes", &[]),
];

/// A file beyond this many lines, tests included, holds more than one idea.
const MOST_LINES: usize = 800;

/// A file beyond this many lines, its tests not counted, deserves a second look.
const MANY_LINES: usize = 500;

#[test]
fn crates_depend_only_along_the_arrows() {
    let mut offenders = Vec::new();
    for krate in crates() {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == krate.name) else {
            offenders.push(format!("crates/{}: not in the table of arrows", krate.name));
            continue;
        };
        for (section, dependencies) in krate.dependency_tables() {
            if section.ends_with("dev-dependencies") {
                continue;
            }
            for target in dependencies
                .keys()
                .filter_map(|name| name.strip_prefix("tribunal-"))
            {
                if !allowed.contains(&target) {
                    offenders.push(format!("crates/{} must not use {target}", krate.name));
                }
            }
        }
    }
    check_none(&offenders);
}

#[test]
fn crates_take_lints_and_package_fields_from_the_workspace() {
    let mut offenders = Vec::new();
    for krate in crates() {
        for (table, key) in [
            ("package", "version"),
            ("package", "edition"),
            ("package", "rust-version"),
            ("package", "license"),
            ("package", "publish"),
        ] {
            let inherited = krate.manifest.get(table).and_then(|table| table.get(key));
            if !inherited.is_some_and(from_workspace) {
                offenders.push(format!(
                    "crates/{}: {table}.{key}.workspace = true",
                    krate.name
                ));
            }
        }
        if !krate.manifest.get("lints").is_some_and(from_workspace) {
            offenders.push(format!("crates/{}: lints.workspace = true", krate.name));
        }
    }
    check_none(&offenders);
}

#[test]
fn versions_stand_only_in_the_workspace() {
    let mut offenders = Vec::new();
    for krate in crates() {
        for (section, dependencies) in krate.dependency_tables() {
            for (name, value) in dependencies {
                if !from_workspace(value) {
                    offenders.push(format!("crates/{}: [{section}] {name}", krate.name));
                }
            }
        }
    }
    check_none(&offenders);
}

#[test]
fn source_files_stay_readable_in_one_sitting() {
    let mut offenders = Vec::new();
    for path in rust_files() {
        let text = read(&path);
        let total = text.lines().count();
        let without_tests = text
            .lines()
            .take_while(|line| *line != "#[cfg(test)]")
            .count();
        if total > MOST_LINES {
            offenders.push(format!("{}: {total} lines", path.display()));
        } else if without_tests > MANY_LINES {
            println!("{}: {without_tests} lines without tests", path.display());
        }
    }
    check_none(&offenders);
}

#[test]
fn source_files_open_with_their_purpose() {
    let offenders: Vec<_> = rust_files()
        .into_iter()
        .filter(|path| path.components().any(|part| part.as_os_str() == "src"))
        .filter(|path| !read(path).starts_with("//! "))
        .map(|path| path.display().to_string())
        .collect();
    check_none(&offenders);
}

#[test]
fn no_unfinished_code_is_left_behind() {
    // Written in two parts so that this file does not find itself.
    let needles = [
        concat!("todo", "!("),
        concat!("dbg", "!("),
        concat!("unimplemented", "!("),
    ];
    check_none(&lines_with(&needles, rust_files()));
}

#[test]
fn no_file_names_a_package_registry() {
    let needles = [
        concat!("registry.", "npmjs.org"),
        concat!("registry.", "yarnpkg.com"),
        concat!("index.", "crates.io"),
        concat!("static.", "crates.io"),
        concat!("files.", "pythonhosted.org"),
        concat!("arti", "factory"),
    ];
    check_none(&lines_with(&needles, tracked_files()));
}

#[test]
fn no_file_names_a_directory_of_one_machine() {
    let needles = [
        concat!("/work", "/main"),
        concat!("/work", "/shared"),
        concat!("/ro", "ot/"),
    ];
    let found = lines_with(&needles, tracked_files());
    // `crates/root/` is a path of ours; only absolute ones tell of a machine.
    let absolute = |line: &&String| {
        needles.iter().any(|needle| {
            line.match_indices(needle).any(|(at, _)| {
                !line[..at]
                    .ends_with(|before: char| before.is_alphanumeric() || "._-}~".contains(before))
            })
        })
    };
    check_none(&found.iter().filter(absolute).cloned().collect::<Vec<_>>());
}

#[test]
fn pinned_agents_carry_a_hash_and_no_address() {
    let text = read(Path::new("tests/agents/package-lock.json"));
    let lock: serde_json::Value = serde_json::from_str(&text).expect("the lock file is JSON");
    let packages = lock["packages"]
        .as_object()
        .expect("a lock file lists packages");
    let offenders: Vec<_> = packages
        .iter()
        .filter(|(path, _)| !path.is_empty())
        .filter(|(_, package)| package["integrity"].is_null() || !package["resolved"].is_null())
        .map(|(path, _)| path.clone())
        .collect();
    check_none(&offenders);
}

#[test]
fn commands_in_the_readme_exist() {
    let mut offenders = Vec::new();
    for command in commands_in(&read(Path::new("README.md"))) {
        let answer = Command::new(env!("CARGO_BIN_EXE_tribunal"))
            .args(&command)
            .arg("--help")
            .output()
            .expect("the binary under test starts");
        if !answer.status.success() {
            offenders.push(format!("tribunal {}", command.join(" ")));
        }
    }
    check_none(&offenders);
}

#[test]
fn scripts_in_the_readme_exist() {
    use std::os::unix::fs::PermissionsExt;

    let readme = read(Path::new("README.md"));
    let scripts: BTreeSet<_> = readme
        .split(|c: char| c.is_whitespace() || "`()[]\"'".contains(c))
        .map(|word| {
            word.trim_start_matches("./")
                .trim_end_matches(['.', ',', ';', ':'])
        })
        .filter(|word| {
            word.strip_prefix("scripts/")
                .is_some_and(|name| !name.is_empty())
        })
        .collect();
    let offenders: Vec<_> = scripts
        .into_iter()
        .filter(|script| {
            fs::metadata(root().join(script)).map_or(0, |found| found.permissions().mode()) & 0o111
                == 0
        })
        .collect();
    check_none(&offenders);
}

#[test]
fn the_changelog_tells_of_this_version() {
    let heading = concat!("\n## ", env!("CARGO_PKG_VERSION"), "\n");
    assert!(
        read(Path::new("CHANGELOG.md")).contains(heading),
        "CHANGELOG.md has no section for {}",
        env!("CARGO_PKG_VERSION")
    );
}

#[test]
fn every_benchmark_is_run_with_the_others() {
    let all = read(Path::new("bench/all"));
    // Commits of other projects are reviewed where somebody names their repositories.
    let others = [
        "all",
        "bare-clap",
        "bare-ledger",
        "commits",
        "README.md",
        ".gitignore",
    ];
    let mut offenders = Vec::new();
    for entry in fs::read_dir(root().join("bench")).expect("there are benchmarks") {
        let name = entry.expect("it can be listed").file_name();
        let name = name.to_string_lossy();
        let is_run = [format!("bench/{name}\""), format!("cargo(\"{name}\"")];
        if !others.contains(&&*name) && !is_run.iter().any(|call| all.contains(call)) {
            offenders.push(format!("bench/{name} is not run by bench/all"));
        }
    }
    check_none(&offenders);
}

#[test]
fn readme_commands_are_found_in_fences_and_in_prose() {
    let readme = "\
Try `tribunal dispute list --all` or ask `tribunal`.

```console
$ tribunal review src/ --arbitrate
```

```json
{\"tribunal\": \"review\"}
```

```sh
cargo run -p tribunal -- trial start
target/debug/tribunal config show # every key
```
";
    let found = commands_in(readme);
    let lines: Vec<_> = found.iter().map(|words| words.join(" ")).collect();
    assert_eq!(
        lines,
        ["config show", "dispute list", "review", "trial start"]
    );
}

/// One of our crates as its manifest describes it.
struct Crate {
    /// The directory below `crates/`.
    name: String,
    manifest: Table,
}

impl Crate {
    /// Returns every table of dependencies with the section it stands in.
    fn dependency_tables(&self) -> Vec<(String, &Table)> {
        let platforms = self.manifest.get("target").and_then(Value::as_table);
        let platforms = platforms
            .into_iter()
            .flatten()
            .filter_map(|(platform, table)| {
                table
                    .as_table()
                    .map(|table| (format!("target.{platform}."), table))
            });
        let mut found = Vec::new();
        for (prefix, table) in platforms.chain([(String::new(), &self.manifest)]) {
            for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
                if let Some(dependencies) = table.get(section).and_then(Value::as_table) {
                    found.push((format!("{prefix}{section}"), dependencies));
                }
            }
        }
        found
    }
}

/// Returns whether a manifest entry is `{ workspace = true }`, with or without more keys.
fn from_workspace(entry: &Value) -> bool {
    entry.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// Returns the subcommands and names that follow `tribunal` in shell examples and inline code.
fn commands_in(markdown: &str) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_some() {
                None
            } else {
                Some(info.trim())
            };
            continue;
        }
        match fence {
            Some("sh" | "bash" | "shell" | "console") => found.extend(command_in(line)),
            Some(_) => {}
            None => found.extend(line.split('`').skip(1).step_by(2).filter_map(command_in)),
        }
    }
    found
}

/// Returns the plain words after `tribunal` when a line of shell calls it.
fn command_in(line: &str) -> Option<Vec<String>> {
    let line = line.trim().trim_start_matches("$ ");
    let arguments = match line.split_once(" -- ") {
        Some((cargo, arguments)) if cargo.starts_with("cargo run") => arguments,
        _ => {
            let (program, arguments) = line.split_once(' ')?;
            (program.rsplit('/').next() == Some("tribunal")).then_some(arguments)?
        }
    };
    let plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let words: Vec<_> = arguments
        .split_whitespace()
        .take_while(|word| !word.starts_with('-'))
        .take_while(plain)
        .map(str::to_owned)
        .collect();
    (!words.is_empty()).then_some(words)
}

fn crates() -> Vec<Crate> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).expect("the workspace has crates") {
        let directory = entry.expect("crates/ is readable").path();
        let Ok(text) = fs::read_to_string(directory.join("Cargo.toml")) else {
            continue;
        };
        let name = directory
            .file_name()
            .expect("an entry of a directory has a name");
        found.push(Crate {
            name: name.to_string_lossy().into_owned(),
            manifest: text.parse().expect("cargo has read this manifest already"),
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn rust_files() -> Vec<PathBuf> {
    let mut files = tracked_files();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files
}

/// Returns the tracked files that exist, relative to the root.
fn tracked_files() -> Vec<PathBuf> {
    // The setting lets a checkout that belongs to another user be listed, as CI machines have it.
    let listing = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .current_dir(root())
        .output()
        .expect("git starts");
    assert!(
        listing.status.success(),
        "{}",
        String::from_utf8_lossy(&listing.stderr)
    );
    String::from_utf8_lossy(&listing.stdout)
        .split_terminator('\0')
        .map(PathBuf::from)
        .filter(|path| root().join(path).is_file())
        .collect()
}

/// Returns `path:line: text` for each line that contains one of the needles.
fn lines_with(needles: &[&str], files: Vec<PathBuf>) -> Vec<String> {
    let mut found = Vec::new();
    for path in files {
        for (index, line) in read(&path).lines().enumerate() {
            if needles.iter().any(|needle| line.contains(needle)) {
                found.push(format!("{}:{}: {line}", path.display(), index + 1));
            }
        }
    }
    found
}

fn read(path: &Path) -> String {
    let bytes = fs::read(root().join(path))
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[track_caller]
fn check_none<T: std::fmt::Display>(offenders: &[T]) {
    let lines: Vec<_> = offenders
        .iter()
        .map(|offender| format!("  {offender}"))
        .collect();
    assert!(
        lines.is_empty(),
        "{} found:\n{}",
        lines.len(),
        lines.join("\n")
    );
}
