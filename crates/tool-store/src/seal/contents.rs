//! Sealing of contents with the keys of a vault.

use futures::future::BoxFuture;
use secrecy::ExposeSecret as _;

use super::envelope;
use super::vault::{Vault, VaultError};
use crate::sql::contents::{Cipher, Opened};
use crate::store::{KeyId, Sealed, SealedPlace, StoreError};

impl Cipher for Vault {
    fn current(&self) -> BoxFuture<'_, Result<KeyId, StoreError>> {
        Box::pin(async { self.current_key().await.map_err(store_error) })
    }

    fn fetch<'a>(&'a self, key: &'a KeyId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.key(key).await.map(drop).map_err(store_error) })
    }

    fn seal(&self, key: &KeyId, place: &SealedPlace, text: &str) -> Result<Sealed, StoreError> {
        let material = self.opened(key).ok_or_else(|| unknown(key))?;
        envelope::seal(&material, key, place, text)
    }

    fn open(&self, place: &SealedPlace, sealed: &Sealed) -> Opened {
        let Some(key) = self.opened(sealed.key()) else {
            return Opened::Unfetched;
        };
        match envelope::open(&key, place, sealed) {
            Some(text) => Opened::Text(text.expose_secret().to_owned()),
            None => Opened::Damaged,
        }
    }
}

fn unknown(key: &KeyId) -> StoreError {
    let text = format!(
        "contents are sealed with the key `{key}`, which the key provider does not have: add the key"
    );
    StoreError::Unavailable(text.into())
}

fn store_error(error: VaultError) -> StoreError {
    match error {
        VaultError::Store(error) => error,
        VaultError::MissingKey { key, .. } => unknown(&key),
        other => StoreError::Unavailable(Box::new(other)),
    }
}
