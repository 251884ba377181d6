//! Tools with which one agent asks others, with models from scripts and on a paused clock.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod ask;
mod config;
mod consult;
mod contracts;
mod local;
mod research;
mod spawn;
mod specialist;
mod support;
