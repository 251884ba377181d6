//! Detection of dead runs whose leases end later than a driver with a correct clock could have set.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::env;
use crate::store::{RunId, RunRow, Timestamp};

/// The leases of runs that may be dead, as observed by all clones of one [`Turns`](super::Turns).
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Mutex<HashMap<RunId, Seen>>>);

/// A lease that has not changed since `since`.
struct Seen {
    owner: String,
    until: Timestamp,
    since: Instant,
}

impl Watch {
    /// Returns whether the driver of a run counts as dead: its lease ends later than a lease that would begin now, and has not changed for the length
    /// of a lease, although a driver renews it three times in that time. A single observation is not enough, because it is unknown which of the two
    /// clocks is wrong.
    pub(super) fn is_given_up(&self, row: &RunRow, now: Timestamp, lease: Duration) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A lease that has expired needs no further observation.
        all.retain(|_, seen| now < seen.until);
        if row.lease_until <= now.plus(lease) {
            all.remove(&row.id);
            return false;
        }
        if let Some(seen) = all.get(&row.id)
            && (seen.owner.as_str(), seen.until) == (row.owner.as_str(), row.lease_until)
        {
            return env::elapsed(seen.since) >= lease;
        }
        let seen = Seen {
            owner: row.owner.clone(),
            until: row.lease_until,
            since: env::monotonic(),
        };
        all.insert(row.id.clone(), seen);
        false
    }
}
