//! Sealed values: their format, the registry of sealed columns, and the keys.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use super::{StoreError, StoreFuture, Timestamp, Workspace, words};

/// Maximum length of a key's id, in bytes.
const MOST_NAME: usize = 64;

/// The id of a key that seals values. The key itself is never in a store.
///
/// ```
/// use tool_store::KeyId;
///
/// assert_eq!(KeyId::new("2026-11")?.as_str(), "2026-11");
/// assert!(KeyId::new("two words").is_err());
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(Arc<str>);

impl KeyId {
    /// Creates an id of 1 to 64 ASCII letters, digits, dots, hyphens and underscores. Fails with [`StoreError::Conflict`] for any other text.
    pub fn new(id: &str) -> Result<Self, StoreError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if id.is_empty() || id.len() > MOST_NAME || !id.bytes().all(is_plain) {
            // The text could be a key that was written in the wrong place, so the error does not repeat it.
            return Err(StoreError::Conflict(format!(
                "the id of a key must consist of 1 to {MOST_NAME} ASCII letters, digits, `.`, `-` and `_`: write an id such as `2026-11`"
            )));
        }
        Ok(Self(id.into()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for KeyId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A value that is encrypted and authenticated, in its stored form.
///
/// The bytes are the format version (one byte), the length of the key's id (one byte), the key's id, the nonce (24 bytes), and the ciphertext with
/// its tag of 16 bytes. A store only copies them; the module `seal` (feature `seal`) creates and opens them.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed {
    key: KeyId,
    bytes: Arc<[u8]>,
}

impl Sealed {
    /// The version of the format, which is the first byte.
    pub const VERSION: u8 = 1;
    /// The length of a nonce in bytes.
    pub const NONCE: usize = 24;
    /// The length of the tag at the end in bytes.
    pub const TAG: usize = 16;

    /// Joins the parts of a sealed value. `ciphertext` ends with the tag.
    pub fn new(key: &KeyId, nonce: &[u8; Self::NONCE], ciphertext: &[u8]) -> Self {
        let id = key.as_str().as_bytes();
        let mut bytes = Vec::with_capacity(2 + id.len() + Self::NONCE + ciphertext.len());
        // An id has at most 64 bytes.
        let length = u8::try_from(id.len()).unwrap_or(u8::MAX);
        bytes.extend_from_slice(&[Self::VERSION, length]);
        bytes.extend_from_slice(id);
        bytes.extend_from_slice(nonce);
        bytes.extend_from_slice(ciphertext);
        Self {
            key: key.clone(),
            bytes: bytes.into(),
        }
    }

    /// Reads the bytes of a column. Fails with [`StoreError::Corrupt`] if the bytes do not have this format.
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Self, StoreError> {
        let bytes = bytes.into();
        let corrupt = |why: &str| StoreError::Corrupt(format!("a sealed value {why}"));
        let [version, length, rest @ ..] = &*bytes else {
            return Err(corrupt("has fewer than two bytes"));
        };
        if *version != Self::VERSION {
            return Err(corrupt(
                "has a format version that this program does not know",
            ));
        }
        let id = rest.get(..usize::from(*length));
        let id = id.and_then(|id| std::str::from_utf8(id).ok());
        let key = id.and_then(|id| KeyId::new(id).ok());
        let key = key.ok_or_else(|| corrupt("does not contain the id of its key"))?;
        if rest.len() < usize::from(*length) + Self::NONCE + Self::TAG {
            return Err(corrupt("is too short"));
        }
        Ok(Self { key, bytes })
    }

    /// Returns the key that sealed the value.
    pub fn key(&self) -> &KeyId {
        &self.key
    }

    /// Returns the bytes that a store writes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the nonce, and the ciphertext with its tag.
    pub fn parts(&self) -> (&[u8], &[u8]) {
        let body = &self.bytes[2 + self.key.as_str().len()..];
        body.split_at(Self::NONCE)
    }
}

/// Prints only the id of the key and the length.
impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, bytes } = self;
        write!(f, "Sealed({key}, {} bytes)", bytes.len())
    }
}

/// A column that contains sealed values. This enum is the registry of all such columns: rotation, the counts of a key's values and the retirement of
/// a key cover exactly these columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SealedColumn {
    /// The values of secrets.
    Secret,
    /// The values of variables of type secret.
    Variable,
    /// The arguments of approval requests.
    Arguments,
    /// The arguments of edited answers to approval requests ([`Verdict::Edit`](super::Verdict::Edit)).
    EditedArguments,
    /// The contents of messages.
    Message,
    /// The bodies of the events of threads.
    ThreadEvent,
    /// The compiled plans of runs.
    PlanSpec,
    /// The states of the runs of plans: attempts, outputs and artifacts.
    PlanState,
    /// The chunks of spilled outputs. A long output has several chunks.
    SpillChunk,
    /// The stored responses to requests with an idempotency key, except for edits of stored tools.
    Response,
}

words!(SealedColumn {
    Secret = "secret",
    Variable = "variable",
    Arguments = "arguments",
    EditedArguments = "edited_arguments",
    Message = "message",
    ThreadEvent = "thread_event",
    PlanSpec = "plan_spec",
    PlanState = "plan_state",
    SpillChunk = "spill_chunk",
    Response = "response",
});

impl SealedColumn {
    /// Returns whether the values of the column are contents: arguments, messages, events of threads, plans, chunks of spilled outputs or responses.
    /// A store seals contents only on request.
    pub fn is_content(self) -> bool {
        match self {
            Self::Secret | Self::Variable => false,
            Self::Arguments
            | Self::EditedArguments
            | Self::Message
            | Self::ThreadEvent
            | Self::PlanSpec
            | Self::PlanState
            | Self::SpillChunk
            | Self::Response => true,
        }
    }
}

/// The place of a sealed value. The place is authenticated together with the value, so that the value cannot be opened at a different place.
///
/// A place consists of ids that never change, so a row can be renamed without resealing its value.
///
/// | column | owner | id |
/// |---|---|---|
/// | [`Secret`](SealedColumn::Secret) | empty | the id of the value |
/// | [`Variable`](SealedColumn::Variable) | the level, a colon and the owner of the variable | the id of the value |
/// | [`Arguments`](SealedColumn::Arguments), [`EditedArguments`](SealedColumn::EditedArguments) | empty | the id of the request |
/// | [`Message`](SealedColumn::Message), [`ThreadEvent`](SealedColumn::ThreadEvent) | the conversation | the sequence number |
/// | [`PlanSpec`](SealedColumn::PlanSpec), [`PlanState`](SealedColumn::PlanState) | the conversation | the number of the run |
/// | [`SpillChunk`](SealedColumn::SpillChunk) | the principal | the handle, a colon, and the byte at which the chunk begins |
/// | [`Response`](SealedColumn::Response) | the caller | the idempotency key |
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SealedPlace {
    /// The column of the value.
    pub column: SealedColumn,
    /// The workspace of the row.
    pub workspace: Workspace,
    /// The id of the value, which is unique for its column, workspace and owner.
    pub id: String,
    /// The owner of the row within its workspace; empty for the workspace itself.
    pub owner: String,
}

impl SealedPlace {
    /// Returns the error of a value whose id belongs to a different row of its column and workspace.
    pub fn taken(&self) -> StoreError {
        StoreError::Conflict(format!(
            "a {} of the workspace `{}` has a value with the id `{}`, give each value a new random id",
            self.column, self.workspace, self.id
        ))
    }
}

/// The bytes of a sealed value at its place. They are not checked, and may be damaged.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedRow {
    /// The place of the value.
    pub place: SealedPlace,
    /// The bytes of the value, for [`Sealed::from_bytes`].
    pub bytes: Arc<[u8]>,
}

/// Prints only the place and the length.
impl fmt::Debug for SealedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, bytes } = self;
        write!(f, "SealedRow({place:?}, {} bytes)", bytes.len())
    }
}

/// The replacement of a sealed value. A store writes it only if the value has not changed since it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reseal {
    /// The value that was read, at its place.
    pub old: SealedRow,
    /// The same value, sealed with a different key.
    pub new: Sealed,
}

/// A key that is registered in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealKeyRow {
    /// The id of the key.
    pub id: KeyId,
    /// A known text that this key has sealed. A process that cannot open this text has a wrong key.
    pub check: Sealed,
    /// When the key was first used with this store.
    pub at: Timestamp,
    /// When the key was retired. The store refuses new values that are sealed with a retired key.
    pub retired: Option<Timestamp>,
}

impl SealKeyRow {
    /// Creates the row of a key that is used for the first time.
    pub fn new(check: Sealed, at: Timestamp) -> Self {
        Self {
            id: check.key().clone(),
            check,
            at,
            retired: None,
        }
    }

    /// Checks that a value may be sealed with a key whose row is `row`. A store calls this method in the transaction that writes the value, so that
    /// no value is written with a key after its retirement. Fails with [`StoreError::Conflict`] if the key is unknown or retired.
    pub fn check_use(id: &KeyId, row: Option<&Self>) -> Result<(), StoreError> {
        let why = match row {
            None => {
                "is not registered in this store, open the store with `Vault::open` before writing sealed values"
            }
            Some(Self {
                retired: Some(_), ..
            }) => {
                "is retired, make a later key the first key of the key provider and restart this process"
            }
            Some(_) => return Ok(()),
        };
        Err(StoreError::Conflict(format!("the key `{id}` {why}")))
    }

    /// Checks that a key whose row is `row` may be retired. `uses` is the number of values that are sealed with each key. Fails with `Missing` if
    /// `row` is `None`, and with `Conflict` if values are sealed with this key.
    pub fn check_retirement(
        id: &KeyId,
        row: Option<&Self>,
        uses: &[KeyUse],
    ) -> Result<(), StoreError> {
        if row.is_none() {
            return Err(StoreError::Missing(format!("no key `{id}`")));
        }
        let of_key = uses.iter().filter(|using| using.key == *id);
        let places: Vec<String> = of_key
            .filter(|using| using.values > 0)
            .map(|using| format!("{} of column `{}`", using.values, using.column))
            .collect();
        if places.is_empty() {
            return Ok(());
        }
        Err(StoreError::Conflict(format!(
            "the key `{id}` still seals values ({}), rotate to the current key first",
            places.join(", ")
        )))
    }
}

/// The number of values of a column that are sealed with a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyUse {
    /// The column of the values.
    pub column: SealedColumn,
    /// The id of the key.
    pub key: KeyId,
    /// The number of values, in all workspaces.
    pub values: u64,
}

/// The keys of a store, and access to its sealed values for rotation. Only the operator of the host may use this trait, because its methods cover all
/// workspaces.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let key = KeyId::new("2026-11")?;
/// let check = Sealed::new(&key, &[0; 24], &[0; 16]);
/// let row = store.register_key(SealKeyRow::new(check, Timestamp::now())).await?;
/// assert_eq!(row.id, key);
/// assert_eq!(store.key_uses().await?, []);
/// store.retire_key(&key, Timestamp::now()).await?;
/// assert!(store.keys().await?[0].retired.is_some());
/// # Ok(())
/// # }
/// ```
pub trait SealStore: Send + Sync + 'static {
    /// Stores a key with its check value, unless the store has the key. Returns the row in the store, which may have been stored by a different
    /// process.
    fn register_key(&self, row: SealKeyRow) -> StoreFuture<'_, SealKeyRow>;

    /// Returns all keys, including retired keys, ordered by id.
    fn keys(&self) -> StoreFuture<'_, Vec<SealKeyRow>>;

    /// Counts the values of each column and key, ordered by column and key. Columns and keys without values are left out.
    fn key_uses(&self) -> StoreFuture<'_, Vec<KeyUse>>;

    /// Returns at most `most` values of a column that are sealed with a key, in an order that the store chooses for the column; with `after`, only
    /// values after this place in the same order.
    fn sealed<'a>(
        &'a self,
        column: SealedColumn,
        key: &'a KeyId,
        after: Option<&'a SealedPlace>,
        most: u32,
    ) -> StoreFuture<'a, Vec<SealedRow>>;

    /// Replaces each value that is unchanged since it was read, in one transaction, and returns the number of replaced values. Fails with
    /// `Conflict`, and changes nothing, if [`SealKeyRow::check_use`] fails for a new value.
    fn reseal(&self, changes: Vec<Reseal>) -> StoreFuture<'_, u64>;

    /// Retires a key. Afterwards, no process can store a value that is sealed with the key. Retiring a retired key changes nothing. Fails if
    /// [`SealKeyRow::check_retirement`] fails: with `Missing` for an unknown key, and with `Conflict` while values are sealed with the key.
    fn retire_key<'a>(&'a self, key: &'a KeyId, now: Timestamp) -> StoreFuture<'a, ()>;
}

#[cfg(test)]
mod tests {
    use super::{KeyId, Sealed};

    #[test]
    fn sealed_values_are_read_back_from_their_bytes() {
        let key = KeyId::new("k-1").unwrap();
        let sealed = Sealed::new(&key, &[7; 24], &[8; 20]);
        let read = Sealed::from_bytes(sealed.as_bytes().to_vec()).unwrap();
        assert_eq!(read, sealed);
        assert_eq!(read.parts(), (&[7; 24][..], &[8; 20][..]));
        assert_eq!(format!("{read:?}"), "Sealed(k-1, 49 bytes)");
        // A truncated value is refused, and so is a header with an unknown version, a wrong length or an invalid key id.
        for length in 0..2 + 3 + 24 + 16 {
            let cut = sealed.as_bytes()[..length].to_vec();
            assert!(Sealed::from_bytes(cut).is_err(), "{length}");
        }
        for (at, byte) in [(0, 2), (1, 0), (1, 255), (2, b' ')] {
            let mut bytes = sealed.as_bytes().to_vec();
            bytes[at] = byte;
            assert!(Sealed::from_bytes(bytes).is_err(), "{at} {byte}");
        }
    }

    #[test]
    fn key_ids_are_short_plain_words_and_errors_do_not_repeat_them() {
        assert!(KeyId::new(&"k".repeat(64)).is_ok());
        for id in ["", " ", "a b", "ä", "AAAA+/=", &"k".repeat(65)] {
            let error = KeyId::new(id).unwrap_err().to_string();
            assert!(id.len() < 2 || !error.contains(id), "{error}");
        }
    }
}
