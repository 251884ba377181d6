//! Provider formats: writes tool definitions, results and messages for requests, and reads calls from replies.
//!
//! [`Provider`] is the only type of this crate that a host's loop has to name: its methods cover the differences between providers. The crate does
//! not send requests: a host uses its own HTTP client and passes in the bytes.
//!
//! ```
//! use serde_json::json;
//! use tool_core::prelude::*;
//! use tool_wire::Provider;
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(
//!     /// The first number.
//!     a: i32,
//!     /// The second number.
//!     b: i32,
//! ) -> i64 {
//!     i64::from(a) + i64::from(b)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let provider = Provider::Anthropic;
//! let (tools, cx) = (toolset![add], ToolContext::anonymous());
//!
//! // Writes the definitions: the fields of the request that describe tools.
//! let offer = provider.offer(&tools)?;
//! assert!(serde_json::to_string(&offer)?.starts_with(r#"{"tools":[{"name":"add","#));
//!
//! // Reads the provider's reply: a complete body (`reply`) or a stream (`stream`).
//! let body = r#"{"role":"assistant","stop_reason":"tool_use","content":[
//!     {"type":"tool_use","id":"toolu_1","name":"add","input":{"a":1,"b":2}}]}"#;
//! let reply = provider.reply(body)?;
//!
//! // Writes the results, in the order of the calls.
//! let mut results = Vec::new();
//! for call in reply.calls() {
//!     results.push(tools.call(call.clone(), &cx).await);
//! }
//! let mut messages = provider.assistant(reply.message());
//! messages.extend(provider.results(reply.message(), &results)?.messages);
//! assert_eq!(
//!     serde_json::to_value(&messages[1])?,
//!     json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"}]})
//! );
//! # Ok(())
//! # }
//! ```
//!
//! [`ModelReply::is_truncated`] reports whether a reply was cut off. [`Turns`](tool_core::turn::Turns) accepts [`ModelReply::message`] unchanged, and
//! does not run the calls of a reply that was cut off. For your own loop, [`ModelReply::calls`] of such a reply is empty.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod anthropic;
mod bedrock;
mod budget;
mod chat;
mod definition;
mod delta;
mod error;
mod file;
mod gemini;
mod history;
mod json;
mod listed;
mod messages;
mod offer;
mod provider;
mod reply;
mod responses;
mod results;
mod search;
mod sse;
mod stream;
mod system;
#[doc(alias("useChat", "Vercel AI SDK"))]
pub mod ui;
mod usage;
mod user;
mod write;

pub use delta::Delta;
pub use error::{OfferError, WireError};
pub use messages::{RequestMessages, UnsupportedFile};
pub use offer::Offer;
pub use provider::Provider;
pub use reply::ModelReply;
pub use results::ToolResult;
pub use stream::ReplyStream;
pub use system::SystemPrompt;
pub use tool_core::turn::StopReason;
