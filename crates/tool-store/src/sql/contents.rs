//! Contents that a store seals on request of the host: arguments of approvals, messages, events of threads, plans and the states of their runs,
//! spilled outputs and stored responses.
//!
//! Keys are fetched asynchronously, and only outside of transactions. Values are sealed in the transaction that writes them, because some places are
//! known only there, such as the sequence number of a message.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use crate::store::{KeyId, Sealed, SealedPlace, StoreError};

/// The keys that seal contents. The vault of the feature `seal` implements the trait.
pub(crate) trait Cipher: fmt::Debug + Send + Sync {
    /// Fetches the current key, and returns its id.
    fn current(&self) -> BoxFuture<'_, Result<KeyId, StoreError>>;

    /// Fetches a key from the key provider.
    fn fetch<'a>(&'a self, key: &'a KeyId) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Seals a text with a key that was fetched.
    fn seal(&self, key: &KeyId, place: &SealedPlace, text: &str) -> Result<Sealed, StoreError>;

    /// Opens a sealed value with a fetched key.
    fn open(&self, place: &SealedPlace, sealed: &Sealed) -> Opened;
}

/// The result of opening a value.
#[cfg_attr(
    not(feature = "seal"),
    expect(dead_code, reason = "only a vault opens values")
)]
pub(crate) enum Opened {
    Text(String),
    /// The value cannot be opened: its bytes were changed, or it was copied from a different place.
    Damaged,
    /// The key of the value has not been fetched.
    Unfetched,
}

/// How a handle of a store writes and reads contents: sealed with the keys of a cipher, or in clear text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents(Option<Arc<Handle>>);

/// The address of this value distinguishes the handles that seal from the other handles of a database.
#[derive(Debug)]
pub(crate) struct Handle {
    cipher: Box<dyn Cipher>,
}

impl Contents {
    #[cfg(feature = "seal")]
    pub(crate) fn sealed_by(cipher: impl Cipher + 'static) -> Self {
        let cipher = Box::new(cipher);
        Self(Some(Arc::new(Handle { cipher })))
    }

    /// Returns the value that all clones of a sealing handle share; `None` if contents are not sealed.
    pub(crate) fn shared(&self) -> Option<&Arc<Handle>> {
        self.0.as_ref()
    }

    /// Fails for a handle that seals contents. Writes of memories and notes call it, because their texts are stored only in clear text: the full-text
    /// index of memories contains their words and cannot be sealed.
    pub(crate) fn check_unsealed(&self) -> Result<(), StoreError> {
        if self.0.is_some() {
            return Err(StoreError::Conflict(
                "memories and notes can be stored only in clear text: write them with a handle of the store without sealing".to_owned(),
            ));
        }
        Ok(())
    }

    /// Fetches the current key for a transaction that writes contents.
    pub(crate) async fn sealer(&self) -> Result<Sealer, StoreError> {
        let Some(handle) = &self.0 else {
            return Ok(Sealer::default());
        };
        let key = handle.cipher.current().await?;
        Ok(Sealer(Some((Arc::clone(handle), key))))
    }

    /// Returns the [`sealer`](Self::sealer) if the transaction writes contents. Otherwise returns a sealer without a key, so that the transaction
    /// also runs while the key service is down.
    pub(crate) async fn sealer_if(&self, has_contents: bool) -> Result<Sealer, StoreError> {
        if has_contents {
            self.sealer().await
        } else {
            Ok(Sealer::default())
        }
    }

    /// Creates a reader for one operation.
    pub(crate) fn reader(&self) -> Reader {
        let operation = |handle: &Arc<Handle>| Operation {
            handle: Arc::clone(handle),
            lacking: Mutex::default(),
        };
        Reader(self.0.as_ref().map(|handle| Arc::new(operation(handle))))
    }

    /// Reads rows outside of a transaction, and fetches the keys of their values.
    pub(crate) async fn read<T>(
        &self,
        read: impl Fn(&Reader) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let reader = self.reader();
        loop {
            match read(&reader) {
                Err(error) => reader.fetch_after(error).await?,
                done => return done,
            }
        }
    }
}

/// Seals the contents that one transaction writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sealer(Option<(Arc<Handle>, KeyId)>);

impl Sealer {
    /// Returns the id of the key that seals the values; `None` if values are not sealed. Before it writes, the transaction must check that the key is
    /// known and not retired.
    pub(crate) fn key(&self) -> Option<&KeyId> {
        self.0.as_ref().map(|(_, key)| key)
    }

    /// Returns the columns in which a text is stored. If the text is sealed, `place` returns its place.
    pub(crate) fn seal<'t>(
        &self,
        text: &'t str,
        place: impl FnOnce() -> SealedPlace,
    ) -> Result<Content<'t>, StoreError> {
        let Some((handle, key)) = &self.0 else {
            let sealed = None;
            return Ok(Content { text, sealed });
        };
        let sealed = Some(handle.cipher.seal(key, &place(), text)?);
        Ok(Content { text: "", sealed })
    }
}

/// The values of the columns of a text: the text itself, or an empty text and the sealed value.
pub(crate) struct Content<'t> {
    pub(crate) text: &'t str,
    sealed: Option<Sealed>,
}

impl Content<'_> {
    pub(crate) fn sealed(&self) -> Option<&[u8]> {
        self.sealed.as_ref().map(Sealed::as_bytes)
    }

    pub(crate) fn key(&self) -> Option<&str> {
        self.sealed.as_ref().map(|sealed| sealed.key().as_str())
    }
}

/// Opens the contents that one operation reads. If a value needs a key that was not fetched, the operation fails, and is repeated after
/// [`fetch_after`](Self::fetch_after).
#[derive(Clone, Debug)]
pub(crate) struct Reader(Option<Arc<Operation>>);

#[derive(Debug)]
struct Operation {
    handle: Arc<Handle>,
    /// The id of the missing key that made the operation fail.
    lacking: Mutex<Option<KeyId>>,
}

impl Operation {
    fn lacking(&self) -> MutexGuard<'_, Option<KeyId>> {
        self.lacking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// Creates the reader of responses to edits of stored tools. These responses are not sealed, because the tables of stored tools have the same
    /// texts.
    pub(crate) fn of_clear_texts() -> Self {
        Self(None)
    }

    /// Opens a value. The error is the reason, for [`Columns::corrupt`](super::columns::Columns::corrupt).
    pub(crate) fn open(&self, place: &SealedPlace, sealed: &Sealed) -> Result<String, String> {
        let key = sealed.key();
        let Some(operation) = &self.0 else {
            return Err(format!(
                "it is sealed with the key `{key}`, open the store with `sealing`"
            ));
        };
        match operation.handle.cipher.open(place, sealed) {
            Opened::Text(text) => Ok(text),
            Opened::Damaged => Err(format!(
                "the value with the id `{}` in the workspace `{}` was altered and cannot be opened",
                place.id, place.workspace
            )),
            Opened::Unfetched => {
                *operation.lacking() = Some(key.clone());
                Err(format!("the key `{key}` has not been fetched"))
            }
        }
    }

    /// Fetches the key that made the operation fail with `error`. Returns the error if there is no such key.
    pub(crate) async fn fetch_after<E: From<StoreError>>(&self, error: E) -> Result<(), E> {
        let Some(operation) = &self.0 else {
            return Err(error);
        };
        let lacking = operation.lacking().take();
        match lacking {
            Some(key) => Ok(operation.handle.cipher.fetch(&key).await?),
            None => Err(error),
        }
    }
}
