//! The MCP server over stdio and over HTTP, in both protocol versions.

mod approve;
mod ask;
mod connections;
mod http;
#[cfg(feature = "jwt")]
mod jwt;
mod media;
mod resume;
mod stdio;
mod support;
