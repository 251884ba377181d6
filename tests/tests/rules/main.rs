//! Checks of the rules: the catalogue of `tool-rules` has every printed id and message, each fault has one text, each rule has a proof, and
//! `docs/rules.md` lists all rules.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod cases;
mod catalogue;
mod message;
mod page;
mod proof;
mod recorded;
mod schemas;
mod sources;

use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
