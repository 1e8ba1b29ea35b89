//! `tribunal task add` and `edit`.

use serde_json::json;
use tribunal_core::task::{Actor, Brief, Priority, Task, TaskState};
use tribunal_core::text::for_terminal;
use tribunal_engine::Engine;
use tribunal_engine::task::{NewTask, Place};

use super::show::task_json;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Put a task on the list
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal task add \"Fix login bug\"\n  \
    tribunal task add \"Add OAuth\" --section Auth --depends c-1a2b --source docs/SPEC.md#oauth")]
pub(super) struct Add {
    /// The task in one line
    title: String,
    #[command(flatten)]
    brief: BriefArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Change what a task asks for
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal task edit c-1a2b --title \"Fix the login bug\" --priority high\n  \
    tribunal task edit c-1a2b --depends \"\"")]
pub(super) struct Edit {
    /// The task: its id, or the beginning or end of it
    task: String,
    /// The task in one line
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    brief: BriefArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct BriefArgs {
    /// What more there is to say
    #[arg(long, value_name = "TEXT")]
    details: Option<String>,
    /// The section it belongs to; a new task makes a section that does not exist yet
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// The file that specifies it, with an optional heading, such as `docs/SPEC.md#login`
    #[arg(long, value_name = "FILE[#HEADING]")]
    source: Option<String>,
    /// How urgent it is within its section: high, normal or low
    #[arg(long, value_name = "PRIORITY")]
    priority: Option<Priority>,
    /// Tasks that must be done before
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    depends: Option<Vec<String>>,
    /// The field it belongs to, by which a coder is chosen
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// Who does this; you if not given
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

impl BriefArgs {
    /// Writes what was said over `brief`. An empty text takes a value away.
    async fn apply(self, engine: &Engine, brief: &mut Brief) -> Result<(), CliError> {
        let some = |text: String| Some(text).filter(|text| !text.trim().is_empty());
        if let Some(details) = self.details {
            brief.details = details;
        }
        if let Some(section) = self.section {
            let section = some(section);
            if section != brief.section {
                // It goes to the end of the section that it comes to.
                (brief.section, brief.position) = (section, 0);
            }
        }
        if let Some(source) = self.source {
            brief.source = some(source);
        }
        if let Some(domain) = self.domain {
            brief.domain = some(domain);
        }
        if let Some(priority) = self.priority {
            brief.priority = priority;
        }
        if let Some(depends) = self.depends {
            brief.depends_on = Vec::new();
            for text in depends.iter().filter(|text| !text.trim().is_empty()) {
                brief.depends_on.push(engine.task(text).await?.task.id);
            }
        }
        Ok(())
    }
}

/// Adds the task.
pub(super) async fn add(invocation: &Invocation, args: Add) -> Result<Exit, CliError> {
    let engine = invocation.engine().await?;
    let mut brief = Brief {
        title: args.title,
        ..Brief::default()
    };
    let actor = Actor::Human {
        name: args.brief.by.clone(),
    };
    args.brief.apply(&engine, &mut brief).await?;
    if let Some(name) = &brief.section {
        let sections = engine.sections().await?;
        if sections.iter().all(|section| section.name != *name) {
            engine.add_section(name, Place::Last).await?;
        }
    }
    let new = NewTask {
        brief,
        state: TaskState::Pending,
        actor,
    };
    let task = engine.add_task(new).await?;
    tell(invocation, &task, "Added", args.json)
}

/// Changes the task.
pub(super) async fn edit(invocation: &Invocation, args: Edit) -> Result<Exit, CliError> {
    let engine = invocation.engine().await?;
    let task = engine.task(&args.task).await?.task;
    let mut brief = task.brief.clone();
    if let Some(title) = args.title {
        brief.title = title;
    }
    let actor = Actor::Human {
        name: args.brief.by.clone(),
    };
    args.brief.apply(&engine, &mut brief).await?;
    let task = engine.edit_task(&task.id, brief, actor).await?;
    tell(invocation, &task, "Changed", args.json)
}

/// Prints a task after something was done with it.
pub(super) fn tell(
    invocation: &Invocation,
    task: &Task,
    done: &str,
    json: bool,
) -> Result<Exit, CliError> {
    if json {
        invocation.print_json(&json!({ "schema": "tribunal.task.v1", "task": task_json(task) }))?;
        return Ok(Exit::Pass);
    }
    let (id, marker) = (&task.id, task.state.marker());
    let title = for_terminal(&task.brief.title);
    invocation.print(&format!("{done} {id}: [{marker}] {title}\n"))?;
    Ok(Exit::Pass)
}
