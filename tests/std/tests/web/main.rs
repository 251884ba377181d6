//! The `fetch_webpage` and `search_web` tools.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod choice;
mod page;
mod search;
#[path = "../http/support.rs"]
#[allow(dead_code, reason = "the tests of the other pack use the rest")]
mod support;
