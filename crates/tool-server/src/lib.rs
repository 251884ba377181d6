//! The admin API of a tool host over HTTP, as axum routes that a host mounts or serves.
//!
//! For example, callers read the catalogue and the audit, answer approvals, cancel runs and plans, settle effects with an unknown outcome, set kill
//! switches, create, disable and delete [stored tools](tool_core::stored), correct memories, delete memories, documents, scheduled tasks and rooms,
//! and read and replace the policy. The API uses the stores of the host, so the server and the tools may run in different processes. A
//! replaced policy applies only in the process of the server.
//!
//! ```no_run
//! use tool_core::store::MemoryStore;
//! use tool_server::AdminServer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Use the store of the host, such as `SqliteStore`.
//! let server = AdminServer::builder(MemoryStore::default()).build()?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8081").await?;
//! server.serve_until(listener, tool_http::shutdown_signal()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Callers
//!
//! Every request requires an access token. [`StaticTokens`] contains the hashes of tokens that an operator has listed, [`VerifiedTokens`] accepts
//! tokens of an issuer, for example JSON Web Tokens, and [`Authenticator`] is the trait for other tokens. Without an authenticator, the server
//! creates a random token and prints it to standard error. A caller has a [`Role`] in one workspace. A request for a row of a different workspace
//! gets the same response as a request for a row that does not exist.
//!
//! # Requests
//!
//! - `/openapi.json` is the OpenAPI 3.1 document, which [`openapi_json`] returns as well.
//! - Lists have pages, except the list of a function's versions. The parameters are `limit` (1 to 100, 100 by default) and `cursor`, which is the
//!   `next` of the previous page.
//! - Errors are problem details (RFC 9457); `errors` contains JSON pointers to wrong values of the body.
//! - A change of a row is stored in one transaction with an audit row, which names the caller. The audit row of a policy change, a purge or a
//!   rotation of keys is stored before the change.
//! - Operations with the header parameter `Idempotency-Key` store their response for 24 hours. A repetition of the request with the same key returns
//!   this response, and changes nothing. Responses to refused requests are not stored. Purges, rotations of keys
//!   and answers to requests for variables refuse the header.
//! - Operations with the header parameter `If-Match` accept the `ETag` of the resource, and fail with the status 412 if the resource has changed.
//!   `PUT /v1/policy` requires the header.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod access;
mod auth;
mod change;
pub mod chat;
mod entry;
mod extract;
mod openapi;
mod page;
mod problem;
mod resources;
mod server;
mod state;
mod time;

pub use access::Role;
pub use auth::{Authenticator, Caller, StaticTokens, TokensError, VerifiedTokens, token_hash};
pub use server::{AdminServer, AdminServerBuilder, openapi_json};
pub use state::AdminStore;
#[doc(no_inline)]
pub use tool_http::AuthError;
