//! The tools on repositories: what they promise, and that no repository starts anything or gets a token that is not its own.

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
