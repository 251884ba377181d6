//! Conversions between [`tool_core`] and [`async_openai`]: tool definitions, calls and results.
//!
//! Each of the modules [`chat`] and [`responses`] supports one API and has three functions: `tools` returns the
//! definitions for a request, `message` reads the response, and `answers` returns the messages for the next request.
//!
//! ```
//! use async_openai::types::chat::CreateChatCompletionRequest;
//! use tool_async_openai::chat;
//! use tool_core::prelude::*;
//!
//! /// Returns the temperature in a city, in degrees Celsius.
//! #[tool(read_only)]
//! fn temperature(
//!     /// The name of the city.
//!     city: String,
//! ) -> String {
//!     format!("{city}: 21")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = toolset![temperature];
//! let request = CreateChatCompletionRequest {
//!     model: "gpt-5".to_owned(),
//!     tools: Some(chat::tools(&tools)?),
//!     ..CreateChatCompletionRequest::default()
//! };
//! // `client.chat().create(request).await?` returns a response like this:
//! # let _ = request;
//! let response = serde_json::from_str(r#"{
//!     "id": "1", "object": "chat.completion", "created": 0, "model": "gpt-5", "choices": [{"index": 0, "finish_reason": "tool_calls", "message":
//!     {"role": "assistant", "tool_calls": [{"id": "c-1", "type": "function", "function": {"name": "temperature", "arguments": "{\"city\":\"Rome\"}"}}]}}]
//! }"#)?;
//! let mut results = Vec::new();
//! for call in chat::message(&response).calls {
//!     results.push(tools.call(call, &ToolContext::anonymous()).await);
//! }
//! assert_eq!(results[0].model_text(), "Rome: 21");
//! let next = chat::answers(&results);
//! assert_eq!(next.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! `message` returns a [`ModelMessage`](tool_core::turn::ModelMessage), which [`Turns`](tool_core::turn::Turns) can run: a truncated
//! message is marked, and none of its calls runs.
#![forbid(unsafe_code)]

pub mod chat;
pub mod responses;

use tool_core::{Dialect, ToolDef, Toolset};

/// Returns the definitions of the tools that are offered to OpenAI.
fn offered(tools: &Toolset) -> impl Iterator<Item = &str> {
    let definitions = tools
        .offered()
        .map(|tool: &ToolDef| tool.definition(Dialect::OpenAi));
    definitions.filter(|definition| !definition.is_empty())
}
