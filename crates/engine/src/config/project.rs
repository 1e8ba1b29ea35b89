//! Which file speaks for the project, so that a change cannot judge itself.
//!
//! A file whose exact content the user trusts counts as a whole. Otherwise the file of the commit
//! before the change counts, without what starts programs or sends data unless that is trusted
//! too; and of the untrusted file only what is harmless or makes the gate stricter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tribunal_core::agent::Role;
use tribunal_core::ids::AgentName;

use super::authority::{self, Authority};
use super::error::{ConfigError, Layer, Untrusted};
use super::layers::{self, for_each_leaf, remove};
use super::node::{Node, Source};
use super::{ConfigFile, Project, Settings, Sources, Trust, check, de, node, read, trust};

/// The project's file as the commit before the change has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseFile {
    /// The commit, shortened for people.
    pub revision: String,
    /// Where the file would be in the working tree.
    pub path: PathBuf,
    /// Its content; nothing when the commit has no such file.
    pub content: Option<Vec<u8>>,
    /// What the last commit says at the place of the project's file.
    pub committed: Option<Vec<u8>>,
}

/// Where the settings of the project came from, and what was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectLayer {
    /// The commit whose file was used, or would have been had there been one.
    pub base: Option<String>,
    /// Whether that commit has a file of settings.
    pub base_has_file: bool,
    /// Whether the working tree has none.
    pub is_missing: bool,
    /// The file of the working tree, if it is not trusted, with those of its settings that do not
    /// count.
    pub untrusted: Option<Untrusted>,
    /// Why the untrusted file could not be read.
    pub unreadable: Option<String>,
    /// Whether no commit has the file like that, so that somebody here wrote it.
    pub is_written_here: bool,
    /// Settings of the base's file that only a trusted file may have, with their values.
    pub withheld: Vec<(String, String)>,
    /// Keys of the untrusted file that make the gate stricter, and do count.
    pub tightened: Vec<String>,
    /// Agents that are switched off, because what they run or send is not trusted.
    pub disabled: Vec<AgentName>,
    /// Reviewers who are not asked for lack of trust.
    pub unasked: Vec<AgentName>,
}

impl ProjectLayer {
    /// Returns what an error about missing trust says; nothing when no trust is missing.
    #[must_use]
    pub fn lacking_trust(&self) -> Option<Untrusted> {
        let untrusted = self.untrusted.as_ref()?;
        let mut lacking = untrusted.clone();
        for withheld in &self.withheld {
            if !lacking.sensitive.contains(withheld) {
                lacking.sensitive.push(withheld.clone());
            }
        }
        (!lacking.sensitive.is_empty()).then_some(lacking)
    }

    /// Returns whose settings were used, as the end of a sentence.
    #[must_use]
    pub fn used(&self) -> String {
        match (&self.base, self.base_has_file) {
            (Some(base), true) => format!("the review used the settings of {base}"),
            (Some(base), false) => {
                format!("the review used the defaults, because {base} has no such file")
            }
            (None, _) if self.untrusted.is_some() => "the review used the defaults".to_owned(),
            (None, _) => "you trust the file as it is, so its settings count".to_owned(),
        }
    }

    /// Returns what is to be said about a file whose settings do not count, one sentence each.
    #[must_use]
    pub fn notes_on_file(&self) -> Vec<String> {
        let used = self.used();
        if let Some(why) = &self.unreadable {
            return vec![format!(
                "`.tribunal/config.yml` is not trusted and cannot be read ({why}); {used}"
            )];
        }
        if self.is_missing && self.base_has_file {
            return vec![format!("`.tribunal/config.yml` is missing; {used}")];
        }
        let ignored = self.untrusted.iter().flat_map(|file| &file.sensitive);
        match listed(ignored.map(|(key, _)| key.as_str())) {
            keys if keys.is_empty() => Vec::new(),
            keys => vec![format!(
                "`.tribunal/config.yml` is not trusted, so {keys} did not count; {used}; trust the \
                 file with `tribunal config trust`"
            )],
        }
    }

    /// Returns what is to be said about what of the base did not count, and what of the untrusted
    /// file did.
    #[must_use]
    pub fn notes_on_base(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.tightened.is_empty() {
            let keys = listed(self.tightened.iter().map(String::as_str));
            notes.push(format!(
                "the untrusted `.tribunal/config.yml` makes the gate stricter, so {keys} did count"
            ));
        }
        if !self.withheld.is_empty() {
            let keys = listed(self.withheld.iter().map(|(key, _)| key.as_str()));
            let base = self.base.as_deref().unwrap_or("the last commit");
            notes.push(format!(
                "{keys} in the settings of {base} did not count, because nobody has trusted what \
                 they start or where they send data; trust the file with `tribunal config trust`, \
                 or the base with `--trust-base`"
            ));
        }
        notes
    }
}

/// Names a few keys.
fn listed<'k>(keys: impl Iterator<Item = &'k str>) -> String {
    const SHOWN: usize = 6;
    let keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
    match keys.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", keys[..SHOWN].join(", ")),
        _ => keys.join(", "),
    }
}

/// Returns how the file of the base is called in messages.
pub(super) fn shown_base(base: &BaseFile) -> PathBuf {
    PathBuf::from(format!("{}:.tribunal/config.yml", base.revision))
}

/// Lays the settings that count for the project on `tree`.
pub(super) fn lay(
    tree: &mut Node,
    path: &Path,
    sources: &Sources,
    project: &Project,
) -> Result<(Option<ConfigFile>, ProjectLayer), ConfigError> {
    let source = read::source(Layer::Project, path, &sources.cwd);
    let bytes = read::bytes(path, &source);
    let store = sources.trust_store();
    if let Ok(Some(bytes)) = &bytes
        && store.is_trusted(path, &read::hash(bytes))
    {
        let file = lay_whole(tree, path, bytes, sources)?;
        return Ok((file, ProjectLayer::default()));
    }
    let mut layer = ProjectLayer {
        base: sources.base.as_ref().map(|base| base.revision.clone()),
        ..ProjectLayer::default()
    };
    let base = sources.base.as_ref();
    let mut file = None;
    let mut before = super::empty_tree();
    if let Some((base, content)) = base.and_then(|base| Some((base, base.content.as_ref()?))) {
        let read = read::file(Layer::Project, &shown_base(base), Some(content), sources)?;
        if let Some((read, node)) = read {
            de::from_node::<Settings>(&layers::with_agents_listed(node.clone()))?;
            layer.base_has_file = true;
            before = node.clone();
            let is_trusted = sources.trusts_base || store.is_trusted(&base.path, &read.hash);
            let node = match is_trusted {
                true => node,
                false => withhold(node, &read, &mut layer),
            };
            layers::merge(tree, node);
            file = Some(read);
        }
    }
    let theirs = match bytes {
        Ok(bytes) => bytes,
        Err(error) if sources.trust == Trust::Withheld => {
            layer.unreadable = Some(error.to_string());
            None
        }
        Err(error) => return Err(error),
    };
    let same = |content: Option<&Vec<u8>>| {
        let plain = |bytes: &Vec<u8>| -> Vec<u8> {
            bytes
                .iter()
                .copied()
                .filter(|byte| *byte != b'\r')
                .collect()
        };
        content.map(plain) == theirs.as_ref().map(plain)
    };
    let is_committed = same(base.and_then(|base| base.committed.as_ref()));
    layer.is_missing = theirs.is_none() && layer.unreadable.is_none();
    layer.is_written_here = !layer.is_missing && (theirs.is_none() || !is_committed);
    if !layer.is_missing {
        layer.untrusted = Some(Untrusted {
            file: path.to_owned(),
            hash: theirs.as_deref().map(read::hash).unwrap_or_default(),
            sensitive: Vec::new(),
        });
    }
    if let Some(bytes) = &theirs
        && !same(base.and_then(|base| base.content.as_ref()))
    {
        let mut untrusted = UntrustedFile {
            layer: &mut layer,
            before: &before,
            is_committed,
        };
        match untrusted.lay(tree, &source, bytes, project) {
            Err(error) if sources.trust == Trust::Withheld => {
                layer.unreadable = Some(error.to_string());
            }
            done => done?,
        }
    }
    Ok((file, layer))
}

fn lay_whole(
    tree: &mut Node,
    path: &Path,
    bytes: &[u8],
    sources: &Sources,
) -> Result<Option<ConfigFile>, ConfigError> {
    let read = read::file(Layer::Project, path, Some(bytes), sources)?;
    let Some((file, node)) = read else {
        return Ok(None);
    };
    de::from_node::<Settings>(&layers::with_agents_listed(node.clone()))?;
    layers::merge(tree, node);
    Ok(Some(file))
}

/// Takes out of the base's file what only a trusted one may set. An agent that is touched by it is
/// switched off as a whole.
fn withhold(mut node: Node, file: &ConfigFile, layer: &mut ProjectLayer) -> Node {
    for (key, value) in &file.sensitive {
        layer.withheld.push((key.clone(), value.clone()));
    }
    let mut gone: Vec<Vec<String>> = Vec::new();
    for_each_leaf(&node, &mut |path, _| {
        let key = path.join(".");
        if !file
            .sensitive
            .iter()
            .any(|(sensitive, _)| *sensitive == key)
        {
            return;
        }
        match path {
            ["agents", name, ..] => {
                if let Ok(name) = AgentName::new(*name)
                    && !layer.disabled.contains(&name)
                {
                    layer.disabled.push(name);
                }
            }
            _ => gone.push(path.iter().map(ToString::to_string).collect()),
        }
    });
    for path in gone {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        remove(&mut node, &path);
    }
    node
}

/// A file that the user has not trusted, on its way to the settings.
struct UntrustedFile<'a> {
    layer: &'a mut ProjectLayer,
    /// What the base's file says.
    before: &'a Node,
    /// Whether the last commit has it like that.
    is_committed: bool,
}

impl UntrustedFile<'_> {
    fn lay(
        &mut self,
        tree: &mut Node,
        source: &Arc<Source>,
        bytes: &[u8],
        project: &Project,
    ) -> Result<(), ConfigError> {
        let text = read::text(bytes, source)?;
        let node = layers::normalize(node::parse(text, source)?)?;
        let listed = layers::with_agents_listed(node.clone());
        let theirs: Settings = de::from_node(&listed)?;
        let mut now: Settings = de::from_node(&layers::with_agents_listed(tree.clone()))?;
        check::check(&mut now, tree)?;
        let mut ignored = Vec::new();
        for_each_leaf(&node, &mut |path, leaf| {
            let known = self.before.at(path).map(Node::to_json);
            if known.as_ref() == Some(&leaf.to_json()) {
                return;
            }
            let key = path.join(".");
            match authority::of(path) {
                Authority::Harmless => merge_at(tree, path, leaf.clone()),
                Authority::Tightens(tighten) => match tighten(&now, &theirs) {
                    Some(values) => {
                        for (key, value) in values {
                            let path: Vec<&str> = key.split('.').collect();
                            let value = node::of_json(&leaf.mark, &value);
                            merge_at(tree, &path, value);
                        }
                        self.layer.tightened.push(key);
                    }
                    None => ignored.push((key, trust::shown(leaf))),
                },
                Authority::EntryTightens(tightens) => {
                    match path
                        .last()
                        .is_some_and(|entry| tightens(&now, &theirs, entry))
                    {
                        true => {
                            merge_at(tree, path, leaf.clone());
                            self.layer.tightened.push(key);
                        }
                        false => ignored.push((key, trust::shown(leaf))),
                    }
                }
                Authority::Decides => ignored.push((key, trust::shown(leaf))),
            }
        });
        for (key, value) in trust::sensitive(&node, project) {
            if self
                .before
                .at(&key.split('.').collect::<Vec<_>>())
                .is_none()
                && !ignored.iter().any(|(known, _)| *known == key)
            {
                ignored.push((key, value));
            }
        }
        for_each_leaf(self.before, &mut |path, _| {
            if node.at(path).is_none() {
                ignored.push((path.join("."), "absent".to_owned()));
            }
        });
        // Reviewers whom the user wrote down a moment ago are missed; those that a commit under
        // review brings along are its author's wish.
        if !self.is_committed {
            let known = |name: &AgentName| now.agents.iter().any(|agent| agent.name == *name);
            let named = theirs.agents.iter();
            let named = named.filter(|agent| agent.enabled && agent.has_role(Role::Reviewer));
            let unasked = named.map(|agent| agent.name.clone());
            self.layer
                .unasked
                .extend(unasked.filter(|name| !known(name)));
        }
        if let Some(untrusted) = &mut self.layer.untrusted {
            untrusted.sensitive = ignored;
        }
        Ok(())
    }
}

/// Puts `value` at `path`.
fn merge_at(tree: &mut Node, path: &[&str], value: Node) {
    let mark = value.mark.clone();
    layers::merge(tree, node::nested(path, value, &mark));
}

/// Switches off the agents that may not run, and notes which reviewers are missing for it.
pub(super) fn disable(settings: &mut Settings, layer: &mut ProjectLayer) {
    for agent in &mut settings.agents {
        if !layer.disabled.contains(&agent.name) {
            continue;
        }
        if agent.enabled && agent.has_role(Role::Reviewer) && !layer.unasked.contains(&agent.name) {
            layer.unasked.push(agent.name.clone());
        }
        agent.enabled = false;
    }
}

/// Returns the keys in which two contents of a project's file differ; none when one of them cannot
/// be read.
#[must_use]
pub(crate) fn edited_keys(old: Option<&[u8]>, new: Option<&[u8]>) -> Vec<String> {
    let (Some(old), Some(new)) = (leaves(old), leaves(new)) else {
        return Vec::new();
    };
    let mut keys: Vec<String> = old
        .keys()
        .chain(new.keys())
        .filter(|key| old.get(*key) != new.get(*key))
        .map(|key| format!("`{key}`"))
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

fn leaves(content: Option<&[u8]>) -> Option<BTreeMap<String, serde_json::Value>> {
    let Some(content) = content else {
        return Some(BTreeMap::new());
    };
    let source = read::source(Layer::Project, Path::new("config.yml"), Path::new(""));
    let text = read::text(content, &source).ok()?;
    let node = node::parse(text, &source)
        .and_then(layers::normalize)
        .ok()?;
    let mut found = BTreeMap::new();
    for_each_leaf(&node, &mut |path, leaf| {
        found.insert(path.join("."), leaf.to_json());
    });
    Some(found)
}
