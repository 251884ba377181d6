//! State of tool hosts in SQL.
//!
//! [`SqliteStore`] implements the five traits of [`tool_core::store`] on one SQLite file that many tasks and many processes may use at
//! once.
//!
//! ```
//! use tool_core::store::{AuditFilter, AuditRow, AuditSink};
//! use tool_store::SqliteStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("state.db");
//! let store = SqliteStore::open(&path).await?;
//! store.write(vec![AuditRow { id: "t1/c1".into(), tool: "send_mail".into(), ..AuditRow::default() }]).await?;
//! store.close().await;
//!
//! let later = SqliteStore::open(&path).await?;
//! assert_eq!(later.export(&AuditFilter::default()).await?.len(), 1);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod sqlite;

pub use sqlite::{OpenError, SqliteStore};
