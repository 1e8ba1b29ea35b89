//! The pages for people: every command line in them is one that the program takes, every link leads
//! somewhere.

use std::path::{Path, PathBuf};

use clap::{Command, Parser as _};

use crate::args::{Args, whole_command};

/// A piece of a page that is set as code.
struct Code {
    /// The page and the line, for messages.
    at: String,
    /// The language of the fence; nothing within a sentence.
    language: Option<String>,
    text: String,
}

/// Returns the whole command line.
fn program() -> Command {
    let mut program = whole_command();
    program.build();
    program
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all pages with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for directory in ["docs", "examples", "bench"] {
        let mut found: Vec<PathBuf> = pages_of(&root.join(directory));
        found.sort();
        files.extend(found);
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    files.into_iter().map(read).collect()
}

/// Returns the Markdown and workflow files of a directory and of those directly below it.
fn pages_of(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        let ending = path.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("md" | "yml")) {
            files.push(path);
        } else if path.is_dir() && path.join("README.md").is_file() {
            files.push(path.join("README.md"));
        }
    }
    files
}

/// Returns everything on a page that is set as code.
fn codes(path: &Path, text: &str) -> Vec<Code> {
    let page = path.file_name().unwrap_or_default().to_string_lossy();
    let mut codes: Vec<Code> = Vec::new();
    let mut fence: Option<String> = None;
    let is_page = path.extension().is_some_and(|ending| ending == "md");
    for (number, line) in (1..).zip(text.lines()) {
        let at = format!("{page}:{number}");
        let code = |language: Option<&String>, text: &str| Code {
            at: at.clone(),
            language: language.cloned(),
            text: text.to_owned(),
        };
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = match fence {
                None => Some(language.to_owned()),
                Some(_) => None,
            };
        } else if fence.is_some() || !is_page {
            match codes.last_mut() {
                Some(last) if last.text.ends_with('\\') && last.language == fence => {
                    last.text.pop();
                    last.text.push_str(line.trim_start());
                }
                _ => codes.push(code(fence.as_ref(), line)),
            }
        } else {
            let inline = line.split('`').skip(1).step_by(2);
            codes.extend(inline.map(|text| code(None, text)));
        }
    }
    codes
}

/// Returns the command lines of `tribunal` in a line of a shell, as words.
fn command_lines(line: &str) -> Vec<Vec<String>> {
    let line = line.trim().trim_start_matches("$ ");
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    for sign in line.chars() {
        match (quote, sign) {
            (Some(open), sign) if sign == open => quote = None,
            (Some(_), sign) => word.get_or_insert_default().push(sign),
            (None, '"' | '\'') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, ' ' | '|' | '&' | ';') => {
                let last: &mut Vec<String> = commands.last_mut().unwrap();
                last.extend(word.take());
                if sign != ' ' {
                    commands.push(Vec::new());
                }
            }
            (None, '#') if word.is_none() => break,
            (None, sign) => word.get_or_insert_default().push(sign),
        }
    }
    commands.last_mut().unwrap().extend(word);
    commands.into_iter().filter_map(own_words).collect()
}

/// Returns the words after `tribunal` or `cargo run … -p tribunal --`, without where input and
/// output go.
fn own_words(words: Vec<String>) -> Option<Vec<String>> {
    let is_cargo = words
        .windows(3)
        .any(|three| three == ["-p", "tribunal", "--"]);
    let start = match words.first().map(String::as_str) {
        Some("tribunal") => 0,
        Some("cargo") if is_cargo => words.iter().position(|word| word == "--")?,
        _ => return None,
    };
    let mut own = vec!["tribunal".to_owned()];
    let mut rest = words.into_iter().skip(start + 1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            ">" | "<" | "2>" => drop(rest.next()),
            _ => own.push(word),
        }
    }
    Some(own)
}

/// Says what is unknown in words that need not be a whole command line, such as `tribunal log`.
fn unknown_in(root: &Command, words: &[&str]) -> Option<String> {
    // What the program starts by itself is no command for people.
    if words
        .get(1)
        .is_some_and(|word| word.starts_with("supervise"))
    {
        return None;
    }
    let mut commands: Vec<&Command> = vec![root];
    for word in words.iter().skip(1) {
        let word = word.trim_matches(['[', ']', ',', ')', '\'']);
        if let Some(flag) = word.strip_prefix("--") {
            let name = flag.split('=').next().unwrap_or(flag);
            let knows = |command: &&Command| {
                let mut arguments = command.get_arguments();
                arguments.any(|arg| arg.get_long() == Some(name))
            };
            if !name.is_empty()
                && !["help", "version"].contains(&name)
                && !commands.iter().any(knows)
            {
                return Some(format!("no option --{name}"));
            }
        } else {
            let below = |name: &str| {
                let mut found = commands.iter();
                found.find_map(|command| command.find_subcommand(name))
            };
            let next: Vec<_> = word.split('|').filter_map(below).collect();
            let is_name = |name: &str| name.chars().all(|sign| sign.is_ascii_lowercase());
            if next.is_empty() && commands.len() == 1 && commands[0].get_name() == "tribunal" {
                return is_name(word).then(|| format!("no command {word}"));
            }
            if !next.is_empty() {
                commands = next;
            }
        }
    }
    None
}

#[test]
fn every_command_line_of_the_pages_is_one_that_the_program_takes() {
    let program = program();
    let mut checked = 0;
    let mut wrong = Vec::new();
    for (path, text) in pages() {
        for code in codes(&path, &text) {
            let is_shell = matches!(code.language.as_deref(), Some("sh" | "console" | "bash"));
            if is_shell {
                for words in command_lines(&code.text) {
                    checked += 1;
                    if let Err(error) = Args::try_parse_from(&words)
                        && error.use_stderr()
                    {
                        wrong.push(format!("{}: {}\n{error}", code.at, code.text));
                    }
                }
            } else if let Some(place) = code.text.find("tribunal ") {
                let fragment = &code.text[place..];
                let words: Vec<&str> = fragment.split_whitespace().collect();
                let before = code.text[..place].trim();
                let starts = matches!(before, "" | "-" | "run:" | "- run:" | "sh '");
                if starts && code.language.as_deref() != Some("text") {
                    checked += 1;
                    let unknown = unknown_in(&program, &words);
                    wrong.extend(unknown.map(|why| format!("{}: {}: {why}", code.at, code.text)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Without this, a change to how pages are written could leave nothing to check.
    assert!(checked > 200, "only {checked} command lines were found");
}

#[test]
fn what_the_program_does_not_take_is_found_on_a_page() {
    for (line, taken) in [
        ("$ tribunal review --staged # now", true),
        ("git diff | tribunal review --patch -", true),
        ("tribunal stats --record > record.json", true),
        ("tribunal task add \"a & b\" --section Auth", true),
        (
            "cargo run -q -p tribunal -- review x || cargo run -p tribunal -- revue",
            false,
        ),
        ("tribunal review --stagd", false),
    ] {
        let commands = command_lines(line);
        assert!(!commands.is_empty(), "{line}");
        let all = commands
            .iter()
            .all(|words| Args::try_parse_from(words).is_ok());
        assert_eq!(all, taken, "{line}");
    }
    for (words, known) in [
        ("tribunal dispute list|show", true),
        ("tribunal dispute list --stael", false),
        ("tribunal revue", false),
        ("tribunal show CASE --format html", true),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(unknown_in(&program(), &words).is_none(), known, "{words:?}");
    }
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    for (path, text) in pages() {
        let targets = text.split("](").skip(1);
        let targets = targets.filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let file = target.split('#').next().unwrap_or_default();
            let there = path.parent().unwrap().join(file);
            assert!(there.exists(), "{}: {target}", path.display());
        }
    }
}
