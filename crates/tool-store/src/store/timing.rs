//! Due times of scheduled tasks: cron expressions in a time zone, intervals and single times.

use std::str::FromStr as _;
use std::sync::LazyLock;
use std::time::Duration;

use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::DateTime;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::{TaskTiming, Timestamp};

/// The rules of time zones that this program contains, so that due times do not depend on the files of the machine.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Why a schedule is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimingError {
    /// The cron expression cannot be read.
    #[error(
        "`{expression}` is not a cron expression: write five fields for minute, hour, day of month, month and day of week, such as `0 9 * * MON-FRI` ({cause})"
    )]
    Cron {
        /// The text that is not a cron expression.
        expression: String,
        /// The fault that the parser reports.
        cause: String,
    },
    /// The time zone is unknown.
    #[error("`{0}` is not a time zone: write an IANA name such as `Europe/Berlin` or `UTC`")]
    Timezone(String),
    /// The text is not a time or a wait, the wait is longer than 100 years, or the time is out of range.
    #[error(
        "`{0}` is not a time: write an ISO 8601 time such as `2026-03-01T09:30:00`, with an offset if it is not in the time zone of the task, or a wait such as `+20m`, `+3h`, `+2d` or `+45s`"
    )]
    Time(String),
    /// The schedule is never due after now, or a time is outside of the years -9999 to 9999.
    #[error("the schedule is never due after now: check the fields of the expression or the time")]
    Never,
}

/// Returns the time zone with an IANA name.
fn zone(name: &str) -> Result<TimeZone, TimingError> {
    ZONES
        .get(name)
        .map_err(|_| TimingError::Timezone(name.to_owned()))
}

fn instant(time: Timestamp) -> Result<jiff::Timestamp, TimingError> {
    jiff::Timestamp::from_millisecond(time.as_millis()).map_err(|_| TimingError::Never)
}

fn stored(time: jiff::Timestamp) -> Timestamp {
    Timestamp::from_millis(time.as_millisecond())
}

/// Returns the first due time after a time; `None` if there is none. For [`TaskTiming::Cron`], fails if the expression or the time zone is invalid,
/// or if `after` is outside of the years -9999 to 9999.
pub fn next_due(timing: &TaskTiming, after: Timestamp) -> Result<Option<Timestamp>, TimingError> {
    match timing {
        TaskTiming::Once { at } => Ok(Some(*at).filter(|at| *at > after)),
        TaskTiming::Interval { every_ms, from } => Ok(next_of_interval(*every_ms, *from, after)),
        TaskTiming::Cron {
            expression,
            timezone,
        } => next_of_cron(expression, timezone, after),
    }
}

fn next_of_interval(every_ms: u64, from: Timestamp, after: Timestamp) -> Option<Timestamp> {
    let every = i64::try_from(every_ms).ok().filter(|every| *every > 0)?;
    let from = from.as_millis();
    let passed = after.as_millis().checked_sub(from)?.div_euclid(every);
    // The first interval ends `every` after `from`.
    let count = passed.max(0).checked_add(1)?;
    let due = from.checked_add(every.checked_mul(count)?)?;
    Some(Timestamp::from_millis(due))
}

fn next_of_cron(
    expression: &str,
    timezone: &str,
    after: Timestamp,
) -> Result<Option<Timestamp>, TimingError> {
    let refused = |error: CronError| TimingError::Cron {
        expression: expression.to_owned(),
        cause: error.to_string(),
    };
    // The host polls schedules, so it could not run a task at an exact second.
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    let cron = parser.parse(expression).map_err(refused)?;
    let after = instant(after)?.to_zoned(zone(timezone)?);
    match cron.find_next_occurrence(&after, false) {
        Ok(due) => Ok(Some(stored(due.timestamp()))),
        Err(CronError::TimeSearchLimitExceeded) => Ok(None),
        Err(error) => Err(refused(error)),
    }
}

/// Reads the time of a task that is due once: a wait from now such as `+20m`, a time with an offset, or a time in the zone.
///
/// If a change of the clock skips the time, the time is moved forward by the length of the change. If the time occurs twice, the first occurrence is
/// used.
pub fn read_time(text: &str, timezone: &str, now: Timestamp) -> Result<Timestamp, TimingError> {
    let refused = || TimingError::Time(text.to_owned());
    if let Some(wait) = text.strip_prefix('+') {
        let wait = read_wait(wait).ok_or_else(refused)?;
        return Ok(now.plus(wait));
    }
    if let Ok(time) = jiff::Timestamp::from_str(text) {
        return Ok(stored(time));
    }
    let local = DateTime::from_str(text).map_err(|_| refused())?;
    let zoned = zone(timezone)?.to_ambiguous_zoned(local).compatible();
    Ok(stored(zoned.map_err(|_| refused())?.timestamp()))
}

/// Reads a wait such as `20m`.
fn read_wait(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = number.parse().ok().filter(|_| is_number)?;
    // The limit is a hundred years, so that every sum can be represented as a time.
    let most = 100 * 366 * 24 * 60 * 60;
    let seconds = number.checked_mul(seconds).filter(|wait| *wait <= most)?;
    Some(Duration::from_secs(seconds))
}

/// Returns a time as ISO 8601 text in UTC, which [`read_time`] reads. A time outside of the years -9999 to 9999 is returned in milliseconds instead.
pub fn write_time(time: Timestamp) -> String {
    match instant(time) {
        Ok(time) => time.to_string(),
        Err(_) => time.as_millis().to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    // Waits and times are read as the description of the tool's argument states.
    #[test]
    fn waits_and_times_are_parsed() {
        let now = stored("2026-11-27T10:00:00Z".parse().unwrap());
        let read = |text| read_time(text, "Europe/Berlin", now).map(write_time);
        for (text, time) in [
            ("+20m", "2026-11-27T10:20:00Z"),
            ("+3h", "2026-11-27T13:00:00Z"),
            ("+2d", "2026-11-29T10:00:00Z"),
            ("+45s", "2026-11-27T10:00:45Z"),
            ("2026-11-28T09:00:00", "2026-11-28T08:00:00Z"),
            ("2026-11-28T09:00:00+05:30", "2026-11-28T03:30:00Z"),
            ("2026-11-28T09:00:00Z", "2026-11-28T09:00:00Z"),
            ("2026-11-28", "2026-11-27T23:00:00Z"),
            // 02:30 does not exist on this day, and occurs twice on the other.
            ("2027-03-28T02:30:00", "2027-03-28T01:30:00Z"),
            ("2027-10-31T02:30:00", "2027-10-31T00:30:00Z"),
        ] {
            assert_eq!(read(text), Ok(time.to_owned()), "{text}");
        }
        for text in [
            "",
            "+",
            "+20",
            "+m",
            "+-5m",
            "+1.5h",
            "+5w",
            "+99999999999d",
            "soon",
            "20m",
        ] {
            assert_eq!(read(text), Err(TimingError::Time(text.to_owned())));
        }
        let unknown = read_time("2026-11-28T09:00:00", "Mars/Olympus", now);
        assert_eq!(
            unknown,
            Err(TimingError::Timezone("Mars/Olympus".to_owned()))
        );
    }

    #[test]
    fn intervals_are_counted_from_their_start() {
        let at = Timestamp::from_millis;
        let next = |after| next_of_interval(1_000, at(500), at(after));
        for (after, due) in [
            (0, 1_500),
            (500, 1_500),
            (1_499, 1_500),
            (1_500, 2_500),
            (9_501, 10_500),
        ] {
            assert_eq!(next(after), Some(at(due)), "{after}");
        }
        assert_eq!(next_of_interval(0, at(0), at(0)), None);
        assert_eq!(next_of_interval(u64::MAX, at(0), at(0)), None);
    }
}
