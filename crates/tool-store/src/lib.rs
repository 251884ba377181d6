//! SQLite storage for tool hosts: approvals, effects, audit rows, threads, runs, switches and spilled outputs.
//!
//! [`SqliteStore`] implements the store traits of [`tool_core::store`] on one SQLite file. Many tasks and many processes may use the file at
//! the same time.
//!
//! ```
//! use tool_core::store::{AuditFilter, AuditRow, AuditSink, CallId, Scope, ThreadId, Timestamp};
//! use tool_store::SqliteStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("state.db");
//! let store = SqliteStore::open(&path).await?;
//! let call = CallId::in_thread(&ThreadId::new("acme", "main")?, 4, 0);
//! store.write(vec![AuditRow::new(call, "call_0", "send_mail", Timestamp::now())]).await?;
//! store.close().await;
//!
//! let later = SqliteStore::open(&path).await?;
//! assert_eq!(later.export(Scope::All, &AuditFilter::default()).await?.len(), 1);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod sqlite;

pub use sqlite::{OpenError, SqliteStore};
