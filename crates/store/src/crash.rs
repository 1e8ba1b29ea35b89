//! Named points at which tests kill the process, to prove that nothing is lost there.
//!
//! In debug builds `TRIBUNAL_CRASH_AT=name#3` kills the process (as `kill -9` would) when the point
//! `name` is reached for the third time, and `TRIBUNAL_CRASH_LIST=file` appends the name of every
//! point reached. `TRIBUNAL_CLOCK_AHEAD_DAYS=12` lets the store's clock go ahead, for what happens
//! after days. Release builds contain none of this.

/// Marks a point at which the process may be killed.
#[macro_export]
macro_rules! crashpoint {
    ($name:literal) => {
        #[cfg(debug_assertions)]
        $crate::crash::reach($name);
    };
}

/// Kills the process if it was told to die at this point.
#[cfg(debug_assertions)]
pub fn reach(name: &'static str) {
    use std::collections::BTreeMap;
    use std::io::Write as _;
    use std::sync::{LazyLock, Mutex, PoisonError};

    static TARGET: LazyLock<Option<(String, u64)>> = LazyLock::new(|| {
        let text = std::env::var("TRIBUNAL_CRASH_AT").ok()?;
        let (name, hit) = text.split_once('#').unwrap_or((&text, "1"));
        Some((name.to_owned(), hit.parse().unwrap_or(1)))
    });
    static LIST: LazyLock<Option<String>> =
        LazyLock::new(|| std::env::var("TRIBUNAL_CRASH_LIST").ok());
    static HITS: Mutex<BTreeMap<&str, u64>> = Mutex::new(BTreeMap::new());

    if TARGET.is_none() && LIST.is_none() {
        return;
    }
    let hit = {
        let mut hits = HITS.lock().unwrap_or_else(PoisonError::into_inner);
        let hit = hits.entry(name).or_default();
        *hit += 1;
        *hit
    };
    if let Some(path) = LIST.as_ref() {
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path);
        let _ = file.and_then(|mut file| writeln!(file, "{name}#{hit}"));
    }
    if TARGET
        .as_ref()
        .is_some_and(|(wanted, at)| wanted == name && *at == hit)
    {
        // Nothing of ours may run after this point, not even destructors: SIGKILL to ourselves.
        let _ = std::process::Command::new("kill")
            .args(["-9", &std::process::id().to_string()])
            .status();
        std::process::abort();
    }
}

/// Returns by how much a test lets the store's clock go ahead.
#[cfg(debug_assertions)]
pub(crate) fn clock_ahead_ms() -> u64 {
    let days = std::env::var("TRIBUNAL_CLOCK_AHEAD_DAYS").ok();
    let days: u64 = days.and_then(|days| days.parse().ok()).unwrap_or(0);
    days * 86_400_000
}

/// Returns nothing: only tests change the clock.
#[cfg(not(debug_assertions))]
pub(crate) fn clock_ahead_ms() -> u64 {
    0
}
