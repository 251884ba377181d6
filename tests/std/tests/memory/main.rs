//! Tests of the tools of the pack `memory`, on the in-memory store and on SQLite.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod block;
mod contract;
mod conversation;
mod embeddings;
mod faults;
#[path = "../http/support.rs"]
#[allow(dead_code, reason = "these tests use a part of the support")]
mod http_support;
mod remember;
mod search;
mod support;
