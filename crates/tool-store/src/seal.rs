//! Encryption at rest: a vault of secrets and variables, and the keys that seal them.
//!
//! ```
//! use tool_store::seal::{SealKey, SealKeys, Vault};
//! use tool_store::{MemoryStore, Workspace};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A host reads its keys with `SealKeys::from_env` or `SealKeys::from_file`.
//! let keys = SealKeys::new("2026-11", SealKey::generate()?)?;
//! let vault = Vault::open(MemoryStore::default(), keys).await?;
//! let acme = Workspace::new("acme");
//! vault.set_secret(&acme, "docs_api_key", &"sk-4711".into(), "olga").await?;
//!
//! let opened = vault.open_secrets(&acme, ["docs_api_key"]).await?;
//! assert_eq!(secrecy::ExposeSecret::expose_secret(&opened["docs_api_key"]), "sk-4711");
//! # Ok(())
//! # }
//! ```
//!
//! # The format
//!
//! A value is encrypted and authenticated with XChaCha20-Poly1305 and a new random nonce of 24 bytes. The associated data is the value's place: the
//! kind of the value, the workspace, the id of the owner, the id of the value, the id of the key and the version of the format, each prefixed with
//! its length. So a value that is copied to a different row, workspace or owner, or whose bytes were changed, cannot be opened. The place contains
//! the id of a secret and not its name, so renaming a secret does not require sealing it again. The length of a value is not hidden.
//!
//! # The keys
//!
//! A key has 32 random bytes and an id, and comes from a [`KeyProvider`], never from the database. [`SealKeys`] reads keys from an environment variable
//! or a file, and a host that has a key management service implements the trait. A value contains the id of its key, so the vault never tries several keys.
//!
//! For each key, the database contains a known text that the key has sealed. [`Vault::open`] opens these texts, and fails if the provider has
//! a wrong key under an id or lacks a key that values are sealed with. A host opens its vault when it starts, and must not serve requests if this fails.
//!
//! # Rotation
//!
//! 1. Add a new key in front of the old key, and restart every process. New values are sealed with the new key.
//! 2. Call [`Vault::rotate`] until [`Rotation::left`] is empty. A rotation may be stopped and resumed at any time, and may run in several processes
//!    while other processes write.
//! 3. Call [`Vault::retire_key`] with the id of the old key. The call fails while values are sealed with the key. Afterwards the store refuses values
//!    from processes that still use the old key.
//! 4. Remove the old key from the provider.

mod envelope;
mod key;
mod rotate;
mod vault;

pub use key::{KeyError, KeyProvider, SealKey, SealKeys};
pub use rotate::Rotation;
pub use vault::{NewValue, NewVariableRequest, OpenVariable, Vault, VaultError};
