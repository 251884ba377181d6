//! The `fetch_webpage` and `search_web` tools.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod choice;
mod firecrawl;
mod page;
mod search;
