//! Tests of the command line in a pseudo-terminal and in scripts, with valid and invalid input.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod budget;
mod call;
mod chat;
mod check;
mod completions;
mod faults;
mod files;
mod import;
mod list;
mod lock;
mod serve;
mod support;
mod terminal;
mod workspace;
