//! The sandbox made of namespaces: which arguments bubblewrap gets, and whether it works here.
//!
//! Later mounts lie over earlier ones, so the order tells the rules: the whole system can be read;
//! homes, temporary files and sockets are replaced by empty directories; toolchains come back, to be
//! read; what is hidden goes once more; and the work place comes last. Places are mounted under their
//! real paths; where a path leads through a link that is not there inside, the link is made again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::geteuid;
use tribunal_core::sandbox::NetworkReach;

/// Longest time that trying bubblewrap may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Directories of the system that are empty inside: homes of people, temporary files, sockets.
pub(super) const EMPTIED: [&str; 7] = [
    "/home",
    "/root",
    "/tmp",
    "/var/tmp",
    "/run",
    "/var/spool",
    "/etc/ssh",
];

/// Files of the system that hold secrets, which root could read.
pub(super) const MASKED: [&str; 4] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
];

/// Files of the kernel by which root could change the machine from inside. The cover keeps a sandbox
/// of the program's own from working, so others do without.
const KERNEL_CONTROLS: [&str; 2] = ["/proc/sys", "/proc/sysrq-trigger"];

/// Where toolchains lie in a home. They hold programs and packages, no secrets but those in
/// [`TOOLCHAIN_SECRETS`].
pub(super) const TOOLCHAINS: [&str; 24] = [
    ".asdf",
    ".bun",
    ".cargo",
    ".deno",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/claude",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nodenv",
    ".npm-global",
    ".nvm",
    ".opam",
    ".opencode/bin",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "bin",
    "go",
];

/// Files in toolchains that hold secrets.
pub(super) const TOOLCHAIN_SECRETS: [&str; 2] = [".cargo/credentials", ".cargo/credentials.toml"];

/// Everything that decides what one program finds inside.
#[derive(Debug, Clone, Default)]
pub(crate) struct BubblewrapCage {
    /// The home directory of the user, which is replaced by an empty one.
    pub(crate) user_home: Option<PathBuf>,
    /// Directories in which programs are looked up.
    pub(crate) search: Vec<PathBuf>,
    /// The program and its arguments; files that they name can be read.
    pub(crate) argv: Vec<String>,
    /// Places that can be read.
    pub(crate) readable: Vec<PathBuf>,
    /// Places that do not exist inside, wherever they lie.
    pub(crate) hidden: Vec<PathBuf>,
    /// Places in hidden ones that can be read all the same.
    pub(crate) own_readable: Vec<PathBuf>,
    /// Places that can be changed.
    pub(crate) writable: Vec<PathBuf>,
    /// Where the program works.
    pub(crate) directory: PathBuf,
    /// What it may reach over the network.
    pub(crate) network: NetworkReach,
    /// Places outside that have another name inside, and those names.
    pub(crate) placed: Vec<(PathBuf, PathBuf)>,
    /// Whether the program runs as root.
    pub(crate) is_root: bool,
}

impl BubblewrapCage {
    /// Returns the arguments of bubblewrap, up to the program that it starts.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = Arguments::default();
        arguments.flags([
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--die-with-parent",
        ]);
        if self.network.is_limited() {
            arguments.flags(["--unshare-net"]);
        }
        arguments.flags(["--cap-drop", "ALL", "--ro-bind", "/", "/"]);
        arguments.flags(["--dev", "/dev", "--proc", "/proc"]);
        if self.is_root {
            for control in KERNEL_CONTROLS {
                arguments.try_read(Path::new(control));
            }
        }
        for directory in EMPTIED {
            arguments.empty(Path::new(directory));
        }
        if let Some(home) = &self.user_home {
            arguments.empty(home);
        }
        for file in MASKED {
            arguments.mask(Path::new(file));
        }
        for (alias, real) in self.aliases() {
            arguments.flags(["--symlink"]);
            arguments.path(&real);
            arguments.path(&alias);
        }
        self.bring_back(&mut arguments);
        for place in &self.hidden {
            arguments.empty(place);
        }
        for place in &self.own_readable {
            arguments.read(place);
        }
        for place in &self.writable {
            arguments.write(place);
        }
        for (outside, inside) in &self.placed {
            arguments.flags(["--ro-bind"]);
            arguments.path(outside);
            arguments.path(inside);
        }
        arguments.flags(["--chdir"]);
        arguments.path(&real_path(&self.directory));
        arguments.flags(["--"]);
        arguments.all
    }

    /// Returns the paths that lead through links which are not there inside, with what they lead to.
    fn aliases(&self) -> Vec<(PathBuf, PathBuf)> {
        let home = self.user_home.iter();
        let places = home.chain([&self.directory]).chain(&self.readable);
        let places = places.chain(&self.own_readable).chain(&self.writable);
        let mut places: Vec<&PathBuf> = places.collect();
        places.sort();
        let mut aliases: Vec<(PathBuf, PathBuf)> = Vec::new();
        for place in places {
            let is_led_on = aliases.iter().any(|(alias, _)| place.starts_with(alias));
            let real = real_path(place);
            if real != *place && self.is_emptied(place) && !is_led_on {
                aliases.push((place.clone(), real));
            }
        }
        aliases
    }

    /// Brings back what programs need of the places that were emptied.
    fn bring_back(&self, arguments: &mut Arguments) {
        // Names are looked up by a file that often lies among the sockets.
        if let Ok(resolver) = Path::new("/etc/resolv.conf").canonicalize() {
            self.read_if_emptied(arguments, &resolver);
        }
        if let Some(home) = self.user_home.as_deref().map(real_path) {
            for toolchain in TOOLCHAINS {
                arguments.try_read(&home.join(toolchain));
            }
            for secret in TOOLCHAIN_SECRETS {
                arguments.mask(&home.join(secret));
            }
        }
        for directory in &self.search {
            self.read_if_emptied(arguments, directory);
        }
        for word in &self.argv {
            let path = Path::new(word);
            if path.is_absolute() && path.exists() {
                self.read_if_emptied(arguments, path);
                let target = real_path(path);
                self.read_if_emptied(arguments, &target);
                if let Some(installation) = installation_of(&target) {
                    self.read_if_emptied(arguments, installation);
                }
            }
        }
        for place in &self.readable {
            arguments.read(place);
        }
    }

    /// Lets a place be read if it lies in one that was emptied, and is not such a one itself.
    fn read_if_emptied(&self, arguments: &mut Arguments, place: &Path) {
        if self.is_emptied(place) {
            arguments.mount("--ro-bind-try", place);
        }
    }

    /// Tells whether a place lies in one that is empty inside.
    pub(super) fn is_emptied(&self, place: &Path) -> bool {
        let home = self.user_home.as_deref();
        let homes = home
            .into_iter()
            .chain(home.map(real_path).as_deref())
            .any(|home| place.starts_with(home) && place != home);
        let mut system = EMPTIED.iter().map(Path::new);
        homes || system.any(|emptied| place.starts_with(emptied) && place != emptied)
    }
}

/// Returns the path of a place without links on the way.
pub(super) fn real_path(place: &Path) -> PathBuf {
    place.canonicalize().unwrap_or_else(|_| place.to_owned())
}

/// Returns the directory that a program was installed into with all that it loads. Package managers of
/// JavaScript and Python install programs as one file of many.
fn installation_of(program: &Path) -> Option<&Path> {
    let packages = |place: &&Path| place.file_name().is_some_and(|name| name == "node_modules");
    let environment = |place: &&Path| place.join("pyvenv.cfg").is_file();
    let outermost = program.ancestors().filter(packages).last();
    outermost.or_else(|| program.ancestors().find(environment))
}

/// Arguments of bubblewrap that are being put together.
#[derive(Default)]
struct Arguments {
    all: Vec<String>,
}

impl Arguments {
    fn flags<const N: usize>(&mut self, flags: [&str; N]) {
        self.all.extend(flags.map(str::to_owned));
    }

    fn path(&mut self, path: &Path) {
        self.all.push(path.to_string_lossy().into_owned());
    }

    fn mount(&mut self, flag: &str, place: &Path) {
        self.flags([flag]);
        self.path(place);
        self.path(place);
    }

    fn read(&mut self, place: &Path) {
        self.mount("--ro-bind", &real_path(place));
    }

    fn try_read(&mut self, place: &Path) {
        self.mount("--ro-bind-try", &real_path(place));
    }

    fn write(&mut self, place: &Path) {
        self.mount("--bind", &real_path(place));
    }

    /// Replaces a directory by an empty one, if it is there.
    fn empty(&mut self, place: &Path) {
        if place.is_dir() {
            self.flags(["--tmpfs"]);
            self.path(&real_path(place));
        }
    }

    /// Replaces a file by an empty one, if it is there.
    fn mask(&mut self, place: &Path) {
        if place.is_file() {
            self.flags(["--ro-bind", "/dev/null"]);
            self.path(&real_path(place));
        }
    }
}

/// Tells whether programs run as root here.
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// Tries bubblewrap as programs will be started with it. Where it cannot give them a network of their own
/// the reason is returned too.
pub(super) fn probe() -> Result<(PathBuf, Option<String>), String> {
    let Ok(program) = which::which("bwrap") else {
        return Err("`bwrap` (bubblewrap) was not found in `PATH`".to_owned());
    };
    let cage = |network| BubblewrapCage {
        directory: PathBuf::from("/"),
        is_root: is_root(),
        network,
        ..BubblewrapCage::default()
    };
    match attempt(&program, &cage(NetworkReach::None)) {
        Ok(()) => Ok((program, None)),
        Err(failure) => {
            attempt(&program, &cage(NetworkReach::Open)).map(|()| (program, Some(failure)))
        }
    }
}

/// Runs a program that does nothing inside, and returns what went wrong.
fn attempt(program: &Path, cage: &BubblewrapCage) -> Result<(), String> {
    let failed = |why: String| format!("`bwrap` does not work here: {why}");
    let mut child = Command::new(program)
        .args(cage.arguments())
        .arg("/bin/true")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => break,
            Ok(None) if began.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Ok(None) | Err(_) => {
                let _ = child.kill();
                return Err(failed("it did not come to its end".to_owned()));
            }
        }
    }
    let said = child.wait_with_output().map(|output| output.stderr);
    let said = said.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().next().unwrap_or("it failed without a word");
    Err(failed(line.trim_start_matches("bwrap: ").to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Returns the arguments in one line, with the names of temporary places replaced.
    fn told(cage: &BubblewrapCage, root: &Path) -> String {
        let told = cage.arguments().join(" ");
        told.replace(&root.display().to_string(), "ROOT")
    }

    #[test]
    fn a_home_behind_a_link_is_empty_under_both_names() {
        let root = tempfile::tempdir().expect("a place");
        let root = root.path().canonicalize().expect("it is there");
        let real = root.join("data/ann");
        std::fs::create_dir_all(real.join(".cargo")).expect("a home");
        std::fs::create_dir_all(real.join("work")).expect("a work place");
        let home = root.join("ann");
        symlink(&real, &home).expect("a link");
        let cage = BubblewrapCage {
            user_home: Some(home.clone()),
            directory: home.join("work"),
            writable: vec![home.join("work")],
            ..BubblewrapCage::default()
        };
        let told = told(&cage, &root);
        for part in [
            "--tmpfs ROOT/data/ann ",
            // Homes and temporary files are empty inside, so that the link must be made again.
            "--symlink ROOT/data/ann ROOT/ann ",
            "--ro-bind-try ROOT/data/ann/.cargo ROOT/data/ann/.cargo ",
            "--bind ROOT/data/ann/work ROOT/data/ann/work ",
            "--chdir ROOT/data/ann/work --",
        ] {
            assert!(told.contains(part), "{part} is missing in {told}");
        }
        let empty = told.find("--tmpfs ROOT/data/ann ").expect("it is there");
        let work = told.find("--bind ROOT").expect("it is there");
        assert!(empty < work, "the work place is hidden: {told}");
    }

    #[test]
    fn a_program_comes_with_the_packages_that_it_was_installed_with() {
        let root = tempfile::tempdir().expect("a place");
        let root = root.path().canonicalize().expect("it is there");
        let write = |path: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(&path, "").expect("a file");
            path.display().to_string()
        };
        write("secret/key");
        write("venv/pyvenv.cfg");
        let script = write("app/node_modules/agent/node_modules/inner/cli.js");
        let linter = write("venv/bin/linter");
        let linked = root.join("app/agent");
        symlink(&script, &linked).expect("a link");
        let cage = BubblewrapCage {
            user_home: Some(root.clone()),
            argv: vec![linked.display().to_string(), linter],
            directory: PathBuf::from("/"),
            ..BubblewrapCage::default()
        };
        let told = told(&cage, &root);
        for part in [
            "--ro-bind-try ROOT/app/node_modules ROOT/app/node_modules ",
            "--ro-bind-try ROOT/venv ROOT/venv ",
        ] {
            assert!(told.contains(part), "{part} is missing in {told}");
        }
        assert!(!told.contains("ROOT/secret"), "{told}");
        assert!(!told.contains("ROOT/app ROOT/app "), "{told}");
    }

    #[test]
    fn secrets_of_a_toolchain_are_masked_after_it_was_brought_back() {
        let root = tempfile::tempdir().expect("a place");
        let root = root.path().canonicalize().expect("it is there");
        std::fs::create_dir_all(root.join(".cargo")).expect("a toolchain");
        std::fs::write(root.join(".cargo/credentials.toml"), "token").expect("a secret");
        let cage = BubblewrapCage {
            user_home: Some(root.clone()),
            hidden: vec![root.join(".cargo")],
            directory: PathBuf::from("/"),
            ..BubblewrapCage::default()
        };
        let told = told(&cage, &root);
        let at = |part: &str| told.find(part).unwrap_or_else(|| panic!("{part}: {told}"));
        let back = at("--ro-bind-try ROOT/.cargo ROOT/.cargo ");
        let masked = at("--ro-bind /dev/null ROOT/.cargo/credentials.toml ");
        let hidden = told.rfind("--tmpfs ROOT/.cargo ").expect("it is hidden");
        assert!(back < masked && masked < hidden, "{told}");
    }
}
