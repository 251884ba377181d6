//! Provider formats, both ways: tool definitions out, calls in, results out.
//!
//! [`Provider`] is the only type that a host's loop needs: it covers the differences between providers. This module sends nothing: a host
//! uses its own HTTP client and passes in the bytes.
//!
//! ```
//! use serde_json::json;
//! use tool_core::prelude::*;
//! use tool_wire::Provider;
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(
//!     /// The first.
//!     a: i32,
//!     /// The second.
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
//! // Definitions out: the fields of the request that are about tools.
//! let offer = provider.offer(&tools)?;
//! assert!(serde_json::to_string(&offer)?.starts_with(r#"{"tools":[{"name":"add","#));
//!
//! // Calls in: what the provider has answered, whole (`reply`) or as it streams (`stream`).
//! let body = r#"{"role":"assistant","stop_reason":"tool_use","content":[
//!     {"type":"tool_use","id":"toolu_1","name":"add","input":{"a":1,"b":2}}]}"#;
//! let reply = provider.reply(body)?;
//!
//! // Results out, in the order of the calls.
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
//! A reply that was cut off says so ([`Reply::is_truncated`]). [`Turns`](tool_core::turn::Turns) take [`Reply::message`] as it is and run none
//! of its calls. For a loop of your own, [`Reply::calls`] is empty in that case.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tool_core::Dialect;
use tool_core::store::Message;
use tool_core::turn::{ModelMessage, UserMessage};

mod answered;
mod anthropic;
mod bedrock;
mod budget;
mod chat;
mod definition;
mod error;
mod gemini;
mod history;
mod json;
mod offer;
mod reply;
mod responses;
mod search;
mod sse;
mod stream;
mod system;
#[doc(alias("useChat", "Vercel AI SDK"))]
pub mod ui;
mod user;

pub use answered::{Answered, LeftOut, Results};
pub use error::{OfferError, WireError};
pub use offer::Offer;
pub use reply::Reply;
pub use stream::{Delta, ReplyStream};
pub use system::SystemPrompt;
pub use tool_core::turn::Stop;

/// The API of a model provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[doc(alias(
    "OpenAI",
    "Claude",
    "chat completions",
    "responses API",
    "function calling"
))]
pub enum Provider {
    /// The Chat Completions API of `OpenAI`, and of the many servers that have copied it.
    Chat,
    /// The Responses API of `OpenAI`.
    Responses,
    /// The Messages API of Anthropic.
    Anthropic,
    /// The `generateContent` API of Gemini.
    Gemini,
    /// The Converse API of Amazon Bedrock.
    Bedrock,
}

impl Provider {
    /// All providers, in the order of the variants.
    pub const ALL: [Self; 5] = [
        Self::Chat,
        Self::Responses,
        Self::Anthropic,
        Self::Gemini,
        Self::Bedrock,
    ];

    /// The name of the provider in stores and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// The schema dialect of the provider. Bedrock uses the dialect of Anthropic.
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::Chat | Self::Responses => Dialect::OpenAi,
            Self::Anthropic | Self::Bedrock => Dialect::Anthropic,
            Self::Gemini => Dialect::Gemini,
        }
    }

    /// Reads a whole answer: the body of the HTTP response.
    ///
    /// Arguments stay the text that the model wrote, so that duplicate keys and long numbers reach the tool's own check.
    pub fn reply(self, body: &str) -> Result<Reply, WireError> {
        match self {
            Self::Chat => chat::reply(body),
            Self::Responses => responses::reply(body),
            Self::Anthropic => anthropic::reply(body),
            Self::Gemini => gemini::reply(body),
            Self::Bedrock => bedrock::reply(body),
        }
    }

    /// Reads an answer as it streams.
    pub fn stream(self) -> ReplyStream {
        ReplyStream::new(self)
    }

    /// The model's message as messages (items, contents) of the next request: as this provider wrote it if the message came from this provider,
    /// else written from text and calls.
    pub fn assistant(self, message: &ModelMessage) -> Vec<Box<RawValue>> {
        if let Some(written) = &message.written
            && written.provider == self.name()
            && let Ok(messages) = serde_json::from_str(&written.messages)
        {
            return messages;
        }
        match self {
            Self::Chat => chat::assistant(message),
            Self::Responses => responses::assistant(message),
            Self::Anthropic => anthropic::assistant(message),
            Self::Gemini => gemini::assistant(message),
            Self::Bedrock => bedrock::assistant(message),
        }
    }

    /// The results of a message's calls, as messages (items, contents) of the next request.
    ///
    /// The messages are in the order of the calls, whatever the order of `results`: each result answers the first open call with its id. Every
    /// call must have a result. A [`CallResult`](tool_core::CallResult) and a turn's [`ToolMessage`](tool_core::turn::ToolMessage) are both accepted.
    pub fn results<'a, R: Into<Answered<'a>>>(
        self,
        message: &ModelMessage,
        results: impl IntoIterator<Item = R>,
    ) -> Result<Results, WireError> {
        let results = answered::in_order(message, results.into_iter().map(Into::into))?;
        let mut out = Results::default();
        self.write_results(&results, &mut out);
        Ok(out)
    }

    fn write_results(self, results: &[Answered<'_>], out: &mut Results) {
        match self {
            Self::Chat => chat::results(results, out),
            Self::Responses => responses::results(results, out),
            Self::Anthropic => anthropic::results(results, out),
            Self::Gemini => gemini::results(results, out),
            Self::Bedrock => bedrock::results(results, out),
        }
    }

    /// A thread, as [`Turns`](tool_core::turn::Turns) store it, as the messages (items, contents) of a request.
    ///
    /// Every call is followed by its result, wherever in the thread the result was stored. A call without a result gets a line that says so,
    /// and a result without its call is left out. System messages are among the messages if the provider takes them there (Chat, Responses);
    /// else they are in [`Results::system`], which belongs in the same request. [`Results::left_out`] lists each file that the provider does not
    /// accept, and the model reads a line in its place. With this and [`reply`](Self::reply), one [`Model`](tool_core::turn::Model) serves all providers.
    pub fn history(self, thread: &[Message]) -> Result<Results, WireError> {
        history::history(self, thread)
    }

    /// A system message, for hosts with a loop of their own; [`history`](Self::history) writes it automatically. It is a message or a field of
    /// the request: [`Results::system`].
    pub fn system_message(self, text: &str) -> Results {
        let mut out = Results::default();
        system::write(self, text.to_owned(), &mut out);
        out
    }

    /// A user's text, as a message (item, content) of the next request.
    pub fn user(self, text: &str) -> Box<RawValue> {
        user::text(self, text)
    }

    /// A user's message with images and files, for hosts with a loop of their own; [`history`](Self::history) writes it automatically.
    ///
    /// ```
    /// use tool_core::Part;
    /// use tool_core::turn::UserMessage;
    /// use tool_wire::Provider;
    ///
    /// let message = UserMessage::from([
    ///     Part::text("What is on this picture?"),
    ///     Part::url("image/png", "https://example.com/cat.png"),
    /// ]);
    /// let sent = Provider::Chat.user_message(&message);
    /// assert!(sent.messages[0].get().contains(r#""image_url":{"url":"https://example.com/cat.png"}"#));
    ///
    /// // Bedrock fetches no addresses, so the model reads a line in the place of the picture.
    /// let sent = Provider::Bedrock.user_message(&message);
    /// assert_eq!(sent.left_out[0].media_type, "image/png");
    /// ```
    pub fn user_message(self, message: &UserMessage) -> Results {
        let mut out = Results::default();
        user::write(self, message.parts(), &mut out);
        out
    }
}

/// Writes the provider's name as people write it.
impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chat => "OpenAI Chat Completions",
            Self::Responses => "OpenAI Responses",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Gemini",
            Self::Bedrock => "Bedrock",
        })
    }
}
