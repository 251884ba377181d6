//! Tests that import tools of scripted MCP servers and of this project's own servers.

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
mod stored;
mod support;
