//! A deterministic simulator of hosts.
//!
//! A seed becomes a [`Plan`](plan::Plan), a [`run`](run::run) executes the plan, and invariants are checked on the result. See `docs/world.md`.

pub mod agents;
pub mod executor;
pub mod facts;
pub mod generate;
pub mod known;
pub mod packs;
pub mod plan;
pub mod process;
pub mod random;
pub mod run;
pub mod shrink;
pub mod store;
pub mod tools;

pub use quiet::quiet_panics;

mod actions;
mod check;
mod host;
mod quiet;
mod settle;
