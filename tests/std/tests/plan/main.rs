//! Tests of the tools of the pack `plan`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod drafts;
mod runs;
mod support;
