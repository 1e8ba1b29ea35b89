//! Keeps a program away from the rest of the machine while it runs.
//!
//! A program that reads text from strangers may be talked into anything. Inside the sandbox it finds
//! the system, its own toolchain and its own work place; the user's home, keys and other projects do
//! not exist there, and nothing outlives the run.

mod bubblewrap;
mod holds;
mod landlock;
mod seccomp;

use std::path::PathBuf;
use std::sync::OnceLock;

use tribunal_core::sandbox::{
    NetworkReach, SandboxChoice, SandboxDemand, SandboxMeans, SandboxRecord,
};

pub(crate) use bubblewrap::{BubblewrapCage, is_root};
pub(crate) use holds::SelfHolds;

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
    /// Which means the user wants.
    pub means: SandboxChoice,
}

/// What this machine can confine programs with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxAbility {
    /// bubblewrap works.
    Bubblewrap {
        /// The program.
        program: PathBuf,
    },
    /// Landlock works, and system calls can be refused.
    Landlock {
        /// The version of the kernel's interface.
        version: i32,
    },
    /// Nothing works.
    Nothing {
        /// Why, as a part of a sentence.
        reason: String,
    },
}

impl SandboxAbility {
    /// Returns the best that this machine can do among what the user chose. Each means is tried once in
    /// the life of this process, so that it stays the same for all runs.
    #[must_use]
    pub fn of_this_machine(choice: SandboxChoice) -> Self {
        match choice {
            SandboxChoice::Auto => match (Self::bubblewrap(), Self::landlock()) {
                (Self::Nothing { reason: first }, Self::Nothing { reason: second }) => {
                    let reason = format!("{first}, and {second}");
                    Self::Nothing { reason }
                }
                (Self::Nothing { .. }, second) => second,
                (first, _) => first,
            },
            SandboxChoice::Bubblewrap => Self::bubblewrap(),
            SandboxChoice::Landlock => Self::landlock(),
        }
    }

    fn bubblewrap() -> Self {
        static ABILITY: OnceLock<SandboxAbility> = OnceLock::new();
        let probe = || match bubblewrap::probe() {
            Ok(program) => Self::Bubblewrap { program },
            Err(reason) => Self::Nothing { reason },
        };
        ABILITY.get_or_init(probe).clone()
    }

    fn landlock() -> Self {
        static ABILITY: OnceLock<SandboxAbility> = OnceLock::new();
        let probe = || match landlock::supported_version() {
            Ok(version) if seccomp::is_available() => Self::Landlock { version },
            Ok(_) => Self::Nothing {
                reason: "the kernel cannot refuse system calls (seccomp)".to_owned(),
            },
            Err(reason) => Self::Nothing { reason },
        };
        ABILITY.get_or_init(probe).clone()
    }

    /// Returns what will hold a program of which the user demands `demand`, or why it must not start.
    pub fn meet(
        &self,
        demand: SandboxDemand,
        network: NetworkReach,
    ) -> Result<SandboxRecord, String> {
        let by = |means, holds| match holds {
            true => means,
            false => SandboxMeans::Nothing,
        };
        match (self, demand) {
            (_, SandboxDemand::Off) => Ok(SandboxRecord::of_nothing(None)),
            (Self::Bubblewrap { program }, SandboxDemand::Best | SandboxDemand::Require) => {
                Ok(SandboxRecord {
                    files: SandboxMeans::Bubblewrap,
                    processes: SandboxMeans::Bubblewrap,
                    network,
                    network_by: network.is_limited().then_some(SandboxMeans::Bubblewrap),
                    system_calls: by(
                        SandboxMeans::Seccomp,
                        holds::can_refuse_calls_around(program),
                    ),
                    reason: None,
                })
            }
            (Self::Landlock { version }, SandboxDemand::Best | SandboxDemand::Require) => {
                Ok(SandboxRecord {
                    files: SandboxMeans::Landlock,
                    processes: by(SandboxMeans::Landlock, *version >= landlock::WITH_SIGNALS),
                    network,
                    network_by: network.is_limited().then_some(SandboxMeans::Seccomp),
                    system_calls: SandboxMeans::Seccomp,
                    reason: None,
                })
            }
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
        let second = SandboxAbility::Landlock { version: 5 };
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
        let landlocked = Ok((SandboxMeans::Landlock, NetworkReach::None, None));
        assert_eq!(held(&second, Best), landlocked);
        assert_eq!(held(&second, Require), landlocked);
        assert_eq!(held(&unable, Off), nothing(None));
        assert_eq!(held(&unable, Best), nothing(Some("`bwrap` was not found")));
        assert_eq!(
            held(&unable, Require),
            Err("`bwrap` was not found".to_owned())
        );
    }
}
