//! Whether a person who has seen the story can type `tribunal`.

use std::path::{Path, PathBuf};

use crate::invocation::Invocation;
use crate::typed_words::typed_word;

/// Where the program lies that a person would type.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    /// Where shells look for it.
    InPath,
    /// It was built and started by cargo, out of the package in this directory.
    Built(PathBuf),
    /// Elsewhere.
    Elsewhere(PathBuf),
}

impl Whereabouts {
    pub(super) fn of(invocation: &Invocation) -> Self {
        let paths = invocation.env.get("PATH").map_or("", String::as_str);
        let is_there = |folder: PathBuf| folder.join("tribunal").is_file();
        if std::env::split_paths(paths).any(is_there) {
            return Self::InPath;
        }
        // `cargo run` tells the program which package it is.
        match invocation.env.get("CARGO_MANIFEST_DIR").map(Path::new) {
            Some(package) if package.join("Cargo.toml").is_file() => {
                let near = package.strip_prefix(&invocation.cwd).unwrap_or(package);
                Self::Built(near.to_owned())
            }
            Some(_) | None => {
                Self::Elsewhere(std::env::current_exe().unwrap_or_else(|_| "tribunal".into()))
            }
        }
    }

    /// Returns what to do first, where typing `tribunal` would not help.
    pub(super) fn advice(&self) -> String {
        let shown = |path: &Path| typed_word(&path.display().to_string());
        match self {
            Self::InPath => String::new(),
            Self::Built(package) => format!(
                "Before them, so that shells find `tribunal`:\n  cargo install --path {}\n",
                shown(package)
            ),
            Self::Elsewhere(program) => format!(
                "Shells do not find `tribunal` yet; it lies here:\n  {}\n",
                shown(program)
            ),
        }
    }
}
