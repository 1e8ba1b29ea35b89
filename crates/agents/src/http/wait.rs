//! How long a provider asks us to wait, read from the headers of its answer.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;

/// Longer waits are taken for nonsense: no provider parks a client for more than a month.
const LONGEST: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// Returns what `Retry-After` asks for, in any of its forms.
///
/// A date is compared with the server's own `Date`, so that a wrong clock on either side does no
/// harm; `now` stands in when there is none.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return sane(millis / 1_000.0);
    }
    let wanted = text("retry-after")?;
    if let Ok(seconds) = wanted.parse::<f64>() {
        return sane(seconds);
    }
    let then = httpdate::parse_http_date(wanted).ok()?;
    until(then, server_time(headers, now))
}

/// Returns when the first exhausted limit that the headers tell of is renewed.
///
/// Providers send these headers with every answer: only limits with nothing remaining count, or,
/// when none says so, the one that is renewed first.
pub(super) fn rate_limit_reset(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    const ANTHROPIC: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];
    const OPENAI: [&str; 2] = ["requests", "tokens"];
    let text = |name: String| headers.get(name)?.to_str().ok();
    let now = server_time(headers, now);
    let anthropic = ANTHROPIC.iter().filter_map(|kind| {
        let reset = text(format!("anthropic-ratelimit-{kind}-reset"))?;
        let remaining = text(format!("anthropic-ratelimit-{kind}-remaining"));
        Some((remaining, until(parse_rfc3339(reset)?, now)?))
    });
    let openai = OPENAI.iter().filter_map(|kind| {
        let reset = text(format!("x-ratelimit-reset-{kind}"))?;
        let remaining = text(format!("x-ratelimit-remaining-{kind}"));
        Some((remaining, parse_duration(reset)?))
    });
    let resets: Vec<_> = anthropic.chain(openai).collect();
    let exhausted = resets.iter().filter(|(left, _)| *left == Some("0"));
    exhausted
        .map(|(_, wait)| *wait)
        .max()
        .or_else(|| resets.iter().map(|(_, wait)| *wait).min())
}

/// Returns a duration written like `34.5s`, `1h2m3s` or `250ms`.
pub(super) fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let factor = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * factor;
        rest = tail;
    }
    sane(seconds)
}

fn server_time(headers: &HeaderMap, now: SystemTime) -> SystemTime {
    headers
        .get(reqwest::header::DATE)
        .and_then(|date| date.to_str().ok())
        .and_then(|date| httpdate::parse_http_date(date).ok())
        .unwrap_or(now)
}

/// Returns the time from `now` until `then`: none at all when it is over.
fn until(then: SystemTime, now: SystemTime) -> Option<Duration> {
    let wait = then.duration_since(now).unwrap_or(Duration::ZERO);
    (wait <= LONGEST).then_some(wait)
}

fn sane(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|wait| *wait <= LONGEST)
}

/// Returns the instant that `text` names in the form `2026-01-02T03:04:05Z`, with or without a
/// fraction, in UTC or with an offset.
fn parse_rfc3339(text: &str) -> Option<SystemTime> {
    let (date, time) = text.trim().split_once(['T', 't', ' '])?;
    let mut parts = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    );
    let zone = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone);
    let whole = clock.split('.').next()?;
    let mut parts = whole.splitn(3, ':').map(str::parse::<i64>);
    let (hour, minute, second) = (
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    );
    let offset = match zone.strip_prefix(['+', '-']) {
        None => 0,
        Some(offset) => {
            let (hours, minutes) = offset.split_once(':')?;
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            if zone.starts_with('-') {
                -minutes
            } else {
                minutes
            }
        }
    };
    let fits = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second)
        && (-1_440..=1_440).contains(&offset);
    if !fits {
        return None;
    }
    let seconds =
        days_since_1970(year, month, day) * 86_400 + hour * 3_600 + (minute - offset) * 60 + second;
    UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

/// Returns the days from 1 January 1970 to a date of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last one.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let leap_days = year / 4 - year / 100 + year / 400;
    // 719,468 days lie between 1 March of year 0 and 1 January 1970.
    year * 365 + leap_days + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                reqwest::header::HeaderName::from_static(name),
                reqwest::header::HeaderValue::from_static(value),
            )
        };
        pairs.iter().map(pair).collect()
    }

    /// 21 October 2015, 07:28:00 UTC.
    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_445_412_480)
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let seconds = |seconds| Some(Duration::from_secs_f64(seconds));
        for (given, wait) in [
            (&[("retry-after", "7")][..], seconds(7.0)),
            (&[("retry-after", " 0 ")], seconds(0.0)),
            (&[("retry-after", "1.5")], seconds(1.5)),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "99999999999999999999")], None),
            (
                &[("retry-after-ms", "1500"), ("retry-after", "9")],
                seconds(1.5),
            ),
            (
                &[("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT")],
                seconds(30.0),
            ),
            (
                &[("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT")],
                seconds(0.0),
            ),
            (
                // The server's clock is an hour ahead of ours: its own Date decides.
                &[
                    ("retry-after", "Wed, 21 Oct 2015 08:28:30 GMT"),
                    ("date", "Wed, 21 Oct 2015 08:28:00 GMT"),
                ],
                seconds(30.0),
            ),
            (&[], None),
        ] {
            assert_eq!(retry_after(&headers(given), now()), wait, "{given:?}");
        }
    }

    #[test]
    fn exhausted_limits_tell_their_renewal() {
        for (given, wait) in [
            (
                &[("anthropic-ratelimit-tokens-reset", "2015-10-21T07:28:20Z")][..],
                Some(20),
            ),
            (
                &[
                    ("anthropic-ratelimit-requests-reset", "2015-10-21T07:28:05Z"),
                    ("anthropic-ratelimit-requests-remaining", "12"),
                    (
                        "anthropic-ratelimit-input-tokens-reset",
                        "2015-10-21T09:29:00.5+02:00",
                    ),
                    ("anthropic-ratelimit-input-tokens-remaining", "0"),
                ],
                Some(60),
            ),
            (
                &[
                    ("x-ratelimit-reset-requests", "1m2s"),
                    ("x-ratelimit-reset-tokens", "6s"),
                ],
                Some(6),
            ),
            (
                &[
                    ("x-ratelimit-reset-requests", "1m2s"),
                    ("x-ratelimit-remaining-requests", "0"),
                ],
                Some(62),
            ),
            (&[("x-ratelimit-reset-requests", "later")], None),
        ] {
            let wait = wait.map(Duration::from_secs);
            assert_eq!(rate_limit_reset(&headers(given), now()), wait, "{given:?}");
        }
    }

    #[test]
    fn durations_and_instants_are_checked() {
        assert_eq!(parse_duration("34.5s"), Some(Duration::from_millis(34_500)));
        assert_eq!(parse_duration("250ms"), Some(Duration::from_millis(250)));
        for bad in ["", "s", "5", "5y", "1.2.3s", "-5s", "9e9s", "1s 2s"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
        assert_eq!(parse_rfc3339("2015-10-21T07:28:00Z"), Some(now()));
        assert_eq!(
            parse_rfc3339("2000-02-29T00:00:00Z"),
            Some(UNIX_EPOCH + Duration::from_secs(951_782_400))
        );
        for bad in [
            "",
            "2015-10-21",
            "2015-13-21T07:28:00Z",
            "2015-10-21T07:28Z",
            "T",
            "2015-10-21T25:00:00Z",
        ] {
            assert_eq!(parse_rfc3339(bad), None, "{bad}");
        }
    }
}
