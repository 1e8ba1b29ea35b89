//! How long a message or a header asks to wait.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longer waits are taken for nonsense.
const LONGEST_WAIT: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// Returns how long a message asks to wait.
pub(super) fn retry_after(message: &str) -> Option<Duration> {
    const BEFORE: [&str; 6] = [
        "retry in ",
        "try again in ",
        "retry after ",
        "retry-after: ",
        "retrydelay\":\"",
        "retrydelay\": \"",
    ];
    let message = message.to_lowercase().replace("\\\"", "\"");
    let wait_after = |(at, before): (usize, &str)| duration(message.get(at + before.len()..)?);
    BEFORE
        .iter()
        .flat_map(|before| message.match_indices(before))
        .find_map(wait_after)
        .or_else(|| until_epoch(&message))
}

/// Returns the wait of a `Retry-After` header: seconds or a date.
pub(super) fn retry_after_header(value: &str) -> Option<Duration> {
    let value = value.trim();
    let wait = match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => httpdate::parse_http_date(value)
            .ok()?
            .duration_since(SystemTime::now())
            .unwrap_or(Duration::ZERO),
    };
    (wait <= LONGEST_WAIT).then_some(wait)
}

/// Returns the duration that `text` begins with, such as `12.5s`, `1m30s` or `3 days 4 hours`;
/// a bare number means seconds.
fn duration(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text.trim_start();
    let mut any = false;
    loop {
        let digits = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else {
            break;
        };
        let tail = tail.trim_start_matches(' ');
        let letters = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let factor = match unit {
            "ms" | "milliseconds" => 0.001,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => 1.0,
        };
        seconds += number * factor;
        any = true;
        rest = tail.trim_start_matches(' ');
    }
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    (any && wait <= LONGEST_WAIT).then_some(wait)
}

/// Returns the time until the second since 1970 that stands after the bar in messages such as
/// `usage limit reached|1700000000`.
fn until_epoch(message: &str) -> Option<Duration> {
    let digits = message.split('|').nth(1)?.trim();
    let then = UNIX_EPOCH.checked_add(Duration::from_secs(digits.parse().ok()?))?;
    let wait = then.duration_since(SystemTime::now()).ok()?;
    (wait <= LONGEST_WAIT).then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read_from_messages() {
        let seconds = |seconds: f64| Some(Duration::from_secs_f64(seconds));
        for (message, wait) in [
            ("Please try again in 1s.", seconds(1.0)),
            ("Please retry in 12.5s.", seconds(12.5)),
            ("try again in 1m30s", seconds(90.0)),
            ("Try again in 3 days 4 hours.", seconds(273_600.0)),
            (r#"{"retryDelay":"7s"}"#, seconds(7.0)),
            ("retry after 30", seconds(30.0)),
            ("try again later", None),
            ("try again in 99999999 days", None),
        ] {
            assert_eq!(retry_after(message), wait, "{message}");
        }
        assert_eq!(retry_after_header("3600"), seconds(3600.0));
        assert_eq!(
            retry_after_header("Wed, 21 Oct 2015 07:28:00 GMT"),
            seconds(0.0)
        );
        assert_eq!(retry_after_header("soon"), None);
    }
}
