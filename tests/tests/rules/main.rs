//! The rules: every printed id and message is in the catalogue of `tool-rules`, each fault has one text, each rule has a proof, and
//! `docs/rules.md` lists them.

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
