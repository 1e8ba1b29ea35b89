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
    HostPattern, NetworkChoice, NetworkReach, SandboxChoice, SandboxDemand, SandboxMeans,
    SandboxRecord,
};

pub(crate) use bubblewrap::{BubblewrapCage, is_root};
pub(crate) use holds::SelfHolds;
pub use landlock::LEFT_BY_LANDLOCK;

/// What the settings say about the sandbox of a program, beside how much it is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxSpec {
    /// Places of the user that the program may read.
    pub readable: Vec<PathBuf>,
    /// Places of the user that the program may change.
    pub writable: Vec<PathBuf>,
    /// Places that do not exist inside, wherever they lie.
    pub hidden: Vec<PathBuf>,
    /// Further hosts that the program may reach where it is kept to those of its provider.
    pub hosts: Vec<HostPattern>,
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
        /// Why programs cannot be given a network of their own, where that is so.
        network_failure: Option<String>,
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
            Ok((program, network_failure)) => Self::Bubblewrap {
                program,
                network_failure,
            },
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
    pub fn meet(&self, demand: SandboxDemand, wish: &NetworkWish) -> Result<SandboxRecord, String> {
        let by = |means, holds| match holds {
            true => means,
            false => SandboxMeans::Nothing,
        };
        let (files, processes, limits_network, system_calls) = match (self, demand) {
            (_, SandboxDemand::Off) => return Ok(SandboxRecord::of_nothing(None)),
            (Self::Bubblewrap { program, .. }, SandboxDemand::Best | SandboxDemand::Require) => {
                let bubblewrap = SandboxMeans::Bubblewrap;
                let calls = by(
                    SandboxMeans::Seccomp,
                    holds::can_refuse_calls_around(program),
                );
                (bubblewrap, bubblewrap, bubblewrap, calls)
            }
            (Self::Landlock { version }, SandboxDemand::Best | SandboxDemand::Require) => {
                let processes = by(SandboxMeans::Landlock, *version >= landlock::WITH_SIGNALS);
                let calls = SandboxMeans::Seccomp;
                (SandboxMeans::Landlock, processes, calls, calls)
            }
            (Self::Nothing { reason }, SandboxDemand::Best) => {
                return Ok(SandboxRecord::of_nothing(Some(reason.clone())));
            }
            (Self::Nothing { reason }, SandboxDemand::Require) => return Err(reason.clone()),
        };
        let (network, network_reason) = self.limit_network(demand, wish)?;
        Ok(SandboxRecord {
            files,
            processes,
            network,
            network_by: network.is_limited().then_some(limits_network),
            network_reason,
            system_calls,
            reason: None,
        })
    }

    /// Returns what a program will reach over the network, with the reason if that is more than the user
    /// wants, or why it must not start.
    pub(crate) fn limit_network(
        &self,
        demand: SandboxDemand,
        wish: &NetworkWish,
    ) -> Result<(NetworkReach, Option<String>), String> {
        let wanted = match wish.choice {
            NetworkChoice::Open => return Ok((NetworkReach::Open, None)),
            NetworkChoice::Auto if !wish.hosts_are_known => return Ok((NetworkReach::Open, None)),
            NetworkChoice::None => NetworkReach::None,
            NetworkChoice::Provider | NetworkChoice::Auto => NetworkReach::Provider,
        };
        let failure = match (self, wanted) {
            (Self::Bubblewrap { .. }, NetworkReach::Provider) if wish.obstacle.is_some() => {
                wish.obstacle.clone()
            }
            (
                Self::Bubblewrap {
                    network_failure, ..
                },
                _,
            ) => network_failure.clone(),
            (Self::Landlock { .. }, NetworkReach::Provider) => {
                Some("only bubblewrap can keep programs to the hosts of their provider".to_owned())
            }
            (Self::Landlock { .. }, NetworkReach::None | NetworkReach::Open) => None,
            (Self::Nothing { reason }, _) => Some(reason.clone()),
        };
        match (failure, demand) {
            (None, _) => Ok((wanted, None)),
            // What was asked for in so many words is had or the program does not start.
            (Some(failure), SandboxDemand::Require) if wish.choice != NetworkChoice::Auto => {
                Err(format!("the network cannot be limited: {failure}"))
            }
            (Some(failure), _) => Ok((NetworkReach::Open, Some(failure))),
        }
    }
}

/// What the user wants of the network of one program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkWish {
    /// What the settings say.
    pub choice: NetworkChoice,
    /// Whether the hosts that the program needs are known.
    pub hosts_are_known: bool,
    /// What keeps our proxy from reaching them on this machine.
    pub obstacle: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_requires_a_sandbox_gets_one_or_nothing_starts() {
        use SandboxDemand::{Best, Off, Require};
        let able = SandboxAbility::Bubblewrap {
            program: PathBuf::from("/usr/bin/bwrap"),
            network_failure: None,
        };
        let second = SandboxAbility::Landlock { version: 5 };
        let unable = SandboxAbility::Nothing {
            reason: "`bwrap` was not found".to_owned(),
        };
        let held = |ability: &SandboxAbility, demand| {
            let wish = NetworkWish {
                choice: NetworkChoice::None,
                ..NetworkWish::default()
            };
            let record = ability.meet(demand, &wish)?;
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

    #[test]
    fn a_network_that_was_asked_for_is_had_or_its_absence_is_told() {
        use NetworkChoice::{Auto, None as Nothing, Open, Provider};
        use SandboxDemand::{Best, Require};
        let able = SandboxAbility::Bubblewrap {
            program: PathBuf::from("/usr/bin/bwrap"),
            network_failure: None,
        };
        let half = SandboxAbility::Bubblewrap {
            program: PathBuf::from("/usr/bin/bwrap"),
            network_failure: Some("no rights".to_owned()),
        };
        let second = SandboxAbility::Landlock { version: 6 };
        let unlike = "only bubblewrap can keep programs to the hosts of their provider";
        let told = |ability: &SandboxAbility, demand, choice, hosts_are_known| {
            let wish = NetworkWish {
                choice,
                hosts_are_known,
                obstacle: None,
            };
            match ability.limit_network(demand, &wish) {
                Ok((reach, None)) => format!("{reach:?}"),
                Ok((reach, Some(reason))) => format!("{reach:?}: {reason}"),
                Err(refused) => format!("refused: {refused}"),
            }
        };
        for (ability, demand, choice, is_known, expected) in [
            (&able, Best, Auto, true, "Provider".to_owned()),
            (&able, Require, Auto, false, "Open".to_owned()),
            (&able, Require, Provider, false, "Provider".to_owned()),
            (&able, Require, Nothing, true, "None".to_owned()),
            (&able, Require, Open, true, "Open".to_owned()),
            (&half, Best, Provider, true, "Open: no rights".to_owned()),
            (&half, Best, Nothing, true, "Open: no rights".to_owned()),
            (&half, Require, Auto, true, "Open: no rights".to_owned()),
            (
                &half,
                Require,
                Provider,
                true,
                "refused: the network cannot be limited: no rights".to_owned(),
            ),
            (&second, Best, Auto, true, format!("Open: {unlike}")),
            (&second, Best, Provider, true, format!("Open: {unlike}")),
            (&second, Require, Nothing, true, "None".to_owned()),
            (
                &second,
                Require,
                Provider,
                true,
                format!("refused: the network cannot be limited: {unlike}"),
            ),
        ] {
            let found = told(ability, demand, choice, is_known);
            assert_eq!(found, expected, "{demand:?} {choice:?}");
        }
    }
}
