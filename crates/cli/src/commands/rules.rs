//! `tribunal rules`.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tribunal_core::review::rule_level::RuleLevels;
use tribunal_core::text::for_terminal;
use tribunal_engine::rules::{
    CatalogRule, Domain, RuleExample, Scope, builtin_catalog, did_you_mean, nearest_ids,
    project_rules,
};

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::review::legible;
use crate::report::{stdout_width, wrapped};

/// List the rules of the built-in reviewers and of the project, or show one
///
/// The level is what your settings say (`review.rules`), else the one that the rule comes with. A
/// project's own rules are those in `.tribunal/rules`. Nothing is started and nothing is recorded.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    tribunal rules\n  \
    tribunal rules show python-eval\n  \
    tribunal config set review.rules.python-eval low"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List all rules: id, level, reviewer, files and reason
    List(List),
    /// Show one rule: reason, fix, examples, and how to change or silence it
    Show(Show),
}

#[derive(Debug, clap::Args)]
struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Show {
    /// The rule, as reports name it
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists or shows.
pub(crate) fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let rules = all_rules(invocation);
    let levels = levels(invocation);
    match args.action {
        None => list(invocation, &args.list, &rules, &levels),
        Some(Action::List(args)) => list(invocation, &args, &rules, &levels),
        Some(Action::Show(args)) => show(invocation, &args, &rules, &levels),
    }
}

fn all_rules(invocation: &Invocation) -> Vec<CatalogRule> {
    let own = project_rules(&invocation.sources(&[]).project().root);
    for problem in own.problems {
        invocation.say(&format!("Warning: {problem}."));
    }
    builtin_catalog().into_iter().chain(own.rules).collect()
}

/// Returns the levels that the settings change. Whoever has a mistake in `review.rules` looks for the
/// right id here, so broken settings are only mentioned.
fn levels(invocation: &Invocation) -> RuleLevels {
    match invocation.settings_as_written() {
        Ok(loaded) => loaded.settings.review.rules,
        Err(error) => {
            let why = error.message();
            invocation.say(&format!(
                "Warning: the settings cannot be used, so the levels are those that the rules come \
                 with: {why}"
            ));
            RuleLevels::new()
        }
    }
}

fn list(
    invocation: &Invocation,
    args: &List,
    rules: &[CatalogRule],
    levels: &RuleLevels,
) -> Result<Exit, CliError> {
    if args.json {
        let rules: Vec<Value> = rules
            .iter()
            .map(|rule| {
                let mut value = as_json(rule, levels);
                if let Some(fields) = value.as_object_mut() {
                    fields.retain(|name, _| !matches!(name.as_str(), "bad" | "good"));
                }
                value
            })
            .collect();
        invocation.print_json(&json!({ "schema": "tribunal.rules.v1", "rules": rules }))?;
        return Ok(Exit::Pass);
    }
    let mut table = invocation.table(&["RULE", "LEVEL", "REVIEWER", "FILES", "REASON"]);
    for rule in rules {
        let reason = match rule.info.reason.as_str() {
            "" => &rule.info.message,
            reason => reason,
        };
        table.add_row([
            one_line(&rule.info.id),
            level(rule, levels).to_owned(),
            rule.info.domain.to_string(),
            rule.files.clone(),
            one_line(reason),
        ]);
    }
    invocation.print(&format!("{table}\n"))?;
    invocation.say(&format!(
        "{} rules. `tribunal rules show RULE` explains one.",
        rules.len()
    ));
    Ok(Exit::Pass)
}

fn show(
    invocation: &Invocation,
    args: &Show,
    rules: &[CatalogRule],
    levels: &RuleLevels,
) -> Result<Exit, CliError> {
    let Some(rule) = rules.iter().find(|rule| rule.info.id == args.id) else {
        return Err(unknown(&args.id, rules));
    };
    if args.json {
        let rule = as_json(rule, levels);
        invocation.print_json(&json!({ "schema": "tribunal.rule.v1", "rule": rule }))?;
    } else {
        invocation.print(&wrapped(&as_text(rule, levels), stdout_width()))?;
    }
    Ok(Exit::Pass)
}

fn unknown(id: &str, rules: &[CatalogRule]) -> CliError {
    let near = nearest_ids(id, rules.iter().map(|rule| rule.info.id.as_str()));
    let error = CliError::new(Exit::NotFound, format!("there is no rule `{id}`"));
    let error = match did_you_mean(&near) {
        Some(question) => error.hint(question.replacen('d', "D", 1)),
        None => error,
    };
    error.hint("`tribunal rules` lists all rules")
}

/// Returns the level that counts now.
fn level<'r>(rule: &'r CatalogRule, levels: &RuleLevels) -> &'r str {
    match levels.get(&rule.info.id) {
        Some(level) => level.as_str(),
        None => default_level(rule),
    }
}

fn default_level(rule: &CatalogRule) -> &'static str {
    rule.info.label.severity().as_str()
}

fn as_json(rule: &CatalogRule, levels: &RuleLevels) -> Value {
    let mut value = serde_json::to_value(rule).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        // A rule may have several languages, which are all in `languages`.
        fields.shift_remove("language");
        fields.insert("level".to_owned(), json!(level(rule, levels)));
        fields.insert("default_level".to_owned(), json!(default_level(rule)));
        let key = format!("review.rules.{}", rule.info.id);
        fields.insert("setting".to_owned(), json!(key));
    }
    value
}

fn as_text(rule: &CatalogRule, levels: &RuleLevels) -> String {
    let info = &rule.info;
    let id = one_line(&info.id);
    let label = match info.label.as_str() {
        label if label.eq_ignore_ascii_case(default_level(rule)) => String::new(),
        label => format!(" (label {label})"),
    };
    let level = match levels.get(&info.id) {
        Some(level) => format!(
            "{level}, by `review.rules`; the rule comes with {}{label}",
            default_level(rule)
        ),
        None => format!("{}{label}", default_level(rule)),
    };
    let reviewer = match info.domain {
        Domain::Project => "the project's own rule".to_owned(),
        domain => format!("builtin:{domain}"),
    };
    let place = match info.scope {
        Scope::Anywhere => "",
        Scope::Product if info.domain == Domain::Security => "; in tests at level low",
        Scope::Product => ", except in tests",
        Scope::Tests => ", in tests only",
    };
    let mut text = format!(
        "{id}\n  {}\n\nLevel     {level}\nReviewer  {reviewer}\nFiles     {}{place}\n",
        one_line(&info.message),
        rule.files,
    );
    for (heading, words) in [
        ("Why", Some(&info.reason)),
        ("How to fix it", Some(&info.suggestion)),
        ("What it cannot see", info.doubt.as_ref()),
    ] {
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            let _ = write!(text, "\n{heading}\n  {}\n", one_line(words));
        }
    }
    example(&mut text, "It reports", rule.bad.first());
    example(&mut text, "It does not report", rule.good.first());
    let _ = write!(
        text,
        "\nChange its level, or switch it off\n  \
         tribunal config set review.rules.{id} off\n  \
         The levels are off, low, medium and high. By default, high blocks.\n\
         \nSilence one finding\n  \
         tribunal dismiss FINDING --why TEXT\n  \
         or a comment on its line or the line above: tribunal-ignore {id}: the reason\n  \
         A comment counts once the default branch has it, not in the change that adds it.\n"
    );
    text
}

fn example(text: &mut String, heading: &str, example: Option<&RuleExample>) {
    let Some(example) = example else {
        return;
    };
    let _ = write!(text, "\n{heading} (in {})\n", example.path);
    for (number, line) in (1..).zip(example.text.lines()) {
        let mark = match example.lines.contains(&number) {
            true => '>',
            false => ' ',
        };
        let _ = writeln!(text, "  {mark} {}", legible(line));
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    for_terminal(&words.join(" ")).into_owned()
}
