//! Builder of [`Approvals`].

use std::sync::Arc;
use std::time::Duration;

use super::{ApprovalError, Approvals, Inner, KeyRing};
use crate::store::ApprovalStore;

/// Default time until an approval request expires.
const WAIT: Duration = Duration::from_hours(24);

/// Default limit of open approvals per conversation, or per user outside of conversations.
const MOST_OPEN: u32 = 50;

/// Builds [`Approvals`] from a store, keys, an expiry and a limit of open approvals.
#[must_use]
pub struct ApprovalsBuilder {
    store: Arc<dyn ApprovalStore>,
    ring: Option<KeyRing>,
    wait: Duration,
    most_open: u32,
}

impl ApprovalsBuilder {
    pub(super) fn new(store: Arc<dyn ApprovalStore>) -> Self {
        Self {
            store: crate::store::shield::approvals(store),
            ring: None,
            wait: WAIT,
            most_open: MOST_OPEN,
        }
    }

    /// Sets the keys that authenticate tokens. A durable store requires them, because its tokens outlive the process.
    pub fn keys(mut self, ring: KeyRing) -> Self {
        self.ring = Some(ring);
        self
    }

    /// Sets how long an approval can be answered and used; defaults to 24 hours.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Sets the maximum number of open approvals per conversation, or per user outside of conversations; defaults to 50. A call beyond this limit is
    /// refused as [`RateLimited`](crate::ErrorKind::RateLimited), with an error that asks the model to call again later. Plans count as well; a plan
    /// beyond this limit fails with [`ApprovalError::Full`].
    pub fn most_open(mut self, most: u32) -> Self {
        self.most_open = most;
        self
    }

    /// Builds the approvals. Fails if a durable store has no keys, or if the system has no random bytes.
    pub fn build(self) -> Result<Approvals, ApprovalError> {
        let ring = match self.ring {
            Some(ring) => ring,
            None if self.store.is_durable() => return Err(ApprovalError::NoKeys),
            None => {
                KeyRing::ephemeral().map_err(|error| ApprovalError::Random(error.to_string()))?
            }
        };
        Ok(Approvals(Arc::new(Inner {
            store: self.store,
            ring,
            wait: self.wait,
            most_open: self.most_open,
        })))
    }
}
