//! Stores for state that outlives a call: traits, their records, and an in-memory implementation.
//!
//! `tool-store` defines them.

#[doc(inline)]
pub use tool_store::store::*;
