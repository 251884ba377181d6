//! Races of two tools in one conversation, and of each tool with a program that swaps files.
//!
//! Each pair of tools runs once, or `STD_TESTS_ROUNDS` times (`.ci/slow races`).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    dead_code,
    reason = "each test target uses a part of the shared modules"
)]

#[path = "../fs/escape/outside.rs"]
mod outside;
#[path = "../fs/place.rs"]
mod place;
#[path = "../git/server.rs"]
mod server;
#[path = "../http/support.rs"]
mod stand_ins;
#[path = "../fs/escape/trial.rs"]
mod trial;
#[path = "../git/world.rs"]
mod world;

mod actors;
mod checks;
mod pairs;
mod scene;
mod stores;
mod swaps;

/// Returns the number of rounds of each race.
fn rounds() -> usize {
    let value = std::env::var("STD_TESTS_ROUNDS").ok();
    value.map_or(1, |rounds| rounds.parse().unwrap())
}
