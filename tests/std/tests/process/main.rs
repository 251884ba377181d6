//! The `run_command` tool.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[path = "../isolate/mark.rs"]
#[allow(dead_code, reason = "the tests of `isolate` use the rest")]
mod mark;

mod ends;
mod environment;
mod results;
mod support;
