//! Keeps a program away from the rest of the machine while it runs.
//!
//! A program that reads text from strangers may be talked into anything. Inside the sandbox it finds
//! the system, its own toolchain and its own work place; the user's home, keys and other projects do
//! not exist there, and nothing outlives the run.

mod bubblewrap;

use std::path::PathBuf;
use std::sync::OnceLock;

use tribunal_core::sandbox::{NetworkReach, SandboxDemand, SandboxMeans, SandboxRecord};

pub(crate) use bubblewrap::{BubblewrapCage, is_root};

/// What the settings say about the sandbox of a program, beside how much it is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxSpec {
    /// Places of the user that the program may read.
    pub readable: Vec<PathBuf>,
    /// Places of the user that the program may change.
    pub writable: Vec<PathBuf>,
    /// Places that do not exist inside, wherever they lie.
    pub hidden: Vec<PathBuf>,
    /// What the program may reach over the network.
    pub network: NetworkReach,
}

/// What this machine can confine programs with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxAbility {
    /// bubblewrap works.
    Bubblewrap {
        /// The program.
        program: PathBuf,
    },
    /// Nothing works.
    Nothing {
        /// Why, as a part of a sentence.
        reason: String,
    },
}

impl SandboxAbility {
    /// Returns what this machine can do. It is tried once in the life of this process.
    #[must_use]
    pub fn of_this_machine() -> &'static Self {
        static ABILITY: OnceLock<SandboxAbility> = OnceLock::new();
        ABILITY.get_or_init(bubblewrap::probe)
    }

    /// Returns what will hold a program of which the user demands `demand`, or why it must not start.
    pub fn meet(
        &self,
        demand: SandboxDemand,
        network: NetworkReach,
    ) -> Result<SandboxRecord, String> {
        match (self, demand) {
            (_, SandboxDemand::Off) => Ok(SandboxRecord::of_nothing(None)),
            (Self::Bubblewrap { .. }, _) => Ok(SandboxRecord {
                files: SandboxMeans::Bubblewrap,
                processes: SandboxMeans::Bubblewrap,
                network,
                reason: None,
            }),
            (Self::Nothing { reason }, SandboxDemand::Best) => {
                Ok(SandboxRecord::of_nothing(Some(reason.clone())))
            }
            (Self::Nothing { reason }, SandboxDemand::Require) => Err(reason.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_requires_a_sandbox_gets_one_or_nothing_starts() {
        use SandboxDemand::{Best, Off, Require};
        let able = SandboxAbility::Bubblewrap {
            program: PathBuf::from("/usr/bin/bwrap"),
        };
        let unable = SandboxAbility::Nothing {
            reason: "`bwrap` was not found".to_owned(),
        };
        let held = |ability: &SandboxAbility, demand| {
            let record = ability.meet(demand, NetworkReach::None)?;
            Ok((record.files, record.network, record.reason))
        };
        let nothing = |reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            Ok::<_, String>((SandboxMeans::Nothing, NetworkReach::Open, reason))
        };
        let caged = Ok((SandboxMeans::Bubblewrap, NetworkReach::None, None));
        assert_eq!(held(&able, Off), nothing(None));
        assert_eq!(held(&able, Best), caged);
        assert_eq!(held(&able, Require), caged);
        assert_eq!(held(&unable, Off), nothing(None));
        assert_eq!(held(&unable, Best), nothing(Some("`bwrap` was not found")));
        assert_eq!(
            held(&unable, Require),
            Err("`bwrap` was not found".to_owned())
        );
    }
}
