//! Tests of the packs of vendors with local servers, which check each request against the vendor's documentation.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod email;
mod faults;
mod github;
mod hubspot;
mod slack;
mod stand_in;
#[path = "../http/support.rs"]
#[allow(dead_code, reason = "these tests use a part of the support")]
mod support;
mod whatsapp;
