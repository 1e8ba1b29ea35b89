//! A hermetic place in which tests run `tribunal` as a user would.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "each binary uses a part of it"
)]

pub mod cast;
pub mod chaos;
pub mod terminal;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A home, a project and an environment of their own; gone when dropped.
pub struct TestEnv {
    root: tempfile::TempDir,
    env: BTreeMap<String, String>,
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl TestEnv {
    pub fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("tribunal-test-")
            .tempdir()
            .unwrap();
        for dir in ["home", "project/.git"] {
            std::fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        let home = root.path().join("home").display().to_string();
        let mut env = BTreeMap::from([
            ("HOME".to_owned(), home),
            ("PATH".to_owned(), std::env::var("PATH").unwrap()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("NO_COLOR".to_owned(), "1".to_owned()),
            // Agents of tests write down what they saw. `slow_escapes` does without.
            (
                "TRIBUNAL_SANDBOX__WRITABLE".to_owned(),
                format!("[{:?}]", root.path()),
            ),
            // Remotes of tests are on this machine.
            ("TRIBUNAL_GIT__ALLOW_LOCAL".to_owned(), "true".to_owned()),
        ]);
        for passed in ["LLVM_PROFILE_FILE", "TMPDIR"] {
            if let Ok(value) = std::env::var(passed) {
                env.insert(passed.to_owned(), value);
            }
        }
        Self { root, env }
    }

    /// Returns a place whose project is a repository with one commit.
    pub fn with_repository() -> Self {
        let env = Self::new();
        std::fs::remove_dir(env.project().join(".git")).unwrap();
        env.git(&["init", "-q", "-b", "main"]);
        env.write("README.md", "A project.\n");
        env.commit_all("first");
        env
    }

    /// Runs git in the project as somebody without a config.
    pub fn git(&self, args: &[&str]) {
        let ran = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", self.home())
            .status();
        assert!(ran.unwrap().success(), "git {args:?}");
    }

    /// Returns what git prints in the project.
    pub fn git_output(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(args)
            .current_dir(self.project())
            .env("HOME", self.home())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Commits everything in the project.
    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "."]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Runs a command to its end and returns the crash points it passed, each with the number of
    /// times that any run passes it, in the order of their names.
    pub fn crash_points(&mut self, args: &[&str]) -> BTreeMap<String, usize> {
        let list = self.root().join("points");
        self.set_env("TRIBUNAL_CRASH_LIST", list.display().to_string());
        let ran = self.run(args);
        self.env.remove("TRIBUNAL_CRASH_LIST");
        let text = std::fs::read_to_string(&list)
            .unwrap_or_else(|error| panic!("no crash point was passed ({error}): {ran:?}"));
        let mut points = BTreeMap::new();
        for (name, _) in text.lines().filter_map(|point| point.split_once('#')) {
            *points.entry(name.to_owned()).or_default() += 1;
        }
        for (name, hits) in &mut points {
            // How many commits there are depends on who happens to share one.
            if name.starts_with("store.") {
                *hits = usize::div_ceil(*hits, 2);
            }
        }
        points
    }

    /// Starts a command that kills itself at the `hit`-th passing of a crash point.
    pub fn crash_at(&self, args: &[&str], name: &str, hit: usize) {
        let point = format!("{name}#{hit}");
        let output = self
            .command(args)
            .env("TRIBUNAL_CRASH_AT", &point)
            .output()
            .unwrap();
        assert_eq!(output.status.signal(), Some(9), "{point}: {output:?}");
    }

    pub fn set_env(&mut self, key: &str, value: impl Into<String>) -> &mut Self {
        self.env.insert(key.to_owned(), value.into());
        self
    }

    /// Moves a part of the place (`project`, `ledger` or `home`) to another file system, which is gone
    /// when the result is dropped; nothing where there is no other.
    #[expect(clippy::print_stderr, reason = "a test that is skipped has to say so")]
    pub fn move_elsewhere(&self, part: &str) -> Option<tempfile::TempDir> {
        use std::os::unix::fs::MetadataExt as _;
        let other = tempfile::tempdir_in("/dev/shm").ok()?;
        let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
        if device(other.path()) == device(self.root()) {
            assert!(std::env::var_os("CI").is_none(), "CI has two file systems");
            eprintln!(
                "SKIPPED: /dev/shm is on the file system of {:?}",
                self.root()
            );
            return None;
        }
        let (here, there) = (self.root().join(part), other.path().join(part));
        match here.exists() {
            true => {
                let copied = Command::new("cp").arg("-a").args([&here, &there]).status();
                assert!(copied.unwrap().success());
                std::fs::remove_dir_all(&here).unwrap();
            }
            false => {
                use std::os::unix::fs::DirBuilderExt as _;
                let mut private = std::fs::DirBuilder::new();
                private.mode(0o700).create(&there).unwrap();
            }
        }
        std::os::unix::fs::symlink(&there, &here).unwrap();
        Some(other)
    }

    pub fn remove_env(&mut self, key: &str) -> &mut Self {
        self.env.remove(key);
        self
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn ledger(&self) -> PathBuf {
        self.root.path().join("ledger")
    }

    /// Returns the places of agents that are still there.
    pub fn places_left(&self) -> Vec<PathBuf> {
        let state = match self.env.get("XDG_STATE_HOME") {
            Some(path) => PathBuf::from(path),
            None => self.home().join(".local/state"),
        };
        let below = |path: PathBuf| {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| entry.path())
        };
        let kinds = ["work", "worktrees"].map(|kind| state.join("tribunal").join(kind));
        let ledgers = kinds.into_iter().flat_map(below);
        ledgers.flat_map(below).collect()
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// Writes the user's own config, which needs no trust.
    pub fn write_user_config(&self, yaml: &str) {
        let path = self.home().join(".config/tribunal/config.yml");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, yaml).unwrap();
    }

    /// Returns `tribunal` with these arguments, ready to be started in the project.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tribunal"));
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .envs(&self.env)
            .env("TRIBUNAL_LEDGER", self.ledger())
            .stdin(Stdio::null());
        command
    }

    /// Runs a script in the project that may mount what it likes, with `tribunal` as `$T` and the
    /// ledger's directory as `$L`; nothing where this machine lets no user mount anything.
    #[expect(clippy::print_stderr, reason = "a test that is skipped has to say so")]
    pub fn run_with_mounts(&self, script: &str) -> Option<Ran> {
        let probe = "mount -t tmpfs none /mnt";
        let may_mount = Command::new("unshare")
            .args(["-rm", "sh", "-c", probe])
            .output();
        if !may_mount.is_ok_and(|output| output.status.success()) {
            assert!(std::env::var_os("CI").is_none(), "CI lets users mount");
            eprintln!("SKIPPED: `unshare -rm` does not let us mount anything here");
            return None;
        }
        let mut command = Command::new("unshare");
        command
            .args(["-rm", "sh", "-c", script])
            .current_dir(self.project())
            .env_clear()
            .envs(&self.env)
            .env("T", env!("CARGO_BIN_EXE_tribunal"))
            .env("L", self.ledger())
            .env("TRIBUNAL_LEDGER", self.ledger())
            .stdin(Stdio::null());
        Some(Ran::of(&mut command))
    }

    /// Runs `tribunal` to its end.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        Ran::of(&mut self.command(args))
    }

    /// Runs `tribunal` with `input` on standard input.
    pub fn run_with_input<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: &str,
    ) -> Ran {
        let path = self.root.path().join("stdin");
        std::fs::write(&path, input).unwrap();
        Ran::of(self.command(args).stdin(std::fs::File::open(path).unwrap()))
    }

    /// Runs `doctor` and panics unless it finds everything in order.
    pub fn assert_healthy(&self) {
        let ran = self.run(["doctor", "--ledger-only", "--json"]);
        assert_eq!(
            ran.code,
            Some(0),
            "doctor found something wrong: {}{}",
            ran.stdout,
            ran.stderr
        );
    }

    /// Panics if a process is left that was started for this place.
    pub fn assert_no_survivor(&self, what: &str) {
        if let Some(line) = self.survivors().first() {
            panic!("{what}: left behind {line}");
        }
    }

    /// Returns the command lines of processes that were started for this place: they carry its
    /// paths in the environment.
    pub fn survivors(&self) -> Vec<String> {
        let root = self.root.path().display().to_string();
        let is_ours = |entry: &std::fs::DirEntry| {
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&environ).contains(&root)
        };
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter(is_ours)
            .map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default())
            .map(|line| String::from_utf8_lossy(&line).into_owned())
            .collect()
    }

    /// Replaces what differs from run to run by fixed words.
    pub fn tidy(&self, text: &str) -> String {
        let text = text.replace(&self.root.path().display().to_string(), "[ROOT]");
        let words = text.split_inclusive([' ', '\n', '`', ')', '(', '"', ',', '.']);
        words.map(tidy_word).collect()
    }
}

/// Replaces an id, a date or a time of day.
fn tidy_word(word: &str) -> String {
    let end = word.trim_end_matches([' ', '\n', '`', ':', ')', '(', '"', ',', '.']);
    let rest = &word[end.len()..];
    let hex = |text: &str| text.len() >= 10 && text.bytes().all(|b| b.is_ascii_hexdigit());
    match end.split_once('-') {
        Some(("c", id)) if hex(id) => format!("[CASE]{rest}"),
        Some(("r", id)) if hex(id) => format!("[RUN]{rest}"),
        Some(("d", id)) if hex(id) => format!("[DISPUTE]{rest}"),
        _ if is_figures(end, '-', &[4, 2, 2]) => format!("[DATE]{rest}"),
        _ if is_figures(end, ':', &[2, 2]) => format!("[HOUR]{rest}"),
        _ if is_figures(end, ':', &[2, 2, 2]) => format!("[TIME]{rest}"),
        _ => word.to_owned(),
    }
}

/// Tells whether `text` is numbers of these lengths with `between` between them.
fn is_figures(text: &str, between: char, lengths: &[usize]) -> bool {
    let parts: Vec<_> = text.split(between).collect();
    let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    parts
        .iter()
        .map(|part| part.len())
        .eq(lengths.iter().copied())
        && parts.iter().all(digits)
}

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    /// Returns the result as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.stdout, self.stderr))
    }

    pub fn assert_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }
}

/// Returns the most memory that a living process has had, in kB.
pub fn peak_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Panics if the events of a case tell of a step that was run again after it had finished, or that
/// finished twice. Returns the number of finished steps.
pub fn assert_nothing_repeated(events: &[serde_json::Value], what: &str) -> usize {
    let mut finished: BTreeMap<&str, u32> = BTreeMap::new();
    for event in events {
        let step = event["step"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap() {
            "step_finished" => *finished.entry(step).or_default() += 1,
            "run_started" => assert!(
                !finished.contains_key(step),
                "{what}: {step} was paid twice"
            ),
            _ => {}
        }
    }
    assert!(
        finished.values().all(|&times| times == 1),
        "{what}: {finished:?}"
    );
    finished.len()
}

/// Returns the command line of a person's ruling.
pub fn resolve_args<'a>(dispute: &'a str, decision: &'a str, notes: &'a str) -> [&'a str; 7] {
    [
        "dispute",
        "resolve",
        dispute,
        "--decision",
        decision,
        "--notes",
        notes,
    ]
}

/// Returns the path of a program of the fakes, which `cargo test --workspace` builds.
pub fn fake(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_tribunal")).with_file_name(name);
    assert!(
        path.exists(),
        "{} is missing: run `cargo build -p tribunal-fakes`",
        path.display()
    );
    path
}
