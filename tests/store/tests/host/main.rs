//! Tests of a complete host on SQLite files: gate, audit, approvals and turns.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

mod audit_file;
mod audit_lost;
mod instances;
mod plan;
mod resumed;
mod steps;
mod support;
mod switched_off;
mod switches;
