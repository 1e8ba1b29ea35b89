//! Time and memory of the consensus on generated findings, against a bare grouping of the same.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use tribunal_core::consensus::{Input, Policy, settle};
use tribunal_core::finding::{Category, Finding, Location};
use tribunal_core::scale::{Confidence, Severity};

const USAGE: &str =
    "usage: bench [--policy P] [--texts KIND] [--most FINDINGS] [--runs N] [--warm]";
const FILES: u64 = 1_000;
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
/// So many findings are settled at each size at least, and so often: the best run counts.
const LEAST_FINDINGS: usize = 300_000;
const LEAST_RUNS: usize = 3;

/// What the findings of a run say.
#[derive(Clone, Copy, PartialEq)]
enum Texts {
    /// Few share more than common words.
    Mixed,
    /// All say the same, word for word, at different places.
    Identical,
    /// All say the same but for one word of their own.
    Near,
    /// As mixed, and one of them has ten megabytes.
    Huge,
}

struct Options {
    policy: Policy,
    most: usize,
    texts: Texts,
    runs: Option<usize>,
    /// The size of the only run, which is this process.
    one: Option<usize>,
    /// Whether the caches may still hold the findings.
    warm: bool,
}

pub fn run(arguments: &[String]) -> Result<(), String> {
    let options = options(arguments)?;
    if let Some(size) = options.one {
        run_here(&options, size);
        return Ok(());
    }
    println!(
        "policy {}, {FILES} files, processor time, best of several runs",
        options.policy.name
    );
    println!(
        "{:>10}{:>12}{:>12}{:>12}{:>9}{:>9}{:>11}",
        "findings", "settle", "each", "bare", "ratio", "growth", "peak MB"
    );
    let mut before: Option<Duration> = None;
    for size in SIZES.into_iter().filter(|size| *size <= options.most) {
        let (mut settled, mut bare) = (Duration::MAX, Duration::MAX);
        let mut peak = 0;
        let runs = options
            .runs
            .unwrap_or((LEAST_FINDINGS / size).max(LEAST_RUNS));
        for _ in 0..runs {
            let run = run_apart(arguments, size)?;
            (settled, bare) = (settled.min(run.settled), bare.min(run.bare));
            peak = peak.max(run.peak);
        }
        let ratio = settled.as_secs_f64() / bare.as_secs_f64();
        let growth = before.map_or(String::new(), |before| {
            format!("{:.1}x", settled.as_secs_f64() / before.as_secs_f64())
        });
        println!(
            "{size:>10}{:>10.1}ms{:>10.0}ns{:>10.1}ms{ratio:>8.2}x{growth:>9}{:>11}",
            settled.as_secs_f64() * 1e3,
            settled.as_secs_f64() * 1e9 / size as f64,
            bare.as_secs_f64() * 1e3,
            peak
        );
        let growth = before.map(|before| per(settled, before));
        figures(&options, size, ratio, growth, peak);
        before = Some(settled);
    }
    Ok(())
}

/// What one run took.
struct Run {
    bare: Duration,
    settled: Duration,
    /// The most memory of its process, in megabytes.
    peak: u64,
}

/// Runs once in a process of its own: a review is settled once, in memory that was never used
/// before. Later runs in one process would have small reviews find theirs ready and large ones not.
fn run_apart(arguments: &[String], size: usize) -> Result<Run, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = std::process::Command::new(program);
    let output = command.arg("bench").args(arguments);
    let output = output.args(["--one", &size.to_string()]).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text.split_whitespace().flat_map(str::parse).collect();
    let [bare, settled, peak] = numbers[..] else {
        return Err(format!("a run of {size} findings failed: {output:?}"));
    };
    let (bare, settled) = (Duration::from_nanos(bare), Duration::from_nanos(settled));
    Ok(Run {
        bare,
        settled,
        peak,
    })
}

/// Runs once in this process and prints what it took.
fn run_here(options: &Options, size: usize) {
    let findings = generate(size, options.texts);
    empty_caches(options);
    let bare = timed(|| group_bare(&findings));
    empty_caches(options);
    let input = Input {
        findings,
        ..Input::default()
    };
    let settled = timed(|| settle(input, &options.policy));
    println!(
        "{} {} {}",
        bare.as_nanos(),
        settled.as_nanos(),
        peak_memory()
    );
}

fn per(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

/// Prints what is asked of the policy `arena` on mixed texts, for programs.
fn figures(options: &Options, size: usize, ratio: f64, growth: Option<f64>, peak: u64) {
    let policy = &options.policy.name;
    let is_asked = policy == "arena" && options.texts == Texts::Mixed;
    let bound = |bound: &'static str| if is_asked { bound } else { "" };
    println!(
        "figure\t{policy}, {size} findings, times a bare grouping\t{ratio:.2}\t{}",
        bound("<= 5")
    );
    if let Some(growth) = growth {
        println!(
            "figure\t{policy}, growth to {size} findings\t{growth:.1}\t{}",
            bound("<= 12")
        );
    }
    if size == SIZES[2] {
        println!(
            "figure\t{policy}, {size} findings, peak MB\t{peak}\t{}",
            bound("<= 2048")
        );
    }
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        policy: Policy::arena(),
        most: usize::MAX,
        texts: Texts::Mixed,
        runs: None,
        one: None,
        warm: false,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--warm" {
            options.warm = true;
            continue;
        }
        let value = rest.next().ok_or(format!("{argument} needs a value"))?;
        let number = || {
            value
                .parse::<usize>()
                .map_err(|_| format!("{argument} needs a number"))
        };
        match argument.as_str() {
            "--policy" => {
                options.policy = Policy::preset(value).map_err(|error| error.to_string())?;
            }
            "--most" => options.most = number()?,
            "--one" => options.one = Some(number()?),
            "--runs" => options.runs = Some(number()?),
            "--texts" => {
                options.texts = match value.as_str() {
                    "mixed" => Texts::Mixed,
                    "identical" => Texts::Identical,
                    "near" => Texts::Near,
                    "huge" => Texts::Huge,
                    _ => return Err("--texts mixed, identical, near or huge".to_owned()),
                }
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}

/// Returns the time that `work` spends on a processor, so that a busy machine measures the same.
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = processor_time();
    let result = work();
    let elapsed = processor_time().saturating_sub(start);
    drop(result);
    elapsed
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    now.expect("every thread has a clock").into()
}

/// Fills the caches with something else. A review arrives once, so nothing of it is there yet; and
/// small reviews would otherwise be measured in the caches and large ones in memory.
fn empty_caches(options: &Options) {
    if options.warm {
        return;
    }
    static OTHER: std::sync::OnceLock<Vec<u64>> = std::sync::OnceLock::new();
    let other = OTHER.get_or_init(|| (0..8 << 20).collect());
    std::hint::black_box(other.iter().step_by(8).sum::<u64>());
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
fn generate(size: usize, texts: Texts) -> Vec<Finding> {
    let mut random = Random(42);
    let mut findings: Vec<Finding> = (0..size).map(|index| finding(&mut random, index)).collect();
    for (index, finding) in findings.iter_mut().enumerate() {
        match texts {
            Texts::Mixed | Texts::Huge => continue,
            Texts::Identical => finding.title = "session token is never checked".to_owned(),
            Texts::Near => {
                finding.title = format!("session token is never checked by caller{index}")
            }
        }
        "When the header is empty, the cache keeps the old cursor and the next call fails."
            .clone_into(&mut finding.description);
    }
    if texts == Texts::Huge {
        findings[0].description = findings[0].description.repeat((10 << 20) / 100);
    }
    findings
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
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
