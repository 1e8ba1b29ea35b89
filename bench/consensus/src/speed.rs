//! Time and memory of the consensus on generated findings, against a bare grouping of the same.

use std::time::{Duration, Instant};

use tribunal_core::consensus::{Input, Policy, settle};
use tribunal_core::finding::{Category, Finding, Location};
use tribunal_core::scale::{Confidence, Severity};

const FILES: u64 = 1_000;
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const RUNS: usize = 3;

pub fn run(arguments: &[String]) -> Result<(), String> {
    let (name, most) = match arguments {
        [] => ("arena", usize::MAX),
        [flag, name] if flag == "--policy" => (name.as_str(), usize::MAX),
        [flag, name, at_most] if flag == "--policy" => (
            name.as_str(),
            at_most
                .parse()
                .map_err(|_| "a number of findings".to_owned())?,
        ),
        _ => return Err("usage: bench [--policy P [MOST FINDINGS]]".to_owned()),
    };
    let policy = Policy::preset(name).map_err(|error| error.to_string())?;
    println!("policy {name}, {FILES} files, processor time, best of {RUNS}");
    println!(
        "{:>10}{:>12}{:>12}{:>12}{:>9}{:>9}{:>11}",
        "findings", "settle", "each", "bare", "ratio", "growth", "peak MB"
    );
    let mut before: Option<Duration> = None;
    for size in SIZES.into_iter().filter(|size| *size <= most) {
        let (mut settled, mut bare) = (Duration::MAX, Duration::MAX);
        for _ in 0..RUNS {
            let findings = generate(size);
            bare = bare.min(timed(|| group_bare(&findings)));
            let input = Input {
                findings,
                ..Input::default()
            };
            settled = settled.min(timed(|| settle(input, &policy)));
        }
        let ratio = settled.as_secs_f64() / bare.as_secs_f64();
        let growth = before.map_or(String::new(), |before| {
            format!("{:.1}x", settled.as_secs_f64() / before.as_secs_f64())
        });
        println!(
            "{size:>10}{:>10.0}ms{:>10.0}ns{:>10.0}ms{ratio:>8.2}x{growth:>9}{:>11}",
            settled.as_secs_f64() * 1e3,
            settled.as_secs_f64() * 1e9 / size as f64,
            bare.as_secs_f64() * 1e3,
            peak_memory()
        );
        before = Some(settled);
    }
    Ok(())
}

/// Returns the time that `work` spends on a processor, so that a busy machine measures the same.
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let (start, clock) = (processor_time(), Instant::now());
    let result = work();
    let elapsed = match (start, processor_time()) {
        // The kernel counts in ticks; what is shorter than a few of them goes by the clock.
        (Some(start), Some(end)) if end.saturating_sub(start) > Duration::from_millis(20) => {
            end.saturating_sub(start)
        }
        _ => clock.elapsed(),
    };
    drop(result);
    elapsed
}

fn processor_time() -> Option<Duration> {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = status.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Sorts by file and line, then sweeps once: what any grouping must do at least.
fn group_bare(findings: &[Finding]) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..findings.len() as u32).collect();
    let key = |index: u32| {
        let location = &findings[index as usize].location;
        (location.file.as_str(), location.line)
    };
    order.sort_unstable_by(|&a, &b| key(a).cmp(&key(b)));
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut anchor: Option<(&str, Option<u32>)> = None;
    for index in order {
        let (file, line) = key(index);
        let near = anchor.is_some_and(|(other, first)| {
            other == file && line.unwrap_or(0).abs_diff(first.unwrap_or(0)) <= 5
        });
        match groups.last_mut() {
            Some(group) if near => group.push(index),
            _ => {
                anchor = Some((file, line));
                groups.push(vec![index]);
            }
        }
    }
    groups
}

/// Returns findings in no order, the same ones on every call.
fn generate(size: usize) -> Vec<Finding> {
    let mut random = Random(42);
    (0..size).map(|index| finding(&mut random, index)).collect()
}

fn finding(random: &mut Random, index: usize) -> Finding {
    const REVIEWERS: [(&str, &str); 6] = [
        ("ann", "anthropic"),
        ("bob", "openai"),
        ("eve", "google"),
        ("joe", "mistral"),
        ("kim", "qwen"),
        ("lee", "deepseek"),
    ];
    const WORDS: [&str; 16] = [
        "query", "lock", "buffer", "session", "index", "retry", "header", "token", "offset",
        "cache", "handle", "stream", "parser", "cursor", "writer", "signal",
    ];
    let (reviewer, family) = REVIEWERS[random.below(6)];
    let mut word = || WORDS[random.below(16)];
    let (subject, object, other) = (word(), word(), word());
    let line = 1 + random.below(5_000) as u32;
    Finding {
        id: format!("{reviewer}-{index}"),
        reviewer: reviewer.to_owned(),
        family: family.to_owned(),
        location: Location {
            file: format!("src/module{:03}/part.rs", random.next() % FILES),
            line: Some(line),
            end_line: Some(line + random.below(4) as u32),
            function: None,
        },
        category: Some(Category::ALL[random.below(6)]),
        severity: Some(Severity::ALL[random.below(4)]),
        confidence: Confidence::new(20 + random.below(80) as i64).ok(),
        title: format!(
            "{subject} of {object} is not checked in step {}",
            random.below(100_000)
        ),
        description: format!(
            "When the {subject} is empty, the {object} keeps the old {other} and the next call fails on line {line}."
        ),
        suggestion: format!("Check the {subject} before the {object} is used."),
        ..Finding::default()
    }
}

/// A small generator, so that every run measures the same findings.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> usize {
        (self.next() % bound) as usize
    }
}

/// Returns the most memory that this process has used so far, in megabytes.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map_or("unknown".to_owned(), |kb| (kb / 1024).to_string())
}
