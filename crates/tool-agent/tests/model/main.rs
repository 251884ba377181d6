//! Models over HTTP against a mock provider: the requests, and the handling of failures.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and reads the clocks of the system"
)]

mod bedrock;
mod budgets;
mod chain;
mod config;
mod misbehaving;
mod pauses;
mod prices;
mod reasoning;
mod recordings;
mod requests;
mod retries;
mod shared_limits;
mod shown;
mod standin;
mod streams;
mod support;
mod window;
