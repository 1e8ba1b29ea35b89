//! One invocation of the program: where it was started, its settings, and how it speaks.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comfy_table::{ContentArrangement, Table};
use tribunal_engine::case::CaseError;
use tribunal_engine::change::{self, ChangeSource};
use tribunal_engine::config::{self, Loaded, Sources, Trust};
use tribunal_engine::files::{self, LedgerDir};
use tribunal_engine::place::{PlacePurpose, find_ledger_place};
use tribunal_engine::user_file::write_user_file;
use tribunal_engine::{Engine, Surroundings, open_store};
use tribunal_store::{LedgerAccess, Store, StoreError};

use crate::args::Global;
use crate::ask::Terminal;
use crate::error::{CliError, unwritten};
use crate::exit::Exit;
use crate::report::{JsonLines, Lines, LiveProgress, Reporter, Silent, fit, stderr_width, wrapped};
use crate::stopping;

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object at the end
    Json,
    /// The events as JSON lines, while they happen
    Jsonl,
}

/// What the user typed around the command, and where.
pub(crate) struct Invocation {
    pub(crate) global: Global,
    pub(crate) cwd: PathBuf,
    pub(crate) env: BTreeMap<String, String>,
    /// The ledgers that were opened.
    stores: Mutex<Vec<Arc<dyn Store>>>,
}

impl Invocation {
    /// Looks at the surroundings once.
    pub(crate) fn new(global: Global) -> Result<Self, CliError> {
        let here = std::env::current_dir().map_err(|error| {
            CliError::new(Exit::Usage, "the current directory does not exist").caused_by(&error)
        })?;
        let cwd = match &global.directory {
            Some(directory) => here.join(directory),
            None => here,
        };
        if !cwd.is_dir() {
            let text = format!("there is no directory {}", cwd.display());
            return Err(CliError::new(Exit::NotFound, text));
        }
        let text = |value: std::ffi::OsString| value.into_string().ok();
        let env = std::env::vars_os().filter_map(|(key, value)| Some((text(key)?, text(value)?)));
        Ok(Self {
            global,
            cwd,
            env: env.collect(),
            stores: Mutex::default(),
        })
    }

    /// Returns `path` as seen from where the user works.
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        self.cwd.join(path)
    }

    /// Returns where settings come from, with `more` overrides of a command's own options.
    pub(crate) fn sources(&self, more: &[String]) -> Sources {
        let mut overrides = self.global.overrides.clone();
        overrides.extend_from_slice(more);
        Sources::new(self.cwd.clone(), self.env.clone(), overrides)
    }

    /// Returns the settings for a command that acts on them. Asks for trust where the project's
    /// config needs it.
    pub(crate) fn settings(&self, more: &[String]) -> Result<Loaded, CliError> {
        let sources = self.with_last_commit(self.sources(more));
        match config::load(&sources) {
            Err(config::ConfigError::Untrusted(untrusted)) => {
                crate::commands::config::ask_for_trust(self, &untrusted)?;
                Ok(config::load(&sources)?)
            }
            loaded => Ok(loaded?),
        }
    }

    /// Returns the settings for a command that starts nothing, and so needs no trust. What is not
    /// trusted does not count.
    pub(crate) fn settings_without_trust(&self) -> Result<Loaded, CliError> {
        Ok(config::load(&Sources {
            trust: Trust::Withheld,
            ..self.sources(&[])
        })?)
    }

    /// Returns the settings as all files say, trusted or not, for a command that only shows them.
    pub(crate) fn settings_as_written(&self) -> Result<Loaded, CliError> {
        Ok(config::load(&Sources {
            trust: Trust::OnlyLooking,
            ..self.sources(&[])
        })?)
    }

    /// Returns the settings for the review of a change: those of its base, unless the user trusts
    /// the project's file as it is.
    pub(crate) fn settings_for_review(
        &self,
        more: &[String],
        source: &ChangeSource,
        trusts_base: bool,
        asks: bool,
    ) -> Result<Loaded, CliError> {
        let mut sources = self.sources(more);
        sources.trust = Trust::Withheld;
        sources.trusts_base |= trusts_base;
        let project = sources.project();
        if !is_trusted(&sources, &project.file()) {
            let dir = self.ledger_dir(&self.settings_without_trust()?)?;
            let before = change::settings_before(&self.cwd, &dir, &project.root, source);
            let before = before.map_err(CaseError::from)?;
            if let Some(before) = before {
                let is_ours = dir.root() == project.root.join(".tribunal").join("ledger");
                if before.has_ledger && is_ours {
                    return Err(committed_ledger());
                }
                sources.base = Some(before.file);
            }
        }
        let loaded = config::load(&sources)?;
        if let Some(error) = unreadable_here(&loaded) {
            return Err(error);
        }
        match loaded.project_layer.lacking_trust() {
            Some(untrusted) if asks && is_interactive() => {
                match crate::commands::config::ask_for_trust(self, &untrusted) {
                    Ok(()) => Ok(config::load(&sources)?),
                    Err(_) => Ok(loaded),
                }
            }
            _ => Ok(loaded),
        }
    }

    /// Adds what the last commit says, where the project's file is not trusted as it is.
    fn with_last_commit(&self, mut sources: Sources) -> Sources {
        let project = sources.project();
        let file = project.file();
        if !file.is_file() || is_trusted(&sources, &file) {
            return sources;
        }
        // Without it there is less to go by, and nothing that is not trusted counts.
        let before = || {
            let dir = self.ledger_dir(&self.settings_without_trust().ok()?).ok()?;
            let source = ChangeSource::Uncommitted;
            change::settings_before(&self.cwd, &dir, &project.root, &source).ok()?
        };
        sources.base = before().map(|before| before.file);
        sources
    }

    /// Returns the directory of the ledger for these settings, for a command that writes.
    pub(crate) fn ledger_path(&self, loaded: &Loaded) -> Result<PathBuf, CliError> {
        let found = self.find_ledger(loaded, PlacePurpose::Writing)?;
        Ok(found.unwrap_or_else(|| loaded.state_dir.join("ledger")))
    }

    /// Returns the directory of the ledger for these settings; nothing if there is no ledger and
    /// `purpose` needs none.
    fn find_ledger(
        &self,
        loaded: &Loaded,
        purpose: PlacePurpose,
    ) -> Result<Option<PathBuf>, CliError> {
        let chosen = self.global.ledger.as_ref();
        if let Some(path) = chosen.or(loaded.settings.ledger.path.as_ref()) {
            return Ok(Some(self.path(path)));
        }
        let Some(project) = &loaded.project else {
            return Ok(Some(loaded.state_dir.join("ledger")));
        };
        let place = find_ledger_place(&loaded.state_dir, project, purpose)?;
        Ok(place.map(|place| {
            for note in &place.notes {
                self.say(note);
            }
            place.directory
        }))
    }

    fn ledger_dir(&self, loaded: &Loaded) -> Result<LedgerDir, CliError> {
        let path = self.ledger_path(loaded)?;
        let dir = LedgerDir::create(path.clone()).map_err(|error| {
            let text = format!("cannot make the ledger directory {}", path.display());
            match tribunal_store::is_full(&error) {
                true => unwritten(text, &error),
                false => CliError::new(Exit::Config, text)
                    .caused_by(&error)
                    .hint("Choose another place with `--ledger DIR`"),
            }
        })?;
        Ok(dir.with_places_in(&loaded.state_dir))
    }

    /// Returns an engine for a command that keeps records and starts nothing.
    pub(crate) async fn engine(&self) -> Result<Engine, CliError> {
        let sources = Sources {
            trust: Trust::Withheld,
            ..self.with_last_commit(self.sources(&[]))
        };
        let loaded = config::load(&sources)?;
        // What cannot be written can still be shown; whoever writes is refused then.
        self.open_engine(&loaded, LedgerAccess::ReadingIfMust).await
    }

    /// Returns an engine for a command that acts, with some settings of the command's own.
    pub(crate) async fn engine_with(&self, more: &[String]) -> Result<Engine, CliError> {
        self.engine_of(&self.settings(more)?).await
    }

    /// Returns an engine with these settings.
    pub(crate) async fn engine_of(&self, loaded: &Loaded) -> Result<Engine, CliError> {
        self.open_engine(loaded, LedgerAccess::Writing).await
    }

    async fn open_engine(&self, loaded: &Loaded, access: LedgerAccess) -> Result<Engine, CliError> {
        let dir = match self.ledger_dir(loaded) {
            Err(refused) if access == LedgerAccess::ReadingIfMust => {
                let found = self.find_ledger(loaded, PlacePurpose::Reading);
                let found = found.ok().flatten();
                let path = found.filter(|path| path.join("ledger.db").is_file());
                let dir = LedgerDir::existing(path.ok_or(refused)?);
                dir.with_places_in(&loaded.state_dir)
            }
            made => made?,
        };
        let executable = std::env::current_exe().map_err(|error| {
            CliError::new(Exit::Internal, "cannot find our own program").caused_by(&error)
        })?;
        let surroundings = Surroundings {
            env: self.env.clone(),
            executable,
            project: loaded.project.clone(),
            access,
        };
        let engine = Engine::open(&loaded.settings, dir, surroundings).await?;
        self.remember(engine.ledger().store());
        Ok(engine)
    }

    fn remember(&self, store: &Arc<dyn Store>) {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        stores.push(Arc::clone(store));
    }

    /// Closes all ledgers that were opened. The last process that leaves a ledger folds its write-ahead
    /// log into the database.
    pub(crate) async fn close_stores(&self) {
        let stores =
            std::mem::take(&mut *self.stores.lock().unwrap_or_else(PoisonError::into_inner));
        for store in stores {
            // Somebody may still read; what is not tidied up is left to the next process.
            let _ = tokio::time::timeout(Duration::from_secs(5), store.close()).await;
        }
    }

    /// Lets the engine ask the person at the terminal, if there is one.
    pub(crate) fn asking(&self, engine: Engine) -> Engine {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        match is_terminal {
            true => engine.with_human(Arc::new(Terminal)),
            false => engine,
        }
    }

    /// Returns the store if there is a ledger; makes none.
    pub(crate) async fn existing_store(&self) -> Result<Option<Arc<dyn Store>>, CliError> {
        Ok(self.existing_ledger().await?.map(|(store, _)| store))
    }

    /// Returns store and directory if there is a ledger; makes none.
    pub(crate) async fn existing_ledger(
        &self,
    ) -> Result<Option<(Arc<dyn Store>, LedgerDir)>, CliError> {
        let loaded = self.settings_without_trust()?;
        let Some(path) = self.find_ledger(&loaded, PlacePurpose::Reading)? else {
            return Ok(None);
        };
        let unusable = |error: std::io::Error| {
            CliError::new(
                Exit::Config,
                format!("cannot use the ledger {}", path.display()),
            )
            .caused_by(&error)
        };
        let dir = LedgerDir::existing(path.clone()).with_places_in(&loaded.state_dir);
        // Other files of a ledger without its database mean that something was lost.
        if !dir.database().try_exists().map_err(unusable)? && !dir.was_used() {
            return Ok(None);
        }
        let synchronous = loaded.settings.ledger.synchronous;
        let store = open_store(&dir, synchronous, LedgerAccess::ReadingIfMust).await?;
        self.remember(&store);
        Ok(Some((store, dir)))
    }

    /// Returns store and directory; without a ledger, `case` is simply not known.
    pub(crate) async fn required_store(
        &self,
        case: &str,
    ) -> Result<(Arc<dyn Store>, LedgerDir), CliError> {
        let ledger = self.existing_ledger().await?;
        ledger.ok_or_else(|| {
            StoreError::NoSuchCase {
                text: case.to_owned(),
            }
            .into()
        })
    }

    /// Returns the reporter of what happens on the way to a result of `format`.
    pub(crate) fn reporter(&self, format: Format) -> Box<dyn Reporter> {
        match format {
            Format::Jsonl => Box::new(JsonLines(std::io::stdout())),
            Format::Text | Format::Json if self.global.quiet => Box::new(Silent),
            Format::Text | Format::Json if std::io::stderr().is_terminal() => {
                Box::new(LiveProgress::new())
            }
            Format::Text | Format::Json => Box::new(Lines::live(std::io::stderr())),
        }
    }

    /// Returns the reporter of a command whose result is the events themselves.
    pub(crate) fn event_reporter(&self, format: Format) -> Box<dyn Reporter> {
        match format {
            Format::Jsonl | Format::Json => Box::new(JsonLines(std::io::stdout())),
            Format::Text => Box::new(Lines::history(std::io::stdout())),
        }
    }

    /// Does `work`. The first Ctrl-C lets running agents finish and starts no new ones; the second,
    /// or a request to terminate, ends them too.
    ///
    /// It comes in a box, because it is large and would be copied on its way to the runtime.
    pub(crate) async fn stoppable<T>(
        &self,
        engine: &Engine,
        work: Pin<Box<impl Future<Output = T>>>,
    ) -> T {
        let watcher = tokio::spawn(stopping::watch(
            stopping::Signals::listen(),
            engine.stop_switch().clone(),
            self.global.quiet,
        ));
        let result = work.await;
        watcher.abort();
        result
    }

    /// Writes a file that the user named; `-` names none.
    pub(crate) fn write_file(&self, named: &Path, text: &str) -> Result<PathBuf, CliError> {
        let path = self.path(named);
        if named == Path::new("-") {
            let text = "`-` is not standard output here";
            return Err(CliError::new(Exit::Usage, text)
                .hint("Name `/dev/stdout`, or `./-` for a file that is called so"));
        }
        write_user_file(&path, text.as_bytes()).map_err(|error| {
            let text = format!("cannot write {}", path.display());
            match tribunal_store::is_full(&error) {
                true => unwritten(text, &error),
                false => CliError::new(Exit::Usage, text).caused_by(&error),
            }
        })?;
        Ok(path)
    }

    /// Prints a part of the result.
    pub(crate) fn print(&self, text: &str) -> Result<(), CliError> {
        match anstream::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(unwritten("cannot write the result", &error))
            }
            // Whoever closed the pipe has seen enough.
            _ => Ok(()),
        }
    }

    /// Prints the result as JSON.
    pub(crate) fn print_json(&self, value: &serde_json::Value) -> Result<(), CliError> {
        self.print(&format!("{value:#}\n"))
    }

    /// Tells the user something that is not the result.
    pub(crate) fn say(&self, text: &str) {
        if !self.global.quiet {
            let text = match std::io::stderr().is_terminal() {
                true => wrapped(text, stderr_width()),
                false => format!("{text}\n"),
            };
            let _ = anstream::stderr().write_all(text.as_bytes());
        }
    }

    /// Returns an empty table that looks like all of ours.
    pub(crate) fn table(&self, header: &[&str]) -> Table {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        // A person's screen has its width; a program that reads lines wants them whole.
        match terminal_size::terminal_size_of(std::io::stdout()) {
            Some((width, _)) => table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(width.0),
            None => table.set_content_arrangement(ContentArrangement::Disabled),
        };
        table.set_header(header);
        table
    }

    /// Returns a table of which no row is broken: it stays within the width of the screen, or 80
    /// columns where there is none, by cutting what stands in the `yielding` columns.
    pub(crate) fn fitted_table<const N: usize>(
        &self,
        header: &[&str; N],
        mut rows: Vec<[String; N]>,
        yielding: &[usize],
    ) -> Table {
        let screen = terminal_size::terminal_size_of(std::io::stdout());
        let width = screen.map_or(80, |(width, _)| usize::from(width.0));
        fit(header, &mut rows, yielding, width);
        let mut table = self.table(header);
        table.add_rows(rows);
        table
    }
}

/// Tells whether somebody is there to be asked.
fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn is_trusted(sources: &Sources, file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|content| {
        let hash = files::hash_of(&content);
        sources.trust_store().is_trusted(file, &hash)
    })
}

fn committed_ledger() -> CliError {
    let text = "the ledger in `.tribunal/ledger` came with a commit, so its rulings prove nothing";
    CliError::new(Exit::Config, text)
        .hint("Take it out of the repository with `git rm -r --cached .tribunal/ledger`")
        .hint("Or keep another ledger with `--ledger DIR`")
}

/// Returns the error for settings that somebody here has written and nobody can read. Without it a
/// slip of the pen would take the configured reviewers away and let a change pass. A file that a
/// commit brings along is its author's word, and the settings of the base decide without it.
fn unreadable_here(loaded: &Loaded) -> Option<CliError> {
    let layer = &loaded.project_layer;
    let why = layer.unreadable.as_ref()?;
    let text = format!("`.tribunal/config.yml` cannot be read: {why}");
    layer.is_written_here.then(|| {
        CliError::new(Exit::Config, text)
            .hint("Correct the file; `tribunal config validate` says where it is wrong")
    })
}
