//! Events: the changes of a store's rows, which a reader follows from a position.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{StoreFuture, Timestamp, Workspace, words};

/// The kind of the row that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EventResource {
    /// A request for approval was made, answered, assigned, used, withdrawn or erased, or has expired. The key is its id.
    Approvals,
    /// A call was recorded or has ended, or an operator has made a change. The key is the key of the audit row.
    Audit,
    /// An instance was added or removed, or its tools or skills have changed. The key is the name of the instance.
    Enablement,
    /// A function was created, changed or removed, or a version of it was added or removed. The key is the id of the function.
    Functions,
    /// A run has begun, ended or changed its driver, or was asked to stop. The key is the conversation and the number of the run.
    Runs,
    /// A stored tool was created, changed or removed, or was bound to an agent or unbound. The key is the id of the tool.
    StoredTools,
    /// A switch was set. The key is its kind, its tool and its source.
    Switches,
}

words!(EventResource {
    Approvals = "approvals",
    Audit = "audit",
    Enablement = "enablement",
    Functions = "functions",
    Runs = "runs",
    StoredTools = "stored-tools",
    Switches = "switches",
});

/// A change of a row. An event identifies the row and contains none of the row's contents, so events need no redaction and no erasure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The position after this event.
    pub position: String,
    /// The kind of the row.
    pub resource: EventResource,
    /// The key of the row in its workspace.
    pub key: Vec<String>,
    /// When the row was changed.
    pub at: Timestamp,
}

/// The events after a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventPage {
    /// The events, at most as many as the limit.
    pub events: Vec<Event>,
    /// The position after the events, from which the next page is read.
    pub next: String,
    /// Whether the position is unknown: a different store created it, the store was restored to a state before the position, or events after the
    /// position were already removed (see [`EVENTS_KEPT`]). If so, `events` is empty, and the reader has to read all rows again.
    pub is_reset: bool,
}

/// The changes of a store's rows: approvals, audit rows, enablement, functions, runs, stored tools and switches.
///
/// A reader that continues at the position of the last event, or at [`EventPage::next`], receives each event exactly once, even if transactions
/// overlap. The events of one transaction and one resource are in the order of the changes. The events of different transactions may be in a
/// different order from the commits.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let acme = Workspace::new("acme");
/// let now = store.events(&acme, None, 100).await?;
/// assert!(now.events.is_empty());
///
/// let row = AuditRow::new(CallId::alone(&acme)?, "call_0", "send_mail", Timestamp::now());
/// store.write(vec![row]).await?;
/// let page = store.events(&acme, Some(&now.next), 100).await?;
/// assert_eq!(page.events[0].resource, EventResource::Audit);
/// assert!(store.events(&acme, Some(&page.next), 100).await?.events.is_empty());
/// assert!(store.events(&acme, Some("of another store"), 100).await?.is_reset);
/// # Ok(())
/// # }
/// ```
pub trait EventStore: Send + Sync + 'static {
    /// Returns the events of a workspace after a position, including the events that concern every workspace. If `after` is `None`, the page has no
    /// events, and its [`next`](EventPage::next) is the current position.
    ///
    /// A position is opaque: it consists of visible ASCII characters without spaces. A text that is not a position counts as an unknown position.
    fn events<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        limit: u32,
    ) -> StoreFuture<'a, EventPage>;
}

/// The minimum time for which the stores of this crate keep events. [`Maintenance::purge`](super::Maintenance::purge) removes older events.
pub const EVENTS_KEPT: Duration = Duration::from_hours(7 * 24);

/// Returns the time before which events are removed.
pub(crate) fn kept_since(now: Timestamp) -> Timestamp {
    let kept = i64::try_from(EVENTS_KEPT.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(kept))
}

/// Reads the resource and the key of a stored event; `None` if this program does not know them.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) fn read(resource: &str, key: &str) -> Option<(EventResource, Vec<String>)> {
    Some((
        EventResource::from_word(resource)?,
        serde_json::from_str(key).ok()?,
    ))
}
