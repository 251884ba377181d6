//! Runs whose leases reach further than any driver with a right clock could have written them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::env;
use crate::store::{RunId, RunRow, Timestamp};

/// What was seen of such runs by the clones of one [`Turns`](super::Turns).
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Mutex<HashMap<RunId, Seen>>>);

/// A lease that has not moved since.
struct Seen {
    owner: String,
    until: Timestamp,
    since: Instant,
}

impl Watch {
    /// Whether the driver of a run that is held counts as dead: its lease reaches beyond one that would begin now, and has not moved for
    /// the length of a lease, in which a driver renews it three times. Which of two clocks is wrong cannot be known, so one look is not
    /// enough.
    pub(super) fn is_given_up(&self, row: &RunRow, now: Timestamp, lease: Duration) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A lease that is over needs no watch.
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
