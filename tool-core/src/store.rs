//! Stores for state that outlives a call: re-exports the traits, their records and the in-memory store of [`tool_store`]. The documentation of that
//! crate lists the data that each trait stores.
//!
//! The durable stores are `tool_store::SqliteStore` (feature `sqlite` of `tool-store`) and `tool_store::PostgresStore` (feature `postgres`).

#[doc(inline)]
pub use tool_store::store::*;

#[cfg(feature = "seal")]
#[doc(inline)]
pub use tool_store::seal;
