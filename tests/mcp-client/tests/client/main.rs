//! Third-party MCP servers' tools, imported as tools of this project.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod changes;
mod hidden;
mod hostile;
mod non_strict;
mod numbers;
mod own;
mod support;
