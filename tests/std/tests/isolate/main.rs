//! Jobs through the helper: what they have, what they leave behind, who ends them.

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
