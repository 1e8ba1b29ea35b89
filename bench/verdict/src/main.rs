//! Measures verdicts on comparisons whose better contestant is known.
//!
//! ```text
//! cargo run --release --manifest-path bench/verdict/Cargo.toml -- dev.jsonl
//! ```

mod data;
mod panels;
mod short;

use std::collections::BTreeMap;
use std::process::ExitCode;

use tribunal_core::consensus::{Preferences, Record};
use tribunal_core::verdict::{Ballot, Method, Points, Sitting, decide};

use data::Item;
use panels::{PANELS, Panel};

/// What is known about the judges when a comparison is decided.
#[derive(Clone, Copy)]
enum Known {
    /// Nothing.
    Nothing,
    /// How often they were right in all other subsets.
    OtherSubsets,
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: verdict-bench COMPARISONS.jsonl");
        return ExitCode::FAILURE;
    };
    let items = match data::read(&path) {
        Ok(items) => items,
        Err(error) => {
            eprintln!("Error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let records = records(&items);
    println!(
        "{} comparisons; share decided rightly, a tie is one half",
        items.len()
    );
    println!("Brier: mean square of confidence minus outcome; lower is better\n");
    print!("{:<22}", "");
    for panel in PANELS {
        print!("{:>11}", panel.name);
    }
    println!();
    for method in Method::ALL {
        row(&items, method, Known::Nothing, &records);
    }
    for method in Method::ALL {
        row(&items, method, Known::OtherSubsets, &records);
    }
    println!();
    short::print(&items);
    println!();
    figures(&items, &records);
    ExitCode::SUCCESS
}

fn row(items: &[Item], method: Method, known: Known, records: &BTreeMap<&str, Record>) {
    let (mut rights, mut briers) = (String::new(), String::new());
    for panel in PANELS {
        let found = score(items, panel, method, known, records);
        rights.push_str(&format!("{:>11.3}", found.right));
        briers.push_str(&format!("{:>11.3}", found.brier));
    }
    let name = match known {
        Known::Nothing => method.to_string(),
        Known::OtherSubsets => format!("{method} with record"),
    };
    println!("{name:<22}{rights}");
    println!("{:<22}{briers}", "  Brier");
}

/// Prints for programs what the default gains by a record over the plain mean. Six models are of very
/// unequal worth, which is where a record is asked to help.
fn figures(items: &[Item], records: &BTreeMap<&str, Record>) {
    for panel in PANELS {
        let right = |known| score(items, panel, Method::Mean, known, records).right;
        let (plain, with) = (right(Known::Nothing), right(Known::OtherSubsets));
        let name = panel.name;
        let bound = if name.starts_with('6') {
            ">= 10"
        } else {
            ">= -0.5"
        };
        println!("figure\tverdict of {name}, decided rightly\t{plain:.3}\t");
        println!("figure\tverdict of {name} with record, decided rightly\t{with:.3}\t");
        let gain = (with - plain) * 100.0;
        println!("figure\tverdict of {name}, points gained by the record\t{gain:.1}\t{bound}");
    }
}

struct Found {
    right: f64,
    brier: f64,
}

fn score(
    items: &[Item],
    panel: &Panel,
    method: Method,
    known: Known,
    records: &BTreeMap<&str, Record>,
) -> Found {
    let (mut right, mut brier, mut count) = (0.0, 0.0, 0.0);
    for item in items {
        let Some(ballots) = panel.ballots(item) else {
            continue;
        };
        let record = match known {
            Known::Nothing => None,
            Known::OtherSubsets => records.get(item.subset.as_str()),
        };
        let sitting = Sitting {
            contestants: ["1", "2"].map(str::to_owned).into(),
            ballots,
            ..Sitting::default()
        };
        let Ok(verdict) = decide(&sitting, method, record) else {
            continue;
        };
        let outcome = match &verdict.winner {
            None => 0.5,
            Some(winner) if *winner == item.truth => 1.0,
            Some(_) => 0.0,
        };
        let sure = f64::from(verdict.confidence.unwrap_or(50)) / 100.0;
        right += outcome;
        brier += (sure - outcome) * (sure - outcome);
        count += 1.0;
    }
    Found {
        right: right / count,
        brier: brier / count,
    }
}

/// Returns what all subsets but one say about each judge, by the subset left out.
fn records(items: &[Item]) -> BTreeMap<&str, Record> {
    let mut records: BTreeMap<&str, Record> = BTreeMap::new();
    for item in items {
        records.entry(&item.subset).or_default();
    }
    for (left_out, record) in &mut records {
        for item in items.iter().filter(|item| item.subset != **left_out) {
            for (judge, given) in &item.judges {
                add_to(record, &given.ballot(judge), &item.truth);
            }
        }
    }
    records
}

/// Counts whether a judge preferred the better one.
fn add_to(record: &mut Record, ballot: &Ballot, truth: &str) {
    let counts: &mut Preferences = record.judges.entry(ballot.judge.clone()).or_default();
    match preferred(ballot) {
        None => counts.even += 1,
        Some(one) if one == truth => counts.upheld += 1,
        Some(_) => counts.dismissed += 1,
    }
}

fn preferred(ballot: &Ballot) -> Option<&str> {
    let score = |id: &str| ballot.scores.get(id).copied().unwrap_or(Points::ZERO);
    match score("1").cmp(&score("2")) {
        std::cmp::Ordering::Greater => Some("1"),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => Some("2"),
    }
}
