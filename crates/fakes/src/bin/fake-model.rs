//! Serves the fake model until stdin closes or the process is killed.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use tribunal_fakes::model::{FakeModel, Settings};

const USAGE: &str = "\
Usage: fake-model [--port N] [--latency-ms N]

Prints one line `{\"url\":\"http://127.0.0.1:PORT\"}` and serves until stdin closes.";

fn main() -> ExitCode {
    let result = settings(std::env::args().skip(1)).and_then(run);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "Error: {message}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn settings(mut args: impl Iterator<Item = String>) -> Result<Settings, String> {
    let mut settings = Settings::default();
    while let Some(flag) = args.next() {
        let mut number = || -> Result<u64, String> {
            let value = args.next().ok_or(format!("`{flag}` needs a number"))?;
            value
                .parse()
                .map_err(|_| format!("`{value}` is not a number"))
        };
        match flag.as_str() {
            "--port" => {
                settings.port = u16::try_from(number()?).map_err(|_| "`--port` is too large")?
            }
            "--latency-ms" => settings.latency = Duration::from_millis(number()?),
            _ => return Err(format!("`{flag}` is not a flag of fake-model")),
        }
    }
    Ok(settings)
}

fn run(settings: Settings) -> Result<(), String> {
    let server = FakeModel::spawn_blocking_with(settings).map_err(|error| error.to_string())?;
    let mut stdout = io::stdout();
    writeln!(stdout, "{}", serde_json::json!({"url": server.url()}))
        .map_err(|error| error.to_string())?;
    stdout.flush().map_err(|error| error.to_string())?;
    let mut stdin = io::stdin().lock();
    let mut ignored = [0; 1024];
    while stdin.read(&mut ignored).is_ok_and(|read| read > 0) {}
    Ok(())
}
