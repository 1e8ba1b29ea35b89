//! What a trial costs beside a bare HTTP client that makes the same calls.
//!
//! ```text
//! cargo run --release --manifest-path bench/trial/Cargo.toml -- target/release/tribunal [trial|bulk]
//! ```
//!
//! A model server with a fixed latency runs in this process; the measured programs are processes of
//! their own, and what they used is asked of the system after their end.

mod bare;
mod measure;
mod scene;

use std::process::ExitCode;

use measure::Used;
use scene::Scene;

/// How often everything is measured; the median counts.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("bare") => bare::run(&arguments[1..]),
        Some("measure") => measure::run(&arguments[1..]),
        Some(program) => compare(program, arguments.get(1).map(String::as_str)),
        None => Err("usage: trial-bench PATH/TO/tribunal [trial|bulk]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("Error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Measures both, or only one of them.
fn compare(program: &str, only: Option<&str>) -> Result<(), String> {
    println!(
        "{:<34}{:>10}{:>12}{:>12}{:>10}",
        "", "wall s", "of 3 calls", "CPU ms/call", "peak MB"
    );
    // No scene is removed before all is measured: some file systems make whoever creates files after
    // many were removed pay for it.
    let scenes =
        [50, 500].map(|latency| Scene::new(program, latency).map(|scene| (latency, scene)));
    let scenes = scenes.into_iter().collect::<Result<Vec<_>, _>>()?;
    if only != Some("bulk") {
        for (latency, scene) in &scenes {
            trials(scene, *latency)?;
        }
    }
    if only != Some("trial") {
        bulk(&Scene::new(program, 50)?)?;
    }
    Ok(())
}

/// Eight contestants, one arbiter, five judges.
fn trials(scene: &Scene, latency: u64) -> Result<(), String> {
    let calls = 14;
    let ours = median(|| scene.trial())?;
    let theirs = median(|| scene.bare_trial())?;
    let path = 3.0 * latency as f64 / 1000.0;
    row(
        &format!("trial, {latency} ms: tribunal"),
        &ours,
        calls,
        path,
    );
    row(
        &format!("trial, {latency} ms: bare client"),
        &theirs,
        calls,
        path,
    );
    ratios(&ours, &theirs);
    let bound = if latency == 50 { "<= 1.2" } else { "<= 1.02" };
    let name = format!("trial at {latency} ms");
    figure(
        &format!("{name}, wall time"),
        ours.wall / theirs.wall,
        bound,
    );
    figure(
        &format!("{name}, CPU per call"),
        ours.cpu / theirs.cpu,
        "<= 3",
    );
    Ok(())
}

/// Many independent calls of judges.
fn bulk(scene: &Scene) -> Result<(), String> {
    let calls = scene::BULK;
    let ours = scene.bulk()?;
    let theirs = scene.bare_bulk()?;
    let path = 0.05 * (calls / scene::IN_FLIGHT) as f64;
    row("2,000 calls, 200 in flight: tribunal", &ours, calls, path);
    row("2,000 calls: bare client", &theirs, calls, path);
    ratios(&ours, &theirs);
    let keeping = scene.keeping_bulk()?;
    row("2,000 calls: keeping files", &keeping, calls, path);
    ratios(&ours, &keeping);
    let name = "2,000 calls, 200 in flight";
    figure(&format!("{name}, wall time"), ours.wall / theirs.wall, "");
    figure(
        &format!("{name}, CPU per call"),
        ours.cpu / theirs.cpu,
        "<= 3",
    );
    let least = keeping.cpu / theirs.cpu;
    figure(
        &format!("{name}, CPU per call of one that keeps files"),
        least,
        "",
    );
    figure(
        &format!("{name}, memory"),
        ours.peak_mb / theirs.peak_mb,
        "<= 2",
    );
    Ok(())
}

/// Prints a ratio to the bare client for programs.
fn figure(name: &str, ratio: f64, bound: &str) {
    println!("figure\t{name}, times a bare client\t{ratio:.2}\t{bound}");
}

fn row(name: &str, used: &Used, calls: usize, path: f64) {
    println!(
        "{name:<34}{:>10.3}{:>11.2}x{:>12.2}{:>10.1}",
        used.wall,
        used.wall / path,
        used.cpu * 1000.0 / calls as f64,
        used.peak_mb
    );
}

fn ratios(ours: &Used, theirs: &Used) {
    println!(
        "{:<34}{:>9.2}x{:>12}{:>11.2}x{:>9.2}x\n",
        "  ratio",
        ours.wall / theirs.wall,
        "",
        ours.cpu / theirs.cpu,
        ours.peak_mb / theirs.peak_mb
    );
}

fn median(run: impl Fn() -> Result<Used, String>) -> Result<Used, String> {
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        all.push(run()?);
    }
    all.sort_by(|a, b| a.wall.total_cmp(&b.wall));
    Ok(all.swap_remove(ROUNDS / 2))
}
