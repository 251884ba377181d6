//! MCP (Model Context Protocol) servers and clients for tools.
//!
//! A [`Toolset`](tool_core::Toolset) becomes an MCP server in two lines. The gate that checks the calls of a turn also checks
//! every call of the server.
//!
//! ```no_run
//! use tool_core::prelude::*;
//! use tool_mcp::McpServer;
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     b: i64,
//! ) -> i64 {
//!     a.saturating_add(b)
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = McpServer::builder(Registry::linked()?).name("sums").build();
//!     server.stdio().await?;
//!     Ok(())
//! }
//! ```
//!
//! The server and the client both support the 2026-07-28 protocol and the legacy protocol (2025-11-25 and earlier).
//!
//! In the other direction, [`mcp_tools`] wraps the tools of another MCP server as tools of this program.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "stdio", feature = "http"))]
pub mod server;

#[cfg(feature = "client")]
pub use client::{McpClient, McpTools, mcp_tools};
pub use rmcp;
#[cfg(feature = "http")]
pub use server::{Auth, HttpOptions};
#[cfg(any(feature = "stdio", feature = "http"))]
pub use server::{
    Caller, Composed, McpServer, McpServerBuilder, NoHandler, StateKey, StateKeyError, Tools,
    Waiting,
};
#[cfg(any(feature = "stdio", feature = "http"))]
#[doc(inline)]
pub use tool_http::Principal;
#[cfg(feature = "http")]
#[doc(inline)]
pub use tool_http::{AuthError, TokenVerifier, shutdown_signal};
#[cfg(feature = "jwt")]
#[doc(inline)]
pub use tool_http::{
    FetchedJwks, HttpJwks, JwksError, JwksFetcher, JwtAlgorithm, JwtConfigError, JwtVerifier,
    JwtVerifierBuilder,
};
