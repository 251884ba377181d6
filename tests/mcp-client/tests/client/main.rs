//! Other servers' tools as tools of one's own.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails where it gets nothing"
)]

mod changes;
mod hidden;
mod hostile;
mod non_strict;
mod numbers;
mod own;
mod support;
