//! The sandbox made of rules that a process lays upon itself: what Landlock lets a program reach.
//!
//! Landlock knows only what is allowed. Where bubblewrap covers a place with an empty one, here
//! everything beside that place gets a rule. Whoever is held keeps what it has open and can still look
//! at names it guesses; `docs/sandbox.md` lists what that leaves.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bubblewrap::{
    BubblewrapCage, EMPTIED, MASKED, TOOLCHAIN_SECRETS, TOOLCHAINS, real_path,
};

/// What Landlock alone does not stop and bubblewrap does. `docs/sandbox.md` says more of each.
pub const LEFT_BY_LANDLOCK: [&str; 7] = [
    "The arguments of other programs can be read",
    "Whether a file is there, how large and how old it is",
    "The mode of your files can be changed",
    "The times of your files can be changed",
    "Your other programs can be made slower",
    "Before Linux 6.12, signals can be sent to your other programs",
    "The network of a program cannot be limited to its provider",
];

/// Devices that every program may use.
const DEVICES: [&str; 8] = [
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/random",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// The first version that can keep programs from reaching ports.
pub(super) const WITH_PORTS: i32 = 4;

/// The first version that can keep programs from sending signals to others.
pub(super) const WITH_SIGNALS: i32 = 6;

/// The first version that keeps programs from cutting files short that they cannot write.
pub(super) const WITH_TRUNCATION: i32 = 3;

/// What one program may reach, as it travels to the process that becomes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LandlockRules {
    /// Version of the kernel's interface. What it can do must take hold, or the program does not start.
    version: i32,
    /// Places to read and to start programs from.
    readable: Vec<PathBuf>,
    /// Places to change.
    writable: Vec<PathBuf>,
    /// The only ports that can be reached over TCP, where that is limited.
    ports: Option<Vec<u16>>,
}

impl LandlockRules {
    /// Returns the rules that let a program find the same as in `cage`, as far as rules can.
    pub(crate) fn of(cage: &BubblewrapCage, version: i32, ports: Option<Vec<u16>>) -> Self {
        Self {
            version,
            readable: readable_places(cage),
            writable: cage.writable.iter().map(|place| real_path(place)).collect(),
            ports,
        }
    }
}

/// Returns the places that can be read, without those that lie in others.
fn readable_places(cage: &BubblewrapCage) -> Vec<PathBuf> {
    let home = cage.user_home.as_deref().map(real_path);
    let secrets = home.iter().flat_map(|home| {
        let secrets = TOOLCHAIN_SECRETS.iter();
        secrets.map(|secret| home.join(secret))
    });
    let hidden = cage.hidden.iter().map(|place| real_path(place));
    let withheld: BTreeSet<PathBuf> = hidden.chain(secrets).collect();

    let mut system = withheld.clone();
    system.extend(EMPTIED.iter().chain(&MASKED).map(PathBuf::from));
    // Disks are devices, and root can read them.
    system.insert(PathBuf::from("/dev"));
    system.extend(home.clone());
    let mut places = Vec::new();
    grant(Path::new("/"), &system, &mut places);

    for place in cage.places_brought_back() {
        grant(&real_path(&place), &withheld, &mut places);
    }
    places.extend(cage.own_readable.iter().map(|place| real_path(place)));
    // A rule is a line of text on its way to the program.
    places.retain(|place| place.to_str().is_some());
    places
}

/// Lets `place` be read, but for what is `withheld`.
fn grant(place: &Path, withheld: &BTreeSet<PathBuf>, places: &mut Vec<PathBuf>) {
    if withheld.contains(place) || !place.exists() {
        return;
    }
    if !withheld.iter().any(|other| other.starts_with(place)) {
        places.push(place.to_owned());
        return;
    }
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    for entry in entries {
        // What a link leads to has a rule of its own, or shall have none.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            grant(&entry.path(), withheld, places);
        }
    }
}

impl BubblewrapCage {
    /// Returns the places that lie in emptied ones and can be read all the same.
    fn places_brought_back(&self) -> Vec<PathBuf> {
        let mut places: Vec<PathBuf> = Vec::new();
        if let Some(home) = self.user_home.as_deref().map(real_path) {
            places.extend(TOOLCHAINS.iter().map(|toolchain| home.join(toolchain)));
        }
        let resolver = Path::new("/etc/resolv.conf").canonicalize().ok();
        let words = self.argv.iter().map(PathBuf::from);
        let words = words.filter(|word| word.is_absolute());
        let named = words.flat_map(|word| [real_path(&word), word]);
        let others = self.search.iter().cloned().chain(resolver).chain(named);
        places.extend(others.filter(|place| self.is_emptied(place)));
        places.extend(self.readable.iter().cloned());
        places
    }
}

/// Returns the newest version of Landlock that works here, or why there is none.
#[cfg(target_os = "linux")]
pub(super) fn supported_version() -> Result<i32, String> {
    // The versions that brought rules; others brought flags.
    let versions = [9, 6, 5, 4, 3, 2, 1];
    let found = versions.into_iter().find(|version| {
        let rules = LandlockRules {
            version: *version,
            readable: Vec::new(),
            writable: Vec::new(),
            ports: (*version >= WITH_PORTS).then(Vec::new),
        };
        rules.ruleset().is_ok()
    });
    found.ok_or_else(|| "the kernel has no Landlock, or it is switched off".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn supported_version() -> Result<i32, String> {
    Err("Landlock is a part of Linux".to_owned())
}

#[cfg(target_os = "linux")]
impl LandlockRules {
    /// Lays the rules upon this thread, for good. Whatever does not take hold is an error.
    pub(super) fn restrict(&self) -> io::Result<()> {
        use landlock::{
            ABI, Access as _, AccessFs, AccessNet, NetPort, RulesetCreatedAttr as _, RulesetStatus,
            path_beneath_rules,
        };
        let version = ABI::from(self.version);
        let devices = AccessFs::from_file(version) & !AccessFs::Execute;
        let changes = AccessFs::from_all(version) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
        let mut ruleset = self
            .ruleset()?
            .add_rules(path_beneath_rules(
                &self.readable,
                AccessFs::from_read(version),
            ))
            .and_then(|rules| rules.add_rules(path_beneath_rules(&self.writable, changes)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, devices)))
            .map_err(io::Error::other)?;
        for port in self.ports.iter().flatten() {
            let rule = NetPort::new(*port, AccessNet::ConnectTcp);
            ruleset = ruleset.add_rule(rule).map_err(io::Error::other)?;
        }
        let status = ruleset.restrict_self().map_err(io::Error::other)?;
        if status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs {
            Ok(())
        } else {
            Err(io::Error::other("the rules of Landlock did not take hold"))
        }
    }

    fn ruleset(&self) -> io::Result<landlock::RulesetCreated> {
        use landlock::{
            ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset,
            RulesetAttr as _, Scope,
        };
        let version = ABI::from(self.version);
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(version))
            .map_err(io::Error::other)?;
        if self.ports.is_some() {
            ruleset = ruleset
                .handle_access(AccessNet::from_all(version))
                .map_err(io::Error::other)?;
        }
        if self.version >= WITH_SIGNALS {
            ruleset = ruleset
                .scope(Scope::from_all(version))
                .map_err(io::Error::other)?;
        }
        ruleset.create().map_err(io::Error::other)
    }
}

#[cfg(not(target_os = "linux"))]
impl LandlockRules {
    pub(super) fn restrict(&self) -> io::Result<()> {
        let Self {
            version: _,
            readable: _,
            writable: _,
            ports: _,
        } = self;
        Err(io::Error::other("Landlock is a part of Linux"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(cage: &BubblewrapCage) -> Vec<PathBuf> {
        LandlockRules::of(cage, 6, None).readable
    }

    fn covers(places: &[PathBuf], place: &Path) -> bool {
        places.iter().any(|granted| place.starts_with(granted))
    }

    #[test]
    fn rules_let_the_system_be_read_and_no_home() {
        let root = tempfile::tempdir().expect("a place");
        let home = root.path().canonicalize().expect("it is there");
        std::fs::create_dir_all(home.join(".cargo/bin")).expect("a toolchain");
        std::fs::create_dir_all(home.join(".ssh")).expect("keys");
        std::fs::write(home.join(".cargo/credentials.toml"), "token").expect("a secret");
        std::fs::write(home.join(".cargo/config.toml"), "").expect("a setting");
        let cage = BubblewrapCage {
            user_home: Some(home.clone()),
            directory: home.join("desk"),
            own_readable: vec![home.join("desk")],
            ..BubblewrapCage::default()
        };
        let places = places(&cage);
        for read in ["/usr/bin/env", "/etc/passwd", "/proc/self/status"] {
            assert!(covers(&places, Path::new(read)), "{read}");
        }
        for kept in ["/etc/shadow", "/dev/sda", "/home", "/root", "/tmp", "/run"] {
            assert!(!covers(&places, Path::new(kept)), "{kept}");
        }
        for (place, is_granted) in [
            ("desk/a", true),
            (".cargo/bin/cargo", true),
            (".cargo/config.toml", true),
            (".cargo/credentials.toml", false),
            (".ssh/id_ed25519", false),
        ] {
            assert_eq!(covers(&places, &home.join(place)), is_granted, "{place}");
        }
    }

    #[test]
    fn what_is_hidden_is_left_out_of_what_may_be_read() {
        let root = tempfile::tempdir().expect("a place");
        let root = root.path().canonicalize().expect("it is there");
        for place in ["ledger/homes", "data"] {
            std::fs::create_dir_all(root.join(place)).expect("a place");
        }
        std::os::unix::fs::symlink(root.join("ledger"), root.join("link")).expect("a link");
        let cage = BubblewrapCage {
            readable: vec![root.clone()],
            hidden: vec![root.join("ledger")],
            own_readable: vec![root.join("ledger/homes")],
            directory: PathBuf::from("/"),
            ..BubblewrapCage::default()
        };
        let places = places(&cage);
        assert!(covers(&places, &root.join("data")));
        assert!(covers(&places, &root.join("ledger/homes")));
        assert!(!covers(&places, &root.join("ledger/ledger.db")));
        assert!(!covers(&places, &root.join("link/ledger.db")));
    }
}
