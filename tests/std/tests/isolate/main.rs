//! Jobs run through the helper: their environment, their limits, and how they end.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod ends;
mod limits;
mod mark;
mod report;
mod start;
mod support;
