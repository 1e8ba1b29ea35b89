//! `tribunal config`.

use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Subcommand;
use serde_json::{Value, json};
use tribunal_core::text::for_terminal;
use tribunal_engine::config::{
    self, Change, CommandLine, ConfigError, Editor, Layer, Origin, Shown, Sources, Target, Trust,
    Untrusted,
};

use crate::error::CliError;
use crate::exit::Exit;
use crate::invocation::Invocation;

/// Show and change the settings
///
/// Later layers win: built-in defaults, your own file, the project's file, TRIBUNAL_* variables,
/// --set.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tribunal config show --changed\n  \
    tribunal config get review.on_dispute.default\n  \
    tribunal config set review.on_dispute.default human\n  \
    tribunal config add review.ignore '*.snap'\n  \
    tribunal config validate")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List every setting with its value and where it came from
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Leave out what has its default value
        #[arg(long)]
        changed: bool,
        /// Print the commented defaults instead
        #[arg(long, conflicts_with_all = ["json", "changed"])]
        defaults: bool,
    },
    /// Print one setting, or a section
    Get {
        /// Such as `review.on_dispute.default` or `agents.NAME.model`
        key: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change a setting in a file; its comments stay
    Set {
        /// Such as `review.on_dispute.default` or `agents.NAME.model`
        key: String,
        /// The value, as in YAML: `judge`, `5m`, `[HIGH, MEDIUM]`
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Change your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Add a value to a list in a file; what the list holds stays
    Add {
        /// Such as `review.ignore` or `review.may_skip`
        key: String,
        /// The value, as in YAML: `*.snap`, `symlink`
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Change your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Take a setting out of a file, so that lower layers show through
    Unset {
        /// Such as `review.on_dispute.default` or `agents.NAME.model`
        key: String,
        /// Change your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Open a file in your editor; it is kept only if it is valid
    Edit {
        /// Edit your own file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Check the configuration, or one file
    Validate {
        /// The file to check in place of the project's
        file: Option<PathBuf>,
    },
    /// Print the JSON schema of config files
    Schema,
    /// Print where the files are
    Path {
        /// Print only the path of your own file
        #[arg(long)]
        user: bool,
    },
    /// Trust the project's file with exactly its present content
    Trust {
        /// Trust it no longer
        #[arg(long)]
        revoke: bool,
    },
}

/// Carries out the action.
pub(crate) fn run(invocation: &Invocation, args: Args) -> Result<Exit, CliError> {
    let mut out = Vec::new();
    let mut surface = Surface {
        sources: invocation.sources(&[]),
        out: &mut out,
        say: &|text| invocation.say(text),
    };
    let done = surface.act(args.action);
    invocation.print(&String::from_utf8_lossy(&out))?;
    done.map(|()| Exit::Pass)
}

/// Asks on the terminal whether the project's config may be trusted; an error when it may not.
pub(crate) fn ask_for_trust(
    invocation: &Invocation,
    untrusted: &Untrusted,
) -> Result<(), CliError> {
    let refused = || CliError::from(ConfigError::Untrusted(untrusted.clone()));
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(refused());
    }
    let mut question = format!(
        "{} comes with this project and sets:\n",
        untrusted.file.display()
    );
    question += &listed(&untrusted.sensitive);
    invocation.say(for_terminal(question.trim_end()).as_ref());
    let answer = inquire::Confirm::new("Do you trust it?")
        .with_default(false)
        .prompt();
    if !answer.unwrap_or(false) {
        return Err(refused());
    }
    let store = invocation.sources(&[]).trust_store();
    // What was shown is trusted, even if the file changed in the meantime.
    Ok(store.trust(&untrusted.file, &untrusted.hash)?)
}

fn listed(sensitive: &[(String, String)]) -> String {
    let line = |(key, value): &(String, String)| format!("  {key} = {value}\n");
    sensitive.iter().map(line).collect()
}

/// What the actions see of the world.
struct Surface<'s> {
    sources: Sources,
    /// Where the result goes.
    out: &'s mut dyn Write,
    /// Where remarks go.
    say: &'s dyn Fn(&str),
}

impl Surface<'_> {
    fn act(&mut self, action: Action) -> Result<(), CliError> {
        match action {
            Action::Show { defaults: true, .. } => self.print(config::DEFAULTS),
            Action::Show { json, changed, .. } => self.show(json, changed),
            Action::Get { key, json } => self.get(&key, json),
            Action::Set { key, value, user } => {
                let editor = Editor::new(&self.sources, target(user))?;
                let change = editor.set(&key, &value)?;
                self.tell(change, &format!("Set `{key}`"), &editor)?;
                self.tell_what_wins(&key, user)
            }
            Action::Add { key, value, user } => self.add(&key, &value, user),
            Action::Unset { key, user } => {
                let editor = Editor::new(&self.sources, target(user))?;
                let change = editor.unset(&key)?;
                self.tell(change, &format!("Took out `{key}`"), &editor)
            }
            Action::Edit { user } => self.edit(target(user)),
            Action::Validate { file } => self.validate(file.as_deref()),
            Action::Schema => self.print(&format!("{:#}\n", config::schema())),
            Action::Path { user } => self.path(user),
            Action::Trust { revoke } => self.trust(revoke),
        }
    }

    /// Adds a value to a list. A list replaces that of a lower layer, so all of it is written.
    fn add(&self, key: &str, value: &str, user: bool) -> Result<(), CliError> {
        let now = config::load(&self.looking())?.get(key)?;
        let Value::Array(mut list) = now else {
            let text = format!("`{key}` is not a list");
            let hint = format!("Run `tribunal config set {key} VALUE`");
            return Err(CliError::new(Exit::Usage, text).hint(hint));
        };
        let value = Value::String(value.to_owned());
        if list.contains(&value) {
            (self.say)(&format!("`{key}` holds it already."));
            return Ok(());
        }
        list.push(value);
        let editor = Editor::new(&self.sources, target(user))?;
        let change = editor.set(key, &Value::Array(list).to_string())?;
        self.tell(change, &format!("Added to `{key}`"), &editor)?;
        self.tell_what_wins(key, user)
    }

    fn show(&mut self, json: bool, changed: bool) -> Result<(), CliError> {
        let loaded = config::load(&self.looking())?;
        let mut shown = loaded.show();
        shown.retain(|one| !changed || one.origin.layer != Layer::Default);
        if json {
            let settings: Vec<_> = shown.iter().map(shown_json).collect();
            let all = json!({ "schema": "tribunal.config.v1", "settings": settings });
            return self.print(&format!("{all:#}\n"));
        }
        let text: String = shown.iter().map(shown_line).collect();
        self.print(&for_terminal(&text))
    }

    fn get(&mut self, key: &str, json: bool) -> Result<(), CliError> {
        let value = config::load(&self.looking())?.get(key)?;
        let text = match &value {
            Value::String(text) if !json => text.clone(),
            _ if json => format!("{value:#}"),
            _ => value.to_string(),
        };
        self.print(&format!("{}\n", for_terminal(&text)))
    }

    fn validate(&mut self, file: Option<&Path>) -> Result<(), CliError> {
        let mut sources = self.looking();
        if let Some(file) = file {
            let path = self.sources.cwd.join(file);
            std::fs::metadata(&path).map_err(|error| CliError::unreadable(file, &error))?;
            let file = path.display().to_string();
            sources.env.insert("TRIBUNAL_CONFIG".to_owned(), file);
        }
        let loaded = config::load(&sources)?;
        let store = sources.trust_store();
        for file in &loaded.files {
            let untrusted = file.layer == Layer::Project
                && !file.sensitive.is_empty()
                && !store.is_trusted(&file.path, &file.hash);
            let remark = if untrusted { ", not trusted yet" } else { "" };
            self.print(&format!("{}: valid{remark}\n", file.path.display()))?;
        }
        if loaded.files.is_empty() {
            self.print("There is no config file; the defaults hold.\n")?;
        }
        Ok(())
    }

    fn path(&mut self, user: bool) -> Result<(), CliError> {
        let own = Editor::new(&self.sources, Target::User);
        if user {
            let own = own?.file().display().to_string();
            return self.print(&format!("{own}\n"));
        }
        let project = self.sources.project().file();
        let own = own.map(|editor| editor.file().to_owned()).ok();
        let files = [("user", own), ("project", Some(project))];
        for (layer, file) in files {
            let Some(file) = file else { continue };
            let missing = if file.exists() {
                ""
            } else {
                " (does not exist)"
            };
            self.print(&format!("{layer}: {}{missing}\n", file.display()))?;
        }
        Ok(())
    }

    fn trust(&mut self, revoke: bool) -> Result<(), CliError> {
        let store = self.sources.trust_store();
        let loaded = config::load(&self.looking())?;
        let file = loaded
            .files
            .iter()
            .find(|file| file.layer == Layer::Project);
        let Some(file) = file else {
            let text = "this project has no config file";
            return Err(CliError::new(Exit::NotFound, text));
        };
        let shown = file.path.display();
        if revoke {
            store.distrust(&file.path)?;
            (self.say)(&format!("{shown} is not trusted any more."));
            return Ok(());
        }
        store.trust(&file.path, &file.hash)?;
        let sensitive = listed(&file.sensitive);
        (self.say)(
            for_terminal(&format!("{shown} is trusted as it is now.\n{sensitive}")).trim_end(),
        );
        Ok(())
    }

    fn edit(&mut self, target: Target) -> Result<(), CliError> {
        let editor = Editor::new(&self.sources, target)?;
        let text = editor.text()?.unwrap_or_else(|| {
            "# Settings; `tribunal config show --defaults` prints all of them.\n".to_owned()
        });
        let draft = Draft::new(&text)?;
        loop {
            self.open(&draft.path)?;
            let text = std::fs::read_to_string(&draft.path)
                .map_err(|error| unusable(&draft.path, &error))?;
            match editor.replace(&text) {
                Ok(change) => {
                    return self.tell(change, "Changed the settings", &editor);
                }
                Err(error) => {
                    let asking = std::io::stdin().is_terminal();
                    if asking {
                        (self.say)(&for_terminal(&error.to_string()));
                    }
                    let again = || {
                        inquire::Confirm::new("Edit again?")
                            .with_default(true)
                            .prompt()
                    };
                    if !(asking && again().unwrap_or(false)) {
                        return Err(CliError::from(error).hint("The file was left as it was"));
                    }
                }
            }
        }
    }

    /// Runs the user's editor on `path`.
    fn open(&self, path: &Path) -> Result<(), CliError> {
        let named = ["VISUAL", "EDITOR"]
            .iter()
            .find_map(|name| self.sources.env.get(*name));
        let command = named.map_or("vi", String::as_str);
        let unfit = || CliError::new(Exit::Usage, format!("cannot run the editor `{command}`"));
        let line = CommandLine::parse(command).ok_or_else(unfit)?;
        let (program, arguments) = line.argv().split_first().ok_or_else(unfit)?;
        let status = Command::new(program).args(arguments).arg(path).status();
        let status =
            status.map_err(|error| unfit().caused_by(&error).hint("Set the variable EDITOR"))?;
        if status.success() {
            return Ok(());
        }
        Err(CliError::new(
            Exit::Usage,
            format!("the editor `{command}` failed; nothing was changed"),
        ))
    }

    /// Returns the sources for looking without acting, for which no trust is needed.
    fn looking(&self) -> Sources {
        Sources {
            trust: Trust::OnlyLooking,
            ..self.sources.clone()
        }
    }

    fn tell(&self, change: Change, done: &str, editor: &Editor<'_>) -> Result<(), CliError> {
        let file = editor.file().display();
        match change {
            Change::Written => (self.say)(&format!("{done} in {file}.")),
            Change::None => (self.say)(&format!("{file} says so already.")),
        }
        if !editor.counts()? {
            (self.say)(
                "The file is not trusted, so it does not count yet: read it, then trust it with \
                 `tribunal config trust`.",
            );
        }
        Ok(())
    }

    /// Says which later layer sets the same key, so that the value just written does not count.
    fn tell_what_wins(&self, key: &str, user: bool) -> Result<(), CliError> {
        let own = if user { Layer::User } else { Layer::Project };
        let below = format!("{key}.");
        let shown = config::load(&self.looking())?.show();
        let winner = shown.iter().find(|one| {
            let is_meant = one.key == key || one.key.starts_with(&below);
            is_meant && one.origin.layer > own
        });
        if let Some(one) = winner {
            let (key, origin) = (&one.key, origin_words(&one.origin));
            (self.say)(&for_terminal(&format!(
                "This does not count now, because `{key}` is also set elsewhere, which wins: {origin}."
            )));
        }
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), CliError> {
        let written = self.out.write_all(text.as_bytes());
        written.map_err(|error| {
            CliError::new(Exit::Internal, "cannot write the result").caused_by(&error)
        })
    }
}

fn target(user: bool) -> Target {
    if user { Target::User } else { Target::Project }
}

fn shown_line(shown: &Shown) -> String {
    format!(
        "{} = {}  # {}\n",
        shown.key,
        shown.written(),
        origin_words(&shown.origin)
    )
}

fn origin_words(origin: &Origin) -> String {
    match origin.layer {
        Layer::Default => "default".to_owned(),
        layer => format!("{}: {origin}", layer.as_str()),
    }
}

fn shown_json(shown: &Shown) -> Value {
    let origin = &shown.origin;
    json!({
        "key": shown.key,
        "value": shown.value,
        "layer": origin.layer.as_str(),
        "file": origin.file,
        "name": origin.name,
        "line": (origin.line > 0).then_some(origin.line),
        "column": (origin.column > 0).then_some(origin.column),
    })
}

fn unusable(path: &Path, error: &std::io::Error) -> CliError {
    let text = format!("cannot use the draft {}", path.display());
    CliError::new(Exit::Internal, text).caused_by(error)
}

/// A copy for the editor, which may write what it likes; gone when dropped.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn new(text: &str) -> Result<Self, CliError> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let path = std::env::temp_dir().join(format!("tribunal-{}.yml", std::process::id()));
        let mut options = std::fs::OpenOptions::new();
        let created = options.write(true).create_new(true).mode(0o600).open(&path);
        let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| unusable(&path, &error))?;
        Ok(Self { path })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Best effort: a leftover draft in the temporary directory harms nobody.
        let _ = std::fs::remove_file(&self.path);
    }
}
