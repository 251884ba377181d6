//! The types of `tool-contracts` compared with the tools that are linked.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod schemas;
mod tree;
