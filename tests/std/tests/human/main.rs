//! Tests of the tools of the pack `human`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod ask;
mod room;
mod support;
mod trigger;
