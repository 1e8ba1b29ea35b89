//! The bare client: the same calls, made with nothing around them.
//!
//! A second one keeps what it asked and got: a file each, of which the answer is on disk before its
//! call counts as done. That is the least that whoever must not pay twice for an answer does.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};

/// Makes calls in phases: `bare URL PHASES CHARS IN_FLIGHT [DIRECTORY]`, phases as in `8,1,5`; keeps
/// prompts and answers in the directory, if there is one.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let [url, phases, chars, in_flight, directory @ ..] = arguments else {
        return Err("usage: bare URL PHASES CHARS IN_FLIGHT [DIRECTORY]".to_owned());
    };
    let directory = directory.first().map(PathBuf::from);
    let phases: Vec<usize> = phases
        .split(',')
        .filter_map(|one| one.parse().ok())
        .collect();
    let chars = chars.parse().map_err(|_| "CHARS is a number")?;
    let in_flight = in_flight.parse().map_err(|_| "IN_FLIGHT is a number")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let client = reqwest::Client::new();
        for calls in phases {
            let made = stream::iter(0..calls)
                .map(|number| call(&client, url, chars, number, directory.as_deref()));
            let mut made = made.buffer_unordered(in_flight);
            while let Some(answer) = made.next().await {
                answer?;
            }
        }
        Ok(())
    })
}

async fn call(
    client: &reqwest::Client,
    url: &str,
    chars: usize,
    number: usize,
    directory: Option<&Path>,
) -> Result<(), String> {
    let prompt = "x".repeat(chars);
    if let Some(directory) = directory {
        let path = directory.join(format!("{number}.prompt"));
        std::fs::write(path, &prompt).map_err(|error| error.to_string())?;
    }
    let body: Value = json!({
        "model": "m",
        "max_tokens": 4096,
        "stream": true,
        "messages": [{"role": "user", "content": prompt}],
    });
    let sent = client
        .post(format!("{url}/v1/messages"))
        .header("x-api-key", "k")
        .header("anthropic-version", "2023-06-01")
        .json(&body)
        .send()
        .await
        .map_err(|error| error.to_string())?;
    if !sent.status().is_success() {
        return Err(format!("status {}", sent.status()));
    }
    let answer = sent.bytes().await.map_err(|error| error.to_string())?;
    let Some(directory) = directory else {
        return Ok(());
    };
    let path = directory.join(format!("{number}.answer"));
    let keep = move || {
        let mut file = File::create(path)?;
        file.write_all(&answer)?;
        file.sync_all()
    };
    let kept = tokio::task::spawn_blocking(keep).await;
    kept.map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())
}
