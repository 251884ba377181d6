//! The state of hosts that run tools for language models: the traits of the stores, and implementations in memory, on SQLite and on PostgreSQL.
//!
//! ```
//! use tool_store::SqliteStore;
//! use tool_store::{AuditFilter, AuditRow, AuditSink, CallId, Scope, ThreadId, Timestamp};
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
//!
//! `tool_core::store` re-exports the traits, the records and [`MemoryStore`].
//!
//! | feature | adds |
//! |---|---|
//! | `host` | the records of a host. Without it, the crate contains only identities, messages of threads, spilled outputs, the catalogue and enablement rows |
//! | `sqlite` | `SqliteStore`: one file, for the processes of one host |
//! | `postgres` | `PostgresStore`: one database, for many hosts |
//! | `seal` | the module `seal`: a vault that encrypts secrets and variables at rest, and on request the contents of the SQL stores |
//! | `schedule` | `next_due`, `read_time` and `write_time`: the due times of scheduled tasks, with the rules of time zones |
//! | `suite` | the module `suite`: the tests that a store must pass |
//!
//! Each of the other features enables `host`. No feature is enabled by default, because a crate that defines tools needs none of them.
//!
//! # The traits
//!
//! | trait | stores |
//! |---|---|
//! | [`ApprovalStore`] | approval requests for calls and plans, and their answers |
//! | [`EffectLedger`] | the effects that were begun, and how they ended |
//! | [`AuditSink`] | one row for each call, and one row for each change by an operator |
//! | [`ThreadStore`] | the messages of a thread |
//! | [`ChildStore`] | the state of threads that a call of another thread started |
//! | [`ThreadEventStore`] | the events of a thread, which other processes read together with its messages to follow a run |
//! | [`WorkStore`] | the queue of threads that workers drive |
//! | [`BudgetStore`] | budgets that several runs share, and their reservations |
//! | [`LimitStore`] | limits on calls that several processes share |
//! | [`KnowledgeStore`] | the documents of a workspace, their searchable chunks, and the jobs that index them |
//! | [`PlanStore`] | plans of several tasks, and their runs |
//! | [`LongTermStore`] | long-term memories of agents, with searches by words and by embeddings, and the notes of threads |
//! | [`RoomStore`] | rooms: the backlog of events, and the history of messages |
//! | [`ScheduleStore`] | scheduled tasks, the claims of their runs, and the runs |
//! | [`RunStore`] | the driver of each thread, and how each run ended |
//! | [`SpillStore`] | outputs too long for a model |
//! | [`SwitchStore`] | kill switches, disables and enablement rows |
//! | [`SecretStore`], [`VariableStore`], [`VariableRequestStore`] | sealed secrets, variables, and requests for variables |
//! | [`EventStore`] | the changes of rows, which a reader follows from a position |
//! | [`SealStore`] | the ids of the keys, and access to sealed values for rotation |
//! | [`StoredToolStore`], [`Directory`] | tools that operators create at run time, their functions and bindings; workspaces and members |
//!
//! [`Catalogue`] stores the tools of the program, and [`EnablementStore`] stores the rows that enable these tools for instances. [`Maintenance`]
//! erases contents and removes old rows. [`ChangeStore`] writes changes by operators together with their audit rows. A [`Journal`] writes to several
//! of these stores in one transaction.
//!
//! [`MemoryStore`] implements all of these traits for tests and for hosts that may lose their data, and `SqliteStore` and `PostgresStore` for all
//! other hosts. To write your own store, implement the traits and run the tests of the module `suite` on it.
//!
//! Each method is one transaction, which is atomic for concurrent tasks and, if [`is_durable`](ApprovalStore::is_durable), for concurrent processes.
//! Methods that remove many old rows, for example [`Maintenance::purge`] and [`AuditSink::retain`], may use several transactions. Most methods that
//! need the time get it as an argument, so that tests control it. `PostgresStore` converts a deadline to a time span that begins with the call, and
//! measures this span by the database's clock, because the clocks of hosts differ.
//!
//! Each record belongs to one workspace, except catalogue entries, keys, limits of the whole host, system rows, and switches for every workspace. A
//! method that reads or changes records of workspaces has a parameter that selects them: a [`Workspace`], a [`Scope`], or a value that contains a
//! workspace, such as a [`ThreadId`] or a [`CallKey`]. The methods without such a parameter, for example [`SwitchStore::in_force`] and
//! [`ScheduleStore::ready_tasks`], are for the host itself, and cover all workspaces.
//!
//! A future does nothing before it is polled. A future that is dropped before it completes has made either none or all of the changes of each of its
//! transactions.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod digest;
#[doc(hidden)]
pub mod env;
#[doc(hidden)]
pub mod panics;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "seal")]
pub mod seal;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;
#[doc(hidden)]
pub mod store;
#[cfg(feature = "suite")]
pub mod suite;
#[cfg(feature = "host")]
pub mod text_search;
#[cfg(feature = "host")]
mod vectors;

#[cfg(all(feature = "postgres", feature = "suite"))]
#[doc(hidden)]
pub use postgres::statements as postgres_statements;
#[cfg(feature = "postgres")]
pub use postgres::{
    ConnectError, MemoryIndex, MemoryIndexing, PostgresClock, PostgresOptions, PostgresStore,
    UnknownOutcome,
};
#[cfg(feature = "sqlite")]
pub use sqlite::{OpenError, SqliteStore};
#[doc(inline)]
pub use store::*;
