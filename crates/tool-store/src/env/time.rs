//! Timestamps of stored records.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since the Unix epoch, UTC.
///
/// ```
/// use std::time::Duration;
/// use tool_store::Timestamp;
///
/// let noon = Timestamp::from_millis(43_200_000);
/// assert_eq!(noon.plus(Duration::from_secs(1)).as_millis(), 43_201_000);
/// assert_eq!(serde_json::to_string(&noon).unwrap(), "43200000");
/// assert!(noon < Timestamp::now());
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Returns the current time of the host's clock.
    pub fn now() -> Self {
        crate::env::now()
    }

    /// Returns the time `millis` milliseconds after the Unix epoch, or before it if negative.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the Unix epoch; negative for a time before it.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the time `span` later, or the last time that can be represented.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(millis(span)))
    }

    /// Returns the time in RFC 3339, in UTC and without fractions of a second. A time before the Unix epoch is returned as the epoch.
    ///
    /// ```
    /// use tool_store::Timestamp;
    ///
    /// assert_eq!(Timestamp::from_millis(1_772_357_400_999).rfc3339(), "2026-03-01T09:30:00Z");
    /// ```
    pub fn rfc3339(self) -> String {
        // The date is computed by Howard Hinnant's `civil_from_days`.
        let seconds = u64::try_from(self.0).unwrap_or_default() / 1_000;
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let shifted = days + 719_468;
        let era = shifted / 146_097;
        let day_of_era = shifted % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
        let month = if month_shifted < 10 {
            month_shifted + 3
        } else {
            month_shifted - 9
        };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        format!(
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
            second / 3_600,
            second % 3_600 / 60,
            second % 60
        )
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(after) => Self(millis(after)),
            Err(before) => Self(-millis(before.duration())),
        }
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
