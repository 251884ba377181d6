//! The host's gate: approvals, the effect ledger, the audit, limits and hooks of every call.

pub(crate) mod approval;
pub(crate) mod host;
pub(crate) mod random;
mod sweeper;

pub use host::{Gate, GateBuilder, Retry};
pub use sweeper::Sweeper;
