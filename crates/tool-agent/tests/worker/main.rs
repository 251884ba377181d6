//! Workers on a store in memory.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

mod claims;
mod outcomes;
mod queue;
mod shared_limits;
#[allow(dead_code, reason = "other tests use the other parts")]
#[path = "../model/standin.rs"]
mod standin;
mod stepped;
mod support;
mod suspended;
