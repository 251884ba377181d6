//! The making of [`Approvals`].

use std::sync::Arc;
use std::time::Duration;

use super::{ApprovalError, Approvals, Inner, KeyRing};
use crate::store::ApprovalStore;

/// How long an approval waits where a host says nothing.
const WAIT: Duration = Duration::from_hours(24);

/// How many approvals of a conversation may be open where a host says nothing.
const MOST_OPEN: u32 = 50;

/// Makes [`Approvals`].
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
            store: crate::gate::shield::approvals(store),
            ring: None,
            wait: WAIT,
            most_open: MOST_OPEN,
        }
    }

    /// The keys that authenticate tokens. A durable store needs them, because its tokens outlive the process.
    pub fn keys(mut self, ring: KeyRing) -> Self {
        self.ring = Some(ring);
        self
    }

    /// How long an approval may wait for its answer and its use; 24 hours where nothing is said.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// How many approvals of one conversation may wait at once, or of one user outside of conversations; 50 where nothing is said. A call
    /// beyond that is refused as [`RateLimited`](crate::ErrorKind::RateLimited), and the model reads that it may call again later. Plans
    /// count as well.
    pub fn most_open(mut self, most: u32) -> Self {
        self.most_open = most;
        self
    }

    /// The approvals.
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
