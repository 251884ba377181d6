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
