//! Context windows: the counts of tokens, and the views that are sent in place of a thread.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod compaction;
mod counting;
mod runs;
mod support;
mod trimming;
