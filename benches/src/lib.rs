//! Benchmarks of tool calls: one tool, implemented with serde only (the floor), with tool-core and with each compared crate.

pub mod counting;
pub mod floor;
pub mod ours;
#[cfg(feature = "peers")]
pub mod peers;
pub mod work;
