//! `tribunal export`.

use std::path::PathBuf;

use tribunal_engine::export::Exported;

use crate::commands::named;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Write everything about a case into one file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal export c-1a2b3c4d5e --output case.json\n  \
    tribunal export c-1a2b3c4d5e --format markdown")]
pub(crate) struct Args {
    /// The case: its id, or the beginning or end of it, or that of a dispute or finding
    case: String,
    /// The form of the file
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: ExportFormat,
    /// The file; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The forms in which a case can be exported.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ExportFormat {
    /// Events, runs, prompts and answers as one JSON object
    Json,
    /// A report to read
    Markdown,
}

/// Exports the case.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let (store, dir) = invocation.required_store(&args.case).await?;
    let record = named::case_of(store.as_ref(), &args.case).await?;
    let exported = Exported::read(store.as_ref(), &dir, &record).await?;
    let text = match args.format {
        ExportFormat::Json => format!("{:#}\n", exported.to_json()),
        ExportFormat::Markdown => exported.to_markdown(),
    };
    match args.output {
        None => invocation.print(&text)?,
        Some(path) => {
            let path = invocation.write_file(&path, &text)?;
            invocation.say(&format!("Wrote {}.", path.display()));
        }
    }
    Ok(Exit::Pass)
}
