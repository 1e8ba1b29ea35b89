//! Which tool a command line starts, be it through a launcher such as `cargo` or `npx`.

use tribunal_core::reply::is_known_tool;

/// Programs that start others.
const LAUNCHERS: &[&str] = &[
    "bun", "bundle", "bunx", "cargo", "deno", "env", "go", "hatch", "mise", "npm", "npx", "pdm",
    "pipx", "pnpm", "poetry", "python", "python3", "uv", "uvx", "yarn",
];

/// Words of launchers that stand before the tool.
const VERBS: &[&str] = &["dlx", "exec", "run", "tool", "x"];

/// Tools that tell their version when asked with `--version` alone, whatever they are told to do.
const TELL_VERSION: &[&str] = &[
    "bandit",
    "biome",
    "clippy",
    "eslint",
    "golangci-lint",
    "mypy",
    "oxlint",
    "pyright",
    "ruff",
    "semgrep",
];

/// Programs that run a script which is given with `-c`.
const SHELLS: &[&str] = &["bash", "dash", "ksh", "sh", "zsh"];

/// Returns the name of the tool that `argv` starts, such as `clippy` for `cargo clippy`, also where a
/// shell starts it.
#[must_use]
pub(crate) fn name_of(argv: &[String]) -> String {
    match in_script(argv) {
        Some(name) => name,
        None => started_by(argv),
    }
}

/// Returns the last tool that is known in the script of a shell.
fn in_script(argv: &[String]) -> Option<String> {
    let shell = bare(argv.first()?);
    if !SHELLS.contains(&shell.as_str()) {
        return None;
    }
    let flag = argv
        .iter()
        .position(|word| word.starts_with('-') && word.ends_with('c'))?;
    let script = argv.get(flag + 1)?;
    let commands = script.split(['&', '|', ';', '\n', '(', ')']);
    let mut named = commands.map(|command| {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        started_by(&words)
    });
    named.rfind(|name| is_known_tool(name))
}

fn started_by(argv: &[String]) -> String {
    let name = place(argv).and_then(|place| argv.get(place));
    let name = name.map(|word| bare(word)).unwrap_or_default();
    match name.as_str() {
        // Cargo's own verbs: it is the compiler that reports.
        "check" | "build" => "rustc".to_owned(),
        "" => "tool".to_owned(),
        _ => name,
    }
}

/// Tells whether the tool that `argv` starts prints nothing, and exits with 0, when all is well.
///
/// So does mypy when it prints JSON: its exit code is 1 when it finds something and 2 when it cannot
/// look. Of no other tool do we know that its silence speaks.
pub(crate) fn is_silent_when_content(argv: &[String]) -> bool {
    let json = argv.windows(2).any(|pair| {
        let option = ["--output", "-O"].contains(&pair[0].as_str());
        option && pair[1] == "json"
    });
    let joined = |word: &String| ["--output=json", "-Ojson"].contains(&word.as_str());
    started_by(argv) == "mypy" && (json || argv.iter().any(joined))
}

/// Returns the words with which the tool is asked for its version, unless that may do anything.
pub(crate) fn version_words(argv: &[String]) -> Option<usize> {
    TELL_VERSION
        .contains(&started_by(argv).as_str())
        .then(|| place(argv).map(|place| place + 1))
        .flatten()
}

/// Returns which word of `argv` names the tool.
fn place(argv: &[String]) -> Option<usize> {
    let program = bare(argv.first()?);
    if !LAUNCHERS.contains(&program.as_str()) {
        return Some(0);
    }
    let is_tool = |word: &&String| {
        let option = word.starts_with('-') || word.starts_with('+');
        !option && !word.contains('=') && !VERBS.contains(&word.as_str())
    };
    let after = argv.iter().skip(1).position(|word| is_tool(&word));
    Some(after.map_or(0, |after| after + 1))
}

/// Returns the bare name in a path, a package with its version, or a script.
fn bare(word: &str) -> String {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.split('@').next().unwrap_or(name);
    let endings = [".js", ".mjs", ".cjs", ".py", ".sh", ".exe"];
    let name = endings
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name);
    let plain = name.chars().filter(|sign| !sign.is_whitespace());
    plain.collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_silence_of_mypy_that_prints_json_speaks() {
        for (line, speaks) in [
            ("mypy --output json .", true),
            ("python3 -m mypy -O json src", true),
            ("uvx mypy --output=json .", true),
            ("mypy -Ojson .", true),
            ("mypy .", false),
            ("mypy --output text json", false),
            ("ruff check --output-format json .", false),
            ("sh -c mypy --output json", false),
        ] {
            let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(is_silent_when_content(&argv), speaks, "{line}");
        }
    }

    #[test]
    fn a_shell_is_not_the_tool_that_it_starts() {
        for (script, name) in [
            ("npm ci >&2 && npx eslint --format json .", "eslint"),
            ("ruff check --output-format json . || true", "ruff"),
            ("cd src; cargo clippy --message-format=json", "clippy"),
            ("./own-checker --json", "sh"),
            ("echo ruff", "sh"),
        ] {
            for flag in ["-c", "-ec"] {
                let argv = ["sh", flag, script].map(str::to_owned);
                assert_eq!(name_of(&argv), name, "{script}");
                assert_eq!(version_words(&argv), None, "{script}");
            }
        }
    }

    #[test]
    fn tools_are_found_behind_their_launchers() {
        for (line, name, version) in [
            ("cargo clippy --message-format=json", "clippy", Some(2)),
            ("cargo +nightly clippy -q", "clippy", Some(3)),
            ("cargo check --message-format=json", "rustc", None),
            ("npx --yes eslint@9 -f json .", "eslint", Some(3)),
            ("npx @biomejs/biome lint", "biome", Some(2)),
            ("./node_modules/.bin/eslint.js -f json", "eslint", Some(1)),
            ("python3 -m ruff check", "ruff", Some(3)),
            ("uv run ruff check", "ruff", Some(3)),
            ("uvx ruff check", "ruff", Some(2)),
            ("semgrep scan --json", "semgrep", Some(1)),
            (
                "go run example.org/cmd/golangci-lint@v2 run",
                "golangci-lint",
                Some(3),
            ),
            ("env LANG=C golangci-lint run", "golangci-lint", Some(3)),
            ("tools/lint.sh", "lint", None),
            ("cargo", "cargo", None),
            ("", "tool", None),
        ] {
            let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(name_of(&argv), name, "{line}");
            assert_eq!(version_words(&argv), version, "{line}");
        }
    }
}
