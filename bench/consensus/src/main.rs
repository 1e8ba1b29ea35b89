//! Measures the consensus: `score` and `comments` on labelled reviews, `bench` on generated ones.
//!
//! ```text
//! cargo run --release --manifest-path bench/consensus/Cargo.toml -- score dev.jsonl --policy tribunal
//! cargo run --release --manifest-path bench/consensus/Cargo.toml -- bench
//! ```

mod comments;
mod data;
mod metrics;
mod score;
mod speed;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("score") => score::run(&arguments[1..]),
        Some("comments") => comments::run(&arguments[1..]),
        Some("bench") => speed::run(&arguments[1..]),
        _ => Err(
            "usage: score FILE [--policy P] [--set a.b=N]… [--loro] [--record] | comments FILE [--policy P] | bench".to_owned(),
        ),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("Error: {message}");
            ExitCode::FAILURE
        }
    }
}
