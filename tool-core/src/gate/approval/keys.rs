//! Keys that sign and verify a host's approval tokens.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::Sha256;

/// Minimum length of a key in bytes: the output length of SHA-256.
const FEWEST: usize = 32;

/// Maximum length of a key's id in bytes. It is short, because each token contains the id.
const LONGEST_ID: usize = 32;

/// Keys that authenticate approval tokens (HMAC-SHA256). The first key signs, all keys verify.
///
/// To rotate, put the new key first and keep the old key until the last token that it signed has expired.
///
/// ```
/// use tool_core::KeyRing;
///
/// let ring = KeyRing::new("2026-11", b"thirty-two bytes of randomness!!".to_vec())?
///     .keep("2026-10", b"the last key, also 32 bytes long".to_vec())?;
/// assert!(KeyRing::new("k", b"short".to_vec()).is_err());
/// # Ok::<(), tool_core::KeyError>(())
/// ```
#[derive(Clone)]
pub struct KeyRing(Vec<(String, SecretSlice<u8>)>);

/// Why a key is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The key is too short.
    #[error("the key `{id}` has {bytes} bytes, use at least 32 random ones")]
    Short {
        /// Id of the key.
        id: String,
        /// Length of the key in bytes.
        bytes: usize,
    },
    /// The id is empty, longer than 32 bytes, or has a character other than ASCII letters, digits, `-` and `_`.
    #[error("`{0}` cannot be the id of a key: write 1 to 32 letters, digits, `-` and `_`")]
    Id(String),
    /// Two keys have the same id.
    #[error("the key ring has two keys with the id `{0}`")]
    Twice(String),
}

impl KeyRing {
    /// Creates a key ring with its first key, which signs.
    pub fn new(id: impl Into<String>, key: impl Into<Vec<u8>>) -> Result<Self, KeyError> {
        Self(Vec::new()).keep(id, key)
    }

    /// Adds a key that only verifies, for example the previous signing key.
    pub fn keep(
        mut self,
        id: impl Into<String>,
        key: impl Into<Vec<u8>>,
    ) -> Result<Self, KeyError> {
        let (id, key) = (id.into(), SecretSlice::from(key.into()));
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if id.is_empty() || id.len() > LONGEST_ID || !id.bytes().all(legal) {
            return Err(KeyError::Id(id));
        }
        if self.0.iter().any(|(other, _)| *other == id) {
            return Err(KeyError::Twice(id));
        }
        let bytes = key.expose_secret().len();
        if bytes < FEWEST {
            return Err(KeyError::Short { id, bytes });
        }
        self.0.push((id, key));
        Ok(self)
    }

    /// Creates a key ring with one random key, for stores that are not durable. The key is lost when the process ends.
    pub(super) fn ephemeral() -> std::io::Result<Self> {
        let mut key = vec![0; FEWEST];
        crate::env::random(&mut key)?;
        Ok(Self(vec![("process".to_owned(), SecretSlice::from(key))]))
    }

    fn mac(key: &SecretSlice<u8>) -> Option<Hmac<Sha256>> {
        Hmac::new_from_slice(key.expose_secret()).ok()
    }

    /// Signs `bytes`. Returns the id of the signing key and the authentication code.
    pub(super) fn sign(&self, bytes: &[u8]) -> Option<(&str, Vec<u8>)> {
        let (id, key) = self.0.first()?;
        let mut mac = Self::mac(key)?;
        mac.update(id.as_bytes());
        mac.update(b".");
        mac.update(bytes);
        Some((id, mac.finalize().into_bytes().to_vec()))
    }

    /// Returns whether `code` is the authentication code of the key `id` for `bytes`, compared in constant time.
    pub(super) fn verify(&self, id: &str, bytes: &[u8], code: &[u8]) -> bool {
        let Some((id, key)) = self.0.iter().find(|(own, _)| own == id) else {
            return false;
        };
        let Some(mut mac) = Self::mac(key) else {
            return false;
        };
        mac.update(id.as_bytes());
        mac.update(b".");
        mac.update(bytes);
        mac.verify_slice(code).is_ok()
    }
}

/// Prints the ids, never the keys.
impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(id, _)| id))
            .finish()
    }
}
