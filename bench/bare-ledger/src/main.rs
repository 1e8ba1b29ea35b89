//! A program that parses a small command line and stores one row in a ledger, so that it survives
//! power loss. It shows how much of a command's time is the price of an answer that is never lost.

use clap::Parser;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Executor as _};

/// A yardstick.
#[derive(Parser)]
struct Args {
    /// A copy of a ledger
    ledger: std::path::PathBuf,
    /// What to store
    text: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let options = SqliteConnectOptions::new()
            .filename(&args.ledger)
            .synchronous(SqliteSynchronous::Full)
            .disable_statement_logging();
        let mut conn = options.connect().await?;
        conn.execute("CREATE TABLE IF NOT EXISTS yardstick (text TEXT) STRICT")
            .await?;
        let row = sqlx::query("INSERT INTO yardstick VALUES (?)").bind(&args.text);
        conn.execute(row).await?;
        println!("{}", args.text);
        // As ours does, it leaves the log to whoever comes next.
        std::mem::forget(conn);
        Ok::<_, sqlx::Error>(())
    })?;
    std::mem::forget(runtime);
    Ok(())
}
