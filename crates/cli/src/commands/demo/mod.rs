//! `tribunal demo`.

mod cast;
mod progress;
mod stage;
mod story;
mod whereabouts;

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::progress::{Begun, Progress};
use self::stage::Stage;
use self::story::{Again, SCENES, Scene};
use self::whereabouts::Whereabouts;
use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;
use crate::report::{fill, stdout_width};

/// Play a whole story with scripted agents: review, dispute, trial, task list
///
/// In a repository of its own, agents that answer from files review a change and disagree, a coder
/// objects, a judge rules, the fix is checked, designed judges settle a trial, and a loop works
/// through a list. Each command is shown and then carried out as if you had typed it; no model is
/// asked, and your own settings and ledgers are left alone. After Ctrl-C, the same command with
/// `--dir` goes on where it stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal demo\n  \
    tribunal demo --pause\n  \
    tribunal demo --fast --dir ~/tribunal-demo")]
pub(crate) struct Args {
    /// Where to play, or to go on with a story that was stopped; a new temporary directory if absent
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Let the agents answer at once
    #[arg(long)]
    fast: bool,
    /// Wait for Enter after each command
    #[arg(long)]
    pause: bool,
}

/// Why the story does not go on.
enum Stop {
    /// Somebody asked for it.
    Asked,
    /// It went wrong.
    Failed(CliError),
}

impl From<CliError> for Stop {
    fn from(error: CliError) -> Self {
        Self::Failed(error)
    }
}

/// Plays the story, or what is left of it.
pub(crate) async fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    // From here on Ctrl-C ends a scene, never the storyteller in the middle of a sentence.
    let mut signals = Signals::listen()?;
    let stage = match &args.dir {
        Some(directory) => Stage::at(&invocation.path(directory), args.fast)?,
        None => Stage::fresh(args.fast)?,
    };
    let told = tell(invocation, &stage, &mut signals, args.pause).await;
    match told {
        Ok(()) => {
            invocation.print(&story::epilogue(&stage, &Whereabouts::of(invocation)))?;
            Ok(Exit::Pass)
        }
        Err(Stop::Failed(error)) => Err(error),
        Err(Stop::Asked) => {
            let error = CliError::new(Exit::Interrupted, "the story was stopped; nothing is lost");
            let (all, one) = (stage.go_on(), stage.line(&["resume".to_owned()]));
            Err(error
                .hint(format!("Go on with the story: `{all}`"))
                .hint(format!("Or finish what was interrupted yourself: `{one}`")))
        }
    }
}

async fn tell(
    invocation: &Invocation,
    stage: &Stage,
    signals: &mut Signals,
    pause: bool,
) -> Result<(), Stop> {
    let mut progress = Progress::read(stage)?;
    if progress.is_new() {
        invocation.print(&story::prologue(stage))?;
    }
    let may_pause = pause && std::io::stdin().is_terminal();
    for (index, scene) in SCENES.iter().enumerate().skip(progress.done) {
        let left = match scene.again {
            Again::Resume => progress.left_behind(stage)?,
            Again::Repeat => None,
        };
        let line = match left {
            Some(Begun::Unfinished(case)) => Some(vec!["resume".to_owned(), case]),
            Some(Begun::Finished) => None,
            None => Some(scene.line(stage)?),
        };
        let mut wants_stop = false;
        if let Some(line) = line {
            progress.begin(stage)?;
            announce(invocation, scene, &line)?;
            match play(stage, signals, scene, &line).await? {
                Ending::Interrupted => return Err(Stop::Asked),
                Ending::Ended { stop } => wants_stop = stop,
            }
        }
        progress.finish(stage)?;
        if wants_stop {
            return Err(Stop::Asked);
        }
        if may_pause && index + 1 < SCENES.len() {
            signals.or_enter().await?;
        }
    }
    Ok(())
}

/// Prints what happens next and the command that does it.
fn announce(invocation: &Invocation, scene: &Scene, line: &[String]) -> Result<(), CliError> {
    let mut text = String::new();
    if let Some((heading, words)) = scene.told {
        let bold = AnsiColor::Cyan.on_default().bold();
        text.push_str(&format!("\n{bold}{heading}{bold:#}\n"));
        fill(&mut text, words, stdout_width(), "", "");
    }
    let (prompt, bold) = (AnsiColor::Green.on_default().bold(), Style::new().bold());
    let line = crate::typed_words::typed_command(line);
    text.push_str(&format!(
        "\n{prompt}${prompt:#} {bold}tribunal {line}{bold:#}\n"
    ));
    invocation.print(&text)
}

/// How a scene ended.
enum Ending {
    /// As it should, and somebody may have asked to stop after it.
    Ended { stop: bool },
    /// In the middle.
    Interrupted,
}

/// Carries out one command and waits for its end.
async fn play(
    stage: &Stage,
    signals: &mut Signals,
    scene: &Scene,
    line: &[String],
) -> Result<Ending, CliError> {
    let spawned = tokio::process::Command::from(stage.command(line)).spawn();
    let mut child = spawned.map_err(|error| stage.broken("start a command", &error))?;
    let mut stop = false;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            // The terminal sends Ctrl-C to the command as well; the other signals reach us alone.
            signal = signals.next() => {
                stop = true;
                if let (SentTo::Us, Some(id)) = (signal, child.id()) {
                    let id = nix::unistd::Pid::from_raw(id.cast_signed());
                    // It may have ended by itself in this moment.
                    let _ = nix::sys::signal::kill(id, nix::sys::signal::SIGTERM);
                }
            }
        }
    };
    let status = status.map_err(|error| stage.broken("wait for a command", &error))?;
    match status.code() {
        Some(code) if scene.ends.contains(&code) => Ok(Ending::Ended { stop }),
        Some(code) if code == Exit::Interrupted as i32 => Ok(Ending::Interrupted),
        _ if stop => Ok(Ending::Interrupted),
        _ => {
            let line = crate::typed_words::typed_command(line);
            let text = format!("`tribunal {line}` should not end like this ({status})");
            let doctor = stage.line(&["doctor".to_owned()]);
            Err(CliError::new(Exit::Internal, text).hint(format!("`{doctor}` may tell more")))
        }
    }
}

/// Who got a signal.
#[derive(Clone, Copy)]
enum SentTo {
    /// Everybody at the terminal.
    All,
    /// This process alone.
    Us,
}

/// What asks the process to stop.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> Result<Self, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                CliError::new(Exit::Internal, "cannot listen for signals").caused_by(&error)
            })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> SentTo {
        tokio::select! {
            _ = self.interrupt.recv() => SentTo::All,
            _ = self.terminate.recv() => SentTo::Us,
            _ = self.hangup.recv() => SentTo::Us,
        }
    }

    /// Waits until the person at the terminal wants to go on.
    async fn or_enter(&mut self) -> Result<(), Stop> {
        let dim = Style::new().dimmed();
        let question = format!("\n{dim}Enter goes on, Ctrl-C stops.{dim:#} ");
        let _ = anstream::stderr().write_all(question.as_bytes());
        let line = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
        tokio::select! {
            _ = line => Ok(()),
            _ = self.next() => Err(Stop::Asked),
        }
    }
}
