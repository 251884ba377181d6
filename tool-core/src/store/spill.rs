//! Outputs too long for a model, kept to be read on.

use serde::{Deserialize, Serialize};

use super::{StoreFuture, Timestamp};

/// A text that is kept for its reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spill {
    /// Names it; unique in the store.
    pub handle: String,
    /// The workspace that may read it.
    pub tenant: String,
    /// The user who may read it.
    pub principal: String,
    /// The whole text.
    pub text: String,
    /// When it was stored.
    pub at: Timestamp,
    /// From then on it cannot be read.
    pub expires: Timestamp,
}

/// A part of a kept text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpillPart {
    /// Whole characters.
    pub text: String,
    /// The byte at which the part begins. The next part begins at `from + text.len()`.
    pub from: u64,
    /// Bytes of the whole text.
    pub total: u64,
}

/// Keeps long outputs for those who may read them.
///
/// ```
/// use std::time::Duration;
/// use tool_core::store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let now = Timestamp::now();
/// store.put(Spill {
///     handle: "s1".into(), tenant: "acme".into(), principal: "ann".into(), text: "grün".into(),
///     at: now, expires: now.plus(Duration::from_secs(600)),
/// }).await?;
///
/// let part = SpillStore::read(&store, "s1", "acme", "ann", 0, 3, now).await?.unwrap();
/// assert_eq!((part.text.as_str(), part.total), ("gr", 5)); // no half character
/// assert!(SpillStore::read(&store, "s1", "acme", "bob", 0, 3, now).await?.is_none());
/// # Ok(())
/// # }
/// ```
pub trait SpillStore: Send + Sync + 'static {
    /// Stores a text. Conflict where the handle exists.
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()>;

    /// A part of at most `most` bytes that begins at the byte `from`, or with the character that this byte lies in. It ends with a
    /// whole character; where `most` is less than that takes, it is one character, so that a reader always gets on. Past the end it is
    /// empty.
    ///
    /// None where there is no such handle, where it belongs to another tenant or principal, and where it has expired by `now`: a
    /// reader cannot tell these apart.
    fn read<'a>(
        &'a self,
        handle: &'a str,
        tenant: &'a str,
        principal: &'a str,
        from: u64,
        most: u64,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>>;

    /// Removes every text that has expired by `now`, and returns how many.
    fn expire(&self, now: Timestamp) -> StoreFuture<'_, u64>;
}
