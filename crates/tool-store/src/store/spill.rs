//! Spilled outputs: texts too long for a model, stored so that they can be read in parts.

use serde::{Deserialize, Serialize};

use super::{Scope, StoreError, StoreFuture, Timestamp, Workspace};

/// An output that one user may read in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spill {
    /// The handle of the text, unique in the store.
    pub handle: String,
    /// The workspace in which the text may be read.
    pub workspace: Workspace,
    /// The user who may read the text.
    pub principal: String,
    /// The complete text of the output.
    pub text: String,
    /// When the text was stored.
    pub at: Timestamp,
    /// When the text expires: from then on, it cannot be read.
    pub expires: Timestamp,
}

/// A part of a stored text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpillPart {
    /// The text of the part, which consists of whole characters.
    pub text: String,
    /// The byte at which the part begins. The next part begins at `from + text.len()`.
    pub from: u64,
    /// The length of the complete text, in bytes.
    pub total: u64,
}

impl Spill {
    /// Returns the error for a spill whose handle exists already.
    #[must_use]
    pub fn exists(&self) -> StoreError {
        StoreError::Conflict(format!(
            "spill `{}` exists, use a different handle for a different text",
            self.handle
        ))
    }
}

impl SpillPart {
    /// Returns the part of a text that [`SpillStore::read`] must return, for authors of a store.
    ///
    /// A store that splits texts into pieces passes the joined pieces that contain the part, with `from` relative to the first piece, and then sets
    /// `from` and `total` of the returned part to their values in the complete text.
    ///
    /// ```
    /// use tool_store::SpillPart;
    ///
    /// let part = SpillPart::of("grün", 3, 1);
    /// assert_eq!((part.text.as_str(), part.from, part.total), ("ü", 2, 5)); // whole characters, and at least one
    /// assert_eq!(SpillPart::of("grün", 9, 1).text, "");
    /// ```
    pub fn of(text: &str, from: u64, most: u64) -> Self {
        let place = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
        let count = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let start = text.floor_char_boundary(place(from));
        let mut end = text.floor_char_boundary(start.saturating_add(place(most)));
        if end == start {
            end = text.ceil_char_boundary((start + 1).min(text.len()));
        }
        Self {
            text: text[start..end].to_owned(),
            from: count(start),
            total: count(text.len()),
        }
    }
}

/// A store of long outputs, for the users who may read them.
///
/// ```
/// use std::time::Duration;
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let now = Timestamp::now();
/// store.put(Spill {
///     handle: "s1".into(), workspace: "acme".into(), principal: "ann".into(), text: "grün".into(),
///     at: now, expires: now.plus(Duration::from_secs(600)),
/// }).await?;
///
/// let part = SpillStore::read(&store, &"acme".into(), "ann", "s1", 0, 3, now).await?.unwrap();
/// assert_eq!((part.text.as_str(), part.total), ("gr", 5)); // whole characters only
/// assert!(SpillStore::read(&store, &"acme".into(), "bob", "s1", 0, 3, now).await?.is_none());
/// # Ok(())
/// # }
/// ```
pub trait SpillStore: Send + Sync + 'static {
    /// Stores a text. Fails with `Conflict` if the handle exists.
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()>;

    /// Returns a part of at most `most` bytes that begins with the character that contains the byte `from`. The part ends with a whole character. If
    /// `most` is too small for this character, the part is this character, so that a reader always makes progress. Past the end, the part is empty.
    ///
    /// Returns `None` if the handle is unknown, if the text belongs to a different workspace or principal, or if it has expired at `now`. A reader
    /// cannot distinguish these cases.
    fn read<'a>(
        &'a self,
        workspace: &'a Workspace,
        principal: &'a str,
        handle: &'a str,
        from: u64,
        most: u64,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>>;

    /// Removes the texts of a scope that have expired at `now`, and returns their number.
    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64>;
}
