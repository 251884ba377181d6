//! The git tools: their contracts, and that no repository starts a program or gets a token of another one.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod clock;
mod renewed;
mod server;
mod world;

mod clocks;
mod clones;
mod contracts;
mod hostile;
mod limits;
mod races;
mod tokens;
mod work;
