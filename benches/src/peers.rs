//! The compared crates. Each dispatches a call from JSON text to JSON text with its own API.

pub mod rig;
pub mod rmcp;
pub mod swiftide;
