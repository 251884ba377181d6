//! The file tools: their contracts, and that nothing outside of a workspace is read, written or listed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod place;

mod contracts;
#[cfg(target_os = "linux")]
mod escape;
mod listing;
mod reading;
mod searching;
mod writing;
