//! The peer crates, each dispatching a call from JSON text to JSON text by its own means.

pub mod rig;
pub mod rmcp;
pub mod swiftide;
