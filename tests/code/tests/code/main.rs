//! Tests of `run_code` with real engine processes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod calls;
mod compromised;
mod engine;
mod hostile;
mod offer;
mod stored;
mod support;
mod waiting;
