//! Chunks of the AI SDK's UI message stream.

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;
use tool_core::Citation;

/// One chunk of the stream, with the names and keys of the protocol. Its `Display` text is a server-sent event.
///
/// ```
/// use tool_wire::ui::Chunk;
///
/// let chunk = Chunk::TextDelta { id: "t".to_owned(), delta: "Hello".to_owned() };
/// assert_eq!(chunk.to_string(), "data: {\"type\":\"text-delta\",\"id\":\"t\",\"delta\":\"Hello\"}\n\n");
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the protocol's")]
pub enum Chunk {
    /// The message begins, or continues if the interface already has a message with this id.
    Start {
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
    },
    /// A step begins: a request is sent to the model.
    StartStep,
    /// A step ends: the model's message and its calls are complete.
    FinishStep,
    /// Withdraws the parts of the open step. Only version 7 of the AI SDK supports this chunk.
    ResetStep,
    /// The message is complete.
    Finish {
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
    },
    /// A user or the host has stopped the message.
    Abort {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The message failed and cannot continue.
    Error { error_text: String },
    /// A part with text begins.
    TextStart { id: String },
    /// The next piece of the text.
    TextDelta { id: String, delta: String },
    /// The part with text ends.
    TextEnd { id: String },
    /// A part with reasoning begins.
    ReasoningStart { id: String },
    /// The next piece of the reasoning.
    ReasoningDelta { id: String, delta: String },
    /// The part with reasoning ends.
    ReasoningEnd { id: String },
    /// A call of a tool begins.
    ToolInputStart {
        tool_call_id: String,
        tool_name: String,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// The next piece of the call's arguments.
    ToolInputDelta {
        tool_call_id: String,
        input_text_delta: String,
    },
    /// The call's arguments are complete.
    ToolInputAvailable {
        tool_call_id: String,
        tool_name: String,
        input: Box<RawValue>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// The call's arguments are not JSON, or are incomplete.
    ToolInputError {
        tool_call_id: String,
        tool_name: String,
        input: Box<RawValue>,
        error_text: String,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A person has to approve the call.
    ToolApprovalRequest {
        /// The ticket's token, which the interface sends back with the answer.
        approval_id: String,
        tool_call_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The call's output, or its progress if `preliminary` is set.
    ToolOutputAvailable {
        tool_call_id: String,
        output: Box<RawValue>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        preliminary: bool,
    },
    /// The call has failed.
    ToolOutputError {
        tool_call_id: String,
        error_text: String,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
    },
    /// A person has denied the call.
    ToolOutputDenied { tool_call_id: String },
    /// The sources of a call's output. Interfaces that do not support this chunk ignore it.
    DataCitations { id: String, data: Vec<Citation> },
    /// Variables that the user has to supply before the calls can run: an object with `name` and `description` for each.
    DataVariablesRequired {
        id: String,
        data: Vec<serde_json::Value>,
    },
}

/// Why a message has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The model has finished its answer, or the provider has paused it.
    Stop,
    /// The token limit was reached.
    Length,
    /// A content filter or a guardrail has withheld the answer.
    ContentFilter,
    /// Calls wait for a person or for the client.
    ToolCalls,
    /// The message has failed.
    Error,
    /// The message has ended for any other reason.
    Other,
}

/// Writes the chunk as part of the body: `data: {…}` and an empty line.
impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        // A line break would end the event. Inside JSON, line breaks have no meaning, so they become spaces.
        let text = text.replace(['\n', '\r'], " ");
        write!(f, "data: {text}\n\n")
    }
}
