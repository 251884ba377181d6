//! The file tools: their contracts, and that nothing outside of a workspace is read, written or listed. Workspaces, and the crates of the pack.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod place;

mod contracts;
mod cost;
#[cfg(target_os = "linux")]
mod escape;
mod listing;
mod reading;
mod searching;
mod workspace;
mod writing;
