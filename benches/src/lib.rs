//! What a call costs: one tool, written once for the floor, for tool-core and for each peer.

pub mod counting;
pub mod floor;
pub mod ours;
#[cfg(feature = "peers")]
pub mod peers;
pub mod work;
