//! Background maintenance of a gate's stores.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::approval::Approvals;
use crate::env;
use crate::store::shield::shielded;
use crate::store::{EffectLedger, Maintenance, Retention, Scope, StoredToolStore, Timestamp};

/// The minimum pause between two successful purges.
const PURGE: Duration = Duration::from_hours(1);
/// Maximum number of rows of each table in one transaction.
const BATCH: u32 = 200;

/// The background task of a [`Gate`](crate::Gate), from when the gate is built until it is drained or dropped. The task marks rows of the effect
/// ledger with an expired lease as ambiguous and expires approvals whose time has passed. It removes old rows if [`purge`](Self::purge) was called,
/// and deleted tools if [`stored_tools`](Self::stored_tools) was called.
///
/// By default the task sweeps once per lease: after a quick restart, the first or second sweep finds the rows of the previous process. If a
/// gate is built outside of a runtime, its first call in a runtime starts the task.
///
/// ```
/// use std::time::Duration;
/// use tool_core::store::{MemoryStore, Retention};
/// use tool_core::{Gate, Sweeper};
///
/// let store = MemoryStore::default();
/// let day = Duration::from_secs(24 * 60 * 60);
/// let retention = Retention { audit: Some(400 * day), ..Retention::default() };
/// let sweeper = Sweeper::default().every(Duration::from_secs(10)).purge(store.clone(), retention);
/// let gate = Gate::builder().ledger(store).sweeper(sweeper).build();
/// # let _ = gate;
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Sweeper {
    every: Option<Duration>,
    is_off: bool,
    purge: Option<(Arc<dyn Maintenance>, Retention)>,
    tools: Option<Arc<dyn StoredToolStore>>,
}

impl Sweeper {
    /// Disables the background task: the host calls [`EffectLedger::sweep`], [`Approvals::expire`], [`Maintenance::purge`] and
    /// [`StoredToolStore::purge_tools`] itself.
    /// [`purge`](Self::purge) and [`stored_tools`](Self::stored_tools) then have no effect.
    pub fn off() -> Self {
        Self {
            is_off: true,
            ..Self::default()
        }
    }

    /// Sets the pause between two sweeps; defaults to the lease of the ledger, or to 30 seconds without a ledger, and is at least 10 milliseconds.
    pub fn every(mut self, pause: Duration) -> Self {
        self.every = Some(pause);
        self
    }

    /// Removes old rows in the first sweep, and then about once per hour. If this fails, each sweep tries again.
    pub fn purge(mut self, store: impl Maintenance, retention: Retention) -> Self {
        self.purge = Some((Arc::new(store), retention));
        self
    }

    /// Removes deleted [stored tools](crate::stored) whose retention is over, in the first sweep, and then about once per hour.
    pub fn stored_tools(mut self, store: impl StoredToolStore) -> Self {
        self.tools = Some(Arc::new(store));
        self
    }

    pub(super) fn purges(&self) -> bool {
        self.purge.is_some() || self.tools.is_some()
    }

    /// Returns the pause between two sweeps; `None` if sweeping is off.
    pub(super) fn pause(&self, lease: Option<Duration>) -> Option<Duration> {
        let pause = self.every.or(lease).unwrap_or(Duration::from_secs(30));
        (!self.is_off).then(|| pause.max(Duration::from_millis(10)))
    }

    /// Sweeps once. A failure is logged, and the next sweep tries again.
    pub(super) async fn sweep(
        &self,
        ledger: Option<Arc<dyn EffectLedger>>,
        approvals: Option<Approvals>,
        last_purge: &mut Option<Instant>,
    ) {
        let now = Timestamp::now();
        if let Some(ledger) = ledger {
            match ledger.sweep(Scope::All, now).await {
                Ok(rows) if rows.is_empty() => {}
                Ok(rows) => tracing::warn!(
                    rows = rows.len(),
                    "effects whose leases expired are ambiguous now, an operator has to settle them"
                ),
                Err(error) => tracing::warn!(%error, "the effect ledger could not be swept"),
            }
        }
        if let Some(approvals) = approvals
            && let Err(error) = approvals.store().expire(Scope::All, now).await
        {
            tracing::warn!(%error, "overdue approvals could not be marked as expired");
        }
        let is_due = last_purge.is_none_or(|last| env::elapsed(last) >= PURGE);
        if !is_due {
            return;
        }
        let mut is_done = self.purges();
        if let Some((store, retention)) = &self.purge
            && let Err(error) = purge(&**store, retention, now).await
        {
            tracing::warn!(%error, "old rows could not be removed");
            is_done = false;
        }
        if let Some(store) = &self.tools
            && let Err(error) = purge_tools(&**store, now).await
        {
            tracing::warn!(%error, "deleted tools could not be removed");
            is_done = false;
        }
        if is_done {
            *last_purge = Some(env::monotonic());
        }
    }
}

async fn purge(
    store: &dyn Maintenance,
    retention: &Retention,
    now: Timestamp,
) -> Result<(), crate::store::StoreError> {
    while shielded(|| store.purge(retention, now, BATCH)).await?.more {
        // Calls can write between two batches.
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn purge_tools(
    store: &dyn StoredToolStore,
    now: Timestamp,
) -> Result<(), crate::store::StoreError> {
    while !shielded(|| store.purge_tools(Scope::All, now, BATCH))
        .await?
        .is_empty()
    {
        tokio::task::yield_now().await;
    }
    Ok(())
}

impl fmt::Debug for Sweeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweeper")
            .field("every", &self.every)
            .field("is_off", &self.is_off)
            .field(
                "retention",
                &self.purge.as_ref().map(|(_, retention)| retention),
            )
            .field("has_stored_tools", &self.tools.is_some())
            .finish_non_exhaustive()
    }
}
