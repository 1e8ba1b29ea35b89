//! Changes config files for the user: comments stay, and nothing is written that would not load.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tribunal_core::ids::AgentName;

use super::agent::AgentSettings;
use super::error::{ConfigError, Layer};
use super::given::{agent_names, read_value};
use super::key::Key;
use super::layers::{self, for_each_leaf, merge, with_agents_listed};
use super::node::{self, Kind, Mark, Node, Source};
use super::settings::Settings;
use super::surgery::Surgery;
use super::{Sources, Trust, load_replacing, read};
use crate::files::create_private_dir;

/// Whose config is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The project's.
    Project,
    /// The user's own.
    User,
}

/// Whether an edit changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The file was written.
    Written,
    /// The file says so already.
    None,
}

/// Changes one config file.
pub struct Editor<'s> {
    sources: &'s Sources,
    layer: Layer,
    file: PathBuf,
}

/// What a file holds before a change.
struct Before {
    bytes: Option<Vec<u8>>,
    text: String,
    /// The values as written.
    raw: Node,
    /// The values in the common shape.
    tree: Node,
}

impl<'s> Editor<'s> {
    /// Returns the editor of the config of `target`; the file need not exist yet.
    pub fn new(sources: &'s Sources, target: Target) -> Result<Self, ConfigError> {
        let (layer, file) = match target {
            Target::Project => (Layer::Project, sources.project().file()),
            Target::User => {
                let file = sources.user_file().ok_or_else(|| ConfigError::File {
                    file: PathBuf::from(super::FILE_NAME),
                    action: "find a place for",
                    source: std::io::Error::other("neither HOME nor XDG_CONFIG_HOME is set"),
                })?;
                (Layer::User, file)
            }
        };
        Ok(Self {
            sources,
            layer,
            file,
        })
    }

    /// Returns the file that is changed.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Sets `key` to `value`, read as YAML.
    pub fn set(&self, key: &str, typed: &str) -> Result<Change, ConfigError> {
        let before = self.before()?;
        let key = Key::parse(key, agent_names(&before.tree))?;
        let mark = new_value_mark(self.layer);
        let value = read_value(typed, &mark);
        let added = key.tree(value.clone(), &mark);
        let says = |own: &&[&str]| added.at(own).is_some();
        if self.layer == Layer::Project && read::USERS_OWN.iter().any(says) {
            return Err(ConfigError::UsersOwn {
                file: self.file.clone(),
                key: key.to_string(),
                value: typed.to_owned(),
            });
        }
        // The value alone must fit its key: the complaint is then about what was typed.
        if let ["agents"] | ["agents", _] | ["agents", _, "name"] = key.parts().as_slice() {
            let reason = "agents are added and removed with `connect` and `disconnect`".to_owned();
            return Err(self.refused(&key.to_string(), reason));
        }
        super::de::from_node::<Settings>(&with_agents_listed(added.clone()))?;
        let mut wanted = before.tree.clone();
        merge(&mut wanted, added);
        if same(&wanted, &before.tree) {
            return Ok(Change::None);
        }
        let refused = |reason| self.refused(&key.to_string(), reason);
        let text = Surgery::new(&before.text, &before.raw)
            .and_then(|surgery| surgery.set(&key, &value))
            .map_err(refused)?;
        self.write(&before, &key.to_string(), &text, &wanted)
    }

    /// Takes `key` out of the file, so that lower layers show through.
    pub fn unset(&self, key: &str) -> Result<Change, ConfigError> {
        let before = self.before()?;
        let parsed = Key::parse(key, agent_names(&before.tree))?;
        if before.tree.at(&parsed.parts()).is_none() {
            // It may be set elsewhere or nowhere; what is no setting at all is a slip.
            let mut looking = self.sources.clone();
            looking.trust = Trust::OnlyLooking;
            load_replacing(&looking, None)?.get(key)?;
            return Ok(Change::None);
        }
        self.remove(&before, &parsed)
    }

    /// Adds `agent` at the end of the list.
    pub fn add_agent(&self, agent: &AgentSettings) -> Result<Change, ConfigError> {
        let before = self.before()?;
        let name = agent.name.as_str();
        let key = format!("agents.{name}");
        if agent_names(&before.tree).contains(&name) {
            let reason = "there is an agent of that name already".to_owned();
            return Err(self.refused(&key, reason));
        }
        let block = block_of(agent).map_err(|reason| self.refused(&key, reason))?;
        let entry = node::parse(
            &format!("agents:\n- {block}"),
            &new_value_mark(self.layer).source,
        )?;
        let mut wanted = before.tree.clone();
        merge(&mut wanted, layers::normalize(entry)?);
        let text = Surgery::new(&before.text, &before.raw)
            .and_then(|surgery| surgery.append_agent(&block))
            .map_err(|reason| self.refused(&key, reason))?;
        self.write(&before, &key, &text, &wanted)
    }

    /// Takes the agent of `name` out of the list.
    pub fn remove_agent(&self, name: &AgentName) -> Result<Change, ConfigError> {
        let before = self.before()?;
        let key = Key::parse(&format!("agents.{name}"), agent_names(&before.tree))?;
        match before.tree.at(&key.parts()) {
            Some(_) => self.remove(&before, &key),
            None => Ok(Change::None),
        }
    }

    /// Replaces the whole file by `text`, as edited by the user.
    pub fn replace(&self, text: &str) -> Result<Change, ConfigError> {
        let current = self.bytes()?;
        if current.as_deref() == Some(text.as_bytes()) {
            return Ok(Change::None);
        }
        self.validate(text)?;
        // A file that could not be read could not be trusted either.
        let keeps_trust = self
            .before()
            .is_ok_and(|before| self.may_keep_trust(&before));
        self.store(text, keeps_trust)
    }

    /// Returns the text of the file; nothing when it does not exist.
    pub fn text(&self) -> Result<Option<String>, ConfigError> {
        let bytes = self.bytes()?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn bytes(&self) -> Result<Option<Vec<u8>>, ConfigError> {
        read::bytes(&self.file, &self.source())
    }

    fn source(&self) -> Arc<Source> {
        read::source(self.layer, &self.file, &self.sources.cwd)
    }

    fn remove(&self, before: &Before, key: &Key) -> Result<Change, ConfigError> {
        let mut wanted = before.tree.clone();
        layers::remove(&mut wanted, &key.parts());
        let text = Surgery::new(&before.text, &before.raw)
            .and_then(|surgery| surgery.unset(key))
            .map_err(|reason| self.refused(&key.to_string(), reason))?;
        self.write(before, &key.to_string(), &text, &wanted)
    }

    fn before(&self) -> Result<Before, ConfigError> {
        let source = self.source();
        let bytes = self.bytes()?;
        let text = read::text(bytes.as_deref().unwrap_or_default(), &source)?.to_owned();
        let raw = node::parse(&text, &source)?;
        Ok(Before {
            tree: layers::normalize(raw.clone())?,
            bytes,
            text,
            raw,
        })
    }

    /// Writes `text` if it holds exactly what was `wanted` and loads together with the other layers.
    fn write(
        &self,
        before: &Before,
        key: &str,
        text: &str,
        wanted: &Node,
    ) -> Result<Change, ConfigError> {
        let result = node::parse(text, &self.source()).and_then(layers::normalize);
        if !result.is_ok_and(|result| same(&result, wanted)) {
            let reason = "the result would not say what was wanted".to_owned();
            return Err(self.refused(key, reason));
        }
        self.validate(text)?;
        self.store(text, self.may_keep_trust(before))
    }

    /// Checks that the files load when this one holds `text`.
    fn validate(&self, text: &str) -> Result<(), ConfigError> {
        // Variables and flags of this moment say nothing about the file.
        let mut files_only = self.sources.clone();
        files_only
            .env
            .retain(|name, _| !name.starts_with("TRIBUNAL_"));
        files_only.overrides.clear();
        files_only.trust = Trust::OnlyLooking;
        load_replacing(&files_only, Some((&self.file, text.as_bytes()))).map(drop)
    }

    fn store(&self, text: &str, keeps_trust: bool) -> Result<Change, ConfigError> {
        replace_file(self.layer, &self.file, text.as_bytes()).map_err(|source| {
            ConfigError::File {
                file: self.file.clone(),
                action: "write",
                source,
            }
        })?;
        if keeps_trust {
            let hash = read::hash(text.as_bytes());
            self.sources.trust_store().trust(&self.file, &hash)?;
        }
        Ok(Change::Written)
    }

    /// What the user changes with our own commands is trusted, if everything else in the file was:
    /// one value of the user's does not vouch for what others wrote around it.
    fn may_keep_trust(&self, before: &Before) -> bool {
        if self.layer != Layer::Project || self.sources.state_dir.is_none() {
            return false;
        }
        let mut says_nothing = true;
        for_each_leaf(&before.tree, &mut |_, _| says_nothing = false);
        says_nothing || self.is_trusted_as(before.bytes.as_deref().unwrap_or_default())
    }

    fn is_trusted_as(&self, content: &[u8]) -> bool {
        let store = self.sources.trust_store();
        store.is_trusted(&self.file, &read::hash(content))
    }

    /// Tells whether the file counts as it is now: the user's own always does, the project's when it
    /// is trusted.
    pub fn counts(&self) -> Result<bool, ConfigError> {
        Ok(match self.bytes()? {
            Some(content) if self.layer == Layer::Project => self.is_trusted_as(&content),
            _ => true,
        })
    }

    fn refused(&self, key: &str, reason: String) -> ConfigError {
        ConfigError::Edit {
            file: self.file.clone(),
            key: key.to_owned(),
            reason,
        }
    }
}

fn new_value_mark(layer: Layer) -> Mark {
    let source = Source {
        layer,
        file: None,
        name: Some("the new value".to_owned()),
    };
    Mark {
        source: Arc::new(source),
        line: 0,
        column: 0,
    }
}

/// Tells whether two trees say the same; empty sections say nothing.
fn same(left: &Node, right: &Node) -> bool {
    fn plain(node: &Node) -> serde_json::Value {
        match &node.kind {
            Kind::Map(entries) => {
                let pairs = entries
                    .iter()
                    .map(|entry| (&entry.key, plain(&entry.value)));
                let says = |(_, value): &(&String, serde_json::Value)| {
                    !value.is_null() && value.as_object().is_none_or(|map| !map.is_empty())
                };
                pairs
                    .filter(says)
                    .map(|(key, value)| (key.clone(), value))
                    .collect()
            }
            // The text as written keeps `1.0` and `1` apart.
            Kind::Number(_) | Kind::Bool(_) => match &node.written {
                Some(written) => written.trim().into(),
                None => node.to_json(),
            },
            Kind::List(items) => items.iter().map(plain).collect(),
            Kind::Null | Kind::Text(_) => node.to_json(),
        }
    }
    let listed = |tree: &Node| {
        let mut tree = tree.clone();
        if agent_names(&tree).is_empty() {
            layers::remove(&mut tree, &["agents"]);
        }
        plain(&with_agents_listed(tree))
    };
    listed(left) == listed(right)
}

/// Returns the settings of `agent` as the lines of a YAML mapping, indented for a list.
fn block_of(agent: &AgentSettings) -> Result<String, String> {
    let value = serde_json::to_value(agent).map_err(|error| error.to_string())?;
    let fields = value.as_object().ok_or("an agent is a mapping")?;
    let lines: Vec<String> = fields
        .iter()
        .map(|(key, value)| {
            // One role reads better without brackets.
            let value = match value.as_array().map(Vec::as_slice) {
                Some([only]) if key == "role" => only,
                _ => value,
            };
            format!("{key}: {}", super::surgery::flow(value))
        })
        .collect();
    Ok(lines.join("\n  ") + "\n")
}

/// Replaces a file at once, keeping its mode and writing through a link. A new file is the user's
/// own affair in the user's layer, and shared like the rest of the repository in the project's.
fn replace_file(layer: Layer, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().unwrap_or(Path::new("."));
    let mode = match layer {
        Layer::User => {
            create_private_dir(directory)?;
            0o600
        }
        _ => {
            std::fs::create_dir_all(directory)?;
            0o664
        }
    };
    let temporary = directory.join(format!(".config.{}", uuid::Uuid::new_v4().simple()));
    let write = || {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&temporary)?;
        if let Ok(existing) = path.metadata() {
            file.set_permissions(existing.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, &path)?;
        std::fs::File::open(directory)?.sync_all()
    };
    let written = write();
    if written.is_err() {
        // Best effort: the error that matters is the one we return.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}
