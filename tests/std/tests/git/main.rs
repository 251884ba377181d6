//! The git tools: their contracts, and the protection of programs and tokens against hostile repositories.

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
