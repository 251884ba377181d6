//! The UI message stream of the AI SDK, so that an existing `useChat` shows tools that run here: their arguments while they stream, progress,
//! approval requests, results and errors. In the other direction, it reads the users' messages, their answers to approval requests, and the results
//! of client tools.
//!
//! A host answers with [`HEADERS`] and the text of each [`Chunk`], and ends with [`DONE`]. A [`Writer`] makes the chunks from the events of a turn.
//! [`user_message`], [`ApprovalResponses`] and [`client_results`] read the requests of the interface. The stream has the format of versions 5 to 7
//! of the npm package `ai`; version 5 does not support approvals.
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_core::turn::ModelMessage;
//! use tool_wire::ui::{DONE, Writer};
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
//! let tools = toolset![add];
//! let mut ui = Writer::new(&tools);
//! let mut body = String::new();
//! let mut send = |chunks: Vec<_>| chunks.iter().for_each(|chunk| body += &format!("{chunk}"));
//!
//! send(ui.start(None));
//! let message = ModelMessage::calls([ToolCall::new("c-1", "add", r#"{"a":1,"b":2}"#)]);
//! send(ui.message(&message)?);
//! for call in message.calls {
//!     send(ui.result(&tools.call(call, &ToolContext::anonymous()).await)?);
//! }
//! send(ui.finish());
//! body += DONE;
//! assert!(body.contains(r#"data: {"type":"tool-output-available","toolCallId":"c-1","output":3}"#));
//! # Ok(())
//! # }
//! ```

mod approvals;
mod chunk;
mod outputs;
mod user;
mod writer;

pub use approvals::{ApprovalResponse, ApprovalResponses};
pub use chunk::{Chunk, FinishReason};
pub use outputs::client_results;
pub use user::user_message;
pub use writer::Writer;

/// The headers of the HTTP response.
pub const HEADERS: [(&str, &str); 4] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache"),
    ("x-vercel-ai-ui-message-stream", "v1"),
    // Disables response buffering in proxies, so that each chunk is sent immediately.
    ("x-accel-buffering", "no"),
];

/// The text that ends the body.
pub const DONE: &str = "data: [DONE]\n\n";

/// Why a step cannot be shown, or why the interface's messages cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UiError {
    /// The call's state does not allow this step.
    #[error("call `{call}` is {state}, so it cannot have {step}")]
    Order {
        /// The id of the call.
        call: String,
        /// The protocol's name for the state of the call, or `over` after the call's last step.
        state: &'static str,
        /// The step that was to be shown.
        step: &'static str,
    },
    /// No call with this id has been shown, or the ticket is about a plan, which the protocol cannot show.
    #[error(
        "call `{call}` was not shown: pass the model's message to `Writer::message` first, or the interface's answers to `Writer::resume`"
    )]
    NoSuchCall {
        /// The id of the call; the id of the approval if the ticket is about a plan.
        call: String,
    },
    /// The interface did not send a valid list of messages.
    #[error("the interface's messages are wrong at `{pointer}`: expected {expected}")]
    Request {
        /// The position of the error, as a JSON pointer.
        pointer: String,
        /// The value that was expected.
        expected: String,
    },
}
