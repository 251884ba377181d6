//! The state of tool hosts: the traits of the stores, a store in memory, and one on SQLite (feature `sqlite`).
//!
//! ```
//! # #[cfg(feature = "sqlite")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("state.db");
//! use tool_store::{AuditFilter, AuditRow, AuditSink, CallId, Scope, ThreadId, Timestamp};
//! use tool_store::SqliteStore;
//!
//! let store = SqliteStore::open(&path).await?;
//! let call = CallId::in_thread(&ThreadId::new("acme", "main")?, 4, 0);
//! store.write(vec![AuditRow::new(call, "call_0", "send_mail", Timestamp::now())]).await?;
//! store.close().await;
//!
//! let later = SqliteStore::open(&path).await?;
//! assert_eq!(later.export(Scope::All, &AuditFilter::default()).await?.len(), 1);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "sqlite"))]
//! # fn main() {}
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod digest;
#[doc(hidden)]
pub mod env;
#[doc(hidden)]
pub mod panics;
#[cfg(feature = "sqlite")]
mod sqlite;
#[doc(hidden)]
pub mod store;
#[cfg(feature = "suite")]
pub mod suite;

#[cfg(feature = "sqlite")]
pub use sqlite::{OpenError, SqliteStore};
#[doc(inline)]
pub use store::*;
