//! The message stream of the AI SDK's user interfaces, so that an existing `useChat` shows tools that run here: their arguments as they
//! come, progress, questions for approval, results, errors. And the way back: what people have answered there.
//!
//! A host answers with [`HEADERS`] and the text of each [`Chunk`], and ends with [`DONE`]. The chunks are made by a [`Writer`] from what
//! happens; what the interface sends is read by [`user_message`] and [`Answers`]. The stream is that of versions 5 to 7 of the npm package `ai`;
//! version 5 knows no approvals.
//!
//! ```
//! use tool_core::prelude::*;
//! use tool_core::turn::ModelMessage;
//! use tool_core::wire::ui::{DONE, Writer};
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
//! let tools = toolset![add];
//! let mut ui = Writer::new(&tools);
//! let mut body = String::new();
//! let mut send = |chunks: Vec<_>| chunks.iter().for_each(|chunk| body += &format!("{chunk}"));
//!
//! send(ui.start(None));
//! let message = ModelMessage::calls([ToolCall::new("c-1", "add", r#"{"a":1,"b":2}"#)]);
//! send(ui.said(&message)?);
//! for call in message.calls {
//!     send(ui.result(&tools.call(call, &ToolContext::anonymous()).await)?);
//! }
//! send(ui.finish());
//! body += DONE;
//! assert!(body.contains(r#"data: {"type":"tool-output-available","toolCallId":"c-1","output":3}"#));
//! # Ok(())
//! # }
//! ```

mod back;
mod chunk;
mod said;
mod writer;

pub use back::{Answers, ApprovalResponse};
pub use chunk::{Chunk, FinishReason};
pub use said::user_message;
pub use writer::Writer;

/// The headers of the HTTP response.
pub const HEADERS: [(&str, &str); 4] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache"),
    ("x-vercel-ai-ui-message-stream", "v1"),
    // A proxy in between is to pass each chunk on at once.
    ("x-accel-buffering", "no"),
];

/// What ends the body.
pub const DONE: &str = "data: [DONE]\n\n";

/// Why something cannot be shown, or what an interface has sent cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UiError {
    /// A call cannot come to this from where it stands.
    #[error("call `{call}` is {state}, so it cannot have {step}")]
    Order {
        /// Its id.
        call: String,
        /// Where it stands, in the protocol's word.
        state: &'static str,
        /// What was to be shown.
        step: &'static str,
    },
    /// No such call has been shown.
    #[error(
        "call `{call}` was not shown: give the model's message to `Writer::said` first, or the interface's answers to `Writer::resume`"
    )]
    NoSuchCall {
        /// Its id.
        call: String,
    },
    /// What the interface has sent is no list of messages.
    #[error("the interface's messages are wrong at `{pointer}`: expected {expected}")]
    Request {
        /// Where, as a JSON pointer.
        pointer: String,
        /// What belongs there.
        expected: String,
    },
}
