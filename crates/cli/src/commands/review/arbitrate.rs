//! The options of `tribunal review --arbitrate`.

use std::path::PathBuf;

use tribunal_engine::review::{ArbitrationWish, OfferWish, Prompting};

use crate::invocation::Invocation;

/// What is typed about arbitration.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ArbitrateArgs {
    /// Put the findings to a coder, have disputes ruled on, and check the result
    #[arg(long)]
    arbitrate: bool,
    /// Let this agent be the coder, not the one whose domain fits or the first
    #[arg(long, value_name = "NAME", requires = "arbitrate")]
    coder: Option<String>,
    /// How to hand the coder's work over: `branch`, or `patch=FILE`
    #[arg(long, value_name = "HOW", requires = "arbitrate", value_parser = parse_offer)]
    offer: Option<OfferWish>,
    /// Write the coder's work into your files, if they are still as reviewed
    #[arg(long, requires = "arbitrate", conflicts_with_all = ["offer", "staged"])]
    apply: bool,
}

impl ArbitrateArgs {
    /// Returns what is wished for, if anything.
    pub(super) fn wish(self, invocation: &Invocation) -> Option<ArbitrationWish> {
        if !self.arbitrate {
            return None;
        }
        let offer = match (self.apply, self.offer) {
            (true, _) => OfferWish::Apply,
            (false, None) => OfferWish::Branch,
            (false, Some(OfferWish::Patch { file })) => OfferWish::Patch {
                file: invocation.path(&file),
            },
            (false, Some(other)) => other,
        };
        Some(ArbitrationWish {
            coder: self.coder,
            offer,
            prompting: Prompting::AsConfigured,
        })
    }
}

fn parse_offer(text: &str) -> Result<OfferWish, String> {
    match text.split_once('=') {
        None if text == "branch" => Ok(OfferWish::Branch),
        Some(("patch", file)) if !file.is_empty() => Ok(OfferWish::Patch {
            file: PathBuf::from(file),
        }),
        _ => Err("write `branch` or `patch=FILE`".to_owned()),
    }
}
