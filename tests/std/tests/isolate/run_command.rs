//! Tests of the `run_command` tool.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod ends;
mod environment;
mod results;
mod support;
