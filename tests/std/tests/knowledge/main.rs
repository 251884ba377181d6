//! The documents of a workspace: their tools, and the worker that indexes them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod faults;
#[cfg(target_os = "linux")]
mod formats;
mod hybrid;
mod indexing;
mod killed;
mod support;
mod tools;
