//! The configuration from outside: layers, messages, trust, editing, reference.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "config/edit.rs"]
mod edit;
#[path = "config/layers.rs"]
mod layers;
#[path = "config/messages.rs"]
mod messages;
#[path = "config/reference.rs"]
mod reference;
#[path = "config/roster.rs"]
mod roster;
#[path = "config/self_judging.rs"]
mod self_judging;
#[path = "config/self_judging_gates.rs"]
mod self_judging_gates;
#[path = "config/trust.rs"]
mod trust;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tribunal_engine::config::{ConfigError, Loaded, Sources, Trust, load};

/// A user with a project, both in a directory of their own.
struct World {
    _temp: tempfile::TempDir,
    root: PathBuf,
    env: BTreeMap<String, String>,
    overrides: Vec<String>,
    trust: Trust,
    counter: std::cell::Cell<u32>,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("project/.git")).unwrap();
        fs::create_dir_all(root.join("project/.tribunal")).unwrap();
        fs::create_dir_all(root.join("home/.config/tribunal")).unwrap();
        let home = root.join("home").to_str().unwrap().to_owned();
        Self {
            _temp: temp,
            root,
            env: BTreeMap::from([("HOME".to_owned(), home)]),
            overrides: Vec::new(),
            trust: Trust::OnlyLooking,
            counter: std::cell::Cell::new(0),
        }
    }

    fn project_dir(&self) -> PathBuf {
        self.root.join("project")
    }

    fn project_file(&self) -> PathBuf {
        self.root.join("project/.tribunal/config.yml")
    }

    fn user_file(&self) -> PathBuf {
        self.root.join("home/.config/tribunal/config.yml")
    }

    fn project(self, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.project_file(), text).unwrap();
        self
    }

    fn user(self, text: &str) -> Self {
        fs::write(self.user_file(), text).unwrap();
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn set(mut self, given: &str) -> Self {
        self.overrides.push(given.to_owned());
        self
    }

    fn trust_required(mut self) -> Self {
        self.trust = Trust::Required;
        self
    }

    fn sources(&self) -> Sources {
        let mut sources =
            Sources::new(self.project_dir(), self.env.clone(), self.overrides.clone());
        sources.trust = self.trust;
        sources
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        load(&self.sources())
    }

    fn loaded(&self) -> Loaded {
        self.load().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the complaint with the changing part of paths replaced.
    fn complaint(&self) -> String {
        let error = self.load().err().map(|error| error.to_string());
        self.plain(&error.expect("the config should be refused"))
    }

    /// Returns a value that the file does not hold yet.
    fn attempt(&self) -> String {
        let next = self.counter.get() + 1;
        self.counter.set(next);
        next.to_string()
    }

    fn plain(&self, text: &str) -> String {
        text.replace(self.root.to_str().unwrap(), "/scene")
    }
}
