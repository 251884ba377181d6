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
//! # Contents
//!
//! On request of the host, the stores on SQLite and PostgreSQL also seal the arguments of approvals, the contents of messages, the events of threads,
//! plans and the states of their runs, spilled outputs, and the stored responses of idempotency keys: `SqliteStore::sealing` and
//! `PostgresStore::sealing` return a handle of the store that does so.
//!
//! - New contents are sealed with the current key. Contents that were written before are read as they are, and stay unsealed.
//! - A handle without `sealing` fails with [`StoreError::Corrupt`](crate::StoreError::Corrupt) when it reads sealed contents, and so does every
//!   handle when the bytes or the place of the contents were altered. The text of the error names the row.
//! - Rotation, the counts of values and the retirement of keys cover contents like all other [columns](crate::SealedColumn).
//! - These values stay readable, because the stores filter and compare them: ids, names of tools, users, agents and child threads, roles, kinds of
//!   events, times, lengths, the reasons of requests and answers, and the keys of calls. The key of a call is a hash of its place in the thread, and
//!   reveals nothing about its arguments. So a reader of the database can see the user, the tool and the time of each call.
//! - Audit rows and the effect ledger are not sealed. They contain a hash (SHA-256, without a key) of the arguments of each call. A reader of the
//!   hash can see which calls have equal arguments, and can test guesses of short arguments. The ledger also contains the results of calls with
//!   effects.
//! - Documents, rooms, the prompts of scheduled tasks, stored tools with their functions, and responses to edits of stored tools are not sealed.
//! - A handle with `sealing` refuses to write memories and the notes of threads, which are stored only in clear text: the full-text index of memories
//!   contains their words. A host stores them with a handle without `sealing`.
//! - Sealed contents cannot be searched in SQL. A search has to read the contents through the store.
//! - A writer of the database can replace sealed contents with unsealed contents, which the store reads.
//!
//! # The keys
//!
//! A key has 32 random bytes and an id, and comes from a [`KeyProvider`], never from the database. [`SealKeys`] reads keys from an environment
//! variable or a file, and a host that has a key management service implements the trait. A value contains the id of its key, so the vault never
//! tries several keys.
//!
//! For each key, the database contains a known text that the key has sealed. [`Vault::open`] opens the texts of the keys in use, and fails if the
//! provider has a wrong key under an id, lacks its current key or a key that values are sealed with, or has a retired current key. A host opens its
//! vault when it starts, and must not serve requests if this fails.
//!
//! # Rotation
//!
//! 1. Add a new key in front of the old key, and restart every process. New values are sealed with the new key.
//! 2. Call [`Vault::rotate`] until [`Rotation::left`] is empty. Remove damaged values or write them again, because they stay in this list. A rotation
//!    may be stopped and resumed at any time, and may run in several processes while other processes write.
//! 3. Call [`Vault::retire_key`] with the id of the old key. The call fails while values are sealed with the key. Afterwards the store refuses values
//!    from processes that still use the old key.
//! 4. Remove the old key from the provider.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod contents;
mod envelope;
mod key;
mod rotate;
mod vault;

pub use key::{KeyError, KeyProvider, SealKey, SealKeys};
pub use rotate::Rotation;
pub use vault::{NewValue, NewVariableRequest, OpenVariable, Vault, VaultError};
