//! The wire formats of the providers, tested on bodies in the form that their APIs document.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod cache;
mod calls;
mod cut;
mod ids;
mod malformed;
mod media;
mod offers;
mod origins;
mod parts;
mod reasoning;
mod results;
mod searched;
mod split;
mod stops;
mod support;
mod system;
mod turns;
mod ui;
mod usage;
