//! Tests of the tool and the scheduler of the pack `schedule`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod clock;
mod runs;
mod support;
mod tool;
mod turn;
mod zones;
