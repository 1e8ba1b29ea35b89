//! Checks a tree of files with all rules and prints every hit, then the count per rule.
//!
//! `cargo run --release -p tribunal-code --example scan -- DIR [RULE…]`

#![expect(clippy::print_stdout, reason = "an example reports on the terminal")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use tribunal_code::language::Language;
use tribunal_code::place::is_generated;
use tribunal_code::rule::{Domain, Reviewer, Source};

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let root = arguments.next().unwrap_or_else(|| ".".to_owned());
    let mut scan = Scan {
        reviewer: Reviewer::new(Domain::BUILTIN),
        root: PathBuf::from(&root),
        only: arguments.collect(),
        counts: BTreeMap::new(),
    };
    scan.folder(Path::new(&root))?;
    println!();
    for (rule, count) in &scan.counts {
        println!("{count:5} {rule}");
    }
    Ok(())
}

struct Scan {
    reviewer: Reviewer,
    root: PathBuf,
    only: Vec<String>,
    counts: BTreeMap<String, usize>,
}

impl Scan {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_symlink() || name.starts_with('.') || name == "node_modules" {
                continue;
            }
            if path.is_dir() {
                self.folder(&path)?;
            } else if let Ok(text) = fs::read_to_string(&path) {
                self.file(&path, &text);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, text: &str) {
        let shown = path.strip_prefix(&self.root).unwrap_or(path);
        let shown = shown.display().to_string();
        let Some(language) = Language::detect(&shown, text) else {
            return;
        };
        if is_generated(text) {
            return;
        }
        let source = Source {
            path: &shown,
            language,
            text,
            changed: None,
        };
        let report = match self.reviewer.check(&source) {
            Ok(report) => report,
            Err(error) => return println!("{shown}: {error}"),
        };
        if let Some(cause) = report.cut_off {
            println!("{shown}: cut off: {cause:?}");
        }
        for hit in report.hits {
            if self.only.is_empty() || self.only.contains(&hit.rule) {
                let quote: String = hit.quote.lines().take(2).collect::<Vec<_>>().join(" ⏎ ");
                println!(
                    "{shown}:{} [{}] {} | {quote}",
                    hit.line, hit.label, hit.rule
                );
                *self.counts.entry(hit.rule).or_default() += 1;
            }
        }
    }
}
