//! Runs a program and tells what it used, as the system counted it.

use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

/// What a program used.
#[derive(Debug)]
pub struct Used {
    pub wall: f64,
    pub cpu: f64,
    pub peak_mb: f64,
}

/// Measures a command in a process of its own, whose only child it is.
pub fn measured(argv: &[String], env: &[(String, String)]) -> Result<Used, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(own)
        .arg("measure")
        .args(argv)
        .envs(env.iter().cloned())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    let told: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!(
            "{argv:?}: {error}: {}",
            String::from_utf8_lossy(&output.stdout)
        )
    })?;
    let number = |key: &str| told[key].as_f64().unwrap_or(f64::NAN);
    match told["ok"] == true {
        true => Ok(Used {
            wall: number("wall"),
            cpu: number("cpu"),
            peak_mb: number("peak_mb"),
        }),
        false => Err(format!("{argv:?} failed: {told}")),
    }
}

/// Runs the command and prints what it used.
pub fn run(argv: &[String]) -> Result<(), String> {
    let (program, arguments) = argv.split_first().ok_or("there is nothing to measure")?;
    let clock = Instant::now();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    let wall = clock.elapsed().as_secs_f64();
    let used = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    println!(
        "{}",
        json!({
            // A tie is an outcome like any other here.
            "ok": matches!(output.status.code(), Some(0 | 5)),
            "wall": wall,
            "cpu": seconds(used.user_time()) + seconds(used.system_time()),
            "peak_mb": used.max_rss() as f64 / 1024.0,
            "stderr": error.lines().last(),
        })
    );
    Ok(())
}
