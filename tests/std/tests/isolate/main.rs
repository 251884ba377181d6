//! Jobs that the helper runs: their environment, limits and end, and the `run_command` tool.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod ends;
mod limits;
mod mark;
mod report;
mod run_command;
mod start;
mod support;
