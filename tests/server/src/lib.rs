//! Helpers that start an admin server with its HTTP client, and store sample records of a workspace.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

mod packs;
mod records;
mod site;

pub use packs::{create_plan, create_task, remember, write_document, write_to_room};
pub use records::{Sample, seed, seed_on};
pub use site::{Answer, KEY, Site, SiteStore, StoreKind, document, operations, pick_color, tokens};
