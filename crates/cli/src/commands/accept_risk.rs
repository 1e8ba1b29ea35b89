//! `tribunal accept-risk`.

use tribunal_core::dispute::Basis;

use super::dismiss::{self, How};
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Accept the risk of a finding: the claim is true, and you take responsibility
///
/// Does what `tribunal dismiss` does, and puts on record that the finding is right and who accepts the
/// risk. It is shown in later reviews as `risk accepted until DATE by NAME` and does not count for
/// the gate. Reviewers are not blamed for it in `tribunal stats`. Take it back with
/// `tribunal dismiss --undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal accept-risk f-3c19a27e --why \"Internal tool, replaced in spring\" --expires 90d\n  \
    tribunal accept-risk c-1a2b3c4d5e/f-3c19 --why \"Only reachable from localhost\" --json")]
pub(crate) struct Args {
    /// The finding: its id or the beginning of it, of the newest review that has it, or CASE/ID
    finding: String,
    /// Why the risk can be accepted
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    why: String,
    #[command(flatten)]
    how: How,
}

/// Records that a risk is accepted.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let basis = Basis::RiskAccepted;
    dismiss::rule(invocation, &args.finding, args.why, basis, &args.how).await
}
