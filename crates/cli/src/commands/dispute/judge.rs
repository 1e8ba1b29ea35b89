//! `tribunal dispute judge`.

use tribunal_core::dispute::{Chooser, Dispute, DisputeState};
use tribunal_core::text::for_terminal;
use tribunal_engine::case::CaseError;

use super::{resolve, settled_engine, typed_id};
use crate::commands::ending;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::{Format, Invocation};
use crate::report;

/// Let the configured judge rule on a dispute
///
/// A fresh instance is shown both positions, the evidence, earlier rulings and the code, without the
/// names of the parties. It rules, or a human must: then the exit code is 5. With
/// `review.judge.panel` several judges sit, and more than half must agree.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal dispute judge d-9f8e\n  \
    tribunal --set review.judge.panel=3 dispute judge d-9f8e")]
pub(super) struct Judge {
    /// The dispute: its id, or the beginning or end of it
    dispute: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Asks the judge.
pub(super) async fn judge(invocation: &Invocation, args: &Judge) -> Result<Exit, CliError> {
    // A judge is started, so its settings must be trusted.
    invocation.settings(&[])?;
    let engine = settled_engine(invocation).await?;
    let before = resolve::Before::of(&engine, typed_id(&args.dispute)).await?;
    let id = &before.id;
    let format = if args.json {
        Format::Json
    } else {
        Format::Text
    };
    let mut reporter = invocation.reporter(format);
    let stream = engine.ledger().subscribe();
    let work = invocation.stoppable(&engine, Box::pin(engine.judge(id, Chooser::Human)));
    let judged = report::report_while(stream, reporter.as_mut(), work).await;
    match judged {
        Ok(dispute) => {
            let exit = resolve::tell(invocation, &engine, &dispute, &before, args.json).await?;
            if dispute.ruling().is_some() {
                return Ok(exit);
            }
            tell_escalation(invocation, &dispute);
            Ok(Exit::Inconclusive)
        }
        Err(CaseError::Parked { why, until }) => Err(ending::parked(&id.case(), &why, until)),
        Err(error) => Err(error.into()),
    }
}

fn tell_escalation(invocation: &Invocation, dispute: &Dispute) {
    if let DisputeState::AwaitingHuman { question } = &dispute.state {
        let id = &dispute.id;
        invocation.say(&format!(
            "A human must rule on dispute {id}: {}\n\
             Decide with `tribunal dispute resolve {id} --decision coder|reviewer|custom --notes …`",
            for_terminal(question)
        ));
    }
}
