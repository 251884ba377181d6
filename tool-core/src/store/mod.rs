//! State that outlives a call: traits, their records, and versions that keep everything in memory.
//!
//! | trait | keeps |
//! |---|---|
//! | [`ApprovalStore`] | calls and plans that wait for somebody's word |
//! | [`EffectLedger`] | which effects were begun and how they ended |
//! | [`AuditSink`] | one row for each call |
//! | [`ThreadStore`] | the messages of a thread |
//! | [`RunStore`] | who drives a thread, and how each run ended |
//! | [`SpillStore`] | outputs too long for a model |
//! | [`SwitchStore`] | kill switches, disables and enablement rows |
//!
//! [`Maintenance`] is erasure and retention over all of them. A [`Journal`] writes to several of them in one transaction.
//!
//! [`MemoryStore`] implements all for tests and for hosts that may forget; a durable store comes in a crate of its own. Each
//! method is one transaction: it happens wholly or not at all, also among many tasks and, where
//! [`is_durable`](ApprovalStore::is_durable), among many processes. Time is always handed in, so that a store has no clock of its
//! own and a test needs none.
//!
//! A record belongs to one workspace, and every method takes the part of the store in which it acts: a [`Workspace`], a [`ThreadId`] or a
//! [`CallKey`], which name their workspace, or a [`Scope`].
//!
//! A future does nothing before it is polled. One that is dropped half way either changed nothing or did all that its method says.

#[cfg(feature = "host")]
mod answer;
#[cfg(feature = "host")]
mod approval;
#[cfg(feature = "host")]
mod audit;
mod catalogue;
#[cfg(feature = "host")]
mod claim;
mod identity;
#[cfg(feature = "host")]
mod journal;
#[cfg(feature = "host")]
mod ledger;
#[cfg(feature = "host")]
mod maintenance;
mod memory;
#[cfg(feature = "host")]
mod run;
pub(crate) mod shield;
mod spill;
#[cfg(feature = "host")]
mod switch;
mod thread;
mod time;

use std::error::Error;

use futures::future::BoxFuture;

#[cfg(feature = "host")]
pub use approval::{
    Answer, ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStatus,
    ApprovalStore, Verdict,
};
#[cfg(feature = "host")]
pub use audit::{AuditFilter, AuditNote, AuditRow, AuditSink};
pub use catalogue::{Catalogue, CatalogueChanges, CatalogueEntry};
#[cfg(feature = "host")]
pub use claim::EffectClaim;
pub(crate) use identity::EarlierCall;
pub use identity::{CallId, CallKey, CallPlace, Scope, ThreadId, Workspace};
#[cfg(feature = "host")]
pub use journal::{Batch, BatchStore, Batched, EndedEffect, EndedRun, Journal};
#[cfg(feature = "host")]
pub use ledger::{
    Begun, EffectEnd, EffectFilter, EffectLedger, EffectRow, EffectState, Ended, Intent, Resolution,
};
#[cfg(feature = "host")]
pub use maintenance::{Erased, Erasure, Maintenance, Purged, Retention};
pub use memory::MemoryStore;
#[cfg(feature = "host")]
pub use run::{
    NewRun, RunBegun, RunCause, RunCursor, RunEnd, RunFilter, RunId, RunProgress, RunRow, RunState,
    RunStop, RunStore, Usage,
};
pub use spill::{Spill, SpillPart, SpillStore};
#[cfg(feature = "host")]
pub use switch::{Switch, SwitchFilter, SwitchKey, SwitchKind, SwitchStore};
pub use thread::{Message, NewMessage, Role, ThreadStore};
pub use time::Timestamp;

/// What a store's methods return.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// What is stored already forbids it; nothing was changed but what the method's page names.
    #[error("conflict: {0}")]
    Conflict(String),
    /// There is no such row.
    #[error("missing: {0}")]
    Missing(String),
    /// The store could not be reached or could not write. The same call may succeed later.
    #[error("the store is unavailable: {0}")]
    Unavailable(Box<dyn Error + Send + Sync>),
    /// A row cannot be read back. Somebody has to look at it; asking again does not help.
    #[error("the store holds what this program cannot read: {0}")]
    Corrupt(String),
}

/// Everything a host keeps, in one object: the six traits together.
///
/// ```
/// use std::sync::Arc;
/// use tool_core::store::{MemoryStore, Store};
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
/// # let _ = store;
/// ```
#[cfg(feature = "host")]
pub trait Store:
    ApprovalStore + EffectLedger + AuditSink + ThreadStore + RunStore + SpillStore + SwitchStore
{
}

#[cfg(feature = "host")]
impl<
    T: ApprovalStore + EffectLedger + AuditSink + ThreadStore + RunStore + SpillStore + SwitchStore,
> Store for T
{
}

/// Gives an enum of plain variants the words that stores write for it.
macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal,)+ }) => {
        impl $name {
            /// Every value, in the order of the definition.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The value as the word that stores write.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The value of a stored word; `None` for a word that this program does not know.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
use words;
