//! Benchmarks of tool calls: one tool, implemented for the floor, for tool-core and for each compared crate.

pub mod counting;
pub mod floor;
pub mod ours;
#[cfg(feature = "peers")]
pub mod peers;
pub mod work;
