//! The bare client: the same calls, made with nothing around them.

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};

/// Makes calls in phases: `bare URL PHASES CHARS IN_FLIGHT`, phases as in `8,1,5`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let [url, phases, chars, in_flight] = arguments else {
        return Err("usage: bare URL PHASES CHARS IN_FLIGHT".to_owned());
    };
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
            let made = stream::iter(0..calls).map(|_| call(&client, url, chars));
            let mut made = made.buffer_unordered(in_flight);
            while let Some(answer) = made.next().await {
                answer?;
            }
        }
        Ok(())
    })
}

async fn call(client: &reqwest::Client, url: &str, chars: usize) -> Result<(), String> {
    let body: Value = json!({
        "model": "m",
        "max_tokens": 4096,
        "stream": true,
        "messages": [{"role": "user", "content": "x".repeat(chars)}],
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
    sent.bytes().await.map_err(|error| error.to_string())?;
    Ok(())
}
