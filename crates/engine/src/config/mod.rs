//! Typed settings from layers: defaults, user, project, environment, flags; each value knows its
//! origin.
//!
//! [`load`] reads what [`Sources`] names and nothing else, so tests see exactly what they give.
//! The types are the one description of the settings: the defaults are their `Default`, the schema
//! and the reference are made from their doc comments, and `defaults.yml` is checked against them.

mod agent;
mod authority;
mod check;
mod command;
mod de;
mod disputes;
mod edit;

mod error;
mod given;
mod key;
mod layers;
mod node;
mod policy;
mod problem;
mod project;
mod read;
mod review;
mod roster;
mod rule_ids;
mod sandbox;
mod schema;
mod settings;
mod show;
mod spec;
mod surgery;
mod trial;
mod trust;
mod values;
mod work;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) use agent::account_of;
pub use agent::{
    AgentBudget, AgentLimits, AgentSettings, LoginChoice, PriceSettings, Provider, Reach,
};
pub use command::CommandLine;
pub use disputes::{DisputeSettings, OnMajor, PrecedentSettings, StaleAlert};
pub use edit::{Change, Editor, Target};
pub use error::{ConfigError, Layer, Origin, Untrusted};
pub use key::Key;
pub use policy::ReviewPolicy;
pub(crate) use project::edited_keys;
pub use project::{BaseFile, ProjectLayer};
pub use review::{
    ArbitrationSettings, Builtin, EscalateTo, IssueSettings, JudgeSettings, OnDispute,
    OpinionSettings, ReviewSettings, Rounds,
};
pub use roster::{Roster, SCRIPTED};
pub use sandbox::{ConfinedRole, SandboxSettings};
pub use schema::{reference, schema};
pub use settings::{
    AdvisorySettings, AdvisorySource, ArbiterSettings, BudgetSettings, LedgerSettings,
    LimitSettings, ProviderSettings, RetentionSettings, RetrySettings, Settings, Synchronous,
};
pub use show::Shown;
pub use spec::{SpecContext, SpecError};
pub use trial::{ProjectSettings, TrialSettings, Weighing};
pub use tribunal_core::dispute::Recourse;
pub use trust::TrustStore;
pub use values::{Size, Span, Temperature, Usd};
pub use work::{GitSettings, PlanChoice, PushChoice, RuleQuestion, RuleSettings, RunSettings};

use node::{Kind, Map, Mark, Node, Source};

/// The commented defaults, the reference for people.
pub const DEFAULTS: &str = include_str!("../../defaults.yml");

/// Name of the project's directory for everything of ours.
pub(crate) const PROJECT_DIR: &str = ".tribunal";

/// Name of the config file in the project's and the user's directory.
pub const FILE_NAME: &str = "config.yml";

/// Reads a YAML file that is not a config, with the limits of one, as JSON.
pub(crate) fn read_yaml(text: &str) -> Result<serde_json::Value, String> {
    let source = Source {
        layer: Layer::Project,
        file: None,
        name: None,
    };
    let read = node::parse(text, &std::sync::Arc::new(source));
    let told = |error| match error {
        ConfigError::Invalid {
            origin, message, ..
        } if origin.line > 0 => format!("line {}: {message}", origin.line),
        error => error.to_string(),
    };
    read.map(|node| node.to_json()).map_err(told)
}

/// Everything that the configuration is made from.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Where we are; the project is looked for from here upwards.
    pub cwd: PathBuf,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// The directory of the user's config file.
    pub user_dir: Option<PathBuf>,
    /// The directory of what we remember for the user, such as trust.
    pub state_dir: Option<PathBuf>,
    /// `key=value` from flags.
    pub overrides: Vec<String>,
    /// What happens to an untrusted project config.
    pub trust: Trust,
    /// The project's file before the change, for when the present one is not trusted.
    pub base: Option<BaseFile>,
    /// Whether the user trusts whatever the base has.
    pub trusts_base: bool,
}

/// What happens to an untrusted project config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// It is an error if it says anything that only a trusted one may say.
    #[default]
    Required,
    /// What needs trust does not count, and is noted.
    Withheld,
    /// It is only looked at.
    OnlyLooking,
}

impl Sources {
    /// Returns the sources for a process in `cwd` with `env` and the flags `overrides`, by the XDG
    /// rules.
    #[must_use]
    pub fn new(cwd: PathBuf, env: BTreeMap<String, String>, overrides: Vec<String>) -> Self {
        let home = env.get("HOME").map(PathBuf::from);
        let directory = |variable: &str, below_home: &str| {
            // The rules say to ignore a relative path.
            let named = env.get(variable).map(PathBuf::from);
            let base = named.filter(|path| path.is_absolute());
            let base = base.or_else(|| home.as_ref().map(|home| home.join(below_home)));
            base.map(|base| base.join("tribunal"))
        };
        Self {
            user_dir: directory("XDG_CONFIG_HOME", ".config"),
            state_dir: directory("XDG_STATE_HOME", ".local/state"),
            trust: Trust::Required,
            base: None,
            trusts_base: env.get("TRIBUNAL_TRUST").is_some_and(|word| word == "base"),
            overrides,
            cwd,
            env,
        }
    }

    /// Returns the user's config file, whether or not it exists.
    #[must_use]
    pub fn user_file(&self) -> Option<PathBuf> {
        Some(self.user_dir.as_ref()?.join(FILE_NAME))
    }

    /// Returns where the project's config file is or would be.
    #[must_use]
    pub fn project(&self) -> Project {
        Project::find(&self.cwd)
    }

    /// Returns what the user trusts.
    #[must_use]
    pub fn trust_store(&self) -> TrustStore {
        TrustStore::new(self.state_dir.clone())
    }
}

/// The directory we work for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The directory that holds `.tribunal`, else the root of the repository, else where we are.
    pub root: PathBuf,
    /// Whether it is more than the directory where we happen to be.
    pub found: bool,
}

impl Project {
    /// Looks from `cwd` upwards, not beyond the root of the repository nor into directories of
    /// another owner, nor into those that anybody may write to, such as the one for temporary files.
    #[must_use]
    pub fn find(cwd: &Path) -> Self {
        let owner = owner_of(cwd);
        for directory in cwd.ancestors() {
            if owner_of(directory) != owner || anybody_may_write(directory) {
                break;
            }
            if directory.join(PROJECT_DIR).is_dir() || directory.join(".git").exists() {
                return Self {
                    root: directory.to_owned(),
                    found: true,
                };
            }
        }
        Self {
            root: cwd.to_owned(),
            found: false,
        }
    }

    /// Returns the project's config file, whether or not it exists.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.root.join(PROJECT_DIR).join(FILE_NAME)
    }
}

#[cfg(unix)]
fn owner_of(directory: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(directory.metadata().ok()?.uid())
}

#[cfg(unix)]
fn anybody_may_write(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    directory
        .metadata()
        .is_ok_and(|data| data.permissions().mode() & 0o002 != 0)
}

#[cfg(not(unix))]
fn anybody_may_write(_: &Path) -> bool {
    false
}

#[cfg(not(unix))]
fn owner_of(_: &Path) -> Option<u32> {
    None
}

/// The settings and where they came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings, all layers applied.
    pub settings: Settings,
    /// Where each value that somebody set came from, by key.
    pub origins: BTreeMap<String, Origin>,
    /// The files that were read, in the order of their layers.
    pub files: Vec<ConfigFile>,
    /// The root of the project, if we are in one.
    pub project: Option<PathBuf>,
    /// The directory of what we remember for the user.
    pub state_dir: PathBuf,
    /// Where the project's settings came from, and what of them did not count.
    pub project_layer: ProjectLayer,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its layer.
    pub layer: Layer,
    /// The file.
    pub path: PathBuf,
    /// Hash of its content.
    pub hash: String,
    /// What it sets that only a trusted project file may set, with the values.
    pub sensitive: Vec<(String, String)>,
}

/// Loads the configuration.
///
/// Without any file, variable or flag this parses nothing.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    load_replacing(sources, None)
}

/// Loads the configuration as it would be with another content of one file.
fn load_replacing(
    sources: &Sources,
    replaced: Option<(&Path, &[u8])>,
) -> Result<Loaded, ConfigError> {
    let project = sources.project();
    let mut tree = empty_tree();
    let mut files = Vec::new();
    let mut project_layer = ProjectLayer::default();
    for (layer, path) in candidates(sources, &project) {
        if layer == Layer::Project && sources.trust != Trust::OnlyLooking {
            let (file, found) = project::lay(&mut tree, &path, sources, &project)?;
            require_trust(&found, sources)?;
            (project_layer, files) = (found, files.into_iter().chain(file).collect());
            continue;
        }
        let content = replaced
            .filter(|(file, _)| *file == path)
            .map(|(_, content)| content);
        if let Some((file, node)) = read::file(layer, &path, content, sources)? {
            de::from_node::<Settings>(&layers::with_agents_listed(node.clone()))?;
            layers::merge(&mut tree, node);
            files.push(file);
        }
    }
    given::environment(&mut tree, &sources.env)?;
    given::overrides(&mut tree, &sources.overrides)?;
    let (mut settings, origins) = settle(tree, sources, &project)?;
    project::disable(&mut settings, &mut project_layer);
    Ok(Loaded {
        project_layer,
        settings,
        origins,
        files,
        project: project.found.then_some(project.root),
        state_dir: match &sources.state_dir {
            Some(directory) => directory.clone(),
            None => sources.cwd.join(PROJECT_DIR),
        },
    })
}

/// The files of the layers; the project's may be replaced by one that the environment names.
fn candidates(sources: &Sources, project: &Project) -> Vec<(Layer, PathBuf)> {
    let user = sources.user_file().map(|path| (Layer::User, path));
    let named = sources
        .env
        .get("TRIBUNAL_CONFIG")
        .filter(|path| !path.is_empty());
    let second = match named {
        Some(path) => Some((Layer::Environment, sources.cwd.join(path))),
        None => Some((Layer::Project, project.file())),
    };
    user.into_iter().chain(second).collect()
}

fn require_trust(layer: &ProjectLayer, sources: &Sources) -> Result<(), ConfigError> {
    match layer.lacking_trust() {
        Some(untrusted) if sources.trust == Trust::Required => {
            Err(ConfigError::Untrusted(untrusted))
        }
        _ => Ok(()),
    }
}

fn empty_tree() -> Node {
    let source = std::sync::Arc::new(Source {
        layer: Layer::Default,
        file: None,
        name: None,
    });
    let mark = Mark {
        source,
        line: 0,
        column: 0,
    };
    Node::map(mark, Map::new())
}

/// Turns the merged tree into settings that hold together.
fn settle(
    tree: Node,
    sources: &Sources,
    project: &Project,
) -> Result<(Settings, BTreeMap<String, Origin>), ConfigError> {
    if matches!(&tree.kind, Kind::Map(entries) if entries.is_empty()) {
        return Ok((Settings::default(), BTreeMap::new()));
    }
    let mut settings: Settings = de::from_node(&layers::with_agents_listed(tree.clone()))?;
    check::check(&mut settings, &tree)?;
    rule_ids::check(&tree, sources, project)?;
    read::resolve_paths(&mut settings, &tree, sources, project);
    let mut origins = BTreeMap::new();
    layers::for_each_leaf(&tree, &mut |path, node| {
        origins.insert(path.join("."), node.mark.origin());
    });
    Ok((settings, origins))
}
