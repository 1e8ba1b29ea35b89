//! Measures how fast all rules check a tree of files, against parsing the same files once.
//!
//! `cargo run --release -p tribunal-code --example throughput -- DIR`

#![expect(clippy::print_stdout, reason = "an example reports on the terminal")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use tribunal_code::language::{Language, Limits};
use tribunal_code::rule::{Domain, Reviewer, Source, builtin_rules};

fn main() -> io::Result<()> {
    let root = env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let mut files = Vec::new();
    collect(Path::new(&root), &mut files)?;
    let start = Instant::now();
    let rules: usize = Language::ALL
        .into_iter()
        .map(|language| builtin_rules(language).count())
        .sum();
    println!(
        "compiling the rules of all languages: {:?}",
        start.elapsed()
    );
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{} files, {megabytes:.1} MB, {rules} rules over all languages",
        files.len()
    );
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        best.0 = best.0.min(time(|| parse(&files)));
        best.1 = best.1.min(time(|| check(&files)));
    }
    let rate = |time: Duration| megabytes / time.as_secs_f64();
    println!("parse: {:.1} MB/s", rate(best.0));
    println!("check: {:.1} MB/s", rate(best.1));
    let ratio = best.1.as_secs_f64() / best.0.as_secs_f64();
    println!("ratio: {ratio:.2}");
    println!("figure\tbuilt-in review, MB/s\t{:.1}\t", rate(best.1));
    println!("figure\tbuilt-in review, times one parse\t{ratio:.2}\t<= 3");
    by_language(&files);
    Ok(())
}

struct File {
    path: String,
    language: Language,
    text: String,
}

fn collect(folder: &Path, files: &mut Vec<File>) -> io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_symlink() || name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if let Ok(text) = fs::read_to_string(&path) {
            let path = path.display().to_string();
            if let Some(language) = Language::detect(&path, &text) {
                files.push(File {
                    path,
                    language,
                    text,
                });
            }
        }
    }
    Ok(())
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn parse(files: &[File]) {
    for file in files {
        let tree = file.language.parse(&file.text, Limits::default());
        std::hint::black_box(&tree);
    }
}

fn check(files: &[File]) {
    let reviewer = Reviewer::new(Domain::BUILTIN);
    for file in files {
        let report = reviewer.check(&Source {
            path: &file.path,
            language: file.language,
            text: &file.text,
            changed: None,
        });
        std::hint::black_box(&report);
    }
}

fn by_language(files: &[File]) {
    for language in Language::ALL {
        let some: Vec<File> = files
            .iter()
            .filter(|file| file.language == language)
            .map(|file| File {
                path: file.path.clone(),
                language,
                text: file.text.clone(),
            })
            .collect();
        if !some.is_empty() {
            let ratio = time(|| check(&some)).as_secs_f64() / time(|| parse(&some)).as_secs_f64();
            println!("{language}: {} files, ratio {ratio:.2}", some.len());
        }
    }
}
