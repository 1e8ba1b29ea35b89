//! What a process lays upon itself before it becomes a program.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tribunal_core::sandbox::NetworkReach;

use super::bubblewrap::BubblewrapCage;
use super::landlock::{self, LandlockRules};
use super::seccomp::{self, SocketRules, SystemCallRules};

/// What a process lays upon itself before it becomes a program. It cannot be taken off again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelfHolds {
    /// What it may reach.
    landlock: Option<LandlockRules>,
    /// What it may ask of the system.
    calls: Option<SystemCallRules>,
}

impl SelfHolds {
    /// Returns what holds bubblewrap and everything inside it.
    pub(crate) fn around_bubblewrap(program: &Path) -> Self {
        let rules = SystemCallRules {
            may_make_namespaces: true,
            sockets: SocketRules::All,
            may_truncate: true,
        };
        Self {
            landlock: None,
            calls: can_refuse_calls_around(program).then_some(rules),
        }
    }

    /// Returns what holds a program that finds the same as in `cage` without bubblewrap.
    pub(crate) fn by_landlock(cage: &BubblewrapCage, version: i32) -> Self {
        let sockets = match cage.network {
            NetworkReach::None => SocketRules::Nothing,
            // bubblewrap alone can keep a program to some hosts, and then this is not asked.
            NetworkReach::Provider => SocketRules::Nothing,
            NetworkReach::Open => SocketRules::Internet,
        };
        Self {
            landlock: Some(LandlockRules::of(cage, version, None)),
            calls: Some(SystemCallRules {
                may_make_namespaces: false,
                sockets,
                may_truncate: version >= landlock::WITH_TRUNCATION,
            }),
        }
    }

    /// Tells whether there is nothing to lay on.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Lays everything upon this process. What does not take hold is an error.
    pub(crate) fn lay_on(&self) -> io::Result<()> {
        if let Some(rules) = &self.landlock {
            rules.restrict()?;
            give_up_capabilities()?;
        }
        if let Some(rules) = self.calls {
            rules.refuse()?;
        }
        Ok(())
    }
}

/// Tells whether system calls can be refused to bubblewrap. One that gains rights when it is started would
/// not gain them any more.
pub(super) fn can_refuse_calls_around(program: &Path) -> bool {
    const GAINS_RIGHTS: u32 = 0o6000;
    let metadata = std::fs::metadata(program);
    seccomp::is_available() && metadata.is_ok_and(|found| found.mode() & GAINS_RIGHTS == 0)
}

/// Gives up the rights of root. What a process has given up does not come back with a program that it
/// starts, because it may gain no rights any more.
#[cfg(target_os = "linux")]
fn give_up_capabilities() -> io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, none)?)
}

#[cfg(not(target_os = "linux"))]
fn give_up_capabilities() -> io::Result<()> {
    Ok(())
}
