//! Commands in scripts, wherever scripts are: shell files, containers, make, pipelines.

use tribunal_core::finding::Label;

use super::{Found, TextFile, TextRule, pattern};
use crate::nature::{Format, Nature};
use crate::rule::meta::{Domain, Scope};

pub(super) const RULES: &[TextRule] = &[
    TextRule {
        id: "shell-download-and-run",
        domain: Domain::Security,
        label: Label::Medium,
        scope: Scope::Product,
        message: "What is downloaded runs unseen",
        reason: "Whoever controls the server or the connection runs commands here; a transfer that \
                 breaks off runs half a script.",
        suggestion: "Download a fixed version, compare its checksum, and run it then.",
        find: download_and_run,
        bad: &[
            ("install.sh", "curl -sSL https://example.org/x | sh\n", &[1]),
            (
                "Dockerfile",
                "FROM a\nRUN apt update && \\\n    curl -fsSL https://a.b/c | sudo -E bash -\n",
                &[2],
            ),
            ("run.sh", "bash <(curl -s https://a.b/c)\n", &[1]),
            (
                ".github/workflows/a.yml",
                "    - run: wget -qO- https://a.b/c | bash -s -- -y\n",
                &[1],
            ),
        ],
        good: &[
            ("install.sh", "curl -sSL https://a.b/c | tar xz\n"),
            (
                "install.sh",
                "# curl https://a.b/c | sh\necho 'curl https://a.b/c | sh'\n",
            ),
            (
                "install.sh",
                "curl -o x https://a.b/c\nsha256sum -c x.sum\nsh x\n",
            ),
            ("README.md", "curl https://a.b/c | sh\n"),
        ],
    },
    TextRule {
        id: "shell-world-writable",
        domain: Domain::Security,
        label: Label::Medium,
        scope: Scope::Product,
        message: "Everybody on the machine may change these files",
        reason: "Any user or process can replace what is there, programs included.",
        suggestion: "Give the rights to the user or group that needs them.",
        find: world_writable,
        bad: &[
            ("run.sh", "chmod -R 777 /srv/app\n", &[1]),
            (
                "Dockerfile",
                "FROM a\nRUN mkdir /x && chmod a+rwx /x\n",
                &[2],
            ),
            ("Makefile", "install:\n\tchmod 0777 out\n", &[2]),
        ],
        good: &[
            ("run.sh", "chmod 755 x\nchmod 1777 /tmp/x\n"),
            ("run.sh", "# chmod 777 x\n"),
            ("Makefile", "install:\n\tchmod a+rx out\n"),
        ],
    },
    TextRule {
        id: "shell-delete-below-variable",
        domain: Domain::Correctness,
        label: Label::Medium,
        scope: Scope::Product,
        message: "If `{}` is empty, this deletes from the root",
        reason: "The shell puts nothing in the place of an empty variable, and what remains is `/`.",
        suggestion: "Write `${NAME:?}`, or stop at unset variables with `set -u`.",
        find: delete_below_variable,
        bad: &[
            ("run.sh", "rm -rf \"$TARGET/\"\n", &[1]),
            ("run.sh", "#!/bin/sh\nrm -rf ${TARGET}/*\n", &[2]),
        ],
        good: &[
            ("run.sh", "set -eu\nrm -rf \"$TARGET/\"\n"),
            ("run.sh", "rm -rf \"${TARGET:?}/\"\n"),
            ("run.sh", "TARGET=$(mktemp -d)\nrm -rf \"$TARGET/\"*\n"),
            ("run.sh", "rm -rf \"$TARGET/build\"\n"),
        ],
    },
];

pattern!(
    download,
    r#"\b(?:curl|wget)\b[^|;]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:/\S*/)?(?:bash|sh|zsh|dash|python3?|perl|ruby|node)(?:\s|$|["')])|\b(?:bash|sh|zsh|source|\.)\s+(?:-c\s+)?["']?[<$]\(\s*(?:curl|wget)\b|\beval\s+["']?\$\(\s*(?:curl|wget)\b"#
);
pattern!(
    writable,
    r"\bchmod\s+(?:-[a-zA-Z]+\s+|--\w+\s+)*(?:0?777|a\+rwx|ugo\+rwx|a=rwx)(?:\s|$)"
);
pattern!(
    delete_all,
    r#"\brm\s+(?:-\S+\s+)*-[a-zA-Z]*[rR]\S*\s+(?:-\S+\s+)*"?\$\{?([A-Za-z_]\w*)\}?"?/(?:\*|"|\s|;|$)"#
);

/// Tells whether a file holds commands for a shell.
pub(super) fn holds_commands(file: &TextFile<'_>) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    match file.nature {
        Nature::Config(Format::Shell | Format::Dockerfile | Format::Makefile) => true,
        Nature::Config(Format::Build) => name.to_ascii_lowercase().contains("just"),
        Nature::Config(Format::Yaml) => {
            file.path.contains(".github/")
                || file.path.contains(".circleci/")
                || name.ends_with("-ci.yml")
                || name.ends_with("pipelines.yml")
                || name.starts_with("action.y")
                || name.starts_with(".travis")
        }
        _ => false,
    }
}

/// Returns commands with their continuation lines: first row, last row, text.
pub(super) fn commands(file: &TextFile<'_>) -> Vec<(usize, usize, String)> {
    let mut all: Vec<(usize, usize, String)> = Vec::new();
    if !holds_commands(file) {
        return all;
    }
    let mut goes_on = false;
    for (row, line) in file.lines.iter().enumerate() {
        let (text, continues) = match line.trim_end().strip_suffix('\\') {
            Some(text) => (text, true),
            None => (*line, false),
        };
        match all.last_mut().filter(|_| goes_on) {
            Some((_, end, command)) if command.len() < 20_000 => {
                *end = row;
                command.push(' ');
                command.push_str(text.trim_start());
            }
            _ => all.push((row, row, text.to_owned())),
        }
        goes_on = continues;
    }
    all.retain(|(_, _, text)| {
        let start = text.trim_start().trim_start_matches(['@', '-', ' ', '\t']);
        let is_said = ["#", "echo ", "printf ", "print "]
            .iter()
            .any(|word| start.starts_with(word));
        !is_said
    });
    all
}

fn matching(file: &TextFile<'_>, pattern: &regex::Regex) -> Vec<Found> {
    let commands = commands(file).into_iter();
    let found = commands.filter(|(_, _, text)| pattern.is_match(text));
    let found = found.map(|(row, end, _)| Found {
        end,
        ..Found::at(row, 0)
    });
    found.collect()
}

fn download_and_run(file: &TextFile<'_>) -> Vec<Found> {
    matching(file, download())
}

fn world_writable(file: &TextFile<'_>) -> Vec<Found> {
    matching(file, writable())
}

fn delete_below_variable(file: &TextFile<'_>) -> Vec<Found> {
    if !matches!(file.nature, Nature::Config(Format::Shell)) {
        return Vec::new();
    }
    let is_strict = file.lines.iter().any(|line| {
        let line = line.trim();
        line.contains("nounset")
            || line.split_once("set -").is_some_and(|(before, after)| {
                let flags = after.split_whitespace().next().unwrap_or_default();
                !before.contains('#') && flags.contains('u')
            })
    });
    if is_strict {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (row, end, text) in commands(file) {
        let Some(found) = delete_all().captures(&text) else {
            continue;
        };
        let name = found.get(1).map_or("", |name| name.as_str());
        let is_set = |line: &&str| {
            line.contains(&format!("{name}=")) || line.contains(&format!("for {name} in"))
        };
        if !file.lines.iter().any(is_set) {
            all.push(Found {
                end,
                ..Found::at(row, 0).named(name)
            });
        }
    }
    all
}
