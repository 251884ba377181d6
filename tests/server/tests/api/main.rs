//! The admin API over HTTP on a loopback port.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod access;
mod bodies;
mod changes;
mod lists;
mod policy;
mod samples;
mod workspaces;
