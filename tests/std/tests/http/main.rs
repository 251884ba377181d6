//! The `http_get` and `http_request` tools, the guard that checks their addresses, stored HTTP operations, and the web tools. All use one client.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod addresses;
mod bodies;
mod contract;
mod proxy;
mod redirects;
mod secrets;
mod stored;
mod support;
mod tls;
mod web;
