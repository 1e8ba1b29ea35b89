//! `tribunal section`.

use serde_json::json;
use tribunal_core::text::for_terminal;
use tribunal_engine::task::Place;

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Keep the sections of the task list in order
///
/// Tasks are worked on section by section. Those without a section come first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal section add Auth\n  \
    tribunal section add Setup --before Auth\n  \
    tribunal section rename Auth Login\n  \
    tribunal section list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a section
    Add {
        /// Its name
        name: String,
        /// Put it before this section; it comes last if not given
        #[arg(long, value_name = "NAME")]
        before: Option<String>,
    },
    /// List the sections in order
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a section another name; its tasks go with it
    Rename {
        /// The section
        name: String,
        /// Its name from now on
        to: String,
    },
    /// Put a section before another one, or last
    Move {
        /// The section
        name: String,
        /// Put it before this section; it comes last if not given
        #[arg(long, value_name = "NAME")]
        before: Option<String>,
    },
    /// Remove a section in which no task stands
    Remove {
        /// The section
        name: String,
    },
}

/// Carries out one of the commands.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let place = |before: Option<String>| before.map_or(Place::Last, Place::Before);
    let said = match args.command {
        Command::List { json } => return list(invocation, json).await,
        Command::Add { name, before } => {
            let engine = invocation.engine().await?;
            let section = engine.add_section(&name, place(before)).await?;
            format!("Added section {}", section.name)
        }
        Command::Rename { name, to } => {
            let engine = invocation.engine().await?;
            let changed = engine.change_section(&name, Some(&to), Place::Same).await?;
            format!("Section {name} is called {} now", changed.name)
        }
        Command::Move { name, before } => {
            let engine = invocation.engine().await?;
            let moved = engine.change_section(&name, None, place(before)).await?;
            format!("Moved section {}", moved.name)
        }
        Command::Remove { name } => {
            invocation.engine().await?.remove_section(&name).await?;
            format!("Removed section {name}")
        }
    };
    invocation.print(&format!("{}\n", for_terminal(&said)))?;
    Ok(Exit::Pass)
}

async fn list(invocation: &Invocation, json: bool) -> Result<Exit, CliError> {
    let (sections, tasks) = match invocation.existing_store().await? {
        Some(store) => (store.sections().await?, store.tasks().await?),
        None => (Vec::new(), Vec::new()),
    };
    let counted = |name: &str| {
        let inside = tasks
            .iter()
            .filter(|record| record.task.brief.section.as_deref() == Some(name));
        let settled = inside
            .clone()
            .filter(|record| record.task.state.is_settled());
        (settled.count(), inside.count())
    };
    if json {
        let sections: Vec<_> = sections
            .iter()
            .map(|section| {
                let (settled, tasks) = counted(&section.name);
                json!({ "id": section.id, "name": section.name, "position": section.position,
                    "tasks": tasks, "settled": settled })
            })
            .collect();
        invocation
            .print_json(&json!({ "schema": "tribunal.sections.v1", "sections": sections }))?;
        return Ok(Exit::Pass);
    }
    if sections.is_empty() {
        invocation.say("There are no sections. Make one with `tribunal section add NAME`.");
        return Ok(Exit::Pass);
    }
    let mut table = invocation.table(&["SECTION", "SETTLED", "TASKS"]);
    for section in &sections {
        let (settled, tasks) = counted(&section.name);
        let name = for_terminal(&section.name).into_owned();
        table.add_row([name, settled.to_string(), tasks.to_string()]);
    }
    invocation.print(&format!("{table}\n"))?;
    Ok(Exit::Pass)
}
