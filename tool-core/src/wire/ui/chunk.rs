//! What a stream consists of.

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::output::Citation;

/// One chunk of the stream, under the names and with the keys of the protocol. Its text is a server-sent event.
///
/// ```
/// use tool_core::wire::ui::Chunk;
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
    /// The message begins, or goes on where it has this id already.
    Start {
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
    },
    /// The model is asked.
    StartStep,
    /// The model's message and its calls are over.
    FinishStep,
    /// The message is over.
    Finish {
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
    },
    /// Somebody has stopped it.
    Abort {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It cannot go on.
    Error { error_text: String },
    /// A text begins.
    TextStart { id: String },
    /// More of it.
    TextDelta { id: String, delta: String },
    /// It ends.
    TextEnd { id: String },
    /// A part with reasoning begins.
    ReasoningStart { id: String },
    /// More of the reasoning.
    ReasoningDelta { id: String, delta: String },
    /// The part with reasoning ends.
    ReasoningEnd { id: String },
    /// A call begins.
    ToolInputStart {
        tool_call_id: String,
        tool_name: String,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// More of its arguments.
    ToolInputDelta {
        tool_call_id: String,
        input_text_delta: String,
    },
    /// Its arguments are there.
    ToolInputAvailable {
        tool_call_id: String,
        tool_name: String,
        input: Box<RawValue>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Its arguments are no JSON, or only half of what was meant.
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
    /// Somebody has to approve it.
    ToolApprovalRequest {
        /// The ticket's token: what comes back with the answer.
        approval_id: String,
        tool_call_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Progress, where it is preliminary; else its output.
    ToolOutputAvailable {
        tool_call_id: String,
        output: Box<RawValue>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        preliminary: bool,
    },
    /// It has failed.
    ToolOutputError {
        tool_call_id: String,
        error_text: String,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
    },
    /// Somebody has refused it.
    ToolOutputDenied { tool_call_id: String },
    /// Where the output of a call comes from. Interfaces that do not know it leave it alone.
    DataCitations { id: String, data: Vec<Citation> },
    /// Variables that somebody has to supply before the calls can run: an object with `name` and `description` for each.
    DataVariablesRequired {
        id: String,
        data: Vec<serde_json::Value>,
    },
}

/// Why a message is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The model has said its last word.
    Stop,
    /// The limit on tokens was reached.
    Length,
    /// A filter stepped in.
    ContentFilter,
    /// Calls wait for somebody.
    ToolCalls,
    /// Something has failed.
    Error,
    /// Something else.
    Other,
}

/// As the body has it: `data: {…}` and an empty line.
impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        // Line breaks would end the event; JSON that came with some has none where they count.
        let text = text.replace(['\n', '\r'], " ");
        write!(f, "data: {text}\n\n")
    }
}
