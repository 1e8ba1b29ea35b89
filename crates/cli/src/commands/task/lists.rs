//! `tribunal task import` and `export`.

use std::path::{Path, PathBuf};

use serde_json::json;
use tribunal_core::task::Actor;
use tribunal_core::task::list::Ids;
use tribunal_core::text::for_terminal;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// A longer list is refused.
const MOST_BYTES: u64 = 10 << 20;

/// Take over a Markdown list, such as `- [ ] Fix login bug` under headings
///
/// A line means the task whose id stands in a comment at its end, else the task of the same file,
/// section and title; any other line is a new task. Importing again changes nothing; a marker that
/// was changed in the file moves its task. Below a task, indented, `source: docs/SPEC.md#login`,
/// `priority: high`, `domain: backend` and `after: TITLE` are understood; other lines are details.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tribunal task import TASKS.md")]
pub(super) struct Import {
    /// The list
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Write the markers of today into a Markdown list
///
/// In a file that exists only the character between the brackets changes; tasks that are not there
/// yet are added to their sections. Without a file the list is printed, and the file that tasks were
/// imported from is the pattern.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tribunal task export TASKS.md\n  tribunal task export > TASKS.md"
)]
pub(super) struct Export {
    /// The list to be written
    file: Option<PathBuf>,
    /// Write the ids of tasks as comments, so that their titles may be changed in the list
    #[arg(long)]
    ids: bool,
}

/// Imports the list.
pub(super) async fn import(invocation: &Invocation, args: Import) -> Result<Exit, CliError> {
    let text = read(invocation, &args.file)?;
    let name = name_of(invocation, &args.file)?;
    let engine = invocation.engine().await?;
    let actor = Actor::Human { name: None };
    let done = engine.import_list(&name, &text, actor).await?;
    if args.json {
        let mut json = json!(done);
        json["schema"] = json!("tribunal.import.v1");
        json["file"] = json!(name);
        invocation.print_json(&json)?;
        return Ok(Exit::Pass);
    }
    let (added, edited, moved) = (done.added.len(), done.edited.len(), done.moved.len());
    let unchanged = done.unchanged;
    let text =
        format!("{added} added, {edited} changed, {moved} moved, {unchanged} as they were\n");
    invocation.print(&text)?;
    for notice in &done.notices {
        invocation.say(&format!("{}.", for_terminal(notice)));
    }
    for problem in &done.problems {
        invocation.say(&format!("Note: {}", for_terminal(problem)));
    }
    if !done.missing.is_empty() {
        let ids: Vec<&str> = done.missing.iter().map(|id| id.as_str()).collect();
        invocation.say(&format!(
            "Note: no longer in the file, left as they are: {}",
            ids.join(", ")
        ));
    }
    Ok(Exit::Pass)
}

/// Exports the list.
pub(super) async fn export(invocation: &Invocation, args: Export) -> Result<Exit, CliError> {
    let engine = invocation.engine().await?;
    let ids = match args.ids {
        true => Ids::Written,
        false => Ids::AsTheyAre,
    };
    let tasks = engine.tasks().await?;
    if tasks.is_empty() {
        invocation.say("There are no tasks, so nothing was exported.");
        return Ok(Exit::Pass);
    }
    let Some(file) = &args.file else {
        let mut lists = tasks
            .iter()
            .filter_map(|record| record.task.brief.list.as_ref());
        let first = lists.next().map(|list| list.file.clone());
        let only = first.filter(|first| lists.all(|list| list.file == *first));
        let (name, text) = match only {
            Some(name) => {
                let path = project(invocation)?.join(&name);
                let text = if path.exists() {
                    read(invocation, &path)?
                } else {
                    String::new()
                };
                (name, text)
            }
            None => (String::new(), String::new()),
        };
        invocation.print(&engine.export_list(&name, &text, ids).await?)?;
        return Ok(Exit::Pass);
    };
    let path = invocation.path(file);
    let old = if path.exists() {
        read(invocation, file)?
    } else {
        String::new()
    };
    let name = name_of(invocation, file)?;
    let new = engine.export_list(&name, &old, ids).await?;
    if new != old {
        invocation.write_file(file, &new)?;
    }
    let actor = Actor::Human { name: None };
    engine.note_exported(&name, &new, actor).await?;
    let said = if new == old {
        "is up to date"
    } else {
        "was written"
    };
    invocation.say(&format!("{} {said}.", for_terminal(&name)));
    Ok(Exit::Pass)
}

/// Returns the directory of the project, or where the user stands.
fn project(invocation: &Invocation) -> Result<PathBuf, CliError> {
    let loaded = invocation.settings_without_trust()?;
    Ok(loaded.project.unwrap_or_else(|| invocation.cwd.clone()))
}

/// Returns the name under which a list is known: its path within the project.
fn name_of(invocation: &Invocation, file: &Path) -> Result<String, CliError> {
    let path = invocation.path(file);
    let whole = path.canonicalize().unwrap_or(path);
    let project = project(invocation)?;
    let project = project.canonicalize().unwrap_or(project);
    let name = whole.strip_prefix(&project).unwrap_or(&whole);
    Ok(name.display().to_string())
}

fn read(invocation: &Invocation, file: &Path) -> Result<String, CliError> {
    let path = invocation.path(file);
    let failed = |error: std::io::Error| CliError::unreadable(file, &error);
    let size = std::fs::metadata(&path).map_err(failed)?.len();
    if size > MOST_BYTES {
        let text = format!("{} is larger than 10 MiB", file.display());
        return Err(CliError::new(Exit::Usage, text));
    }
    std::fs::read_to_string(&path).map_err(failed)
}
