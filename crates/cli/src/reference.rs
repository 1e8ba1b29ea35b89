//! `docs/cli.md`: the command line as a page, made from the help texts and kept true by a test.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command};

use crate::args::whole_command;

#[test]
fn the_page_about_the_command_line_is_what_the_program_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/cli.md is out of date; run this test again with UPDATE=1"
    );
}

fn page() -> String {
    let mut root = whole_command().term_width(0);
    root.build();
    let mut text = String::from(
        "# Command line\n\nMade from the program's own help texts (`tribunal COMMAND --help`); \
         a test keeps it true.\n",
    );
    let global: Vec<&Arg> = shown(&root).filter(|arg| arg.is_global_set()).collect();
    text.push_str("\nEvery command takes these options:\n\n");
    arguments(&mut text, &global);
    if let Some(after) = root.get_after_help() {
        let _ = writeln!(text, "\n{after}");
    }
    for command in root.get_subcommands().filter(|one| is_shown(one)) {
        section(&mut text, command, "tribunal", &global);
    }
    text
}

fn section(text: &mut String, command: &Command, parent: &str, global: &[&Arg]) {
    let name = format!("{parent} {}", command.get_name());
    let level = name.split(' ').count();
    let _ = writeln!(text, "\n{} `{name}`", "#".repeat(level));
    let about = command.get_long_about().or_else(|| command.get_about());
    if let Some(about) = about {
        let _ = writeln!(text, "\n{}", about.to_string().trim_end());
    }
    let subcommands: Vec<&Command> = command
        .get_subcommands()
        .filter(|one| is_shown(one))
        .collect();
    if subcommands.is_empty() {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").trim();
        let _ = writeln!(text, "\n```text\n{usage}\n```");
    }
    let is_own = |arg: &Arg| global.iter().all(|one| one.get_id() != arg.get_id());
    let own: Vec<&Arg> = shown(command).filter(|arg| is_own(arg)).collect();
    if !own.is_empty() {
        text.push('\n');
        arguments(text, &own);
    }
    if let Some(after) = command.get_after_help() {
        for part in after.to_string().trim().split("\n\n") {
            let told = match part.split_once(":\n") {
                Some(("Examples" | "Example", lines)) => {
                    format!("```console\n{}\n```", unindented(lines))
                }
                _ => part.to_owned(),
            };
            let _ = writeln!(text, "\n{told}");
        }
    }
    for command in subcommands {
        section(text, command, &name, global);
    }
}

fn shown(command: &Command) -> impl Iterator<Item = &Arg> {
    let help =
        |arg: &&Arg| !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version");
    command.get_arguments().filter(help)
}

fn is_shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn arguments(text: &mut String, arguments: &[&Arg]) {
    text.push_str("| Argument | Meaning |\n| --- | --- |\n");
    for arg in arguments {
        let help = arg.get_long_help().or_else(|| arg.get_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let default: Vec<_> = arg
            .get_default_values()
            .iter()
            .map(|one| one.to_string_lossy())
            .collect();
        let default = match (default.as_slice(), arg.get_action().takes_values()) {
            ([], _) | (_, false) => String::new(),
            (values, true) => format!(" (default: `{}`)", values.join(" ")),
        };
        let words = format!("{help}{default}").replace('|', "\\|");
        let short = arg.get_short().map(|short| format!("-{short}, "));
        let name = format!("{}{arg}", short.unwrap_or_default()).replace('|', "\\|");
        let _ = writeln!(text, "| `{name}` | {words} |");
    }
}

/// Returns lines without the blanks that all of them begin with.
fn unindented(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.strip_prefix("  ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}
