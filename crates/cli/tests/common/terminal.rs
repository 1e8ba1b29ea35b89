//! A real terminal in which a test reads the screen and presses keys.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use super::TestEnv;

/// How long a test waits for the screen before it gives up; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is kept of what a command writes.
#[derive(Clone, Copy)]
enum Keep {
    Screen,
    EveryByte,
}

/// A command of ours running in a terminal of its own; it ends with the test.
pub struct Terminal {
    socket: PathBuf,
    code: PathBuf,
    written: PathBuf,
}

impl Terminal {
    /// Starts `tribunal` with these arguments in the project of `env`.
    pub fn start(env: &TestEnv, args: &[&str]) -> Self {
        Self::of_width(env, args, 150)
    }

    /// Does the same in a terminal of so many columns.
    pub fn of_width(env: &TestEnv, args: &[&str], columns: u16) -> Self {
        Self::begin(env, args, columns, Keep::Screen)
    }

    /// Does the same and keeps everything that is written, what is overwritten included.
    pub fn recorded(env: &TestEnv, args: &[&str], columns: u16) -> Self {
        Self::begin(env, args, columns, Keep::EveryByte)
    }

    fn begin(env: &TestEnv, args: &[&str], columns: u16, keep: Keep) -> Self {
        let number = std::fs::read_dir(env.root()).unwrap().count();
        let terminal = Self {
            socket: env.root().join(format!("tmux-{number}")),
            code: env.root().join(format!("code-{number}")),
            written: env.root().join(format!("written-{number}")),
        };
        let command = env.command(args);
        let mut script = String::from("#!/bin/sh\n");
        for (name, value) in command.get_envs() {
            // Colours are part of what is shown.
            if let (Some(value), true) = (value, name != "NO_COLOR") {
                let value = value.to_string_lossy().replace('\'', "'\\''");
                script += &format!("export {}='{value}'\n", name.to_string_lossy());
            }
        }
        // Ctrl-C is for the command; the shell lives on to tell how it ended.
        script += &format!(
            "export TERM=xterm-256color\ntrap : INT\ncd '{}'\n",
            env.project().display(),
        );
        let program = command.get_program().to_string_lossy();
        let line = format!("'{program}' {}", args.join(" "));
        let written = terminal.written.display();
        script += &match keep {
            Keep::Screen => line,
            Keep::EveryByte => format!("script -qefc \"{line}\" '{written}'"),
        };
        script += &format!("\necho $? > '{}'\nsleep 600\n", terminal.code.display());
        let file = env.root().join(format!("run-{number}.sh"));
        std::fs::write(&file, script).unwrap();
        let columns = columns.to_string();
        let size = ["-x", &columns, "-y", "60"];
        let run = format!("sh '{}'", file.display());
        let mut all = vec!["-f", "/dev/null", "new-session", "-d"];
        all.extend(size);
        all.push(&run);
        terminal.tmux(&all);
        terminal
    }

    /// Returns what is on the screen.
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-S", "-200"])
    }

    /// Returns all lines, those that have left the screen included, and the same with lines joined
    /// that the terminal had to break.
    pub fn broken_and_whole(&self) -> [String; 2] {
        [&["-p", "-S", "-2000"][..], &["-p", "-J", "-S", "-2000"]].map(|how| {
            let text = self.tmux(&[&["capture-pane"], how].concat());
            let lines = text.lines().map(|line| line.trim_end().to_owned() + "\n");
            lines.collect()
        })
    }

    /// Returns the same with the escape sequences of colours.
    pub fn coloured_screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e", "-S", "-200"])
    }

    /// Returns everything that a recorded command wrote, escape sequences and all.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.written).unwrap()).into_owned()
    }

    /// Waits until the screen shows `text`.
    pub fn wait_for(&self, text: &str) {
        self.wait(text, || self.screen().contains(text).then_some(()));
    }

    /// Presses keys, by the names that tmux has for them, or types texts.
    pub fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.tmux(&["send-keys", key]);
        }
    }

    /// Waits until the command has ended and returns its exit code.
    pub fn exit_code(&self) -> i32 {
        self.wait("the end of the command", || {
            let text = std::fs::read_to_string(&self.code).ok()?;
            text.trim().parse().ok()
        })
    }

    fn wait<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            let waited = start.elapsed() > PATIENCE;
            assert!(!waited, "no sign of {what}: {}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn tmux(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(args);
        let output = command.output().unwrap_or_else(|error| {
            panic!("this test needs the program tmux ({error}); `scripts/test` installs it")
        });
        assert!(output.status.success(), "tmux {args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let mut command = Command::new("tmux");
        // It may have ended already.
        let _ = command
            .arg("-S")
            .arg(&self.socket)
            .arg("kill-server")
            .output();
    }
}
