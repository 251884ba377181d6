//! The file tools, workspaces and the number of crates of the pack. No tool may read, write or list files outside of a workspace.

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
