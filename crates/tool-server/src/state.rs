//! The shared state of the handlers.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tool_core::Registry;
use tool_core::policy::SharedPolicy;
use tool_core::store::seal::Vault;
use tool_core::store::{
    Catalogue, ChangeStore, Directory, EnablementStore, EventStore, KnowledgeStore, LongTermStore,
    Maintenance, PlanStore, RoomStore, ScheduleStore, Store, ThreadEventStore, VariableRequest,
    VaultStore,
};
use tool_core::stored::StoredTools;

use crate::entry::Entry;

/// The store traits that the admin API requires, combined in one trait. `MemoryStore`, `SqliteStore` and `PostgresStore` implement it.
pub trait AdminStore:
    Store
    + Catalogue
    + ChangeStore
    + EnablementStore
    + VaultStore
    + Directory
    + Maintenance
    + EventStore
    + ThreadEventStore
    + KnowledgeStore
    + LongTermStore
    + PlanStore
    + RoomStore
    + ScheduleStore
{
}

impl<T> AdminStore for T where
    T: Store
        + Catalogue
        + ChangeStore
        + EnablementStore
        + VaultStore
        + Directory
        + Maintenance
        + EventStore
        + ThreadEventStore
        + KnowledgeStore
        + LongTermStore
        + PlanStore
        + RoomStore
        + ScheduleStore
{
}

/// Callback for requests for variables that were answered completely.
pub(crate) type Supplied = dyn Fn(&VariableRequest) + Send + Sync;

/// The state of the handlers.
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn AdminStore>,
    pub(crate) policy: Option<SharedPolicy>,
    /// Locked while a request compares the policy with `If-Match` and replaces it.
    pub(crate) replacing: Mutex<()>,
    pub(crate) registry: Option<Registry>,
    pub(crate) stored_tools: Option<StoredTools>,
    pub(crate) vault: Option<Vault>,
    pub(crate) supplied: Option<Box<Supplied>>,
    pub(crate) entry: Entry,
    /// Is cancelled when the server shuts down, because the shutdown would otherwise wait for the streams of events.
    pub(crate) ending: CancellationToken,
}

/// The state of the handlers, shared by all requests.
pub(crate) type Shared = Arc<Inner>;
